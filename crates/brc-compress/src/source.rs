//! A buffered reader that can look ahead, and that knows whether somebody wanted more than there was.
//!
//! Formats are told apart by what comes next, so they have to look before they read; and some libraries take the end of
//! the input for the end of the content, so a cut has to be noticed here.

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

    /// The next `count` bytes, fewer only if the input ends before; they stay where they are.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        debug_assert!(count <= CAPACITY);
        while self.end - self.start < count && self.refill()? {}
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// What is buffered; nothing only where the input ends.
    pub(crate) fn fill(&mut self) -> io::Result<&[u8]> {
        self.peek(1)?;
        Ok(&self.buffer[self.start..self.end])
    }

    /// Takes bytes that have been seen.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Passes over bytes, seen or not.
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

    /// Whether somebody has read at the end of the input.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved
    }

    /// Reads more; false at the end of the input.
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

/// Nothing to read.
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

/// The error of a file that ends too early.
pub(crate) fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed file ends too early")
}

/// The error of a file whose bytes make no sense.
pub(crate) fn damaged(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// The error of a sound file that this program does not read; `way` is the command that decompresses it.
pub(crate) fn unsupported(what: impl Display, way: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("{what}: decompress it first, with {way}"))
}
