//! The first rows of a table, as text in several formats.

mod formats;
mod table;

use brc_core::{
    Batch, Error, LogicalType, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Summary, Table, Value,
    Worker, scan,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::sync::Arc;

/// The first rows of a table, each value in its text form.
pub(crate) struct FirstRows {
    pub(crate) schema: Arc<Schema>,
    /// `None` is null.
    pub(crate) rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl FirstRows {
    /// The first `limit` rows. No more of the table is read than that needs.
    ///
    /// # Errors
    /// Those of the scan, unless there are enough rows before.
    pub(crate) fn of(table: &dyn Table, limit: u64) -> Result<Self> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let options = ScanOptions::everything(table.schema());
        let first = std::sync::Mutex::new(Vec::new());
        let new_worker = || Collector { table, limit, rows: Vec::new(), before: 0, first: &first };
        let scanned =
            if limit == 0 { Ok(Vec::new()) } else { scan(table, &options, 1, &Progress::default(), new_worker) };
        let outcome = scanned.map(drop);
        let rows = first.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if rows.len() < limit {
            outcome?;
        }
        let schema = table.inferred().unwrap_or_else(|| Arc::new(table.schema().clone()));
        Ok(Self { schema, rows })
    }

    /// The types of the columns.
    pub(crate) fn types(&self) -> impl Iterator<Item = LogicalType> {
        self.schema.fields().iter().map(|field| field.logical_type)
    }
}

/// Keeps rows until there are enough.
struct Collector<'a> {
    table: &'a dyn Table,
    limit: usize,
    rows: Vec<Vec<Option<Vec<u8>>>>,
    /// How many of the rows are of the splits before the one at hand.
    before: usize,
    /// Where the rows go in the end.
    first: &'a std::sync::Mutex<Vec<Vec<Option<Vec<u8>>>>>,
}

impl Sink for Collector<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let inferred = self.table.inferred();
        let schema = inferred.as_deref().unwrap_or(self.table.schema());
        for row in 0..batch.rows.min(self.limit - self.rows.len()) {
            let value = |(column, field): (_, &brc_core::Field)| {
                let value = Value::of_row(column, row)?;
                let mut text = Vec::new();
                value.write(field.logical_type, &mut text);
                Some(text)
            };
            self.rows.push(batch.columns.iter().zip(schema.fields()).map(value).collect());
        }
        // Nothing but an error stops a scan; nobody sees this one.
        if self.rows.len() == self.limit { Err(Error::Usage("there are enough rows".to_owned())) } else { Ok(()) }
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

impl Worker for Collector<'_> {
    fn split_begins(&mut self, _: &Split) {
        self.before = self.rows.len();
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        self.rows.truncate(self.before);
        Ok(())
    }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        *self.first.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = std::mem::take(&mut self.rows);
    }
}

/// A way to print rows.
pub(crate) trait Format: Sync {
    /// Its name, as in `--format`.
    fn name(&self) -> &'static str;

    /// One line on what it is, for help texts.
    fn about(&self) -> &'static str;

    /// Appends the rows.
    ///
    /// # Errors
    /// [`brc_core::Error::Usage`] if the format cannot express them.
    fn render(&self, rows: &FirstRows, out: &mut Vec<u8>) -> Result<()>;
}

/// All formats, in the order in which help texts show them.
static FORMATS: &[&dyn Format] =
    &[&table::Table, &formats::Csv, &formats::JSON, &formats::JSON_LINES, &formats::Markdown];

/// The format for people.
pub(crate) fn table() -> &'static dyn Format {
    &table::Table
}

/// Reads the name of a format.
pub(crate) fn format() -> impl TypedValueParser<Value = &'static dyn Format> {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(values).try_map(|name| {
        FORMATS.iter().copied().find(|format| format.name() == name).ok_or_else(|| format!("unknown format {name}"))
    })
}
