//! Reading and writing bytes at any offset of a file.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
#[cfg(unix)]
use std::os::unix::fs::FileExt;
#[cfg(windows)]
use std::os::windows::fs::FileExt;

/// Bytes that threads read side by side, each at an offset of its own.
pub trait ReadAt: Send + Sync {
    /// Reads some bytes at an offset, in bytes; returns how many, and 0 only at the end or if `buffer` is empty.
    ///
    /// # Errors
    /// The system's.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;

    /// How many bytes there are.
    ///
    /// # Errors
    /// The system's.
    fn length(&self) -> Result<u64>;

    /// Whether they are far away, so that each read takes long, however little it brings.
    fn is_remote(&self) -> bool {
        false
    }

    /// Says which bytes are going to be read: those that are far away come ahead then, and together. To read others as well, or
    /// not to read them, is no mistake.
    fn expect(&self, _ranges: Vec<Range<u64>>) {}

    /// Says that none of these bytes is read any more: what has come of them needs no memory then.
    fn forget(&self, _range: Range<u64>) {}

    /// Reads until `buffer` is full or the bytes end; returns how many there were.
    ///
    /// # Errors
    /// The system's.
    fn read_full_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Reads until `buffer` is full.
    ///
    /// # Errors
    /// The system's; [`ErrorKind::UnexpectedEof`] if the bytes end before.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let read = self.read_full_at(buffer, offset)?;
        if read == buffer.len() { Ok(()) } else { Err(Error::from(ErrorKind::UnexpectedEof)) }
    }
}

impl ReadAt for File {
    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.seek_read(buffer, offset)
    }

    fn length(&self) -> Result<u64> {
        Ok(self.metadata()?.len())
    }
}

/// A file that threads write side by side, each at an offset of its own.
pub trait WriteAt {
    /// Writes all of these bytes at an offset, in bytes.
    ///
    /// # Errors
    /// The system's.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()>;
}

impl WriteAt for File {
    #[cfg(unix)]
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<()> {
        while !bytes.is_empty() {
            match self.seek_write(bytes, offset) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    offset += written as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A worker of a scan says ahead of so many bytes at most.
const MOST_AHEAD: u64 = 64 << 20;

/// What a worker of a scan says ahead of the splits that it is going to read.
///
/// Workers take splits in order, so those behind the one at hand are still to come. The more splits a worker has read, the more
/// of them it speaks of: a scan that needs few rows ends early.
#[derive(Debug, Default)]
pub struct ReadAhead {
    splits: usize,
}

impl ReadAhead {
    /// Says what is going to be read of a split, and of some behind it; `bytes_of` are those of a split of that number, which
    /// has none if it is left out.
    pub fn begin(
        &mut self,
        file: &dyn ReadAt,
        later: impl Iterator<Item = u64>,
        split: u64,
        mut bytes_of: impl FnMut(u64) -> Vec<Range<u64>>,
    ) {
        if !file.is_remote() {
            return;
        }
        let own = bytes_of(split);
        if own.is_empty() {
            return;
        }
        file.expect(own);
        let mut ahead = 0;
        for ranges in later.map(bytes_of).filter(|ranges| !ranges.is_empty()).take(self.splits) {
            ahead += ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum::<u64>();
            if ahead > MOST_AHEAD {
                break;
            }
            file.expect(ranges);
        }
        self.splits = self.splits * 2 + 1;
    }

    /// Says that a split was read, whose bytes lie together, these among them.
    pub fn end(file: &dyn ReadAt, bytes: impl Iterator<Item = Range<u64>> + Clone) {
        if file.is_remote()
            && let Some(start) = bytes.clone().map(|range| range.start).min()
            && let Some(end) = bytes.map(|range| range.end).max()
        {
            file.forget(start..end);
        }
    }
}
