//! Arrow's stream format: messages one after another, without a footer that locates them.

use super::layout;
use super::messages::CONTINUATION;
use arrow_ipc::{Block, MessageHeader, root_as_message};
use brc_core::{Error, ReadAt, Result};
use std::path::Path;

/// Whether these first bytes are a stream's: a schema message.
pub(super) fn is_stream(prefix: &[u8]) -> bool {
    let Some(([a, b, c, d], rest)) = prefix.strip_prefix(&CONTINUATION).and_then(|rest| rest.split_first_chunk())
    else {
        return false;
    };
    let length = u32::from_le_bytes([*a, *b, *c, *d]);
    let Ok(length @ 1..) = usize::try_from(length) else { return false };
    match rest.get(..length) {
        Some(message) => root_as_message(message).is_ok_and(|message| message.header_type() == MessageHeader::Schema),
        // The schema of a very wide table, which is longer than the prefix.
        None => length.is_multiple_of(8) && length <= LONGEST_SCHEMA,
    }
}

/// The maximum plausible size of a stream's schema in bytes.
const LONGEST_SCHEMA: usize = 16 << 20;

/// A stream of messages.
pub(super) struct Stream<'a> {
    pub(super) path: &'a Path,
    pub(super) file: &'a dyn ReadAt,
    pub(super) length: u64,
}

impl Stream<'_> {
    /// The metadata and the location of the message at an offset; `None` at the end of the stream.
    pub(super) fn message(&self, name: &str, at: u64) -> Result<Option<(Vec<u8>, Block)>> {
        let cut_off = || Error::corrupt(self.path, name, "the file ends within it");
        let prefix = self.bytes(at, (self.length - at).min(PREFIX))?;
        if prefix.is_empty() {
            return Ok(None);
        }
        let size = prefix.strip_prefix(&CONTINUATION).ok_or_else(|| match prefix.len() as u64 == PREFIX {
            true => Error::corrupt(self.path, name, "its message does not begin as messages do"),
            false => cut_off(),
        })?;
        let size = u64::from(u32::from_le_bytes(size.try_into().map_err(|_| cut_off())?));
        if size == 0 {
            return Ok(None);
        }
        let whole = PREFIX + size;
        if at + whole > self.length {
            return Err(cut_off());
        }
        let metadata = self.bytes(at, whole)?;
        let body = layout::message(&metadata).map_err(|fault| fault.at(self.path, name))?.bodyLength();
        let is_inside = u64::try_from(body).is_ok_and(|body| body <= self.length - at - whole);
        let lengths = (i64::try_from(at), i32::try_from(whole));
        match lengths {
            (Ok(at), Ok(whole)) if is_inside => Ok(Some((metadata, Block::new(at, whole, body)))),
            _ => Err(cut_off()),
        }
    }

    fn bytes(&self, at: u64, length: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        let read = self.file.read_full_at(&mut bytes, at).map_err(Error::io(self.path, "read"))?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

/// The length of a continuation marker and the length of the metadata.
pub(super) const PREFIX: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::{DataType, Field, Schema};

    fn stream(columns: usize) -> Vec<u8> {
        let fields: Vec<_> =
            (0..columns).map(|at| Field::new(format!("column {at}"), DataType::Int64, false)).collect();
        let mut bytes = Vec::new();
        StreamWriter::try_new(&mut bytes, &Schema::new(fields)).unwrap().finish().unwrap();
        bytes
    }

    #[test]
    fn streams_are_recognised() {
        assert!(is_stream(&stream(0)));
        assert!(is_stream(&stream(3)));
        let wide = stream(2000);
        assert!(wide.len() > 100_000 && is_stream(&wide[..64 << 10]));
    }

    #[test]
    fn nothing_else_is_a_stream() {
        let mut damaged = stream(3);
        damaged[8] ^= 0xff;
        for other in [&b""[..], b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\0\0\0\0", b"\xff\xff\xff\xff;1.0\n", &damaged] {
            assert!(!is_stream(other), "{}", other.escape_ascii());
        }
    }
}
