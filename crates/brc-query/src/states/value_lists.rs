//! The values of many groups, as they come: each group has pieces of memory that all share, so that nothing is moved to
//! grow.

use super::buckets::{Buckets, Ordinal};
use super::{GroupIds, State};
use crate::runtime::parallel;
use crate::values::fault::Malformed;
use brc_core::{Run, interrupt};
use brc_kernels::accumulate::UnknownGroup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{Deref, Range};

/// Fewer values are sorted by one thread.
const MIN_VALUES_FOR_PARALLEL_SORT: usize = 1 << 14;

/// Groups of up to this many values are sorted, however few ranks will be requested. Longer ones are sorted only as far
/// as a requested rank needs.
const SHORT: usize = 32;

/// From this number of values on, a group is looked through when one of few ranks is requested.
const LONG: usize = 1 << 17;

/// The most values that a piece gets at a time.
const PIECE: usize = 256;

/// The fewest and the most values of a slab.
const SLAB: Range<usize> = 1 << 10..1 << 21;

/// This many values are read together: they are still in the cache.
const TOGETHER: usize = 1 << 12;

/// The values of each group; once they are settled, those of some groups are sorted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lists<T> {
    /// The piece of each group that grows: few bytes a group, so that they stay in the cache.
    open: Vec<Open>,
    /// All pieces of each group. Of the last, if it is open, the first values are there only.
    pieces: Vec<Vec<Piece>>,
    /// What the pieces are parts of. New ones are parts of the last.
    slabs: Vec<Vec<T>>,
    /// How many values of the last slab are parts of a piece.
    used: usize,
    /// Whether so few ranks will be requested that only short groups need be sorted.
    few_ranks: bool,
    /// How the values of long groups are spread, if those are not sorted.
    long: BTreeMap<u32, Buckets>,
}

/// Where in a slab the next value of a group goes, and where there is no more room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    slab: u32,
    next: u32,
    end: u32,
}

impl Open {
    fn room(self) -> usize {
        (self.end - self.next) as usize
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Piece {
    slab: u32,
    start: usize,
    length: usize,
}

impl<T: Ordinal> Lists<T> {
    /// No groups, of whose values few ranks will be requested or many.
    pub(super) fn new(few_ranks: bool) -> Self {
        let (open, pieces, slabs, long) = Default::default();
        Self { open, pieces, slabs, used: 0, few_ranks, long }
    }

    /// What `map` makes of all values, not settled.
    pub(super) fn map<W: Ordinal>(&self, map: impl Fn(T) -> W) -> Lists<W> {
        Lists {
            open: self.open.clone(),
            pieces: self.pieces.clone(),
            slabs: self.slabs.iter().map(|slab| slab.iter().map(|&value| map(value)).collect()).collect(),
            used: self.used,
            few_ranks: self.few_ranks,
            long: BTreeMap::new(),
        }
    }

    /// Whether there are no values.
    pub(super) fn is_empty(&self) -> bool {
        self.slabs.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn grow(&mut self, groups: usize) {
        self.open.resize(groups.max(self.len()), Open::default());
        self.pieces.resize_with(self.open.len(), Vec::new);
    }

    /// Adds the values of rows to their groups.
    pub(super) fn push_all(
        &mut self,
        groups: GroupIds<'_>,
        rows: usize,
        value: impl Fn(usize) -> Result<T, Malformed>,
    ) -> Result<(), Malformed> {
        groups.each(rows, |group, row| self.push(group, value(row)?))
    }

    #[inline(always)]
    fn push(&mut self, group: usize, value: T) -> Result<(), Malformed> {
        let open = self.open.get_mut(group).ok_or(UnknownGroup)?;
        if open.next == open.end {
            *open = new_piece(&mut self.pieces[group], &mut self.slabs, &mut self.used);
        }
        self.slabs[open.slab as usize][open.next as usize] = value;
        open.next += 1;
        Ok(())
    }

    /// The values of a group.
    fn slices(&self, group: usize) -> impl Iterator<Item = &[T]> {
        let open = self.open.get(group).copied().unwrap_or_default();
        let pieces = self.pieces.get(group).map_or(&[][..], Vec::as_slice);
        pieces.iter().enumerate().map(move |(index, &Piece { slab, start, length })| {
            let unused = if index + 1 == pieces.len() { open.room() } else { 0 };
            &self.slabs[slab as usize][start..start + length - unused]
        })
    }

    pub(super) fn count(&self, group: usize) -> usize {
        self.slices(group).map(<[T]>::len).sum()
    }

    /// No more values will come.
    pub(super) fn finish(&mut self) {
        for (open, pieces) in self.open.iter_mut().zip(&mut self.pieces) {
            if let Some(last) = pieces.last_mut() {
                last.length -= open.room();
            }
            *open = Open::default();
        }
        if let Some(last) = self.slabs.last_mut() {
            last.truncate(self.used);
        }
    }

    pub(super) fn take(&self, groups: &[u32]) -> Self {
        let mut taken = Self::new(self.few_ranks);
        taken.grow(groups.len());
        for (place, &group) in groups.iter().enumerate() {
            taken.long.extend(self.long.get(&group).map(|buckets| (place as u32, buckets.clone())));
            for &value in self.slices(group as usize).flatten() {
                // The group is there.
                let _ = taken.push(place, value);
            }
        }
        taken.finish();
        taken
    }

    /// Takes the values of the groups of another, to which no more will come, for those in `groups`.
    pub(super) fn append(&mut self, mut other: Self, groups: &[u32]) {
        self.finish();
        other.finish();
        let slabs = self.slabs.len() as u32;
        self.slabs.append(&mut other.slabs);
        self.used = self.slabs.last().map_or(0, Vec::len);
        for (pieces, &group) in other.pieces.iter().zip(groups) {
            let pieces = pieces.iter().map(|piece| Piece { slab: piece.slab + slabs, ..*piece });
            self.pieces[group as usize].extend(pieces.filter(|piece| piece.length > 0));
        }
    }

    /// The values of some ascending ranks in a settled group.
    pub(super) fn ranked<const PLACES: usize>(
        &self,
        group: usize,
        places: impl FnOnce(usize) -> [usize; PLACES],
    ) -> Option<[T; PLACES]> {
        let count = self.count(group);
        let highest = count.checked_sub(1)?;
        let places = places(count).map(|place| place.min(highest));
        let mut found = [T::default(); PLACES];
        if let Some(buckets) = self.long.get(&(group as u32)) {
            for (found, place) in found.iter_mut().zip(places) {
                *found = buckets.ranked(place, self.slices(group))?;
            }
        } else if self.few_ranks && count > SHORT {
            let mut values = Vec::with_capacity(count);
            self.slices(group).for_each(|slice| values.extend_from_slice(slice));
            select(&mut values, &places, &mut found);
        } else {
            for (found, place) in found.iter_mut().zip(places) {
                *found = *self.slices(group).flatten().nth(place)?;
            }
        }
        Some(found)
    }

    pub(super) fn is_sound(&self) -> bool {
        let fits = |piece: &Piece| {
            let slab = self.slabs.get(piece.slab as usize);
            let end = piece.start.checked_add(piece.length);
            slab.zip(end).is_some_and(|(slab, end)| end <= slab.len())
        };
        // Pieces do not overlap, and are ordered as they lie in the slabs.
        let mut all: Vec<_> =
            self.pieces.iter().flatten().map(|piece| (piece.slab, piece.start, piece.length)).collect();
        all.sort_unstable();
        let apart = |pair: &[(u32, usize, usize)]| pair[0].0 < pair[1].0 || pair[1].1 - pair[0].1 >= pair[0].2;
        let in_order = |pieces: &Vec<Piece>| pieces.is_sorted_by_key(|piece| (piece.slab, piece.start));
        self.pieces.len() == self.open.len()
            && all.windows(2).all(apart)
            && self.pieces.iter().all(in_order)
            && self.open.iter().all(|open| *open == Open::default())
            && self.pieces.iter().flatten().all(fits)
    }

    /// Sorts the values of short groups, and counts those of long ones in buckets. Before that, `add` is called with
    /// the values, in runs of one group each, and adds them to moments that start as `empty`. Returns the moments of
    /// all groups.
    pub(super) fn settle(
        &mut self,
        threads: usize,
        empty: Option<State>,
        add: impl Fn(&mut State, GroupIds<'_>, &[T]) + Sync,
    ) -> Option<State>
    where
        T: Send + Sync,
    {
        self.finish();
        self.long.clear();
        let counts: Vec<usize> = (0..self.len()).map(|group| self.count(group)).collect();
        let ends = shares(&counts, threads);
        let (sorted, longest) = if self.few_ranks { (SHORT, LONG) } else { (usize::MAX, usize::MAX) };
        let shared = Shared { ends, threads, longest, empty };
        let (long, moments) = match counts.iter().any(|count| (2..=sorted).contains(count)) {
            true => {
                let groups = carve(&mut self.slabs, &self.pieces);
                shared.settle(groups, add, |groups, values| sort_runs(groups, values, sorted))
            }
            false if shared.empty.is_none() && counts.iter().all(|&count| count < longest) => Default::default(),
            false => shared.settle((0..self.len()).map(|group| self.slices(group).collect()).collect(), add, |_, _| {}),
        };
        self.long = long;
        moments
    }
}

/// Where the groups of each thread end, so that all threads have about as many values; `counts` has those of each
/// group.
fn shares(counts: &[usize], threads: usize) -> Vec<usize> {
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

/// Finds the values of some ascending ranks by partial sorting.
fn select<T: Ordinal>(mut values: &mut [T], places: &[usize], found: &mut [T]) {
    let mut above = None;
    // Selecting a rank partitions the values: those of lower ranks are before it.
    for (found, &place) in found.iter_mut().zip(places).rev() {
        *found = match above {
            Some((same, value)) if same == place => value,
            _ => *values.select_nth_unstable(place).1,
        };
        values = &mut values[..place];
        above = Some((place, *found));
    }
}

/// The pieces of each group.
fn carve<'s, T>(slabs: &'s mut [Vec<T>], pieces: &[Vec<Piece>]) -> Vec<Vec<&'s mut [T]>> {
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

/// What is to be settled by several threads.
struct Shared {
    /// Where the groups of each end.
    ends: Vec<usize>,
    threads: usize,
    /// Groups with this many values are long.
    longest: usize,
    /// Moments that values are to be added to.
    empty: Option<State>,
}

impl Shared {
    /// Settles groups of these pieces. Returns the long ones, and the moments of all.
    fn settle<T: Ordinal, P: Deref<Target = [T]> + Send>(
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
        parallel::for_each(&mut shares, threads, |share| share.settle(&add, &sort));
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
    fn settle(&mut self, add: impl Fn(&mut State, GroupIds<'_>, &[T]), sort: impl Fn(&mut [Vec<P>], &mut [T])) {
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
fn sort_runs<T: Ordinal>(groups: &mut [Vec<&mut [T]>], mut values: &mut [T], most: usize) {
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

/// A new piece of the last slab: four times as long as the one before, as far as pieces may be long. Where it lies
/// after the one before, that becomes longer instead.
#[cold]
fn new_piece<T: Copy + Default>(pieces: &mut Vec<Piece>, slabs: &mut Vec<Vec<T>>, used: &mut usize) -> Open {
    let length = pieces.last().map_or(4, |last| (4 * last.length).clamp(4, PIECE));
    let has_room = |slab: &Vec<T>| *used + length <= slab.len().min(SLAB.end);
    if !slabs.last().is_some_and(has_room) {
        let all: usize = slabs.iter().map(Vec::len).sum();
        // The system gives memory that is 0 already.
        slabs.push(vec![T::default(); all.clamp(SLAB.start, SLAB.end)]);
        *used = 0;
    }
    let (slab, start) = (slabs.len() as u32 - 1, *used);
    *used += length;
    match pieces.last_mut().filter(|last| last.slab == slab && last.start + last.length == start) {
        Some(last) => last.length += length,
        None => pieces.push(Piece { slab, start, length }),
    }
    Open { slab, next: start as u32, end: *used as u32 }
}
