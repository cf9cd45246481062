//! Rewrites texts to one row per line, byte for byte, so that every row keeps its position.

use std::borrow::Cow;

/// A way to rewrite rows to lines.
pub(crate) trait Reline: Send + Sync {
    /// Starts at the given byte of the text, where a row may start: at its beginning, or after the end of a row.
    fn begin_at(&self, byte: u64) -> Box<dyn Relines>;
}

/// Rewrites rows to lines, from a position in a text on.
pub(crate) trait Relines: Send {
    /// Processes the next bytes of the text, from index `from` on: a line feed ends each row, and there is none within
    /// a row. A space before them may also become a line feed, if no row has ended after it.
    ///
    /// # Errors
    /// If the rest of the text cannot be read. The bytes before it are rewritten correctly.
    fn reline(&mut self, text: &mut [u8], from: usize, notes: &mut Notes) -> Result<(), RelineFault>;

    /// Called at the end of the text.
    ///
    /// # Errors
    /// If the text must not end here.
    fn end(&self) -> Result<(), RelineFault>;
}

/// What is lost when rows become lines: offsets in the whole text, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The original line feeds.
    pub(crate) newlines: Vec<u64>,
    /// The starts of rows directly after other rows, without a byte between them that could become a line feed.
    pub(crate) adjoining: Vec<u64>,
}

impl Notes {
    /// The first such row that starts at `byte` or later.
    pub(super) fn adjoining_from(&self, byte: u64) -> Option<u64> {
        self.adjoining.get(self.adjoining.partition_point(|&offset| offset < byte)).copied()
    }

    /// Takes the line feeds before a byte, and drops all other notes up to it.
    pub(super) fn take_before(&mut self, byte: u64) -> Newlines {
        self.adjoining.drain(..self.adjoining.partition_point(|&offset| offset <= byte));
        Newlines::new(self.newlines.drain(..self.newlines.partition_point(|&offset| offset < byte)).collect())
    }
}

/// Why the rest of a text cannot be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelineFault {
    /// The offset from which it cannot be read.
    pub(crate) byte: u64,
    pub(crate) reason: &'static str,
}

/// The line ends of a section of a text, as offsets in the text.
#[derive(Debug, Default)]
pub(crate) struct Newlines(Vec<u64>);

impl Newlines {
    /// From offsets in ascending order.
    pub(crate) fn new(offsets: Vec<u64>) -> Self {
        Self(offsets)
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// The number of lines that end before a byte.
    pub(crate) fn before(&self, byte: u64) -> u64 {
        self.0.partition_point(|&offset| offset < byte) as u64
    }

    /// A row that begins at the given byte, with its original line feeds.
    pub(crate) fn restore<'r>(&self, row: &'r [u8], byte: u64) -> Cow<'r, [u8]> {
        let within = &self.0[self.before(byte) as usize..self.before(byte + row.len() as u64) as usize];
        if within.is_empty() {
            return Cow::Borrowed(row);
        }
        let mut restored = row.to_vec();
        for offset in within {
            restored[(offset - byte) as usize] = b'\n';
        }
        Cow::Owned(restored)
    }
}
