//! Exact moments of pairs of numbers: what correlations, covariances and regressions are computed of.

use super::float_sums::FloatSums;
use super::{Accumulator, GroupIds, Values};
use crate::group::Malformed;
use brc_core::Value;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};

/// The moments of the pairs of a group. All sums are times two to the power of `exponent`; those of products of two values
/// once, not twice.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PairMoment {
    pub(crate) count: u64,
    #[serde(with = "super::big")]
    pub(crate) x: BigInt,
    #[serde(with = "super::big")]
    pub(crate) y: BigInt,
    #[serde(with = "super::big")]
    pub(crate) xx: BigInt,
    #[serde(with = "super::big")]
    pub(crate) yy: BigInt,
    #[serde(with = "super::big")]
    pub(crate) xy: BigInt,
    pub(crate) exponent: u32,
}

/// Those of integers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct IntegerPairs(Vec<PairMoment>);

impl IntegerPairs {
    pub(super) fn moment(&self, group: usize) -> Option<PairMoment> {
        Some(self.0[group].clone())
    }
}

impl Accumulator for IntegerPairs {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize_with(groups.max(self.0.len()), PairMoment::default);
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), Malformed> {
        Err(Malformed("values are not pairs"))
    }

    fn update_pairs(&mut self, groups: GroupIds<'_>, values: Values<'_>, others: Values<'_>) -> Result<(), Malformed> {
        let (first, second) = (values.integers()?, others.integers()?);
        groups.each(values.len(), |group, row| {
            let moment = self.0.get_mut(group).ok_or(UnknownGroup)?;
            let (x, y) = (first.get(row), second.get(row));
            moment.count += 1;
            moment.x += x;
            moment.y += y;
            moment.xx += product(x, x);
            moment.yy += product(y, y);
            moment.xy += product(x, y);
            Ok(())
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize].clone()).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, theirs) in groups.iter().zip(&other.0) {
            let ours = &mut self.0[group as usize];
            ours.count += theirs.count;
            ours.x += &theirs.x;
            ours.y += &theirs.y;
            ours.xx += &theirs.xx;
            ours.yy += &theirs.yy;
            ours.xy += &theirs.xy;
        }
    }
}

fn product(x: i128, y: i128) -> BigInt {
    x.checked_mul(y).map_or_else(|| BigInt::from(x) * y, BigInt::from)
}

/// Those of floats; a product is the two floats that it exactly is, as long as it neither overflows nor is subnormal.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FloatPairs {
    /// Of x, y, x², y² and xy.
    sums: [FloatSums; 5],
    counts: Vec<u64>,
}

impl FloatPairs {
    pub(super) fn count(&self, group: usize) -> u64 {
        self.counts[group]
    }

    /// `None` where a value is no finite number.
    pub(super) fn moment(&self, group: usize) -> Option<PairMoment> {
        let count = self.counts[group];
        if count == 0 {
            return Some(PairMoment::default());
        }
        let sum = |place: usize| self.sums[place].sum(group)?.exact();
        let (x, y, xx, yy, xy) = (sum(0)?, sum(1)?, sum(2)?, sum(3)?, sum(4)?);
        Some(PairMoment { count, x, y, xx, yy, xy, exponent: 1074 })
    }
}

impl Accumulator for FloatPairs {
    fn len(&self) -> usize {
        self.counts.len()
    }

    fn grow(&mut self, groups: usize) {
        self.counts.resize(groups.max(self.counts.len()), 0);
        self.sums.iter_mut().for_each(|sums| sums.grow(groups));
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), Malformed> {
        Err(Malformed("values are not pairs"))
    }

    fn update_pairs(&mut self, groups: GroupIds<'_>, values: Values<'_>, others: Values<'_>) -> Result<(), Malformed> {
        groups.each(values.len(), |group, row| {
            let (Value::Float(x), Value::Float(y)) = (values.get(row)?, others.get(row)?) else {
                return Err(Malformed("a column of floats is not there"));
            };
            *self.counts.get_mut(group).ok_or(UnknownGroup)? += 1;
            self.sums[0].add(group, x)?;
            self.sums[1].add(group, y)?;
            for (sums, (one, other)) in self.sums[2..].iter_mut().zip([(x, x), (y, y), (x, y)]) {
                let product = one * other;
                sums.add(group, product)?;
                if product.is_finite() {
                    sums.add(group, one.mul_add(other, -product))?;
                }
            }
            Ok(())
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        let counts = groups.iter().map(|&group| self.counts[group as usize]).collect();
        Self { sums: self.sums.each_ref().map(|sums| sums.take(groups)), counts }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, count) in groups.iter().zip(&other.counts) {
            self.counts[group as usize] += count;
        }
        self.sums.iter_mut().zip(&other.sums).for_each(|(ours, theirs)| ours.merge(theirs, groups));
    }

    fn is_sound(&self) -> bool {
        self.sums.iter().all(|sums| sums.is_sound() && sums.len() == self.counts.len())
    }
}
