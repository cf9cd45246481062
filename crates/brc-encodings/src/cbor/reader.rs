//! Reads rows as CBOR arrays. Short strings and rows of few columns, the usual case, are decoded here; the crate decodes
//! everything else.

use super::{
    ARRAY, BREAK, DATE_TEXT, DAYS, DECIMAL_FRACTION, EPOCH_TIME, NEGATIVE_BIGNUM, SELF_DESCRIBED, TIME_TEXT, UUID,
};
use crate::frames::{
    ARRAY_AROUND, Fault, IntegerForm, NOT_A_ROW, NOT_A_STRING, NOT_AN_INTEGER, RowLayout, RowReader, not_a_uuid,
    not_of, take_integer, take_text, wrong_length,
};
use crate::rows::values::{self, float_of};
use brc_core::{LogicalType, Value, calendar, float32};
use minicbor::Decoder;
use minicbor::data::Type;
use minicbor::decode::Error as DecodeError;

/// Reads rows as arrays.
pub(super) struct ArrayLayout;

impl RowLayout for ArrayLayout {
    type Reader<'a> = ArrayReader<'a>;

    fn reader<'a>(&'a self, bytes: &'a [u8]) -> ArrayReader<'a> {
        ArrayReader { rest: bytes, indefinite: false }
    }
}

pub(super) struct ArrayReader<'a> {
    rest: &'a [u8],
    /// Whether the array of the row has an indefinite length.
    indefinite: bool,
}

/// The forms of integers of up to 32 bits: n and -1 - n.
static FORMS: [IntegerForm; 256] = {
    let mut forms = [IntegerForm::NONE; 256];
    let mut short = 0;
    while short < 24 {
        forms[short] = IntegerForm::short(5).unsigned();
        forms[0x20 + short] = IntegerForm::short(5).negative();
        short += 1;
    }
    let long = [IntegerForm::long(1), IntegerForm::long(2), IntegerForm::long(4)];
    let mut index = 0;
    while index < long.len() {
        forms[0x18 + index] = long[index].unsigned();
        forms[0x38 + index] = long[index].negative();
        index += 1;
    }
    forms
};

impl<'a> ArrayReader<'a> {
    /// Reads an item with the crate.
    #[inline]
    fn take<T>(
        &mut self,
        is_not: &str,
        read: impl FnOnce(&mut Decoder<'a>) -> Result<T, DecodeError>,
    ) -> Result<T, Fault> {
        let mut decoder = Decoder::new(self.rest);
        match read(&mut decoder) {
            Ok(value) => {
                self.rest = &self.rest[decoder.position()..];
                Ok(value)
            }
            Err(error) => Err(fault(&error, self.rest, is_not)),
        }
    }

    fn array(&mut self, columns: usize) -> Result<(), Fault> {
        self.rest = self.rest.strip_prefix(SELF_DESCRIBED).unwrap_or(self.rest);
        let length = self.take(NOT_A_ROW, Decoder::array)?;
        self.indefinite = length.is_none();
        let is_of_arrays = self.rest.first().is_some_and(|byte| byte >> 5 == ARRAY);
        match length {
            // No value of a row is an array.
            _ if is_of_arrays && length != Some(columns as u64) => Err(Fault::unsupported(ARRAY_AROUND)),
            Some(length) if length != columns as u64 => Err(wrong_length(length, columns)),
            _ => Ok(()),
        }
    }

    /// A number without a short form: a 64-bit integer, or a decimal fraction (RFC 8949, 3.4.4).
    fn long_number(&mut self, scale: u8) -> Result<i64, Fault> {
        if self.rest.first() != Some(&DECIMAL_FRACTION) {
            return self.take(NOT_AN_INTEGER, Decoder::i64);
        }
        let (exponent, mantissa) =
            self.take("that is not a decimal fraction of two integers of 64 bits", |decoder| {
                decoder.tag()?;
                match decoder.array()? {
                    Some(2) => Ok((decoder.i64()?, decoder.i64()?)),
                    _ => Err(DecodeError::type_mismatch(Type::Array)),
                }
            })?;
        let unfit = || {
            let number = format!("the decimal fraction {mantissa}e{exponent}");
            Fault::unsupported(format!("{number} does not fit 64 bits with {scale} decimals; see --schema"))
        };
        scaled(mantissa, exponent, scale).ok_or_else(unfit)
    }

    /// An integer of up to 128 bits; of a decimal, in units of its scale.
    fn integer(&mut self, scale: u8) -> Result<i128, Fault> {
        if let Some(number) = take_integer(&FORMS, &mut self.rest) {
            return Ok(number.into());
        }
        match self.rest.first() {
            Some(&DECIMAL_FRACTION) => self.long_number(scale).map(i128::from),
            Some(0xc2 | 0xc3) => self.bignum(),
            _ => self.take(NOT_AN_INTEGER, Decoder::int).map(i128::from),
        }
    }

    fn bignum(&mut self) -> Result<i128, Fault> {
        let (tag, bytes) = self.take("that is not a bignum", |decoder| Ok((decoder.tag()?, decoder.bytes()?)))?;
        let too_large = || Fault::unsupported("an integer does not fit 128 bits");
        let magnitude = bytes.iter().try_fold(0i128, |sum, &byte| sum.checked_mul(256)?.checked_add(byte.into()));
        let magnitude = magnitude.ok_or_else(too_large)?;
        Ok(if tag.as_u64() == NEGATIVE_BIGNUM { !magnitude } else { magnitude })
    }

    /// Days: an integer with or without tag 100, or a text with tag 1004.
    fn date(&mut self, logical_type: LogicalType) -> Result<i128, Fault> {
        if self.rest.first().is_none_or(|initial| initial >> 5 != 6) {
            return self.integer(0);
        }
        let not_a_date = not_of(logical_type);
        match self.take(&not_a_date, Decoder::tag)?.as_u64() {
            DAYS => self.integer(0),
            DATE_TEXT => {
                let text = self.take(&not_a_date, Decoder::str)?;
                let days = calendar::parse_date(text.as_bytes());
                days.map(i128::from).ok_or_else(|| Fault::unsupported(format!("'{text}' is no date")))
            }
            tag => Err(Fault::unsupported(format!("an item with the tag {tag} {not_a_date}"))),
        }
    }

    fn float(&mut self, logical_type: LogicalType) -> Result<f64, Fault> {
        match self.rest.first() {
            // Integers of any form.
            Some(0..0x40) => {
                let inexact = || Fault::unsupported("an integer that is no float of 64 bits");
                float_of(self.integer(0)?).ok_or_else(inexact)
            }
            Some(0xf9) => self.half_float(),
            // Every bit of a NaN must survive.
            Some(0xfa) => self.take(&not_of(logical_type), Decoder::f32).map(float32::widen),
            _ => self.take(&not_of(logical_type), Decoder::f64),
        }
    }

    /// A float of 16 bits.
    fn half_float(&mut self) -> Result<f64, Fault> {
        let (bits, rest) = self.rest.get(1..).and_then(<[u8]>::split_first_chunk).ok_or(Fault::CutOff)?;
        self.rest = rest;
        Ok(half_float(u16::from_be_bytes(*bits)))
    }

    /// A UUID: its bytes or its text, with or without its tag.
    fn uuid(&mut self, column: usize, logical_type: LogicalType) -> Result<i128, Fault> {
        if self.rest.first().is_some_and(|initial| initial >> 5 == 6) {
            let not_a_uuid = not_of(logical_type);
            let tag = self.take(&not_a_uuid, Decoder::tag)?.as_u64();
            if tag != UUID {
                return Err(Fault::unsupported(format!("an item with the tag {tag} {not_a_uuid}")));
            }
        }
        values::uuid(self.text(column)?).ok_or_else(not_a_uuid)
    }

    /// A string that is not checked to be UTF-8: strings may hold any bytes.
    fn long_text(&mut self) -> Result<&'a [u8], Fault> {
        let initial = *self.rest.first().ok_or(Fault::CutOff)?;
        // The length of a string is encoded like a number, apart from the first three bits.
        let length = match initial {
            0x40..=0x5b | 0x60..=0x7b => argument(self.rest)?,
            0x5f | 0x7f => return Err(Fault::unsupported("a string in chunks; write it in one piece")),
            _ => return Err(unexpected(self.rest, NOT_A_STRING)),
        };
        self.rest = length.1;
        take_text(&mut self.rest, length.0)
    }
}

/// The argument of an item's first byte, and the bytes after it.
fn argument(bytes: &[u8]) -> Result<(u64, &[u8]), Fault> {
    let (initial, rest) = bytes.split_first().ok_or(Fault::CutOff)?;
    let long = match initial & 0x1f {
        short @ ..24 => return Ok((short.into(), rest)),
        24 => 1,
        25 => 2,
        26 => 4,
        _ => 8,
    };
    let (number, rest) = rest.split_at_checked(long).ok_or(Fault::CutOff)?;
    Ok((number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)), rest))
}

/// The value of a float of 16 bits: a sign, 5 bits of exponent and 10 of mantissa.
fn half_float(bits: u16) -> f64 {
    let (exponent, mantissa) = (bits >> 10 & 0x1f, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => mantissa / f64::from(1 << 24),
        // Infinity, or a NaN with its bits.
        0x1f => f64::from_bits(f64::INFINITY.to_bits() | u64::from(bits & 0x3ff) << 42),
        _ => (1024.0 + mantissa) / 1024.0 * f64::powi(2.0, i32::from(exponent) - 15),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

/// `mantissa` times ten to the power of `exponent`, in units of the last of `scale` decimals, if that is an integer of
/// 64 bits.
fn scaled(mantissa: i64, exponent: i64, scale: u8) -> Option<i64> {
    let shift = exponent.checked_add(scale.into())?;
    if mantissa == 0 {
        return Some(0);
    }
    let power = 10i64.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?)?;
    if shift >= 0 { mantissa.checked_mul(power) } else { (mantissa % power == 0).then(|| mantissa / power) }
}

#[cold]
fn fault(error: &DecodeError, at: &[u8], is_not: &str) -> Fault {
    if error.is_end_of_input() {
        return Fault::CutOff;
    }
    match Decoder::new(at).datatype() {
        Ok(Type::U64 | Type::Int) if !error.is_type_mismatch() => Fault::unsupported("an integer does not fit 64 bits"),
        _ => unexpected(at, is_not),
    }
}

/// The error that the bytes begin with an item of a different kind; `is_not` describes the expected kind.
#[cold]
fn unexpected(bytes: &[u8], is_not: &str) -> Fault {
    let kind = match Decoder::new(bytes).datatype() {
        Ok(Type::Bool) => "a boolean",
        Ok(Type::Null) => "null",
        Ok(Type::Undefined) => "undefined",
        Ok(Type::U8 | Type::U16 | Type::U32 | Type::U64) => "an integer",
        Ok(Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int) => "an integer",
        Ok(Type::F16 | Type::F32 | Type::F64) => "a float",
        Ok(Type::Simple) => "a simple value",
        Ok(Type::Bytes | Type::BytesIndef) => "a byte string",
        Ok(Type::String | Type::StringIndef) => "a string",
        Ok(Type::Array | Type::ArrayIndef) => "an array",
        Ok(Type::Map | Type::MapIndef) => "a map",
        Ok(Type::Tag) => return tagged(bytes, is_not),
        Ok(Type::Break) => return Fault::new("an end of an array or a map that has not begun"),
        Ok(Type::Unknown(_)) => return Fault::new("a byte that CBOR does not use"),
        Err(_) => return Fault::CutOff,
    };
    Fault::unsupported(format!("{kind} {is_not}"))
}

/// The error that the bytes begin with a tag.
#[cold]
fn tagged(bytes: &[u8], is_not: &str) -> Fault {
    match argument(bytes) {
        Ok((tag @ (TIME_TEXT | EPOCH_TIME), _)) => Fault::unsupported(format!(
            "a time with the tag {tag}; brc reads times as integers in units of the column's type, without a tag"
        )),
        Ok((tag, _)) => Fault::unsupported(format!("an item with the tag {tag} {is_not}")),
        Err(fault) => fault,
    }
}

impl<'a> RowReader<'a> for ArrayReader<'a> {
    #[inline]
    fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    fn begin_row(&mut self, columns: usize) -> Result<(), Fault> {
        match self.rest.split_first() {
            Some((&initial, rest)) if usize::from(initial ^ 0x80) == columns && columns < 24 => {
                self.rest = rest;
                Ok(())
            }
            _ => self.array(columns),
        }
    }

    #[inline]
    fn null(&mut self, _: usize) -> Result<bool, Fault> {
        const NULL: u8 = 0xf6;
        const UNDEFINED: u8 = 0xf7;
        match self.rest.split_first() {
            Some((&(NULL | UNDEFINED), rest)) => {
                self.rest = rest;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    #[inline]
    fn text(&mut self, _: usize) -> Result<&'a [u8], Fault> {
        match self.rest.split_first() {
            Some((&initial @ 0x60..0x78, rest)) => {
                self.rest = rest;
                take_text(&mut self.rest, initial & 0x1f)
            }
            _ => self.long_text(),
        }
    }

    #[inline]
    fn number(&mut self, _: usize, scale: u8) -> Result<i64, Fault> {
        match take_integer(&FORMS, &mut self.rest) {
            Some(number) => Ok(number),
            None => self.long_number(scale),
        }
    }

    fn value(&mut self, column: usize, logical_type: LogicalType) -> Result<Value<'a>, Fault> {
        Ok(match logical_type {
            LogicalType::Bool => Value::Integer(self.take(&not_of(logical_type), Decoder::bool)?.into()),
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. } => Value::Integer(self.integer(logical_type.scale())?),
            LogicalType::Date => Value::Integer(self.date(logical_type)?),
            LogicalType::Float32 | LogicalType::Float64 => Value::Float(self.float(logical_type)?),
            LogicalType::String | LogicalType::Binary => Value::Bytes(self.text(column)?),
            LogicalType::Uuid => Value::Integer(self.uuid(column, logical_type)?),
        })
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), Fault> {
        if !self.indefinite {
            return Ok(());
        }
        self.indefinite = false;
        match self.rest.split_first() {
            Some((&BREAK, rest)) => {
                self.rest = rest;
                Ok(())
            }
            Some(_) => Err(Fault::unsupported("a row has more values than there are columns; see --schema")),
            None => Err(Fault::CutOff),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_fractions_are_exact() {
        for (mantissa, exponent, scale, number) in [
            (123, -1, 2, Some(1230)),
            (-12345, -3, 3, Some(-12345)),
            (1500, -3, 1, Some(15)),
            (1234, -3, 2, None),
            (7, 2, 0, Some(700)),
            (0, i64::MIN, 0, Some(0)),
            (0, 100, 18, Some(0)),
            (1, i64::MAX, 18, None),
            (i64::MAX, 0, 1, None),
            (i64::MIN, -1, 1, Some(i64::MIN)),
        ] {
            assert_eq!(scaled(mantissa, exponent, scale), number, "{mantissa}e{exponent}");
        }
    }

    #[test]
    fn integers_of_every_form_are_read_as_by_the_crate() {
        let mut bytes = [0x00, 0x81, 0x7f, 0x80, 0xff, 0x01, 0xfe, 0x55, 0xaa, 0x10];
        for initial in 0..=255u8 {
            bytes[0] = initial;
            for second in 0..=255u8 {
                bytes[1] = second;
                let (mut reader, mut other) = (ArrayLayout.reader(&bytes), ArrayLayout.reader(&bytes));
                let (by_table, by_crate) = (reader.number(0, 0), other.long_number(0));
                assert_eq!(by_table, by_crate, "{initial:#x} {second:#x}");
                if by_table.is_ok() {
                    assert_eq!(reader.remaining(), other.remaining());
                }
            }
        }
    }
}
