//! Copies of streams, so that they can be read again.
//!
//! All copies share one unnamed temporary file, because a table may consist of more streams than a process may open
//! files.

use crate::temporary;
use brc_core::{ReadAt, Result, WriteAt};
use parking_lot::{Mutex, RwLock};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The bytes read of one stream so far.
pub(crate) struct StreamCopy {
    space: Arc<SharedFile>,
    extents: RwLock<Vec<Extent>>,
}

/// The temporary file.
struct SharedFile {
    file: File,
    /// The offset of the next bytes.
    end: AtomicU64,
}

/// Contiguous bytes of a stream.
#[derive(Clone, Copy)]
struct Extent {
    /// Their offset in the stream, in bytes.
    start: u64,
    length: u64,
    /// Their offset in the temporary file, in bytes.
    offset: u64,
}

static SPACE: Mutex<Option<Arc<SharedFile>>> = Mutex::new(None);

impl StreamCopy {
    /// An empty copy.
    ///
    /// # Errors
    /// If there is no temporary directory.
    pub(crate) fn new() -> Result<Self> {
        let mut space = SPACE.lock();
        let space = match &*space {
            Some(space) => Arc::clone(space),
            None => {
                let made = Arc::new(SharedFile { file: temporary::file()?, end: AtomicU64::new(0) });
                *space = Some(Arc::clone(&made));
                made
            }
        };
        Ok(Self { space, extents: RwLock::default() })
    }

    /// Appends the next bytes of the stream.
    ///
    /// # Errors
    /// That of the temporary file: not a fault of the stream.
    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let length = bytes.len() as u64;
        let offset = self.space.end.fetch_add(length, Relaxed);
        let written = self.space.file.write_all_at(bytes, offset);
        written.map_err(|error| io::Error::other(temporary::write_error(error)))?;
        let mut extents = self.extents.write();
        match extents.last_mut() {
            Some(last) if last.offset + last.length == offset => last.length += length,
            last => {
                let start = last.map_or(0, |last| last.start + last.length);
                extents.push(Extent { start, length, offset });
            }
        }
        Ok(())
    }
}

impl ReadAt for StreamCopy {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let extent = {
            let extents = self.extents.read();
            let after = extents.partition_point(|extent| extent.start <= offset);
            after.checked_sub(1).map(|at| extents[at])
        };
        let Some(Extent { start, length, offset: at }) = extent else { return Ok(0) };
        let skipped = (offset - start).min(length);
        let most = usize::try_from(length - skipped).map_or(buffer.len(), |left| left.min(buffer.len()));
        ReadAt::read_at(&self.space.file, &mut buffer[..most], at + skipped)
    }

    fn length(&self) -> io::Result<u64> {
        let extents = self.extents.read();
        Ok(extents.last().map_or(0, |last| last.start + last.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_copies_are_read_separately() {
        let [one, other] = [(); 2].map(|()| StreamCopy::new().unwrap());
        for number in 0..50u8 {
            one.append(&[number; 7]).unwrap();
            other.append(&[number + 100; 3]).unwrap();
            other.append(&[number + 100; 2]).unwrap();
        }
        for (copy, length, first) in [(one, 7, 0), (other, 5, 100)] {
            let expected: Vec<u8> = (0..50).flat_map(|number| vec![number + first; length]).collect();
            assert_eq!(copy.length().unwrap(), expected.len() as u64);
            for start in [0, 1, 34, 35, 36, expected.len() - 1, expected.len()] {
                let mut read = vec![0; expected.len() + 10];
                let count = copy.read_full_at(&mut read, start as u64).unwrap();
                assert_eq!(&read[..count], &expected[start..]);
            }
        }
    }
}
