//! Reads rows of the form `name;-12.3` as fast as the processor can: the hot loop of queries on text.
//!
//! The fast variants support the form of nearly every row: a name, the delimiter, and a number of one or two digits, a
//! point and one digit. They verify this form exactly, and stop before the first row that differs, so that the caller
//! can decide whether it is valid in another form or bad. They make no assumptions about the input.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
mod lookup;
mod marks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
mod portable;
mod tile;

use crate::accumulate::{FULL, GroupStatistics, ROOM};
use crate::cpu::Level;
use crate::interner::Interner;
use brc_core::{Dictionary, Integers, Statistics};
pub(crate) use isa::TextIsa;

/// The number of bytes that must precede and follow the rows in a [`Window`], so that whole registers can be loaded.
pub const MARGIN: usize = 64;

/// Text within a larger buffer.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    buffer: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Window<'a> {
    /// The text `buffer[start..end]`.
    ///
    /// # Panics
    /// If fewer than [`MARGIN`] bytes precede or follow it.
    #[must_use]
    pub fn new(buffer: &'a [u8], start: usize, end: usize) -> Self {
        assert!(MARGIN <= start && start <= end && end + MARGIN <= buffer.len(), "a window needs its margins");
        Self { buffer, start, end }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        &self.buffer[self.start..self.end]
    }

    /// The text that one call of [`RowReader::read`] may process.
    fn reach(&self) -> &'a [u8] {
        &self.buffer[self.start..self.end.min(self.start + RowReader::LONGEST_ROW)]
    }

    /// Drops the first `bytes` bytes.
    ///
    /// # Panics
    /// If the text is shorter than that.
    pub fn advance(&mut self, bytes: usize) {
        assert!(bytes <= self.end - self.start, "a window ends at its end");
        self.start += bytes;
    }
}

/// The progress of [`RowReader::read`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The number of rows that were read.
    pub rows: usize,
    /// The size of these rows in bytes.
    pub bytes: usize,
}

/// Reads rows and interns their names.
pub struct RowReader {
    level: Level,
    delimiter: u8,
    interner: Interner,
    /// Statistics that [`RowReader::fold`] could not add to the states in the interner's table.
    aside: GroupStatistics,
    /// The number of rows that every state in the table has room for.
    room: usize,
    /// Buffers of rows that are added to `aside`.
    codes: Vec<u32>,
    values: Vec<i16>,
    tile: Box<tile::Tile>,
}

impl RowReader {
    /// The maximum number of rows per call.
    pub const MAX_ROWS: usize = 1024;

    /// The longest row that counts as plain, in bytes.
    pub const LONGEST_ROW: usize = 64 << 10;

    /// Creates a reader for a delimiter that cannot be part of a number or line end.
    ///
    /// # Panics
    /// If the delimiter is a digit, `-`, `.`, a line feed, a carriage return or NUL.
    #[must_use]
    pub fn new(level: Level, delimiter: u8) -> Self {
        assert!(!delimiter.is_ascii_digit() && !b"-.\n\r\0".contains(&delimiter), "not a delimiter");
        let level = level.min(Level::best());
        Self {
            level,
            delimiter,
            interner: Interner::new(level),
            aside: GroupStatistics::new(),
            room: 0,
            codes: Vec::new(),
            values: Vec::new(),
            tile: tile::Tile::new(),
        }
    }

    /// The names so far, by code.
    #[must_use]
    pub fn dictionary(&self) -> &Dictionary {
        self.interner.dictionary()
    }

    /// The code of a name that the caller found, for example in a row that is not plain.
    pub fn intern(&mut self, name: &[u8]) -> u32 {
        self.interner.intern(name)
    }

    /// Appends the codes and the numbers, in tenths, of up to [`RowReader::MAX_ROWS`] rows at the start of the window.
    ///
    /// No rows are read if the first row is not plain, or its end is not in the window.
    pub fn read(&mut self, window: Window<'_>, codes: &mut Vec<u32>, values: &mut Vec<i16>) -> Progress {
        let interner = &mut self.interner;
        if let Some(progress) = self.tile.read(self.level, window, self.delimiter, interner, codes, values) {
            return progress;
        }
        plain::read(window.reach(), self.delimiter, interner, codes, values)
    }

    /// Reads rows like [`RowReader::read`], but only adds each number to the statistics of its name, which
    /// [`RowReader::finish`] returns: nothing is written per row, and the state of a name is next to its key.
    pub fn fold(&mut self, window: Window<'_>) -> Progress {
        if self.room < Self::MAX_ROWS {
            self.empty_full_states(FULL);
            self.room = ROOM;
        }
        let interner = &mut self.interner;
        if let Some(progress) = self.tile.fold(self.level, window, self.delimiter, interner, &mut self.aside) {
            self.room -= progress.rows;
            return progress;
        }
        let (codes, values) = (&mut self.codes, &mut self.values);
        let progress = plain::read(window.reach(), self.delimiter, &mut self.interner, codes, values);
        self.aside.grow(self.interner.dictionary().len());
        let added = self.aside.rows(self.level, codes, Integers::I16(values));
        added.unwrap_or_else(|_| unreachable!("it has grown to have these groups"));
        codes.clear();
        values.clear();
        progress
    }

    /// Adds a row that the caller parsed, for example one that is not plain.
    pub fn fold_row(&mut self, name: &[u8], value: i64) {
        let code = self.interner.intern(name);
        self.aside.grow(self.interner.dictionary().len());
        let added = self.aside.add(code, &[value].into_iter().collect());
        added.unwrap_or_else(|_| unreachable!("it has grown to have this group"));
    }

    /// The statistics of all names that [`RowReader::fold`] has added since the last call, by code. Names without such
    /// rows have no values.
    pub fn finish(&mut self) -> Vec<Statistics> {
        self.empty_full_states(1);
        std::mem::take(&mut self.aside).finish()
    }

    fn empty_full_states(&mut self, least: u64) {
        let aside = &mut self.aside;
        aside.grow(self.interner.dictionary().len());
        self.interner.table.take_states(least, |code, statistics| {
            let added = aside.add(code, &statistics);
            added.unwrap_or_else(|_| unreachable!("it has grown to have this group"));
        });
    }
}

#[cfg(test)]
mod tests;
