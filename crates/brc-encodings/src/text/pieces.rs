//! Whole rows of text, wherever they come from.

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
    /// Whether this is the start of one row that is longer than a line may be, cut off.
    pub(crate) cut_off: bool,
    /// The place of the first byte in the file.
    pub(crate) byte: u64,
    /// Where the lines of the file end, if they are not the lines of the window.
    pub(crate) newlines: Option<&'a Newlines>,
}

/// What the last line of a text lacks to be a whole row. A carriage return there is part of the row, so another one is
/// added to be taken off.
pub(super) fn missing_end(text: &[u8]) -> &'static [u8] {
    match text.last() {
        None | Some(b'\n') => b"",
        Some(b'\r') => b"\r\n",
        Some(_) => b"\n",
    }
}

/// Gives one worker the rows of its splits, piece by piece.
pub(super) enum Pieces<'t> {
    File(FilePieces<'t>),
    Chunks(ChunkPieces<'t>),
    Stream(&'t Stream, StreamPieces),
}

impl Pieces<'_> {
    /// Goes to a split; returns whether a stream went as far.
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

    /// How many lines of the file end in the split, if they are not those of the pieces.
    pub(super) fn lines(&self) -> Option<u64> {
        match self {
            Self::File(_) | Self::Chunks(_) => None,
            Self::Stream(_, pieces) => pieces.lines(),
        }
    }

    /// What reading the split has cost.
    pub(super) fn cost(&self) -> ReadCost {
        match self {
            Self::File(pieces) => pieces.cost,
            Self::Chunks(pieces) => pieces.cost,
            Self::Stream(_, pieces) => pieces.cost,
        }
    }
}
