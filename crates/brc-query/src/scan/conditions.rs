//! The conditions of a query, tested one after the other.
//!
//! A scan that decodes column by column calls for each test itself, and decodes the columns of the next only where rows
//! are left; other scans deliver rows with all of their columns. Either way an expression in a condition is computed
//! only of rows that met the conditions before, so that only these can cause an error.

use crate::bind::inputs::Source;
use crate::evaluate::filter::Filter;
use crate::evaluate::{Columns, Evaluated};
use crate::plan::Plan;
use crate::scan::computed::{ComputedColumns, RowPosition};
use crate::values::error::BatchError;
use crate::values::error::EvalError;
use crate::values::selection::Selection;
use crate::values::selection::{check_lengths, halved};
use brc_core::{Batch, Column, Conjunct, Field, PhysicalType, Predicate};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{count, valid_bits, words};
use std::collections::HashMap;

/// One of the conditions of a plan.
pub(crate) struct Condition {
    /// Its columns may be computed ones.
    predicate: Predicate,
    /// The columns of the table that it looks at.
    columns: Vec<usize>,
    /// Which of [`Plan::computed`] it looks at.
    computed: Vec<usize>,
}

impl Condition {
    /// What a scan has to know of it.
    pub(crate) fn conjunct(&self) -> Conjunct {
        let predicate = self.computed.is_empty().then(|| self.predicate.clone());
        Conjunct { columns: self.columns.clone(), predicate }
    }

    fn new(predicate: Predicate, plan: &Plan) -> Self {
        let (mut columns, of_table) = (Vec::new(), plan.schema.fields().len());
        predicate.columns(&mut columns);
        let computed = columns.extract_if(.., |column| *column >= of_table).map(|column| column - of_table);
        let computed: Vec<usize> = computed.collect();
        for &place in &computed {
            if let Source::Expression(typed) = &plan.computed[place].source {
                typed.columns(&mut columns);
            }
        }
        columns.sort_unstable();
        columns.dedup();
        Self { predicate, columns, computed }
    }

    /// The lower, the earlier it is tested: what is decoded fast and leaves few rows comes first.
    fn cost(&self, fields: &[Field]) -> u32 {
        let is_text = |&column: &usize| fields[column].logical_type.physical() == PhysicalType::Bytes;
        let text = u32::from(self.columns.iter().any(is_text));
        match &self.predicate {
            _ if !self.computed.is_empty() => 4 + text,
            Predicate::Range { low, high, .. } if low == high => 0,
            Predicate::Compare { comparison: brc_core::Comparison::Equal, .. } => 2,
            _ => 1 + 2 * text,
        }
    }
}

impl Plan {
    /// What a row must meet all of, in the order in which it is tested.
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        let (mut conditions, fields) = (Vec::new(), self.fields());
        if let Some(predicate) = &self.predicate {
            self.split(predicate, &mut conditions, &mut HashMap::new());
        }
        conditions.sort_by_key(|condition| condition.cost(&fields));
        conditions
    }

    /// Splits a predicate where all of its parts must hold, but for parts that look at the same columns of the table:
    /// `known` says which condition these are.
    fn split(&self, predicate: &Predicate, conditions: &mut Vec<Condition>, known: &mut HashMap<Vec<usize>, usize>) {
        match predicate {
            Predicate::And(parts) => parts.iter().for_each(|part| self.split(part, conditions, known)),
            Predicate::Or(parts) if parts.len() == 1 => self.split(&parts[0], conditions, known),
            _ => {
                let new = Condition::new(predicate.clone(), self);
                let next = conditions.len();
                let index = match new.computed.is_empty() {
                    true => *known.entry(new.columns.clone()).or_insert(next),
                    false => next,
                };
                match conditions.get_mut(index).map(|condition| &mut condition.predicate) {
                    Some(Predicate::And(parts)) => parts.push(new.predicate),
                    Some(one) => *one = Predicate::And(vec![one.clone(), new.predicate]),
                    None => conditions.push(new),
                }
            }
        }
    }
}

/// The conditions of a plan, made ready for batches of its scan.
#[derive(Debug)]
pub(crate) struct Conditions {
    level: Level,
    tests: Vec<Test>,
    /// Those that a scan tests itself, if it has codes of its own there.
    tests_of_scan: Option<Vec<Test>>,
}

#[derive(Debug)]
struct Test {
    /// Where its columns are in a batch of all columns.
    positions: Vec<usize>,
    computed: ComputedColumns,
    /// Looks at its columns, and after them at what is computed of them.
    filter: Filter,
}

impl Conditions {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { level: Level::best(), tests: Test::of_plan(plan), tests_of_scan: None }
    }

    /// Forgets what the codes mean that a scan has in its own tests ([`brc_core::Sink::forget_codes`]).
    pub(crate) fn forget_codes(&mut self, plan: &Plan) {
        self.tests_of_scan = Some(Test::of_plan(plan));
    }

    /// Clears the bits of rows that do not meet one of the conditions, of which the batch has the columns. Returns how
    /// many are left.
    pub(crate) fn test(&mut self, condition: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize, EvalError> {
        check_lengths(batch.rows, batch.columns)?;
        let tests = self.tests_of_scan.as_mut().unwrap_or(&mut self.tests);
        let test = tests.get_mut(condition).ok_or(BatchError("a condition is not there"))?;
        test.run(self.level, batch, rows)
    }

    /// The rows of a batch of all columns that meet all conditions, and how many these are; `None` is all of them.
    pub(crate) fn select(&mut self, batch: &Batch<'_>) -> Result<Option<(Vec<u64>, usize)>, EvalError> {
        if self.tests.is_empty() {
            return Ok(None);
        }
        let mut rows: Vec<u64> = (0..words(batch.rows)).map(|word| valid_bits(batch.rows, word)).collect();
        let mut left = batch.rows;
        for test in &mut self.tests {
            if left == 0 {
                break;
            }
            let column = |&position: &usize| batch.columns.get(position).copied();
            let columns: Option<Vec<Column<'_>>> = test.positions.iter().map(column).collect();
            let columns = columns.ok_or(BatchError("a column is not there"))?;
            left = test.run(self.level, &Batch { rows: batch.rows, columns: &columns }, &mut rows)?;
        }
        Ok((left < batch.rows).then_some((rows, left)))
    }
}

impl Test {
    /// All conditions of a plan, in its order.
    fn of_plan(plan: &Plan) -> Vec<Self> {
        let (scanned, fields) = (plan.projection(), plan.fields());
        let position = |column: &usize| scanned.iter().position(|scanned| scanned == column).unwrap_or(usize::MAX);
        let test = |condition: Condition| {
            let Condition { predicate, columns, computed } = condition;
            let sources: Vec<_> = computed.iter().map(|&place| plan.computed[place].clone()).collect();
            let computed = computed.iter().map(|place| plan.schema.fields().len() + place);
            let projection: Vec<usize> = columns.iter().copied().chain(computed).collect();
            Self {
                positions: columns.iter().map(position).collect(),
                computed: ComputedColumns::new(
                    &sources,
                    Columns { fields: &fields, projection: &columns, allowance: plan.allowance },
                ),
                filter: Filter::new(&predicate, &fields, &projection),
            }
        };
        plan.conditions().into_iter().map(test).collect()
    }

    /// Clears the bits of rows that do not meet the condition; returns how many are left.
    fn run(&mut self, level: Level, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize, EvalError> {
        match self.run_at_once(level, batch, rows) {
            // Strings of fewer rows take less memory.
            Err(fault @ EvalError::TooLarge(_)) => {
                let [mut one, mut other] = halved(rows).ok_or(fault)?;
                let left = self.run(level, batch, &mut one)? + self.run(level, batch, &mut other)?;
                rows.iter_mut().zip(one.iter().zip(&other)).for_each(|(rows, (one, other))| *rows = one | other);
                Ok(left)
            }
            left => left,
        }
    }

    fn run_at_once(&mut self, level: Level, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize, EvalError> {
        let computed = self.computed.run(level, batch, Some(rows), RowPosition::default())?;
        let with_computed: Vec<Column<'_>>;
        let mut columns = batch.columns;
        if !computed.is_empty() {
            with_computed = batch.columns.iter().copied().chain(computed.iter().map(Evaluated::column)).collect();
            columns = &with_computed;
        }
        match self.filter.select(level, &Batch { rows: batch.rows, columns })? {
            Selection::All => {}
            Selection::Some(met, _) => rows.iter_mut().zip(met).for_each(|(rows, met)| *rows &= met),
        }
        Ok(count(level, rows))
    }
}
