//! A buffered reader with lookahead, which records reads beyond the end of the input.
//!
//! Formats are recognised by the next bytes, so they look ahead before they read. Some libraries take the end of the
//! input for the end of the content, so truncation has to be detected here.

use std::fmt::Display;
use std::io::{self, Read};

const CAPACITY: usize = 128 << 10;

pub(crate) struct Source {
    inner: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    starved: bool,
}

impl Source {
    pub(crate) fn new(inner: Box<dyn Read + Send>) -> Self {
        Self { inner, buffer: vec![0; CAPACITY], start: 0, end: 0, starved: false }
    }

    /// The next `count` bytes without consuming them; fewer only at the end of the input.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        debug_assert!(count <= CAPACITY);
        while self.end - self.start < count && self.refill()? {}
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// The buffered bytes; empty only at the end of the input.
    pub(crate) fn fill(&mut self) -> io::Result<&[u8]> {
        self.peek(1)?;
        Ok(&self.buffer[self.start..self.end])
    }

    /// Consumes bytes that were peeked at.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Skips bytes, buffered or not.
    pub(crate) fn skip(&mut self, mut count: u64) -> io::Result<()> {
        while count > 0 {
            let there = self.fill()?.len();
            if there == 0 {
                return Err(cut());
            }
            let step = usize::try_from(count).unwrap_or(usize::MAX).min(there);
            self.consume(step);
            count -= step as u64;
        }
        Ok(())
    }

    /// Skips zeros; returns their number.
    pub(crate) fn skip_zeros(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let there = self.fill()?;
            let (zeros, count) = (there.iter().take_while(|byte| **byte == 0).count(), there.len());
            self.consume(zeros);
            skipped += zeros as u64;
            if zeros < count || count == 0 {
                return Ok(skipped);
            }
        }
    }

    /// Whether a read was attempted at the end of the input.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved
    }

    /// Reads more input; returns false at its end.
    fn refill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A source without input.
impl Default for Source {
    fn default() -> Self {
        Self { inner: Box::new(io::empty()), buffer: Vec::new(), start: 0, end: 0, starved: false }
    }
}

impl Read for Source {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let there = self.fill()?;
        let count = there.len().min(output.len());
        output[..count].copy_from_slice(&there[..count]);
        self.starved |= there.is_empty() && !output.is_empty();
        self.consume(count);
        Ok(count)
    }
}

/// The error for bytes after the end of the compressed data of a file, all of which was read and valid. Reading again
/// after this error returns 0 bytes.
#[derive(Debug, thiserror::Error)]
#[error("{bytes} bytes after the end of the {compression} data")]
pub struct TrailingBytes {
    /// The compression's name.
    pub compression: &'static str,
    /// The number of bytes.
    pub bytes: u64,
}

impl TrailingBytes {
    /// The trailing bytes that an error reports, if it does.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// Skips everything after the last member or stream of a file, of which `skipped` zeros were skipped already. Zeros are
/// accepted: tapes pad their blocks with them, and gzip(1) ignores them as well. `head` is the start of a member: bytes
/// that start like it are reported as damaged instead.
///
/// # Errors
/// [`TrailingBytes`] for anything but zeros.
pub(crate) fn pass_trailing(
    source: &mut Source,
    compression: &'static str,
    head: &[u8],
    skipped: u64,
) -> io::Result<()> {
    let found = source.peek(head.len())?;
    let equal = found.iter().zip(head).filter(|(found, head)| found == head).count();
    if 2 * equal > head.len() {
        return Err(damaged(format!("a {compression} member has a damaged header")));
    }
    let (mut bytes, mut is_zero) = (skipped, true);
    loop {
        let there = source.fill()?;
        let count = there.len();
        if count == 0 {
            break;
        }
        is_zero &= there.iter().all(|byte| *byte == 0);
        bytes += count as u64;
        source.consume(count);
    }
    if is_zero { Ok(()) } else { Err(damaged(TrailingBytes { compression, bytes })) }
}

/// The error of a truncated file.
pub(crate) fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed file ends too early")
}

/// The error of a malformed file.
pub(crate) fn damaged(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// The error of a valid file that is not supported; `command` is the command that decompresses it.
pub(crate) fn unsupported(what: impl Display, command: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("{what}: decompress it first, with {command}"))
}
