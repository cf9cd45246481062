//! Floats that were written as decimals: `digits / 10^exponent`, correctly rounded.
//!
//! Most floats in real tables originate from text with a few decimals. Stored as integers they take a third of the
//! space, and are reproduced bit for bit, because both the parser of the text and this division round correctly.

use crate::cpu::{Kernel, Level, run_at};

/// The largest exponent.
pub const MAX_EXPONENT: u8 = 18;

/// The largest magnitude of digits: above it, not every integer is a float.
pub const MAX_DIGITS: i64 = 1 << 53;

/// An integer type for digits.
pub trait Digits: Copy {
    /// This integer as a float.
    fn float(self) -> f64;
}

macro_rules! digits {
    ($($integer:ident)+) => {$(
        impl Digits for $integer {
            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "one text for several types")]
            fn float(self) -> f64 {
                self as f64
            }
        }
    )+};
}

digits!(i32 i64);

/// Replaces `out` by `digits / 10^exponent`, up to the shorter slice. The result is correctly rounded if the magnitude
/// of the digits is at most [`MAX_DIGITS`].
///
/// # Panics
/// If the exponent is above [`MAX_EXPONENT`].
pub fn from_digits<D: Digits>(level: Level, digits: &[D], exponent: u8, out: &mut [f64]) {
    let power = power_of_ten(exponent);
    if level.has_fma() {
        run_at(level, Multiply { digits, power, reciprocal: 1.0 / power, out });
    } else {
        run_at(level, Divide { digits, power, out });
    }
}

fn power_of_ten(exponent: u8) -> f64 {
    assert!(exponent <= MAX_EXPONENT, "an exponent of at most {MAX_EXPONENT}");
    10u64.pow(exponent.into()) as f64
}

struct Divide<'a, D> {
    digits: &'a [D],
    power: f64,
    out: &'a mut [f64],
}

impl<D: Digits> Kernel for Divide<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, digits) in self.out.iter_mut().zip(self.digits) {
            *out = digits.float() / self.power;
        }
    }
}

/// Divides by multiplying, which is three times as fast if a fused multiply-add is one instruction.
struct Multiply<'a, D> {
    digits: &'a [D],
    power: f64,
    reciprocal: f64,
    out: &'a mut [f64],
}

impl<D: Digits> Kernel for Multiply<'_, D> {
    type Output = ();

    /// The remainder of the quotient is exact, because 10^18 has only 42 significant bits; so the value before the
    /// final rounding is off by less than 2^-51 of its last bit. An exact quotient is not that close to the midpoint of
    /// two floats: its distance is a multiple of 5^-18, or 2^-42, of that bit, and it cannot be the midpoint itself,
    /// which would need 54 bits of digits.
    #[inline(always)]
    fn run(self) {
        for (out, digits) in self.out.iter_mut().zip(self.digits) {
            let digits = digits.float();
            let quotient = digits * self.reciprocal;
            let remainder = (-quotient).mul_add(self.power, digits);
            *out = remainder.mul_add(self.reciprocal, quotient);
        }
    }
}

/// Replaces `digits` by the digits of each value. Returns the number of values that they do not reproduce bit for bit.
///
/// # Panics
/// If the exponent is above [`MAX_EXPONENT`].
#[must_use]
pub fn to_digits(level: Level, values: &[f64], exponent: u8, digits: &mut Vec<i64>) -> usize {
    digits.clear();
    digits.resize(values.len(), 0);
    run_at(level, ToDigits { values, power: power_of_ten(exponent), digits })
}

/// Whether digits reproduce a value bit for bit.
///
/// # Panics
/// If the exponent is above [`MAX_EXPONENT`].
#[must_use]
pub fn comes_back(value: f64, digits: i64, exponent: u8) -> bool {
    is_exact(value, digits, power_of_ten(exponent))
}

#[inline(always)]
fn is_exact(value: f64, digits: i64, power: f64) -> bool {
    let back = digits as f64 / power;
    (back.to_bits() == value.to_bits()) & (digits.unsigned_abs() <= MAX_DIGITS.unsigned_abs())
}

struct ToDigits<'a> {
    values: &'a [f64],
    power: f64,
    digits: &'a mut [i64],
}

impl Kernel for ToDigits<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let mut inexact = 0;
        for (digits, &value) in self.digits.iter_mut().zip(self.values) {
            // Adding and subtracting 1.5 * 2^52 rounds to an integer; larger values are not exact anyway.
            const ROUND: f64 = 6_755_399_441_055_744.0;
            let scaled = value * self.power;
            *digits = if scaled.abs() < 2_251_799_813_685_248.0 { (scaled + ROUND) - ROUND } else { scaled } as i64;
            inexact += usize::from(!is_exact(value, *digits, self.power));
        }
        inexact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn special_floats_are_inexact() {
        let odd = [-0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1e300, 1.0 / 3.0, 5e-324];
        let mut digits = Vec::new();
        for level in Level::available() {
            assert_eq!(to_digits(level, &odd, 2, &mut digits), odd.len());
        }
    }

    #[test]
    fn decimal_text_round_trips() {
        let mut digits = Vec::new();
        for level in Level::available() {
            for (text, exponent, expected) in
                [("0.1", 1, 1), ("-12.345678", 6, -12_345_678), ("99999999999.999", 3, 99_999_999_999_999)]
            {
                let value: f64 = text.parse().unwrap();
                assert_eq!(to_digits(level, &[value], exponent, &mut digits), 0, "{text}");
                assert_eq!(digits, [expected]);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn multiplying_divides_exactly(
            digits in prop::collection::vec((-MAX_DIGITS..=MAX_DIGITS, 0u32..53), 1..64),
            exponent in 0..=MAX_EXPONENT,
        ) {
            let digits: Vec<_> = digits.iter().map(|(digits, shift)| digits >> shift).collect();
            let power = power_of_ten(exponent);
            for level in Level::available() {
                let mut out = vec![0.0; digits.len()];
                from_digits(level, &digits, exponent, &mut out);
                for (out, digits) in out.iter().zip(&digits) {
                    prop_assert_eq!(out.to_bits(), (*digits as f64 / power).to_bits());
                }
                let narrow: Vec<_> = digits.iter().map(|digits| *digits as i32).collect();
                from_digits(level, &narrow, exponent, &mut out);
                for (out, digits) in out.iter().zip(&narrow) {
                    prop_assert_eq!(out.to_bits(), (f64::from(*digits) / power).to_bits());
                }
            }
            let mut out = vec![0.0; digits.len()];
            Multiply { digits: &digits, power, reciprocal: 1.0 / power, out: &mut out }.run();
            for (out, digits) in out.iter().zip(&digits) {
                prop_assert_eq!(out.to_bits(), (*digits as f64 / power).to_bits());
            }
        }
    }
}
