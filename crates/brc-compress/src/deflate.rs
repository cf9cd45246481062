//! What gzip and zlib share: deflating to a vector, inflating to an exact length, and inflating a stream.

use crate::source::{Source, cut, damaged};
use crate::{DecompressError, Levels};
use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};
use std::io;

pub(crate) const LEVELS: Levels = Levels { lowest: 1, usual: 6, highest: 9 };

/// The level as flate2's type.
pub(crate) fn level(level: i32) -> flate2::Compression {
    flate2::Compression::new(level.clamp(LEVELS.lowest, LEVELS.highest).unsigned_abs())
}

/// Appends all of `input`, and the bytes that `flush` adds after it.
pub(crate) fn deflate(mut compress: Compress, input: &[u8], flush: FlushCompress, output: &mut Vec<u8>) {
    loop {
        output.reserve(input.len() / 4 + 256);
        let rest = &input[compress.total_in() as usize..];
        let status = match compress.compress_vec(rest, output, flush) {
            Ok(status) => status,
            Err(error) => unreachable!("deflate was used in a wrong order: {error}"),
        };
        // Spare capacity means that the flush is complete.
        if status == Status::StreamEnd || (flush != FlushCompress::Finish && output.len() < output.capacity()) {
            return;
        }
    }
}

/// How inflating ended.
#[derive(PartialEq, Eq)]
pub(crate) enum End {
    /// At the end of the stream.
    Stream,
    /// At the end of the input, before the end of the stream.
    Input,
}

/// Inflates all of `input` into exactly `output`.
pub(crate) fn inflate(
    compression: &'static str,
    decompress: Decompress,
    input: &[u8],
    output: &mut [u8],
) -> Result<End, DecompressError> {
    let Inflated { read, written, end } = inflate_stream(compression, decompress, input, output)?;
    match end {
        End::Stream if read < input.len() => Err(after_end_error(compression)),
        _ if written != output.len() => Err(DecompressError::Length { expected: output.len(), found: written }),
        end => Ok(end),
    }
}

/// The result of [`inflate_stream`].
pub(crate) struct Inflated {
    /// The number of input bytes consumed.
    pub(crate) read: usize,
    /// The number of output bytes produced.
    pub(crate) written: usize,
    pub(crate) end: End,
}

/// Inflates one stream, which must fit in `output`. Input after the stream is ignored.
pub(crate) fn inflate_stream(
    compression: &'static str,
    mut decompress: Decompress,
    input: &[u8],
    output: &mut [u8],
) -> Result<Inflated, DecompressError> {
    let malformed = |reason: &str| DecompressError::Malformed { compression, reason: reason.to_owned() };
    let status = decompress
        .decompress(input, output, FlushDecompress::Finish)
        .map_err(|error| malformed(error.message().unwrap_or("corrupt deflate stream")))?;
    let (read, written) = (decompress.total_in() as usize, decompress.total_out() as usize);
    let end = match status {
        Status::StreamEnd => End::Stream,
        _ if read == input.len() => End::Input,
        _ => return Err(malformed("it is longer than it should be")),
    };
    Ok(Inflated { read, written, end })
}

/// The error for bytes after the end of all streams.
pub(crate) fn after_end_error(compression: &'static str) -> DecompressError {
    DecompressError::Malformed { compression, reason: "there are bytes after its end".to_owned() }
}

/// Inflates more of a stream; returns 0 at its end.
pub(crate) fn inflate_some(decompress: &mut Decompress, source: &mut Source, output: &mut [u8]) -> io::Result<usize> {
    loop {
        let input = source.fill()?;
        let at_end = input.is_empty();
        let (read, written) = (decompress.total_in(), decompress.total_out());
        let status = decompress.decompress(input, output, FlushDecompress::None).map_err(damaged)?;
        source.consume((decompress.total_in() - read) as usize);
        let written = (decompress.total_out() - written) as usize;
        if written > 0 || status == Status::StreamEnd {
            return Ok(written);
        }
        if at_end {
            return Err(cut());
        }
    }
}
