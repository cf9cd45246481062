//! Strings as they look in a row, so that they are written by copying.

use super::buffer::RowBuffer;
use super::short::copy_start;
use brc_core::{Dictionary, UnsupportedReason};

/// The strings of one column by their codes, each with what stands around it.
#[derive(Default)]
pub(super) struct Texts {
    /// All of them, and room behind them, so that the widest copy can be made from any place.
    bytes: RowBuffer,
    places: Vec<Place>,
    /// The length of the longest that is not longer than the widest copy.
    longest: usize,
}

/// Where a string lies: there may be many, so this is kept small.
#[derive(Clone, Copy)]
struct Place {
    /// In units of [`Place::UNIT`].
    start: u32,
    /// [`Place::REFUSED`] if the encoding cannot hold it: then no row may have it.
    length: u32,
}

impl Place {
    /// Each string starts at a multiple of so many bytes.
    const UNIT: usize = 32;
    const REFUSED: u32 = u32::MAX;

    /// # Panics
    /// If the strings of a column are longer than 128 GiB together.
    fn new(start: usize, length: Option<usize>) -> Self {
        let start = u32::try_from(start / Self::UNIT).unwrap_or_else(|_| unreachable!("so much is not in memory"));
        // One that is as long as that fits no frame and no line.
        let length = length.and_then(|length| u32::try_from(length).ok()).unwrap_or(Self::REFUSED);
        Self { start, length }
    }

    #[inline]
    fn start(self) -> usize {
        self.start as usize * Self::UNIT
    }
}

impl Texts {
    /// The bytes of the widest copy.
    pub(super) const WIDEST: usize = 128;

    /// Encodes the strings of a dictionary that were not there yet.
    pub(super) fn learn(
        &mut self,
        dictionary: &Dictionary,
        encode: impl Fn(&[u8], &mut RowBuffer) -> Result<(), UnsupportedReason>,
    ) {
        for code in self.places.len()..dictionary.len() {
            self.bytes.push_zeros(self.bytes.len().next_multiple_of(Place::UNIT) - self.bytes.len());
            let start = self.bytes.len();
            let outcome = encode(dictionary.get(code as u32), &mut self.bytes);
            let length = outcome.is_ok().then(|| self.bytes.len() - start);
            self.places.push(Place::new(start, length));
            self.longest = self.longest.max(length.filter(|length| *length <= Self::WIDEST).unwrap_or(0));
        }
        self.bytes.room(Self::WIDEST);
    }

    /// The length of the longest string, leaving out those of more bytes than the widest copy has.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Writes the string of a code at the start of `room`, and perhaps something behind it: `N` bytes are copied, at most
    /// [`Texts::WIDEST`]. Returns how many bytes the string has; `None` if it has more than `N`, the encoding cannot hold
    /// it, or there is too little room.
    #[inline]
    pub(super) fn write_short<const N: usize>(&self, code: u32, room: &mut [u8]) -> Option<usize> {
        let place = self.places[code as usize];
        let length = place.length as usize;
        if length > N {
            return None;
        }
        copy_start::<N>(self.bytes.with_room().get(place.start()..)?, room)?;
        Some(length)
    }

    /// The same for a string of any length: a longer one is copied as it is.
    #[inline]
    pub(super) fn write(&self, code: u32, room: &mut [u8]) -> Option<usize> {
        if let Some(length) = self.write_short::<32>(code, room) {
            return Some(length);
        }
        let text = self.get(code)?;
        room.get_mut(..text.len())?.copy_from_slice(text);
        Some(text.len())
    }

    /// The string of a code, unless the encoding cannot hold it.
    pub(super) fn get(&self, code: u32) -> Option<&[u8]> {
        let place = self.places[code as usize];
        if place.length == Place::REFUSED {
            return None;
        }
        self.bytes.as_slice().get(place.start()..place.start() + place.length as usize)
    }
}
