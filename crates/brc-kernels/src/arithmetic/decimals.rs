//! Floats that are decimals with few digits, as most floats in data are: as integers they take half the memory.

use crate::cpu::{Kernel, Level, run_at};

/// The maximum number of decimals that is tried.
pub const MAX_DIGITS: u8 = 9;

/// Powers of ten by the number of decimals; the unit of the integers is the reciprocal.
const POWERS: [f64; MAX_DIGITS as usize + 1] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// The number of values that usually suffices to determine the number of decimals of all values.
const SAMPLE_VALUES: usize = 64;

/// 2⁵² + 2⁵¹: adding this to a float of up to 32 bits rounds it, and leaves the integer in the lowest bits of the sum.
const ROUNDED: f64 = 6_755_399_441_055_744.0;

/// The smallest number of decimals for which all values are [`units`]; `None` if there is none.
#[must_use]
pub fn digits(level: Level, values: &[f64]) -> Option<u8> {
    let few = &values[..values.len().min(SAMPLE_VALUES)];
    let are_units = |digits: &u8| [few, values].into_iter().all(|values| units(level, *digits, values).is_some());
    (0..=MAX_DIGITS).find(are_units)
}

/// The number of units of each value, from which [`float`] reproduces it bit for bit; `None` if a value cannot be
/// reproduced.
///
/// # Panics
/// If `digits` is above [`MAX_DIGITS`], here as in the following functions.
#[must_use]
pub fn units(level: Level, digits: u8, values: &[f64]) -> Option<Vec<i32>> {
    let mut units = vec![0; values.len()];
    run_at(level, Units { values, power: POWERS[usize::from(digits)], units: &mut units }).then_some(units)
}

/// The values for these numbers of units.
#[must_use]
pub fn floats(level: Level, digits: u8, units: &[i32]) -> Vec<f64> {
    let mut floats = vec![0.0; units.len()];
    run_at(level, Floats { units, power: POWERS[usize::from(digits)], floats: &mut floats });
    floats
}

/// The value for a number of units.
#[must_use]
#[inline]
pub fn float(digits: u8, units: i32) -> f64 {
    f64::from(units) / POWERS[usize::from(digits)]
}

struct Units<'a> {
    values: &'a [f64],
    power: f64,
    units: &'a mut [i32],
}

impl Kernel for Units<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { values, power, units } = self;
        let mut differing = 0;
        for (units, &value) in units.iter_mut().zip(values) {
            *units = (value * power + ROUNDED).to_bits() as i32;
            differing |= (f64::from(*units) / power).to_bits() ^ value.to_bits();
        }
        differing == 0
    }
}

struct Floats<'a> {
    units: &'a [i32],
    power: f64,
    floats: &'a mut [f64],
}

impl Kernel for Floats<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { units, power, floats } = self;
        floats.iter_mut().zip(units).for_each(|(float, &units)| *float = f64::from(units) / power);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn decimals_round_trip(all in prop::collection::vec(any::<i32>(), 0..200), most in 0..=MAX_DIGITS) {
            let values: Vec<f64> = all.iter().map(|&units| float(most, units)).collect();
            for level in Level::available() {
                prop_assert_eq!(units(level, most, &values), Some(all.clone()));
                prop_assert_eq!(bits(&floats(level, most, &all)), bits(&values));
                prop_assert!(digits(level, &values).is_some_and(|fewest| fewest <= most));
            }
        }

        #[test]
        fn floats_round_trip_bit_for_bit(bits_of in prop::collection::vec(any::<u64>(), 1..20), digits in 0..=MAX_DIGITS) {
            let values: Vec<f64> = bits_of.into_iter().map(f64::from_bits).collect();
            for level in Level::available() {
                if let Some(units) = units(level, digits, &values) {
                    prop_assert_eq!(bits(&floats(level, digits, &units)), bits(&values));
                }
            }
        }
    }

    #[test]
    fn the_fewest_digits_are_found() {
        for level in Level::available() {
            assert_eq!(digits(level, &[1.5, -0.25, 3.0]), Some(2));
            assert_eq!(units(level, 2, &[1.5, -0.25, 3.0]), Some(vec![150, -25, 300]));
            assert_eq!(digits(level, &[]), Some(0));
            assert_eq!(digits(level, &[2_147_483_647.0, -2_147_483_648.0]), Some(0));
            for odd in [2_147_483_648.0, 0.1 + 0.2, -0.0, f64::NAN, f64::INFINITY, 1e-10, 1e300, f64::MIN_POSITIVE] {
                assert_eq!(digits(level, &[1.0, odd]), None, "{odd}");
            }
        }
    }
}
