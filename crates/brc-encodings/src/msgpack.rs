//! Rows as MessagePack arrays: any reader of MessagePack takes a file for a sequence of items.
//!
//! The first item is a map that tells what the columns are. Before the rows of each frame stands an extension of
//! [`FRAME_TYPE`]. A row is an array of strings (`str`, or `bin` if they are not UTF-8) and integers in their shortest
//! form. Files of other programs are read as well: they have neither map nor extensions, and their integers any form.
//!
//! Short strings and rows of few columns, which nearly all are, are taken by hand; everything else is the crate's.

use crate::frames::{
    ARRAY_AROUND, Fault, FileHeader, Form, FrameDecoder, FrameEncoder, FrameHeader, FramedRows, Layout, Malformed,
    NOT_A_ROW, NOT_A_STRING, NOT_AN_INTEGER, RowDecoder, RowLayout, RowReader, take_integer, take_text, wrong_length,
};
use crate::rows::{RowBuffer, RowEncoder, RowWriter, Short, written};
use brc_core::{HoldFault, Schema};
use rmp::Marker;
use rmp::decode::{self, Bytes, NumValueReadError, ValueReadError};
use rmp::encode;

pub(crate) struct MsgPack;

/// A map of three, of which the first key is told: the first bytes of a header.
const MAGIC: &[u8] = b"\x83\xabbrc-msgpack";
const SCHEMA: &str = "schema";
const CHECKSUM: &str = "checksum";

/// The application's type of the extensions before frames.
const FRAME_TYPE: i8 = 98;

/// An extension of sixteen bytes.
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
        let version = integer(&mut rest)?;
        // A key, what it stands for, and the next key.
        let [_, schema, _] = [string(&mut rest)?, string(&mut rest)?, string(&mut rest)?];
        let (schema, checksum) = (schema.to_owned(), integer(&mut rest)?);
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
        Box::new(FramedRows(RowEncoder::new(self.name(), schema, Arrays { columns: schema.fields().len() })))
    }

    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder> {
        Box::new(RowDecoder::<Arrays>::new(schema, projection))
    }

    fn row_end(&self, schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed> {
        RowDecoder::<Arrays>::row_end(schema, bytes, least)
    }
}

/// An integer of a header.
fn integer(bytes: &mut &[u8]) -> Result<u32, String> {
    let mut reader = Bytes::new(bytes);
    let number = decode::read_int(&mut reader).map_err(|error| error.to_string())?;
    *bytes = reader.remaining_slice();
    Ok(number)
}

/// A string of a header: a key or what it stands for.
fn string<'a>(bytes: &mut &'a [u8]) -> Result<&'a str, String> {
    let (text, rest) = decode::read_str_from_slice(*bytes).map_err(|error| error.to_string())?;
    *bytes = rest;
    Ok(text)
}

/// A row is an array.
struct Arrays {
    columns: usize,
}

impl RowWriter for Arrays {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        let mut before = Vec::new();
        if column == 0 {
            written(encode::write_array_len(&mut before, self.columns as u32));
        }
        (before, Vec::new())
    }

    fn text(&self, _: usize, text: &[u8], out: &mut RowBuffer) -> Result<(), HoldFault> {
        // One that is longer than MessagePack allows does not fit a frame either.
        match std::str::from_utf8(text) {
            Ok(text) => written(encode::write_str(out, text)),
            Err(_) => written(encode::write_bin(out, text)),
        }
        Ok(())
    }

    fn number(&self, _: usize, number: i64) -> Short {
        Short::of(|bytes| written(encode::write_sint(bytes, number)))
    }
}

impl RowLayout for Arrays {
    type Reader<'a> = ArrayReader<'a>;

    fn reader(bytes: &[u8]) -> ArrayReader<'_> {
        ArrayReader(bytes)
    }
}

struct ArrayReader<'a>(&'a [u8]);

/// The integers of up to 32 bits.
static FORMS: [Form; 256] = {
    let mut forms = [Form::NONE; 256];
    let mut marker = 0;
    while marker < 256 {
        if marker < 0x80 || marker >= 0xe0 {
            forms[marker] = Form::short(8);
        }
        marker += 1;
    }
    (forms[0xcc], forms[0xcd], forms[0xce]) =
        (Form::long(1).unsigned(), Form::long(2).unsigned(), Form::long(4).unsigned());
    (forms[0xd0], forms[0xd1], forms[0xd2]) = (Form::long(1), Form::long(2), Form::long(4));
    forms
};

impl<'a> ArrayReader<'a> {
    /// Takes what the crate reads.
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
            Err(ValueReadError::TypeMismatch(marker)) => Err(strange(marker, NOT_A_ROW)),
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
            Err(ValueReadError::TypeMismatch(marker)) => Err(strange(marker, NOT_A_STRING)),
            Err(_) => Err(Fault::CutOff),
        }
    }

    fn long_number(&mut self) -> Result<i64, Fault> {
        self.take(decode::read_int).map_err(|error| match error {
            NumValueReadError::TypeMismatch(marker) => strange(marker, NOT_AN_INTEGER),
            NumValueReadError::OutOfRange => Fault::unsupported("an integer does not fit 64 bits"),
            _ => Fault::CutOff,
        })
    }
}

/// The fault that there is something else than what `is_not` says.
#[cold]
fn strange(marker: Marker, is_not: &str) -> Fault {
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

fn is_array(marker: Marker) -> bool {
    matches!(marker, Marker::FixArray(_) | Marker::Array16 | Marker::Array32)
}

impl<'a> RowReader<'a> for ArrayReader<'a> {
    #[inline]
    fn left(&self) -> usize {
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

    #[inline]
    fn end_row(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_form_are_what_the_crate_reads() {
        let mut bytes = [0x00, 0x81, 0x7f, 0x80, 0xff, 0x01, 0xfe, 0x55, 0xaa, 0x10];
        for initial in 0..=255u8 {
            bytes[0] = initial;
            for second in 0..=255u8 {
                bytes[1] = second;
                let (mut reader, mut other) = (ArrayReader(&bytes), ArrayReader(&bytes));
                let (by_table, by_crate) = (reader.number(0, 0), other.long_number());
                assert_eq!(by_table, by_crate, "{initial:#x} {second:#x}");
                if by_table.is_ok() {
                    assert_eq!(reader.left(), other.left());
                }
            }
        }
    }
}
