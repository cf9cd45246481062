//! The message of a row.

use crate::frames::{Fault, RowLayout, RowReader, take_text};
use crate::rows::{RowBuffer, RowWriter, Short};
use brc_core::HoldFault;
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
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        // The length of the row will stand before the first column.
        (vec![0; usize::from(column == 0)], Vec::new())
    }

    fn text(&self, column: usize, text: &[u8], out: &mut RowBuffer) -> Result<(), HoldFault> {
        if !text.is_empty() {
            let key = Short::of(|out| {
                encode_key(field(column), WireType::LengthDelimited, out);
                encode_varint(text.len() as u64, out);
            });
            out.push(key.as_slice());
            out.push(text);
        }
        Ok(())
    }

    fn number(&self, column: usize, number: i64) -> Short {
        if number == 0 { Short::new(&[]) } else { Short::of(|out| sint64::encode(field(column), &number, out)) }
    }

    #[inline]
    fn end_row(&self, row: &mut [u8], length: usize) -> usize {
        let bytes = length - 1;
        if bytes < 0x80 {
            row[0] = bytes as u8;
            length
        } else {
            long_row(row, bytes)
        }
    }
}

/// Puts the length before a row of which more than one byte tells it.
fn long_row(row: &mut [u8], bytes: usize) -> usize {
    let length = Short::of(|out| encode_varint(bytes as u64, out));
    let length = length.as_slice();
    row.copy_within(1..=bytes, length.len());
    row[..length.len()].copy_from_slice(length);
    length.len() + bytes
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
    fn number(&mut self, column: usize, _: u8) -> Result<i64, Fault> {
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
