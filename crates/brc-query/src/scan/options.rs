//! What a plan requests of a table's scan: columns, predicates, statistics and order.

use super::conditions::Condition;
use crate::bind::inputs::Source;
use crate::plan::Plan;
use crate::states::{State, StateKind};
use brc_core::{Error, Order, Predicate, Result, ScanOptions, Table};

impl Plan {
    /// The request to the table's scan.
    #[must_use]
    pub fn scan_options(&self) -> ScanOptions {
        let sums = self.sums_suffice();
        ScanOptions {
            projection: self.projection(),
            predicate: self.pushed_down(),
            conjuncts: self.conditions().iter().map(Condition::conjunct).collect(),
            statistics: self.statistics && sums,
            counts: self.statistics && self.takes_weights(),
            sums,
            order: if self.needs_order() { Order::Original } else { Order::Any },
            splits: self.splits.clone(),
        }
    }

    /// What of the predicate the table's scan can skip rows by: all that is no more than comparisons of its columns.
    #[must_use]
    pub fn pushed_down(&self) -> Option<Predicate> {
        let of_table = |predicate: &Predicate| {
            let mut columns = Vec::new();
            predicate.columns(&mut columns);
            columns.iter().all(|&column| column < self.schema.fields().len())
        };
        match self.predicate.as_ref()? {
            Predicate::And(parts) => {
                let parts: Vec<Predicate> = parts.iter().filter(|part| of_table(part)).cloned().collect();
                (!parts.is_empty()).then_some(Predicate::And(parts))
            }
            predicate => of_table(predicate).then(|| predicate.clone()),
        }
    }

    /// Whether sums, bounds and counts of rows are enough to answer: of integers, by keys that are strings. The
    /// statistics of a number do not show which groups there are. Sums are not stored where there are nulls.
    fn sums_suffice(&self) -> bool {
        let logical_type = |column: usize| self.schema.fields()[column].logical_type;
        let keys = self.keys.iter().all(|&key| self.is_text(key));
        let states = self
            .states()
            .into_iter()
            .all(|(_, kind)| matches!(kind, StateKind::Integers | StateKind::Sums | StateKind::Counts));
        let columns =
            self.projection().into_iter().all(|column| self.is_text(column) || logical_type(column).fits_64_bits());
        self.grouped && self.computed.is_empty() && keys && states && columns
    }

    /// Whether the scan may emit (value, count) rows.
    fn takes_weights(&self) -> bool {
        let fields = self.fields();
        let takes = |(columns, kind): (Vec<usize>, StateKind)| State::new(kind, &columns, &fields).takes_weights();
        self.grouped && !self.needs_order() && self.states().into_iter().all(takes)
    }

    /// Whether it matters in which order rows lie in the table.
    fn needs_order(&self) -> bool {
        !self.grouped || self.computed.iter().any(|computed| computed.source == Source::RowNumber)
    }

    /// Scans a table of the plan's columns.
    pub(crate) fn scanned<T>(&self, table: &dyn Table, scan: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check()?;
        let inferred = table.inferred();
        let schema = inferred.as_deref().unwrap_or(table.schema());
        if !self.is_for(schema) {
            return Err(match inferred {
                Some(_) => Error::Widened,
                None => {
                    let expected = &self.schema;
                    Error::Usage(format!("the table's columns are {schema}, but the plan is for {expected}"))
                }
            });
        }
        scan()
    }
}
