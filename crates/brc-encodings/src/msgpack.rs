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

use crate::frames::{
    ARRAY_AROUND, Fault, FileHeader, FrameDecoder, FrameEncoder, FrameHeader, FramedRows, IntegerForm, Layout,
    Malformed, NOT_A_ROW, NOT_A_STRING, NOT_AN_INTEGER, RowDecoder, RowLayout, RowReader, not_a_uuid, not_of,
    take_integer, take_text, wrong_length,
};
use crate::rows::values::{self, float, float_of, from_seconds, integer, integer_64, seconds_and_nanos};
use crate::rows::{RowBuffer, RowEncoder, RowWriter, Short, written};
use brc_core::{LogicalType, Schema, TimeUnit, UnsupportedReason, Value, float32, uuid};
use rmp::Marker;
use rmp::decode::{self, Bytes, NumValueReadError, ValueReadError};
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

/// Reads such rows.
struct ArrayLayout;

impl RowLayout for ArrayLayout {
    type Reader<'a> = ArrayReader<'a>;

    fn reader<'a>(&'a self, bytes: &'a [u8]) -> ArrayReader<'a> {
        ArrayReader(bytes)
    }
}

struct ArrayReader<'a>(&'a [u8]);

/// The forms of integers of up to 32 bits.
static FORMS: [IntegerForm; 256] = {
    let mut forms = [IntegerForm::NONE; 256];
    let mut marker = 0;
    while marker < 256 {
        if marker < 0x80 || marker >= 0xe0 {
            forms[marker] = IntegerForm::short(8);
        }
        marker += 1;
    }
    (forms[0xcc], forms[0xcd], forms[0xce]) =
        (IntegerForm::long(1).unsigned(), IntegerForm::long(2).unsigned(), IntegerForm::long(4).unsigned());
    (forms[0xd0], forms[0xd1], forms[0xd2]) = (IntegerForm::long(1), IntegerForm::long(2), IntegerForm::long(4));
    forms
};

impl<'a> ArrayReader<'a> {
    /// Reads an item with the crate.
    fn take<T, E>(&mut self, read: impl FnOnce(&mut Bytes<'a>) -> Result<T, E>) -> Result<T, E> {
        let mut reader = Bytes::new(self.0);
        let outcome = read(&mut reader);
        self.0 = reader.remaining_slice();
        outcome
    }

    fn array(&mut self, columns: usize) -> Result<(), Fault> {
        match self.take(decode::read_array_len) {
            Ok(length) if length as usize == columns => Ok(()),
            Ok(_) if self.0.first().is_some_and(|&byte| is_array(Marker::from_u8(byte))) => {
                Err(Fault::unsupported(ARRAY_AROUND))
            }
            Ok(length) => Err(wrong_length(length.into(), columns)),
            Err(ValueReadError::TypeMismatch(marker)) => Err(unexpected(marker, NOT_A_ROW)),
            Err(_) => Err(Fault::CutOff),
        }
    }

    fn long_text(&mut self) -> Result<&'a [u8], Fault> {
        let length = match Marker::from_u8(*self.0.first().ok_or(Fault::CutOff)?) {
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => self.take(decode::read_bin_len),
            _ => self.take(decode::read_str_len),
        };
        match length {
            Ok(length) => take_text(&mut self.0, length),
            Err(ValueReadError::TypeMismatch(marker)) => Err(unexpected(marker, NOT_A_STRING)),
            Err(_) => Err(Fault::CutOff),
        }
    }

    /// An integer of any width, or the 16 bytes of one.
    fn integer(&mut self) -> Result<i128, Fault> {
        if let Some(integer) = take_integer(&FORMS, &mut self.0) {
            return Ok(integer.into());
        }
        match Marker::from_u8(*self.0.first().ok_or(Fault::CutOff)?) {
            Marker::U64 => match self.take(decode::read_u64) {
                Ok(integer) => Ok(integer.into()),
                Err(_) => Err(Fault::CutOff),
            },
            Marker::Bin8 => {
                let bytes = self.long_text()?.try_into();
                let bytes = bytes.map_err(|_| Fault::unsupported(format!("binary data {NOT_AN_INTEGER}")))?;
                Ok(i128::from_be_bytes(bytes))
            }
            _ => self.long_number().map(i128::from),
        }
    }

    fn boolean(&mut self, logical_type: LogicalType) -> Result<bool, Fault> {
        match self.take(decode::read_bool) {
            Ok(value) => Ok(value),
            Err(ValueReadError::TypeMismatch(marker)) => Err(unexpected(marker, &not_of(logical_type))),
            Err(_) => Err(Fault::CutOff),
        }
    }

    fn float(&mut self, logical_type: LogicalType) -> Result<f64, Fault> {
        let float = match Marker::from_u8(*self.0.first().ok_or(Fault::CutOff)?) {
            Marker::F64 => self.take(decode::read_f64),
            Marker::F32 => self.take(decode::read_f32).map(float32::widen),
            marker if is_integer(marker) => {
                let inexact = || Fault::unsupported("an integer that is no float of 64 bits");
                return float_of(self.integer()?).ok_or_else(inexact);
            }
            marker => return Err(unexpected(marker, &not_of(logical_type))),
        };
        float.map_err(|_| Fault::CutOff)
    }

    /// The units of a timestamp: an integer, or the timestamp extension.
    fn timestamp(&mut self, logical_type: LogicalType, unit: TimeUnit) -> Result<i128, Fault> {
        if is_integer(Marker::from_u8(*self.0.first().ok_or(Fault::CutOff)?)) {
            return self.integer();
        }
        let meta = match self.take(decode::read_ext_meta) {
            Ok(meta) => meta,
            Err(ValueReadError::TypeMismatch(marker)) => return Err(unexpected(marker, &not_of(logical_type))),
            Err(_) => return Err(Fault::CutOff),
        };
        let bytes = take_text(&mut self.0, meta.size)?;
        let (seconds, nanos) = match (meta.typeid, bytes) {
            (TIMESTAMP_TYPE, &[a, b, c, d]) => (u32::from_be_bytes([a, b, c, d]).into(), 0),
            (TIMESTAMP_TYPE, &[a, b, c, d, e, f, g, h]) => {
                let both = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
                ((both & ((1 << 34) - 1)) as i64, (both >> 34) as u32)
            }
            (TIMESTAMP_TYPE, &[a, b, c, d, e, f, g, h, i, j, k, l]) => {
                (i64::from_be_bytes([e, f, g, h, i, j, k, l]), u32::from_be_bytes([a, b, c, d]))
            }
            _ => return Err(Fault::unsupported(format!("an extension {}", not_of(logical_type)))),
        };
        let finer = || Fault::unsupported(format!("a timestamp of a finer unit {}", not_of(logical_type)));
        from_seconds(seconds, nanos, unit).ok_or_else(finer)
    }

    fn long_number(&mut self) -> Result<i64, Fault> {
        self.take(decode::read_int).map_err(|error| match error {
            NumValueReadError::TypeMismatch(marker) => unexpected(marker, NOT_AN_INTEGER),
            NumValueReadError::OutOfRange => Fault::unsupported("an integer does not fit 64 bits"),
            _ => Fault::CutOff,
        })
    }
}

/// The error that an item of a different kind is there; `is_not` describes the expected kind.
#[cold]
fn unexpected(marker: Marker, is_not: &str) -> Fault {
    let kind = match marker {
        Marker::Null => "nil",
        Marker::True | Marker::False => "a boolean",
        Marker::F32 | Marker::F64 => "a float",
        Marker::FixPos(_) | Marker::FixNeg(_) | Marker::U8 | Marker::U16 | Marker::U32 | Marker::U64 => "an integer",
        Marker::I8 | Marker::I16 | Marker::I32 | Marker::I64 => "an integer",
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => "a string",
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => "binary data",
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => "a map",
        marker if is_array(marker) => "an array",
        Marker::Reserved => return Fault::new("a byte that MessagePack does not use"),
        _ => "an extension",
    };
    Fault::unsupported(format!("{kind} {is_not}"))
}

fn is_integer(marker: Marker) -> bool {
    use Marker::{FixNeg, FixPos, I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(marker, FixPos(_) | FixNeg(_) | U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64)
}

fn is_array(marker: Marker) -> bool {
    matches!(marker, Marker::FixArray(_) | Marker::Array16 | Marker::Array32)
}

impl<'a> RowReader<'a> for ArrayReader<'a> {
    #[inline]
    fn remaining(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn begin_row(&mut self, columns: usize) -> Result<(), Fault> {
        match self.0.split_first() {
            Some((&marker, rest)) if usize::from(marker ^ 0x90) == columns && columns < 16 => {
                self.0 = rest;
                Ok(())
            }
            _ => self.array(columns),
        }
    }

    #[inline]
    fn null(&mut self, _: usize) -> Result<bool, Fault> {
        const NIL: u8 = 0xc0;
        let rest = self.0.strip_prefix(&[NIL]);
        self.0 = rest.unwrap_or(self.0);
        Ok(rest.is_some())
    }

    #[inline]
    fn text(&mut self, _: usize) -> Result<&'a [u8], Fault> {
        match self.0.split_first() {
            Some((&marker @ 0xa0..=0xbf, rest)) => {
                self.0 = rest;
                take_text(&mut self.0, marker & 0x1f)
            }
            _ => self.long_text(),
        }
    }

    #[inline]
    fn number(&mut self, _: usize, _: u8) -> Result<i64, Fault> {
        match take_integer(&FORMS, &mut self.0) {
            Some(number) => Ok(number),
            None => self.long_number(),
        }
    }

    fn value(&mut self, column: usize, logical_type: LogicalType) -> Result<Value<'a>, Fault> {
        Ok(match logical_type {
            LogicalType::Bool => Value::Integer(self.boolean(logical_type)?.into()),
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Date
            | LogicalType::Time { .. } => Value::Integer(self.integer()?),
            LogicalType::Timestamp { unit, .. } => Value::Integer(self.timestamp(logical_type, unit)?),
            LogicalType::Float32 | LogicalType::Float64 => Value::Float(self.float(logical_type)?),
            LogicalType::String | LogicalType::Binary => Value::Bytes(self.text(column)?),
            LogicalType::Uuid => Value::Integer(values::uuid(self.text(column)?).ok_or_else(not_a_uuid)?),
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
    fn integers_of_every_form_are_read_as_by_the_crate() {
        let mut bytes = [0x00, 0x81, 0x7f, 0x80, 0xff, 0x01, 0xfe, 0x55, 0xaa, 0x10];
        for initial in 0..=255u8 {
            bytes[0] = initial;
            for second in 0..=255u8 {
                bytes[1] = second;
                let (mut reader, mut other) = (ArrayReader(&bytes), ArrayReader(&bytes));
                let (by_table, by_crate) = (reader.number(0, 0), other.long_number());
                assert_eq!(by_table, by_crate, "{initial:#x} {second:#x}");
                if by_table.is_ok() {
                    assert_eq!(reader.remaining(), other.remaining());
                }
            }
        }
    }
}
