//! Rows as the crate `bincode` writes tuples: a string is a 64-bit length and its bytes, an integer has the width of
//! its type, a decimal is an integer in units of its scale (64 bits, or 128 bits from 19 digits on), and a UUID is its
//! 16 bytes.
//!
//! Values of nullable columns are options: a byte 0 is a null, a byte 1 precedes a value.
//!
//! The crate is no longer maintained, and its later versions write different bytes. This version is pinned, and
//! everything used of it is in this file. Integers have fixed widths. Lengths are checked against the bytes that are
//! left.

use crate::frames::{
    Fault, FileHeader, FrameDecoder, FrameEncoder, FrameHeader, FramedRows, LARGEST_FRAME, Layout, Malformed,
    RowDecoder, RowLayout, RowReader, take_text,
};
use crate::rows::values::{self, float, integer};
use crate::rows::{RowBuffer, RowEncoder, RowWriter, Short, written};
use ::bincode::{DefaultOptions, ErrorKind, Options};
use brc_core::{Field, LogicalType, Schema, UnsupportedReason, Value, float32, uuid};
use serde::de::Deserialize;
use std::io;

pub(crate) struct Bincode;

const MAGIC: &[u8] = b"\x89brc-bincode\r\n\x1a\n";

/// The options for writing and reading.
fn options() -> impl Options {
    DefaultOptions::new().with_fixint_encoding().allow_trailing_bytes().with_limit(LARGEST_FRAME as u64)
}

impl Layout for Bincode {
    fn name(&self) -> &'static str {
        "bincode"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["bincode"]
    }

    fn about(&self) -> &'static str {
        "rows as Rust's bincode writes tuples: simple, wide, fast to decode"
    }

    fn magic(&self) -> &'static [u8] {
        MAGIC
    }

    fn file_header(&self, header: &FileHeader) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        write(&(header.version, header.schema.as_str(), header.checksum), &mut bytes);
        bytes
    }

    fn read_file_header(&self, bytes: &[u8]) -> Result<(FileHeader, usize), String> {
        let rest = bytes.get(MAGIC.len()..).unwrap_or(&[]);
        let header = options().deserialize::<(u32, &str, u32)>(rest);
        let (version, schema, checksum) = header.map_err(|error| error.to_string())?;
        let length = MAGIC.len() + 4 + 8 + schema.len() + 4;
        Ok((FileHeader { version, schema: schema.to_owned(), checksum }, length))
    }

    fn frame_header_bytes(&self) -> usize {
        16
    }

    /// A frame header has the same bytes as bincode's encoding of its numbers.
    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>) {
        out.extend_from_slice(&header.to_bytes());
    }

    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader> {
        FrameHeader::from_bytes(bytes.try_into().ok()?)
    }

    fn encoder(&self, schema: &Schema) -> Box<dyn FrameEncoder> {
        Box::new(FramedRows(RowEncoder::new(self.name(), schema, Tuples::new(schema))))
    }

    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder> {
        Box::new(RowDecoder::new(schema, projection, TupleLayout))
    }

    fn row_end(&self, schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed> {
        RowDecoder::row_end(&TupleLayout, schema, bytes, least)
    }
}

/// Writes a row as a tuple: its values in sequence.
struct Tuples {
    fields: Vec<Field>,
    /// For each column, whether its values are 64-bit words without a null byte, as most are.
    are_words: Vec<bool>,
}

impl Tuples {
    fn new(schema: &Schema) -> Self {
        let is_word = |field: &Field| !field.nullable && width(field.logical_type) == 8;
        Self { fields: schema.fields().to_vec(), are_words: schema.fields().iter().map(is_word).collect() }
    }
}

/// The byte of a null, and the byte before any other value of a nullable column.
const NONE: u8 = 0;
const SOME: u8 = 1;

/// The bytes of a value; for a string, the bytes of its length.
fn width(logical_type: LogicalType) -> usize {
    match logical_type {
        LogicalType::Bool | LogicalType::Int8 => 1,
        LogicalType::Int16 => 2,
        LogicalType::Int32 | LogicalType::Date | LogicalType::Float32 => 4,
        LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Time { .. }
        | LogicalType::Timestamp { .. }
        | LogicalType::Float64 => 8,
        LogicalType::Decimal { .. } if logical_type.fits_64_bits() => 8,
        LogicalType::Decimal { .. } | LogicalType::Uuid => 16,
        LogicalType::String | LogicalType::Binary => 8,
    }
}

impl RowWriter for Tuples {
    fn around(&self, _: usize) -> (Vec<u8>, Vec<u8>) {
        (Vec::new(), Vec::new())
    }

    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        let Some(value) = value else {
            out.push(&[NONE]);
            return Ok(());
        };
        let Field { logical_type, nullable, .. } = self.fields[column];
        if nullable {
            out.push(&[SOME]);
        }
        match logical_type {
            LogicalType::String | LogicalType::Binary => write(values::bytes(value), out),
            LogicalType::Float32 => out.push(&float32::nearest(float(value)).to_le_bytes()),
            LogicalType::Float64 => out.push(&float(value).to_le_bytes()),
            LogicalType::Uuid => out.push(&uuid::to_bytes(integer(value))),
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. } => out.push(&integer(value).to_le_bytes()[..width(logical_type)]),
        }
        Ok(())
    }

    #[inline]
    fn number(&self, column: usize, number: i64) -> Short {
        // The same bytes as the crate writes, without a call per number.
        if self.are_words[column] {
            return Short::new(&number.to_le_bytes());
        }
        let Field { logical_type, nullable, .. } = self.fields[column];
        let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
        let some = [SOME, a, b, c, d, e, f, g, h];
        Short::new(&some[usize::from(!nullable)..=width(logical_type)])
    }
}

/// Appends a value. Writing to memory fails only above the size limit, which the frame writer enforces itself.
fn write(value: &(impl serde::Serialize + ?Sized), out: &mut impl io::Write) {
    let unlimited = DefaultOptions::new().with_fixint_encoding();
    written(unlimited.serialize_into(out, value));
}

/// Reads such rows.
struct TupleLayout;

impl RowLayout for TupleLayout {
    type Reader<'a> = TupleReader<'a>;

    fn reader<'a>(&'a self, bytes: &'a [u8]) -> TupleReader<'a> {
        TupleReader(bytes)
    }
}

struct TupleReader<'a>(&'a [u8]);

impl<'a> TupleReader<'a> {
    /// Takes `width` bytes as an unsigned integer.
    #[inline]
    fn unsigned(&mut self, width: usize) -> Result<u128, Fault> {
        let mut bytes = [0; 16];
        bytes[..width].copy_from_slice(take_text(&mut self.0, width)?);
        Ok(u128::from_le_bytes(bytes))
    }

    #[inline]
    fn crates<T: Deserialize<'a>>(&self) -> Result<T, Fault> {
        options().deserialize(self.0).map_err(|error| match *error {
            ErrorKind::Io(_) => Fault::CutOff,
            ErrorKind::SizeLimit => Fault::new("a string is longer than a frame may be"),
            error => Fault::new(error.to_string()),
        })
    }
}

impl<'a> RowReader<'a> for TupleReader<'a> {
    #[inline]
    fn remaining(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn begin_row(&mut self, _: usize) -> Result<(), Fault> {
        Ok(())
    }

    #[inline]
    fn null(&mut self, _: usize) -> Result<bool, Fault> {
        let (&tag, rest) = self.0.split_first().ok_or(Fault::CutOff)?;
        self.0 = rest;
        match tag {
            NONE => Ok(true),
            SOME => Ok(false),
            other => Err(Fault::new(format!("an option begins with {other}, which is neither 0 nor 1"))),
        }
    }

    #[inline]
    fn text(&mut self, _: usize) -> Result<&'a [u8], Fault> {
        let text = self.crates::<&[u8]>()?;
        self.0 = &self.0[size_of::<u64>()..];
        take_text(&mut self.0, text.len())
    }

    #[inline]
    fn number(&mut self, _: usize, _: u8) -> Result<i64, Fault> {
        let number = self.crates()?;
        self.0 = &self.0[size_of::<i64>()..];
        Ok(number)
    }

    fn value(&mut self, column: usize, logical_type: LogicalType) -> Result<Value<'a>, Fault> {
        Ok(match logical_type {
            LogicalType::String | LogicalType::Binary => Value::Bytes(self.text(column)?),
            LogicalType::Float32 => Value::Float(float32::widen(f32::from_bits(self.unsigned(4)? as u32))),
            LogicalType::Float64 => Value::Float(f64::from_bits(self.unsigned(8)? as u64)),
            LogicalType::Uuid => Value::Integer(uuid::from_bytes(self.unsigned(16)?.to_le_bytes())),
            // The bounds check rejects a bool other than 0 and 1.
            LogicalType::Bool | LogicalType::UInt64 => Value::Integer(self.unsigned(width(logical_type))? as i128),
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::Decimal { .. }
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. } => {
                let width = width(logical_type);
                let unused = 128 - 8 * width as u32;
                Value::Integer((self.unsigned(width)? << unused) as i128 >> unused)
            }
        })
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_equal_the_crates_tuples() {
        let schema = Schema::parse(
            "name:string not null,n:int not null,small:int16,b:bool,wide:decimal(38,2) not null,x:float64,d:date not null",
        );
        let tuples = Tuples::new(&schema.unwrap());
        for number in [0, 1, -1, 599, i64::MIN, i64::MAX] {
            for name in ["", "Abha", "a name of some more bytes than a key has"] {
                let small = i16::try_from(number).ok();
                let values = [
                    Some(Value::Bytes(name.as_bytes())),
                    Some(Value::Integer(number.into())),
                    small.map(|small| Value::Integer(small.into())),
                    Some(Value::Integer(1)),
                    Some(Value::Integer(i128::from(number) << 60)),
                    small.map(|small| Value::Float(small.into())),
                    Some(Value::Integer(-719_162)),
                ];
                let mut row = RowBuffer::default();
                for (column, value) in values.into_iter().enumerate() {
                    let start = row.len();
                    tuples.value(column, value, &mut row).unwrap();
                    if let (1 | 2, Some(Value::Integer(number))) = (column, value) {
                        assert_eq!(tuples.number(column, number as i64).as_slice(), &row.as_slice()[start..]);
                    }
                }
                let tuple =
                    (name, number, small, Some(true), i128::from(number) << 60, small.map(f64::from), -719_162i32);
                assert_eq!(row.as_slice(), options().serialize(&tuple).unwrap());
            }
        }
    }
}
