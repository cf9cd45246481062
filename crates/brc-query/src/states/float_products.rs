//! Exact sums of the products of floats, for what variances and correlations are computed of.
//!
//! As for the [sums of floats](super::float_sums) there is a unit for all groups, and whether the values of a batch fit
//! is checked once. A product that does not fit is added as the two floats that it exactly is, or as an integer of any
//! length where it is not, because it overflows or has bits that no float has.

use super::float_sums::FloatSums;
use super::{Accumulator, GroupIds};
use crate::values::error::BatchError;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::accumulate::floats::{Exponents, FixedProducts, add_product_run, add_products, exponents, parts};
use brc_kernels::cpu::Level;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How far below the largest of the first products the unit lies. This many bits are left for exponents and for counts:
/// 256 − 106 − 1.
const BELOW: i32 = 96;

/// Units are multiples of this power of two.
const STEP: i32 = 16;

/// The largest shift of a product, and the most rows of a sum, so that sums fit 256 bits.
const MAX_SHIFT: i32 = 120;
const MAX_ROWS: u64 = 1 << 28;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FloatProducts {
    /// Sums of at most `rows` rows, in units of two to the power of `unit`.
    #[serde(skip)]
    fixed: Vec<FixedProducts>,
    #[serde(skip)]
    unit: Option<i32>,
    #[serde(skip)]
    rows: u64,
    /// What was in `fixed`, in units of two to the power of [`FINEST`].
    #[serde(with = "super::big::list")]
    emptied: Vec<BigInt>,
    /// What never was.
    others: FloatSums,
    /// Products that are no sum of two floats, in units of two to the power of twice [`FINEST`].
    extremes: HashMap<u32, Extreme>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Extreme(#[serde(with = "super::big")] BigInt);

/// The power of two that all floats are multiples of.
const FINEST: i32 = -1074;

impl FloatProducts {
    /// Adds the product of each two floats to its group.
    pub(super) fn update(
        &mut self,
        level: Level,
        groups: GroupIds<'_>,
        [ones, others]: [&[f64]; 2],
    ) -> Result<(), BatchError> {
        let fits = match (exponents(level, ones), exponents(level, others)) {
            (Exponents::Between(low, high), Exponents::Between(other_low, other_high)) => {
                self.has_room(ones.len(), low + other_low, high + other_high)
            }
            (Exponents::Zeros | Exponents::Special | Exponents::Between(..), _) => false,
        };
        let unit = self.unit.unwrap_or(0);
        match groups {
            GroupIds::Rows(groups) if fits => {
                return Ok(add_products(level, groups, ones, others, unit, &mut self.fixed)?);
            }
            GroupIds::Runs(runs) if fits => {
                let mut start = 0;
                for run in runs {
                    let rows = start..start + run.rows as usize;
                    let (ones, others) = ones.get(rows.clone()).zip(others.get(rows.clone())).ok_or(UnknownGroup)?;
                    let sum = self.fixed.get_mut(run.code as usize).ok_or(UnknownGroup)?;
                    add_product_run(level, ones, others, unit, sum);
                    start = rows.end;
                }
                return Ok(());
            }
            GroupIds::Rows(_) | GroupIds::Runs(_) => {}
        }
        groups.each(ones.len(), |group, row| self.add(group, ones[row], others[row]))
    }

    fn add(&mut self, group: usize, one: f64, other: f64) -> Result<(), BatchError> {
        let product = one * other;
        if !one.is_finite() || !other.is_finite() {
            return self.others.add(group, product);
        }
        let ((one_mantissa, one_exponent), (other_mantissa, other_exponent)) = (parts(one), parts(other));
        let mantissa = i128::from(one_mantissa) * i128::from(other_mantissa);
        if mantissa == 0 {
            return Ok(());
        }
        let exponent = one_exponent + other_exponent;
        if product.is_finite() && exponent >= FINEST {
            self.others.add(group, product)?;
            return self.others.add(group, one.mul_add(other, -product));
        }
        self.extremes.entry(group as u32).or_default().0 += BigInt::from(mantissa) << (exponent - 2 * FINEST);
        Ok(())
    }

    /// Whether this many products of these exponents may be added unchecked.
    fn has_room(&mut self, rows: usize, low: i32, high: i32) -> bool {
        // Not where a product overflows, or has bits that no float has.
        if low < FINEST || high + 106 > 1023 {
            return false;
        }
        let unit = *self.unit.get_or_insert_with(|| ((high - BELOW).div_euclid(STEP) * STEP).max(FINEST));
        if low < unit || high - unit > MAX_SHIFT || rows as u64 > MAX_ROWS {
            return false;
        }
        self.rows += rows as u64;
        if self.rows > MAX_ROWS {
            self.empty();
            self.rows = rows as u64;
        }
        true
    }

    /// Moves all fixed sums to where there is room for any.
    fn empty(&mut self) {
        self.emptied.resize(self.others.len(), BigInt::ZERO);
        let up = (self.unit.unwrap_or(FINEST) - FINEST).unsigned_abs();
        for (emptied, fixed) in self.emptied.iter_mut().zip(&mut self.fixed) {
            let FixedProducts { high, low } = std::mem::take(fixed);
            if (high, low) != (0, 0) {
                *emptied += ((BigInt::from(high) << 128) + low) << up;
            }
        }
        self.rows = 0;
    }

    /// The sum of a group in units of two to the power of −2148, unless it is no number. Nothing more may come.
    pub(super) fn exact(&self, group: usize) -> Option<BigInt> {
        let others = match self.others.exact(group) {
            Some(sum) => sum.exact()?,
            None => BigInt::ZERO,
        };
        let sum = (others + &self.emptied[group]) << FINEST.unsigned_abs();
        Some(match self.extremes.get(&(group as u32)) {
            Some(Extreme(extreme)) => sum + extreme,
            None => sum,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.others.len()
    }

    pub(super) fn grow(&mut self, groups: usize) {
        self.others.grow(groups);
        self.fixed.resize(self.others.len(), FixedProducts::default());
        if !self.emptied.is_empty() {
            self.emptied.resize(self.others.len(), BigInt::ZERO);
        }
    }

    /// Those of these groups, when no more values will come.
    pub(super) fn take(&self, groups: &[u32]) -> Self {
        Self {
            fixed: vec![FixedProducts::default(); groups.len()],
            emptied: groups.iter().map(|&group| self.emptied[group as usize].clone()).collect(),
            others: self.others.take(groups),
            extremes: (0..)
                .zip(groups)
                .filter_map(|(place, it)| Some((place, self.extremes.get(it)?.clone())))
                .collect(),
            ..Self::default()
        }
    }

    pub(super) fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.empty();
        for (&group, sum) in groups.iter().zip(&other.emptied) {
            self.emptied[group as usize] += sum;
        }
        self.others.merge(&other.others, groups);
        for (&theirs, Extreme(extreme)) in &other.extremes {
            self.extremes.entry(groups[theirs as usize]).or_default().0 += extreme;
        }
    }

    /// No more values will come.
    pub(super) fn finish(&mut self) {
        self.empty();
    }

    pub(super) fn is_sound(&self) -> bool {
        let are_known = self.extremes.keys().all(|&group| (group as usize) < self.others.len());
        are_known && self.others.is_sound() && self.emptied.len() == self.others.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_exact(
            rows in prop::collection::vec(
                (-1000i64..1000, -1000i64..1000, prop_oneof![9 => -8i32..8, 1 => -90i32..90, 1 => -1074i32..1000]),
                1..60,
            ),
            size in 1usize..20,
        ) {
            let (mut products, mut expected) = (FloatProducts::default(), BigInt::ZERO);
            products.grow(1);
            let mut pairs = Vec::new();
            for &(one, other, exponent) in &rows {
                let (one, other) = (one as f64 / 3.0 * 2f64.powi(exponent / 2), other as f64 * 2f64.powi(exponent));
                pairs.push((one, other));
                let exact = |value: f64| {
                    let (mantissa, exponent) = parts(value);
                    BigInt::from(mantissa) << (exponent - FINEST)
                };
                expected += exact(one) * exact(other);
            }
            for pairs in pairs.chunks(size) {
                let (ones, others): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
                let groups = vec![0; ones.len()];
                products.update(Level::best(), GroupIds::Rows(&groups), [&ones, &others]).unwrap();
            }
            let mut merged = FloatProducts::default();
            merged.grow(1);
            products.finish();
            merged.merge(&products, &[0]);
            prop_assert_eq!(products.exact(0), Some(expected.clone()));
            prop_assert_eq!(merged.exact(0), Some(expected));
        }
    }
}
