//! Row-oriented accumulators: the sums of several aggregates for a group are adjacent in memory, so that a row of a
//! table with many groups causes one cache miss, for any number of aggregates.
//!
//! A lane is a 64-bit sum that every group has. The inputs of a batch are first evaluated to 64-bit integers; then all
//! lanes of a row's group are updated together. A table with a single lane skips the first step if possible: integers
//! are added directly from their column.

use super::addends::Evaluator;
use super::one_lane::add_addend;
use super::rows::add_rows;
use super::{UnknownGroup, few};
use crate::cpu::{Kernel, Level, run_at};
use brc_core::{Integers, Run};

pub use super::addends::Addend;

/// The maximum number of lanes of a table: one cache line.
pub const MOST_LANES: usize = 8;

/// The number of rows that are evaluated together: the inputs of all lanes fit in the L1 cache.
pub(super) const CHUNK: usize = 256;

/// The limit for the sum of a lane.
const ROOM: u64 = 1 << 62;

/// The limit for what one batch adds to a lane: a table that was cleared has room for a batch that was reserved before.
pub const MOST_AT_ONCE: u64 = ROOM / 2;

/// The number of accumulator rows per group if there are few groups: consecutive input rows use different ones, so that
/// a row does not wait for the one before if both belong to the same group.
pub(super) const COPIES: usize = 4;

/// The maximum number of groups that count as few.
const FEW: usize = 64;

/// The maximum average length of runs that count as short.
const SHORT: usize = 16;

/// The maximum number of groups for which rows may have no group.
pub const FEWEST: usize = few::FEW;

/// The group of rows that belong to no group and add nothing.
pub const NO_GROUP: u32 = u32::MAX;

/// The groups of rows, by row or by run.
#[derive(Debug, Clone, Copy)]
pub enum Groups<'a> {
    /// A group for each row; also [`NO_GROUP`] if there are at most [`FEWEST`] groups.
    Rows(&'a [u32]),
    /// A group for each run.
    Runs(&'a [Run]),
}

/// The sum and the count of integers, in one lane: the count is in the bits above the sum.
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

    /// Unpacks a lane to which only [`Addend::Counted`] was added.
    #[must_use]
    pub fn of(lane: i64) -> Self {
        let sum = lane << (64 - Self::BITS) >> (64 - Self::BITS);
        Self { count: (lane.wrapping_sub(sum) >> Self::BITS) as u64, sum }
    }

    /// The minimum that must have been reserved for this count and sum.
    #[must_use]
    pub fn size(self) -> u64 {
        Self::room(self.count as usize, self.sum.unsigned_abs())
    }

    /// The amount to [reserve](LaneTable::reserve) for `rows` rows whose integers have a total magnitude of at most
    /// `most`.
    #[must_use]
    pub fn room(rows: usize, most: u64) -> u64 {
        // Sum and lane are signed; a value that uses up all of the room is one more than their maximum.
        let (rows_bits, sum_bits) = (62 - Self::BITS, Self::BITS - 2);
        let share = |size: u64, bits: u32| size.saturating_mul(ROOM >> bits);
        share(rows as u64, rows_bits).max(share(most, sum_bits))
    }
}

/// The evaluated inputs of a lane for a chunk of rows.
pub(super) type Words = [i64; CHUNK];

/// The sums of all lanes of each group, stored row by row.
#[derive(Debug, Clone)]
pub struct LaneTable {
    lanes: usize,
    groups: usize,
    /// The accumulator rows of all groups, [`COPIES`] of each while there are few groups, in whole cache lines.
    lines: Vec<Line>,
    /// Upper bounds for the sums of each lane.
    bounds: [u64; MOST_LANES],
    spare: Box<[Words; MOST_LANES]>,
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([i64; MOST_LANES]);

const EMPTY: Line = Line([0; MOST_LANES]);

impl LaneTable {
    /// Creates a table with `lanes` lanes and no groups.
    ///
    /// # Panics
    /// If the number of lanes is 0 or above [`MOST_LANES`].
    #[must_use]
    pub fn new(lanes: usize) -> Self {
        assert!((1..=MOST_LANES).contains(&lanes), "a table has some lanes");
        Self { lanes, groups: 0, lines: Vec::new(), bounds: [0; MOST_LANES], spare: Box::new([[0; CHUNK]; MOST_LANES]) }
    }

    /// The number of lanes.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The number of words per accumulator row.
    fn stride(&self) -> usize {
        self.lanes.next_power_of_two()
    }

    fn copies(&self) -> usize {
        if self.groups <= FEW { COPIES } else { 1 }
    }

    /// Adds empty groups up to `groups`.
    pub fn grow(&mut self, groups: usize) {
        if groups <= self.groups {
            return;
        }
        let copies = self.copies();
        if copies > 1 && groups > FEW {
            self.merge_copies();
        }
        self.groups = groups;
        let rows = groups * self.copies();
        self.lines.resize((rows * self.stride()).div_ceil(MOST_LANES), EMPTY);
    }

    /// Merges the accumulator rows of each group into one.
    fn merge_copies(&mut self) {
        let (stride, lanes) = (self.stride(), self.lanes);
        let merged: Vec<i64> = (0..self.groups)
            .flat_map(|group| (0..lanes).map(move |lane| (group, lane)))
            .map(|(group, lane)| self.sum(lane, group))
            .collect();
        self.lines.fill(EMPTY);
        for (row, sums) in words_mut(&mut self.lines).chunks_exact_mut(stride).zip(merged.chunks_exact(lanes)) {
            row[..lanes].copy_from_slice(sums);
        }
    }

    /// Reserves room for a batch whose inputs of a lane have a total magnitude of at most `more`. Returns whether it
    /// fits.
    #[must_use]
    pub fn reserve(&mut self, lane: usize, more: u64) -> bool {
        let fits = more <= MOST_AT_ONCE && self.bounds[lane] + more <= ROOM;
        self.bounds[lane] += if fits { more } else { 0 };
        fits
    }

    /// Lowers the bound of a lane to the largest sum that it holds, as measured by `size`. Reservations add up whole
    /// batches, which overestimates the sum of each group if there are many. Returns whether any batch fits now.
    pub fn tighten(&mut self, lane: usize, size: impl Fn(i64) -> u64) -> bool {
        let (stride, copies) = (self.stride(), self.copies());
        let rows = words(&self.lines).chunks_exact(stride * copies).take(self.groups);
        let of_group =
            |row: &[i64]| row[lane..].iter().step_by(stride).fold(0, |sum: u64, &it| sum.saturating_add(size(it)));
        let largest = rows.map(of_group).max().unwrap_or(0);
        self.bounds[lane] = self.bounds[lane].min(largest);
        largest <= MOST_AT_ONCE
    }

    /// Whether the sums of a lane of a table of the same shape can be added.
    #[must_use]
    pub fn has_room_for(&self, other: &Self, lane: usize) -> bool {
        self.bounds[lane] + other.bounds[lane] <= ROOM
    }

    /// Adds the sums of a table for which there [is room](LaneTable::has_room_for), group by group.
    ///
    /// # Panics
    /// If the tables differ in the number of lanes or groups.
    pub fn absorb(&mut self, other: &Self) {
        assert!(self.lanes == other.lanes && self.groups == other.groups, "tables are alike");
        for (ours, theirs) in words_mut(&mut self.lines).iter_mut().zip(words(&other.lines)) {
            *ours = ours.wrapping_add(*theirs);
        }
        self.bounds.iter_mut().zip(other.bounds).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Adds rows: each adds the given addends to the given lanes of its group.
    ///
    /// # Errors
    /// If a group is not below [`LaneTable::groups`], the number of rows of the groups or of an addend differs from
    /// `rows`, or there are more than [`MOST_LANES`] addends. Some rows may have been added.
    pub fn add(
        &mut self,
        level: Level,
        groups: Groups<'_>,
        rows: usize,
        addends: &[(usize, Addend<'_>)],
    ) -> Result<(), UnknownGroup> {
        let fits = |(lane, addend): &(usize, Addend<'_>)| {
            *lane < self.lanes && addend.rows().is_none_or(|found| found == rows)
        };
        let of_groups = match groups {
            Groups::Rows(groups) => groups.len(),
            Groups::Runs(runs) => runs.iter().map(|run| run.rows as usize).sum(),
        };
        if of_groups != rows || addends.len() > MOST_LANES || !addends.iter().all(fits) {
            return Err(UnknownGroup);
        }
        let known = self.groups;
        if let Groups::Rows(groups) = groups
            && known <= few::FEW
        {
            return self.add_to_few(level, groups, addends);
        }
        let (stride, copies) = (self.stride(), self.copies());
        let Self { lanes, lines, spare, .. } = self;
        for lane in (0..*lanes).filter(|lane| !addends.iter().any(|(added, _)| added == lane)) {
            spare[lane].fill(0);
        }
        let words = &mut words_mut(lines)[..known * stride * copies];
        if let (Groups::Rows(groups), 1, [(_, addend)]) = (groups, *lanes, addends)
            && let Some(added) = add_addend(level, copies, groups, *addend, words)
        {
            return added;
        }
        let evaluator = Evaluator::of(addends);
        let mut runs = Runs::new(groups);
        let are_short = runs.runs.len() > rows / SHORT;
        for start in (0..rows).step_by(CHUNK) {
            let count = CHUNK.min(rows - start);
            evaluator.write(level, start..start + count, spare);
            match groups {
                Groups::Rows(groups) => add_rows(level, *lanes, copies, &groups[start..start + count], spare, words),
                Groups::Runs(_) if are_short => runs.add_short(count, &mut spare[..*lanes], words, stride * copies),
                Groups::Runs(_) => runs.add_long(level, count, &spare[..*lanes], words, stride * copies),
            }?;
        }
        Ok(())
    }

    /// Adds rows of few groups, lane by lane.
    fn add_to_few(
        &mut self,
        level: Level,
        groups: &[u32],
        addends: &[(usize, Addend<'_>)],
    ) -> Result<(), UnknownGroup> {
        let (known, places) = (self.groups, self.stride() * self.copies());
        let mut counts = [0; few::FEW];
        few::count(level, groups, &mut counts[..known]);
        let of_known = counts.iter().sum::<i64>() as usize;
        if of_known != groups.len() && of_known + few::of_none(level, groups) != groups.len() {
            return Err(UnknownGroup);
        }
        for (lane, addend) in addends {
            let mut sums = [0; few::FEW];
            match *addend {
                Addend::One => sums = counts,
                Addend::Integers(values) => few::add(level, groups, values, &mut sums[..known]),
                Addend::Counted(values) => {
                    few::add(level, groups, values, &mut sums[..known]);
                    sums.iter_mut()
                        .zip(counts)
                        .for_each(|(sum, count)| *sum = sum.wrapping_add(count.wrapping_mul(Counted::ONE)));
                }
                Addend::Products(..) | Addend::High(..) | Addend::Low(..) => {
                    let words = self.spare.as_flattened_mut();
                    for (index, groups) in groups.chunks(words.len()).enumerate() {
                        let words = &mut words[..groups.len()];
                        addend.write(level, index * CHUNK * MOST_LANES, words);
                        few::add(level, groups, Integers::I64(words), &mut sums[..known]);
                    }
                }
            }
            let rows = words_mut(&mut self.lines).chunks_exact_mut(places);
            rows.zip(sums).for_each(|(row, sum)| row[*lane] = row[*lane].wrapping_add(sum));
        }
        Ok(())
    }

    /// The sum of a lane of a group.
    ///
    /// # Panics
    /// If there is no such lane or group.
    #[must_use]
    #[inline]
    pub fn sum(&self, lane: usize, group: usize) -> i64 {
        assert!(lane < self.lanes && group < self.groups, "a lane of a group");
        let (stride, copies) = (self.stride(), self.copies());
        let of_copy = |copy: usize| {
            let place = (group * copies + copy) * stride + lane;
            self.lines[place / MOST_LANES].0[place % MOST_LANES]
        };
        (1..copies).fold(of_copy(0), |sum, copy| sum.wrapping_add(of_copy(copy)))
    }

    /// The sums of a lane, group by group.
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn lane(&self, lane: usize) -> impl Iterator<Item = i64> {
        assert!(lane < self.lanes, "a lane of the table");
        let (stride, copies) = (self.stride(), self.copies());
        (0..self.groups).map(move |group| match copies {
            1 => {
                let place = group * stride + lane;
                self.lines[place / MOST_LANES].0[place % MOST_LANES]
            }
            _ => self.sum(lane, group),
        })
    }

    /// The sums of all lanes of a group; `None` if there are few groups, which have several accumulator rows.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    #[inline]
    pub fn sums(&self, group: usize) -> Option<&[i64]> {
        let start = group * self.stride();
        (self.copies() == 1).then(|| &self.lines[start / MOST_LANES].0[start % MOST_LANES..][..self.lanes])
    }

    /// Resets all sums to 0.
    pub fn clear(&mut self) {
        self.lines.fill(EMPTY);
        self.bounds = [0; MOST_LANES];
    }
}

/// A cursor over runs.
struct Runs<'a> {
    runs: &'a [Run],
    /// The number of rows of the first run that have been consumed.
    done: usize,
}

impl<'a> Runs<'a> {
    fn new(groups: Groups<'a>) -> Self {
        Self { runs: if let Groups::Runs(runs) = groups { runs } else { &[] }, done: 0 }
    }

    /// The group of the next rows, and where they end if they start at `first` and the chunk has `count` rows.
    fn next_part(&mut self, first: usize, count: usize) -> Option<(usize, usize)> {
        loop {
            let (run, rest) = self.runs.split_first()?;
            let left = run.rows as usize - self.done;
            if left > count - first {
                self.done += count - first;
                return Some((run.code as usize, count));
            }
            (self.runs, self.done) = (rest, 0);
            if left > 0 {
                return Some((run.code as usize, first + left));
            }
        }
    }

    /// Adds the next `count` rows to their groups, whose sums are `apart` words from each other. Converts the lanes to
    /// prefix sums first, so that the contribution of a run is the difference of two of them; the lanes hold the prefix
    /// sums afterwards.
    fn add_short(
        &mut self,
        count: usize,
        lanes: &mut [Words],
        words: &mut [i64],
        apart: usize,
    ) -> Result<(), UnknownGroup> {
        lanes.iter_mut().for_each(|lane| add_up(&mut lane[..count]));
        let (mut first, mut before) = (0, [0; MOST_LANES]);
        while first < count {
            let (group, end) = self.next_part(first, count).ok_or(UnknownGroup)?;
            let sums = sums_of(words, group, apart, lanes.len()).ok_or(UnknownGroup)?;
            for ((sum, lane), before) in sums.iter_mut().zip(lanes.iter()).zip(&mut before) {
                let up_to = lane[end - 1];
                *sum = sum.wrapping_add(up_to.wrapping_sub(*before));
                *before = up_to;
            }
            first = end;
        }
        Ok(())
    }

    /// The same, adding the rows of each run one by one.
    fn add_long(
        &mut self,
        level: Level,
        count: usize,
        lanes: &[Words],
        words: &mut [i64],
        apart: usize,
    ) -> Result<(), UnknownGroup> {
        let mut first = 0;
        while first < count {
            let (group, end) = self.next_part(first, count).ok_or(UnknownGroup)?;
            let sums = sums_of(words, group, apart, lanes.len()).ok_or(UnknownGroup)?;
            for (sum, addends) in sums.iter_mut().zip(lanes) {
                *sum = sum.wrapping_add(total(level, &addends[first..end]));
            }
            first = end;
        }
        Ok(())
    }
}

/// The sums of a group; `None` if there is no such group.
fn sums_of(words: &mut [i64], group: usize, apart: usize, lanes: usize) -> Option<&mut [i64]> {
    words.get_mut(group.checked_mul(apart)?..)?.get_mut(..lanes)
}

fn words(lines: &[Line]) -> &[i64] {
    // SAFETY: a line consists of `MOST_LANES` words and nothing else.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * MOST_LANES) }
}

fn words_mut(lines: &mut [Line]) -> &mut [i64] {
    let words = lines.len() * MOST_LANES;
    // SAFETY: a line consists of `MOST_LANES` words and nothing else.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), words) }
}

/// Converts words to prefix sums.
fn add_up(words: &mut [i64]) {
    let mut sum = 0i64;
    for word in words {
        sum = sum.wrapping_add(*word);
        *word = sum;
    }
}

fn total(level: Level, words: &[i64]) -> i64 {
    struct Total<'a>(&'a [i64]);
    impl Kernel for Total<'_> {
        type Output = i64;

        #[inline(always)]
        fn run(self) -> i64 {
            self.0.iter().fold(0, |sum, &word| sum.wrapping_add(word))
        }
    }
    run_at(level, Total(words))
}

#[cfg(test)]
mod tests {
    use super::super::floats::Limbs;
    use super::*;
    use proptest::prelude::*;

    /// Each row adds 1, an integer, a product and a float to its group.
    fn sums(level: Level, groups: Groups<'_>, rows: &[(u32, i16, i32, f64)], table: &mut LaneTable) {
        let (ones, others): (Vec<i16>, Vec<i32>) = rows.iter().map(|row| (row.1, row.2)).unzip();
        let floats: Vec<f64> = rows.iter().map(|row| row.3).collect();
        let (ones, others, limbs) = (Integers::I16(&ones), Integers::I32(&others), Limbs::of(-60).unwrap());
        let addends = [
            (0, Addend::One),
            (1, Addend::Integers(ones)),
            (2, Addend::Products(ones, others)),
            (3, Addend::High(&floats, limbs)),
            (4, Addend::Low(&floats, limbs)),
            (5, Addend::Counted(ones)),
            (6, Addend::Products(ones, ones)),
        ];
        table.add(level, groups, rows.len(), &addends).unwrap();
    }

    proptest! {
        #[test]
        fn lanes_agree_with_plain_code(
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
                let mut table = LaneTable::new(7);
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
    fn lanes_without_addends_are_unchanged() {
        for groups in [3, 300] {
            let mut table = LaneTable::new(3);
            table.grow(groups);
            let addends = [(2, Addend::Integers(Integers::I8(&[1, -2, 3])))];
            table.add(Level::best(), Groups::Rows(&[0, 2, 2]), 3, &addends).unwrap();
            table.add(Level::best(), Groups::Rows(&[0, 2, 2]), 3, &[(0, Addend::One)]).unwrap();
            assert_eq!([0, 1, 2].map(|group| table.sum(2, group)), [1, 0, 1]);
            assert_eq!([0, 1, 2].map(|lane| table.sum(lane, 2)), [2, 0, 1]);
            table.clear();
            assert_eq!([0, 1, 2].map(|group| table.sum(2, group)), [0, 0, 0]);
        }
    }

    #[test]
    fn rows_may_be_of_no_group() {
        let mut table = LaneTable::new(2);
        table.grow(2);
        let addends = [(0, Addend::One), (1, Addend::Integers(Integers::I8(&[1, -2, 3])))];
        table.add(Level::best(), Groups::Rows(&[1, NO_GROUP, 1]), 3, &addends).unwrap();
        assert_eq!([0, 1].map(|lane| table.sum(lane, 1)), [2, 4]);
    }

    #[test]
    fn unknown_groups_and_unequal_lengths_are_refused() {
        let (mut table, level) = (LaneTable::new(1), Level::best());
        table.grow(2);
        let one = [(0, Addend::One)];
        let run = |code, rows| Run { code, rows };
        assert_eq!(table.add(level, Groups::Rows(&[2]), 1, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Rows(&[1]), 2, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Runs(&[run(2, 1)]), 1, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Runs(&[run(0, 1), run(1, 0)]), 2, &one), Err(UnknownGroup));
        assert_eq!(table.add(level, Groups::Rows(&[1]), 1, &[(1, Addend::One)]), Err(UnknownGroup));
        let short = [(0, Addend::Integers(Integers::I8(&[])))];
        assert_eq!(table.add(level, Groups::Rows(&[1]), 1, &short), Err(UnknownGroup));
    }

    /// The cache lines have room for more groups than there are.
    #[test]
    fn groups_after_the_last_are_rejected() {
        let (values, floats, limbs) = ([1i8; 40], [1.0; 40], Limbs::of(-60).unwrap());
        for (lanes, groups) in (1..=MOST_LANES).flat_map(|lanes| [9, 63, 64, 65, 301].map(|groups| (lanes, groups))) {
            for level in Level::available() {
                for unknown in [groups, groups + 1, 1 << 30, u32::MAX] {
                    for addend in [Addend::One, Addend::Integers(Integers::I8(&values)), Addend::High(&floats, limbs)] {
                        let mut table = LaneTable::new(lanes);
                        table.grow(groups as usize);
                        let mut refuses = |of_rows: Groups<'_>| {
                            let added = table.add(level, of_rows, values.len(), &[(lanes - 1, addend)]);
                            assert_eq!(added, Err(UnknownGroup), "{lanes} {groups} {unknown} {addend:?} {of_rows:?}");
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
                            behind.clone().all(|group| table.sum(lanes - 1, group) == 0),
                            "{lanes} {groups} {unknown}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn more_addends_than_lanes_are_refused() {
        let mut table = LaneTable::new(1);
        table.grow(100);
        let addends = [(0, Addend::One); MOST_LANES + 1];
        assert_eq!(table.add(Level::best(), Groups::Rows(&[1]), 1, &addends), Err(UnknownGroup));
    }

    #[test]
    fn counted_integers_have_room() {
        let (rows, most) = (1i64 << 22, 1i64 << 38);
        assert_eq!((Counted::room(rows as usize, 0), Counted::room(0, most as u64)), (ROOM, ROOM));
        // The maximum that there is room for, and the resulting words.
        for (count, sum) in [(0, 0), (1, -1), (rows, -most), (rows, most), (rows, 0), (5, most)] {
            let lane = count.checked_mul(1 << 40).and_then(|count| count.checked_add(sum)).unwrap();
            assert_eq!(Counted::of(lane), Counted { count: count as u64, sum });
        }
    }

    #[test]
    fn reservations_are_limited() {
        let mut table = LaneTable::new(1);
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
            let mut table = LaneTable::new(2);
            table.grow(groups);
            let values = [i64::MAX >> 4, -7, 7];
            let addends = [(0, Addend::Integers(Integers::I64(&values))), (1, Addend::Counted(Integers::I64(&[5; 3])))];
            table.add(Level::best(), Groups::Rows(&[1, 2, 2]), 3, &addends).unwrap();
            for lane in [0, 1] {
                assert!(table.reserve(lane, ROOM / 2) && table.reserve(lane, ROOM / 2) && !table.reserve(lane, 1));
            }
            assert!(table.tighten(0, i64::unsigned_abs) && table.tighten(1, |sum| Counted::of(sum).size()));
            assert_eq!(table.bounds[0], i64::MAX as u64 >> 4);
            assert_eq!(table.bounds[1], Counted::room(2, 10));
            assert!(table.reserve(0, ROOM / 2) && table.reserve(1, ROOM / 2));
            // Large sums cannot be tightened.
            let large = [(0, Addend::Integers(Integers::I64(&[i64::MIN / 2])))];
            table.add(Level::best(), Groups::Rows(&[0]), 1, &large).unwrap();
            assert!(!table.tighten(0, i64::unsigned_abs));
        }
    }

    #[test]
    fn tables_add_up() {
        for groups in [3, 300] {
            let table = |values: &[i64]| {
                let mut table = LaneTable::new(2);
                table.grow(groups);
                let addends = [(0, Addend::One), (1, Addend::Integers(Integers::I64(values)))];
                assert!(table.reserve(0, 3) && table.reserve(1, ROOM / 4));
                table.add(Level::best(), Groups::Rows(&[0, 2, 2]), 3, &addends).unwrap();
                table
            };
            let (mut one, other) = (table(&[1, 2, 3]), table(&[-1, 20, 30]));
            assert!(one.has_room_for(&other, 0) && one.has_room_for(&other, 1));
            one.absorb(&other);
            assert_eq!([0, 1, 2].map(|group| (one.sum(0, group), one.sum(1, group))), [(2, 0), (0, 0), (4, 55)]);
            assert_eq!(one.bounds[..2], [6, ROOM / 2]);
            assert!(one.reserve(1, ROOM / 2) && !one.has_room_for(&other, 1));
        }
    }
}
