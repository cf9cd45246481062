//! Rows as MessagePack arrays: any reader of MessagePack can read a file as a sequence of items.
//!
//! The first item is a map that describes the columns. An extension of type [`FRAME_TYPE`] precedes the rows of each
//! frame. A row is an array of
//!
//! - nil for a null, booleans, floats of 32 or 64 bits;
//! - strings as `str`, or as `bin` if they are not UTF-8; binary data and the 16 bytes of UUIDs as `bin`;
//! - integers in their shortest form: numbers, decimals in units of their scale, days, times and timestamps without a
//!   zone in units of their type. A decimal that does not fit 64 bits is a `bin` of 16 bytes, two's complement,
//!   big-endian;
//! - timestamps with a zone as MessagePack's timestamp extension (type -1).
//!
//! Files of other programs are read as well: they have neither map nor frame extensions, their integers may have any
//! form, and all their timestamps may use the extension.
//!
//! Short strings and rows of few columns, the usual case, are decoded here; the crate decodes everything else.

mod reader;

use crate::frames::{FileHeader, FrameDecoder, FrameEncoder, FrameHeader, FramedRows, Layout, Malformed, RowDecoder};
use crate::rows::values::{self, float, integer, integer_64, seconds_and_nanos};
use crate::rows::{RowBuffer, RowEncoder, RowWriter, Short, written};
use brc_core::{LogicalType, Schema, TimeUnit, UnsupportedReason, Value, float32, uuid};
use reader::ArrayLayout;
use rmp::decode::{self, Bytes};
use rmp::encode;

pub(crate) struct MsgPack;

/// The first bytes of a header: a map of three entries, and its first key.
const MAGIC: &[u8] = b"\x83\xabbrc-msgpack";
const SCHEMA: &str = "schema";
const CHECKSUM: &str = "checksum";

/// The application-defined type of the extensions before frames.
const FRAME_TYPE: i8 = 98;

/// The type of MessagePack's timestamp extension.
const TIMESTAMP_TYPE: i8 = -1;

/// The size of an extension of sixteen bytes.
const FRAME_BYTES: usize = 2 + 16;

impl Layout for MsgPack {
    fn name(&self) -> &'static str {
        "msgpack"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["msgpack", "mpk"]
    }

    fn about(&self) -> &'static str {
        "rows as MessagePack arrays: compact, read by many languages"
    }

    fn magic(&self) -> &'static [u8] {
        MAGIC
    }

    fn file_header(&self, header: &FileHeader) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        written(encode::write_uint(&mut bytes, header.version.into()));
        written(encode::write_str(&mut bytes, SCHEMA));
        written(encode::write_str(&mut bytes, &header.schema));
        written(encode::write_str(&mut bytes, CHECKSUM));
        written(encode::write_uint(&mut bytes, header.checksum.into()));
        bytes
    }

    fn read_file_header(&self, bytes: &[u8]) -> Result<(FileHeader, usize), String> {
        let mut rest = bytes.get(MAGIC.len()..).unwrap_or(&[]);
        let version = header_integer(&mut rest)?;
        // A key, its value, and the next key.
        let [_, schema, _] = [string(&mut rest)?, string(&mut rest)?, string(&mut rest)?];
        let (schema, checksum) = (schema.to_owned(), header_integer(&mut rest)?);
        Ok((FileHeader { version, schema, checksum }, bytes.len() - rest.len()))
    }

    fn frame_header_bytes(&self) -> usize {
        FRAME_BYTES
    }

    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>) {
        written(encode::write_ext_meta(out, 16, FRAME_TYPE));
        out.extend_from_slice(&header.to_bytes());
    }

    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader> {
        let (kind, bytes) = decode::read_fixext16(&mut Bytes::new(bytes)).ok()?;
        (kind == FRAME_TYPE).then(|| FrameHeader::from_bytes(&bytes))?
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

/// An integer of a header.
fn header_integer(bytes: &mut &[u8]) -> Result<u32, String> {
    let mut reader = Bytes::new(bytes);
    let number = decode::read_int(&mut reader).map_err(|error| error.to_string())?;
    *bytes = reader.remaining_slice();
    Ok(number)
}

/// A string of a header: a key or a value.
fn string<'a>(bytes: &mut &'a [u8]) -> Result<&'a str, String> {
    let (text, rest) = decode::read_str_from_slice(*bytes).map_err(|error| error.to_string())?;
    *bytes = rest;
    Ok(text)
}

/// Writes a row as an array.
struct Arrays {
    types: Vec<LogicalType>,
}

impl RowWriter for Arrays {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        let mut before = Vec::new();
        if column == 0 {
            written(encode::write_array_len(&mut before, self.types.len() as u32));
        }
        (before, Vec::new())
    }

    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        let Some(value) = value else {
            written(encode::write_nil(out));
            return Ok(());
        };
        match self.types[column] {
            LogicalType::Bool => written(encode::write_bool(out, integer(value) != 0)),
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { zone: false, .. } => write_integer(integer(value), out),
            LogicalType::Timestamp { zone: true, unit } => write_timestamp(integer_64(value), unit, out),
            LogicalType::Float32 => written(encode::write_f32(out, float32::nearest(float(value)))),
            LogicalType::Float64 => written(encode::write_f64(out, float(value))),
            LogicalType::String => write_string(values::bytes(value), out),
            // A value longer than MessagePack allows does not fit a frame either.
            LogicalType::Binary => written(encode::write_bin(out, values::bytes(value))),
            LogicalType::Uuid => written(encode::write_bin(out, &uuid::to_bytes(integer(value)))),
        }
        Ok(())
    }

    fn number(&self, _: usize, number: i64) -> Short {
        Short::of(|bytes| written(encode::write_sint(bytes, number)))
    }
}

fn write_string(text: &[u8], out: &mut RowBuffer) {
    match std::str::from_utf8(text) {
        Ok(text) => written(encode::write_str(out, text)),
        Err(_) => written(encode::write_bin(out, text)),
    }
}

fn write_integer(integer: i128, out: &mut RowBuffer) {
    match (i64::try_from(integer), u64::try_from(integer)) {
        (Ok(integer), _) => written(encode::write_sint(out, integer)),
        (_, Ok(integer)) => written(encode::write_uint(out, integer)),
        _ => written(encode::write_bin(out, &integer.to_be_bytes())),
    }
}

/// Writes a timestamp extension in the shortest of its three lengths.
fn write_timestamp(units: i64, unit: TimeUnit, out: &mut RowBuffer) {
    let (seconds, nanos) = seconds_and_nanos(units, unit);
    let mut bytes = [0; 12];
    let length = match (u32::try_from(seconds), nanos) {
        (Ok(seconds), 0) => {
            bytes[..4].copy_from_slice(&seconds.to_be_bytes());
            4
        }
        _ if (0..1 << 34).contains(&seconds) => {
            bytes[..8].copy_from_slice(&(u64::from(nanos) << 34 | seconds as u64).to_be_bytes());
            8
        }
        _ => {
            bytes[..4].copy_from_slice(&nanos.to_be_bytes());
            bytes[4..].copy_from_slice(&seconds.to_be_bytes());
            12
        }
    };
    written(encode::write_ext_meta(out, length as u32, TIMESTAMP_TYPE));
    out.push(&bytes[..length]);
}
