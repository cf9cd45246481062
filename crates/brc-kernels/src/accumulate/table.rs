//! Row-oriented accumulators: the sums of several aggregates for a group are adjacent in memory, so that a row of a
//! table with many groups causes one cache miss, for any number of aggregates.
//!
//! A slot is a 64-bit sum that every group has. The inputs of a batch are first evaluated to 64-bit integers; then all
//! slots of a row's group are updated together. A table with a single slot skips the first step if possible: integers
//! are added directly from their column.

use super::one_slot::add_operand;
use super::operands::Evaluator;
use super::rows::add_rows;
use super::run_sums::Runs;
use super::{UnknownGroup, few};
use crate::cpu::Level;
use brc_core::{Integers, Run};

pub use super::operands::Operand;

/// The maximum number of slots of a table: one cache line.
pub const MAX_SLOTS: usize = 8;

/// The number of rows that are evaluated together: the inputs of all slots fit in the L1 cache.
pub(super) const CHUNK: usize = 256;

/// The limit for the sum of a slot.
const ROOM: u64 = 1 << 62;

/// The limit for what one batch adds to a slot: a table that was cleared has room for a batch that was reserved before.
pub const MAX_AT_ONCE: u64 = ROOM / 2;

/// The number of accumulator rows per group if there are few groups: consecutive input rows use different ones, so that
/// a row does not wait for the one before if both belong to the same group.
pub(super) const COPIES: usize = 4;

/// The maximum number of groups that count as few.
const MAX_FEW_GROUPS: usize = 64;

/// The maximum average length of runs that count as short.
const MAX_SHORT_RUN: usize = 16;

/// The maximum number of groups for which rows may have no group.
pub const MAX_GROUPS_WITH_NONE: usize = few::MAX_GROUPS;

/// The group of rows that belong to no group and add nothing.
pub const NO_GROUP: u32 = u32::MAX;

/// The groups of rows, by row or by run.
#[derive(Debug, Clone, Copy)]
pub enum Groups<'a> {
    /// A group for each row; also [`NO_GROUP`] if there are at most [`MAX_GROUPS_WITH_NONE`] groups.
    Rows(&'a [u32]),
    /// A group for each run.
    Runs(&'a [Run]),
}

/// The sum and the count of integers, in one slot: the count is in the bits above the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The number of integers.
    pub count: u64,
    /// Their sum.
    pub sum: i64,
}

impl Counted {
    /// The number of bits of the sum.
    const BITS: u32 = 40;

    /// A count of one.
    pub(super) const ONE: i64 = 1 << Self::BITS;

    /// Unpacks a slot to which only [`Operand::Counted`] was added.
    #[must_use]
    pub fn of(slot: i64) -> Self {
        let sum = slot << (64 - Self::BITS) >> (64 - Self::BITS);
        Self { count: (slot.wrapping_sub(sum) >> Self::BITS) as u64, sum }
    }

    /// The minimum that must have been reserved for this count and sum.
    #[must_use]
    pub fn size(self) -> u64 {
        Self::room(self.count as usize, self.sum.unsigned_abs())
    }

    /// The amount to [reserve](SlotTable::reserve) for `rows` rows whose integers have a total magnitude of at most
    /// `most`.
    #[must_use]
    pub fn room(rows: usize, most: u64) -> u64 {
        // Sum and slot are signed; a value that uses up all of the room is one more than their maximum.
        let (rows_bits, sum_bits) = (62 - Self::BITS, Self::BITS - 2);
        let share = |size: u64, bits: u32| size.saturating_mul(ROOM >> bits);
        share(rows as u64, rows_bits).max(share(most, sum_bits))
    }
}

/// The evaluated inputs of a slot for a chunk of rows.
pub(super) type Words = [i64; CHUNK];

/// The sums of all slots of each group, stored row by row.
#[derive(Debug, Clone)]
pub struct SlotTable {
    slots: usize,
    groups: usize,
    /// The accumulator rows of all groups, [`COPIES`] of each while there are few groups, in whole cache lines.
    lines: Vec<Line>,
    /// Upper bounds for the sums of each slot.
    bounds: [u64; MAX_SLOTS],
    spare: Box<[Words; MAX_SLOTS]>,
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([i64; MAX_SLOTS]);

const EMPTY: Line = Line([0; MAX_SLOTS]);

impl SlotTable {
    /// Creates a table with `slots` slots and no groups.
    ///
    /// # Panics
    /// If the number of slots is 0 or above [`MAX_SLOTS`].
    #[must_use]
    pub fn new(slots: usize) -> Self {
        assert!((1..=MAX_SLOTS).contains(&slots), "a table has some slots");
        Self { slots, groups: 0, lines: Vec::new(), bounds: [0; MAX_SLOTS], spare: Box::new([[0; CHUNK]; MAX_SLOTS]) }
    }

    /// The number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The number of words per accumulator row.
    fn stride(&self) -> usize {
        self.slots.next_power_of_two()
    }

    fn copies(&self) -> usize {
        if self.groups <= MAX_FEW_GROUPS { COPIES } else { 1 }
    }

    /// Adds empty groups up to `groups`.
    pub fn grow(&mut self, groups: usize) {
        if groups <= self.groups {
            return;
        }
        let copies = self.copies();
        if copies > 1 && groups > MAX_FEW_GROUPS {
            self.merge_copies();
        }
        self.groups = groups;
        let rows = groups * self.copies();
        self.lines.resize((rows * self.stride()).div_ceil(MAX_SLOTS), EMPTY);
    }

    /// Merges the accumulator rows of each group into one.
    fn merge_copies(&mut self) {
        let (stride, slots) = (self.stride(), self.slots);
        let merged: Vec<i64> = (0..self.groups)
            .flat_map(|group| (0..slots).map(move |slot| (group, slot)))
            .map(|(group, slot)| self.sum(slot, group))
            .collect();
        self.lines.fill(EMPTY);
        for (row, sums) in words_mut(&mut self.lines).chunks_exact_mut(stride).zip(merged.chunks_exact(slots)) {
            row[..slots].copy_from_slice(sums);
        }
    }

    /// Reserves room for a batch whose inputs of a slot have a total magnitude of at most `more`. Returns whether it
    /// fits.
    #[must_use]
    pub fn reserve(&mut self, slot: usize, more: u64) -> bool {
        let fits = more <= MAX_AT_ONCE && self.bounds[slot] + more <= ROOM;
        self.bounds[slot] += if fits { more } else { 0 };
        fits
    }

    /// Lowers the bound of a slot to the largest sum that it holds, as measured by `size`. Reservations add up whole
    /// batches, which overestimates the sum of each group if there are many. Returns whether any batch fits now.
    pub fn tighten(&mut self, slot: usize, size: impl Fn(i64) -> u64) -> bool {
        let (stride, copies) = (self.stride(), self.copies());
        let rows = words(&self.lines).chunks_exact(stride * copies).take(self.groups);
        let of_group =
            |row: &[i64]| row[slot..].iter().step_by(stride).fold(0, |sum: u64, &it| sum.saturating_add(size(it)));
        let largest = rows.map(of_group).max().unwrap_or(0);
        self.bounds[slot] = self.bounds[slot].min(largest);
        largest <= MAX_AT_ONCE
    }

    /// Whether the sums of a slot of a table of the same shape can be added.
    #[must_use]
    pub fn has_room_for(&self, other: &Self, slot: usize) -> bool {
        self.bounds[slot] + other.bounds[slot] <= ROOM
    }

    /// Adds the sums of a table for which there [is room](SlotTable::has_room_for), group by group.
    ///
    /// # Panics
    /// If the tables differ in the number of slots or groups.
    pub fn merge(&mut self, other: &Self) {
        assert!(self.slots == other.slots && self.groups == other.groups, "tables are alike");
        for (ours, theirs) in words_mut(&mut self.lines).iter_mut().zip(words(&other.lines)) {
            *ours = ours.wrapping_add(*theirs);
        }
        self.bounds.iter_mut().zip(other.bounds).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Adds rows: each adds the given operands to the given slots of its group.
    ///
    /// # Errors
    /// If a group is not below [`SlotTable::groups`], the number of rows of the groups or of an operand differs from
    /// `rows`, or there are more than [`MAX_SLOTS`] operands. Some rows may have been added.
    pub fn add(
        &mut self,
        level: Level,
        groups: Groups<'_>,
        rows: usize,
        operands: &[(usize, Operand<'_>)],
    ) -> Result<(), UnknownGroup> {
        let fits = |(slot, operand): &(usize, Operand<'_>)| {
            *slot < self.slots && operand.rows().is_none_or(|found| found == rows)
        };
        let of_groups = match groups {
            Groups::Rows(groups) => groups.len(),
            Groups::Runs(runs) => runs.iter().map(|run| run.rows as usize).sum(),
        };
        if of_groups != rows || operands.len() > MAX_SLOTS || !operands.iter().all(fits) {
            return Err(UnknownGroup);
        }
        let known = self.groups;
        if let Groups::Rows(groups) = groups
            && known <= few::MAX_GROUPS
        {
            return self.add_to_few(level, groups, operands);
        }
        let (stride, copies) = (self.stride(), self.copies());
        let Self { slots, lines, spare, .. } = self;
        for slot in (0..*slots).filter(|slot| !operands.iter().any(|(added, _)| added == slot)) {
            spare[slot].fill(0);
        }
        let words = &mut words_mut(lines)[..known * stride * copies];
        if let (Groups::Rows(groups), 1, [(_, operand)]) = (groups, *slots, operands)
            && let Some(added) = add_operand(level, copies, groups, *operand, words)
        {
            return added;
        }
        let evaluator = Evaluator::of(operands);
        let mut runs = Runs::new(groups);
        let are_short = runs.len() > rows / MAX_SHORT_RUN;
        for start in (0..rows).step_by(CHUNK) {
            let count = CHUNK.min(rows - start);
            evaluator.write(level, start..start + count, spare);
            match groups {
                Groups::Rows(groups) => add_rows(level, *slots, copies, &groups[start..start + count], spare, words),
                Groups::Runs(_) if are_short => runs.add_short(count, &mut spare[..*slots], words, stride * copies),
                Groups::Runs(_) => runs.add_long(level, count, &spare[..*slots], words, stride * copies),
            }?;
        }
        Ok(())
    }

    /// Adds rows of few groups, slot by slot.
    fn add_to_few(
        &mut self,
        level: Level,
        groups: &[u32],
        operands: &[(usize, Operand<'_>)],
    ) -> Result<(), UnknownGroup> {
        let (known, places) = (self.groups, self.stride() * self.copies());
        let mut counts = [0; few::MAX_GROUPS];
        few::count(level, groups, &mut counts[..known]);
        let of_known = counts.iter().sum::<i64>() as usize;
        if of_known != groups.len() && of_known + few::of_none(level, groups) != groups.len() {
            return Err(UnknownGroup);
        }
        for (slot, operand) in operands {
            let mut sums = [0; few::MAX_GROUPS];
            match *operand {
                Operand::One => sums = counts,
                Operand::Integers(values) => few::add(level, groups, values, &mut sums[..known]),
                Operand::Counted(values) => {
                    few::add(level, groups, values, &mut sums[..known]);
                    sums.iter_mut()
                        .zip(counts)
                        .for_each(|(sum, count)| *sum = sum.wrapping_add(count.wrapping_mul(Counted::ONE)));
                }
                Operand::Products(..) | Operand::High(..) | Operand::Low(..) => {
                    let words = self.spare.as_flattened_mut();
                    for (index, groups) in groups.chunks(words.len()).enumerate() {
                        let words = &mut words[..groups.len()];
                        operand.write(level, index * CHUNK * MAX_SLOTS, words);
                        few::add(level, groups, Integers::I64(words), &mut sums[..known]);
                    }
                }
            }
            let rows = words_mut(&mut self.lines).chunks_exact_mut(places);
            rows.zip(sums).for_each(|(row, sum)| row[*slot] = row[*slot].wrapping_add(sum));
        }
        Ok(())
    }

    /// The sum of a slot of a group.
    ///
    /// # Panics
    /// If there is no such slot or group.
    #[must_use]
    #[inline]
    pub fn sum(&self, slot: usize, group: usize) -> i64 {
        assert!(slot < self.slots && group < self.groups, "a slot of a group");
        let (stride, copies) = (self.stride(), self.copies());
        let of_copy = |copy: usize| {
            let place = (group * copies + copy) * stride + slot;
            self.lines[place / MAX_SLOTS].0[place % MAX_SLOTS]
        };
        (1..copies).fold(of_copy(0), |sum, copy| sum.wrapping_add(of_copy(copy)))
    }

    /// The sums of a slot, group by group.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn slot(&self, slot: usize) -> impl Iterator<Item = i64> {
        assert!(slot < self.slots, "a slot of the table");
        let (stride, copies) = (self.stride(), self.copies());
        (0..self.groups).map(move |group| match copies {
            1 => {
                let place = group * stride + slot;
                self.lines[place / MAX_SLOTS].0[place % MAX_SLOTS]
            }
            _ => self.sum(slot, group),
        })
    }

    /// The sums of all slots of a group; `None` if there are few groups, which have several accumulator rows.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    #[inline]
    pub fn sums(&self, group: usize) -> Option<&[i64]> {
        let start = group * self.stride();
        (self.copies() == 1).then(|| &self.lines[start / MAX_SLOTS].0[start % MAX_SLOTS..][..self.slots])
    }

    /// Resets all sums to 0.
    pub fn clear(&mut self) {
        self.lines.fill(EMPTY);
        self.bounds = [0; MAX_SLOTS];
    }
}

fn words(lines: &[Line]) -> &[i64] {
    // SAFETY: a line consists of `MAX_SLOTS` words and nothing else.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * MAX_SLOTS) }
}

fn words_mut(lines: &mut [Line]) -> &mut [i64] {
    let words = lines.len() * MAX_SLOTS;
    // SAFETY: a line consists of `MAX_SLOTS` words and nothing else.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), words) }
}

#[cfg(test)]
mod tests {
    use super::super::floats::Limbs;
    use super::*;
    use proptest::prelude::*;

    /// Each row adds 1, an integer, a product and a float to its group.
    fn sums(level: Level, groups: Groups<'_>, rows: &[(u32, i16, i32, f64)], table: &mut SlotTable) {
        let (ones, others): (Vec<i16>, Vec<i32>) = rows.iter().map(|row| (row.1, row.2)).unzip();
        let floats: Vec<f64> = rows.iter().map(|row| row.3).collect();
        let (ones, others, limbs) = (Integers::I16(&ones), Integers::I32(&others), Limbs::of(-60).unwrap());
        let operands = [
            (0, Operand::One),
            (1, Operand::Integers(ones)),
            (2, Operand::Products(ones, others)),
            (3, Operand::High(&floats, limbs)),
            (4, Operand::Low(&floats, limbs)),
            (5, Operand::Counted(ones)),
            (6, Operand::Products(ones, ones)),
        ];
        table.add(level, groups, rows.len(), &operands).unwrap();
    }

    proptest! {
        #[test]
        fn slots_agree_with_plain_code(
            runs in prop::collection::vec(
                (0u32..100, prop::collection::vec((any::<i16>(), any::<i32>(), -1_000_000i64..1_000_000), 0..90)), 0..20,
            ),
            grown in 100usize..200,
            known in prop::sample::select(vec![5u32, 20, 100]),
            most in prop::sample::select(vec![2u32, 90]),
        ) {
            let flat = runs.iter().flat_map(|(group, part)| part.iter().map(move |row| (group % known, row)));
            let rows: Vec<_> = flat.map(|(group, row)| (group, row.0, row.1, row.2 as f64 / 4096.0)).collect();
            let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let pieces = |run: Run| {
                let pieces = (0..run.rows.max(1)).step_by(most as usize);
                pieces.map(move |start| Run { rows: most.min(run.rows - start), ..run })
            };
            let runs = runs.iter().map(|(code, part)| Run { code: code % known, rows: part.len() as u32 });
            let runs: Vec<Run> = runs.flat_map(pieces).collect();
            for level in Level::available() {
                let mut table = SlotTable::new(7);
                table.grow(known as usize);
                sums(level, Groups::Rows(&groups), &rows, &mut table);
                table.grow(grown);
                sums(level, Groups::Runs(&runs), &rows, &mut table);
                for group in 0..grown {
                    let of_group = || rows.iter().filter(|row| row.0 as usize == group);
                    prop_assert_eq!(table.sum(0, group), 2 * of_group().count() as i64);
                    prop_assert_eq!(table.sum(1, group), 2 * of_group().map(|row| i64::from(row.1)).sum::<i64>());
                    let counted = Counted { count: table.sum(0, group) as u64, sum: table.sum(1, group) };
                    prop_assert_eq!(Counted::of(table.sum(5, group)), counted);
                    let product = |row: &(u32, i16, i32, f64)| i64::from(row.1) * i64::from(row.2);
                    prop_assert_eq!(table.sum(2, group), 2 * of_group().map(product).sum::<i64>());
                    let square = |row: &(u32, i16, i32, f64)| i64::from(row.1) * i64::from(row.1);
                    prop_assert_eq!(table.sum(6, group), 2 * of_group().map(square).sum::<i64>());
                    let float = Limbs::join(table.sum(3, group), table.sum(4, group));
                    let expected = of_group().map(|row| (row.3 * 4096.0) as i128).sum::<i128>();
                    prop_assert_eq!(float, expected << 49);
                }
            }
        }
    }

    #[test]
    fn slots_without_operands_are_unchanged() {
        for groups in [3, 300] {
            let mut table = SlotTable::new(3);
            table.grow(groups);
            let operands = [(2, Operand::Integers(Integers::I8(&[1, -2, 3])))];
            table.add(Level::best(), Groups::Rows(&[0, 2, 2]), 3, &operands).unwrap();
            table.add(Level::best(), Groups::Rows(&[0, 2, 2]), 3, &[(0, Operand::One)]).unwrap();
            assert_eq!([0, 1, 2].map(|group| table.sum(2, group)), [1, 0, 1]);
            assert_eq!([0, 1, 2].map(|slot| table.sum(slot, 2)), [2, 0, 1]);
            table.clear();
            assert_eq!([0, 1, 2].map(|group| table.sum(2, group)), [0, 0, 0]);
        }
    }

    #[test]
    fn rows_may_be_of_no_group() {
        let mut table = SlotTable::new(2);
        table.grow(2);
        let operands = [(0, Operand::One), (1, Operand::Integers(Integers::I8(&[1, -2, 3])))];
        table.add(Level::best(), Groups::Rows(&[1, NO_GROUP, 1]), 3, &operands).unwrap();
        assert_eq!([0, 1].map(|slot| table.sum(slot, 1)), [2, 4]);
    }

    #[test]
    fn unknown_groups_and_unequal_lengths_are_refused() {
        let (mut table, level) = (SlotTable::new(1), Level::best());
        table.grow(2);
        let one = [(0, Operand::One)];
        let run = |code, rows| Run { code, rows };
        assert_eq!(table.add(level, Groups::Rows(&[2]), 1, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Rows(&[1]), 2, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Runs(&[run(2, 1)]), 1, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Runs(&[run(0, 1), run(1, 0)]), 2, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Rows(&[1]), 1, &[(1, Operand::One)]), Err(UnknownGroup));
        let short = [(0, Operand::Integers(Integers::I8(&[])))];
        assert_eq!(table.add(level, Groups::Rows(&[1]), 1, &short), Err(UnknownGroup));
    }

    /// The cache lines have room for more groups than there are.
    #[test]
    fn groups_after_the_last_are_rejected() {
        let (values, floats, limbs) = ([1i8; 40], [1.0; 40], Limbs::of(-60).unwrap());
        for (slots, groups) in (1..=MAX_SLOTS).flat_map(|slots| [9, 63, 64, 65, 301].map(|groups| (slots, groups))) {
            for level in Level::available() {
                for unknown in [groups, groups + 1, 1 << 30, u32::MAX] {
                    for operand in
                        [Operand::One, Operand::Integers(Integers::I8(&values)), Operand::High(&floats, limbs)]
                    {
                        let mut table = SlotTable::new(slots);
                        table.grow(groups as usize);
                        let mut refuses = |of_rows: Groups<'_>| {
                            let added = table.add(level, of_rows, values.len(), &[(slots - 1, operand)]);
                            assert_eq!(added, Err(UnknownGroup), "{slots} {groups} {unknown} {operand:?} {of_rows:?}");
                        };
                        let mut rows = [0; 40];
                        rows[38] = unknown;
                        refuses(Groups::Rows(&rows));
                        let run = |code, rows| Run { code, rows };
                        refuses(Groups::Runs(&[run(0, 20), run(unknown, 20)]));
                        let short: Vec<Run> = (0..40).map(|row| run(if row < 39 { 0 } else { unknown }, 1)).collect();
                        refuses(Groups::Runs(&short));
                        table.grow(groups as usize + 8);
                        let behind = groups as usize..table.groups();
                        assert!(
                            behind.clone().all(|group| table.sum(slots - 1, group) == 0),
                            "{slots} {groups} {unknown}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn more_operands_than_slots_are_refused() {
        let mut table = SlotTable::new(1);
        table.grow(100);
        let operands = [(0, Operand::One); MAX_SLOTS + 1];
        assert_eq!(table.add(Level::best(), Groups::Rows(&[1]), 1, &operands), Err(UnknownGroup));
    }

    #[test]
    fn counted_integers_have_room() {
        let (rows, most) = (1i64 << 22, 1i64 << 38);
        assert_eq!((Counted::room(rows as usize, 0), Counted::room(0, most as u64)), (ROOM, ROOM));
        // The maximum that there is room for, and the resulting words.
        for (count, sum) in [(0, 0), (1, -1), (rows, -most), (rows, most), (rows, 0), (5, most)] {
            let slot = count.checked_mul(1 << 40).and_then(|count| count.checked_add(sum)).unwrap();
            assert_eq!(Counted::of(slot), Counted { count: count as u64, sum });
        }
    }

    #[test]
    fn reservations_are_limited() {
        let mut table = SlotTable::new(1);
        assert!(!table.reserve(0, (ROOM / 2) + 1));
        assert!(table.reserve(0, ROOM / 2));
        assert!(table.reserve(0, ROOM / 2));
        assert!(!table.reserve(0, 1));
        table.clear();
        assert!(table.reserve(0, 1));
    }

    #[test]
    fn bounds_can_be_tightened() {
        for groups in [3, 300] {
            let mut table = SlotTable::new(2);
            table.grow(groups);
            let values = [i64::MAX >> 4, -7, 7];
            let operands =
                [(0, Operand::Integers(Integers::I64(&values))), (1, Operand::Counted(Integers::I64(&[5; 3])))];
            table.add(Level::best(), Groups::Rows(&[1, 2, 2]), 3, &operands).unwrap();
            for slot in [0, 1] {
                assert!(table.reserve(slot, ROOM / 2) && table.reserve(slot, ROOM / 2) && !table.reserve(slot, 1));
            }
            assert!(table.tighten(0, i64::unsigned_abs) && table.tighten(1, |sum| Counted::of(sum).size()));
            assert_eq!(table.bounds[0], i64::MAX as u64 >> 4);
            assert_eq!(table.bounds[1], Counted::room(2, 10));
            assert!(table.reserve(0, ROOM / 2) && table.reserve(1, ROOM / 2));
            // Large sums cannot be tightened.
            let large = [(0, Operand::Integers(Integers::I64(&[i64::MIN / 2])))];
            table.add(Level::best(), Groups::Rows(&[0]), 1, &large).unwrap();
            assert!(!table.tighten(0, i64::unsigned_abs));
        }
    }

    #[test]
    fn tables_add_up() {
        for groups in [3, 300] {
            let table = |values: &[i64]| {
                let mut table = SlotTable::new(2);
                table.grow(groups);
                let operands = [(0, Operand::One), (1, Operand::Integers(Integers::I64(values)))];
                assert!(table.reserve(0, 3) && table.reserve(1, ROOM / 4));
                table.add(Level::best(), Groups::Rows(&[0, 2, 2]), 3, &operands).unwrap();
                table
            };
            let (mut one, other) = (table(&[1, 2, 3]), table(&[-1, 20, 30]));
            assert!(one.has_room_for(&other, 0) && one.has_room_for(&other, 1));
            one.merge(&other);
            assert_eq!([0, 1, 2].map(|group| (one.sum(0, group), one.sum(1, group))), [(2, 0), (0, 0), (4, 55)]);
            assert_eq!(one.bounds[..2], [6, ROOM / 2]);
            assert!(one.reserve(1, ROOM / 2) && !one.has_room_for(&other, 1));
        }
    }
}
