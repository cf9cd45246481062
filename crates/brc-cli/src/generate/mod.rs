//! Makes test tables of any size: the same bytes for the same seed, whatever the threads, as fast as they can be written.

mod g1;
mod measurements;
mod names;
mod random;
mod rankings;
mod rows;
mod text;
mod uservisits;
mod web;

use brc_core::{Error, Progress, Result, run_workers};
use brc_encodings::Output;
use brc_encodings::ordered::{Accept, Ordered};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A kind of test table.
pub(crate) trait Preset: Sync {
    /// Its name, as in `--preset`.
    fn name(&self) -> &'static str;

    /// Other names for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What its columns are and how their values are distributed, for help texts.
    fn about(&self) -> &'static str;

    /// The options that it takes besides the number of rows and the seed.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// The table.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such table.
    fn table(&self, shape: &Shape) -> Result<Box<dyn Blocks>>;
}

/// All presets, in the order in which help texts show them.
pub(crate) static PRESETS: &[&dyn Preset] =
    &[&measurements::REAL, &measurements::INVENTED, &uservisits::UserVisits, &rankings::Rankings, &g1::G1];

/// What is asked of a table.
#[derive(Default)]
pub(crate) struct Shape {
    pub(crate) rows: u64,
    pub(crate) seed: u64,
    pub(crate) stations: Option<u64>,
    pub(crate) groups: Option<u64>,
    /// The percentage of nulls.
    pub(crate) nulls: Option<u64>,
    pub(crate) sorted: bool,
}

impl Shape {
    /// Sees to it that nothing is asked of a preset that it does not know.
    fn check(&self, preset: &dyn Preset) -> Result<()> {
        let given = [
            ("stations", self.stations.is_some()),
            ("groups", self.groups.is_some()),
            ("nulls", self.nulls.is_some()),
            ("sorted", self.sorted),
        ];
        match given.into_iter().find(|(option, given)| *given && !preset.options().contains(option)) {
            Some((option, _)) => {
                Err(Error::Usage(format!("--{option} does not apply to the preset {}", preset.name())))
            }
            None => Ok(()),
        }
    }
}

/// How many rows make a block: the unit of parallel work, with random numbers of its own.
pub(crate) const BLOCK_ROWS: u64 = 1 << 14;

/// A table whose blocks are made independently of one another.
pub(crate) trait Blocks: Sync {
    /// What stands before the first row.
    fn header(&self) -> &'static str;

    /// Fills a block with the first `rows` rows of the block of that number.
    fn fill(&self, number: u64, rows: u64, block: &mut Block);
}

/// Rows as text: the first `length` bytes of a buffer that is never cleared.
#[derive(Default)]
pub(crate) struct Block {
    buffer: Vec<u8>,
    length: usize,
}

impl Block {
    /// Replaces the text by what `write` appends.
    fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.buffer.clear();
        write(&mut self.buffer);
        self.length = self.buffer.len();
    }
}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// Writes a table with so many threads, and returns its size in bytes.
///
/// # Errors
/// [`Error::Usage`] if the preset has no such table; the system's if the target cannot be written.
pub(crate) fn generate(
    preset: &dyn Preset,
    shape: &Shape,
    threads: usize,
    output: Output,
    progress: &Progress,
) -> Result<u64> {
    shape.check(preset)?;
    let table = preset.table(shape)?;
    let header = table.header().as_bytes();
    output.write_at(header, 0)?;
    let ordered = Ordered::new(&output, header.len() as u64, BYTES_ASIDE, AsTheyAre);
    let next = AtomicU64::new(0);
    let worker = || -> Result<()> {
        let mut spare = None;
        loop {
            let number = next.fetch_add(1, Relaxed);
            let before = number.saturating_mul(BLOCK_ROWS);
            if before >= shape.rows {
                return Ok(());
            }
            let mut block: Block = spare.take().unwrap_or_default();
            let count = BLOCK_ROWS.min(shape.rows - before);
            table.fill(number, count, &mut block);
            progress.rows.fetch_add(count, Relaxed);
            progress.bytes.fetch_add(block.as_ref().len() as u64, Relaxed);
            spare = ordered.deliver(number, block).inspect_err(|_| next.store(u64::MAX / 2, Relaxed))?;
        }
    };
    run_workers(threads, worker).into_iter().collect::<Result<()>>()?;
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

/// The first rows of a table as text, for tests.
#[cfg(test)]
fn made(preset: &dyn Preset, shape: &Shape) -> Vec<Vec<String>> {
    let table = preset.table(shape).unwrap();
    let mut block = Block::default();
    let mut text = table.header().as_bytes().to_vec();
    for number in 0..shape.rows.div_ceil(BLOCK_ROWS) {
        table.fill(number, BLOCK_ROWS.min(shape.rows - number * BLOCK_ROWS), &mut block);
        text.extend_from_slice(block.as_ref());
    }
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}
