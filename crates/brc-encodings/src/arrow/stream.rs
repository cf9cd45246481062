//! Arrow's stream format, which is not supported for reading: it has no footer that locates its batches. It is
//! recognised so that the error can say what to do.

use super::messages::CONTINUATION;
use arrow_ipc::{MessageHeader, root_as_message};

/// The error for a stream.
pub(super) const REFUSED: &str = "is an arrow stream; only arrow files are read: write it with pyarrow.ipc.new_file or \
                                  pyarrow.feather.write_feather (polars: write_ipc)";

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, OpenOptions};
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::{DataType, Field, Schema};
    use brc_core::Error;
    use std::io::Cursor;

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
    fn streams_are_reported_as_unsupported() {
        for name in ["-", "t.arrows", "t.arrow"] {
            let input = Input::from_stream(name.into(), Box::new(Cursor::new(stream(3)))).unwrap();
            let encoding = crate::for_input(&input).unwrap();
            match encoding.open(input, &OpenOptions::default()) {
                Err(Error::Unsupported { reason, .. }) => assert!(reason.contains("pyarrow.ipc.new_file"), "{reason}"),
                other => panic!("{name}: {:?}", other.err()),
            }
        }
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
