//! Sorts rows by several columns, as many of them as are wanted.

use crate::accumulate::partial::Partial;
use crate::runtime::interruptible_sort::{select_by, sort_by};
use crate::runtime::parallel;
use crate::values::cells::Cells;
use brc_core::Result;
use std::cmp::Ordering;

/// Fewer rows are sorted by one thread.
const MIN_ROWS_FOR_PARALLEL_SORT: usize = 1 << 16;

/// As many rows of a part, or twice as many as are wanted, are kept before the others are left out.
const MIN_ENTRIES_TO_PRUNE: usize = 1 << 12;

/// A column to sort by.
pub(crate) struct OrderKey {
    pub(crate) cells: Cells,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// Some of the rows to sort.
pub(crate) struct SortedPart<'a> {
    pub(crate) rows: usize,
    /// The columns to sort by; all parts have the same.
    pub(crate) keys: Vec<OrderKey>,
    /// The groups that the rows are, by whose keys they are sorted after that; in all parts or in none.
    pub(crate) groups: Option<(&'a Partial, &'a [u32])>,
}

impl SortedPart<'_> {
    /// Calls `each` with every row and a number that orders rows as [`SortedPart::compare`] does, as far as it can.
    fn each_prefix(&self, mut each: impl FnMut(usize, u128)) {
        match self.keys.first() {
            Some(key) => key.cells.each_prefix(self.rows, key.descending, key.nulls_first, each),
            None => (0..self.rows).for_each(|row| each(row, 0)),
        }
    }

    fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        let mut keys = self.keys.iter().zip(&other.keys);
        let by_keys = keys.find_map(|(one, two)| {
            let order = one.cells.compare(row, &two.cells, other_row, one.descending, one.nulls_first);
            order.is_ne().then_some(order)
        });
        by_keys.unwrap_or_else(|| match (self.groups, other.groups) {
            (Some((ours, groups)), Some((theirs, other_groups))) => {
                ours.compare_keys(groups[row] as usize, theirs, other_groups[other_row] as usize)
            }
            (Some(_) | None, _) => Ordering::Equal,
        })
    }

    fn is_unordered(&self) -> bool {
        self.keys.is_empty() && self.groups.is_none()
    }

    /// Whether the rows are in order as they are.
    fn is_in_order(&self) -> bool {
        let differ = self.keys.first().is_some_and(|key| !key.descending && key.cells.are_increasing(self.rows));
        differ || self.is_unordered() || (1..self.rows).all(|row| self.compare(row - 1, self, row).is_le())
    }
}

/// Whether the rows of all parts are in order as they are, part by part.
fn are_in_order(parts: &[SortedPart<'_>]) -> bool {
    let some: Vec<_> = parts.iter().filter(|part| part.rows > 0).collect();
    some.windows(2).all(|pair| pair[0].compare(pair[0].rows - 1, pair[1], 0).is_le())
        && some.iter().all(|part| part.is_in_order())
}

/// A row of a part, with its prefix.
type Entry = (u128, u32, u32);

/// Those rows, in order, that are left when `offset` are left out first, and no more than `limit` are wanted: each as
/// its part and its index there. Rows that are equal keep their order.
///
/// # Errors
/// [`brc_core::Error::Interrupted`].
pub(crate) fn sorted(
    parts: &[SortedPart<'_>],
    offset: u64,
    limit: Option<u64>,
    threads: usize,
) -> Result<Vec<(u32, u32)>> {
    let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if are_in_order(parts) {
        let rows_of = |(part, it): (u32, &SortedPart<'_>)| (0..it.rows as u32).map(move |row| (part, row));
        return Ok((0..).zip(parts).flat_map(rows_of).skip(skipped).take(limit).collect());
    }
    let first = First { parts, wanted: limit.saturating_add(skipped) };
    let found = parallel::try_map(parts.len(), threads, |part| first.of_part(part))?;
    let all = found.into_iter().reduce(|mut all, part| {
        all.extend_from_slice(&part);
        all
    });
    let mut entries = all.unwrap_or_default();
    first.cut(&mut entries)?;
    sort(&mut entries, threads, &|one, other| first.compare(one, other))?;
    Ok(entries.into_iter().skip(skipped).map(|(_, part, row)| (part, row)).collect())
}

/// Finds the first rows of the order, without sorting the others.
struct First<'a> {
    parts: &'a [SortedPart<'a>],
    wanted: usize,
}

impl First<'_> {
    fn compare(&self, one: &Entry, other: &Entry) -> Ordering {
        one.0.cmp(&other.0).then_with(|| {
            let parts = [one, other].map(|entry| &self.parts[entry.1 as usize]);
            let order = parts[0].compare(one.2 as usize, parts[1], other.2 as usize);
            order.then((one.1, one.2).cmp(&(other.1, other.2)))
        })
    }

    /// Keeps those that are wanted, in any order.
    fn cut(&self, entries: &mut Vec<Entry>) -> Result<()> {
        if self.wanted > 0 && self.wanted < entries.len() {
            // Rows themselves are only compared where their prefixes are the same as the last one's.
            let (_, &mut (last, ..), _) = entries.select_nth_unstable_by_key(self.wanted - 1, |entry| entry.0);
            entries.retain(|entry| entry.0 <= last);
            if self.wanted < entries.len() {
                select_by(entries, self.wanted - 1, |one, other| self.compare(one, other))?;
            }
        }
        entries.truncate(self.wanted);
        Ok(())
    }

    /// The rows of a part that may be wanted.
    fn of_part(&self, part: usize) -> Result<Vec<Entry>> {
        // Of many rows, few of which are wanted, hardly any is kept for longer than it takes to see that.
        let most = self.wanted.saturating_mul(2).max(MIN_ENTRIES_TO_PRUNE);
        let mut entries: Vec<Entry> = Vec::with_capacity(self.parts[part].rows.min(most));
        let mut last = u128::MAX;
        let mut done = Ok(());
        self.parts[part].each_prefix(|row, prefix| {
            if prefix <= last {
                entries.push((prefix, part as u32, row as u32));
            }
            if entries.len() >= most && done.is_ok() {
                done = self.cut(&mut entries);
                last = entries.iter().map(|entry| entry.0).max().unwrap_or(last);
            }
        });
        done?;
        self.cut(&mut entries)?;
        Ok(entries)
    }
}

/// Sorts by several threads, each of which has a range of the order.
fn sort(entries: &mut [Entry], threads: usize, compare: &(impl Fn(&Entry, &Entry) -> Ordering + Sync)) -> Result<()> {
    if threads < 2 || entries.len() < MIN_ROWS_FOR_PARALLEL_SORT {
        return sort_by(entries, compare);
    }
    let middle = entries.len() / 2;
    select_by(entries, middle, compare)?;
    let (left, right) = entries.split_at_mut(middle);
    let half = threads / 2;
    let mut halves = [(left, half, Ok(())), (right, threads - half, Ok(()))];
    parallel::for_each(&mut halves, 2, |(entries, threads, done)| *done = sort(entries, *threads, compare));
    halves.into_iter().try_for_each(|(_, _, done)| done)
}
