//! Expressions over columns of an answer: groups, and the first of sorted rows.

use crate::evaluate::{Columns, Program};
use crate::functions::typed::Typed;
use crate::values::cells::Cells;
use crate::values::error::EvalError;
use crate::values::view::View;
use brc_core::{Batch, Column};
use brc_kernels::cpu::Level;

/// How many rows an expression is computed for at a time.
const AT_A_TIME: usize = 4096;

/// The values of an expression for `rows` rows, given the cells of the projected columns.
pub(crate) fn computed(value: &Typed, columns: Columns<'_>, cells: &[Cells], rows: usize) -> Result<Cells, EvalError> {
    let mut program = Program::new(value, columns);
    let mut found = Cells::with_capacity(value.logical_type, rows);
    let mut offsets = vec![Vec::new(); cells.len()];
    let (mut start, mut at_a_time) = (0, AT_A_TIME);
    while start < rows {
        let range = start..rows.min(start + at_a_time);
        let columns = cells.iter().zip(&mut offsets).map(|(cells, offsets)| cells.column(range.clone(), offsets));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let batch = Batch { rows: range.len(), columns: &columns };
        match program.run(Level::best(), &batch) {
            // Strings of fewer rows take less memory.
            Err(EvalError::TooLarge(_)) if range.len() > 1 => at_a_time = range.len() / 2,
            values => {
                push_all(&values?.column(), range.len(), &mut found)?;
                start = range.end;
            }
        }
    }
    Ok(found)
}

/// Appends the rows of a column.
pub(crate) fn push_all(column: &Column<'_>, rows: usize, cells: &mut Cells) -> Result<(), EvalError> {
    let view = View::of(column)?;
    for row in 0..rows {
        cells.push(view.get(row));
    }
    Ok(())
}
