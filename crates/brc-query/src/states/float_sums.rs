//! Sums of floats that are exact, and so the same for any order of values, any number of threads, and any split.
//!
//! Each group's sum is an integer of 128 bits in units of a power of two that all groups of a state share; floats of
//! data that people have nearly always lie within its range. What does not is added up in an integer of any length.
//! Whether the values of a batch fit is checked once for all of them.

use super::float_sum::{ExactSum, FloatSum, NORMAL, finest};
use super::slots::{Gathered, Offer};
use super::{Accumulator, GroupIds, Sum, Values};
use crate::values::cells::Cells;
use crate::values::error::BatchError;
use crate::values::ratio::power;
use brc_kernels::accumulate::floats::{Exponents, FixedSum, Limbs, add_floats, add_run, exponents, parts};
use brc_kernels::accumulate::table::Operand;
use brc_kernels::accumulate::{UnknownGroup, each_run};
use brc_kernels::cpu::Level;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// Units are multiples of this power of two: so states of the same kind of values mostly have the same one.
const STEP: i32 = 8;

/// How far below the largest of the first values the unit lies.
const BELOW: i32 = 40;

/// How far below the largest of the first values the unit of slots lies, which have fewer bits.
const SLOTS_BELOW: i32 = 26;

/// The most bits that a float may have in the upper of its slots, so that there is room for many.
const UPPER_BITS: i32 = 46;

/// The bits of a sum, less one, so that one more value never makes it wrap.
const BITS: u32 = 126;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub(crate) struct FloatSums {
    /// In units of two to the power of `unit`.
    sums: Vec<FixedSum>,
    /// Chosen by the first values that are not 0.
    unit: Option<i32>,
    /// What does not fit.
    rest: HashMap<u32, Rest>,
    /// No sum is above that.
    bound: u128,
    /// The unit of what is in slots.
    slots_unit: Option<i32>,
    /// What that becomes as soon as the slots are empty.
    next_unit: Option<i32>,
}

/// Sums as plain data.
#[derive(Serialize, Deserialize)]
struct Parts {
    counts: Vec<u64>,
    sums: Vec<i128>,
    unit: Option<i32>,
    rest: HashMap<u32, Rest>,
}

/// What the sum of a group has besides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Rest {
    /// In units of two to the power of [`FINEST`].
    #[serde(with = "super::big")]
    sum: BigInt,
    nan: bool,
    infinity: bool,
    negative_infinity: bool,
}

/// `value * 2^from` in units of `2^to`, if that is an integer of not too many bits.
fn in_units(value: i128, from: i32, to: i32) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    match u32::try_from(from - to) {
        Ok(left) => {
            let used = 128 - value.unsigned_abs().leading_zeros();
            (used + left <= BITS).then(|| value << left)
        }
        Err(_) => {
            let right = from.abs_diff(to);
            (value.trailing_zeros() >= right).then(|| value >> right)
        }
    }
}

impl FloatSums {
    /// Whether floats of another state are in slots in the same unit. If ours has none yet, it takes theirs.
    pub(super) fn shares_slots_with(&mut self, other: &Self) -> bool {
        self.slots_unit = self.slots_unit.or(other.slots_unit);
        other.slots_unit.is_none_or(|unit| self.slots_unit == Some(unit))
    }

    /// The sum of a group; `None` if it has no values.
    pub(super) fn exact(&self, group: usize) -> Option<FloatSum> {
        let FixedSum { sum: fixed, count } = self.sums[group];
        if count == 0 {
            return None;
        }
        let unit = self.unit.unwrap_or(0);
        let sum = match self.rest.get(&(group as u32)) {
            None => ExactSum::Small { sum: fixed, unit },
            Some(rest) if rest.nan || (rest.infinity && rest.negative_infinity) => ExactSum::Special(f64::NAN),
            Some(rest) if rest.infinity => ExactSum::Special(f64::INFINITY),
            Some(rest) if rest.negative_infinity => ExactSum::Special(f64::NEG_INFINITY),
            Some(rest) => {
                let mut sum = rest.sum.clone();
                sum += finest(fixed, unit);
                ExactSum::Large(sum)
            }
        };
        Some(FloatSum { sum, count })
    }

    pub(super) fn add(&mut self, group: usize, value: f64) -> Result<(), BatchError> {
        let count = &mut self.sums.get_mut(group).ok_or(UnknownGroup)?.count;
        // Where some values are in slots, counts wrap in between.
        *count = count.wrapping_add(1);
        if !value.is_finite() {
            let rest = self.rest.entry(group as u32).or_default();
            rest.nan |= value.is_nan();
            rest.infinity |= value == f64::INFINITY;
            rest.negative_infinity |= value == f64::NEG_INFINITY;
            return Ok(());
        }
        let (mantissa, exponent) = parts(value);
        self.add_units(group, mantissa.into(), exponent);
        Ok(())
    }

    /// Adds `value * 2^exponent`.
    fn add_units(&mut self, group: usize, value: i128, exponent: i32) {
        if value == 0 {
            return;
        }
        let unit = *self.unit.get_or_insert_with(|| unit_below(exponent));
        let sum = &mut self.sums[group].sum;
        match in_units(value, exponent, unit).and_then(|value| sum.checked_add(value)) {
            Some(larger) => {
                *sum = larger;
                self.bound = self.bound.max(larger.unsigned_abs());
            }
            None => self.rest.entry(group as u32).or_default().sum += finest(value, exponent),
        }
    }

    /// Whether this many floats of these exponents may be added unchecked; chooses or lowers the unit to make it so.
    fn has_room(&mut self, rows: usize, low: i32, high: i32) -> bool {
        let unit = *self.unit.get_or_insert_with(|| unit_below(high));
        if low < unit && !self.lower(unit_below(low)) {
            return false;
        }
        let Ok(shift) = u32::try_from(high - self.unit.unwrap_or(unit)) else { return false };
        if shift >= 64 || 53 + shift + (usize::BITS - rows.leading_zeros()) > BITS - 2 {
            return false;
        }
        let more = (rows as u128) << (53 + shift);
        if self.bound + more >= 1 << BITS {
            self.bound = self.sums.iter().map(|sum| sum.sum.unsigned_abs()).max().unwrap_or(0);
        }
        if self.bound + more >= 1 << BITS {
            self.put_aside(1 << (BITS - 1));
        }
        let has_room = self.bound + more < 1 << BITS;
        self.bound += if has_room { more } else { 0 };
        has_room
    }

    /// Makes the unit finer, if all sums are still far from too large.
    fn lower(&mut self, unit: i32) -> bool {
        let Ok(shift) = u32::try_from(self.unit.unwrap_or(unit) - unit) else { return false };
        let largest = self.sums.iter().map(|sum| sum.sum.unsigned_abs()).max().unwrap_or(0);
        if 128 - largest.leading_zeros() + shift > BITS - 24 {
            return false;
        }
        self.sums.iter_mut().for_each(|sum| sum.sum <<= shift);
        (self.bound, self.unit) = (largest << shift, Some(unit));
        true
    }

    /// Moves sums of that size to the rest.
    fn put_aside(&mut self, size: u128) {
        let unit = self.unit.unwrap_or(0);
        for (group, sum) in self.sums.iter_mut().enumerate().filter(|(_, sum)| sum.sum.unsigned_abs() >= size) {
            self.rest.entry(group as u32).or_default().sum += finest(std::mem::take(&mut sum.sum), unit);
        }
        self.bound = self.bound.min(size);
    }
}

/// The unit for values of which this is the largest exponent.
fn unit_below(exponent: i32) -> i32 {
    (exponent - BELOW).div_euclid(STEP) * STEP
}

impl Accumulator for FloatSums {
    fn len(&self) -> usize {
        self.sums.len()
    }

    fn grow(&mut self, groups: usize) {
        self.sums.resize(groups.max(self.sums.len()), FixedSum::default());
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        let values = values.floats()?;
        let fits = match exponents(level, values) {
            Exponents::Zeros => true,
            Exponents::Between(low, high) => self.has_room(values.len(), low, high),
            Exponents::Special => false,
        };
        let unit = self.unit.unwrap_or(0);
        match groups {
            GroupIds::Rows(groups) if fits => Ok(add_floats(level, groups, values, unit, &mut self.sums)?),
            GroupIds::Runs(runs) if fits => Ok(each_run(runs, values, |group, values| {
                add_run(level, values, unit, self.sums.get_mut(group as usize).ok_or(UnknownGroup)?);
                Ok(())
            })?),
            GroupIds::Rows(_) | GroupIds::Runs(_) => {
                groups.each(values.len(), |group, row| self.add(group, values[row]))
            }
        }
    }

    fn take(&self, groups: &[u32]) -> Self {
        let rest = (0..).zip(groups).filter_map(|(place, group)| Some((place, self.rest.get(group)?.clone())));
        Self {
            sums: groups.iter().map(|&group| self.sums[group as usize]).collect(),
            unit: self.unit,
            rest: rest.collect(),
            bound: self.bound,
            ..Self::default()
        }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.unit = self.unit.or(other.unit);
        if let (Some(ours), Some(theirs)) = (self.unit, other.unit)
            && theirs < ours
        {
            self.lower(theirs);
        }
        for (&group, &FixedSum { sum, count }) in groups.iter().zip(&other.sums) {
            self.sums[group as usize].count += count;
            self.add_units(group as usize, sum, other.unit.unwrap_or(0));
        }
        for (&theirs, rest) in &other.rest {
            let ours = self.rest.entry(groups[theirs as usize]).or_default();
            ours.sum += &rest.sum;
            ours.nan |= rest.nan;
            ours.infinity |= rest.infinity;
            ours.negative_infinity |= rest.negative_infinity;
        }
    }

    fn is_sound(&self) -> bool {
        self.rest.keys().all(|&group| (group as usize) < self.sums.len())
            && self.unit.is_none_or(|unit| (-1200..1200).contains(&unit))
    }

    fn count(&self, group: usize) -> u64 {
        self.sums[group].count
    }

    fn sum(&self, group: usize) -> Option<Sum> {
        self.exact(group).map(Sum::Float)
    }

    fn sums(&self, groups: Range<usize>, cells: &mut Cells) -> bool {
        let unit = self.unit.unwrap_or(0);
        if !self.rest.is_empty() || !NORMAL.contains(&unit) {
            return false;
        }
        let (sums, unit) = (&self.sums[groups], power(unit.into()));
        let value = |sum: i128| match i64::try_from(sum) {
            // Such an integer becomes the nearest float by a single instruction.
            Ok(sum) => sum as f64 * unit,
            Err(_) => {
                let zeros = sum.trailing_zeros();
                // So does the sum of few floats, of which most bits are below all of them.
                match i64::try_from(sum >> zeros) {
                    Ok(few) => few as f64 * power(zeros.into()) * unit,
                    Err(_) => sum as f64 * unit,
                }
            }
        };
        cells.extend_floats(sums.iter().map(|it| if it.count > 0 { value(it.sum) } else { 0.0 }));
        cells.extend_validity(sums.len(), |row| sums[row].count > 0, sums.iter().any(|sum| sum.count == 0));
        true
    }
}

impl Gathered for FloatSums {
    fn slots(&self) -> usize {
        2
    }

    fn offer<'a>(&mut self, level: Level, values: &[Values<'a>]) -> Result<Offer<'a>, BatchError> {
        let Some(values) = values.first() else { return Ok(Offer::Unfit) };
        let values = values.floats()?;
        let (low, high) = match exponents(level, values) {
            Exponents::Zeros => return Ok(Offer::Slots(Vec::new())),
            Exponents::Between(low, high) => (low, high),
            Exponents::Special => return Ok(Offer::Unfit),
        };
        let upper_bits = |unit: i32| high + 53 - unit - Limbs::LOW_BITS as i32;
        let unit = *self.slots_unit.get_or_insert_with(|| low.min(high - SLOTS_BELOW));
        if low < unit && upper_bits(low) <= UPPER_BITS {
            self.next_unit = Some(low);
            return Ok(Offer::Full);
        }
        let limbs = Limbs::of(unit).filter(|_| low >= unit && upper_bits(unit) <= UPPER_BITS);
        let Some(limbs) = limbs else { return Ok(Offer::Unfit) };
        let most = |bits: u32| (values.len() as u64) << bits;
        Ok(Offer::Slots(vec![
            (Operand::High(values, limbs), most(upper_bits(unit).max(0) as u32)),
            (Operand::Low(values, limbs), most(Limbs::LOW_BITS)),
        ]))
    }

    fn gather(&mut self, group: usize, rows: u64, sums: &[i64]) {
        self.sums[group].count = self.sums[group].count.wrapping_add(rows);
        let (sum, slots_unit) = (Limbs::join(sums[0], sums[1]), self.slots_unit.unwrap_or(0));
        if sum != 0 {
            // About that of slots, none much finer: so sums may become larger.
            self.unit.get_or_insert(slots_unit.div_euclid(STEP) * STEP);
            self.add_units(group, sum, slots_unit);
        }
    }

    fn gathered(&mut self) {
        self.slots_unit = self.next_unit.take().or(self.slots_unit);
    }

    fn counts_mut(&mut self, group: usize) -> Option<&mut u64> {
        self.sums.get_mut(group).map(|sum| &mut sum.count)
    }
}

impl From<Parts> for FloatSums {
    fn from(Parts { counts, sums, unit, rest }: Parts) -> Self {
        let bound = sums.iter().map(|sum| sum.unsigned_abs()).max().unwrap_or(0);
        let sums = counts.into_iter().zip(sums).map(|(count, sum)| FixedSum { sum, count }).collect();
        Self { sums, unit, rest, bound, ..Self::default() }
    }
}

impl From<FloatSums> for Parts {
    fn from(FloatSums { sums, unit, rest, .. }: FloatSums) -> Self {
        let (counts, sums) = sums.into_iter().map(|sum| (sum.count, sum.sum)).unzip();
        Self { counts, sums, unit, rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(values: &[f64]) -> f64 {
        state(values).exact(0).map_or(0.0, |sum| sum.value())
    }

    fn state(values: &[f64]) -> FloatSums {
        let mut state = FloatSums::default();
        state.grow(1);
        values.iter().for_each(|&value| state.add(0, value).unwrap());
        state
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(sum(&[1e300, 1.0, -1e300]), 1.0);
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::from_bits(1); 3]), f64::from_bits(3));
        assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN, 1.0]).is_nan());
        assert_eq!(sum(&[-0.0, -0.0]).to_bits(), 0);
        assert_eq!(state(&[f64::MAX; 4]).exact(0).unwrap().mean(), f64::MAX);
        assert_eq!(state(&[f64::from_bits(3), 0.0]).exact(0).unwrap().mean(), f64::from_bits(2));
    }

    /// The state of batches, each of one group or of several runs.
    fn of_batches(values: &[f64], rows: usize) -> FloatSums {
        let mut state = FloatSums::default();
        state.grow(1);
        for (batch, values) in values.chunks(rows).enumerate() {
            let runs = [brc_core::Run { code: 0, rows: values.len() as u32 }];
            let groups = vec![0; values.len()];
            let groups = if batch % 2 == 0 { GroupIds::Rows(&groups) } else { GroupIds::Runs(&runs) };
            state.update(Level::best(), groups, Values::Floats(values)).unwrap();
        }
        state
    }

    #[test]
    fn sums_that_grow_too_large_are_put_aside() {
        let values: Vec<f64> = (0..20_000).map(|row| if row < 100 { 1.0 } else { 1.5 * 2f64.powi(50) }).collect();
        let batches = of_batches(&values, 1000);
        assert_eq!(batches.exact(0).unwrap().exact(), state(&values).exact(0).unwrap().exact());
        assert_eq!(batches.count(0), 20_000);
    }

    #[test]
    fn zeros_do_not_choose_the_unit() {
        let mut sums = FloatSums::default();
        sums.grow(1);
        sums.gather(0, 5, &[0, 0]);
        sums.add(0, 0.01).unwrap();
        assert!(sums.rest.is_empty());
        assert_eq!(sums.count(0), 6);
    }

    #[test]
    fn many_groups_may_become_one() {
        let groups: Vec<u32> = (0..4000).collect();
        let mut many = FloatSums::default();
        many.grow(4000);
        (0..4000).for_each(|group| many.add(group, 1.0 + f64::EPSILON).unwrap());
        let mut one = FloatSums::default();
        one.grow(1);
        // At first there is room for each in 128 bits, but not for all of them together.
        for _ in 0..3 {
            for _ in 0..13 {
                let doubled = many.clone();
                many.merge(&doubled, &groups);
            }
            one.merge(&many, &[0; 4000]);
        }
        let expected: BigInt = many.exact(0).unwrap().exact().unwrap() * 4000u32;
        let all = [26, 13].iter().fold(expected.clone(), |all, halved| all + (&expected >> *halved));
        assert_eq!(one.exact(0).unwrap().exact(), Some(all));
    }

    proptest! {
        #[test]
        fn batches_give_the_same_as_values(
            values in prop::collection::vec(
                (-1000i64..1000, prop_oneof![9 => -8i32..8, 1 => -70i32..70]).prop_map(|(v, e)| v as f64 * 2f64.powi(e)),
                1..60,
            ),
            rows in 1usize..20,
        ) {
            let batches = of_batches(&values, rows);
            prop_assert_eq!(batches.exact(0).unwrap().exact(), state(&values).exact(0).unwrap().exact());
            prop_assert_eq!(batches.count(0), values.len() as u64);
        }

        #[test]
        fn any_order_gives_the_same_bits(
            values in prop::collection::vec(prop_oneof![4 => -1e6f64..1e6, 1 => any::<f64>()], 1..40),
            cut in 0usize..40,
        ) {
            let cut = cut.min(values.len());
            let mut backwards = values.clone();
            backwards.reverse();
            let whole = sum(&values);
            prop_assert_eq!(sum(&backwards).to_bits(), whole.to_bits());
            for (first, second) in [(&values[..cut], &values[cut..]), (&values[cut..], &values[..cut])] {
                let mut merged = state(first);
                merged.merge(&state(second), &[0]);
                prop_assert_eq!(merged.exact(0).unwrap().value().to_bits(), whole.to_bits());
            }
        }
    }
}
