//! Strings as they look in a row, so that they are written by copying.

use super::buffer::RowBuffer;
use super::short::copy_start;
use brc_core::{Dictionary, HoldFault};

/// The strings of one column by their codes, each with what stands around it.
#[derive(Default)]
pub(super) struct Texts {
    /// All of them, and room behind them, so that the widest copy can be made from any place.
    bytes: RowBuffer,
    places: Vec<Place>,
    /// The length of the longest that is not longer than the widest copy.
    longest: usize,
}

/// Where a string lies.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    /// [`Place::REFUSED`] if the encoding cannot hold it: then no row may have it.
    length: usize,
}

impl Place {
    const REFUSED: usize = usize::MAX;
}

impl Texts {
    /// The bytes of the widest copy.
    pub(super) const WIDEST: usize = 128;

    /// Encodes the strings of a dictionary that were not there yet.
    pub(super) fn learn(
        &mut self,
        dictionary: &Dictionary,
        encode: impl Fn(&[u8], &mut RowBuffer) -> Result<(), HoldFault>,
    ) {
        for code in self.places.len()..dictionary.len() {
            let start = self.bytes.len();
            let outcome = encode(dictionary.get(code as u32), &mut self.bytes);
            let length = if outcome.is_ok() { self.bytes.len() - start } else { Place::REFUSED };
            self.places.push(Place { start, length });
            if length <= Self::WIDEST {
                self.longest = self.longest.max(length);
            }
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
        let Place { start, length } = self.places[code as usize];
        if length > N {
            return None;
        }
        copy_start::<N>(self.bytes.with_room().get(start..)?, room)?;
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
        let Place { start, length } = self.places[code as usize];
        if length == Place::REFUSED { None } else { self.bytes.as_slice().get(start..start + length) }
    }
}
