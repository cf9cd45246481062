//! Tables as Cap'n Proto messages that hold columns, and are read in place.
//!
//! A list of structs would cost as much as any other row encoding, because each field is checked and read separately.
//! So a frame is one message with a list of numbers for each column, and strings are codes into a dictionary of that
//! message. Readers borrow the projected lists as slices, without copying them out of the message.
//!
//! `schemas/table.capnp` defines the messages. A file is a stream of them and nothing else, so that any tool for
//! Cap'n Proto can read it. The packed form removes the zero bytes from the same messages.

mod decoder;
mod encoder;
mod messages;
mod numbers;
mod packing;
mod strings;
#[cfg(test)]
mod tests;

use crate::frames::{FileHeader, FrameDecoder, FrameEncoder, FrameHeader, Layout, Malformed};
use crate::table_capnp::{entry, header};
use ::capnp::message::{Builder, HeapAllocator};
use ::capnp::serialize;
use brc_core::Schema;
use messages::{Form, Messages, NoMessage, malformed};
use std::io::Write;

/// The encoding of unpacked messages.
pub(crate) static CAPNP: Capnp = Capnp(Form::Plain);

/// The encoding of packed messages.
pub(crate) static CAPNP_PACKED: Capnp = Capnp(Form::Packed);

pub(crate) struct Capnp(Form);

/// The first message: an entry `start`, whose segment ends with two words that no pointer refers to. A program that
/// rewrites the messages drops them, and frames are no longer where their headers say.
const START: &[u8] = b"\0\0\0\0\x05\0\0\0\0\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x89brc's capnp\r\n\x1a\n";

/// The same packed, with a different mark.
const PACKED_START: &[u8] = b"\x10\x05\x50\x01\x01\x00\x01\xff\x89brc's c\x01pack\r\n\x1a\n";

/// The first message as other programs rewrite it, without the unreferenced words.
const REWRITTEN: &[u8] = b"\0\0\0\0\x03\0\0\0\0\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// The same packed.
const PACKED_REWRITTEN: &[u8] = b"\x10\x03\x50\x01\x01\x00\x01";

/// The constant start of a frame header message: the table, the root, the entry, the pointer to the frame, and its
/// mark. [`FrameHeader::to_bytes`] follows.
const FRAME: &[u8] = b"\0\0\0\0\x06\0\0\0\0\0\0\0\x01\0\x01\0\x02\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0brcframe";

/// The same packed. The mark begins a run of uncompressed words.
const PACKED_FRAME: &[u8] = b"\x10\x06\x50\x01\x01\x01\x02\x10\x03\xffbrcframe\x02";

impl Capnp {
    fn frame_start(&self) -> &'static [u8] {
        match self.0 {
            Form::Plain => FRAME,
            Form::Packed => PACKED_FRAME,
        }
    }
}

impl Layout for Capnp {
    fn name(&self) -> &'static str {
        match self.0 {
            Form::Plain => "capnp",
            Form::Packed => "capnp-packed",
        }
    }

    fn extensions(&self) -> &'static [&'static str] {
        match self.0 {
            Form::Plain => &["capnp"],
            Form::Packed => &["cpacked", "capnp-packed"],
        }
    }

    fn about(&self) -> &'static str {
        match self.0 {
            Form::Plain => "Cap'n Proto messages of columns: read in place",
            Form::Packed => "Cap'n Proto messages of columns without their zero bytes",
        }
    }

    fn magic(&self) -> &'static [u8] {
        match self.0 {
            Form::Plain => START,
            Form::Packed => PACKED_START,
        }
    }

    fn is_rewritten(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(match self.0 {
            Form::Plain => REWRITTEN,
            Form::Packed => PACKED_REWRITTEN,
        })
    }

    fn file_header(&self, header: &FileHeader) -> Vec<u8> {
        let mut message = Builder::new_default();
        let mut root = message.init_root::<entry::Builder<'_>>().init_header();
        root.set_version(header.version);
        root.set_checksum(header.checksum);
        root.set_schema(header.schema.as_str());
        let mut bytes = self.magic().to_vec();
        write(&message, self.0, &mut bytes);
        bytes
    }

    fn read_file_header(&self, bytes: &[u8]) -> Result<(FileHeader, usize), String> {
        let mut rest = bytes.get(self.magic().len()..).unwrap_or(&[]);
        let header = take_header(self.0, &mut rest).map_err(NoMessage::reason)?;
        let header = header.ok_or("the second message is no header")?;
        Ok((header, bytes.len() - rest.len()))
    }

    fn schema_of_prefix(&self, prefix: &[u8]) -> Option<Schema> {
        let mut rest = prefix;
        let first = take_header(self.0, &mut rest).ok()?;
        let header = first.or_else(|| take_header(self.0, &mut rest).ok()?)?;
        header.columns().ok().filter(|_| header.is_sound())
    }

    fn frame_header_bytes(&self) -> usize {
        self.frame_start().len() + size_of::<[u32; 4]>()
    }

    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>) {
        out.extend_from_slice(self.frame_start());
        out.extend_from_slice(&header.to_bytes());
    }

    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader> {
        FrameHeader::from_bytes(bytes.strip_prefix(self.frame_start())?.try_into().ok()?)
    }

    fn encoder(&self, schema: &Schema) -> Box<dyn FrameEncoder> {
        Box::new(encoder::ColumnsEncoder::new(self.0, schema))
    }

    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder> {
        Box::new(decoder::ColumnsDecoder::new(self.0, schema, projection))
    }

    fn row_end(&self, _: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed> {
        let mut rest = bytes;
        loop {
            let at = bytes.len() - rest.len();
            if at >= least && at > 0 {
                // The number of rows of messages is not determined: errors do not refer to rows here.
                return Ok(Some((at, 0)));
            }
            match self.0.skip(&mut rest) {
                Ok(()) => {}
                Err(NoMessage::CutOff) => return Ok(None),
                Err(NoMessage::Malformed(reason)) => return Err(Malformed::corrupt(at, 0, reason)),
            }
        }
    }
}

/// Appends a message.
fn write(message: &Builder<HeapAllocator>, form: Form, out: &mut impl Write) {
    let outcome = match form {
        Form::Plain => serialize::write_message(out, message),
        Form::Packed => ::capnp::serialize_packed::write_message(out, message),
    };
    if let Err(error) = outcome {
        unreachable!("writing to memory failed: {error}");
    }
}

/// Takes a message off the front; returns its header, if it is one.
fn take_header(form: Form, bytes: &mut &[u8]) -> Result<Option<FileHeader>, NoMessage> {
    let mut messages = Messages::default();
    let message = messages.next(form, bytes)?;
    match message.get_root::<entry::Reader<'_>>().map_err(malformed)?.which() {
        Ok(entry::Header(header)) => read_header(header.map_err(malformed)?).map(Some),
        _ => Ok(None),
    }
}

fn read_header(header: header::Reader<'_>) -> Result<FileHeader, NoMessage> {
    let schema = header.get_schema().map_err(malformed)?.to_string();
    let schema = schema.map_err(|error| NoMessage::Malformed(error.to_string()))?;
    Ok(FileHeader { version: header.get_version(), schema, checksum: header.get_checksum() })
}
