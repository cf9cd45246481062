//! Writes a table as Hive folders, `country=DE/year=2024/part-0.buren`: one file per combination of values of the
//! partition columns, which are left out of the files.
//!
//! The rows must be sorted by these columns. Only one file is open at a time, whatever the number of partitions, and
//! each has row groups of the usual size.

use crate::hive;
use crate::long_rows::{LongRows, slice};
use crate::output::Output;
use brc_core::{
    Batch, BatchWriter, Column, Data, Error, LogicalType, PartEncoder, Result, ScanError, ScanOptions, Schema, Sink,
    Table, Value,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The maximum number of partitions: each is a file in its own directory.
pub const MAX_PARTITIONS: usize = 10_000;

/// Creates the file of a partition for a table with the given schema: its path is relative to the output directory.
pub type Begin<'b> = dyn FnMut(&Path, &Schema) -> Result<(Box<dyn BatchWriter>, Output)> + 'b;

/// The result of writing partitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Partitioned {
    /// Rows of all partitions.
    pub rows: u64,
    /// The number of partitions, each of one file.
    pub partitions: usize,
    /// The size of all files in bytes.
    pub bytes: u64,
}

/// Checks that the values of these columns can be directory names, and that other columns remain; returns their
/// positions.
///
/// # Errors
/// [`Error::Usage`] if not.
pub fn partition_columns(schema: &Schema, names: &[String]) -> Result<Vec<usize>> {
    let position = |name: &String| {
        let at = schema.index_of(name).ok_or_else(|| {
            let names: Vec<_> = schema.fields().iter().map(|field| field.name.as_str()).collect();
            let hint =
                if name.contains('(') { "; save an expression as a column first, with brc query -o" } else { "" };
            Error::Usage(format!("unknown column '{name}'{hint} (columns: {})", names.join(", ")))
        })?;
        match schema.fields()[at].logical_type {
            logical_type @ (LogicalType::Float32 | LogicalType::Float64) => {
                Err(Error::Usage(format!("cannot partition by '{name}': it is {logical_type}")))
            }
            _ => Ok(at),
        }
    };
    let columns = names.iter().map(position).collect::<Result<Vec<_>>>()?;
    if columns.len() >= schema.fields().len() {
        return Err(Error::Usage("at least one column must remain besides those to partition by".to_owned()));
    }
    Ok(columns)
}

/// Writes all rows of a table sorted by these columns, one file for each partition. Each file consists of parts of
/// about `part_bytes` bytes.
///
/// # Errors
/// Those of the table, of `begin` and of the files; if there are more than [`MAX_PARTITIONS`].
pub fn write_partitions(
    table: &dyn Table,
    columns: &[usize],
    extension: &str,
    part_bytes: u64,
    begin: &mut Begin<'_>,
) -> Result<Partitioned> {
    let schema = table.schema();
    let is_stored = |column: &usize| !columns.contains(column);
    let stored: Vec<usize> = (0..schema.fields().len()).filter(is_stored).collect();
    let fields = stored.iter().map(|&column| schema.fields()[column].clone()).collect();
    let of_files = Schema::new(fields).map_err(|error| Error::Usage(error.to_string()))?;
    let mut writing = PartitionWriter {
        keys: columns
            .iter()
            .map(|&column| (schema.fields()[column].name.as_str(), schema.fields()[column].logical_type))
            .collect(),
        of_files: of_files.with_metadata(schema.metadata().to_vec()),
        file_name: format!("part-0.{extension}"),
        part_bytes,
        begin,
        open: None,
        begun: HashSet::new(),
        written: Partitioned::default(),
    };
    let projection = columns.iter().copied().chain(stored).collect();
    let options = ScanOptions { projection, ..ScanOptions::everything(schema) };
    let mut scanner = table.scanner(&options)?;
    for index in 0.. {
        let Some(split) = table.split(index) else { break };
        let scanned = scanner.scan(&split, &mut writing).map_err(|error| failed(table, error))?;
        if scanned.is_none() {
            break;
        }
    }
    writing.finish()?;
    Ok(writing.written)
}

/// The rows were read once before they were sorted, so none of them is malformed.
fn failed(table: &dyn Table, error: ScanError) -> Error {
    match error {
        ScanError::Other(error) => error,
        ScanError::Widened | ScanError::BadRow { .. } => Error::corrupt(table.path(), "rows", "they changed meanwhile"),
    }
}

/// The state of the output.
struct PartitionWriter<'w, 'b> {
    /// The names and types of the partition columns: the first columns of each batch.
    keys: Vec<(&'w str, LogicalType)>,
    /// The remaining columns, which the files have.
    of_files: Schema,
    file_name: String,
    part_bytes: u64,
    begin: &'w mut Begin<'b>,
    open: Option<OpenPartition>,
    begun: HashSet<PathBuf>,
    written: Partitioned,
}

/// The current file.
struct OpenPartition {
    /// Relative to the output directory.
    path: PathBuf,
    writer: Box<dyn BatchWriter>,
    encoder: Box<dyn PartEncoder>,
    output: Output,
    /// The bytes of the file so far.
    end: u64,
    parts: u64,
    /// The rows of finished parts.
    rows_before: u64,
    /// The rows of the current part, and their approximate size in bytes.
    rows: u64,
    bytes: u64,
    long_rows: LongRows,
}

impl PartitionWriter<'_, '_> {
    /// The first row after `start` of a different partition.
    fn end_of_partition(&self, batch: &Batch<'_>, start: usize) -> usize {
        let keys = &batch.columns[..self.keys.len()];
        let is_same =
            |row: &usize| keys.iter().all(|column| Value::of_row(column, *row) == Value::of_row(column, start));
        (start + 1..batch.rows).find(|row| !is_same(row)).unwrap_or(batch.rows)
    }

    /// The directory of a row.
    fn folder(&self, batch: &Batch<'_>, row: usize) -> PathBuf {
        let folder = |((name, logical_type), column): (&(&str, LogicalType), &Column<'_>)| {
            let value = Value::of_row(column, row);
            let text = value.map(|value| {
                let mut text = Vec::new();
                value.write(*logical_type, &mut text);
                text
            });
            hive::folder(name, text.as_deref())
        };
        self.keys.iter().zip(batch.columns).map(folder).collect()
    }

    /// Switches to the partition of a directory.
    fn switch_to(&mut self, folder: PathBuf) -> Result<()> {
        let path = folder.join(&self.file_name);
        if self.open.as_ref().is_some_and(|open| open.path == path) {
            return Ok(());
        }
        self.finish()?;
        if !self.begun.insert(folder.clone()) {
            return Err(Error::Usage(format!("{}: two partitions have this name", folder.display())));
        }
        if self.begun.len() > MAX_PARTITIONS {
            let columns: Vec<_> = self.keys.iter().map(|(name, _)| *name).collect();
            let reason = format!(
                "{} {} more than {MAX_PARTITIONS} values; choose columns with fewer values",
                columns.join(","),
                if columns.len() == 1 { "has" } else { "have" }
            );
            return Err(Error::Usage(format!("--partition-by: {reason}")));
        }
        let (mut writer, output) = (self.begin)(&path, &self.of_files)?;
        let start = writer.start();
        output.write_at(&start, 0)?;
        let mut encoder = writer.encoder();
        encoder.begin(0);
        self.open = Some(OpenPartition {
            path,
            writer,
            encoder,
            output,
            end: start.len() as u64,
            parts: 0,
            rows_before: 0,
            rows: 0,
            bytes: 0,
            long_rows: LongRows::default(),
        });
        Ok(())
    }

    /// Completes the current partition, if there is one.
    fn finish(&mut self) -> Result<()> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        open.finish_part().map_err(|error| open.located(error))?;
        let last = open.writer.finish()?;
        open.output.write_at(&last, open.end)?;
        open.output.commit()?;
        self.written.partitions += 1;
        self.written.bytes += open.end + last.len() as u64;
        Ok(())
    }
}

impl OpenPartition {
    fn take(&mut self, batch: &Batch<'_>, part_bytes: u64) -> Result<()> {
        let Self { encoder, writer, output, end, long_rows, .. } = self;
        long_rows.portions(batch, |portion| {
            encoder.batch(portion)?;
            if let Some(mut part) = encoder.overflow()? {
                writer.append(&mut part)?;
                output.write_at(&part.bytes, *end)?;
                *end += part.bytes.len() as u64;
            }
            Ok(())
        })?;
        self.rows += batch.rows as u64;
        self.bytes += bytes_of(batch);
        if self.bytes >= part_bytes {
            self.finish_part()?;
            self.encoder.begin(self.parts);
        }
        Ok(())
    }

    fn finish_part(&mut self) -> Result<()> {
        if self.rows == 0 {
            self.encoder.skip();
            return Ok(());
        }
        let mut part = self.encoder.finish()?;
        self.writer.append(&mut part)?;
        self.output.write_at(&part.bytes, self.end)?;
        self.end += part.bytes.len() as u64;
        self.encoder.recycle(part.bytes);
        self.rows_before += self.rows;
        (self.rows, self.bytes) = (0, 0);
        self.parts += 1;
        Ok(())
    }

    /// The error for a row of this file: rows were sorted, so their place in the input is not known.
    fn located(&self, error: Error) -> Error {
        match error {
            Error::UnsupportedValue(mut value) => {
                value.row += self.rows_before;
                value.path.clone_from(&self.path);
                Error::UnsupportedValue(value)
            }
            error => error,
        }
    }
}

/// The approximate size of the rows of a batch in bytes.
fn bytes_of(batch: &Batch<'_>) -> u64 {
    let bytes = |column: &Column<'_>| match column.data {
        Data::Codes { codes, dictionary } => codes.iter().map(|&code| length(dictionary, code)).sum::<usize>(),
        Data::Runs { runs, dictionary } => {
            runs.iter().map(|run| length(dictionary, run.code).saturating_mul(run.rows as usize)).sum()
        }
        Data::Bytes(strings) => strings.span().len(),
        Data::Integers(_) | Data::Floats(_) => 8 * batch.rows,
    };
    batch.columns.iter().map(bytes).sum::<usize>() as u64
}

/// The length of a string; 0 for the code of a null, which may be invalid.
fn length(dictionary: &brc_core::Dictionary, code: u32) -> usize {
    if (code as usize) < dictionary.len() { dictionary.get(code).len() } else { 0 }
}

impl Sink for PartitionWriter<'_, '_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let mut start = 0;
        while start < batch.rows {
            let end = self.end_of_partition(batch, start);
            self.switch_to(self.folder(batch, start))?;
            let (keys, part_bytes) = (self.keys.len(), self.part_bytes);
            let Some(open) = &mut self.open else { break };
            let stored = Batch { rows: batch.rows, columns: &batch.columns[keys..] };
            let taken = slice(&stored, start..end, &mut |rows| open.take(rows, part_bytes));
            taken.map_err(|error| open.located(error))?;
            self.written.rows += (end - start) as u64;
            start = end;
        }
        Ok(())
    }
}
