//! Exact moments of pairs of numbers: what correlations, covariances and regressions are computed of.

use super::float_products::FloatProducts;
use super::float_sums::FloatSums;
use super::slots::{self, Gathered, Offer};
use super::sums::size;
use super::{Accumulator, GroupIds, Values};
use crate::values::error::BatchError;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::accumulate::table::Operand;
use brc_kernels::cpu::Level;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};

/// The moments of the pairs of a group. Sums are times two to the power of `exponent`; those of products of two values
/// times two to the power of twice that.
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

impl Accumulator for IntegerPairs {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize_with(groups.max(self.0.len()), PairMoment::default);
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), BatchError> {
        Err(BatchError("values are not pairs"))
    }

    fn update_pairs(
        &mut self,
        _: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        others: Values<'_>,
    ) -> Result<(), BatchError> {
        let (first, second) = (values.integers()?, others.integers()?);
        groups.each(values.len(), |group, row| {
            let moment = self.0.get_mut(group).ok_or(UnknownGroup)?;
            let (x, y) = (first.get(row), second.get(row));
            // Where some values are in slots, counts wrap in between.
            moment.count = moment.count.wrapping_add(1);
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

    fn count(&self, group: usize) -> u64 {
        self.0.get(group).map_or(0, |moment| moment.count)
    }

    fn pair_moment(&self, group: usize) -> Option<PairMoment> {
        self.0.get(group).cloned()
    }
}

impl Gathered for IntegerPairs {
    fn slots(&self) -> usize {
        5
    }

    fn offer<'a>(&mut self, level: Level, values: &[Values<'a>]) -> Result<Offer<'a>, BatchError> {
        let Some([x, y]) = slots::integers(values) else { return Ok(Offer::Unfit) };
        let Some((x_size, y_size)) = size(level, x).zip(size(level, y)) else { return Ok(Offer::Unfit) };
        let most = |one: u64, other: u64| one.saturating_mul(other).saturating_mul(x.len() as u64);
        Ok(Offer::Slots(vec![
            (Operand::Integers(x), most(x_size, 1)),
            (Operand::Integers(y), most(y_size, 1)),
            (Operand::Products(x, x), most(x_size, x_size)),
            (Operand::Products(y, y), most(y_size, y_size)),
            (Operand::Products(x, y), most(x_size, y_size)),
        ]))
    }

    fn gather(&mut self, group: usize, rows: u64, sums: &[i64]) {
        let moment = &mut self.0[group];
        moment.count = moment.count.wrapping_add(rows);
        if let &[x, y, xx, yy, xy] = sums {
            moment.x += x;
            moment.y += y;
            moment.xx += xx;
            moment.yy += yy;
            moment.xy += xy;
        }
    }

    fn counts_mut(&mut self, group: usize) -> Option<&mut u64> {
        self.0.get_mut(group).map(|moment| &mut moment.count)
    }
}

fn product(x: i128, y: i128) -> BigInt {
    x.checked_mul(y).map_or_else(|| BigInt::from(x) * y, BigInt::from)
}

/// Those of floats.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FloatPairs {
    x: FloatSums,
    y: FloatSums,
    /// Of x², y² and xy.
    products: [FloatProducts; 3],
}

impl Accumulator for FloatPairs {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn grow(&mut self, groups: usize) {
        self.x.grow(groups);
        self.y.grow(groups);
        self.products.iter_mut().for_each(|products| products.grow(groups));
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), BatchError> {
        Err(BatchError("values are not pairs"))
    }

    fn update_pairs(
        &mut self,
        level: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        others: Values<'_>,
    ) -> Result<(), BatchError> {
        self.x.update(level, groups, values)?;
        self.y.update(level, groups, others)?;
        let (x, y) = (values.floats()?, others.floats()?);
        let [xx, yy, xy] = &mut self.products;
        xx.update(level, groups, [x, x])?;
        yy.update(level, groups, [y, y])?;
        xy.update(level, groups, [x, y])
    }

    fn take(&self, groups: &[u32]) -> Self {
        let products = self.products.each_ref().map(|products| products.take(groups));
        Self { x: self.x.take(groups), y: self.y.take(groups), products }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.x.merge(&other.x, groups);
        self.y.merge(&other.y, groups);
        self.products.iter_mut().zip(&other.products).for_each(|(ours, theirs)| ours.merge(theirs, groups));
    }

    fn finish(&mut self) {
        self.products.iter_mut().for_each(FloatProducts::finish);
    }

    fn is_sound(&self) -> bool {
        let fits = |products: &FloatProducts| products.is_sound() && products.len() == self.len();
        self.x.is_sound() && self.y.is_sound() && self.y.len() == self.len() && self.products.iter().all(fits)
    }

    fn count(&self, group: usize) -> u64 {
        self.x.count(group)
    }

    fn pair_moment(&self, group: usize) -> Option<PairMoment> {
        let count = self.count(group);
        if count == 0 {
            return Some(PairMoment::default());
        }
        let [xx, yy, xy] = &self.products;
        let (x, y) = (self.x.exact(group)?.exact()?, self.y.exact(group)?.exact()?);
        let (xx, yy, xy) = (xx.exact(group)?, yy.exact(group)?, xy.exact(group)?);
        Some(PairMoment { count, x, y, xx, yy, xy, exponent: 1074 })
    }
}
