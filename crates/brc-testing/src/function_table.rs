//! A table whose rows come from a function, for cases that a table in memory lacks: endless splits, bad rows, types
//! that become wider, wrong row counts.

use brc_core::{Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::Path;
use std::sync::Arc;

/// A table whose rows come from a function. Its number of rows is unknown, unless it is set.
pub struct FunctionTable<F> {
    path: &'static str,
    schema: Schema,
    splits: u64,
    rows: Option<u64>,
    header_lines: u64,
    inferred: Option<Box<dyn Fn() -> Arc<Schema> + Send + Sync>>,
    deliver: F,
}

/// The result of [`Scanner::scan`].
type Delivered = Result<Option<Scanned>, ScanError>;

impl<F: Fn(&Split, &ScanOptions, &mut dyn Sink) -> Delivered + Send + Sync> FunctionTable<F> {
    /// A table of `splits` splits. `deliver` passes the rows of a split to the sink, as [`Scanner::scan`] does.
    pub fn new(path: &'static str, schema: Schema, splits: u64, deliver: F) -> Self {
        Self { path, schema, splits, rows: None, header_lines: 0, inferred: None, deliver }
    }

    /// Sets the number of rows that the table reports.
    #[must_use]
    pub fn with_rows(self, rows: Option<u64>) -> Self {
        Self { rows, ..self }
    }

    /// Sets the number of lines before the first row.
    #[must_use]
    pub fn with_header_lines(self, header_lines: u64) -> Self {
        Self { header_lines, ..self }
    }

    /// Makes the types inferred: `inferred` returns those of all rows so far.
    #[must_use]
    pub fn with_inferred(self, inferred: impl Fn() -> Arc<Schema> + Send + Sync + 'static) -> Self {
        Self { inferred: Some(Box::new(inferred)), ..self }
    }
}

impl<F: Fn(&Split, &ScanOptions, &mut dyn Sink) -> Delivered + Send + Sync> Table for FunctionTable<F> {
    fn path(&self) -> &Path {
        Path::new(self.path)
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inferred(&self) -> Option<Arc<Schema>> {
        self.inferred.as_ref().map(|inferred| inferred())
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn header_lines(&self) -> u64 {
        self.header_lines
    }

    fn split(&self, index: u64) -> Option<Split> {
        (index < self.splits).then_some(Split { index, start: index, end: index + 1 })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(FunctionScanner { deliver: &self.deliver, options: options.clone() }))
    }
}

struct FunctionScanner<'a, F> {
    deliver: &'a F,
    options: ScanOptions,
}

impl<F: Fn(&Split, &ScanOptions, &mut dyn Sink) -> Delivered + Sync> Scanner for FunctionScanner<'_, F> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Delivered {
        (self.deliver)(split, &self.options, sink)
    }
}
