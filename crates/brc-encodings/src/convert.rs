//! Converts a table to another encoding, in parallel and in bounded memory.
//!
//! Each worker reads a split and encodes it as a part; the parts are written in the order of the splits. The output
//! depends only on the table and the options, not on the number of workers or their timing.
//!
//! With inferred types, parts are encoded in the types that fit all values so far. When a type becomes wider, earlier
//! parts are encoded again: only the columns that became wider if the encoding stores columns separately (`widened`),
//! otherwise the whole file.

use crate::encoding::whole;
use crate::long_rows::LongRows;
use crate::ordered::{Accept, Ordered};
use crate::output::Output;
use crate::rejects::{RejectLog, RejectReason};
use crate::widened::{self, Appended};
use brc_core::{
    Batch, BatchWriter, Error, Part, PartEncoder, Progress, Rejects, Result, Scanned, Schema, Sink, SkippedLines,
    Split, Table, TableFile, Worker, scan, with_types,
};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The resources of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workers {
    /// The maximum number of threads, at least 1.
    pub threads: usize,
    /// The size limit in bytes for finished parts that wait for an earlier one.
    pub parts_aside: usize,
}

/// The given number of threads, and the default limit for waiting parts.
impl From<usize> for Workers {
    fn from(threads: usize) -> Self {
        Self { threads, parts_aside: 16 << 20 }
    }
}

/// The result of a conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The rows of the input: always the sum of stored, rejected and skipped rows.
    pub rows_read: u64,
    /// Rows of the output.
    pub rows_stored: u64,
    /// Malformed rows.
    pub rows_rejected: u64,
    /// The reasons for rejects, the most frequent first.
    pub reasons: Vec<RejectReason>,
    /// Rows that the condition excludes.
    pub rows_skipped: u64,
    /// Lines of a text that are not rows.
    pub skipped_lines: SkippedLines,
    /// Size of the input in bytes.
    pub bytes_in: u64,
    /// Size of the output in bytes.
    pub bytes_out: u64,
    /// Parts of the output: row groups of a buren file.
    pub parts: u64,
    /// What the user should know about the output ([`BatchWriter::remark`]).
    pub remark: Option<String>,
}

/// Writes all rows of `table` to `output`. `workers` may be just a number of threads. If the table was opened to set
/// malformed rows aside, they go to `rejects`.
///
/// # Errors
/// The first error in table order. Then no output is left, and the rejects are kept only if there were too many, for
/// inspection. [`Error::Widened`] if the inferred types turn out wider than the types of `writer`, so the file has to
/// be written again: see [`convert_inferred`].
pub fn convert(
    table: &dyn Table,
    mut writer: Box<dyn BatchWriter>,
    output: Output,
    rejects: RejectLog,
    workers: impl Into<Workers>,
    progress: &Progress,
) -> Result<Converted> {
    let workers = workers.into();
    let everything = whole(table)?;
    let types = table.inferred();
    let output = if types.is_some() { output.staged()? } else { output };
    let begin = writer.begins_at();
    let start = writer.start();
    output.write_at(&start, begin)?;
    let appender = Appender::new(table, writer, rejects);
    let ordered = Ordered::new(&output, begin + start.len() as u64, workers.parts_aside, appender);
    let new_worker = || Converter {
        encoder: ordered.with_acceptor(|it| it.writer.encoder()),
        types: types.clone(),
        columns: everything.projection.len(),
        ordered: &ordered,
        split: 0,
        long_rows: LongRows::default(),
    };
    let scanned = scan(table, &everything, workers.threads, progress, new_worker).map(drop);

    let (mut appender, end) = ordered.finish();
    if let Err(error) = scanned {
        if matches!(error, Error::TooManyRejects { .. }) {
            appender.rejects.commit()?;
        }
        return Err(error);
    }
    let mut converted = Converted {
        rows_read: progress.rows.load(Relaxed),
        rows_stored: appender.rows_stored,
        rows_rejected: appender.rejects.count(),
        reasons: appender.rejects.reasons(),
        rows_skipped: appender.rows_skipped,
        skipped_lines: appender.skipped_lines,
        bytes_in: table.bytes().unwrap_or_else(|| progress.bytes.load(Relaxed)),
        bytes_out: 0,
        parts: appender.parts.len() as u64,
        remark: appender.writer.remark(),
    };
    let (output, end) =
        widened::replace(table, appender.writer.as_mut(), types, &appender.parts, (output, end), workers, progress)?;
    let last = appender.writer.finish()?;
    output.write_at(&last, end)?;
    converted.bytes_out = end + last.len() as u64;
    converted.check(table)?;
    // In this order, a table never exists without its rejects.
    appender.rejects.commit()?;
    output.commit()?;
    Ok(converted)
}

/// The outputs of a conversion.
pub struct Target {
    /// Assembles the file.
    pub writer: Box<dyn BatchWriter>,
    /// The file.
    pub output: Output,
    /// Where malformed rows go.
    pub rejects: RejectLog,
}

/// Converts a table whose types may be inferred: `begin` makes a target for the columns known so far. If a value does
/// not fit them and the encoding cannot replace columns, or does not support the wider types, the conversion starts
/// again ([`with_types`]).
///
/// # Errors
/// As for [`convert`], and the errors of `begin`.
pub fn convert_inferred(
    table: &dyn Table,
    mut begin: impl FnMut(&Schema) -> Result<Target>,
    workers: impl Into<Workers>,
    progress: &Progress,
) -> Result<Converted> {
    let workers = workers.into();
    with_types(table, workers.threads, progress, |schema| {
        let Target { writer, output, rejects } = begin(schema)?;
        convert(table, writer, output, rejects, workers, progress)
    })
}

impl Converted {
    /// Rows are counted where they are read, stored and rejected. If the counts do not add up, rows were lost, and the
    /// output must not be committed.
    fn check(&self, table: &dyn Table) -> Result<()> {
        let promised = table.rows().unwrap_or(self.rows_read);
        let Self { rows_read, rows_stored, rows_rejected, rows_skipped, .. } = self;
        if *rows_read == rows_stored + rows_rejected + rows_skipped && *rows_read == promised {
            return Ok(());
        }
        let reason = format!(
            "{promised} rows expected, {rows_read} read, but {rows_stored} stored, {rows_rejected} rejected and \
             {rows_skipped} skipped"
        );
        Err(Error::corrupt(table.path(), "rows", reason))
    }
}

/// The result of one split.
struct SplitResult {
    split: u64,
    /// `None` if the split has no valid row.
    part: Option<Part>,
    /// The types of its rows, if they are inferred.
    types: Option<Arc<Schema>>,
    rejects: Rejects,
    lines_read: u64,
    rows_skipped: u64,
    skipped_lines: SkippedLines,
}

/// Appends the parts in order.
struct Appender<'a> {
    table: &'a dyn Table,
    writer: Box<dyn BatchWriter>,
    rejects: RejectLog,
    /// The first split of the current file, and the lines before it.
    file: (u64, u64),
    lines_read: u64,
    rows_stored: u64,
    rows_skipped: u64,
    skipped_lines: SkippedLines,
    parts: Vec<Appended>,
}

impl<'a> Appender<'a> {
    fn new(table: &'a dyn Table, writer: Box<dyn BatchWriter>, rejects: RejectLog) -> Self {
        Self {
            table,
            writer,
            rejects,
            file: (0, 0),
            lines_read: 0,
            rows_stored: 0,
            rows_skipped: 0,
            skipped_lines: table.skipped_lines(),
            parts: Vec::new(),
        }
    }

    /// An encoder of rows with different types than the writer's.
    fn encoder_of(&mut self, schema: &Schema) -> Result<Box<dyn PartEncoder>> {
        let columns: Vec<usize> = (0..schema.fields().len()).collect();
        self.writer.columnar().ok_or(Error::Widened)?.encoder_of(schema, &columns)
    }
}

impl Accept for Appender<'_> {
    type Piece = SplitResult;
    type Bytes = Vec<u8>;
    const SPARES: usize = 2;

    fn size(piece: &SplitResult) -> usize {
        piece.part.as_ref().map_or(0, |part| part.bytes.len() + part.meta_bytes) + piece.rejects.memory()
    }

    fn accept(&mut self, piece: SplitResult) -> Result<Vec<u8>> {
        let file = self.table.file_of(piece.split).unwrap_or(TableFile { table: self.table, first_split: 0 });
        if file.first_split != self.file.0 {
            self.file = (file.first_split, self.lines_read);
        }
        self.rejects.add(file.table, self.lines_read - self.file.1, &piece.rejects)?;
        self.lines_read += piece.lines_read;
        self.rows_skipped += piece.rows_skipped;
        self.skipped_lines += piece.skipped_lines;
        let Some(mut part) = piece.part else { return Ok(Vec::new()) };
        self.writer.append(&mut part)?;
        self.rows_stored += part.rows;
        self.parts.push(Appended { split: piece.split, types: piece.types });
        Ok(part.bytes)
    }
}

/// One worker: encodes what it scans.
struct Converter<'a, 'o, 't> {
    encoder: Box<dyn PartEncoder>,
    /// The types of the encoder, if they are inferred; `None` after a restart: the rows it holds are discarded.
    types: Option<Arc<Schema>>,
    /// The number of scanned columns.
    columns: usize,
    ordered: &'a Ordered<'o, Appender<'t>>,
    /// The current split.
    split: u64,
    long_rows: LongRows,
}

impl Sink for Converter<'_, '_, '_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if schema.fields().len() != self.columns {
            // The schema has more columns than the scan requested.
            return Err(Error::Widened);
        }
        if self.types.as_ref() != Some(schema) {
            self.encoder = self.ordered.with_acceptor(|it| it.encoder_of(schema))?;
            self.encoder.begin(self.split);
            self.types = Some(Arc::clone(schema));
        }
        Ok(())
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let Self { encoder, types, ordered, split, long_rows, .. } = self;
        long_rows.portions(batch, |portion| {
            encoder.batch(portion)?;
            if let Some(part) = encoder.overflow()? {
                let piece = SplitResult {
                    split: *split,
                    part: Some(part),
                    types: types.clone(),
                    rejects: Rejects::default(),
                    lines_read: 0,
                    rows_skipped: 0,
                    skipped_lines: SkippedLines::default(),
                };
                if let Some(bytes) = ordered.deliver_ahead(*split, piece)? {
                    encoder.recycle(bytes);
                }
            }
            Ok(())
        })
    }
}

impl Worker for Converter<'_, '_, '_> {
    fn split_begins(&mut self, split: &Split) {
        self.split = split.index;
        self.encoder.begin(split.index);
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, split: &Split, scanned: Scanned) -> Result<()> {
        let lines_read = scanned.all_lines();
        let part = if scanned.rows == 0 {
            self.encoder.skip();
            None
        } else {
            Some(self.encoder.finish().map_err(|error| error.among(&scanned.rejects))?)
        };
        let Scanned { rejects, skipped_rows: rows_skipped, skipped_lines, .. } = scanned;
        let (split_index, types) = (split.index, self.types.clone());
        let piece = SplitResult { split: split_index, part, types, rejects, lines_read, rows_skipped, skipped_lines };
        if let Some(bytes) = self.ordered.deliver(split.index, piece)? {
            self.encoder.recycle(bytes);
        }
        Ok(())
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        self.types = None;
        Ok(())
    }

    fn split_failed(&mut self, split: &Split) {
        self.encoder.skip();
        self.ordered.abandon(split.index);
    }
}

impl Drop for Converter<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Other workers must not wait forever for the split of this worker.
            self.encoder.skip();
            self.ordered.abandon(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputOptions;
    use brc_core::{Column, Data, Integers, RowFault, ScanError, ScanOptions, Schema};
    use brc_testing::FunctionTable;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// A table of numbers: each split has the given number of rows; a split that is `None` is malformed.
    fn numbers(splits: Vec<Option<u32>>, rows: Option<u64>) -> impl Table {
        let count = splits.len() as u64;
        let deliver = move |split: &Split, _: &ScanOptions, sink: &mut dyn Sink| {
            if split.index.is_multiple_of(3) {
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
            let Some(rows) = splits[split.index as usize] else {
                let fault = RowFault::EmptyNumber;
                return Err(ScanError::BadRow { line_in_split: 4, byte: 7, column: Some(0), fault });
            };
            let values: Vec<i64> = (0..i64::from(rows)).map(|row| split.index as i64 * 1000 + row).collect();
            let columns = [Column::integers(Integers::I64(&values))];
            sink.batch(&Batch { rows: values.len(), columns: &columns })?;
            Ok(Some(Scanned { rows: u64::from(rows), bytes: 10, ..Scanned::default() }))
        };
        FunctionTable::new("numbers", Schema::parse("n:int").unwrap(), count, deliver).with_rows(rows)
    }

    #[derive(Default)]
    struct Lines(Vec<u8>, u64);

    impl Sink for Lines {
        fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
            let Data::Integers(values) = batch.columns[0].data else { panic!("not a number") };
            for row in 0..batch.rows {
                self.0.extend_from_slice(format!("{}\n", values.get(row)).as_bytes());
            }
            self.1 += batch.rows as u64;
            Ok(())
        }
    }

    impl PartEncoder for Lines {
        fn finish(&mut self) -> Result<Part> {
            let Self(bytes, rows) = std::mem::take(self);
            Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(()), meta_bytes: 0 })
        }
    }

    struct LinesWriter(u64);

    impl BatchWriter for LinesWriter {
        fn encoder(&self) -> Box<dyn PartEncoder> {
            Box::<Lines>::default()
        }

        fn start(&mut self) -> Vec<u8> {
            b"start\n".to_vec()
        }

        fn append(&mut self, part: &mut Part) -> Result<()> {
            assert_ne!(part.rows, 0);
            self.0 += part.rows;
            Ok(())
        }

        fn finish(&mut self) -> Result<Vec<u8>> {
            Ok(format!("{} rows\n", self.0).into_bytes())
        }
    }

    fn run(table: &dyn Table, threads: usize) -> (Result<Converted>, Option<String>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        let output = Output::create(&path, &OutputOptions::default()).unwrap();
        let progress = Progress::default();
        let result = convert(table, Box::new(LinesWriter(0)), output, RejectLog::none(), threads, &progress);
        let text = std::fs::read_to_string(&path).ok();
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), usize::from(text.is_some()));
        (result, text)
    }

    #[test]
    fn parts_are_in_order_with_any_threads() {
        let table = numbers((0..40).map(|split| Some(split % 5)).collect(), None);
        let mut expected = String::from("start\n");
        for split in 0..40 {
            expected.extend((0..split % 5).map(|row| format!("{}\n", split * 1000 + row)));
        }
        expected.push_str("80 rows\n");
        for threads in 1..=8 {
            let (result, text) = run(&table, threads);
            let converted = result.unwrap();
            assert_eq!(text.as_ref(), Some(&expected), "{threads} threads");
            assert_eq!((converted.rows_read, converted.rows_stored, converted.rows_rejected), (80, 80, 0));
            assert_eq!((converted.parts, converted.bytes_in), (32, 400));
            assert_eq!(converted.bytes_out, expected.len() as u64);
        }
    }

    #[test]
    fn the_first_error_is_reported_and_no_output_is_left() {
        let mut splits = vec![Some(3); 60];
        splits[21] = None;
        splits[22] = None;
        let table = numbers(splits, None);
        for threads in 1..=8 {
            let (result, text) = run(&table, threads);
            assert_eq!(result.unwrap_err().to_string(), "numbers: line 68, byte 7, column 'n': empty number");
            assert_eq!(text, None);
        }
    }

    /// A table of 40 splits whose numbers have one decimal from the split `surprise` on, unlike its first rows.
    fn inferred(schemas: [Arc<Schema>; 2], surprise: u64) -> impl Table {
        let [first, _] = schemas.each_ref().map(|schema| Schema::clone(schema));
        let widened = Arc::new(AtomicBool::new(false));
        let now = Arc::clone(&widened);
        let all = schemas.clone();
        let deliver = move |split: &Split, _: &ScanOptions, sink: &mut dyn Sink| {
            let unit = if widened.load(Relaxed) { 10 } else { 1 };
            sink.schema(&schemas[usize::from(unit == 10)])?;
            let whole = [split.index as i64 * unit; 3];
            sink.batch(&Batch { rows: 3, columns: &[Column::integers(Integers::I64(&whole))] })?;
            if split.index >= surprise {
                if unit == 1 {
                    widened.store(true, Relaxed);
                    return Err(ScanError::Widened);
                }
                sink.batch(&Batch { rows: 1, columns: &[Column::integers(Integers::I8(&[5]))] })?;
            }
            let rows = 3 + u64::from(split.index >= surprise);
            Ok(Some(Scanned { rows, bytes: 10, ..Scanned::default() }))
        };
        FunctionTable::new("inferred", first, 40, deliver)
            .with_inferred(move || Arc::clone(&all[usize::from(now.load(Relaxed))]))
    }

    #[test]
    fn a_table_is_written_in_the_final_types() {
        let schemas = ["n:int64", "n:decimal(18,1)"].map(|text| Arc::new(Schema::parse(text).unwrap()));
        for threads in [1, 2, 5] {
            for surprise in [0, 1, 17, 39, 40] {
                let table = inferred(schemas.clone(), surprise);
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("lines");
                let mut begun = Vec::new();
                let begin = |schema: &Schema| {
                    begun.push(schema.to_string());
                    let output = Output::create(&path, &OutputOptions::default())?;
                    Ok(Target { writer: Box::new(LinesWriter(0)), output, rejects: RejectLog::none() })
                };
                let converted = convert_inferred(&table, begin, threads, &Progress::default()).unwrap();
                let (unit, rows) = if surprise < 40 { (10, 40 * 3 + 40 - surprise) } else { (1, 40 * 3) };
                assert_eq!((converted.rows_read, converted.rows_stored), (rows, rows));
                assert_eq!(begun, if surprise < 40 { vec!["n:int64", "n:decimal(18,1)"] } else { vec!["n:int64"] });
                let mut expected = "start\n".to_owned();
                for split in 0..40 {
                    expected.push_str(&format!("{}\n", split * unit).repeat(3));
                    expected.push_str(if split >= surprise { "5\n" } else { "" });
                }
                expected.push_str(&format!("{rows} rows\n"));
                assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
            }
        }
    }

    #[test]
    fn missing_rows_are_an_error() {
        let table = numbers(vec![Some(3), Some(3)], Some(7));
        let (result, text) = run(&table, 2);
        assert!(matches!(result, Err(Error::Corrupt { .. })));
        assert_eq!(text, None);
    }
}
