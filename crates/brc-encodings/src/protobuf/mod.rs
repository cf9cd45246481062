//! Rows as length-delimited protobuf messages, as read by `parseDelimitedFrom` and its like.
//!
//! A file starts with a message that identifies it and a [`Header`], which carries the descriptor of the rows' message,
//! so that a reader needs nothing but the file. A [`Frame`] precedes the rows of each frame. `schemas/table.proto`
//! describes all messages. Files of other programs are read as well, if they consist of rows only: strings as `bytes`
//! or `string`, decimals as `sint64`, numbered like the columns. A missing field is null in a nullable column;
//! otherwise it is empty or zero, as in protobuf. A field without a column is an error, because its values would be
//! lost.

mod messages;
mod rows;

use crate::frames::{FileHeader, FrameDecoder, FrameEncoder, FrameHeader, FramedRows, Layout, Malformed, RowDecoder};
use crate::rows::{RowEncoder, written};
use brc_core::Schema;
use messages::{Frame, Header};
use prost::Message;
use rows::{MessageLayout, Messages};

pub(crate) struct Protobuf;

/// A message of one string, with its length.
const MAGIC: &[u8] = b"\x0e\x0a\x0cbrc-protobuf";

/// The size of a frame header in bytes: its length, and four fixed-width numbers, each with its key.
const FRAME_BYTES: usize = 1 + 4 * (1 + 4);

impl Layout for Protobuf {
    fn name(&self) -> &'static str {
        "protobuf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pb", "protobuf"]
    }

    fn about(&self) -> &'static str {
        "rows as length-delimited Protocol Buffers messages: typed, read by many languages"
    }

    fn magic(&self) -> &'static [u8] {
        MAGIC
    }

    fn file_header(&self, header: &FileHeader) -> Vec<u8> {
        // A header whose schema was parsed has a valid schema.
        let rows = header.columns().ok().map(|schema| messages::describe(&schema));
        let FileHeader { version, schema, checksum } = header.clone();
        let mut bytes = MAGIC.to_vec();
        written(Header { version, schema, checksum, rows }.encode_length_delimited(&mut bytes));
        bytes
    }

    fn read_file_header(&self, bytes: &[u8]) -> Result<(FileHeader, usize), String> {
        let mut rest = bytes.get(MAGIC.len()..).unwrap_or(&[]);
        let header = Header::decode_length_delimited(&mut rest).map_err(|error| error.to_string())?;
        let Header { version, schema, checksum, .. } = header;
        Ok((FileHeader { version, schema, checksum }, bytes.len() - rest.len()))
    }

    fn frame_header_bytes(&self) -> usize {
        FRAME_BYTES
    }

    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>) {
        let &FrameHeader { length, rows, checksum } = header;
        let own_checksum = header.own_checksum();
        written(Frame { length, rows, checksum, own_checksum }.encode_length_delimited(out));
    }

    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader> {
        let Frame { length, rows, checksum, .. } = Frame::decode_length_delimited(bytes).ok()?;
        let header = FrameHeader { length, rows, checksum };
        // A field with a wrong number would be ignored, and the expected one read as 0.
        let mut sound = Vec::with_capacity(FRAME_BYTES);
        self.frame_header(&header, &mut sound);
        (sound == bytes).then_some(header)
    }

    fn encoder(&self, schema: &Schema) -> Box<dyn FrameEncoder> {
        Box::new(FramedRows(RowEncoder::new(self.name(), schema, Messages::new(schema))))
    }

    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder> {
        Box::new(RowDecoder::new(schema, projection, MessageLayout))
    }

    fn row_end(&self, schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed> {
        RowDecoder::row_end(&MessageLayout, schema, bytes, least)
    }
}
