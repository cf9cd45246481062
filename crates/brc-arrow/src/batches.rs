//! Converts scanned batches to record batches.

use crate::array::ColumnBuilder;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, SchemaRef};
use brc_core::{Batch, Error, Field};
use std::path::Path;

/// Why a record batch could not be made or delivered.
#[derive(Debug)]
pub(crate) enum BatchError {
    Arrow(ArrowError),
    /// A string of a column is not UTF-8.
    NotUtf8 {
        column: String,
    },
    /// The consumer failed.
    Consumer(Error),
}

impl From<ArrowError> for BatchError {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl From<Error> for BatchError {
    fn from(error: Error) -> Self {
        Self::Consumer(error)
    }
}

impl BatchError {
    /// The error of a scan of this file.
    pub(crate) fn error(self, path: &Path) -> Error {
        match self {
            Self::Consumer(error) => error,
            Self::NotUtf8 { column } => Error::NotUtf8 { path: path.to_owned(), column },
            Self::Arrow(ArrowError::InvalidArgumentError(reason)) => Error::unsupported(path, reason),
            Self::Arrow(error) => Error::unsupported(path, error.to_string()),
        }
    }
}

/// Collects the rows of a worker until they fill a record batch.
pub(crate) struct Batches {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    /// The number of collected rows.
    rows: usize,
    /// The maximum number of rows per record batch.
    max_rows: usize,
}

/// A record batch with this number of string bytes is complete: string offsets have 31 bits.
const MAX_STRING_BYTES: usize = 256 << 20;

impl Batches {
    /// For table columns that become the columns of `arrow_schema`.
    pub(crate) fn new(fields: &[Field], arrow_schema: &SchemaRef, max_rows: usize) -> Self {
        let fields = fields.iter().zip(arrow_schema.fields());
        let columns = fields.map(|(field, arrow)| ColumnBuilder::new(field.logical_type, arrow.data_type().clone()));
        Self { schema: SchemaRef::clone(arrow_schema), columns: columns.collect(), rows: 0, max_rows: max_rows.max(1) }
    }

    /// Reserves memory for the given number of rows.
    pub(crate) fn expect(&mut self, rows: u64) {
        let rows = usize::try_from(rows).map_or(self.max_rows, |rows| rows.min(self.max_rows));
        self.columns.iter_mut().for_each(|column| column.expect(rows));
    }

    /// Appends rows, and calls `each` with every complete record batch.
    ///
    /// # Errors
    /// If arrays of the given types cannot hold the rows; the errors of `each`.
    pub(crate) fn take(
        &mut self,
        batch: &Batch<'_>,
        mut each: impl FnMut(RecordBatch) -> brc_core::Result<()>,
    ) -> Result<(), BatchError> {
        let mut start = 0;
        while start < batch.rows {
            let rows = start..batch.rows.min(start + self.max_rows - self.rows);
            start = rows.end;
            self.rows += rows.len();
            for (builder, column) in self.columns.iter_mut().zip(batch.columns) {
                let runs = column.runs_of_rows(rows.clone());
                builder.take(&column.slice(rows.clone(), &runs), rows.len())?;
            }
            let is_large = self.columns.iter().any(|column| column.string_bytes() > MAX_STRING_BYTES);
            if self.rows == self.max_rows || is_large {
                self.finish()?.map_or(Ok(()), &mut each)?;
            }
        }
        Ok(())
    }

    /// The record batch of the collected rows, if there are any.
    ///
    /// # Errors
    /// If arrays of the given types cannot hold the rows: the error names the column.
    pub(crate) fn finish(&mut self) -> Result<Option<RecordBatch>, BatchError> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return Ok(None);
        }
        let columns = self.columns.iter_mut().zip(self.schema.fields()).map(|(column, field)| {
            let named = |error: ArrowError| -> BatchError {
                let reason = match error {
                    ArrowError::InvalidArgumentError(reason) if reason.contains("non UTF-8") => {
                        return BatchError::NotUtf8 { column: field.name().clone() };
                    }
                    ArrowError::InvalidArgumentError(reason) => reason,
                    error => error.to_string(),
                };
                ArrowError::InvalidArgumentError(format!("column '{}': {reason}", field.name())).into()
            };
            column.finish().map_err(named)
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options)?))
    }
}
