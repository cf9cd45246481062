//! Selected rows of a table as a table, [`SelectedRows`]: each wanted row gives one of the answer, in the order of the
//! table unless the reader takes any.
//!
//! Rows are computed while they are scanned: writing or printing them takes no memory for all. Only limited or sorted
//! rows are collected.

use crate::plan::Plan;
use crate::scan::selector::{Selector, takes_wanted_rows};
use crate::scan::totals::ScanTotals;
use brc_core::{Batch, Error, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table, TableFile};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

/// The rows that a query selects from a table, in the table's order.
pub struct SelectedRows<'a> {
    plan: &'a Plan,
    table: &'a dyn Table,
    schema: Schema,
    totals: Mutex<ScanTotals>,
}

impl Plan {
    /// Whether the answer is the rows of a table in its order, so that [`Plan::selected`] has them without collecting
    /// them.
    #[must_use]
    pub fn is_row_by_row(&self) -> bool {
        !self.grouped && self.order_by.is_empty() && self.limit.is_none() && self.offset == 0
    }

    /// The answer as a table that is computed while it is scanned. A scan ends with [`Error::Widened`] if the table's
    /// inferred types turn out wider than those that the plan is for.
    ///
    /// # Errors
    /// [`Error::Usage`] if rows have to be collected first ([`Plan::is_row_by_row`]), or the table has other columns
    /// than the plan is for; [`Error::Widened`] if its types are wider by now.
    pub fn selected<'a>(&'a self, table: &'a dyn Table) -> Result<SelectedRows<'a>> {
        if !self.is_row_by_row() {
            return Err(Error::Usage("rows that are grouped, sorted or limited do not come one by one".to_owned()));
        }
        self.scanned(table, || {
            let (schema, totals) = (self.selected_schema()?, Mutex::default());
            Ok(SelectedRows { plan: self, table, schema, totals })
        })
    }
}

impl Plan {
    /// The columns of selected rows. What is known of the table as a whole still holds if they are columns of it.
    fn selected_schema(&self) -> Result<Schema> {
        let schema = self.answer_schema()?;
        let are_of_table = self.columns.iter().all(|column| column.value.is_column());
        Ok(if are_of_table { schema.with_metadata(self.schema.metadata().to_vec()) } else { schema })
    }
}

impl SelectedRows<'_> {
    /// What all scans so far did.
    #[must_use]
    pub fn totals(&self) -> ScanTotals {
        self.totals.lock().clone()
    }
}

impl Table for SelectedRows<'_> {
    fn path(&self) -> &Path {
        self.table.path()
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The plan's types: they stay the same, but who writes rows in them may have to begin again.
    fn inferred(&self) -> Option<Arc<Schema>> {
        self.table.inferred().map(|_| Arc::new(self.schema.clone()))
    }

    fn rows(&self) -> Option<u64> {
        self.table.rows()
    }

    fn bytes(&self) -> Option<u64> {
        self.table.bytes()
    }

    fn is_read_once(&self) -> bool {
        self.table.is_read_once()
    }

    fn split(&self, index: u64) -> Option<Split> {
        self.table.split(index)
    }

    fn file_of(&self, split: u64) -> Option<TableFile<'_>> {
        self.table.file_of(split).or(Some(TableFile { table: self.table, first_split: 0 }))
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let values = options.projection.iter().map(|&column| &self.plan.columns[column].value);
        let selector = Selector::new(self.plan, self.table, values);
        Ok(Box::new(SelectedScanner {
            scanner: self.table.scanner(&self.plan.scan_options())?,
            selector,
            totals: &self.totals,
        }))
    }
}

struct SelectedScanner<'a> {
    scanner: Box<dyn Scanner + 'a>,
    selector: Selector<'a>,
    totals: &'a Mutex<ScanTotals>,
}

impl Scanner for SelectedScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let mut selecting = Selecting { selector: &mut self.selector, rows: 0, sink };
        let scanned = match self.scanner.scan(split, &mut selecting) {
            Err(ScanError::Widened) => return Err(Error::Widened.into()),
            scanned => scanned?,
        };
        let rows = selecting.rows;
        Ok(scanned.map(|mut scanned| {
            self.totals.lock().add(&ScanTotals::from(&scanned));
            scanned.skipped_rows += scanned.rows - rows;
            scanned.rows = rows;
            scanned
        }))
    }
}

/// Hands the rows that are wanted over.
struct Selecting<'s, 'a> {
    selector: &'s mut Selector<'a>,
    rows: u64,
    sink: &'s mut dyn Sink,
}

impl Selecting<'_, '_> {
    fn take(&mut self, batch: &Batch<'_>, wanted: Option<Vec<u32>>) -> Result<()> {
        self.rows += self.selector.select(batch, wanted, usize::MAX, |selected| self.sink.batch(selected))? as u64;
        Ok(())
    }
}

takes_wanted_rows!(Selecting<'_, '_>);
