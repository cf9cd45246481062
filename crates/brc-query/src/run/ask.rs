//! Queries on a table whose types may have to be inferred first.

use crate::answer::Answer;
use crate::plan::Plan;
use crate::runtime::memory::Memory;
use crate::sql::query::Query;
use brc_core::{Progress, Result, Table, read_rows, with_types};

impl Query {
    /// Runs the query on a table. Where types are inferred from a sample, the query is bound and run again if it does
    /// not fit them, or they do not hold all values ([`with_types`]). Returns the plan that fitted.
    ///
    /// # Errors
    /// As for [`Query::plan`], and errors of the scan.
    pub fn ask(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<(Plan, Answer)> {
        let (plan, answer) = self.ask_within(table, threads, &Memory::unlimited(), progress)?;
        Ok((plan, answer.load(threads)?))
    }

    /// The same with no more memory than that, as for [`Plan::run_within`].
    ///
    /// # Errors
    /// As for [`Query::ask`] and [`Plan::run_within`].
    pub fn ask_within(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
    ) -> Result<(Plan, Answer)> {
        self.find_defaults(table, threads, progress)?;
        with_types(table, threads, progress, |schema| {
            let plan = self.plan(schema)?;
            let answer = plan.run_within(table, threads, memory, progress)?;
            Ok((plan, answer))
        })
    }

    /// Binds the query to a table. If it does not fit types that are inferred from a sample, they are inferred from all
    /// rows.
    ///
    /// # Errors
    /// As for [`Query::plan`], or what goes wrong while the table is scanned.
    pub fn bind(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<Plan> {
        self.find_defaults(table, threads, progress)?;
        with_types(table, threads, progress, |schema| self.plan(schema))
    }

    /// The default keys and aggregates depend on the types of all columns. Columns of which the sample has no value are
    /// read first, to infer their types.
    fn find_defaults(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<()> {
        let has_defaults = self.by.is_none() || self.select.is_none() && self.aggregates.is_none();
        if has_defaults && (0..table.schema().fields().len()).any(|column| table.is_untyped(column)) {
            read_rows(table, threads, progress)?;
            progress.restart();
        }
        Ok(())
    }
}
