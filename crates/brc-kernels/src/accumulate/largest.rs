//! The largest few values of each of many groups, kept sorted: a new value displaces the smaller ones. There is no
//! branch on whether a value is among them, which would often be mispredicted, and the memory of subsequent rows is
//! prefetched.

use super::UnknownGroup;
use crate::cpu::{Kernel, Level, run_at};
use crate::direct::bounds;
use crate::memory::prefetch;
use brc_core::predicate::float_order;

/// The prefetch distance in rows.
const AHEAD: usize = 16;

/// Inserts values into the sorted lists of their groups, largest first; the smallest value of a full list is dropped.
///
/// # Errors
/// If a group does not exist; nothing is inserted then.
///
/// # Panics
/// If `groups` and `values` differ in length.
pub fn keep_largest<const KEPT: usize>(
    level: Level,
    groups: &[u32],
    values: &[i64],
    kept: &mut [[i64; KEPT]],
) -> Result<(), UnknownGroup> {
    assert_eq!(groups.len(), values.len(), "as many groups as values");
    if bounds(level, groups).is_some_and(|(_, largest)| largest as usize >= kept.len()) {
        return Err(UnknownGroup);
    }
    let later = groups.get(AHEAD..).unwrap_or(&[]);
    let (first, last) = groups.split_at(later.len());
    let (first_values, last_values) = values.split_at(later.len());
    let keep = |group: u32, value: i64, kept: &mut [[i64; KEPT]]| {
        // SAFETY: no group exceeds the largest, which is in bounds.
        let kept = unsafe { kept.get_unchecked_mut(group as usize) };
        let mut next = value;
        for kept in kept {
            (*kept, next) = ((*kept).max(next), (*kept).min(next));
        }
    };
    for ((&group, &value), &later) in first.iter().zip(first_values).zip(later) {
        prefetch(kept, later as usize);
        keep(group, value, kept);
    }
    for (&group, &value) in last.iter().zip(last_values) {
        keep(group, value, kept);
    }
    Ok(())
}

/// An integer that compares like a float: both zeros are equal, and all NaNs are equal and above all numbers.
#[inline(always)]
#[must_use]
pub fn ordered_float(value: f64) -> i64 {
    // Adding 0 turns -0 into 0.
    let order = float_order(value + 0.0);
    if value.is_nan() { float_order(f64::NAN.abs()) } else { order }
}

/// Appends the [`ordered_float`] of each float.
pub fn ordered_floats(level: Level, values: &[f64], ordered: &mut Vec<i64>) {
    run_at(level, Ordered { values, ordered });
}

struct Ordered<'a> {
    values: &'a [f64],
    ordered: &'a mut Vec<i64>,
}

impl Kernel for Ordered<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.ordered.extend(self.values.iter().map(|&value| ordered_float(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const KEPT: usize>(level: Level, rows: &[(u32, i64)]) {
        let (groups, values): (Vec<u32>, Vec<i64>) = rows.iter().copied().unzip();
        let mut kept = [[i64::MIN; KEPT]; 5];
        keep_largest(level, &groups, &values, &mut kept).unwrap();
        for (group, kept) in kept.iter().enumerate() {
            let of_group = |&(of, value): &(u32, i64)| (of as usize == group).then_some(value);
            let mut expected: Vec<i64> = rows.iter().filter_map(of_group).chain([i64::MIN; KEPT]).collect();
            expected.sort_by(|one, other| other.cmp(one));
            assert_eq!(kept, &expected[..KEPT], "{level:?}");
        }
        let before = kept;
        assert_eq!(keep_largest(level, &[0, 5], &[i64::MAX, 1], &mut kept), Err(UnknownGroup));
        assert_eq!(kept, before);
    }

    proptest! {
        #[test]
        fn the_largest_are_kept(rows in prop::collection::vec((0u32..5, prop_oneof![-3i64..3, any::<i64>()]), 0..80)) {
            for level in Level::available() {
                check::<1>(level, &rows);
                check::<2>(level, &rows);
                check::<3>(level, &rows);
            }
        }

        #[test]
        fn floats_are_in_order(mut values in prop::collection::vec(any::<f64>(), 0..30)) {
            values.extend([0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
            for level in Level::available() {
                let mut ordered = Vec::new();
                ordered_floats(level, &values, &mut ordered);
                for (one, first) in values.iter().zip(&ordered) {
                    for (other, second) in values.iter().zip(&ordered) {
                        let expected = one.partial_cmp(other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()));
                        prop_assert_eq!(first.cmp(second), expected, "{} {}", one, other);
                    }
                }
            }
        }
    }
}
