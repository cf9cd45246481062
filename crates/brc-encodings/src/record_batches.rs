//! A sequence of record batches from another program as a table that is read once.

use crate::columnar::array_batches::ArrayBatches;
use crate::columnar::{self, arrow_columns, guarded, table_metadata};
use crate::turns::{Turns, read_once};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema as ArrowSchema};
use brc_core::{
    Error, Field, LogicalType, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table,
    UnsupportedColumn,
};
use std::path::{Path, PathBuf};

/// The approximate size of a split in bytes.
const SPLIT_BYTES: usize = 32 << 20;

/// The minimum and maximum number of rows of a split.
const SPLIT_ROWS: (usize, usize) = (1 << 13, 1 << 20);

/// The number of rows converted at once: few enough for the caches.
const PIECE: usize = 1 << 14;

/// A sequence of record batches as a table.
pub struct RecordBatches {
    name: PathBuf,
    schema: Schema,
    /// The positions of the columns in a record batch.
    positions: Vec<usize>,
    source: Turns<RemainingBatches>,
}

/// The remaining record batches.
struct RemainingBatches {
    reader: Box<dyn RecordBatchReader + Send>,
    /// The rest of the last record batch.
    batch: Option<RecordBatch>,
    /// The rows per split, once the first record batch is known.
    split_rows: Option<usize>,
}

impl RecordBatches {
    /// The record batches of a reader; `name` identifies it in messages.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a table cannot have their columns.
    pub fn new(name: &Path, reader: Box<dyn RecordBatchReader + Send>) -> Result<Self> {
        let arrow = reader.schema();
        let (mut fields, mut positions, mut unsupported_columns) = (Vec::new(), Vec::new(), Vec::new());
        for (position, field) in arrow.fields().iter().enumerate() {
            match logical_type(field) {
                Ok(logical_type) => {
                    positions.push(position);
                    fields.push(Field { name: field.name().clone(), logical_type, nullable: field.is_nullable() });
                }
                Err(kind) => unsupported_columns.push(UnsupportedColumn { name: field.name().clone(), kind }),
            }
        }
        let schema = columnar::schema(name, fields, unsupported_columns)?.with_metadata(metadata(&arrow));
        let source = Turns::new(RemainingBatches { reader, batch: None, split_rows: None });
        Ok(Self { name: name.to_owned(), schema, positions, source })
    }

    /// The rows of a split; none after the last. A thread that requests a later split waits until earlier ones are
    /// read.
    fn read(&self, split: u64) -> Result<Vec<RecordBatch>> {
        let mut source = self.source.turn(split).ok_or_else(|| read_once(&self.name))?;
        source.take().map_err(|error| self.error(error))
    }

    fn error(&self, error: ArrowError) -> Error {
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<Error>() {
                Ok(error) => *error,
                Err(error) => Error::unsupported(&self.name, error.to_string()),
            },
            error => Error::unsupported(&self.name, error.to_string()),
        }
    }
}

impl RemainingBatches {
    /// The rows of the next split.
    fn take(&mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        let (mut collected, mut rows) = (Vec::new(), 0);
        loop {
            let batch = match self.batch.take() {
                Some(batch) => batch,
                None => match self.reader.next() {
                    Some(batch) => batch?,
                    None => return Ok(collected),
                },
            };
            let most = *self.split_rows.get_or_insert_with(|| split_rows(&batch));
            let wanted = batch.num_rows().min(most - rows);
            collected.push(batch.slice(0, wanted));
            rows += wanted;
            if wanted < batch.num_rows() {
                self.batch = Some(batch.slice(wanted, batch.num_rows() - wanted));
            }
            if rows == most {
                return Ok(collected);
            }
        }
    }
}

/// The rows per split, judged by these rows.
fn split_rows(batch: &RecordBatch) -> usize {
    let of_row = batch.get_array_memory_size() / batch.num_rows().max(1);
    (SPLIT_BYTES / of_row.max(1)).clamp(SPLIT_ROWS.0, SPLIT_ROWS.1)
}

/// The type of a column.
///
/// # Errors
/// If a table cannot hold it: its actual type, with an article.
fn logical_type(field: &ArrowField) -> Result<LogicalType, String> {
    let is_uuid = field.extension_type_name() == Some("arrow.uuid");
    match field.data_type() {
        DataType::FixedSizeBinary(16) if is_uuid => Ok(LogicalType::Uuid),
        data_type => arrow_columns::logical_type(data_type),
    }
}

/// The metadata of the table as a whole, with or without the prefix they have in Arrow files.
fn metadata(arrow: &ArrowSchema) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = arrow.metadata().iter().map(|(key, value)| (key.as_str(), Some(value.as_str()))).collect();
    pairs.sort_unstable();
    table_metadata(pairs.into_iter())
}

impl Table for RecordBatches {
    fn path(&self) -> &Path {
        &self.name
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

    fn is_read_once(&self) -> bool {
        true
    }

    fn split(&self, index: u64) -> Option<Split> {
        Some(Split { index, start: index, end: index + 1 })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let types = options.projection.iter().map(|&column| self.schema.fields()[column].logical_type);
        let positions = options.projection.iter().map(|&column| self.positions[column]).collect();
        Ok(Box::new(BatchScanner { table: self, positions, arrays: ArrayBatches::new(types, false) }))
    }
}

struct BatchScanner<'t> {
    table: &'t RecordBatches,
    /// The positions of the projected columns in a record batch.
    positions: Vec<usize>,
    arrays: ArrayBatches,
}

impl Scanner for BatchScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let batches = self.table.read(split.index)?;
        if batches.is_empty() {
            return Ok(None);
        }
        let mut scanned = Scanned::default();
        for batch in &batches {
            for start in (0..batch.num_rows()).step_by(PIECE) {
                let rows = PIECE.min(batch.num_rows() - start);
                let arrays: Vec<ArrayRef> =
                    self.positions.iter().map(|&position| batch.column(position).slice(start, rows)).collect();
                self.take(&arrays)?;
                self.arrays.deliver(rows, sink)?;
                scanned.rows += rows as u64;
            }
        }
        Ok(Some(scanned))
    }
}

impl BatchScanner<'_> {
    fn take(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let mut at = 0;
        let converted = guarded(|| {
            self.arrays.take(arrays.iter()).map_err(|(column, fault)| {
                at = column;
                fault
            })
        });
        converted.map_err(|fault| {
            let name = self.positions.get(at).map_or("", |&position| self.table.name_of(position));
            fault.at(&self.table.name, &format!("column '{name}'"))
        })
    }
}

impl RecordBatches {
    /// The name of a column by its position in a record batch.
    fn name_of(&self, position: usize) -> &str {
        let column = self.positions.iter().position(|&own| own == position);
        column.and_then(|column| self.schema.fields().get(column)).map_or("", |field| field.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, RecordBatchIterator, StringArray, StructArray};
    use brc_testing::{Cell, collect};
    use std::sync::Arc;

    fn schema() -> Arc<ArrowSchema> {
        let fields = [("n", DataType::Int64), ("s", DataType::Utf8)];
        Arc::new(ArrowSchema::new(fields.map(|(name, data_type)| ArrowField::new(name, data_type, true)).to_vec()))
    }

    /// Batches of the given numbers of rows; the values continue from one batch to the next.
    fn batches(sizes: &[usize]) -> Vec<Result<RecordBatch, ArrowError>> {
        let mut first = 0;
        let batch = |&size: &usize| {
            let numbers = first..first + size as i64;
            first += size as i64;
            let strings: StringArray = numbers.clone().map(|n| (n % 3 != 0).then(|| (n % 7).to_string())).collect();
            let numbers = Int64Array::from_iter_values(numbers);
            RecordBatch::try_new(schema(), vec![Arc::new(numbers), Arc::new(strings)])
        };
        sizes.iter().map(batch).collect()
    }

    fn table(batches: Vec<Result<RecordBatch, ArrowError>>) -> RecordBatches {
        RecordBatches::new(Path::new("it"), Box::new(RecordBatchIterator::new(batches, schema()))).unwrap()
    }

    /// The rows of each split.
    fn read(table: &RecordBatches, threads: usize) -> Result<Vec<Vec<Vec<Cell>>>> {
        let splits = collect(table, &ScanOptions::everything(table.schema()), threads)?;
        Ok(splits.into_iter().map(|(rows, _)| rows.into_rows()).collect())
    }

    #[test]
    fn batches_of_any_size_become_even_splits_in_order() {
        for threads in [1, 4] {
            let sizes = [0, 3, SPLIT_ROWS.1, 0, 2 * SPLIT_ROWS.1 + 5, 1];
            let splits = read(&table(batches(&sizes)), threads).unwrap();
            let rows: usize = sizes.iter().sum();
            assert!(splits.len() > 3 && splits[..splits.len() - 1].iter().all(|split| split.len() == splits[0].len()));
            let found = splits.into_iter().flatten();
            let text = |n: i64| if n % 3 == 0 { Cell::Null } else { (n % 7).to_string().into() };
            let wanted = (0..rows as i64).map(|n| vec![n.into(), text(n)]);
            assert!(found.eq(wanted));
        }
        assert!(read(&table(Vec::new()), 2).unwrap().is_empty());
    }

    #[test]
    fn reader_errors_are_scan_errors() {
        let mut failing = batches(&[5]);
        failing.push(Err(ArrowError::ExternalError(Box::new(Error::Interrupted))));
        assert!(matches!(read(&table(failing), 2), Err(Error::Interrupted)));
        let mut failing = batches(&[5]);
        failing.push(Err(ArrowError::ComputeError("no luck".to_owned())));
        let error = read(&table(failing), 2).unwrap_err().to_string();
        assert!(error.contains("no luck"), "{error}");
        let once = table(batches(&[5]));
        read(&once, 1).unwrap();
        assert!(read(&once, 1).unwrap_err().to_string().ends_with("is read only once"));
    }

    #[test]
    fn unsupported_columns_are_skipped_and_listed() {
        let inner: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let nested =
            StructArray::from(vec![(Arc::new(ArrowField::new("a", DataType::Int64, true)), Arc::clone(&inner))]);
        let batch = RecordBatch::try_from_iter([("x", Arc::new(nested) as ArrayRef), ("n", inner)]).unwrap();
        let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        let table = RecordBatches::new(Path::new("it"), Box::new(reader)).unwrap();
        assert_eq!(table.schema().to_string(), "n:int64 not null");
        assert_eq!(
            table.schema().unsupported_columns()[0].to_string(),
            "column 'x' is a struct, which brc does not read"
        );
    }
}
