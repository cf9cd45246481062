//! Texts whose rows are no lines, made such that they are: byte by byte, so that every row keeps its place.

use std::borrow::Cow;

/// How rows become lines.
pub(crate) trait Reline: Send + Sync {
    /// Begins where a row may start, at that byte of the text: at its start, or after the end of another row.
    fn begin_at(&self, byte: u64) -> Box<dyn Relines>;
}

/// Makes rows of lines, from somewhere in a text on.
pub(crate) trait Relines: Send {
    /// Goes over the next bytes of the text, which are those from `from` on: a line feed ends each row, and there is none within
    /// one. A space before them may become a line feed, too, if no row ended behind it.
    ///
    /// # Errors
    /// Why the rest of the text cannot be read. What comes before is as it should be.
    fn reline(&mut self, text: &mut [u8], from: usize, notes: &mut Notes) -> Result<(), RelineFault>;

    /// Called at the end of the text.
    ///
    /// # Errors
    /// Why this cannot be its end.
    fn end(&self) -> Result<(), RelineFault>;
}

/// What is lost of a text when its rows become lines: places in the whole text, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The line feeds that were there.
    pub(crate) newlines: Vec<u64>,
    /// Where rows begin right behind others: no byte between them could become a line feed.
    pub(crate) adjoining: Vec<u64>,
}

impl Notes {
    /// The first row from a byte on that begins right behind another.
    pub(super) fn adjoining_from(&self, byte: u64) -> Option<u64> {
        self.adjoining.get(self.adjoining.partition_point(|&place| place < byte)).copied()
    }

    /// Takes the line feeds before a byte, and forgets what else there is up to it.
    pub(super) fn take_before(&mut self, byte: u64) -> Newlines {
        self.adjoining.drain(..self.adjoining.partition_point(|&place| place <= byte));
        Newlines::new(self.newlines.drain(..self.newlines.partition_point(|&place| place < byte)).collect())
    }
}

/// Why the rest of a text cannot be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelineFault {
    /// From which byte on.
    pub(crate) byte: u64,
    pub(crate) reason: &'static str,
}

/// Where the lines of a part of a text end, as bytes of the text.
#[derive(Debug, Default)]
pub(crate) struct Newlines(Vec<u64>);

impl Newlines {
    /// Those places, in ascending order.
    pub(crate) fn new(places: Vec<u64>) -> Self {
        Self(places)
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// How many lines end before a byte.
    pub(crate) fn before(&self, byte: u64) -> u64 {
        self.0.partition_point(|&place| place < byte) as u64
    }

    /// A row that begins at a byte, with the line feeds that it had.
    pub(crate) fn restore<'r>(&self, row: &'r [u8], byte: u64) -> Cow<'r, [u8]> {
        let within = &self.0[self.before(byte) as usize..self.before(byte + row.len() as u64) as usize];
        if within.is_empty() {
            return Cow::Borrowed(row);
        }
        let mut restored = row.to_vec();
        for place in within {
            restored[(place - byte) as usize] = b'\n';
        }
        Cow::Owned(restored)
    }
}
