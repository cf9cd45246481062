//! Three-valued conditions over a batch: one bit a row for true and one for false; where neither is set, the condition
//! is null.

use super::{Frame, Step};
use crate::evaluate::filter::Test;
use crate::values::error::EvalError;
use crate::values::selection::{row_numbers, set_rows};
use brc_core::{Array, Batch, BitmapBuffer, Column, Data};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{bytes, range, valid_bits, words};

/// The rows for which a condition holds, and those for which it fails.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    pub(crate) holds: Vec<u64>,
    pub(crate) fails: Vec<u64>,
}

impl Truth {
    /// That of the opposite condition.
    fn negated(self) -> Self {
        Self { holds: self.fails, fails: self.holds }
    }

    pub(super) fn array(&self, level: Level, rows: usize) -> Result<Array, EvalError> {
        let known: Vec<u64> = self.holds.iter().zip(&self.fails).map(|(holds, fails)| holds | fails).collect();
        let validity = BitmapBuffer::of_words(&known, rows);
        Ok(Array { data: bytes(level, &self.holds, rows).into(), validity })
    }

    /// That of a condition which holds where the bits of `mask` are set, unless one of these columns is null.
    pub(super) fn of(mask: Vec<u64>, columns: &[Column<'_>], rows: usize) -> Self {
        let mut open = all(rows);
        for column in columns.iter().filter(|column| column.has_nulls()) {
            open.iter_mut().zip(valid(column, rows)).for_each(|(open, valid)| *open &= valid);
        }
        let (mut holds, mut fails) = (mask, open);
        for (holds, fails) in holds.iter_mut().zip(&mut fails) {
            (*holds, *fails) = (*holds & *fails, *fails & !*holds);
        }
        Self { holds, fails }
    }

    /// That of a column of truths.
    pub(super) fn of_column(level: Level, column: &Column<'_>, rows: usize) -> Result<Self, EvalError> {
        let mut mask = vec![0u64; words(rows)];
        match column.data {
            Data::Integers(values) if values.len() == rows => range(level, values, 0, 0, &mut mask),
            _ => return Err(EvalError::Batch("a column of truths is not there")),
        }
        let Self { holds, fails } = Self::of(mask, std::slice::from_ref(column), rows);
        Ok(Self { holds: fails, fails: holds })
    }
}

/// Where a test of a batch holds, and where another of the opposite does.
fn tested(
    level: Level,
    batch: &Batch<'_>,
    has_nulls: bool,
    holds: &mut Test,
    fails: &mut Test,
) -> Result<Truth, EvalError> {
    let mut spare = Vec::new();
    let mut mask = |test: &mut Test| {
        let mut mask = vec![0u64; words(batch.rows)];
        test.evaluate(level, batch, &mut mask, &mut spare)?;
        Ok::<_, EvalError>(mask)
    };
    let holds = mask(holds)?;
    if !has_nulls {
        return Ok(Truth::of(holds, &[], batch.rows));
    }
    Ok(Truth { holds, fails: mask(fails)? })
}

/// All rows.
pub(super) fn all(rows: usize) -> Vec<u64> {
    (0..words(rows)).map(|index| valid_bits(rows, index)).collect()
}

/// The rows of a column that are not null.
pub(super) fn valid(column: &Column<'_>, rows: usize) -> Vec<u64> {
    match column.validity {
        Some(validity) => validity.words().map(|(word, _)| word).collect(),
        None => all(rows),
    }
}

/// Where all parts hold, or with `negated` all their negations, and where one fails.
fn all_of(parts: &mut [Step], frame: &Frame<'_, '_>, negated: bool) -> Result<Truth, EvalError> {
    let rows = frame.batch.rows;
    let mut both = Truth { holds: all(rows), fails: vec![0u64; words(rows)] };
    for part in parts {
        let open: Vec<u64> = both.fails.iter().zip(all(rows)).map(|(fails, all)| all & !fails).collect();
        let part = part.truth_where(frame, &open)?;
        let part = if negated { part.negated() } else { part };
        both.holds.iter_mut().zip(&part.holds).for_each(|(both, part)| *both &= part);
        both.fails.iter_mut().zip(&part.fails).for_each(|(both, part)| *both |= part);
    }
    Ok(both)
}

impl Step {
    /// Where a condition holds and where it fails.
    pub(super) fn truth(&mut self, frame: &Frame<'_, '_>) -> Result<Truth, EvalError> {
        let rows = frame.batch.rows;
        Ok(match self {
            Self::Condition { holds, fails } => tested(frame.level, &frame.batch, frame.has_nulls(), holds, fails)?,
            Self::Test { of, holds, fails } => {
                let found = of.run(frame)?;
                let column = found.column();
                let batch = Batch { rows, columns: std::slice::from_ref(&column) };
                tested(frame.level, &batch, column.has_nulls(), holds, fails)?
            }
            Self::And(parts) => all_of(parts, frame, false)?,
            // By De Morgan's laws.
            Self::Or(parts) => all_of(parts, frame, true)?.negated(),
            Self::Not(part) => part.truth(frame)?.negated(),
            Self::IsNull(part) => {
                let fails = valid(&part.run(frame)?.column(), rows);
                let holds = fails.iter().zip(all(rows)).map(|(valid, all)| all & !valid).collect();
                Truth { holds, fails }
            }
            Self::Comparison(comparison) => comparison.truth(frame)?,
            Self::Column(_)
            | Self::Constant(..)
            | Self::Case { .. }
            | Self::Coalesce { .. }
            | Self::Call { .. }
            | Self::Same(..)
            | Self::Exact(_)
            | Self::Memo(_)
            | Self::Table(_) => Truth::of_column(frame.level, &self.run(frame)?.column(), rows)?,
        })
    }

    /// Where a condition holds, of those rows whose bits are set; others have any.
    pub(super) fn holds_where(&mut self, frame: &Frame<'_, '_>, wanted: &[u64]) -> Result<Vec<u64>, EvalError> {
        if let Self::Condition { holds, .. } = self {
            let mut mask = vec![0u64; words(frame.batch.rows)];
            holds.evaluate(frame.level, &frame.batch, &mut mask, &mut Vec::new())?;
            return Ok(mask);
        }
        Ok(self.truth_where(frame, wanted)?.holds)
    }

    /// Where it holds and where it fails, of those rows whose bits are set; others have any.
    pub(super) fn truth_where(&mut self, frame: &Frame<'_, '_>, wanted: &[u64]) -> Result<Truth, EvalError> {
        match self.truth(frame) {
            Err(EvalError::Value(_) | EvalError::TooLarge(_)) => {}
            found => return found,
        }
        let rows = row_numbers(wanted);
        let found = frame.with_rows(&rows, |frame| self.truth(frame))?;
        let scattered = |mask: &[u64]| {
            let mut all = vec![0u64; words(frame.batch.rows)];
            for place in set_rows(mask) {
                let row = rows[place] as usize;
                all[row / 64] |= 1 << (row % 64);
            }
            all
        };
        Ok(Truth { holds: scattered(&found.holds), fails: scattered(&found.fails) })
    }
}
