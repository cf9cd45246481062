//! The values of one key in the rows of a batch.

use crate::values::error::BatchError;
use brc_core::Integers;

/// The bits of one key's values, row by row.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyColumn {
    /// The lower 64 bits; 0 for nulls.
    pub(crate) low: Vec<u64>,
    /// The upper bits; empty if 64 are enough.
    pub(crate) high: Vec<u64>,
    /// Which rows are null; empty if none is.
    pub(crate) nulls: Vec<bool>,
}

impl KeyColumn {
    pub(super) fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
        self.nulls.clear();
    }

    pub(super) fn zero_nulls(&mut self) {
        for words in [&mut self.low, &mut self.high] {
            words.iter_mut().zip(&self.nulls).filter(|(_, null)| **null).for_each(|(word, _)| *word = 0);
        }
    }

    /// Appends the distances of integers from the smallest.
    pub(super) fn take_integers(
        &mut self,
        values: Integers<'_>,
        min: i128,
        span: u128,
        wide: bool,
    ) -> Result<(), BatchError> {
        if let (false, Integers::I8(_) | Integers::I16(_) | Integers::I32(_) | Integers::I64(_)) = (wide, values) {
            // The lower bits of a distance only need those of the value.
            let min = min as i64;
            match values {
                Integers::I8(values) => self.low.extend(values.iter().map(|&v| i64::from(v).wrapping_sub(min) as u64)),
                Integers::I16(values) => self.low.extend(values.iter().map(|&v| i64::from(v).wrapping_sub(min) as u64)),
                Integers::I32(values) => self.low.extend(values.iter().map(|&v| i64::from(v).wrapping_sub(min) as u64)),
                Integers::I64(values) => self.low.extend(values.iter().map(|&v| v.wrapping_sub(min) as u64)),
                Integers::I128(_) => {}
            }
            self.zero_nulls();
            return match self.low.iter().all(|&word| u128::from(word) <= span) {
                true => Ok(()),
                false => Err(BatchError("a key is out of its type's bounds")),
            };
        }
        for row in 0..values.len() {
            let null = self.nulls.get(row).is_some_and(|&null| null);
            let bits = if null { 0 } else { values.get(row).wrapping_sub(min) as u128 };
            if bits > span {
                return Err(BatchError("a key is out of its type's bounds"));
            }
            self.low.push(bits as u64);
            if wide {
                self.high.push((bits >> 64) as u64);
            }
        }
        Ok(())
    }
}
