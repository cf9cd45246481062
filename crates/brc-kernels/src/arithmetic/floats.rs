//! Float operations on slices: quotients of integers, and rounding.

use crate::cpu::{Kernel, Level, run_at};

/// Computes `one * factors[0] / (other * factors[1])` row by row; products wrap. The result is the float nearest to the
/// exact quotient if both products have at most 53 bits. Division by zero yields NaN or infinity; zeros are never
/// negative.
#[must_use]
pub fn quotients(level: Level, ones: &[i64], others: &[i64], factors: [i64; 2]) -> Vec<f64> {
    run_at(level, Quotients { ones, others, factors })
}

struct Quotients<'a> {
    ones: &'a [i64],
    others: &'a [i64],
    factors: [i64; 2],
}

impl Kernel for Quotients<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Vec<f64> {
        let [dividend, divisor] = self.factors;
        let quotient =
            |(one, other): (&i64, &i64)| one.wrapping_mul(dividend) as f64 / other.wrapping_mul(divisor) as f64 + 0.0;
        self.ones.iter().zip(self.others).map(quotient).collect()
    }
}

/// How a number is rounded to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest integer, halves away from zero.
    Nearest,
    /// To the largest integer that is not above.
    Down,
    /// To the smallest integer that is not below.
    Up,
    /// To the nearest integer that is not further from zero.
    Truncate,
}

impl Rounding {
    #[inline(always)]
    fn of(self, value: f64) -> f64 {
        match self {
            Self::Nearest => {
                let whole = value.trunc();
                let is_half = f64::from(u8::from((value - whole).abs() >= 0.5));
                whole + is_half.copysign(value)
            }
            Self::Down => value.floor(),
            Self::Up => value.ceil(),
            Self::Truncate => value.trunc(),
        }
    }

    /// `value / divisor`, rounded.
    ///
    /// # Panics
    /// If the divisor is 0.
    #[inline]
    #[must_use]
    pub fn quotient(self, value: i128, divisor: i128) -> i128 {
        match self {
            Self::Nearest => {
                let (quotient, rest) = (value / divisor, value % divisor);
                let is_half = rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
                quotient + if is_half { value.signum() } else { 0 }
            }
            Self::Down => value.div_euclid(divisor),
            Self::Up => value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0),
            Self::Truncate => value / divisor,
        }
    }

    /// The same in 64 bits, for a divisor above 1.
    #[inline(always)]
    fn narrow_quotient(self, value: i64, divisor: i64) -> i64 {
        let (quotient, rest) = (value / divisor, value % divisor);
        match self {
            Self::Nearest => {
                let is_half = rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
                quotient + if is_half { value.signum() } else { 0 }
            }
            Self::Down => quotient - i64::from(rest < 0),
            Self::Up => quotient + i64::from(rest > 0),
            Self::Truncate => quotient,
        }
    }
}

/// Rounds each number to this many decimals; to a multiple of a power of ten if there are less than 0. A number is
/// unchanged if its result is not finite, if it has no more decimals than that, or if its decimals are beyond the
/// precision of floats.
///
/// The decimals are those of the shortest decimal number that the float is nearest to: 1.005, which is a little less in
/// binary, is rounded to 1.01, as the decimal number 1.005 is, if the result has no more than 15 digits. `are_narrow` are floats of 32 bits, and remain such.
pub fn round(level: Level, rounding: Rounding, decimals: i32, are_narrow: bool, values: &mut [f64]) {
    let digits = Digits { decimals, are_narrow };
    match rounding {
        Rounding::Nearest => run_at(level, Round { round: nearest, digits, values }),
        Rounding::Down => run_at(level, Round { round: |_, scaled, _| Rounding::Down.of(scaled), digits, values }),
        Rounding::Up => run_at(level, Round { round: |_, scaled, _| Rounding::Up.of(scaled), digits, values }),
        Rounding::Truncate => {
            run_at(level, Round { round: |_, scaled, _| Rounding::Truncate.of(scaled), digits, values });
        }
    }
}

/// What numbers are rounded to.
#[derive(Clone, Copy)]
struct Digits {
    decimals: i32,
    are_narrow: bool,
}

/// The whole number nearest to a scaled value. `half` is the unscaled float nearest to the number half way between the
/// whole numbers around it: scaling may round a value to the other side of that number. Beyond [`MAX_DIGITS`] the floats
/// are too far apart to tell.
#[inline(always)]
fn nearest(value: f64, scaled: f64, half: f64) -> f64 {
    let whole = scaled.trunc();
    let fraction = (scaled - whole).abs();
    let is_half =
        if scaled.abs() < MAX_DIGITS { fraction > 0.25 && value.abs() >= half.abs() } else { fraction >= 0.5 };
    whole + f64::from(u8::from(is_half)).copysign(scaled)
}

/// Whole numbers up to here, and a half more, have at most 15 digits, which no two decimal numbers share as a float.
const MAX_DIGITS: f64 = 1e14;

/// Floats from here on are integers, and not all of these.
const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

struct Round<'a, F> {
    round: F,
    digits: Digits,
    values: &'a mut [f64],
}

impl<F: Fn(f64, f64, f64) -> f64> Kernel for Round<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Digits { decimals, are_narrow } = self.digits;
        if are_narrow {
            self.to(decimals, |value| f64::from(value as f32));
        } else {
            self.to(decimals, |value| value);
        }
    }
}

impl<F: Fn(f64, f64, f64) -> f64> Round<'_, F> {
    /// Rounds each number to a float that `float` leaves unchanged.
    #[inline(always)]
    fn to(self, decimals: i32, float: impl Fn(f64) -> f64) {
        // Small powers of ten are floats, their inverses are not: numbers are divided by a power, or multiplied by it.
        let power = 10f64.powi(decimals.saturating_abs());
        if decimals < 0 {
            // A power beyond all floats leaves 0, and no product of it.
            let down = |multiple: f64| if multiple == 0.0 { multiple } else { float(multiple * power) };
            self.each(|value| value / power, down);
        } else {
            self.each(|value| value * power, |scaled| float(scaled / power));
        }
    }

    /// Rounds each number after `up`, and takes it back by `down`.
    #[inline(always)]
    fn each(self, up: impl Fn(f64) -> f64, down: impl Fn(f64) -> f64) {
        for value in self.values {
            let scaled = up(*value);
            let half = down(scaled.trunc() + 0.5f64.copysign(scaled));
            let rounded = down((self.round)(*value, scaled, half));
            let has_no_more = down(Rounding::Nearest.of(scaled)) == *value;
            let is_beyond = scaled.abs() >= TWO_TO_53;
            *value = if rounded.is_finite() && !has_no_more && !is_beyond { rounded } else { *value };
        }
    }
}

/// Divides each integer by `divisor`, rounds it, and multiplies it by `back`, wrapping.
///
/// # Panics
/// If the divisor is not positive.
pub fn round_quotients(level: Level, rounding: Rounding, divisor: i64, back: i64, values: &mut [i64]) {
    assert!(divisor > 0, "a positive divisor");
    if divisor == 1 {
        return super::scale(level, back, 0, values);
    }
    let round = move |value| rounding.narrow_quotient(value, divisor).wrapping_mul(back);
    run_at(level, Each { round, values });
}

struct Each<'a, F> {
    round: F,
    values: &'a mut [i64],
}

impl<F: Fn(i64) -> i64> Kernel for Each<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.values.iter_mut().for_each(|value| *value = (self.round)(*value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Rounding; 4] = [Rounding::Nearest, Rounding::Down, Rounding::Up, Rounding::Truncate];

    fn float() -> impl Strategy<Value = f64> {
        let halves = (-1_000_000i64..1_000_000).prop_map(|twice| twice as f64 / 2.0);
        let special = prop::sample::select(vec![
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            // The C library of MinGW, which std uses there, rounds this up.
            if cfg!(all(windows, target_env = "gnu")) { 0.5 } else { 0.499_999_999_999_999_94 },
            -0.3,
            4_503_599_627_370_497.5,
            f64::MAX,
            f64::MIN_POSITIVE,
        ]);
        prop_oneof![any::<f64>(), -1e17..1e17, halves, special]
    }

    proptest! {
        #[test]
        fn floats_are_rounded_as_std_does(values in prop::collection::vec(float(), 0..100), decimals in -3i32..4) {
            let power = 10f64.powi(decimals.abs());
            let up = |value: f64| if decimals < 0 { value / power } else { value * power };
            let down = |value: f64| if decimals < 0 { value * power } else { value / power };
            for level in Level::available() {
                for (rounding, of) in ALL.into_iter().zip([f64::round, f64::floor, f64::ceil, f64::trunc]) {
                    let mut found = values.clone();
                    round(level, rounding, decimals, false, &mut found);
                    for (&value, found) in values.iter().zip(found) {
                        if rounding == Rounding::Nearest && (up(value).fract().abs() - 0.5).abs() < 0.25 {
                            continue;
                        }
                        let rounded = down(of(up(value)));
                        let is_rounded = down(up(value).round()) == value || up(value).abs() >= TWO_TO_53;
                        let expected = if rounded.is_finite() && !is_rounded { rounded } else { value };
                        prop_assert_eq!(found.to_bits(), expected.to_bits());
                    }
                }
            }
        }

        #[test]
        fn floats_are_rounded_as_the_decimals_that_they_are_printed_as(
            numbers in prop::collection::vec(-99_999i64..100_000, 1..50),
            ends_in_five: bool,
            are_narrow: bool,
            scale in 1u32..7,
            cut in 1u32..4,
        ) {
            let numbers: Vec<i64> =
                numbers.into_iter().map(|number| if ends_in_five { number * 10 + 5 } else { number }).collect();
            let float = |value: f64| if are_narrow { f64::from(value as f32) } else { value };
            let floats = numbers.iter().map(|&number| float(number as f64 / 10f64.powi(scale as i32)));
            let floats: Vec<f64> = floats.collect();
            let decimals = scale as i32 - cut as i32;
            for level in Level::available() {
                for rounding in ALL {
                    let mut found = floats.clone();
                    round(level, rounding, decimals, are_narrow, &mut found);
                    for (&number, found) in numbers.iter().zip(found) {
                        let rounded = rounding.quotient(number.into(), 10i128.pow(cut)) as f64;
                        let expected = match decimals {
                            0.. => rounded / 10f64.powi(decimals),
                            _ => rounded * 10f64.powi(-decimals),
                        };
                        prop_assert_eq!(found, float(expected), "{} to {} decimals", number, decimals);
                    }
                }
            }
        }

        #[test]
        fn multiples_of_powers_of_ten_round_to_themselves(whole in 0u32..1_000_000, digits in 1i32..10) {
            let number = f64::from(whole) * 10f64.powi(digits);
            for rounding in ALL {
                let mut found = [number, -number];
                round(Level::best(), rounding, -digits, false, &mut found);
                prop_assert_eq!(found, [number, -number]);
            }
            let mut beyond = [1.25, -7.5];
            round(Level::best(), Rounding::Nearest, -400, false, &mut beyond);
            prop_assert_eq!(beyond.map(f64::to_bits), [0.0f64, -0.0].map(f64::to_bits));
            let mut half = [number + 5.0 * 10f64.powi(digits - 1)];
            round(Level::best(), Rounding::Nearest, -digits, false, &mut half);
            prop_assert_eq!(half, [f64::from(whole + 1) * 10f64.powi(digits)]);
        }

        #[test]
        fn narrow_quotients_are_rounded_as_wide_ones(
            values in prop::collection::vec(any::<i64>(), 0..100),
            shift in 0u32..63,
            divisor in prop_oneof![Just(1i64), 1i64..1000, Just(1_000_000_000_000_000_000)],
        ) {
            let values: Vec<i64> = values.into_iter().map(|value| value >> shift).collect();
            for level in Level::available() {
                for rounding in ALL {
                    let mut found = values.clone();
                    round_quotients(level, rounding, divisor, 10, &mut found);
                    for (&value, found) in values.iter().zip(found) {
                        let expected = rounding.quotient(value.into(), divisor.into()) as i64;
                        prop_assert_eq!(found, expected.wrapping_mul(10));
                    }
                }
            }
        }

        #[test]
        fn quotients_round_once(
            rows in prop::collection::vec((-(1i64 << 50)..1 << 50, -(1i64 << 50)..1 << 50), 0..100),
        ) {
            let (ones, others): (Vec<_>, Vec<_>) = rows.iter().copied().unzip();
            for level in Level::available() {
                for ((one, other), found) in rows.iter().zip(quotients(level, &ones, &others, [3, 7])) {
                    let expected = (one * 3) as f64 / (other * 7) as f64;
                    prop_assert_eq!(found.to_bits(), (expected + 0.0).to_bits());
                }
            }
        }
    }
}
