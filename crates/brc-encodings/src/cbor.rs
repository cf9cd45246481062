//! Rows as CBOR arrays: any reader of CBOR sequences (RFC 8742) can read a file.
//!
//! The first item is tagged as CBOR and is a map that describes the columns. A byte string with the tag [`FRAME_TAG`]
//! precedes the rows of each frame. A row is an array of
//!
//! - null, booleans, floats of 32 or 64 bits;
//! - text strings, or byte strings if they are not UTF-8; binary data as byte strings;
//! - integers in their shortest form: numbers, decimals in units of their scale, times and timestamps in units of their
//!   type. Integers beyond CBOR's range are bignums (tags 2 and 3);
//! - days since 1970-01-01 with the tag 100 (RFC 8943);
//! - UUIDs as their 16 bytes with the tag 37.
//!
//! Files of other programs are read as well: they need neither map nor tags, their integers may have any form, their
//! arrays may have an indefinite length, floats may have 16 bits, a null may be undefined, a decimal may be a decimal
//! fraction, and a date may be a text with the tag 1004.

mod reader;

use crate::frames::{FileHeader, FrameDecoder, FrameEncoder, FrameHeader, FramedRows, Layout, Malformed, RowDecoder};
use crate::rows::values::{self, float, integer};
use crate::rows::{RowBuffer, RowEncoder, RowWriter, Short, written};
use brc_core::{LogicalType, Schema, UnsupportedReason, Value, float32, uuid};
use minicbor::data::{Int, Tag};
use minicbor::decode::Error as DecodeError;
use minicbor::{Decoder, Encoder};
use reader::ArrayLayout;
use std::convert::Infallible;

pub(crate) struct Cbor;

/// The first bytes of a header: the self-described tag, a map of three entries, and its first key.
const MAGIC: &[u8] = b"\xd9\xd9\xf7\xa3\x68brc-cbor";
const SCHEMA: &str = "schema";
const CHECKSUM: &str = "checksum";

/// The tag "self-described CBOR", which may precede any item and has no effect.
const SELF_DESCRIBED: &[u8] = b"\xd9\xd9\xf7";

/// The tag of the byte strings before frames: "brcf". It is in the first-come-first-served range, and not registered.
const FRAME_TAG: u64 = u32::from_be_bytes(*b"brcf") as u64;

/// The size in bytes: a tag of four bytes and a string of sixteen.
const FRAME_BYTES: usize = 5 + 1 + 16;

/// The tag of a decimal fraction: an array of exponent and mantissa.
const DECIMAL_FRACTION: u8 = 0xc4;

/// The tags of bignums: an integer, and -1 minus one.
const BIGNUM: u64 = 2;
const NEGATIVE_BIGNUM: u64 = 3;

/// The tags of times: a text, and seconds since 1970.
const TIME_TEXT: u64 = 0;
const EPOCH_TIME: u64 = 1;

/// The tags of dates: days since 1970-01-01, and a text.
const DAYS: u64 = 100;
const DATE_TEXT: u64 = 1004;

/// The tag of the bytes of a UUID.
const UUID: u64 = 37;

/// The major type of arrays: their first three bits.
const ARRAY: u8 = 4;

/// Ends an array of indefinite length.
const BREAK: u8 = 0xff;

impl Layout for Cbor {
    fn name(&self) -> &'static str {
        "cbor"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["cbor", "cborseq"]
    }

    fn about(&self) -> &'static str {
        "rows as a sequence of CBOR arrays: compact, an Internet standard"
    }

    fn magic(&self) -> &'static [u8] {
        MAGIC
    }

    fn file_header(&self, header: &FileHeader) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let mut encoder = Encoder::new(&mut bytes);
        written(encoder.u32(header.version));
        written(encoder.str(SCHEMA).and_then(|encoder| encoder.str(&header.schema)).map(drop));
        written(encoder.str(CHECKSUM).and_then(|encoder| encoder.u32(header.checksum)).map(drop));
        bytes
    }

    fn read_file_header(&self, bytes: &[u8]) -> Result<(FileHeader, usize), String> {
        let mut decoder = Decoder::new(bytes);
        decoder.set_position(MAGIC.len());
        let header = read_header(&mut decoder).map_err(|error| error.to_string())?;
        Ok((header, decoder.position()))
    }

    fn frame_header_bytes(&self) -> usize {
        FRAME_BYTES
    }

    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>) {
        let mut encoder = Encoder::new(out);
        let tag = Tag::new(FRAME_TAG);
        written(encoder.tag(tag).and_then(|encoder| encoder.bytes(&header.to_bytes())).map(drop));
    }

    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader> {
        let mut decoder = Decoder::new(bytes);
        let tag = decoder.tag().ok()?;
        let bytes = decoder.bytes().ok()?.try_into().ok()?;
        (tag.as_u64() == FRAME_TAG).then(|| FrameHeader::from_bytes(bytes))?
    }

    fn encoder(&self, schema: &Schema) -> Box<dyn FrameEncoder> {
        let types = schema.fields().iter().map(|field| field.logical_type).collect();
        Box::new(FramedRows(RowEncoder::new(self.name(), schema, Arrays { types })))
    }

    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder> {
        Box::new(RowDecoder::new(schema, projection, ArrayLayout))
    }

    fn row_end(&self, schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed> {
        RowDecoder::row_end(&ArrayLayout, schema, bytes, least)
    }
}

fn read_header(decoder: &mut Decoder<'_>) -> Result<FileHeader, DecodeError> {
    let version = decoder.u32()?;
    // A key, its value, and the next key.
    let [_, schema, _] = [decoder.str()?, decoder.str()?, decoder.str()?];
    Ok(FileHeader { version, schema: schema.to_owned(), checksum: decoder.u32()? })
}

/// Writes a row as an array.
struct Arrays {
    types: Vec<LogicalType>,
}

impl minicbor::encode::Write for RowBuffer {
    type Error = Infallible;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.push(bytes);
        Ok(())
    }
}

impl RowWriter for Arrays {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        let mut before = Vec::new();
        if column == 0 {
            written(Encoder::new(&mut before).array(self.types.len() as u64).map(drop));
        }
        (before, Vec::new())
    }

    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        let mut encoder = Encoder::new(out);
        let Some(value) = value else {
            written(encoder.null().map(drop));
            return Ok(());
        };
        match self.types[column] {
            LogicalType::Bool => written(encoder.bool(integer(value) != 0).map(drop)),
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. } => written(write_integer(&mut encoder, integer(value))),
            LogicalType::Date => {
                written(encoder.tag(Tag::new(DAYS)).and_then(|encoder| write_integer(encoder, integer(value))));
            }
            LogicalType::Float32 => written(encoder.f32(float32::nearest(float(value))).map(drop)),
            LogicalType::Float64 => written(encoder.f64(float(value)).map(drop)),
            LogicalType::String => match std::str::from_utf8(values::bytes(value)) {
                Ok(text) => written(encoder.str(text).map(drop)),
                Err(_) => written(encoder.bytes(values::bytes(value)).map(drop)),
            },
            LogicalType::Binary => written(encoder.bytes(values::bytes(value)).map(drop)),
            LogicalType::Uuid => {
                let bytes = uuid::to_bytes(integer(value));
                written(encoder.tag(Tag::new(UUID)).and_then(|encoder| encoder.bytes(&bytes)).map(drop));
            }
        }
        Ok(())
    }

    fn number(&self, _: usize, number: i64) -> Short {
        Short::of(|bytes| written(Encoder::new(bytes).i64(number).map(drop)))
    }
}

/// Writes an integer, as a bignum only if it is outside the range of CBOR's integers.
fn write_integer<W: minicbor::encode::Write>(
    encoder: &mut Encoder<W>,
    integer: i128,
) -> Result<(), minicbor::encode::Error<W::Error>> {
    if let Ok(integer) = Int::try_from(integer) {
        return encoder.int(integer).map(drop);
    }
    // -1 - n is n inverted.
    let (tag, magnitude) = if integer < 0 { (NEGATIVE_BIGNUM, !integer) } else { (BIGNUM, integer) };
    let bytes = magnitude.to_be_bytes();
    let zeros = magnitude.leading_zeros() as usize / 8;
    encoder.tag(Tag::new(tag))?.bytes(&bytes[zeros..]).map(drop)
}
