//! The spill file.
//!
//! The file has no name, so that nothing of it stays when the process ends, however it ends. The position and the
//! checksum of each frame stay in memory: nothing that the file says about itself is trusted.

use crate::runtime::memory::Memory;
use brc_core::{Error, ReadAt, Result, WriteAt};
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Longer ones are not compressed: the compressor has its limits.
const LONGEST_COMPRESSED: usize = 1 << 30;

/// The file, which several threads write and read. It comes into being with its first frame.
#[derive(Debug)]
pub(crate) struct Spill {
    directory: PathBuf,
    file: OnceLock<File>,
    end: AtomicU64,
    /// The bytes of this file and others.
    all: Arc<AtomicU64>,
}

/// Where some bytes lie in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    offset: u64,
    /// Bytes in the file.
    stored: usize,
    /// Bytes when decompressed; they are compressed if that is more.
    length: usize,
    /// CRC-32C of the stored bytes.
    checksum: u32,
}

impl Frame {
    /// How many bytes it has when it is read.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

impl Spill {
    /// None yet, but it will be where memory says.
    pub(crate) fn new(memory: &Memory) -> Self {
        let (directory, all) = (memory.temp_dir.clone(), Arc::clone(&memory.spilled));
        Self { directory, file: OnceLock::new(), end: AtomicU64::new(0), all }
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.end.load(Relaxed)
    }

    /// Appends some bytes.
    ///
    /// # Errors
    /// The system's, under the name of the directory.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Frame> {
        let mut compressed = Vec::new();
        if bytes.len() <= LONGEST_COMPRESSED {
            compressed.resize(get_maximum_output_size(bytes.len()), 0);
            // It fails only for a buffer that is too small.
            let length = compress_into(bytes, &mut compressed).unwrap_or(usize::MAX);
            compressed.truncate(if length < bytes.len() { length } else { 0 });
        }
        let stored = if compressed.is_empty() { bytes } else { &compressed };
        let offset = self.end.fetch_add(stored.len() as u64, Relaxed);
        let written = self.file().and_then(|file| file.write_all_at(stored, offset));
        written.map_err(Error::io(&self.directory, "write a temporary file"))?;
        self.all.fetch_add(stored.len() as u64, Relaxed);
        Ok(Frame { offset, stored: stored.len(), length: bytes.len(), checksum: checksum(stored) })
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// The system's, under the name of the directory; also if the bytes are not those that were written.
    pub(crate) fn read(&self, frame: &Frame) -> Result<Vec<u8>> {
        self.read_frame(frame).map_err(Error::io(&self.directory, "read a temporary file"))
    }

    /// Appends plain data.
    ///
    /// # Errors
    /// As for [`Spill::write`].
    pub(crate) fn write_value(&self, value: &impl Serialize) -> Result<Frame> {
        let bytes = bincode::serialize(value).map_err(io::Error::other);
        self.write(&bytes.map_err(Error::io(&self.directory, "write a temporary file"))?)
    }

    /// Reads plain data.
    ///
    /// # Errors
    /// As for [`Spill::read`].
    pub(crate) fn read_value<T: DeserializeOwned>(&self, frame: &Frame) -> Result<T> {
        let value = bincode::deserialize(&self.read(frame)?).map_err(io::Error::other);
        value.map_err(Error::io(&self.directory, "read a temporary file"))
    }

    fn read_frame(&self, frame: &Frame) -> io::Result<Vec<u8>> {
        let damaged = |_| io::Error::new(ErrorKind::InvalidData, "it is damaged: the checksum does not match");
        let mut stored = vec![0; frame.stored];
        self.file()?.read_exact_at(&mut stored, frame.offset)?;
        if checksum(&stored) != frame.checksum {
            return Err(damaged(()));
        }
        if frame.stored == frame.length {
            return Ok(stored);
        }
        let mut bytes = vec![0; frame.length];
        decompress_into(&stored, &mut bytes).map_err(|_| damaged(()))?;
        Ok(bytes)
    }

    fn file(&self) -> io::Result<&File> {
        match self.file.get() {
            Some(file) => Ok(file),
            None => {
                let file = tempfile::tempfile_in(&self.directory)?;
                Ok(self.file.get_or_init(|| file))
            }
        }
    }
}

/// CRC-32C.
fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spill() -> Spill {
        Spill::new(&Memory::unlimited())
    }

    #[test]
    fn what_is_written_is_read_in_any_order() {
        let spill = spill();
        let random =
            std::iter::successors(Some(1u32), |last| Some(last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)));
        let random = random.map(|number| (number >> 24) as u8).take(1000);
        let contents = [vec![7; 100_000], random.collect(), Vec::new(), b"abc".to_vec()];
        let frames = contents.each_ref().map(|bytes| spill.write(bytes).unwrap());
        assert!(frames[0].stored < 1000 && frames[1].stored == 1000);
        for (frame, bytes) in frames.iter().zip(&contents).rev() {
            assert_eq!(spill.read(frame).unwrap(), *bytes);
        }
        assert_eq!(spill.bytes(), frames.iter().map(|frame| frame.stored as u64).sum::<u64>());
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let spill = spill();
        let frames = [spill.write(&[7; 1000]).unwrap(), spill.write(b"plain").unwrap()];
        let file = spill.file().unwrap();
        for at in 0..spill.bytes() {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 1], at).unwrap();
            let outcomes = frames.each_ref().map(|frame| spill.read(frame).is_ok());
            assert_eq!(outcomes.iter().filter(|&&is_ok| is_ok).count(), 1, "{at}");
            file.write_all_at(&byte, at).unwrap();
        }
        file.set_len(spill.bytes() - 1).unwrap();
        let message = spill.read(&frames[1]).unwrap_err().to_string();
        assert!(message.contains("cannot read a temporary file"), "{message}");
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let message = Spill::new(&Memory { temp_dir: "/no/such/directory".into(), ..Memory::unlimited() })
            .write(b"x")
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("/no/such/directory: cannot write a temporary file: "), "{message}");
    }
}
