//! Makes test tables of any size: the same bytes for the same seed, whatever the threads, as fast as they can be written.

mod names;
mod random;
mod rows;

use brc_core::{Error, Progress, Result, run_workers};
use brc_encodings::Output;
use brc_encodings::ordered::{Accept, Ordered};
use rows::{BLOCK_ROWS, Block, Rows};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A kind of test table.
pub(crate) struct Preset {
    /// Its name, as in `--preset`.
    pub(crate) name: &'static str,
    /// One line on what it is, for help texts.
    pub(crate) about: &'static str,
    /// How many stations it has if nothing else is asked for.
    pub(crate) stations: usize,
    /// How many it can have.
    most_stations: usize,
    /// The standard deviation of its temperatures, in tenths of a degree.
    deviation: u16,
    make_stations: fn(count: usize, seed: u64) -> Vec<names::Station>,
}

/// All presets, in the order in which help texts show them.
pub(crate) static PRESETS: &[Preset] = &[
    Preset {
        name: "1brc",
        about: "413 real stations, temperatures with a standard deviation of 10 degrees",
        stations: 413,
        most_stations: 413,
        deviation: 100,
        make_stations: names::real,
    },
    Preset {
        name: "1brc-10k",
        about: "10,000 invented stations with names of 1 to 100 bytes in many scripts, standard deviation 7",
        stations: 10_000,
        most_stations: 1_000_000,
        deviation: 70,
        make_stations: names::invented,
    },
];

/// What table to make.
pub(crate) struct Order {
    pub(crate) preset: &'static Preset,
    pub(crate) rows: u64,
    pub(crate) stations: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// Writes the table and returns its size in bytes.
///
/// # Errors
/// [`Error::Usage`] if the preset has no table of so many stations; the system's if the target cannot be written.
pub(crate) fn generate(order: &Order, output: Output, progress: &Progress) -> Result<u64> {
    let Preset { name, most_stations, .. } = order.preset;
    if order.stations == 0 || order.stations > *most_stations {
        return Err(Error::Usage(format!("the preset {name} has 1 to {most_stations} stations")));
    }
    let stations = (order.preset.make_stations)(order.stations, order.seed);
    let rows = Rows::new(order.seed, &stations, order.preset.deviation);
    let ordered = Ordered::new(&output, 0, BYTES_ASIDE, AsTheyAre);
    let next = AtomicU64::new(0);
    let worker = || -> Result<()> {
        let mut spare = None;
        loop {
            let number = next.fetch_add(1, Relaxed);
            let before = number.saturating_mul(BLOCK_ROWS);
            if before >= order.rows {
                return Ok(());
            }
            let mut block: Block = spare.take().unwrap_or_default();
            let count = BLOCK_ROWS.min(order.rows - before);
            rows.fill(number, count, &mut block);
            progress.rows.fetch_add(count, Relaxed);
            progress.bytes.fetch_add(block.as_ref().len() as u64, Relaxed);
            spare = ordered.deliver(number, block).inspect_err(|_| next.store(u64::MAX / 2, Relaxed))?;
        }
    };
    run_workers(order.threads, worker).into_iter().collect::<Result<()>>()?;
    let (_, bytes) = ordered.finish();
    output.commit()?;
    Ok(bytes)
}

/// How many bytes may wait for an earlier block.
const BYTES_ASIDE: usize = 4 << 20;

/// Blocks are written as they are.
struct AsTheyAre;

impl Accept for AsTheyAre {
    type Piece = Block;
    type Bytes = Block;
    const SPARES: usize = 16;

    fn size(block: &Block) -> usize {
        block.as_ref().len()
    }

    fn accept(&mut self, block: Block) -> Result<Block> {
        Ok(block)
    }
}
