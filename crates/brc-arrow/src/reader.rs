//! Reads a table as record batches, one after the other, while threads of its own scan what comes next.

use crate::batches::Batches;
use crate::queue::Queue;
use crate::strings::StringForm;
use crate::types::arrow_schema;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema as ArrowSchema, SchemaRef};
use brc_core::{
    Batch, Error, Field, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Summary, Table, Worker,
    read_rows, scan,
};
use std::sync::Arc;
use std::task::Poll;
use std::thread::{Builder, available_parallelism};
use std::time::Duration;

/// How record batches are made.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many rows a record batch has at most; it has fewer at the end of a split.
    pub batch_rows: usize,
    /// How strings lie in memory.
    pub strings: StringForm,
    /// Makes columns of strings those of bytes, whatever is in them.
    pub strings_as_binary: bool,
    /// How many threads scan the table.
    pub threads: usize,
    /// How many bytes of record batches may be made ahead of the reader.
    pub bytes_ahead: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            batch_rows: 1 << 15,
            strings: StringForm::View,
            strings_as_binary: false,
            threads: available_parallelism().map_or(1, usize::from),
            bytes_ahead: 64 << 20,
        }
    }
}

/// Record batches of a table. They come in its order; what is not read yet is given up when the reader is dropped.
pub struct Reader {
    schema: SchemaRef,
    queue: Arc<Queue>,
    progress: Arc<Progress>,
}

/// What scans of a [`Reader`] fill.
pub struct Feed {
    schema: SchemaRef,
    options: Options,
    queue: Arc<Queue>,
    progress: Arc<Progress>,
}

impl Reader {
    /// All rows of all columns of a table. Where types are inferred, all rows are read once before.
    ///
    /// # Errors
    /// What goes wrong with that; the system's, if it allows no thread.
    pub fn of(table: Arc<dyn Table>, options: Options) -> Result<Self, ArrowError> {
        let projection = (0..table.schema().fields().len()).collect();
        Self::of_columns(table, projection, options)
    }

    /// The same for some columns, as positions in the table's schema.
    ///
    /// # Errors
    /// As for [`Reader::of`].
    ///
    /// # Panics
    /// If the table does not have one of the columns.
    pub fn of_columns(table: Arc<dyn Table>, projection: Vec<usize>, options: Options) -> Result<Self, ArrowError> {
        if table.inferred().is_some() {
            read_rows(table.as_ref(), options.threads, &Progress::default()).map_err(external)?;
        }
        let inferred = table.inferred();
        let all = inferred.as_deref().unwrap_or(table.schema());
        let fields: Vec<_> = projection.iter().map(|&column| all.fields()[column].clone()).collect();
        let arrow = arrow_schema(&fields, &options).with_metadata(all.metadata().iter().cloned().collect());
        let request = ScanOptions { projection, ..ScanOptions::everything(all) };
        Self::new(arrow, options, move |feed| feed.scan(table.as_ref(), &fields, &request))
    }

    /// Record batches of a schema that [`arrow_schema()`] made. `scan` reads their rows: it runs on a thread of its own,
    /// and calls [`Feed::scan`] once.
    ///
    /// # Errors
    /// The system's, if it allows no thread.
    pub fn new(
        schema: ArrowSchema,
        options: Options,
        scan: impl FnOnce(&Feed) -> Result<()> + Send + 'static,
    ) -> Result<Self, ArrowError> {
        let schema = SchemaRef::new(schema);
        let queue = Arc::new(Queue::new(options.bytes_ahead));
        let progress = Arc::new(Progress::default());
        let (feed_queue, feed_progress) = (Arc::clone(&queue), Arc::clone(&progress));
        let feed = Feed { schema: SchemaRef::clone(&schema), options, queue: feed_queue, progress: feed_progress };
        let work = move || {
            // Whatever happens to the scan, the reader must not wait for ever.
            let end = End(&feed.queue);
            let outcome = scan(&feed);
            end.0.finish(outcome);
        };
        let started = Builder::new().name("brc-arrow".to_owned()).spawn(work);
        started.map_err(|error| ArrowError::IoError(error.to_string(), error))?;
        Ok(Self { schema, queue, progress })
    }
}

/// Ends a queue that no one ended: the scan panicked.
struct End<'a>(&'a Queue);

impl Drop for End<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.finish(Err(Error::Expression("a scan failed unexpectedly".to_owned())));
        }
    }
}

impl Feed {
    /// Scans a table. The columns of the request are `fields`.
    ///
    /// # Errors
    /// Those of the scan; none if the reader was dropped meanwhile.
    pub fn scan(&self, table: &dyn Table, fields: &[Field], request: &ScanOptions) -> Result<()> {
        let new_worker = || {
            let batches = Batches::new(fields, &self.schema, self.options.batch_rows);
            Converter { table, fields, request, batches, target: &*self.queue, split: 0 }
        };
        scan(table, request, self.options.threads, &self.progress, new_worker).map(drop)
    }

    /// How far the scans are; it is stopped when the reader is dropped.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Reader {
    /// The next record batch, `None` after the last; or [`Poll::Pending`] if it is not there after so long.
    pub fn next_within(&mut self, patience: Duration) -> Poll<Option<Result<RecordBatch, ArrowError>>> {
        self.queue.pop_within(patience).map(|popped| popped.map_err(external).transpose())
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Poll::Ready(next) = self.next_within(Duration::MAX) {
                return next;
            }
        }
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.queue.close();
        self.progress.stop();
    }
}

/// Scans a table on this thread, and calls `each` with one record batch after the other, in its order. The columns of the
/// request are `fields`, which become those of `schema`, as [`arrow_schema()`] made it. Splits for which `skips` is true
/// are left out when it is their turn. `progress` tells how far it is.
///
/// # Errors
/// Those of the scan and of `each`; none if that is [`Error::Stopped`].
pub fn scan_batches(
    table: &dyn Table,
    (fields, schema): (&[Field], &SchemaRef),
    batch_rows: usize,
    request: &ScanOptions,
    skips: &(dyn Fn(&Split) -> bool + Sync),
    each: &(dyn Fn(RecordBatch) -> Result<()> + Sync),
    progress: &Progress,
) -> Result<()> {
    let target = &Caller { skips, each };
    let new_worker = || {
        let batches = Batches::new(fields, schema, batch_rows);
        Converter { table, fields, request, batches, target, split: 0 }
    };
    for mut worker in scan(table, request, 1, progress, new_worker)? {
        match worker.finish_batch() {
            Ok(()) | Err(Error::Stopped) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes record batches of splits, of which it may not want some.
trait Target: Sync {
    /// Whether a record batch has rows of one split only.
    const BY_SPLIT: bool;

    fn skips(&self, _split: &Split) -> bool {
        false
    }

    fn push(&self, split: u64, batch: RecordBatch) -> Result<()>;

    fn finish_split(&self, _split: u64) {}

    fn abandon(&self, _split: u64) {}
}

impl Target for Queue {
    const BY_SPLIT: bool = true;

    fn push(&self, split: u64, batch: RecordBatch) -> Result<()> {
        Self::push(self, split, batch)
    }

    fn finish_split(&self, split: u64) {
        Self::finish_split(self, split);
    }

    fn abandon(&self, split: u64) {
        Self::abandon(self, split);
    }
}

/// Who is called with record batches.
struct Caller<'a> {
    skips: &'a (dyn Fn(&Split) -> bool + Sync),
    each: &'a (dyn Fn(RecordBatch) -> Result<()> + Sync),
}

impl Target for Caller<'_> {
    const BY_SPLIT: bool = false;

    fn skips(&self, split: &Split) -> bool {
        (self.skips)(split)
    }

    fn push(&self, _: u64, batch: RecordBatch) -> Result<()> {
        (self.each)(batch)
    }
}

/// An error of `brc` as one of Arrow: it is kept as it is.
fn external(error: Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

/// One worker: makes record batches of what it scans.
struct Converter<'a, T> {
    table: &'a dyn Table,
    fields: &'a [Field],
    request: &'a ScanOptions,
    batches: Batches,
    target: &'a T,
    /// Which of the splits to scan is at hand, from 0.
    split: u64,
}

impl<T: Target> Converter<'_, T> {
    /// Hands the rows at hand over.
    fn finish_batch(&mut self) -> Result<()> {
        let batch = self.batches.finish().map_err(|fault| fault.error(self.table.path()))?;
        batch.map_or(Ok(()), |batch| self.target.push(self.split, batch))
    }
}

impl<T: Target> Sink for Converter<'_, T> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        let types = self.request.projection.iter().map(|&column| schema.fields().get(column).map(|it| it.logical_type));
        let known = self.fields.iter().map(|field| Some(field.logical_type));
        if types.eq(known) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let (target, split) = (self.target, self.split);
        let taken = self.batches.take(batch, |made| target.push(split, made));
        taken.map_err(|fault| fault.error(self.table.path()))
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Err(Error::Usage("summaries are no rows".to_owned()))
    }
}

impl<T: Target> Worker for Converter<'_, T> {
    fn split_begins(&mut self, split: &Split) {
        let position = |splits: &Vec<Split>| splits.partition_point(|other| other.index < split.index) as u64;
        self.split = self.request.splits.as_ref().map_or(split.index, position);
        if self.request.conjuncts.is_empty()
            && let Some(rows) = self.table.rows_of(split.index)
        {
            self.batches.expect(rows);
        }
    }

    fn skips(&mut self, split: &Split) -> Option<u64> {
        self.target.skips(split).then(|| self.table.rows_of(split.index).unwrap_or(0))
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        if T::BY_SPLIT {
            self.finish_batch()?;
        }
        self.target.finish_split(self.split);
        Ok(())
    }

    fn split_failed(&mut self, _: &Split) {
        self.target.abandon(self.split);
    }
}
