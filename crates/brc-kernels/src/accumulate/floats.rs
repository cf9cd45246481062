//! Exact sums of floats and of their products, as integers in units of a power of two. A whole batch shares the unit,
//! so that a value is shifted and added without a branch. [`exponents`] reports whether a batch permits that.

use super::UnknownGroup;
use super::pieces::{self, BLOCK, PRODUCT_BITS};
use crate::cpu::{Kernel, Level, run_at};

/// The exponent of the smallest floats, taken as integers.
pub(super) const MIN_EXPONENT: i32 = -1074;

/// The range of the exponents of floats, each taken as a 53-bit integer times a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exponents {
    /// All floats are 0, or there are none.
    Zeros,
    /// The smallest and the largest exponent of the floats that are not 0.
    Between(i32, i32),
    /// A float is infinite or NaN.
    Special,
}

/// The exponents of floats.
#[must_use]
pub fn exponents(level: Level, values: &[f64]) -> Exponents {
    let exponent = |high: u32| (high >> 20).max(1) as i32 + MIN_EXPONENT - 1;
    match run_at(level, Bounds(values)) {
        (_, max, _) if max >> 20 == 0x7ff => Exponents::Special,
        (_, 0, false) => Exponents::Zeros,
        (_, max, true) => Exponents::Between(MIN_EXPONENT, exponent(max)),
        (above, max, false) => Exponents::Between(exponent(above + 1), exponent(max)),
    }
}

struct Bounds<'a>(&'a [f64]);

impl Kernel for Bounds<'_> {
    type Output = (u32, u32, bool);

    /// The upper halves of the smallest magnitude that is not 0, minus 1, and of the largest, as bits; and whether an
    /// upper half is 0 although the float is not. Few processors compare 64-bit integers.
    #[inline(always)]
    fn run(self) -> Self::Output {
        let (above, max, tiny) = self.0.iter().fold((i32::MAX, 0, 0), |(above, max, tiny): (i32, i32, u32), value| {
            let bits = value.to_bits();
            let high = (bits >> 32) as i32 & i32::MAX;
            // Subtracting 1 turns 0 into the largest number, which the minimum ignores.
            let low = if high == 0 { bits as u32 } else { 0 };
            (above.min(high.wrapping_sub(1) & i32::MAX), max.max(high), tiny | low)
        });
        (above as u32, max as u32, tiny != 0)
    }
}

/// The sum of the floats of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct FixedSum {
    /// In units of a power of two.
    pub sum: i128,
    /// The number of floats, modulo 2⁶⁴.
    pub count: u64,
}

/// Adds each float to the sum of its row's group. Sums are in units of `2^unit`; all exponents must be from `unit` to
/// `unit + 63`, and sums must not overflow.
///
/// # Errors
/// If a group does not exist, or `groups` and `values` differ in length. Some values may have been added.
pub fn add_floats(
    level: Level,
    groups: &[u32],
    values: &[f64],
    unit: i32,
    sums: &mut [FixedSum],
) -> Result<(), UnknownGroup> {
    if groups.len() != values.len() {
        return Err(UnknownGroup);
    }
    run_at(level, AddFloats { groups, values, unit, sums })
}

struct AddFloats<'a> {
    groups: &'a [u32],
    values: &'a [f64],
    unit: i32,
    sums: &'a mut [FixedSum],
}

impl Kernel for AddFloats<'_> {
    type Output = Result<(), UnknownGroup>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for (&group, &value) in self.groups.iter().zip(self.values) {
            let sum = self.sums.get_mut(group as usize).ok_or(UnknownGroup)?;
            sum.sum = sum.sum.wrapping_add(in_units(value, self.unit));
            sum.count = sum.count.wrapping_add(1);
        }
        Ok(())
    }
}

/// The same for floats that all belong to one group.
pub fn add_run(level: Level, values: &[f64], unit: i32, sum: &mut FixedSum) {
    for block in values.chunks(BLOCK) {
        let all = &mut sum.sum;
        match pieces::sum(level, block) {
            Some((more, exponent)) => *all = all.wrapping_add(more << ((exponent - unit) & 127)),
            None => block.iter().for_each(|&value| *all = all.wrapping_add(in_units(value, unit))),
        }
    }
    sum.count = sum.count.wrapping_add(values.len() as u64);
}

/// A finite float in units of `2^unit`; its exponent must be at most 63 above.
#[inline(always)]
fn in_units(value: f64, unit: i32) -> i128 {
    let (mantissa, exponent) = parts(value);
    i128::from(mantissa) << ((exponent - unit) & 63)
}

/// A finite float as an integer and the exponent of a power of two.
#[inline(always)]
#[must_use]
pub fn parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let field = (bits >> 52) as i32 & 0x7ff;
    let magnitude = (bits & ((1 << 52) - 1) | u64::from(field != 0) << 52) as i64;
    let sign = bits as i64 >> 63;
    ((magnitude ^ sign) - sign, field.max(1) + MIN_EXPONENT - 1)
}

/// Splits floats into two integers: their lower [`Limbs::LOW_BITS`] bits in units of a power of two, and the bits
/// above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limbs {
    /// The reciprocal of the unit of the upper limb.
    pub(super) to_high: f64,
    /// The unit of the upper limb.
    pub(super) high: f64,
    /// The reciprocal of the unit of the lower limb.
    pub(super) to_low: f64,
}

impl Limbs {
    /// The number of bits of the lower limb, which has the sign of the float.
    pub const LOW_BITS: u32 = 40;

    /// Limbs in units of `2^unit`; `None` if the factors are out of the range of floats. All exponents must be at least
    /// `unit`, and the upper limbs must fit in 64 bits.
    #[must_use]
    pub fn of(unit: i32) -> Option<Self> {
        let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
        let high = unit + Self::LOW_BITS as i32;
        (-900..900).contains(&unit).then(|| Self { to_high: power(-high), high: power(high), to_low: power(-unit) })
    }

    /// The upper limb. The computation is exact: powers of two only scale, and a float without its upper bits is a
    /// float.
    #[inline(always)]
    #[must_use]
    pub fn high(self, value: f64) -> i64 {
        truncated(value * self.to_high)
    }

    /// The lower limb.
    #[inline(always)]
    #[must_use]
    pub fn low(self, value: f64) -> i64 {
        let high = self.high(value) as f64;
        truncated((value - high * self.high) * self.to_low)
    }

    /// The sum in units, from the sums of both limbs.
    #[must_use]
    pub fn join(high: i64, low: i64) -> i128 {
        (i128::from(high) << Self::LOW_BITS) + i128::from(low)
    }
}

/// Truncates a float to an integer, without the saturation of `as`.
#[inline(always)]
fn truncated(value: f64) -> i64 {
    let value = if value.abs() < 9e18 { value } else { 0.0 };
    // SAFETY: the value is not NaN and below 2^63.
    unsafe { value.to_int_unchecked() }
}

/// A 256-bit integer in units of a power of two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct FixedProducts {
    /// The upper half.
    pub high: i128,
    /// The lower half.
    pub low: u128,
}

impl FixedProducts {
    /// The product of two finite floats in units of `2^unit`; its exponent must be less than 128 above.
    #[inline(always)]
    fn of(one: f64, other: f64, unit: i32) -> Self {
        let ((one, left), (other, right)) = (parts(one), parts(other));
        let product = i128::from(one) * i128::from(other);
        Self::shifted(product, ((left + right - unit) & 127) as u32)
    }

    /// `value << shift`, truncated to 256 bits.
    #[inline(always)]
    fn shifted(value: i128, shift: u32) -> Self {
        match shift {
            // Two shifts, because a shift by 128 is not defined.
            0..128 => Self { low: (value << shift) as u128, high: value >> 1 >> (127 - shift) },
            _ => Self { low: 0, high: value.checked_shl(shift - 128).unwrap_or(0) },
        }
    }

    /// Adds another sum in the same units, wrapping.
    #[inline(always)]
    pub fn add(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high = self.high.wrapping_add(other.high).wrapping_add(carry.into());
    }
}

/// Adds the product of each pair of floats to the sum of its row's group. Sums are in units of `2^unit`; the sum of
/// both exponents must be from `unit` to `unit + 127`, and sums must not overflow.
///
/// # Errors
/// If a group does not exist, or the slices differ in length. Some products may have been added.
pub fn add_products(
    level: Level,
    groups: &[u32],
    ones: &[f64],
    others: &[f64],
    unit: i32,
    sums: &mut [FixedProducts],
) -> Result<(), UnknownGroup> {
    if groups.len() != ones.len() || groups.len() != others.len() {
        return Err(UnknownGroup);
    }
    run_at(level, AddProducts { groups, ones, others, unit, sums })
}

struct AddProducts<'a> {
    groups: &'a [u32],
    ones: &'a [f64],
    others: &'a [f64],
    unit: i32,
    sums: &'a mut [FixedProducts],
}

impl Kernel for AddProducts<'_> {
    type Output = Result<(), UnknownGroup>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for ((&group, &one), &other) in self.groups.iter().zip(self.ones).zip(self.others) {
            let sum = self.sums.get_mut(group as usize).ok_or(UnknownGroup)?;
            sum.add(FixedProducts::of(one, other, self.unit));
        }
        Ok(())
    }
}

/// The same for floats that all belong to one group; both slices must have the same length.
pub fn add_product_run(level: Level, ones: &[f64], others: &[f64], unit: i32, sum: &mut FixedProducts) {
    for (ones, others) in ones.chunks(BLOCK).zip(others.chunks(BLOCK)) {
        match pieces::sum_of_products(level, ones, others) {
            Some(([low, high], exponent)) => {
                let shift = (exponent - unit) as u32;
                sum.add(FixedProducts::shifted(low, shift));
                sum.add(FixedProducts::shifted(high, shift.wrapping_add(PRODUCT_BITS)));
            }
            None => {
                let products = ones.iter().zip(others).map(|(&one, &other)| FixedProducts::of(one, other, unit));
                products.for_each(|product| sum.add(product));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exponents_ignore_zeros() {
        for level in Level::available() {
            assert_eq!(exponents(level, &[]), Exponents::Zeros);
            assert_eq!(exponents(level, &[0.0, -0.0]), Exponents::Zeros);
            assert_eq!(exponents(level, &[0.0, 1.0, -4.0, 3.0]), Exponents::Between(-52, -50));
            assert_eq!(exponents(level, &[f64::from_bits(1), 0.0]), Exponents::Between(-1074, -1074));
            assert_eq!(exponents(level, &[f64::from_bits(1), 1.0, 0.0]), Exponents::Between(-1074, -52));
            assert_eq!(exponents(level, &[f64::from_bits(1 << 40), 1.0]), Exponents::Between(-1074, -52));
            assert_eq!(exponents(level, &[f64::MAX]), Exponents::Between(971, 971));
            assert_eq!(exponents(level, &[1.0, f64::NEG_INFINITY]), Exponents::Special);
            assert_eq!(exponents(level, &[f64::NAN]), Exponents::Special);
        }
    }

    proptest! {
        #[test]
        fn sums_agree_with_those_of_integers(
            rows in prop::collection::vec((0u32..3, -1_000_000i64..1_000_000, -9i64..9), 0..100),
        ) {
            let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let ones: Vec<f64> = rows.iter().map(|row| row.1 as f64 / 64.0).collect();
            let others: Vec<f64> = rows.iter().map(|row| row.2 as f64 / 4.0).collect();
            let of_group = |group, value: fn(&(u32, i64, i64)) -> i64| -> i64 {
                rows.iter().filter(|row| row.0 == group).map(value).sum()
            };
            for level in Level::available() {
                let mut sums = vec![FixedSum::default(); 3];
                add_floats(level, &groups, &ones, -70, &mut sums).unwrap();
                let mut run = FixedSum::default();
                add_run(level, &ones, -70, &mut run);
                let total: i128 = sums.iter().map(|sum| sum.sum).sum();
                prop_assert_eq!(run, FixedSum { sum: total, count: rows.len() as u64 });
                let mut products = vec![FixedProducts::default(); 3];
                add_products(level, &groups, &ones, &others, -120, &mut products).unwrap();
                let (mut run, mut total) = (FixedProducts::default(), FixedProducts::default());
                add_product_run(level, &ones, &others, -120, &mut run);
                products.iter().for_each(|product| total.add(*product));
                prop_assert_eq!(run, total);
                for group in 0..3 {
                    let (sum, product) = (sums[group as usize], products[group as usize]);
                    prop_assert_eq!(sum.count as i64, of_group(group, |_| 1));
                    prop_assert_eq!(sum.sum, i128::from(of_group(group, |row| row.1)) << 64);
                    let expected = i128::from(of_group(group, |row| row.1 * row.2));
                    prop_assert_eq!((product.high, product.low), (expected >> 16, (expected << 112) as u128));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn runs_agree_with_rows(
            mut rows in prop::collection::vec((any::<i32>(), any::<i32>(), 0i32..32), 0..20),
            times in 1usize..60, wide in 0i32..3, near in 0i32..40
        ) {
            rows.iter_mut().take(wide as usize).for_each(|row| row.2 = near);
            let float = |integer: i32, exponent: i32| f64::from(integer) / 3.0 * 2f64.powi(exponent);
            let ones: Vec<f64> = rows.iter().map(|row| float(row.0, row.2)).collect();
            let others: Vec<f64> = rows.iter().map(|row| if row.2 % 7 == 6 { 0.0 } else { float(row.1, -row.2 / 4) }).collect();
            let (ones, others) = (ones.repeat(times), others.repeat(times));
            let groups = vec![0; ones.len()];
            let (mut sums, mut products) = ([FixedSum::default()], [FixedProducts::default()]);
            let level = Level::best();
            let (unit, of_products) = (others.iter().chain(&ones).fold(0, |unit, &float| if float == 0.0 { unit } else { unit.min(parts(float).1) }), -127);
            add_floats(level, &groups, &others, unit, &mut sums).unwrap();
            add_products(level, &groups, &ones, &others, of_products, &mut products).unwrap();
            for level in Level::available() {
                let (mut sum, mut product) = (FixedSum::default(), FixedProducts::default());
                add_run(level, &others, unit, &mut sum);
                add_product_run(level, &ones, &others, of_products, &mut product);
                prop_assert_eq!(sum, sums[0]);
                prop_assert_eq!(product, products[0]);
            }
        }
    }

    #[test]
    fn the_widest_blocks_do_not_overflow() {
        let most = 1.0 + (1.0 - f64::EPSILON);
        for level in Level::available() {
            let mut ones = vec![most; BLOCK];
            (ones[0], ones[9]) = (most * 2f64.powi(-31), -most * 2f64.powi(-31));
            let others: Vec<f64> = ones.iter().map(|one| -one).collect();
            let (mut run, mut rows) = (FixedProducts::default(), [FixedProducts::default()]);
            add_product_run(level, &ones, &others, -180, &mut run);
            add_products(level, &[0; BLOCK], &ones, &others, -180, &mut rows).unwrap();
            assert_eq!(run, rows[0]);
            let (mut run, mut rows) = (FixedSum::default(), [FixedSum::default()]);
            add_run(level, &others, -90, &mut run);
            add_floats(level, &[0; BLOCK], &others, -90, &mut rows).unwrap();
            assert_eq!(run, rows[0]);
        }
    }

    #[test]
    fn the_widest_products_of_far_exponents_do_not_overflow() {
        let most = 1.0 + (1.0 - f64::EPSILON);
        for (level, up) in Level::available().into_iter().flat_map(|level| (0..32).map(move |up| (level, up))) {
            let of = |up: i32| {
                let mut floats = vec![most * 2f64.powi(up); BLOCK];
                floats[0] = most;
                floats
            };
            let (ones, others) = (of(up), of(31));
            let (mut run, mut rows) = (FixedProducts::default(), [FixedProducts::default()]);
            add_product_run(level, &ones, &others, -120, &mut run);
            add_products(level, &[0; BLOCK], &ones, &others, -120, &mut rows).unwrap();
            assert_eq!(run, rows[0], "{level:?} {up}");
        }
    }

    #[test]
    fn unknown_groups_and_unequal_lengths_are_refused() {
        let (mut sums, mut products) = ([FixedSum::default()], [FixedProducts::default()]);
        let level = Level::best();
        assert_eq!(add_floats(level, &[1], &[1.0], -60, &mut sums), Err(UnknownGroup));
        assert_eq!(add_floats(level, &[0], &[], -60, &mut sums), Err(UnknownGroup));
        assert_eq!(add_products(level, &[1], &[1.0], &[1.0], -120, &mut products), Err(UnknownGroup));
        assert_eq!(add_products(level, &[0], &[1.0], &[], -120, &mut products), Err(UnknownGroup));
    }
}
