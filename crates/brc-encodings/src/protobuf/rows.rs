//! The message of a row.

use crate::frames::{Fault, RowLayout, RowReader, RowWriter, take_text};
use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint, sint64};

/// A row is a message with its length before it.
pub(super) struct Messages;

/// The number of a column's field. A header that fits has far fewer columns than there may be fields.
fn field(column: usize) -> u32 {
    column as u32 + 1
}

/// The most bytes of a number of variable length.
const LONGEST_VARINT: usize = 10;

impl RowWriter for Messages {
    fn begin_row(&self, _: usize, out: &mut Vec<u8>) {
        // The length of the row will stand here.
        out.push(0);
    }

    fn text(&self, column: usize, text: &[u8], out: &mut Vec<u8>) {
        if !text.is_empty() {
            encode_key(field(column), WireType::LengthDelimited, out);
            encode_varint(text.len() as u64, out);
            out.extend_from_slice(text);
        }
    }

    fn number(&self, column: usize, number: i64, out: &mut Vec<u8>) {
        if number != 0 {
            sint64::encode(field(column), &number, out);
        }
    }

    #[inline]
    fn end_row(&mut self, start: usize, out: &mut Vec<u8>) {
        let length = out.len() - start - 1;
        if length < 0x80 {
            out[start] = length as u8;
        } else {
            make_room_for_length(start, length, out);
        }
    }
}

/// Writes a length of more than the one byte that is left for it.
fn make_room_for_length(start: usize, length: usize, out: &mut Vec<u8>) {
    let mut bytes = [0; LONGEST_VARINT];
    let mut rest = bytes.as_mut_slice();
    encode_varint(length as u64, &mut rest);
    let count = LONGEST_VARINT - rest.len();
    let end = out.len();
    out.resize(end + count - 1, 0);
    out.copy_within(start + 1..end, start + count);
    out[start..start + count].copy_from_slice(&bytes[..count]);
}

impl RowLayout for Messages {
    type Reader<'a> = MessageReader<'a>;

    fn reader(bytes: &[u8]) -> MessageReader<'_> {
        MessageReader { rest: bytes, behind: 0 }
    }
}

pub(super) struct MessageReader<'a> {
    rest: &'a [u8],
    /// How many of these bytes are behind the row.
    behind: usize,
}

impl<'a> MessageReader<'a> {
    /// Takes the key of a column's field, if the field is next. Fields stand in the order of their numbers; one that is
    /// left out has the value that is left out.
    #[inline]
    fn key(&mut self, column: usize, wire_type: WireType) -> Result<bool, Fault> {
        match self.rest.split_first() {
            Some((&key, rest)) if usize::from(key) == (column + 1) << 3 | wire_type as usize && key < 0x80 => {
                // A row that ends here is noticed where its length is checked.
                let is_there = self.rest.len() > self.behind;
                self.rest = if is_there { rest } else { self.rest };
                Ok(is_there)
            }
            _ => self.long_key(column, wire_type),
        }
    }

    fn long_key(&mut self, column: usize, wire_type: WireType) -> Result<bool, Fault> {
        if self.rest.len() <= self.behind {
            return Ok(false);
        }
        let mut rest = self.rest;
        let (number, found) = decode_key(&mut rest).map_err(|error| Fault::new(error.to_string()))?;
        if number != field(column) {
            return Ok(false);
        }
        if found != wire_type {
            return Err(Fault::new(format!("field {number} is of wire type {found:?}, not {wire_type:?}")));
        }
        self.rest = rest;
        Ok(true)
    }

    /// Takes a number that belongs to the row.
    #[inline]
    fn varint(&mut self) -> Result<u64, Fault> {
        let number = match *self.rest {
            [low @ ..0x80, ..] => {
                self.rest = &self.rest[1..];
                low.into()
            }
            [low, high @ ..0x80, ..] => {
                self.rest = &self.rest[2..];
                u64::from(low & 0x7f) | u64::from(high) << 7
            }
            _ => decode_varint(&mut self.rest).map_err(|error| Fault::new(error.to_string()))?,
        };
        if self.rest.len() < self.behind { Err(beyond()) } else { Ok(number) }
    }
}

#[cold]
fn beyond() -> Fault {
    Fault::new("a field is longer than its row")
}

impl<'a> RowReader<'a> for MessageReader<'a> {
    #[inline]
    fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    fn begin_row(&mut self, _: usize) -> Result<(), Fault> {
        let length = match self.rest.split_first() {
            Some((&length, rest)) if length < 0x80 => {
                self.rest = rest;
                length.into()
            }
            _ => decode_varint(&mut self.rest).map_err(|error| match self.rest.len() {
                ..LONGEST_VARINT => Fault::CutOff,
                _ => Fault::new(error.to_string()),
            })?,
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.behind = self.rest.len().checked_sub(length).ok_or(Fault::CutOff)?;
        Ok(())
    }

    #[inline]
    fn text(&mut self, column: usize) -> Result<&'a [u8], Fault> {
        if !self.key(column, WireType::LengthDelimited)? {
            return take_text(&mut self.rest, 0usize);
        }
        let length = self.varint()?;
        match take_text(&mut self.rest, length) {
            Ok(text) if self.rest.len() >= self.behind => Ok(text),
            _ => Err(beyond()),
        }
    }

    #[inline]
    fn number(&mut self, column: usize) -> Result<i64, Fault> {
        if !self.key(column, WireType::Varint)? {
            return Ok(0);
        }
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), Fault> {
        if self.rest.len() == self.behind { Ok(()) } else { Err(self.strange_field()) }
    }
}

impl MessageReader<'_> {
    #[cold]
    fn strange_field(&self) -> Fault {
        let mut rest = self.rest;
        Fault::new(match decode_key(&mut rest) {
            Ok((number, _)) => format!("field {number} is not of the table, or not in the order of the columns"),
            Err(error) => error.to_string(),
        })
    }
}
