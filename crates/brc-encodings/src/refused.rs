//! Rows of a batch that an encoding cannot hold.
//!
//! Encoders check each distinct string once, not in every row. Whatever the order of the checks, the first row in any
//! column is reported.

use brc_core::{Column, Error, RowFault, Schema, UnsupportedReason, UnsupportedValue, batch};
use std::path::PathBuf;

/// A row that an encoding cannot hold.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Its position in the batch.
    pub(crate) row: usize,
    /// The position of the column and the value, if one value is at fault.
    value: Option<(usize, String)>,
    fault: UnsupportedReason,
}

impl Refused {
    /// The first row with a code whose string cannot be encoded; `index` is the position of the column.
    #[cold]
    pub(crate) fn string(index: usize, column: &Column<'_>, code: u32, fault: UnsupportedReason) -> Self {
        let mut codes = Vec::new();
        batch::codes_of(column, &mut codes);
        let row = codes.iter().position(|&other| other == code).unwrap_or_default();
        let text = column.dictionary().map_or(&[][..], |dictionary| dictionary.get(code));
        Self::value(row, index, text, fault)
    }

    /// A row in which the string of a column cannot be encoded; `index` is the position of the column.
    #[cold]
    pub(crate) fn value(row: usize, index: usize, text: &[u8], fault: UnsupportedReason) -> Self {
        Self { row, value: Some((index, RowFault::quote(text))), fault }
    }

    /// A row of which no single value is at fault.
    #[cold]
    pub(crate) fn row(row: usize, fault: UnsupportedReason) -> Self {
        Self { row, value: None, fault }
    }

    /// The first refused row of a batch; within one row, the first column.
    pub(crate) fn first(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.min_by_key(|refused| refused.row)
    }

    /// The error, given the number of rows of the part before the batch.
    pub(crate) fn into_error(self, rows: u64, encoding: &'static str, schema: &Schema) -> Error {
        let Self { row, value, fault } = self;
        let named = |(column, value): (usize, String)| Some((schema.fields().get(column)?.name.clone(), value));
        Error::UnsupportedValue(Box::new(UnsupportedValue {
            path: PathBuf::new(),
            row: rows + row as u64 + 1,
            value: value.and_then(named),
            encoding,
            fault,
        }))
    }
}
