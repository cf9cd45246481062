//! Generates test tables of any size, as fast as they can be written. The same seed gives the same bytes, whatever the
//! number of threads.

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

    /// Aliases of the name.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Its columns and the distributions of their values, for help texts.
    fn about(&self) -> &'static str;

    /// The options it accepts besides the number of rows and the seed.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Creates the table.
    ///
    /// # Errors
    /// [`Error::Usage`] if the options are out of range.
    fn table(&self, shape: &Shape) -> Result<Box<dyn Blocks>>;
}

/// All presets, in the order of the help text.
pub(crate) static PRESETS: &[&dyn Preset] =
    &[&measurements::REAL, &measurements::INVENTED, &uservisits::UserVisits, &rankings::Rankings, &g1::G1];

/// The options of a generated table.
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
    /// Rejects options that do not apply to the preset.
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

/// The number of rows per block: the unit of parallel work, with its own random stream.
pub(crate) const BLOCK_ROWS: u64 = 1 << 14;

/// A table whose blocks are generated independently of one another.
pub(crate) trait Blocks: Sync {
    /// The text before the first row.
    fn header(&self) -> &'static str;

    /// Replaces the content of `block` with the first `rows` rows of block `number`.
    fn fill(&self, number: u64, rows: u64, block: &mut Block);
}

/// Rows as text: the first `length` bytes of the buffer, which may be larger.
#[derive(Default)]
pub(crate) struct Block {
    buffer: Vec<u8>,
    length: usize,
}

impl Block {
    /// Replaces the text with what `write` appends.
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

/// Writes a table with the given number of threads, and returns its size in bytes.
///
/// # Errors
/// [`Error::Usage`] if the options are invalid; I/O errors of the output.
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
    let ordered = Ordered::new(&output, header.len() as u64, MAX_WAITING_BYTES, Unchanged);
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

/// The maximum size of blocks that wait for an earlier one, in bytes.
const MAX_WAITING_BYTES: usize = 4 << 20;

/// Writes blocks unchanged.
struct Unchanged;

impl Accept for Unchanged {
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

/// Generates a whole table and splits it into fields, for tests.
#[cfg(test)]
fn generated(preset: &dyn Preset, shape: &Shape) -> Vec<Vec<String>> {
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
