//! Locates a string that is not UTF-8. Record batches contain selected or grouped rows, whose strings are validated
//! many at a time: the table is scanned for the row only after an error.

use crate::strings::each_string;
use brc_core::{
    Batch, Error, LogicalType, Progress, Result, RowFault, ScanOptions, Scanned, Sink, Split, Table, UnsupportedReason,
    UnsupportedValue, Worker, current_schema, scan,
};
use std::path::PathBuf;

/// The error of a scan, or of a query result derived from a table. [`Error::NotUtf8`] is replaced by an error that
/// names the first row of the table with such a string.
#[must_use]
pub fn located(error: Error, table: &dyn Table) -> Error {
    let Error::NotUtf8 { column, .. } = &error else { return error };
    let types = current_schema(table);
    let fields = types.fields();
    // A query result may have other columns than the table.
    let is_known = fields.iter().any(|field| field.name == *column);
    let texts = fields.iter().enumerate().filter(|(_, field)| field.logical_type == LogicalType::String);
    let texts = texts.filter(|(_, field)| !is_known || field.name == *column);
    let (projection, names): (Vec<usize>, Vec<String>) =
        texts.map(|(index, field)| (index, field.name.clone())).unzip();
    if projection.is_empty() {
        return error;
    }
    let request = ScanOptions { projection, ..ScanOptions::everything(table.schema()) };
    let found = scan(table, &request, 1, &Progress::default(), || Checker { names: &names, rows: 0 });
    found.err().unwrap_or(error)
}

/// Ends a scan at the first string that is not UTF-8.
struct Checker<'a> {
    /// The names of the columns.
    names: &'a [String],
    /// The number of rows of the split so far.
    rows: u64,
}

impl Sink for Checker<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let mut first = None::<(u64, (String, String))>;
        for (column, name) in batch.columns.iter().zip(self.names) {
            let mut row = self.rows;
            // `each_string` fails only if the callback does.
            let _ = each_string(column, batch.rows, |string| {
                row += 1;
                if first.as_ref().is_none_or(|(earlier, _)| row < *earlier) && std::str::from_utf8(string).is_err() {
                    first = Some((row, (name.clone(), RowFault::quote(string))));
                }
                Ok(())
            });
        }
        self.rows += batch.rows as u64;
        first.map_or(Ok(()), |(row, value)| {
            let (path, encoding, fault) = (PathBuf::new(), "arrow", UnsupportedReason::NotUtf8);
            let value = UnsupportedValue { path, row, value: Some(value), encoding, fault };
            Err(Error::UnsupportedValue(Box::new(value)))
        })
    }
}

impl Worker for Checker<'_> {
    fn split_begins(&mut self, _: &Split) {
        self.rows = 0;
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }
}
