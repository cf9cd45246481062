//! Restores the original order of rows that are clustered in runs: given the run of each row, where is the row stored?
//!
//! Row by row, this takes an access to the cursor of its run and a test of its bit in the mask. If there are few runs,
//! 64 rows are processed at once: for each run, a mask of its rows is computed; the selection bits of the run's next
//! rows, deposited at the ones of that mask, are the selection bits in row order. Only selected rows are visited then.

#[cfg(target_arch = "x86_64")]
mod few;

use crate::cpu::Level;
use brc_core::Integers;

/// The maximum number of rows per call.
pub const MAX_ROWS: usize = 4096;

/// The positions of the next row of a run, and of the end of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The position of the next row.
    pub next: u32,
    /// The position after the last row.
    pub end: u32,
}

/// Restored rows, in their original order. Reusing an object reuses its memory.
pub struct Found {
    rows: usize,
    runs: Box<[u32; MAX_ROWS + 64]>,
    places: Box<[u32; MAX_ROWS + 64]>,
}

impl Default for Found {
    fn default() -> Self {
        Self { rows: 0, runs: Box::new([0; MAX_ROWS + 64]), places: Box::new([0; MAX_ROWS + 64]) }
    }
}

impl Found {
    /// The run of each row.
    #[must_use]
    pub fn runs(&self) -> &[u32] {
        &self.runs[..self.rows]
    }

    /// The position of each row.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        &self.places[..self.rows]
    }

    /// Looks up the positions of the next rows, given their runs, and advances the cursors. With `met`, only rows whose
    /// position has its bit set are returned. Returns whether all runs exist and have enough rows; if not, the contents
    /// are unspecified.
    ///
    /// # Panics
    /// If there are more than [`MAX_ROWS`] rows. It may panic if a position is out of the bounds of `met`.
    #[must_use]
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
    pub fn find(&mut self, level: Level, runs: Integers<'_>, cursors: &mut [Cursor], met: Option<&[u64]>) -> bool {
        assert!(runs.len() <= MAX_ROWS, "rows in pieces");
        #[cfg(target_arch = "x86_64")]
        if let (Some(met), Integers::I16(runs)) = (met, runs)
            && level.min(Level::best()) >= Level::Avx2
            && cursors.len() <= few::MAX_RUNS
        {
            // SAFETY: the level is not above the best one that was detected.
            return unsafe { self.find_of_few(level.min(Level::best()), runs, cursors, met) };
        }
        match met {
            Some(met) => {
                let is_met = |place: u32| met[place as usize / 64] >> (place % 64) & 1 == 1;
                brc_core::for_integers!(runs, runs => self.find_each(runs, cursors, is_met))
            }
            None => brc_core::for_integers!(runs, runs => self.find_each(runs, cursors, |_| true)),
        }
    }

    fn find_each(
        &mut self,
        runs: &[impl Copy + TryInto<usize>],
        cursors: &mut [Cursor],
        is_met: impl Fn(u32) -> bool,
    ) -> bool {
        let mut rows = 0;
        for &run in runs {
            let Ok(run) = run.try_into() else { return false };
            let Some(cursor) = cursors.get_mut(run) else { return false };
            let place = cursor.next;
            if place >= cursor.end {
                return false;
            }
            cursor.next = place + 1;
            self.runs[rows % MAX_ROWS] = run as u32;
            self.places[rows % MAX_ROWS] = place;
            rows += usize::from(is_met(place));
        }
        self.rows = rows;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::words;
    use proptest::prelude::*;

    /// Cursors of contiguous runs.
    fn cursors(lengths: &[u32]) -> Vec<Cursor> {
        let mut end = 0;
        let cursor = |length: &u32| {
            end += length;
            Cursor { next: end - length, end }
        };
        lengths.iter().map(cursor).collect()
    }

    fn plain(order: &[i16], cursors: &mut [Cursor], met: Option<&[u64]>) -> Option<Vec<(u32, u32)>> {
        let mut found = Vec::new();
        for &run in order {
            let cursor = cursors.get_mut(usize::try_from(run).ok()?).filter(|cursor| cursor.next < cursor.end)?;
            if met.is_none_or(|met| met[cursor.next as usize / 64] >> (cursor.next % 64) & 1 == 1) {
                found.push((run as u32, cursor.next));
            }
            cursor.next += 1;
        }
        Some(found)
    }

    proptest! {
        #[test]
        fn all_levels_find_the_rows_of_runs(
            pieces in prop::collection::vec(prop::collection::vec(0usize..1000, 0..300), 1..4),
            runs in 1usize..40,
            seed: u64,
            is_filtered: bool,
            (missing, strange) in (0u32..8, prop::option::weighted(0.1, any::<i16>())),
        ) {
            let mut pieces: Vec<Vec<i16>> =
                pieces.iter().map(|rows| rows.iter().map(|row| (row % runs) as i16).collect()).collect();
            let mut lengths = vec![0; runs];
            pieces.iter().flatten().for_each(|&run| lengths[run as usize] += 1);
            // Occasionally a run has too few rows, or does not exist.
            if missing == 0 {
                lengths[seed as usize % runs] /= 2;
            }
            if let (Some(strange), Some(row)) = (strange, pieces[0].first_mut()) {
                *row = strange;
            }
            let all: u32 = lengths.iter().sum();
            let met: Vec<u64> = (0..words(all as usize) as u64)
                .map(|word| seed.rotate_left(word as u32 * 7).wrapping_mul(0x9E37_79B9_7F4A_7C15))
                .collect();
            let met = is_filtered.then_some(&met[..]);
            for level in Level::available() {
                let (mut own, mut expected, mut found) = (cursors(&lengths), cursors(&lengths), Found::default());
                for piece in &pieces {
                    let rows = plain(piece, &mut expected, met);
                    prop_assert_eq!(found.find(level, Integers::I16(piece), &mut own, met), rows.is_some());
                    let Some(rows) = rows else { break };
                    let pairs: Vec<_> = found.runs().iter().copied().zip(found.places().iter().copied()).collect();
                    prop_assert_eq!(pairs, rows);
                    prop_assert_eq!(&own, &expected);
                    let wide: Vec<i64> = piece.iter().map(|&run| run.into()).collect();
                    let mut again = expected.clone();
                    prop_assert!(wide.is_empty() || !found.find(level, Integers::I64(&[i64::MAX]), &mut again, met));
                }
            }
        }
    }
}
