//! Makes record batches of what a scan delivers.

use crate::array::ColumnBuilder;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, SchemaRef};
use brc_core::{Batch, Error, Field};
use std::path::Path;

/// Why a record batch did not come about.
#[derive(Debug)]
pub(crate) enum Fault {
    Arrow(ArrowError),
    /// A string of a column is not UTF-8.
    NotUtf8 {
        column: String,
    },
    /// Its taker failed.
    Taker(Error),
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Taker(error)
    }
}

impl Fault {
    /// The error of a scan of that file.
    pub(crate) fn error(self, path: &Path) -> Error {
        match self {
            Self::Taker(error) => error,
            Self::NotUtf8 { column } => Error::NotUtf8 { path: path.to_owned(), column },
            Self::Arrow(ArrowError::InvalidArgumentError(reason)) => Error::unsupported(path, reason),
            Self::Arrow(error) => Error::unsupported(path, error.to_string()),
        }
    }
}

/// The rows of one worker until they are as many as a record batch has.
pub(crate) struct Batches {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    /// How many rows there are at hand.
    rows: usize,
    /// How many a record batch has at most.
    most: usize,
}

/// From so many bytes of strings on a record batch is whole: their offsets have 31 bits.
const MAX_STRING_BYTES: usize = 256 << 20;

impl Batches {
    /// For columns of a table that become those of `arrow_schema`.
    pub(crate) fn new(fields: &[Field], arrow_schema: &SchemaRef, most: usize) -> Self {
        let fields = fields.iter().zip(arrow_schema.fields());
        let columns = fields.map(|(field, arrow)| ColumnBuilder::new(field.logical_type, arrow.data_type().clone()));
        Self { schema: SchemaRef::clone(arrow_schema), columns: columns.collect(), rows: 0, most: most.max(1) }
    }

    /// Says that so many rows are going to come.
    pub(crate) fn expect(&mut self, rows: u64) {
        let rows = usize::try_from(rows).map_or(self.most, |rows| rows.min(self.most));
        self.columns.iter_mut().for_each(|column| column.expect(rows));
    }

    /// Takes rows, and calls `each` with every record batch that is whole.
    ///
    /// # Errors
    /// If rows cannot be held in arrays of their types; those of `each`.
    pub(crate) fn take(
        &mut self,
        batch: &Batch<'_>,
        mut each: impl FnMut(RecordBatch) -> brc_core::Result<()>,
    ) -> Result<(), Fault> {
        let mut start = 0;
        while start < batch.rows {
            let rows = start..batch.rows.min(start + self.most - self.rows);
            start = rows.end;
            self.rows += rows.len();
            for (builder, column) in self.columns.iter_mut().zip(batch.columns) {
                let runs = column.runs_of_rows(rows.clone());
                builder.take(&column.slice(rows.clone(), &runs), rows.len())?;
            }
            let is_large = self.columns.iter().any(|column| column.string_bytes() > MAX_STRING_BYTES);
            if self.rows == self.most || is_large {
                self.finish()?.map_or(Ok(()), &mut each)?;
            }
        }
        Ok(())
    }

    /// The record batch of the rows at hand, if there are any.
    ///
    /// # Errors
    /// If rows cannot be held in arrays of their types: the column is named.
    pub(crate) fn finish(&mut self) -> Result<Option<RecordBatch>, Fault> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return Ok(None);
        }
        let columns = self.columns.iter_mut().zip(self.schema.fields()).map(|(column, field)| {
            let named = |error: ArrowError| -> Fault {
                let reason = match error {
                    ArrowError::InvalidArgumentError(reason) if reason.contains("non UTF-8") => {
                        return Fault::NotUtf8 { column: field.name().clone() };
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
