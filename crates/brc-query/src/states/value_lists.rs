//! The values of many groups, as they come: each group has pieces of memory that all share, so that nothing is moved to
//! grow.

use super::buckets::{Buckets, Ordinal};
use super::sorted_lists::{Shared, carve, shares, sort_runs};
use super::{GroupIds, State};
use crate::values::error::BatchError;
use brc_kernels::accumulate::UnknownGroup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Groups of up to this many values are sorted, however few ranks will be requested. Longer ones are sorted only as far
/// as a requested rank needs.
const MAX_SORTED_VALUES: usize = 32;

/// From this number of values on, a group is looked through when one of few ranks is requested.
const MIN_VALUES_TO_SEARCH: usize = 1 << 17;

/// The most values that a piece gets at a time.
const PIECE: usize = 256;

/// The fewest and the most values of a slab.
const SLAB: Range<usize> = 1 << 10..1 << 21;

/// The values of each group; once they are prepared, those of some groups are sorted.
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
pub(super) struct Piece {
    pub(super) slab: u32,
    pub(super) start: usize,
    pub(super) length: usize,
}

impl<T: Ordinal> Lists<T> {
    /// No groups, of whose values few ranks will be requested or many.
    pub(super) fn new(few_ranks: bool) -> Self {
        let (open, pieces, slabs, long) = Default::default();
        Self { open, pieces, slabs, used: 0, few_ranks, long }
    }

    /// What `map` makes of all values, not prepared.
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
        value: impl Fn(usize) -> Result<T, BatchError>,
    ) -> Result<(), BatchError> {
        groups.each(rows, |group, row| self.push(group, value(row)?))
    }

    #[inline(always)]
    fn push(&mut self, group: usize, value: T) -> Result<(), BatchError> {
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

    /// The values of some ascending ranks in a prepared group.
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
        } else if self.few_ranks && count > MAX_SORTED_VALUES {
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
    pub(super) fn prepare(
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
        let (sorted, longest) =
            if self.few_ranks { (MAX_SORTED_VALUES, MIN_VALUES_TO_SEARCH) } else { (usize::MAX, usize::MAX) };
        let shared = Shared { ends, threads, longest, empty };
        let (long, moments) = match counts.iter().any(|count| (2..=sorted).contains(count)) {
            true => {
                let groups = carve(&mut self.slabs, &self.pieces);
                shared.prepare(groups, add, |groups, values| sort_runs(groups, values, sorted))
            }
            false if shared.empty.is_none() && counts.iter().all(|&count| count < longest) => Default::default(),
            false => {
                shared.prepare((0..self.len()).map(|group| self.slices(group).collect()).collect(), add, |_, _| {})
            }
        };
        self.long = long;
        moments
    }
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
