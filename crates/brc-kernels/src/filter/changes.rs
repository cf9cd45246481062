//! Finds where values change from row to row.

use crate::cpu::{Kernel, Level, run_at};

/// Sets the bit of each row whose value differs from the row before, and of the first row; other bits are unchanged.
///
/// # Panics
/// If `mask` has fewer than [`words`](super::words) words.
pub fn mark_changes<T: Copy + PartialEq>(level: Level, values: &[T], mask: &mut [u64]) {
    assert!(mask.len() >= super::words(values.len()), "one word for 64 rows");
    if let Some(first) = mask.first_mut() {
        *first |= u64::from(!values.is_empty());
    }
    run_at(level, MarkChanges { values, mask });
}

struct MarkChanges<'a, T> {
    values: &'a [T],
    mask: &'a mut [u64],
}

impl<T: Copy + PartialEq> Kernel for MarkChanges<'_, T> {
    type Output = ();

    /// Compares to one byte per row, which vectorises, and then collects the bits.
    #[inline(always)]
    fn run(self) {
        for (index, word) in self.mask.iter_mut().enumerate() {
            // The first row has no predecessor.
            let (skipped, first) = if index == 0 { (1, 1) } else { (0, index * 64) };
            let rows = first..self.values.len().min((index + 1) * 64);
            let (Some(values), Some(before)) = (self.values.get(rows.clone()), self.values.get(first - 1..)) else {
                return;
            };
            let mut differ = [0u8; 64];
            for ((differ, value), before) in differ[skipped..].iter_mut().zip(values).zip(before) {
                *differ = u8::from(value != before);
            }
            *word |= super::gathered(&differ);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::words;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_agree_with_plain_code(values in prop::collection::vec(0i32..3, 0..300), bits: u64) {
            let plain = |row: usize| row == 0 || values[row] != values[row - 1];
            for level in Level::available() {
                let mut mask = vec![0; words(values.len())];
                mask.iter_mut().for_each(|word| *word = bits & 1 << 17);
                let given = mask.clone();
                mark_changes(level, &values, &mut mask);
                for row in 0..words(values.len()) * 64 {
                    let bit = |mask: &[u64]| mask[row / 64] >> (row % 64) & 1 == 1;
                    prop_assert_eq!(bit(&mask), bit(&given) || row < values.len() && plain(row), "{}", row);
                }
            }
        }
    }
}
