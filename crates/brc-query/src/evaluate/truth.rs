//! Conditions over a batch: two bits a row, for true and for false; where neither is set, it is null.

use super::{Frame, Step};
use crate::filter::Test;
use crate::vector::{Fault, Values, Vector, View};
pub(super) use crate::wanted::set_rows;
use brc_core::{Bitmap, BitmapBuffer, Column, Data};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{bytes, range, valid_bits, words};

/// The rows for which a condition holds, and those for which it fails.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    pub(crate) holds: Vec<u64>,
    pub(crate) fails: Vec<u64>,
}

impl Truth {
    pub(super) fn vector(&self, level: Level, rows: usize) -> Result<Vector, Fault> {
        let known = self.holds.iter().zip(&self.fails).flat_map(|(holds, fails)| (holds | fails).to_le_bytes());
        let known: Vec<u8> = known.collect();
        let mut validity = BitmapBuffer::default();
        validity.extend(Some(Bitmap::new(&known, 0, rows)), rows);
        Ok(Vector { values: Values::Truths(bytes(level, &self.holds, rows)), validity })
    }
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

impl Step {
    /// Where a condition holds and where it fails.
    pub(super) fn truth(&mut self, frame: &Frame<'_, '_>) -> Result<Truth, Fault> {
        let rows = frame.batch.rows;
        let none = || vec![0u64; words(rows)];
        Ok(match self {
            Self::Condition { holds, fails } => {
                let mut spare = Vec::new();
                let mut mask = |test: &mut Test| {
                    let mut mask = none();
                    test.evaluate(frame.level, &frame.batch, &mut mask, &mut spare)?;
                    Ok::<_, Fault>(mask)
                };
                Truth { holds: mask(holds)?, fails: mask(fails)? }
            }
            Self::And(parts) => {
                let mut both = Truth { holds: all(rows), fails: none() };
                for part in parts {
                    let open: Vec<u64> = both.fails.iter().zip(all(rows)).map(|(fails, all)| all & !fails).collect();
                    let part = part.truth_where(frame, &open)?;
                    both.holds.iter_mut().zip(&part.holds).for_each(|(both, part)| *both &= part);
                    both.fails.iter_mut().zip(&part.fails).for_each(|(both, part)| *both |= part);
                }
                both
            }
            Self::Or(parts) => {
                let mut any = Truth { holds: none(), fails: all(rows) };
                for part in parts {
                    let open: Vec<u64> = any.holds.iter().zip(all(rows)).map(|(holds, all)| all & !holds).collect();
                    let part = part.truth_where(frame, &open)?;
                    any.holds.iter_mut().zip(&part.holds).for_each(|(any, part)| *any |= part);
                    any.fails.iter_mut().zip(&part.fails).for_each(|(any, part)| *any &= part);
                }
                any
            }
            Self::Not(part) => {
                let Truth { holds, fails } = part.truth(frame)?;
                Truth { holds: fails, fails: holds }
            }
            Self::IsNull(part) => {
                let fails = valid(&part.run(frame)?.column(), rows);
                let holds = fails.iter().zip(all(rows)).map(|(valid, all)| all & !valid).collect();
                Truth { holds, fails }
            }
            Self::Column(_)
            | Self::Constant(..)
            | Self::Case { .. }
            | Self::Coalesce { .. }
            | Self::Call { .. }
            | Self::Exact(_)
            | Self::Memo(_)
            | Self::Table(_) => {
                let found = self.run(frame)?;
                let column = found.column();
                let mut truth = Truth { holds: none(), fails: none() };
                if let (Data::Integers(values), false) = (column.data, column.has_nulls())
                    && values.len() == rows
                {
                    range(frame.level, values, 0, 0, &mut truth.fails);
                    truth.holds = truth.fails.iter().zip(all(rows)).map(|(fails, all)| all & !fails).collect();
                    return Ok(truth);
                }
                let view = View::of(&column)?;
                for row in (0..rows).filter(|&row| view.is_valid(row)) {
                    let side = if view.narrow(row) == 0 { &mut truth.fails } else { &mut truth.holds };
                    side[row / 64] |= 1 << (row % 64);
                }
                truth
            }
        })
    }

    /// The same for those rows whose bits are set; others have any.
    pub(super) fn truth_where(&mut self, frame: &Frame<'_, '_>, wanted: &[u64]) -> Result<Truth, Fault> {
        match self.truth(frame) {
            Err(Fault::Value(_)) => {}
            found => return found,
        }
        let rows: Vec<u32> = set_rows(wanted).map(|row| row as u32).collect();
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
