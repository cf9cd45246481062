//! Sorts the values of many groups with several threads, and adds them to moments on the way.

use super::buckets::{Buckets, Ordinal};
use super::value_lists::Piece;
use super::{GroupIds, State};
use crate::runtime::parallel;
use brc_core::{Run, interrupt};
use std::collections::BTreeMap;
use std::ops::Deref;

/// Fewer values are sorted by one thread.
const MIN_VALUES_FOR_PARALLEL_SORT: usize = 1 << 14;

/// This many values are read together: they are still in the cache.
const TOGETHER: usize = 1 << 12;

/// Where the groups of each thread end, so that all threads have about as many values; `counts` has those of each
/// group.
pub(super) fn shares(counts: &[usize], threads: usize) -> Vec<usize> {
    let values: usize = counts.iter().sum();
    let share = if values < MIN_VALUES_FOR_PARALLEL_SORT { usize::MAX } else { values.div_ceil(threads.max(1)) };
    let (mut ends, mut seen) = (Vec::new(), 0);
    for (group, count) in counts.iter().enumerate() {
        seen += count;
        if seen >= share || group + 1 == counts.len() {
            ends.push(group + 1);
            seen = 0;
        }
    }
    ends
}

/// The pieces of each group.
pub(super) fn carve<'s, T>(slabs: &'s mut [Vec<T>], pieces: &[Vec<Piece>]) -> Vec<Vec<&'s mut [T]>> {
    let mut carved: Vec<Vec<_>> = pieces.iter().map(|pieces| Vec::with_capacity(pieces.len())).collect();
    let of_group = |(group, pieces): (usize, &'_ Vec<Piece>)| {
        pieces.iter().map(move |piece| (piece.slab, piece.start, piece.length, group)).collect::<Vec<_>>()
    };
    let mut places: Vec<_> = pieces.iter().enumerate().flat_map(of_group).collect();
    places.sort_unstable();
    let mut places = places.into_iter().peekable();
    for (number, slab) in (0..).zip(slabs) {
        let (mut rest, mut before) = (slab.as_mut_slice(), 0);
        while let Some((_, start, length, group)) = places.next_if(|place| place.0 == number) {
            let (piece, behind) = rest.split_at_mut(start - before).1.split_at_mut(length);
            carved[group].push(piece);
            (rest, before) = (behind, start + length);
        }
    }
    carved
}

/// What is to be prepared by several threads.
pub(super) struct Shared {
    /// Where the groups of each end.
    pub(super) ends: Vec<usize>,
    pub(super) threads: usize,
    /// Groups with this many values are long.
    pub(super) longest: usize,
    /// Moments that values are to be added to.
    pub(super) empty: Option<State>,
}

impl Shared {
    /// Settles groups of these pieces. Returns the long ones, and the moments of all.
    pub(super) fn prepare<T: Ordinal, P: Deref<Target = [T]> + Send>(
        self,
        groups: Vec<Vec<P>>,
        add: impl Fn(&mut State, GroupIds<'_>, &[T]) + Sync,
        sort: impl Fn(&mut [Vec<P>], &mut [T]) + Sync,
    ) -> (BTreeMap<u32, Buckets>, Option<State>) {
        let Self { ends, threads, longest, empty } = self;
        let mut groups = groups.into_iter();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let share = |(start, &end)| {
            let groups = groups.by_ref().take(end - start).collect();
            Share { groups, longest, long: Vec::new(), moments: empty.clone() }
        };
        let mut shares: Vec<_> = starts.zip(&ends).map(share).collect();
        parallel::for_each(&mut shares, threads, |share| share.prepare(&add, &sort));
        let (mut all_long, mut moments, mut start) = (BTreeMap::new(), empty, 0);
        for (share, end) in shares.into_iter().zip(ends) {
            all_long.extend(share.long.into_iter().map(|(group, buckets)| (start + group, buckets)));
            match (&mut moments, share.moments) {
                (Some(moments), Some(more)) if start > 0 => {
                    moments.grow(end);
                    moments.merge(more, &(start..end as u32).collect::<Vec<_>>());
                }
                (moments, first) => *moments = first,
            }
            start = end as u32;
        }
        (all_long, moments)
    }
}

/// Groups that one thread settles.
struct Share<P> {
    groups: Vec<Vec<P>>,
    longest: usize,
    /// Groups that are long.
    long: Vec<(u32, Buckets)>,
    moments: Option<State>,
}

impl<T: Ordinal, P: Deref<Target = [T]>> Share<P> {
    /// Adds each group's values to its moments, and calls `sort` for groups that are not long, with their values one
    /// after the other.
    fn prepare(&mut self, add: impl Fn(&mut State, GroupIds<'_>, &[T]), sort: impl Fn(&mut [Vec<P>], &mut [T])) {
        let Self { groups, longest, long, moments } = self;
        let is_long = |pieces: &[P]| pieces.iter().map(|piece| piece.len()).sum::<usize>() >= *longest;
        if let Some(moments) = moments {
            moments.grow(groups.len());
        }
        let (mut values, mut runs) = (Vec::new(), Vec::new());
        let mut rest = groups.as_mut_slice();
        let mut first = 0;
        while !rest.is_empty() && interrupt::check().is_ok() {
            if is_long(&rest[0]) {
                let pieces = rest[0].iter().map(|piece| &**piece);
                if let Some(moments) = moments {
                    pieces.clone().for_each(|piece| add_runs(moments, &[(first, piece.len())], piece, &add));
                }
                long.push((first, Buckets::of(pieces)));
                (rest, first) = (&mut std::mem::take(&mut rest)[1..], first + 1);
                continue;
            }
            values.clear();
            runs.clear();
            for group in &*rest {
                let before = values.len();
                if before >= TOGETHER || is_long(group) {
                    break;
                }
                group.iter().for_each(|piece| values.extend_from_slice(piece));
                runs.push((first + runs.len() as u32, values.len() - before));
            }
            if let Some(moments) = moments {
                add_runs(moments, &runs, &values, &add);
            }
            let (some, others) = std::mem::take(&mut rest).split_at_mut(runs.len());
            sort(some, &mut values);
            (rest, first) = (others, first + runs.len() as u32);
        }
        if let Some(moments) = moments {
            moments.finish();
        }
    }
}

/// Sorts the values of groups of up to `most`, which are also in their pieces, and puts them there.
pub(super) fn sort_runs<T: Ordinal>(groups: &mut [Vec<&mut [T]>], mut values: &mut [T], most: usize) {
    for pieces in groups {
        let count = pieces.iter().map(|piece| piece.len()).sum();
        let (of_group, rest) = std::mem::take(&mut values).split_at_mut(count);
        values = rest;
        if count > most {
            continue;
        }
        of_group.sort_unstable();
        let mut sorted = &*of_group;
        for piece in pieces {
            let (of_piece, others) = sorted.split_at(piece.len());
            piece.copy_from_slice(of_piece);
            sorted = others;
        }
    }
}

/// Adds the values of groups to their moments, some at a time.
fn add_runs<T>(
    moments: &mut State,
    groups: &[(u32, usize)],
    mut values: &[T],
    add: impl Fn(&mut State, GroupIds<'_>, &[T]),
) {
    let (mut runs, mut together) = (Vec::new(), 0);
    for &(code, mut left) in groups {
        while left > 0 {
            let rows = left.min(TOGETHER - together);
            runs.push(Run { code, rows: rows as u32 });
            (left, together) = (left - rows, together + rows);
            if together == TOGETHER {
                let (full, rest) = values.split_at(together);
                add(moments, GroupIds::Runs(&runs), full);
                runs.clear();
                (values, together) = (rest, 0);
            }
        }
    }
    add(moments, GroupIds::Runs(&runs), values);
}
