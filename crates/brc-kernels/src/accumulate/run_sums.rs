//! Adds evaluated inputs to the accumulator rows of their groups, run by run.

use super::UnknownGroup;
use super::table::{Groups, MAX_SLOTS, Words};
use crate::cpu::{Kernel, Level, run_at};
use brc_core::Run;

/// A cursor over runs.
pub(super) struct Runs<'a> {
    runs: &'a [Run],
    /// The number of rows of the first run that have been consumed.
    done: usize,
}

impl<'a> Runs<'a> {
    pub(super) fn new(groups: Groups<'a>) -> Self {
        Self { runs: if let Groups::Runs(runs) = groups { runs } else { &[] }, done: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.runs.len()
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

    /// Adds the next `count` rows to their groups, whose sums are `apart` words from each other. Converts the slots to
    /// prefix sums first, so that the contribution of a run is the difference of two of them; the slots hold the prefix
    /// sums afterwards.
    pub(super) fn add_short(
        &mut self,
        count: usize,
        slots: &mut [Words],
        words: &mut [i64],
        apart: usize,
    ) -> Result<(), UnknownGroup> {
        slots.iter_mut().for_each(|slot| add_up(&mut slot[..count]));
        let (mut first, mut before) = (0, [0; MAX_SLOTS]);
        while first < count {
            let (group, end) = self.next_part(first, count).ok_or(UnknownGroup)?;
            let sums = sums_of(words, group, apart, slots.len()).ok_or(UnknownGroup)?;
            for ((sum, slot), before) in sums.iter_mut().zip(slots.iter()).zip(&mut before) {
                let up_to = slot[end - 1];
                *sum = sum.wrapping_add(up_to.wrapping_sub(*before));
                *before = up_to;
            }
            first = end;
        }
        Ok(())
    }

    /// The same, adding the rows of each run one by one.
    pub(super) fn add_long(
        &mut self,
        level: Level,
        count: usize,
        slots: &[Words],
        words: &mut [i64],
        apart: usize,
    ) -> Result<(), UnknownGroup> {
        let mut first = 0;
        while first < count {
            let (group, end) = self.next_part(first, count).ok_or(UnknownGroup)?;
            let sums = sums_of(words, group, apart, slots.len()).ok_or(UnknownGroup)?;
            for (sum, operands) in sums.iter_mut().zip(slots) {
                *sum = sum.wrapping_add(total(level, &operands[first..end]));
            }
            first = end;
        }
        Ok(())
    }
}

/// The sums of a group; `None` if there is no such group.
fn sums_of(words: &mut [i64], group: usize, apart: usize, slots: usize) -> Option<&mut [i64]> {
    words.get_mut(group.checked_mul(apart)?..)?.get_mut(..slots)
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
