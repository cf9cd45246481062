//! Writes values to the rows that a mask selects, and leaves the others unchanged.

use super::words;
use crate::cpu::{Kernel, Level, run_at};

/// Writes the values of the selected rows to the same rows of `out`.
///
/// # Panics
/// If the numbers of values and rows differ, or `mask` does not have exactly [`words`] words.
pub fn place<T: Copy + Into<U>, U: Copy>(level: Level, values: &[T], mask: &[u64], out: &mut [U]) {
    assert_eq!(values.len(), out.len(), "as many values as rows");
    assert_eq!(mask.len(), words(out.len()), "one word for 64 rows");
    run_at(level, Place { values, mask, out });
}

struct Place<'a, T, U> {
    values: &'a [T],
    mask: &'a [u64],
    out: &'a mut [U],
}

impl<T: Copy + Into<U>, U: Copy> Kernel for Place<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((values, out), half) in self.values.chunks(32).zip(self.out.chunks_mut(32)).zip(super::halves(self.mask)) {
            for (bit, (out, &value)) in (0..32u32).zip(out.iter_mut().zip(values)) {
                *out = if half >> bit & 1 == 1 { value.into() } else { *out };
            }
        }
    }
}

/// Writes one value to all selected rows.
///
/// # Panics
/// If `mask` does not have exactly [`words`] words.
pub fn fill<T: Copy>(level: Level, value: T, mask: &[u64], out: &mut [T]) {
    assert_eq!(mask.len(), words(out.len()), "one word for 64 rows");
    run_at(level, Fill { value, mask, out });
}

struct Fill<'a, T> {
    value: T,
    mask: &'a [u64],
    out: &'a mut [T],
}

impl<T: Copy> Kernel for Fill<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, half) in self.out.chunks_mut(32).zip(super::halves(self.mask)) {
            for (bit, out) in (0..32u32).zip(out) {
                *out = if half >> bit & 1 == 1 { self.value } else { *out };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_selected_rows_change(rows in prop::collection::vec((any::<i32>(), any::<bool>()), 0..300)) {
            let values: Vec<i32> = rows.iter().map(|row| row.0).collect();
            let mut mask = vec![0; words(rows.len())];
            rows.iter().enumerate().for_each(|(row, it)| mask[row / 64] |= u64::from(it.1) << (row % 64));
            for level in Level::available() {
                let mut placed = vec![7i64; rows.len()];
                place(level, &values, &mask, &mut placed);
                let expected: Vec<i64> = rows.iter().map(|row| if row.1 { row.0.into() } else { 7 }).collect();
                prop_assert_eq!(placed, expected);
                let mut filled = values.clone();
                fill(level, 9, &mask, &mut filled);
                let expected: Vec<i32> = rows.iter().map(|row| if row.1 { 9 } else { row.0 }).collect();
                prop_assert_eq!(filled, expected);
            }
        }
    }
}
