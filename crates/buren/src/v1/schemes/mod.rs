//! How the integers of one column chunk are stored: one file a scheme, and one list.
//!
//! A chunk's integers are a decimal column's values or a string column's codes. From what is known of them each scheme
//! tells how large they would be, and the smallest wins. Adding a scheme is a file and a line in [`SCHEMES`].

mod constant;
mod packed;
mod plain;
mod run_packed;

use crate::integer_buffer::{IntegerRoom, IntegerSlice};
use brc_core::Run;

/// What is known of a chunk's integers before they are encoded, and again before they are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Smallest.
    pub(crate) min: i64,
    /// Largest.
    pub(crate) max: i64,
    /// The largest difference between two integers of the same run, where runs have statistics.
    pub(crate) widest_run: Option<u64>,
}

/// The runs that some consecutive rows lie in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames<'a> {
    /// The chunk's smallest integer.
    pub(crate) chunk: i64,
    /// The runs; their rows add up to the rows.
    pub(crate) runs: &'a [Run],
    /// The smallest integer of each run (of all its rows); empty where runs have no statistics.
    pub(crate) bases: &'a [i64],
}

/// A way to store integers.
pub(crate) trait Scheme: Sync {
    /// What stands for it in files, for ever.
    fn id(&self) -> u16;

    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// The bits it needs for each of such integers; `None` if it cannot store them.
    fn width(&self, facts: &Facts) -> Option<u8>;

    /// Whether a file may say that such integers are stored in that width. Of their runs the reader only knows that
    /// they are no wider than the chunk.
    fn accepts(&self, width: u8, facts: &Facts) -> bool {
        self.width(facts) == Some(width)
    }

    /// The size in bytes of a block of `rows` integers of that width; `None` if there is no block at all.
    fn block_bytes(&self, width: u8, rows: u32) -> Option<u64>;

    /// Appends a block of these integers.
    fn encode(&self, width: u8, values: IntegerSlice<'_>, frames: Frames<'_>, out: &mut Vec<u8>);

    /// Reads the integers of a block from row `first` on, as many as there is room for. The block has the size that
    /// [`Scheme::block_bytes`] tells, and the room is wide enough for the chunk's smallest and largest integer.
    fn decode(&self, width: u8, block: &[u8], first: usize, frames: Frames<'_>, out: IntegerRoom<'_>);
}

/// All schemes. Of two that need the same room the first is taken.
pub(crate) static SCHEMES: &[&dyn Scheme] =
    &[&constant::Constant, &plain::Plain, &packed::Packed, &run_packed::RunPacked];

/// The scheme of that id.
pub(crate) fn by_id(id: u16) -> Option<&'static dyn Scheme> {
    SCHEMES.iter().copied().find(|scheme| scheme.id() == id)
}

/// The scheme, and its width, that stores a chunk of `rows` integers in the fewest bytes.
pub(crate) fn smallest(facts: &Facts, rows: u32, rows_per_block: u32) -> (&'static dyn Scheme, u8) {
    let size = |scheme: &dyn Scheme, width: u8| {
        let bytes = |rows| scheme.block_bytes(width, rows).unwrap_or(0);
        u64::from(rows / rows_per_block) * bytes(rows_per_block) + bytes(rows % rows_per_block)
    };
    SCHEMES
        .iter()
        .filter_map(|&scheme| scheme.width(facts).map(|width| (scheme, width)))
        .min_by_key(|&(scheme, width)| size(scheme, width))
        .unwrap_or((&plain::Plain, 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer_buffer::{IntegerBuffer, Width};
    use proptest::prelude::*;

    #[test]
    fn ids_and_names_are_pinned() {
        let list: Vec<_> = SCHEMES.iter().map(|scheme| (scheme.id(), scheme.name())).collect();
        assert_eq!(list, [(0, "constant"), (1, "plain"), (2, "packed"), (3, "run-packed")]);
    }

    #[test]
    fn the_smallest_wins() {
        let name = |min, max, widest_run, rows| {
            let (scheme, width) = smallest(&Facts { min, max, widest_run }, rows, 65_536);
            (scheme.name(), width)
        };
        assert_eq!(name(5, 5, None, 1_000_000), ("constant", 0));
        assert_eq!(name(-999, 999, Some(700), 1_000_000), ("run-packed", 10));
        assert_eq!(name(-999, 999, Some(1998), 1_000_000), ("packed", 11));
        assert_eq!(name(-999, 999, None, 20), ("plain", 16));
        assert_eq!(name(-100, 27, None, 20), ("plain", 8));
        assert_eq!(name(i64::MIN, i64::MAX, None, 1_000_000), ("plain", 64));
    }

    fn round_trip(values: &[i64], runs: &[Run], first: usize, rows: usize) {
        let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        let mut rest = values;
        let (mut bases, mut widest) = (Vec::new(), 0);
        for run in runs {
            let (of_run, others) = rest.split_at(run.rows as usize);
            let base = *of_run.iter().min().unwrap();
            widest = widest.max(of_run.iter().max().unwrap().wrapping_sub(base) as u64);
            bases.push(base);
            rest = others;
        }
        let facts = Facts { min, max, widest_run: Some(widest) };
        for scheme in SCHEMES {
            let Some(width) = scheme.width(&facts) else { continue };
            let mut integers = IntegerBuffer::default();
            integers.extend_slice(IntegerSlice::I64(values));
            let mut block = Vec::new();
            let frames = Frames { chunk: min, runs, bases: &bases };
            if let Some(bytes) = scheme.block_bytes(width, values.len() as u32) {
                scheme.encode(width, integers.slice(), frames, &mut block);
                assert_eq!(block.len() as u64, bytes, "{}", scheme.name());
            }
            let mut part_runs = Vec::new();
            let mut part_bases = Vec::new();
            let mut start = 0;
            for (run, base) in runs.iter().zip(&bases) {
                let end = start + run.rows as usize;
                let common = end.min(first + rows).saturating_sub(start.max(first));
                if common > 0 {
                    part_runs.push(Run { code: 0, rows: common as u32 });
                    part_bases.push(*base);
                }
                start = end;
            }
            let frames = Frames { chunk: min, runs: &part_runs, bases: &part_bases };
            let mut back = IntegerBuffer::default();
            let room = back.room_of(Width::holding(min, max), rows);
            scheme.decode(width, &block, first, frames, room);
            let back: Vec<_> = (0..rows).map(|row| back.slice().get(row)).collect();
            assert_eq!(back, values[first..first + rows], "{}", scheme.name());
        }
    }

    proptest! {
        #[test]
        fn every_scheme_round_trips(
            runs in prop::collection::vec((1u32..300, any::<i64>()), 1..20),
            seed: u64,
            shifts in (0u32..64, 0u32..64),
            from: prop::sample::Index,
            to: prop::sample::Index,
        ) {
            let mut state = seed | 1;
            let mut values = Vec::new();
            for &(rows, base) in &runs {
                for _ in 0..rows {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let value = (base >> shifts.0).wrapping_add((state as i64) >> shifts.1);
                    values.push(value);
                }
            }
            let runs: Vec<_> = runs.iter().map(|&(rows, _)| Run { code: 0, rows }).collect();
            let first = from.index(values.len());
            let rows = 1 + to.index(values.len() - first);
            round_trip(&values, &runs, first, rows);
        }
    }
}
