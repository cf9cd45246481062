//! Reading bytes at any offset of a file.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;

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
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    fn length(&self) -> Result<u64> {
        Ok(self.metadata()?.len())
    }
}
