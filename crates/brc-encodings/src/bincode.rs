//! Rows as the crate `bincode` writes tuples: strings as a 64-bit length and their bytes, numbers as 64 bits.
//!
//! The crate is no longer maintained, and its later versions write other bytes; this one is pinned, and all that is used
//! of it is here. Integers have fixed widths, and no length is believed beyond the bytes that are there.

use crate::frames::{
    Fault, FileHeader, FrameDecoder, FrameEncoder, FrameHeader, FramedRows, LARGEST_FRAME, Layout, Malformed,
    RowDecoder, RowLayout, RowReader, take_text,
};
use crate::rows::{RowBuffer, RowEncoder, RowWriter, Short, written};
use ::bincode::{DefaultOptions, ErrorKind, Options};
use brc_core::{HoldFault, Schema};
use serde::de::Deserialize;
use std::io;

pub(crate) struct Bincode;

const MAGIC: &[u8] = b"\x89brc-bincode\r\n\x1a\n";

/// How everything is written and read.
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

    /// The numbers of a frame header are what bincode makes of them anyway.
    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>) {
        out.extend_from_slice(&header.to_bytes());
    }

    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader> {
        FrameHeader::from_bytes(bytes.try_into().ok()?)
    }

    fn encoder(&self, schema: &Schema) -> Box<dyn FrameEncoder> {
        Box::new(FramedRows(RowEncoder::new(self.name(), schema, Tuples)))
    }

    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder> {
        Box::new(RowDecoder::<Tuples>::new(schema, projection))
    }

    fn row_end(&self, schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed> {
        RowDecoder::<Tuples>::row_end(schema, bytes, least)
    }
}

/// A row is a tuple: its values, one after the other.
struct Tuples;

impl RowWriter for Tuples {
    fn around(&self, _: usize) -> (Vec<u8>, Vec<u8>) {
        (Vec::new(), Vec::new())
    }

    fn text(&self, _: usize, text: &[u8], out: &mut RowBuffer) -> Result<(), HoldFault> {
        write(text, out);
        Ok(())
    }

    #[inline]
    fn number(&self, _: usize, number: i64) -> Short {
        // What the crate writes, without asking it for each number.
        Short::new(&number.to_le_bytes())
    }
}

/// Appends a value. Writing to memory fails only beyond the limit, which the writer of frames enforces itself.
fn write(value: &(impl serde::Serialize + ?Sized), out: &mut impl io::Write) {
    let unlimited = DefaultOptions::new().with_fixint_encoding();
    written(unlimited.serialize_into(out, value));
}

impl RowLayout for Tuples {
    type Reader<'a> = TupleReader<'a>;

    fn reader(bytes: &[u8]) -> TupleReader<'_> {
        TupleReader(bytes)
    }
}

struct TupleReader<'a>(&'a [u8]);

impl<'a> TupleReader<'a> {
    #[inline]
    fn value<T: Deserialize<'a>>(&self) -> Result<T, Fault> {
        options().deserialize(self.0).map_err(|error| match *error {
            ErrorKind::Io(_) => Fault::CutOff,
            ErrorKind::SizeLimit => Fault::new("a string is longer than a frame may be"),
            error => Fault::new(error.to_string()),
        })
    }
}

impl<'a> RowReader<'a> for TupleReader<'a> {
    #[inline]
    fn left(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn begin_row(&mut self, _: usize) -> Result<(), Fault> {
        Ok(())
    }

    #[inline]
    fn text(&mut self, _: usize) -> Result<&'a [u8], Fault> {
        let text = self.value::<&[u8]>()?;
        self.0 = &self.0[size_of::<u64>()..];
        take_text(&mut self.0, text.len())
    }

    #[inline]
    fn number(&mut self, _: usize, _: u8) -> Result<i64, Fault> {
        let number = self.value()?;
        self.0 = &self.0[size_of::<i64>()..];
        Ok(number)
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
    fn rows_are_the_crates_tuples() {
        for number in [0, 1, -1, 599, i64::MIN, i64::MAX] {
            for name in ["", "Abha", "a name of some more bytes than a key has"] {
                let mut row = RowBuffer::default();
                Tuples.text(0, name.as_bytes(), &mut row).unwrap();
                row.push(Tuples.number(1, number).as_slice());
                assert_eq!(row.as_slice(), options().serialize(&(name, number)).unwrap());
            }
        }
    }
}
