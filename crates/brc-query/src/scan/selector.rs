//! The wanted rows of a batch, and the values computed of them, for queries that group nothing.

use crate::evaluate::{Columns, Evaluated, Program};
use crate::functions::typed::Typed;
use crate::plan::Plan;
use crate::scan::conditions::Conditions;
use crate::scan::filtered_batch::FilteredColumn;
use crate::values::error::EvalError;
use crate::values::selection::{check_lengths, row_numbers};
use crate::values::view::gathered;
use brc_core::{Batch, Column, Integers, LogicalType, Result, Table};
use brc_kernels::cpu::Level;
use std::path::Path;

/// Makes a sink of a type that has a `selector` and a method `take` for a batch and those of its rows that are wanted.
macro_rules! takes_wanted_rows {
    ($sink:ty) => {
        impl brc_core::Sink for $sink {
            fn schema(&mut self, schema: &std::sync::Arc<brc_core::Schema>) -> brc_core::Result<()> {
                if self.selector.plan().is_for(schema) { Ok(()) } else { Err(brc_core::Error::Widened) }
            }

            fn batch(&mut self, batch: &brc_core::Batch<'_>) -> brc_core::Result<()> {
                let wanted = self.selector.wanted(batch)?;
                self.take(batch, wanted)
            }

            fn test(
                &mut self,
                conjunct: usize,
                batch: &brc_core::Batch<'_>,
                rows: &mut [u64],
            ) -> brc_core::Result<usize> {
                self.selector.test(conjunct, batch, rows)
            }

            fn wants(&self, position: usize) -> bool {
                self.selector.wants(position)
            }

            fn forget_codes(&mut self) {
                self.selector.forget_codes();
            }

            fn tested(&mut self, batch: &brc_core::Batch<'_>, rows: Option<&[u64]>) -> brc_core::Result<()> {
                self.take(batch, rows.map($crate::values::selection::row_numbers))
            }
        }
    };
}
pub(crate) use takes_wanted_rows;

/// Finds the rows that a query wants, and computes values from them.
pub(crate) struct Selector<'a> {
    plan: &'a Plan,
    path: &'a Path,
    conditions: Conditions,
    values: Values,
}

impl<'a> Selector<'a> {
    pub(crate) fn new<'v>(plan: &'a Plan, table: &'a dyn Table, values: impl Iterator<Item = &'v Typed>) -> Self {
        Self { plan, path: table.path(), conditions: Conditions::new(plan), values: Values::new(plan, values) }
    }

    pub(crate) fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The file that errors name.
    pub(crate) fn path(&self) -> &'a Path {
        self.path
    }

    /// Hands the values of wanted rows over, of at most the first `most` of them. Returns how many they are. `None` is
    /// all rows.
    pub(crate) fn select(
        &mut self,
        batch: &Batch<'_>,
        wanted: Option<Vec<u32>>,
        most: usize,
        mut deliver: impl FnMut(&Batch<'_>) -> Result<()>,
    ) -> Result<usize> {
        let path = self.path;
        let wanted = wanted.map(|rows| rows.into_iter().take(most).collect::<Vec<_>>());
        let wanted = wanted.or_else(|| (batch.rows > most).then(|| (0..most as u32).collect()));
        let rows = wanted.as_ref().map_or(batch.rows, Vec::len);
        if rows > 0 {
            let values = self.values(batch, wanted.as_deref(), &mut |selected, _| deliver(selected));
            values.map_err(|fault| fault.error(path))??;
        }
        Ok(rows)
    }

    /// Computes the values of these rows of a batch, or of all, and calls `each` with them and with the rows that they
    /// are of: once, unless strings of all of them need too much memory.
    pub(crate) fn values<E>(
        &mut self,
        batch: &Batch<'_>,
        rows: Option<&[u32]>,
        each: &mut impl FnMut(&Batch<'_>, Option<&[u32]>) -> Result<(), E>,
    ) -> Result<Result<(), E>, EvalError> {
        match self.values.of(batch, rows, |selected| each(selected, rows)) {
            Err(fault @ EvalError::TooLarge(_)) => {
                let rows = rows.map_or_else(|| (0..batch.rows as u32).collect(), <[u32]>::to_vec);
                let (one, other) = rows.split_at(rows.len() / 2);
                if one.is_empty() {
                    return Err(fault);
                }
                match self.values(batch, Some(one), each)? {
                    Ok(()) => self.values(batch, Some(other), each),
                    failed => Ok(failed),
                }
            }
            done => done,
        }
    }

    /// The rows that are wanted; `None` is all of them.
    pub(crate) fn wanted(&mut self, batch: &Batch<'_>) -> Result<Option<Vec<u32>>> {
        let lengths = check_lengths(batch.rows, batch.columns).map_err(EvalError::from);
        let rows = lengths.and_then(|()| self.conditions.select(batch)).map_err(|fault| fault.error(self.path))?;
        Ok(rows.map(|(rows, _)| row_numbers(&rows)))
    }

    /// Whether values are computed of a column, as [`brc_core::Sink::wants`] says.
    pub(crate) fn wants(&self, position: usize) -> bool {
        !matches!(self.values.columns[position].1, Use::Nothing)
    }

    /// Forgets codes as [`brc_core::Sink::forget_codes`] says.
    pub(crate) fn forget_codes(&mut self) {
        self.conditions.forget_codes(self.plan);
    }

    /// Tests rows as [`brc_core::Sink::test`] says.
    pub(crate) fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        self.conditions.test(conjunct, batch, rows).map_err(|fault| fault.error(self.path))
    }
}

/// Computes values of rows.
pub(crate) struct Values {
    programs: Vec<Program>,
    /// The columns that are scanned: their types, and what is done with their rows.
    columns: Vec<(LogicalType, Use)>,
}

/// What is done with the rows of a column that are wanted.
enum Use {
    Nothing,
    /// They are delivered as they are. What they are gathered in is used again.
    Delivered(Box<FilteredColumn>),
    /// Values are computed of them. Strings are no codes for that: a dictionary may have many that no row has.
    Computed,
}

impl Values {
    pub(crate) fn new<'v>(plan: &Plan, values: impl Iterator<Item = &'v Typed>) -> Self {
        let (scanned, fields) = (plan.projection(), plan.fields());
        let of_table = Columns { fields: &fields, projection: &scanned, allowance: plan.allowance };
        let mut columns: Vec<_> = scanned.iter().map(|&column| (fields[column].logical_type, Use::Nothing)).collect();
        let program = |value: &'v Typed| {
            let program = Program::new(value, of_table);
            for position in program.positions() {
                let known = &mut columns[position].1;
                *known = match known {
                    Use::Nothing | Use::Delivered(_) if value.is_column() => Use::Delivered(Box::default()),
                    _ => Use::Computed,
                };
            }
            program
        };
        Self { programs: values.map(program).collect(), columns }
    }

    /// Computes the values of these rows of a batch, which ascend, or of all, and calls `with` with them.
    pub(crate) fn of<T>(
        &mut self,
        batch: &Batch<'_>,
        rows: Option<&[u32]>,
        with: impl FnOnce(&Batch<'_>) -> T,
    ) -> Result<T, EvalError> {
        let Self { programs, columns } = self;
        let Some(rows) = rows else { return run(programs, batch, with) };
        let arrays = batch.columns.iter().zip(columns.iter()).map(|(column, (logical_type, used))| match used {
            Use::Computed => gathered(*logical_type, column, rows).map(Some),
            Use::Nothing | Use::Delivered(_) => Ok(None),
        });
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        let gathered = batch.columns.iter().zip(columns).zip(&arrays);
        let gathered = gathered.map(|((column, (_, used)), array)| match (used, array) {
            (Use::Delivered(kept), _) => kept.gather(column, rows),
            (_, Some(array)) => array.column(),
            (_, None) => Column::integers(Integers::I64(&[])),
        });
        let gathered: Vec<Column<'_>> = gathered.collect();
        run(programs, &Batch { rows: rows.len(), columns: &gathered }, with)
    }
}

fn run<T>(programs: &mut [Program], batch: &Batch<'_>, with: impl FnOnce(&Batch<'_>) -> T) -> Result<T, EvalError> {
    let found = programs.iter_mut().map(|program| program.run(Level::best(), batch));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let columns: Vec<Column<'_>> = found.iter().map(Evaluated::column).collect();
    Ok(with(&Batch { rows: batch.rows, columns: &columns }))
}
