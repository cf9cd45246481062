//! Reads rows, also those of other programs, whose integers may have any form.

use super::TIMESTAMP_TYPE;
use crate::frames::{
    ARRAY_AROUND, Fault, IntegerForm, NOT_A_ROW, NOT_A_STRING, NOT_AN_INTEGER, RowLayout, RowReader, not_a_uuid,
    not_of, take_integer, take_text, wrong_length,
};
use crate::rows::values::{self, float_of, from_seconds};
use brc_core::{LogicalType, TimeUnit, Value, float32};
use rmp::Marker;
use rmp::decode::{self, Bytes, NumValueReadError, ValueReadError};

/// How the rows lie in their arrays.
pub(super) struct ArrayLayout;

impl RowLayout for ArrayLayout {
    type Reader<'a> = ArrayReader<'a>;

    fn reader<'a>(&'a self, bytes: &'a [u8]) -> ArrayReader<'a> {
        ArrayReader(bytes)
    }
}

pub(super) struct ArrayReader<'a>(&'a [u8]);

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
