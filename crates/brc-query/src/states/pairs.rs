//! Exact moments of pairs of numbers: what correlations, covariances and regressions are computed of.

use super::float_products::FloatProducts;
use super::float_sums::FloatSums;
use super::{Accumulator, GroupIds, Values};
use crate::group::Malformed;
use brc_core::Integers;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::accumulate::pairs::{Products, add_pairs, integer_bounds};
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

/// Those of integers. They are added up in 64 bits as long as that is enough for all groups.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct IntegerPairs {
    #[serde(skip)]
    narrow: Vec<Products>,
    /// No sum of `narrow` is above that.
    #[serde(skip)]
    bound: u64,
    wide: Vec<PairMoment>,
    len: usize,
}

impl IntegerPairs {
    pub(super) fn moment(&self, group: usize) -> Option<PairMoment> {
        self.wide.get(group).cloned()
    }

    /// Whether pairs may be added in 64 bits.
    fn has_room(&mut self, level: Level, first: Integers<'_>, second: Integers<'_>) -> bool {
        let size = |values| {
            let (min, max) = integer_bounds(level, values)?;
            Some(min.unsigned_abs().max(max.unsigned_abs()).max(1))
        };
        let Some((x, y)) = size(first).zip(size(second)) else { return false };
        let more = x.max(y).checked_mul(x.max(y)).and_then(|product| product.checked_mul(first.len() as u64));
        let Some(more) = more.filter(|&more| more < 1 << 62) else { return false };
        if self.bound + more >= 1 << 62 {
            self.widen();
        }
        self.bound += more;
        true
    }

    /// Moves everything to where there is room for any sum.
    fn widen(&mut self) {
        self.wide.resize_with(self.len, PairMoment::default);
        for (wide, narrow) in self.wide.iter_mut().zip(&mut self.narrow) {
            let Products { count, x, y, xx, yy, xy } = std::mem::take(narrow);
            if count > 0 {
                wide.count += count;
                wide.x += x;
                wide.y += y;
                wide.xx += xx;
                wide.yy += yy;
                wide.xy += xy;
            }
        }
        self.bound = 0;
    }
}

impl Accumulator for IntegerPairs {
    fn len(&self) -> usize {
        self.len
    }

    fn grow(&mut self, groups: usize) {
        self.len = groups.max(self.len);
        self.narrow.resize(self.len, Products::default());
        if !self.wide.is_empty() {
            self.wide.resize_with(self.len, PairMoment::default);
        }
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), Malformed> {
        Err(Malformed("values are not pairs"))
    }

    fn update_pairs(
        &mut self,
        level: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        others: Values<'_>,
    ) -> Result<(), Malformed> {
        let (first, second) = (values.integers()?, others.integers()?);
        if let GroupIds::Rows(groups) = groups
            && self.has_room(level, first, second)
        {
            return Ok(add_pairs(level, groups, first, second, &mut self.narrow)?);
        }
        self.wide.resize_with(self.len, PairMoment::default);
        groups.each(values.len(), |group, row| {
            let moment = self.wide.get_mut(group).ok_or(UnknownGroup)?;
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
        let wide = groups.iter().map(|&group| self.wide[group as usize].clone()).collect();
        let narrow = vec![Products::default(); groups.len()];
        Self { narrow, bound: 0, wide, len: groups.len() }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.widen();
        for (&group, theirs) in groups.iter().zip(&other.wide) {
            let ours = &mut self.wide[group as usize];
            ours.count += theirs.count;
            ours.x += &theirs.x;
            ours.y += &theirs.y;
            ours.xx += &theirs.xx;
            ours.yy += &theirs.yy;
            ours.xy += &theirs.xy;
        }
    }

    fn finish(&mut self) {
        self.widen();
    }

    fn is_sound(&self) -> bool {
        self.wide.len() == self.len
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

impl FloatPairs {
    pub(super) fn count(&self, group: usize) -> u64 {
        self.x.count(group)
    }

    /// `None` where a value is no finite number.
    pub(super) fn moment(&self, group: usize) -> Option<PairMoment> {
        let count = self.count(group);
        if count == 0 {
            return Some(PairMoment::default());
        }
        let [xx, yy, xy] = &self.products;
        let (x, y) = (self.x.sum(group)?.exact()?, self.y.sum(group)?.exact()?);
        let (xx, yy, xy) = (xx.exact(group)?, yy.exact(group)?, xy.exact(group)?);
        Some(PairMoment { count, x, y, xx, yy, xy, exponent: 1074 })
    }
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

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), Malformed> {
        Err(Malformed("values are not pairs"))
    }

    fn update_pairs(
        &mut self,
        level: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        others: Values<'_>,
    ) -> Result<(), Malformed> {
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
}
