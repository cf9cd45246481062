//! Whole rows of text from any source.

use super::chunk_pieces::ChunkPieces;
use super::file_pieces::FilePieces;
use super::reline::Newlines;
use super::stream::{Stream, StreamPieces};
use crate::chunks::ReadCost;
use brc_core::{Result, Split};
use brc_kernels::text::Window;

/// Whole rows, each with its line feed.
pub(crate) struct Piece<'a> {
    /// The rows.
    pub(crate) window: Window<'a>,
    /// Whether this is the cut-off start of a single row that exceeds the maximum line length.
    pub(crate) cut_off: bool,
    /// The offset of the first byte in the file.
    pub(crate) byte: u64,
    /// The line ends of the file, if they differ from the line ends of the window.
    pub(crate) newlines: Option<&'a Newlines>,
}

/// The bytes that complete the last line of a text to a whole row. A carriage return at its end is part of the row, so
/// a second one is added to be removed.
pub(super) fn missing_end(text: &[u8]) -> &'static [u8] {
    match text.last() {
        None | Some(b'\n') => b"",
        Some(b'\r') => b"\r\n",
        Some(_) => b"\n",
    }
}

/// Yields the rows of a worker's splits, one piece at a time.
pub(super) enum Pieces<'t> {
    File(FilePieces<'t>),
    Chunks(ChunkPieces<'t>),
    Stream(&'t Stream, StreamPieces),
}

impl Pieces<'_> {
    /// Starts a split; returns `false` if a stream ended before it.
    pub(super) fn start(&mut self, split: &Split) -> Result<bool> {
        match self {
            Self::File(pieces) => pieces.start(split),
            Self::Chunks(pieces) => pieces.start(split),
            Self::Stream(stream, pieces) => return stream.read(split, pieces),
        }
        Ok(true)
    }

    /// The next rows of the split.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'_>>> {
        match self {
            Self::File(pieces) => pieces.next(),
            Self::Chunks(pieces) => pieces.next(),
            Self::Stream(_, pieces) => pieces.next(),
        }
    }

    /// The number of the file's lines that end in the split, if they differ from the lines of the pieces.
    pub(super) fn lines(&self) -> Option<u64> {
        match self {
            Self::File(_) | Self::Chunks(_) => None,
            Self::Stream(_, pieces) => pieces.lines(),
        }
    }

    /// The cost of reading the split.
    pub(super) fn cost(&self) -> ReadCost {
        match self {
            Self::File(pieces) => pieces.cost,
            Self::Chunks(pieces) => pieces.cost,
            Self::Stream(_, pieces) => pieces.cost,
        }
    }
}
