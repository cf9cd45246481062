//! The columns that a plan computes of rows, for the batches of one worker.

use crate::bind::inputs::{Computed, Source};
use crate::evaluate::{Columns, Evaluated, Program};
use crate::values::error::EvalError;
use brc_core::{Array, Batch, LogicalType};
use brc_kernels::cpu::Level;

/// How many rows a split may have for [`Source::RowNumber`].
const ROW_BITS: u32 = 36;

/// Computes columns for a worker's batches.
#[derive(Debug)]
pub(crate) struct ComputedColumns {
    steps: Vec<(Step, LogicalType)>,
}

#[derive(Debug)]
enum Step {
    RowNumber,
    Program(Box<Program>),
}

impl ComputedColumns {
    /// Computes these columns of batches of a projection.
    pub(crate) fn new(computed: &[Computed], columns: Columns<'_>) -> Self {
        let step = |computed: &Computed| {
            let step = match &computed.source {
                Source::RowNumber => Step::RowNumber,
                Source::Expression(typed) => Step::Program(Box::new(Program::new(typed, columns))),
            };
            (step, computed.field.logical_type)
        };
        Self { steps: computed.iter().map(step).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The columns for a batch, where `wanted` says which rows matter; `None` is all of them.
    pub(crate) fn run<'a>(
        &mut self,
        level: Level,
        batch: &Batch<'a>,
        wanted: Option<&[u64]>,
        place: RowPosition,
    ) -> Result<Vec<Evaluated<'a>>, EvalError> {
        let step = |(step, output): &mut (Step, LogicalType)| match (step, wanted) {
            (Step::RowNumber, _) => Ok(Evaluated::Array(place.numbers(batch.rows))),
            (Step::Program(program), None) => program.run(level, batch),
            (Step::Program(program), Some(wanted)) => program.run_where(level, batch, wanted, *output),
        };
        self.steps.iter_mut().map(step).collect()
    }
}

/// Where the next batch begins in its table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPosition(i64);

impl RowPosition {
    /// The first row of a split.
    pub(crate) fn of_split(split: u64) -> Self {
        Self((split as i64) << ROW_BITS)
    }

    pub(crate) fn advance(&mut self, rows: usize) {
        self.0 += rows as i64;
    }

    /// The number of the first row; those after it have the next ones.
    pub(crate) fn number(self) -> i64 {
        self.0
    }

    fn numbers(self, rows: usize) -> Array {
        (self.0..self.0 + rows as i64).collect::<Vec<_>>().into()
    }
}
