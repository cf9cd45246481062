//! The message of a row.
//!
//! A field of a column that is not nullable is omitted if it is empty or zero, as in proto3; a field of a nullable
//! column is omitted for a null, and only for a null.

use crate::frames::{Fault, RowLayout, RowReader, not_a_uuid, take_text};
use crate::rows::values::{self, float, integer, integer_64};
use crate::rows::{RowBuffer, RowWriter, Short};
use crate::varint;
use brc_core::{Field, LogicalType, Schema, UnsupportedReason, Value, float32, uuid};
use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};

/// Writes a row as a length-delimited message.
pub(super) struct Messages {
    fields: Vec<Field>,
}

impl Messages {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { fields: schema.fields().to_vec() }
    }
}

/// How the values of a type are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// `bool` and `uint64`.
    Varint,
    /// `sint64`.
    Zigzag,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `bytes`.
    Bytes,
    /// 128-bit integers as 16 `bytes` in two's complement, big-endian.
    Wide,
    /// The 16 `bytes` of UUIDs.
    Uuid,
}

impl FieldKind {
    pub(super) fn of(logical_type: LogicalType) -> Self {
        match logical_type {
            LogicalType::Bool | LogicalType::UInt64 => Self::Varint,
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. } => Self::Zigzag,
            LogicalType::Decimal { .. } if logical_type.fits_64_bits() => Self::Zigzag,
            LogicalType::Decimal { .. } => Self::Wide,
            LogicalType::Float32 => Self::Float,
            LogicalType::Float64 => Self::Double,
            LogicalType::String | LogicalType::Binary => Self::Bytes,
            LogicalType::Uuid => Self::Uuid,
        }
    }

    fn wire_type(self) -> WireType {
        match self {
            Self::Varint | Self::Zigzag => WireType::Varint,
            Self::Float => WireType::ThirtyTwoBit,
            Self::Double => WireType::SixtyFourBit,
            Self::Bytes | Self::Wide | Self::Uuid => WireType::LengthDelimited,
        }
    }
}

/// The number of a column's field. A header within the size limit has far fewer columns than there may be fields.
fn field(column: usize) -> u32 {
    column as u32 + 1
}

/// The bytes of a 128-bit integer.
const WIDE_BYTES: usize = 16;

/// The UUID of zero bytes.
const NIL: i128 = i128::MIN;

impl RowWriter for Messages {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        // The length of the row is written before the first column.
        (vec![0; usize::from(column == 0)], Vec::new())
    }

    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        let Some(value) = value else { return Ok(()) };
        let Field { logical_type, nullable, .. } = self.fields[column];
        let kind = FieldKind::of(logical_type);
        let head = |length: Option<usize>| {
            Short::of(|out| {
                encode_key(field(column), kind.wire_type(), out);
                if let Some(length) = length {
                    encode_varint(length as u64, out);
                }
            })
        };
        match kind {
            FieldKind::Zigzag => out.push(self.number(column, integer_64(value)).as_slice()),
            FieldKind::Varint if integer(value) != 0 || nullable => {
                out.push(head(None).as_slice());
                out.push(Short::of(|out| encode_varint(integer(value) as u64, out)).as_slice());
            }
            FieldKind::Float if float(value).to_bits() != 0 || nullable => {
                out.push(head(None).as_slice());
                out.push(&float32::nearest(float(value)).to_le_bytes());
            }
            FieldKind::Double if float(value).to_bits() != 0 || nullable => {
                out.push(head(None).as_slice());
                out.push(&float(value).to_le_bytes());
            }
            FieldKind::Wide if integer(value) != 0 || nullable => {
                out.push(head(Some(WIDE_BYTES)).as_slice());
                out.push(&integer(value).to_be_bytes());
            }
            FieldKind::Uuid if integer(value) != NIL || nullable => {
                out.push(head(Some(uuid::BYTES)).as_slice());
                out.push(&uuid::to_bytes(integer(value)));
            }
            FieldKind::Bytes if !values::bytes(value).is_empty() || nullable => {
                let bytes = values::bytes(value);
                out.push(head(Some(bytes.len())).as_slice());
                out.push(bytes);
            }
            FieldKind::Varint
            | FieldKind::Float
            | FieldKind::Double
            | FieldKind::Wide
            | FieldKind::Uuid
            | FieldKind::Bytes => {}
        }
        Ok(())
    }

    fn number(&self, column: usize, number: i64) -> Short {
        if number == 0 && !self.fields[column].nullable {
            return Short::new(&[]);
        }
        Short::of(|out| {
            encode_key(field(column), WireType::Varint, out);
            encode_varint(varint::zigzag(number), out);
        })
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

/// Writes the length before a row whose length takes more than one byte.
fn long_row(row: &mut [u8], bytes: usize) -> usize {
    let length = Short::of(|out| encode_varint(bytes as u64, out));
    let length = length.as_slice();
    row.copy_within(1..=bytes, length.len());
    row[..length.len()].copy_from_slice(length);
    length.len() + bytes
}

/// Reads such rows.
pub(super) struct MessageLayout;

impl RowLayout for MessageLayout {
    type Reader<'a> = MessageReader<'a>;

    fn reader<'a>(&'a self, bytes: &'a [u8]) -> MessageReader<'a> {
        MessageReader { rest: bytes, after: 0 }
    }
}

pub(super) struct MessageReader<'a> {
    rest: &'a [u8],
    /// The number of these bytes that are after the row.
    after: usize,
}

impl<'a> MessageReader<'a> {
    /// Takes the key of a column's field, if the field is next. Fields are in the order of their numbers; an omitted
    /// field has its default value.
    #[inline]
    fn key(&mut self, column: usize, wire_type: WireType) -> Result<bool, Fault> {
        match self.rest.split_first() {
            Some((&key, rest)) if usize::from(key) == (column + 1) << 3 | wire_type as usize && key < 0x80 => {
                // If the row ends here, its length check fails later.
                let is_there = self.rest.len() > self.after;
                self.rest = if is_there { rest } else { self.rest };
                Ok(is_there)
            }
            _ => self.long_key(column, wire_type),
        }
    }

    fn long_key(&mut self, column: usize, wire_type: WireType) -> Result<bool, Fault> {
        if self.rest.len() <= self.after {
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

    /// Whether the field of a column is next: fields are in the order of their numbers.
    fn is_next(&self, column: usize) -> Result<bool, Fault> {
        if self.rest.len() <= self.after {
            return Ok(false);
        }
        let mut rest = self.rest;
        let (number, _) = decode_key(&mut rest).map_err(|error| Fault::new(error.to_string()))?;
        Ok(number == field(column))
    }

    /// Takes bytes of the row.
    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        match take_text(&mut self.rest, length) {
            Ok(bytes) if self.rest.len() >= self.after => Ok(bytes),
            _ => Err(beyond()),
        }
    }

    /// Takes a varint of the row.
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
        if self.rest.len() < self.after { Err(beyond()) } else { Ok(number) }
    }
}

#[cold]
fn beyond() -> Fault {
    Fault::new("a field is longer than its row")
}

impl<'a> RowReader<'a> for MessageReader<'a> {
    #[inline]
    fn remaining(&self) -> usize {
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
                ..varint::MAX_BYTES => Fault::CutOff,
                _ => Fault::new(error.to_string()),
            })?,
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.after = self.rest.len().checked_sub(length).ok_or(Fault::CutOff)?;
        Ok(())
    }

    #[inline]
    fn null(&mut self, column: usize) -> Result<bool, Fault> {
        self.is_next(column).map(|is_next| !is_next)
    }

    #[inline]
    fn text(&mut self, column: usize) -> Result<&'a [u8], Fault> {
        if !self.key(column, WireType::LengthDelimited)? {
            return take_text(&mut self.rest, 0usize);
        }
        let length = self.varint()?;
        self.bytes(usize::try_from(length).unwrap_or(usize::MAX))
    }

    #[inline]
    fn number(&mut self, column: usize, _: u8) -> Result<i64, Fault> {
        if !self.key(column, WireType::Varint)? {
            return Ok(0);
        }
        self.varint().map(varint::unzigzag)
    }

    fn value(&mut self, column: usize, logical_type: LogicalType) -> Result<Value<'a>, Fault> {
        let kind = FieldKind::of(logical_type);
        Ok(match kind {
            FieldKind::Zigzag => Value::Integer(self.number(column, 0)?.into()),
            FieldKind::Bytes => Value::Bytes(self.text(column)?),
            FieldKind::Varint => match self.key(column, kind.wire_type())? {
                true => Value::Integer(self.varint()?.into()),
                false => Value::Integer(0),
            },
            FieldKind::Float => match self.key(column, kind.wire_type())? {
                true => {
                    let float = self.bytes(size_of::<f32>())?.try_into().map_or(0.0, f32::from_le_bytes);
                    Value::Float(float32::widen(float))
                }
                false => Value::Float(0.0),
            },
            FieldKind::Double => match self.key(column, kind.wire_type())? {
                true => Value::Float(self.bytes(size_of::<f64>())?.try_into().map_or(0.0, f64::from_le_bytes)),
                false => Value::Float(0.0),
            },
            FieldKind::Uuid => match self.text(column)? {
                [] => Value::Integer(NIL),
                bytes => Value::Integer(values::uuid(bytes).ok_or_else(not_a_uuid)?),
            },
            FieldKind::Wide => match self.text(column)? {
                [] => Value::Integer(0),
                bytes => match bytes.try_into() {
                    Ok(bytes) => Value::Integer(i128::from_be_bytes(bytes)),
                    Err(_) => return Err(Fault::new(format!("{} bytes of an integer of {WIDE_BYTES}", bytes.len()))),
                },
            },
        })
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), Fault> {
        if self.rest.len() == self.after { Ok(()) } else { Err(self.unexpected_field()) }
    }
}

impl MessageReader<'_> {
    #[cold]
    fn unexpected_field(&self) -> Fault {
        let mut rest = self.rest;
        Fault::new(match decode_key(&mut rest) {
            Ok((number, _)) => format!("field {number} is not of the table, or not in the order of the columns"),
            Err(error) => error.to_string(),
        })
    }
}
