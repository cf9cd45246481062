//! Queries on a table whose types may have to be inferred first.

use crate::answer::Answered;
use crate::answer::result::QueryResult;
use crate::plan::Plan;
use crate::runtime::memory::Memory;
use crate::sql::query::Query;
use brc_core::{Progress, Result, Table, read_rows, with_types};

impl Query {
    /// Asks a table. Where its types are inferred, the question is bound and asked again if it does not fit the types
    /// of a sample, or these do not hold all values ([`with_types`]). Returns the plan that fitted.
    ///
    /// # Errors
    /// What is wrong with the question, as for [`Query::plan`], or goes wrong while the table is scanned.
    pub fn ask(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<(Plan, QueryResult)> {
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
    ) -> Result<(Plan, Answered)> {
        self.find_defaults(table, threads, progress)?;
        with_types(table, threads, progress, |schema| {
            let plan = self.plan(schema)?;
            let answer = plan.run_within(table, threads, memory, progress)?;
            Ok((plan, answer))
        })
    }

    /// Binds the question to a table. Where it does not fit types that are inferred from a sample, all rows are read
    /// for theirs.
    ///
    /// # Errors
    /// As for [`Query::plan`], or what goes wrong while the table is scanned.
    pub fn bind(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<Plan> {
        self.find_defaults(table, threads, progress)?;
        with_types(table, threads, progress, |schema| self.plan(schema))
    }

    /// What is requested if nothing is said depends on all columns, also on those of which no value has been seen:
    /// their types are found first.
    fn find_defaults(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<()> {
        let has_defaults = self.by.is_none() || self.select.is_none() && self.aggregates.is_none();
        if has_defaults && (0..table.schema().fields().len()).any(|column| table.is_untyped(column)) {
            read_rows(table, threads, progress)?;
            progress.restart();
        }
        Ok(())
    }
}
