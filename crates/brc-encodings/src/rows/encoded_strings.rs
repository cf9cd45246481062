//! Encoded strings, so that rows are written by copying.

use super::buffer::RowBuffer;
use super::short::copy_start;
use brc_core::{Dictionary, UnsupportedReason};

/// The encoded strings of one column by code, each with the bytes around it.
#[derive(Default)]
pub(super) struct EncodedStrings {
    /// All strings, with spare bytes after them, so that the widest copy stays within the buffer.
    bytes: RowBuffer,
    locations: Vec<StringLocation>,
    /// The length of the longest string that is no longer than the widest copy.
    longest: usize,
}

/// The location of a string: there may be many, so this is kept small.
#[derive(Clone, Copy)]
struct StringLocation {
    /// In units of [`StringLocation::UNIT`].
    start: u32,
    /// [`StringLocation::REFUSED`] if the encoding cannot hold it: then no row may have it.
    length: u32,
}

impl StringLocation {
    /// The alignment of strings in bytes.
    const UNIT: usize = 32;
    const REFUSED: u32 = u32::MAX;

    /// # Panics
    /// If the strings of a column are longer than 128 GiB together.
    fn new(start: usize, length: Option<usize>) -> Self {
        let start = u32::try_from(start / Self::UNIT).unwrap_or_else(|_| unreachable!("so much is not in memory"));
        // A longer string fits no frame and no line.
        let length = length.and_then(|length| u32::try_from(length).ok()).unwrap_or(Self::REFUSED);
        Self { start, length }
    }

    #[inline]
    fn start(self) -> usize {
        self.start as usize * Self::UNIT
    }
}

impl EncodedStrings {
    /// The length of the widest copy in bytes.
    pub(super) const WIDEST: usize = 128;

    /// Encodes the new strings of a dictionary.
    pub(super) fn learn(
        &mut self,
        dictionary: &Dictionary,
        encode: impl Fn(&[u8], &mut RowBuffer) -> Result<(), UnsupportedReason>,
    ) {
        for code in self.locations.len()..dictionary.len() {
            self.bytes.push_zeros(self.bytes.len().next_multiple_of(StringLocation::UNIT) - self.bytes.len());
            let start = self.bytes.len();
            let outcome = encode(dictionary.get(code as u32), &mut self.bytes);
            let length = outcome.is_ok().then(|| self.bytes.len() - start);
            self.locations.push(StringLocation::new(start, length));
            self.longest = self.longest.max(length.filter(|length| *length <= Self::WIDEST).unwrap_or(0));
        }
        self.bytes.room(Self::WIDEST);
    }

    /// The length of the longest string, apart from those longer than the widest copy.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Writes the string of a code to the start of `room`, possibly with excess bytes after it: copies `N` bytes, at
    /// most [`EncodedStrings::WIDEST`]. Returns the length of the string; `None` if it is longer than `N`, the encoding
    /// cannot hold it, or there is too little space.
    #[inline]
    pub(super) fn write_short<const N: usize>(&self, code: u32, room: &mut [u8]) -> Option<usize> {
        let location = self.locations[code as usize];
        let length = location.length as usize;
        if length > N {
            return None;
        }
        copy_start::<N>(self.bytes.with_room().get(location.start()..)?, room)?;
        Some(length)
    }

    /// The same for a string of any length: a longer one is copied exactly.
    #[inline]
    pub(super) fn write(&self, code: u32, room: &mut [u8]) -> Option<usize> {
        if let Some(length) = self.write_short::<32>(code, room) {
            return Some(length);
        }
        let text = self.get(code)?;
        room.get_mut(..text.len())?.copy_from_slice(text);
        Some(text.len())
    }

    /// The string of a code; `None` if the encoding cannot hold it.
    pub(super) fn get(&self, code: u32) -> Option<&[u8]> {
        let location = self.locations[code as usize];
        if location.length == StringLocation::REFUSED {
            return None;
        }
        self.bytes.as_slice().get(location.start()..location.start() + location.length as usize)
    }
}
