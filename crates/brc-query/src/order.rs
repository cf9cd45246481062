//! Sorts rows by several columns, as far as they are wanted.

use crate::cells::Cells;
use std::cmp::Ordering;

/// A column to sort by.
pub(crate) struct OrderKey {
    pub(crate) cells: Cells,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// Those of some rows, in order, that are left when `offset` are left out first, and no more than `limit` are wanted. Rows
/// that are equal keep their order.
pub(crate) fn sorted(rows: usize, keys: &[OrderKey], offset: u64, limit: Option<u64>) -> Vec<u32> {
    let compare = |one: &(u64, u32), other: &(u64, u32)| {
        one.0.cmp(&other.0).then_with(|| {
            let (one, other) = (one.1 as usize, other.1 as usize);
            let mut orders = keys.iter().map(|key| key.cells.compare(one, other, key.descending, key.nulls_first));
            orders.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal).then(one.cmp(&other))
        })
    };
    let prefix = |row: usize| keys.first().map_or(0, |key| key.cells.prefix(row, key.descending, key.nulls_first));
    let mut order: Vec<(u64, u32)> = (0..rows).map(|row| (prefix(row), row as u32)).collect();
    let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
    let wanted = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(skipped));
    if wanted < order.len() {
        // Only those that are wanted need to be sorted.
        if wanted > 0 && !keys.is_empty() {
            order.select_nth_unstable_by(wanted - 1, compare);
        }
        order.truncate(wanted);
    }
    if !keys.is_empty() {
        order.sort_unstable_by(compare);
    }
    order.into_iter().skip(skipped).map(|(_, row)| row).collect()
}
