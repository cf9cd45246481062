//! Positioned reads and writes.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
#[cfg(unix)]
use std::os::unix::fs::FileExt;
#[cfg(windows)]
use std::os::windows::fs::FileExt;

/// A source of bytes that several threads can read, each at its own offset.
pub trait ReadAt: Send + Sync {
    /// Reads bytes at an offset in bytes. Returns how many were read; 0 only at the end or if `buffer` is empty.
    ///
    /// # Errors
    /// I/O errors.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;

    /// The length in bytes.
    ///
    /// # Errors
    /// I/O errors.
    fn length(&self) -> Result<u64>;

    /// Whether each read has a high latency, whatever its size.
    fn is_remote(&self) -> bool {
        false
    }

    /// Announces ranges that will be read, so that a remote source can prefetch and combine them. A hint only: reading
    /// other ranges, or not reading these, is allowed.
    fn expect(&self, _ranges: Vec<Range<u64>>) {}

    /// Announces that this range will not be read again, so that prefetched bytes can be freed.
    fn forget(&self, _range: Range<u64>) {}

    /// Reads until `buffer` is full or the source ends. Returns the number of bytes read.
    ///
    /// # Errors
    /// I/O errors.
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
    /// I/O errors; [`ErrorKind::UnexpectedEof`] if the source ends before.
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

/// A file that several threads can write, each at its own offset.
pub trait WriteAt {
    /// Writes all bytes at an offset in bytes.
    ///
    /// # Errors
    /// I/O errors.
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

/// The most bytes that one worker prefetches.
const MAX_BYTES_AHEAD: u64 = 64 << 20;

/// Prefetches the splits that a worker is going to read.
///
/// Workers take splits in order, so later splits are still to come. The number of splits to prefetch doubles with each
/// split read, because a scan that needs few rows ends early.
#[derive(Debug, Default)]
pub struct ReadAhead {
    splits: usize,
}

impl ReadAhead {
    /// Announces the ranges of `split` and of some `later` splits. `bytes_of` returns the ranges of a split; none if
    /// the split is skipped.
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
            if ahead > MAX_BYTES_AHEAD {
                break;
            }
            file.expect(ranges);
        }
        self.splits = self.splits * 2 + 1;
    }

    /// Announces that a split has been read; frees the range that covers all of its `bytes`.
    pub fn end(file: &dyn ReadAt, bytes: impl Iterator<Item = Range<u64>> + Clone) {
        if file.is_remote()
            && let Some(start) = bytes.clone().map(|range| range.start).min()
            && let Some(end) = bytes.map(|range| range.end).max()
        {
            file.forget(start..end);
        }
    }
}
