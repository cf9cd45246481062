//! Finds by statistics the keys that occur in one split of a table only: nearly all keys of a table that is sorted or
//! clustered by a key.
//!
//! Such a split already is a partition: its groups are complete when the split is done.

use crate::keys::encoding::{KeyEncoding, Sample};
use crate::plan::Plan;
use crate::runtime::memory::Memory;
use brc_core::{Column, Integers, Table, Value, ValueBounds};
use std::sync::Arc;

/// Splits of fewer rows, on average, are too small to be grouped by themselves.
const SMALL_SPLIT: u64 = 1 << 13;

/// Words that a group takes for each state and for its keys, about.
const WORDS: u64 = 3;

/// The keys of each split, as far as statistics know them.
#[derive(Debug)]
pub(crate) struct DisjointSplits {
    pub(super) encoding: Arc<KeyEncoding>,
    /// The key by which splits differ.
    pub(super) key: usize,
    splits: Vec<Option<DisjointRange>>,
}

/// The values that one split has for the key.
#[derive(Debug, Clone, Copy)]
pub(super) struct DisjointRange {
    /// The smallest and the largest.
    pub(super) all: (i64, i64),
    /// Those between which no other split has one, themselves included.
    pub(super) own: (i64, i64),
    /// Where the split stands when splits are ordered by their keys.
    pub(super) rank: usize,
}

/// The smallest and the largest value of each key in all splits.
struct Extremes(Vec<(i64, i64)>);

impl Sample for Extremes {
    fn groups(&self) -> usize {
        2
    }

    fn value(&self, key: usize, group: usize) -> Option<Value<'_>> {
        let (min, max) = self.0[key];
        Some(Value::Integer(if group == 0 { min } else { max }.into()))
    }

    /// Statistics do not rule out nulls.
    fn has_nulls(&self, _: usize) -> bool {
        true
    }
}

impl DisjointSplits {
    /// For the groups of a plan, if most of them are of one split each, there may be `least` or more, and memory has
    /// room for all that are kept.
    pub(crate) fn of(plan: &Plan, table: &dyn Table, memory: &Memory, least: u64) -> Option<Self> {
        let (rows, types) = (table.rows()?, plan.key_types());
        // What a group keeps besides is of any size; and what is added up before the scan ends is of no split.
        let is_fit = types.iter().all(|(logical_type, _)| logical_type.fits_64_bits())
            && plan.keys.iter().all(|&key| key < plan.schema().fields().len())
            && plan.keeping().is_empty()
            && !plan.scan_options().sums;
        if types.is_empty() || rows < least || !is_fit {
            return None;
        }
        let bounds = plan.keys.iter().map(|&key| bounds_of_splits(table, key));
        let bounds = bounds.collect::<Option<Vec<_>>>()?;
        let (key, splits) = (0..bounds.len()).find_map(|key| Some((key, own_ranges(&bounds[key])?)))?;
        let disjoint_splits = splits.iter().flatten().map(|range| width(range.own)).sum::<u128>();
        let groups = disjoint_splits.min(rows.into()) as u64;
        let is_large = rows / SMALL_SPLIT.min(least) >= splits.len() as u64 && groups >= least;
        let bytes = 8 * WORDS * groups.saturating_mul(1 + plan.states().len() as u64);
        let is_cut = plan.limit.is_some() && !plan.distinct;
        if !is_large || bytes > memory.limit / 8 && !is_cut {
            return None;
        }
        let extremes = Extremes(bounds.iter().map(|splits| extremes_of(splits)).collect::<Option<_>>()?);
        let columns = vec![Column::integers(Integers::I64(&[])); types.len()];
        let encoding = Arc::new(KeyEncoding::of(&types, &vec![None; types.len()], &extremes, &columns)?);
        Some(Self { encoding, key, splits })
    }

    /// What is known of a split; `None` if it has no keys of its own.
    pub(super) fn of_split(&self, split: u64) -> Option<DisjointRange> {
        *self.splits.get(usize::try_from(split).ok()?)?
    }
}

/// The smallest and the largest integer of a column; `None` if they are not known, or there is none.
pub(crate) fn bounds_of(table: &dyn Table, column: usize) -> Option<(i64, i64)> {
    extremes_of(&bounds_of_splits(table, column)?)
}

fn extremes_of(splits: &[Option<(i64, i64)>]) -> Option<(i64, i64)> {
    splits.iter().flatten().copied().reduce(|all, split| (all.0.min(split.0), all.1.max(split.1)))
}

/// The smallest and the largest integer that each split has in a column, or `None` for a split of nulls; `None` if that
/// is not known of all.
fn bounds_of_splits(table: &dyn Table, column: usize) -> Option<Vec<Option<(i64, i64)>>> {
    let bounds = table.statistics_by_split(column).map(|known| match known.values {
        ValueBounds::Numbers { min, max } => Some(Some((i64::try_from(min).ok()?, i64::try_from(max).ok()?))),
        ValueBounds::None => Some(None),
        ValueBounds::Unknown | ValueBounds::Strings { .. } => None,
    });
    bounds.collect()
}

/// The ranges of splits with these bounds; `None` if most of what they span lies in several.
fn own_ranges(bounds: &[Option<(i64, i64)>]) -> Option<Vec<Option<DisjointRange>>> {
    let mut order: Vec<(i64, i64, usize)> = Vec::new();
    order.extend(bounds.iter().enumerate().filter_map(|(split, bounds)| bounds.map(|(min, max)| (min, max, split))));
    order.sort_unstable();
    let (mut ranges, mut before) = (vec![None; bounds.len()], None);
    let (mut all, mut own) = (0, 0);
    for (rank, &(min, max, split)) in order.iter().enumerate() {
        let first = before.map_or(Some(min), |before: i64| Some(min.max(before.checked_add(1)?)));
        let last = order.get(rank + 1).map_or(Some(max), |next| Some(max.min(next.0.checked_sub(1)?)));
        if let (Some(first), Some(last)) = (first, last)
            && first <= last
        {
            ranges[split] = Some(DisjointRange { all: (min, max), own: (first, last), rank });
            own += width((first, last));
        }
        all += width((min, max));
        before = before.max(Some(max));
    }
    (order.len() > 1 && own >= all / 2).then_some(ranges)
}

/// How many integers lie between two, these included.
fn width((first, last): (i64, i64)) -> u128 {
    first.abs_diff(last) as u128 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(bounds: &[(i64, i64)]) -> Option<Vec<Option<(i64, i64)>>> {
        let bounds: Vec<_> = bounds.iter().copied().map(Some).collect();
        Some(own_ranges(&bounds)?.into_iter().map(|range| range.map(|range| range.own)).collect())
    }

    #[test]
    fn keys_of_several_splits_are_of_none() {
        assert_eq!(own(&[(1, 5), (5, 9), (10, 12)]), Some(vec![Some((1, 4)), Some((6, 9)), Some((10, 12))]));
        assert_eq!(own(&[(10, 90), (-5, 3), (4, 9)]), Some(vec![Some((10, 90)), Some((-5, 3)), Some((4, 9))]));
        assert_eq!(own(&[(0, 100), (40, 41), (101, 400)]), Some(vec![Some((0, 39)), None, Some((101, 400))]));
        assert_eq!(own(&[(0, 9), (0, 9), (20, 90)]), Some(vec![None, None, Some((20, 90))]));
        assert_eq!(own(&[(0, 9), (9, 9), (9, 30)]), Some(vec![Some((0, 8)), None, Some((10, 30))]));
        assert_eq!(own(&[(0, 100), (1, 99)]), None);
        assert_eq!(own(&[(0, 100)]), None);
        let ends = [(i64::MIN, 0), (1, i64::MAX)];
        assert_eq!(own(&ends), Some(ends.map(Some).to_vec()));
        let all = [(i64::MAX, i64::MAX), (i64::MIN, i64::MIN), (i64::MIN, i64::MAX)];
        assert_eq!(own(&all), Some(vec![None, None, Some((i64::MIN + 1, i64::MAX - 1))]));
    }
}
