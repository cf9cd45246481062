//! Strings as they look in a row, so that they are written by copying.

use super::buffer::RowBuffer;
use super::copy_start;
use brc_core::{Dictionary, HoldFault};

/// The strings of one column by their codes, each with what stands around it.
#[derive(Default)]
pub(super) struct Texts {
    /// All of them, and [`Texts::MIDDLING`] bytes more, so that as many can be copied from any place.
    bytes: RowBuffer,
    places: Vec<Place>,
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
    /// Up to so many bytes, which nearly all strings have, are copied at this length.
    const SHORT: usize = 32;
    /// And up to so many at this one: those with a key beside them.
    const MIDDLING: usize = 64;

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
        }
        self.bytes.room(Self::MIDDLING);
    }

    /// Writes the string of a code at the start of `room`, and perhaps something behind it. Returns how many bytes it has;
    /// `None` if it has more than [`Texts::MIDDLING`], the encoding cannot hold it, or there is too little room.
    #[inline]
    pub(super) fn write_short(&self, code: u32, room: &mut [u8]) -> Option<usize> {
        let Place { start, length } = self.places[code as usize];
        let bytes = self.bytes.with_room().get(start..)?;
        if length <= Self::SHORT {
            copy_start::<{ Self::SHORT }>(bytes, room)?;
        } else if length <= Self::MIDDLING {
            copy_start::<{ Self::MIDDLING }>(bytes, room)?;
        } else {
            return None;
        }
        Some(length)
    }

    /// The string of a code, unless the encoding cannot hold it.
    pub(super) fn get(&self, code: u32) -> Option<&[u8]> {
        let Place { start, length } = self.places[code as usize];
        if length == Place::REFUSED { None } else { self.bytes.as_slice().get(start..start + length) }
    }
}
