//! Scans a table with several threads: each worker takes the next free split.
//!
//! The reported error is the first one *in the table*, not the first in time: a worker that fails stops only later
//! splits. So the message for a bad file does not depend on the number of threads, and the line counts of all earlier
//! splits are known. A worker that needs no more rows ends the scan in the same way ([`Error::Stopped`]), without an
//! error.

mod uncounted;

pub(crate) use uncounted::Counter;

use crate::batch::Batch;
use crate::error::{Error, Result, RowLocation};
use crate::interrupt;
use crate::predicate::PruneResult;
use crate::schema::Schema;
use crate::table::{ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Summary, Table, TableFile};
use crate::workers::run_workers;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::convert::identity;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The progress of a scan; other threads may read it while the scan runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rows scanned so far, including those of unfinished splits.
    pub rows: AtomicU64,
    /// Rows of finished splits.
    pub whole_rows: AtomicU64,
    /// Bytes read of finished splits.
    pub bytes: AtomicU64,
    /// Malformed rows of finished splits, which were not delivered.
    pub rejected_rows: AtomicU64,
    /// Comment lines of finished splits.
    pub comment_lines: AtomicU64,
    /// Those of them that name other columns.
    pub renamings: AtomicU64,
    /// Rows of finished splits that repeat the header of their text.
    pub repeated_headers: AtomicU64,
    /// Whether the scan should end because no more rows are needed.
    is_stopped: AtomicBool,
}

impl Progress {
    /// Resets all counts to 0.
    pub fn restart(&self) {
        self.rows.store(0, Relaxed);
        self.whole_rows.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
        self.rejected_rows.store(0, Relaxed);
        self.comment_lines.store(0, Relaxed);
        self.renamings.store(0, Relaxed);
        self.repeated_headers.store(0, Relaxed);
    }

    /// Ends the scan soon, as if its sinks needed no more rows ([`Error::Stopped`]), and all later scans with this
    /// progress.
    pub fn stop(&self) {
        self.is_stopped.store(true, Relaxed);
    }

    fn check(&self) -> Result<()> {
        if self.is_stopped.load(Relaxed) { Err(Error::Stopped) } else { interrupt::check() }
    }
}

/// One thread's share of a scan.
pub trait Worker: Send {
    /// Called before a split is scanned.
    fn split_begins(&mut self, _split: &Split) {}

    /// Returns the number of rows of a split that need not be scanned, because no row of it is needed.
    fn skips(&mut self, _split: &Split) -> Option<u64> {
        None
    }

    /// The sink for the rows of the current split.
    fn sink(&mut self) -> &mut dyn Sink;

    /// Called when all rows of a split have been delivered.
    ///
    /// # Errors
    /// Any error of the worker; it is attributed to that split.
    fn split_done(&mut self, split: &Split, scanned: Scanned) -> Result<()>;

    /// Called when a split must be scanned again from its start ([`ScanError::Widened`]); its rows so far must be
    /// discarded.
    ///
    /// # Errors
    /// [`Error::Widened`] if they cannot be discarded: the whole table must then be scanned again.
    fn split_restarts(&mut self, _split: &Split) -> Result<()> {
        Err(Error::Widened)
    }

    /// Called when a split failed in its scan or in [`Worker::split_done`]. Threads that wait for its rows can stop.
    fn split_failed(&mut self, _split: &Split) {}
}

/// Scans the whole table with up to `threads` workers and returns the workers.
///
/// # Errors
/// The error of the first failed split in table order; none if it is [`Error::Stopped`]. Later splits may or may not
/// have been scanned.
pub fn scan<W: Worker>(
    table: &dyn Table,
    options: &ScanOptions,
    threads: usize,
    progress: &Progress,
    new_worker: impl Fn() -> W + Sync,
) -> Result<Vec<W>> {
    scan_and(table, options, threads, progress, new_worker, identity)
}

/// Like [`scan`], and calls `finish` for each worker on its own thread as soon as no split is left to take.
///
/// # Errors
/// As for [`scan`].
pub fn scan_and<W: Worker, T: Send>(
    table: &dyn Table,
    options: &ScanOptions,
    threads: usize,
    progress: &Progress,
    new_worker: impl Fn() -> W + Sync,
    finish: impl Fn(W) -> T + Sync,
) -> Result<Vec<T>> {
    let (next, end, records) = (AtomicU64::new(0), AtomicU64::new(u64::MAX), Mutex::default());
    let shared = Shared { table, options, next, end, records, progress };
    let one = || -> Result<T> {
        let mut scanner = table.scanner(options)?;
        let mut worker = new_worker();
        shared.work(scanner.as_mut(), &mut worker);
        match scanner.finish(worker.sink()) {
            Ok(()) | Err(Error::Stopped) => Ok(finish(worker)),
            Err(error) => Err(error),
        }
    };
    let results =
        run_workers(count_open_splits(table, options, threads), one).into_iter().collect::<Result<Vec<T>>>()?;
    shared.outcome(threads)?;
    Ok(results)
}

/// The number of splits that may have matching rows, at most `most`. More workers would have nothing to do, and
/// starting a thread takes longer than many queries.
fn count_open_splits(table: &dyn Table, options: &ScanOptions, most: usize) -> usize {
    let is_open = |split: &Split| match &options.predicate {
        // The splits of a stream are endless and have no statistics.
        Some(predicate) if table.rows_of(split.index).is_some() => {
            predicate.decide(&|column| table.statistics(split.index, column)) != PruneResult::Never
        }
        _ => true,
    };
    (0..).map_while(|n| options.split(table, n)).filter(is_open).take(most).count()
}

struct Shared<'a> {
    table: &'a dyn Table,
    options: &'a ScanOptions,
    /// The number of splits taken so far.
    next: AtomicU64,
    /// The number of splits to scan: those before the first failed split or the end of a stream.
    end: AtomicU64,
    records: Mutex<SplitRecords>,
    progress: &'a Progress,
}

#[derive(Default)]
struct SplitRecords {
    /// The numbers of rows and lines of each scanned split.
    counts: HashMap<u64, (u64, u64)>,
    first_error: Option<(u64, ScanError)>,
}

impl SplitRecords {
    /// The total number of rows of these splits.
    fn rows_of(&self, splits: Range<u64>) -> u64 {
        splits.filter_map(|earlier| self.counts.get(&earlier)).map(|(rows, _)| rows).sum()
    }

    /// The total number of lines of these splits.
    fn lines_of(&self, splits: Range<u64>) -> u64 {
        splits.filter_map(|earlier| self.counts.get(&earlier)).map(|(_, lines)| lines).sum()
    }
}

impl Shared<'_> {
    fn work(&self, scanner: &mut dyn Scanner, worker: &mut impl Worker) {
        loop {
            if self.next.load(Relaxed) >= self.end.load(Relaxed) {
                return;
            }
            if let Err(error) = self.progress.check() {
                return self.failed(self.next.load(Relaxed), error.into());
            }
            // A worker must scan a split that it has taken: other workers wait for what it reads of a stream.
            let n = self.next.fetch_add(1, Relaxed);
            let Some(split) = self.options.split(self.table, n) else { return };
            let scanned = self.one_split(scanner, worker, &split);
            if !matches!(scanned, Ok(true)) {
                self.end.fetch_min(n, Relaxed);
            }
            if let Err(error) = scanned {
                self.failed(n, error);
                worker.split_failed(&split);
            }
        }
    }

    /// Returns whether the split exists.
    fn one_split(&self, scanner: &mut dyn Scanner, worker: &mut impl Worker, split: &Split) -> Result<bool, ScanError> {
        worker.split_begins(split);
        let skipped = worker.skips(split).map(|rows| Scanned { skipped_rows: rows, ..Scanned::default() });
        let mut counted = 0;
        let scanned = loop {
            if skipped.is_some() {
                break skipped;
            }
            let mut sink = CountingSink { sink: worker.sink(), progress: self.progress, counted: &mut counted };
            match scanner.scan(split, &mut sink) {
                Err(ScanError::Widened) => worker.split_restarts(split)?,
                outcome => break outcome?,
            }
        };
        let Some(scanned) = scanned else { return Ok(false) };
        let rows = scanned.all_rows();
        // The count so far is an estimate: a split may be scanned twice, and not all rows arrive in batches.
        self.progress.rows.fetch_add(rows.wrapping_sub(counted), Relaxed);
        self.progress.whole_rows.fetch_add(rows, Relaxed);
        self.progress.bytes.fetch_add(scanned.bytes, Relaxed);
        self.progress.rejected_rows.fetch_add(scanned.rejects.len(), Relaxed);
        self.progress.comment_lines.fetch_add(scanned.skipped_lines.comments, Relaxed);
        self.progress.renamings.fetch_add(scanned.skipped_lines.renamings, Relaxed);
        self.progress.repeated_headers.fetch_add(scanned.skipped_lines.repeated_headers, Relaxed);
        self.records.lock().counts.insert(split.index, (rows, scanned.all_lines()));
        worker.split_done(split, scanned)?;
        Ok(true)
    }

    /// Records the error of the nth split that is wanted.
    fn failed(&self, n: u64, error: ScanError) {
        let first = &mut self.records.lock().first_error;
        if first.as_ref().is_none_or(|(earlier, _)| n < *earlier) {
            *first = Some((n, error));
        }
    }

    fn outcome(self, threads: usize) -> Result<()> {
        let mut records = self.records.into_inner();
        let Some((n, error)) = records.first_error.take() else { return Ok(()) };
        let index = self.options.split(self.table, n).map_or(n, |split| split.index);
        if let ScanError::Other(error @ Error::Interrupted) = error {
            return Err(error);
        }
        let file = self.table.file_of(index).unwrap_or(TableFile { table: self.table, first_split: 0 });
        if let ScanError::BadRow { .. } | ScanError::Other(Error::UnsupportedValue(_)) = error {
            let uncounted = (file.first_split..index).filter(|earlier| !records.counts.contains_key(earlier)).collect();
            records.counts.extend(uncounted::counts(uncounted, self.table, self.options, threads, self.progress)?);
        }
        let rows_before = records.rows_of(file.first_split..index);
        let path = file.table.path().to_owned();
        Err(match error {
            ScanError::Other(Error::UnsupportedValue(mut unsupported_value)) => {
                unsupported_value.row += rows_before;
                unsupported_value.path = path;
                Error::UnsupportedValue(unsupported_value)
            }
            ScanError::Other(Error::Stopped) => return Ok(()),
            ScanError::Other(error) => error,
            ScanError::Widened => unreachable!("a split is scanned until its types suffice"),
            ScanError::BadRow { line_in_split, byte, column, fault } => {
                let inferred = file.table.inferred();
                let fields = inferred.as_deref().unwrap_or(file.table.schema()).fields();
                let column = column.and_then(|column| fields.get(column)).map(|field| field.name.clone());
                let lines_before = records.lines_of(file.first_split..index);
                let line = file.table.header_lines() + lines_before + line_in_split + 1;
                Error::BadRow { path, place: RowLocation { line, byte, column }, fault }
            }
        })
    }
}

/// Counts rows while a split is scanned, which may take long, and ends the scan if it was stopped.
struct CountingSink<'a> {
    sink: &'a mut dyn Sink,
    progress: &'a Progress,
    counted: &'a mut u64,
}

impl CountingSink<'_> {
    fn count(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.progress.rows.fetch_add(batch.rows as u64, Relaxed);
        *self.counted += batch.rows as u64;
        self.progress.check()
    }
}

impl Sink for CountingSink<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.sink.schema(schema)
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.count(batch)?;
        self.sink.batch(batch)
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        self.progress.check()?;
        self.sink.test(conjunct, batch, rows)
    }

    fn wants(&self, position: usize) -> bool {
        self.sink.wants(position)
    }

    fn forget_codes(&mut self) {
        self.sink.forget_codes();
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        self.count(batch)?;
        self.sink.tested(batch, rows)
    }

    fn weighted(&mut self, batch: &Batch<'_>, weights: &[u32]) -> Result<()> {
        self.sink.weighted(batch, weights)
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        self.sink.summary(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::{ColumnStatistics, Predicate, ValueBounds};
    use parking_lot::Condvar;
    use std::path::Path;
    use std::sync::mpsc;
    use std::time::Duration;

    /// A stream of a few splits, read in order by the workers that took them. The last split fails.
    struct Stream {
        schema: Schema,
        turn: Mutex<u64>,
        moved: Condvar,
        splits: u64,
    }

    impl Table for Stream {
        fn path(&self) -> &Path {
            Path::new("stream")
        }

        fn schema(&self) -> &Schema {
            &self.schema
        }

        fn rows(&self) -> Option<u64> {
            None
        }

        fn bytes(&self) -> Option<u64> {
            None
        }

        fn split(&self, index: u64) -> Option<Split> {
            Some(Split { index, start: index, end: index + 1 })
        }

        fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
            Ok(Box::new(Turns(self)))
        }
    }

    struct Turns<'a>(&'a Stream);

    impl Scanner for Turns<'_> {
        fn scan(&mut self, split: &Split, _: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
            let Stream { turn, moved, splits, .. } = self.0;
            let mut next = turn.lock();
            while *next != split.index {
                moved.wait(&mut next);
            }
            *next += 1;
            drop(next);
            moved.notify_all();
            match split.index + 1 {
                last if last == *splits => Err(ScanError::Other(Error::Usage("bad".to_owned()))),
                next if next < *splits => Ok(Some(Scanned::default())),
                _ => Ok(None),
            }
        }
    }

    /// Splits of one row each; the value of the only column is the index of the split.
    struct Numbered {
        schema: Schema,
        splits: u64,
    }

    impl Table for Numbered {
        fn path(&self) -> &Path {
            Path::new("numbered")
        }

        fn schema(&self) -> &Schema {
            &self.schema
        }

        fn rows(&self) -> Option<u64> {
            Some(self.splits)
        }

        fn bytes(&self) -> Option<u64> {
            None
        }

        fn split(&self, index: u64) -> Option<Split> {
            (index < self.splits).then_some(Split { index, start: index, end: index + 1 })
        }

        fn rows_of(&self, _: u64) -> Option<u64> {
            Some(1)
        }

        fn statistics(&self, split: u64, _: usize) -> ColumnStatistics<'_> {
            ColumnStatistics { values: ValueBounds::Numbers { min: split.into(), max: split.into() }, nulls: false }
        }

        fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
            Ok(Box::new(OneEach))
        }
    }

    struct OneEach;

    impl Scanner for OneEach {
        fn scan(&mut self, _: &Split, _: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
            Ok(Some(Scanned { rows: 1, ..Scanned::default() }))
        }
    }

    struct Nothing;

    impl Sink for Nothing {
        fn batch(&mut self, _: &Batch<'_>) -> Result<()> {
            Ok(())
        }
    }

    impl Worker for Nothing {
        fn sink(&mut self) -> &mut dyn Sink {
            self
        }

        fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_taken_split_of_a_stream_is_scanned() {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for round in 0..2000 {
                let schema = Schema::parse("n:int").unwrap();
                let (turn, moved) = (Mutex::new(0), Condvar::new());
                let stream = Stream { schema, turn, moved, splits: 1 + round % 5 };
                let options = ScanOptions::everything(&stream.schema);
                let outcome = scan(&stream, &options, 6, &Progress::default(), || Nothing);
                assert!(matches!(outcome, Err(Error::Usage(_))));
            }
            sender.send(()).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_secs(60)).is_ok(), "a worker waits for ever");
    }

    #[test]
    fn workers_are_limited_to_unpruned_splits() {
        let workers = |splits, threads, wanted: Option<(i64, i64)>| {
            let table = Numbered { schema: Schema::parse("n:int").unwrap(), splits };
            let range = |(low, high): (i64, i64)| Predicate::Range { column: 0, low: low.into(), high: high.into() };
            let options = ScanOptions { predicate: wanted.map(range), ..ScanOptions::everything(&table.schema) };
            let progress = Progress::default();
            let found = scan_and(&table, &options, threads, &progress, || Nothing, |_| "found").unwrap();
            assert_eq!(progress.rows.into_inner(), splits);
            found.len()
        };
        assert_eq!([workers(9, 4, None), workers(3, 4, None), workers(0, 4, None)], [4, 3, 1]);
        assert_eq!([workers(9, 4, Some((2, 3))), workers(9, 4, Some((5, 50))), workers(9, 4, Some((9, 9)))], [2, 4, 1]);
    }

    #[test]
    fn a_stopped_scan_succeeds() {
        let table = Numbered { schema: Schema::parse("n:int").unwrap(), splits: 9 };
        let progress = Progress::default();
        progress.stop();
        scan(&table, &ScanOptions::everything(&table.schema), 2, &progress, || Nothing).unwrap();
        assert_eq!(progress.rows.load(Relaxed), 0);
        let (mut nothing, mut counted) = (Nothing, 0);
        let mut sink = CountingSink { sink: &mut nothing, progress: &progress, counted: &mut counted };
        assert!(matches!(sink.batch(&Batch { rows: 5, columns: &[] }), Err(Error::Stopped)));
        assert!(matches!(sink.test(0, &Batch { rows: 5, columns: &[] }, &mut []), Err(Error::Stopped)));
    }

    #[test]
    fn progress_counts_rows_during_a_split() {
        let (progress, mut nothing, mut counted) = (Progress::default(), Nothing, 0);
        let mut sink = CountingSink { sink: &mut nothing, progress: &progress, counted: &mut counted };
        let batch = Batch { rows: 5, columns: &[] };
        sink.batch(&batch).unwrap();
        sink.batch(&batch).unwrap();
        assert_eq!((progress.rows.load(Relaxed), counted), (10, 10));
        assert_eq!((progress.whole_rows.load(Relaxed), progress.bytes.load(Relaxed)), (0, 0));
    }
}
