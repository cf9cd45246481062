//! Comparisons of numbers, many rows at a time.

use super::truth::Truth;
use super::{Evaluated, Frame, Step, applied};
use crate::functions::{Compared, Kernel};
use crate::runtime::memory::Allowance;
use crate::values::error::EvalError;
use brc_core::Column;

pub(super) struct Comparison {
    pub(super) compared: Compared,
    pub(super) sides: Vec<Step>,
    /// Compares what cannot be compared here.
    pub(super) otherwise: Kernel,
}

impl Comparison {
    pub(super) fn truth(&mut self, frame: &Frame<'_, '_>) -> Result<Truth, EvalError> {
        let rows = frame.batch.rows;
        let found = self.sides.iter_mut().map(|side| side.run(frame)).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<Column<'_>> = found.iter().map(Evaluated::column).collect();
        if let [one, other] = &columns[..]
            && let Some(mask) = self.compared.mask(frame.level, one.data, other.data, rows)
        {
            return Ok(Truth::of(mask, &columns, rows));
        }
        let array = applied(&self.otherwise, &columns, rows, Allowance::default())?;
        Truth::of_column(frame.level, &array.column(), rows)
    }
}
