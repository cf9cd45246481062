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
pub fn round(level: Level, rounding: Rounding, decimals: i32, values: &mut [f64]) {
    match rounding {
        Rounding::Nearest => run_at(level, Round { round: |value| Rounding::Nearest.of(value), decimals, values }),
        Rounding::Down => run_at(level, Round { round: |value| Rounding::Down.of(value), decimals, values }),
        Rounding::Up => run_at(level, Round { round: |value| Rounding::Up.of(value), decimals, values }),
        Rounding::Truncate => run_at(level, Round { round: |value| Rounding::Truncate.of(value), decimals, values }),
    }
}

/// Floats from here on are integers, and not all of these.
const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

struct Round<'a, F> {
    round: F,
    decimals: i32,
    values: &'a mut [f64],
}

impl<F: Fn(f64) -> f64> Kernel for Round<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // Small powers of ten are floats, their inverses are not: numbers are divided by a power, or multiplied by it.
        let power = 10f64.powi(self.decimals.saturating_abs());
        if self.decimals < 0 {
            // A power beyond all floats leaves 0, and no product of it.
            self.each(|value| value / power, |multiple| if multiple == 0.0 { multiple } else { multiple * power });
        } else {
            self.each(|value| value * power, |scaled| scaled / power);
        }
    }
}

impl<F: Fn(f64) -> f64> Round<'_, F> {
    /// Rounds each number after `up`, and takes it back by `down`.
    #[inline(always)]
    fn each(self, up: impl Fn(f64) -> f64, down: impl Fn(f64) -> f64) {
        for value in self.values {
            let scaled = up(*value);
            let rounded = down((self.round)(scaled));
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
                    round(level, rounding, decimals, &mut found);
                    for (&value, found) in values.iter().zip(found) {
                        let rounded = down(of(up(value)));
                        let is_rounded = down(up(value).round()) == value || up(value).abs() >= TWO_TO_53;
                        let expected = if rounded.is_finite() && !is_rounded { rounded } else { value };
                        prop_assert_eq!(found.to_bits(), expected.to_bits());
                    }
                }
            }
        }

        #[test]
        fn multiples_of_powers_of_ten_round_to_themselves(whole in 0u32..1_000_000, digits in 1i32..10) {
            let number = f64::from(whole) * 10f64.powi(digits);
            for rounding in ALL {
                let mut found = [number, -number];
                round(Level::best(), rounding, -digits, &mut found);
                prop_assert_eq!(found, [number, -number]);
            }
            let mut beyond = [1.25, -7.5];
            round(Level::best(), Rounding::Nearest, -400, &mut beyond);
            prop_assert_eq!(beyond.map(f64::to_bits), [0.0f64, -0.0].map(f64::to_bits));
            let mut half = [number + 5.0 * 10f64.powi(digits - 1)];
            round(Level::best(), Rounding::Nearest, -digits, &mut half);
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
