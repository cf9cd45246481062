//! Moments of pairs of small integers, all of a group in one place.

use super::UnknownGroup;
use crate::cpu::{Kernel, Level, run_at};
use crate::direct::{Key, bounds};
use brc_core::Integers;

/// Sums of a group's pairs of x and y.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Products {
    /// How many pairs there are.
    pub count: u64,
    /// The sum of x.
    pub x: i64,
    /// The sum of y.
    pub y: i64,
    /// The sum of x².
    pub xx: i64,
    /// The sum of y².
    pub yy: i64,
    /// The sum of xy.
    pub xy: i64,
}

/// Evaluates an expression with the slice of integers of up to 64 bits; with others it is another.
macro_rules! for_narrow {
    ($integers:expr, $slice:ident => $body:expr, $wide:expr) => {
        match $integers {
            Integers::I8($slice) => $body,
            Integers::I16($slice) => $body,
            Integers::I32($slice) => $body,
            Integers::I64($slice) => $body,
            Integers::I128(_) => $wide,
        }
    };
}

/// The smallest and the largest of integers; `None` of none, and of such as may need more than 64 bits.
#[must_use]
pub fn integer_bounds(level: Level, values: Integers<'_>) -> Option<(i64, i64)> {
    for_narrow!(values, values => bounds(level, values), None)
}

/// Adds each pair to the group that stands at the same place in `groups`. Sums wrap: see to it that they have room.
///
/// # Errors
/// If a group is not there, or the slices are not equally long, or of integers of 128 bits. Some pairs may have been added.
pub fn add_pairs(
    level: Level,
    groups: &[u32],
    xs: Integers<'_>,
    ys: Integers<'_>,
    products: &mut [Products],
) -> Result<(), UnknownGroup> {
    if groups.len() != xs.len() || groups.len() != ys.len() {
        return Err(UnknownGroup);
    }
    for_narrow!(
        xs,
        xs => for_narrow!(ys, ys => run_at(level, AddPairs { groups, xs, ys, products }), Err(UnknownGroup)),
        Err(UnknownGroup)
    )
}

struct AddPairs<'a, X, Y> {
    groups: &'a [u32],
    xs: &'a [X],
    ys: &'a [Y],
    products: &'a mut [Products],
}

impl<X: Key, Y: Key> Kernel for AddPairs<'_, X, Y> {
    type Output = Result<(), UnknownGroup>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for ((&group, &x), &y) in self.groups.iter().zip(self.xs).zip(self.ys) {
            let sums = self.products.get_mut(group as usize).ok_or(UnknownGroup)?;
            let (x, y): (i64, i64) = (x.into(), y.into());
            sums.count += 1;
            sums.x = sums.x.wrapping_add(x);
            sums.y = sums.y.wrapping_add(y);
            sums.xx = sums.xx.wrapping_add(x.wrapping_mul(x));
            sums.yy = sums.yy.wrapping_add(y.wrapping_mul(y));
            sums.xy = sums.xy.wrapping_add(x.wrapping_mul(y));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairs_agree_with_plain_code(rows in prop::collection::vec((0u32..3, any::<i16>(), any::<i32>()), 0..100)) {
            let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let xs: Vec<i16> = rows.iter().map(|row| row.1).collect();
            let ys: Vec<i32> = rows.iter().map(|row| row.2).collect();
            let wide: Vec<i64> = ys.iter().map(|&y| y.into()).collect();
            for level in Level::available() {
                for ys in [Integers::I32(&ys), Integers::I64(&wide)] {
                    let mut products = [Products::default(); 3];
                    add_pairs(level, &groups, Integers::I16(&xs), ys, &mut products).unwrap();
                    for (group, found) in products.iter().enumerate() {
                        let of_group = rows.iter().filter(|row| row.0 as usize == group);
                        let sum = |value: fn(i64, i64) -> i64| -> i64 {
                            of_group.clone().map(|row| value(row.1.into(), row.2.into())).fold(0, i64::wrapping_add)
                        };
                        let expected = Products {
                            count: of_group.clone().count() as u64,
                            x: sum(|x, _| x),
                            y: sum(|_, y| y),
                            xx: sum(|x, _| x * x),
                            yy: sum(|_, y| y * y),
                            xy: sum(|x, y| x * y),
                        };
                        prop_assert_eq!(*found, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn unknown_groups_and_unequal_lengths_are_refused() {
        let mut products = [Products::default()];
        let (one, two, wide) = (Integers::I8(&[1]), Integers::I16(&[1, 2]), Integers::I128(&[1]));
        for (group, xs, ys) in [(1, one, one), (0, one, two), (0, two, one), (0, wide, one), (0, one, wide)] {
            assert_eq!(add_pairs(Level::best(), &[group], xs, ys, &mut products), Err(UnknownGroup));
        }
        assert_eq!(integer_bounds(Level::best(), Integers::I16(&[3, -1])), Some((-1, 3)));
        assert_eq!(integer_bounds(Level::best(), wide), None);
    }
}
