//! Comparisons of numbers, many rows at a time: of two columns, or of one with a constant, which is a range.

use super::truth::Truth;
use super::{Frame, Lent, Step, applied};
use crate::functions::{Compared, Kernel};
use crate::node::Scalar;
use crate::vector::Fault;
use brc_core::{Column, Data};
use brc_kernels::filter::{range, words};

pub(super) struct Comparison {
    pub(super) compared: Compared,
    pub(super) sides: Vec<Step>,
    /// Compares what cannot be compared here.
    pub(super) otherwise: Kernel,
}

impl Comparison {
    pub(super) fn truth(&mut self, frame: &Frame<'_, '_>) -> Result<Truth, Fault> {
        let rows = frame.batch.rows;
        if let Some((side, range)) = self.range() {
            let found = self.sides[side].run(frame)?;
            let column = found.column();
            if let Some(mask) = within(frame, &column, range) {
                return Ok(Truth::of(mask, &[column], rows));
            }
        }
        let found = self.sides.iter_mut().map(|side| side.run(frame)).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<Column<'_>> = found.iter().map(Lent::column).collect();
        if let [one, other] = &columns[..]
            && let Some(mask) = self.compared.mask(frame.level, one.data, other.data, rows)
        {
            return Ok(Truth::of(mask, &columns, rows));
        }
        let vector = applied(&self.otherwise, &columns, rows)?;
        Truth::of_column(frame.level, &vector.column(), rows)
    }

    /// Which side is compared with a constant, and between which integers the comparison holds, or fails.
    fn range(&self) -> Option<(usize, Range)> {
        match &self.sides[..] {
            [_, Step::Constant(Some(Scalar::Integer(constant)), _)] => Some((0, self.compared.range(0, *constant)?)),
            [Step::Constant(Some(Scalar::Integer(constant)), _), _] => Some((1, self.compared.range(1, *constant)?)),
            _ => None,
        }
    }
}

/// The smallest and the largest integer, and whether those outside of them are meant.
type Range = (i128, i128, bool);

fn within(frame: &Frame<'_, '_>, column: &Column<'_>, (low, high, outside): Range) -> Option<Vec<u64>> {
    let Data::Integers(values) = column.data else { return None };
    let rows = frame.batch.rows;
    let mut mask = vec![0; words(rows)];
    if values.len() != rows {
        return None;
    }
    range(frame.level, values, low, high, &mut mask);
    if outside {
        mask.iter_mut().zip(super::truth::all(rows)).for_each(|(word, all)| *word = all & !*word);
    }
    Some(mask)
}
