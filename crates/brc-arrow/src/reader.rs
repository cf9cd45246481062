//! Reads a table as an iterator of record batches, while background threads scan ahead.

use crate::batches::Batches;
use crate::queue::Queue;
use crate::strings::StringForm;
use crate::types::arrow_schema;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema as ArrowSchema, SchemaRef};
use brc_core::{
    Batch, Error, Field, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Table, Worker, read_rows, scan,
};
use std::sync::Arc;
use std::task::Poll;
use std::thread::{Builder, available_parallelism};
use std::time::Duration;

/// How record batches are made.
#[derive(Debug, Clone)]
pub struct Options {
    /// The maximum number of rows per record batch; the last one of a split may have fewer.
    pub batch_rows: usize,
    /// The layout of strings in memory.
    pub strings: StringForm,
    /// Converts string columns to binary, whatever they contain.
    pub strings_as_binary: bool,
    /// The number of threads that scan the table.
    pub threads: usize,
    /// The maximum size in bytes of the record batches that are made ahead of the reader.
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

/// The record batches of a table, in its order. Dropping the reader stops the scan.
pub struct Reader {
    schema: SchemaRef,
    queue: Arc<Queue>,
    progress: Arc<Progress>,
}

/// The producer of a [`Reader`]'s record batches.
pub struct Feed {
    schema: SchemaRef,
    options: Options,
    queue: Arc<Queue>,
    progress: Arc<Progress>,
}

impl Reader {
    /// All rows and columns of a table. Inferred types require a pass over all rows first.
    ///
    /// # Errors
    /// The errors of type inference, or the system's if a thread cannot be started.
    pub fn of(table: Arc<dyn Table>, options: Options) -> Result<Self, ArrowError> {
        let projection = (0..table.schema().fields().len()).collect();
        Self::of_columns(table, projection, options)
    }

    /// Some columns of a table, as positions in its schema.
    ///
    /// # Errors
    /// See [`Reader::of`].
    ///
    /// # Panics
    /// If the table lacks one of the columns.
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

    /// A reader with a schema made by [`arrow_schema()`]. `scan` produces its rows: it runs on its own thread, and
    /// calls [`Feed::scan`] once.
    ///
    /// # Errors
    /// The system's, if a thread cannot be started.
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
            // The reader must not wait forever, even if the scan panics.
            let end = End(&feed.queue);
            let outcome = scan(&feed);
            end.0.finish(outcome);
        };
        let started = Builder::new().name("brc-arrow".to_owned()).spawn(work);
        started.map_err(|error| ArrowError::IoError(error.to_string(), error))?;
        Ok(Self { schema, queue, progress })
    }
}

/// Ends a queue that is still open because the scan panicked.
struct End<'a>(&'a Queue);

impl Drop for End<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.finish(Err(Error::Expression("a scan failed unexpectedly".to_owned())));
        }
    }
}

impl Feed {
    /// Scans a table. `fields` are the columns of the request.
    ///
    /// # Errors
    /// The errors of the scan; none if the reader was dropped meanwhile.
    pub fn scan(&self, table: &dyn Table, fields: &[Field], request: &ScanOptions) -> Result<()> {
        let push = &|split: u64, batch: RecordBatch| self.queue.push(split, batch);
        let new_worker = || {
            let batches = Batches::new(fields, &self.schema, self.options.batch_rows);
            Converter { table, fields, request, batches, skips: &|_| false, push, queue: Some(&*self.queue), split: 0 }
        };
        scan(table, request, self.options.threads, &self.progress, new_worker).map(drop)
    }

    /// The progress of the scans; it is stopped when the reader is dropped.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Reader {
    /// The next record batch, `None` after the last one; or [`Poll::Pending`] if none arrives within `patience`.
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

/// Scans a table on this thread, and calls `each` with its record batches in order. `fields` are the columns of the
/// request, which become those of `schema`, made by [`arrow_schema()`]. Splits for which `skips` returns true when they
/// are next are not scanned. `progress` reports the progress of the scan.
///
/// # Errors
/// The errors of the scan and of `each`, except [`Error::Stopped`].
pub fn scan_batches(
    table: &dyn Table,
    (fields, schema): (&[Field], &SchemaRef),
    batch_rows: usize,
    request: &ScanOptions,
    skips: &(dyn Fn(&Split) -> bool + Sync),
    each: &(dyn Fn(RecordBatch) -> Result<()> + Sync),
    progress: &Progress,
) -> Result<()> {
    let push = |_: u64, batch: RecordBatch| each(batch);
    let new_worker = || {
        let batches = Batches::new(fields, schema, batch_rows);
        Converter { table, fields, request, batches, skips, push: &push, queue: None, split: 0 }
    };
    for mut worker in scan(table, request, 1, progress, new_worker)? {
        match worker.finish_batch() {
            Ok(()) | Err(Error::Stopped) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Wraps an error of `brc` as one of Arrow, so that it can be downcast.
fn external(error: Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

/// A worker that converts scanned rows to record batches.
struct Converter<'a> {
    table: &'a dyn Table,
    fields: &'a [Field],
    request: &'a ScanOptions,
    batches: Batches,
    /// Whether to skip a split.
    skips: &'a (dyn Fn(&Split) -> bool + Sync),
    /// Consumes a record batch of a split.
    push: &'a (dyn Fn(u64, RecordBatch) -> Result<()> + Sync),
    /// What is told of the end of each split; a record batch has rows of only one split then.
    queue: Option<&'a Queue>,
    /// The current split, counted from the first scanned one.
    split: u64,
}

impl Converter<'_> {
    /// Delivers the collected rows.
    fn finish_batch(&mut self) -> Result<()> {
        let batch = self.batches.finish().map_err(|error| error.error(self.table.path()))?;
        batch.map_or(Ok(()), |batch| (self.push)(self.split, batch))
    }
}

impl Sink for Converter<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        let types = self.request.projection.iter().map(|&column| schema.fields().get(column).map(|it| it.logical_type));
        let known = self.fields.iter().map(|field| Some(field.logical_type));
        if types.eq(known) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let (push, split) = (self.push, self.split);
        let taken = self.batches.take(batch, |made| push(split, made));
        taken.map_err(|error| error.error(self.table.path()))
    }
}

impl Worker for Converter<'_> {
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
        (self.skips)(split).then(|| self.table.rows_of(split.index).unwrap_or(0))
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        if let Some(queue) = self.queue {
            self.finish_batch()?;
            queue.finish_split(self.split);
        }
        Ok(())
    }

    fn split_failed(&mut self, _: &Split) {
        if let Some(queue) = self.queue {
            queue.abandon(self.split);
        }
    }
}
