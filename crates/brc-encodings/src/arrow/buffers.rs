//! The bytes of one column of a record batch, used in place where possible.

use super::codec::Codec;
use crate::columnar::Fault;
use arrow_buffer::{Buffer, MutableBuffer};
use brc_core::{Error, ReadAt};
use crc_fast::{CrcAlgorithm, Digest};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum decompressed bytes per compressed byte, for any compression.
const LARGEST_RATIO: usize = 1 << 15;

/// The buffers of one column, in memory, aligned for all number types.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    buffers: Vec<Buffer>,
    packed: Vec<u8>,
    pub(super) cost: Cost,
}

/// The cost of reading.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) bytes: u64,
    pub(super) read_time: Duration,
    pub(super) decompress_time: Duration,
}

/// Why buffers could not be read.
pub(super) enum ReadError {
    Io(Error),
    Fault(Fault),
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl ReadError {
    pub(super) fn at(self, path: &Path, location: &str) -> Error {
        match self {
            Self::Io(error) => error,
            Self::Fault(fault) => fault.at(path, location),
        }
    }
}

impl Buffers {
    /// Reads the buffers in these ranges of a file and decompresses them; `checksum` covers all of them.
    pub(super) fn read(
        &mut self,
        path: &Path,
        file: &dyn ReadAt,
        ranges: &[Range<u64>],
        codec: Option<Codec>,
        checksum: Option<u32>,
    ) -> Result<(), ReadError> {
        self.buffers.resize_with(ranges.len(), Buffer::default);
        let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
        for (index, range) in ranges.iter().enumerate() {
            // The memory is reused, unless an array still refers to it.
            let mut buffer = std::mem::take(&mut self.buffers[index]).into_mutable().unwrap_or_default();
            let length = usize::try_from(range.end - range.start).map_err(|_| too_long())?;
            let begun = Instant::now();
            let stored = match codec {
                None => sized(&mut buffer, length),
                Some(_) => {
                    self.packed.resize(length, 0);
                    self.packed.as_mut_slice()
                }
            };
            let read = file.read_full_at(stored, range.start).map_err(Error::io(path, "read"));
            self.cost.bytes += length as u64;
            self.cost.read_time += begun.elapsed();
            if read.map_err(ReadError::Io)? != length {
                return Err(Fault::corrupt("the file ends within it").into());
            }
            if checksum.is_some() {
                digest.update(stored);
            }
            if let Some(codec) = codec {
                let begun = Instant::now();
                decompress(codec, &self.packed, &mut buffer)?;
                self.cost.decompress_time += begun.elapsed();
            }
            self.buffers[index] = buffer.into();
        }
        if checksum.is_some_and(|checksum| u64::from(checksum) != digest.finalize()) {
            return Err(Fault::corrupt("its checksum does not match").into());
        }
        Ok(())
    }

    /// All buffers.
    pub(super) fn all(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Checks that a buffer has `values` values of `width` bytes.
    pub(super) fn check(&self, index: usize, values: usize, width: usize) -> Result<(), Fault> {
        let needed = values.checked_mul(width);
        match (needed, self.buffers.get(index)) {
            (Some(needed), Some(buffer)) if needed <= buffer.len() => Ok(()),
            _ => Err(Fault::corrupt("a buffer is shorter than its rows")),
        }
    }

    /// The bytes of a buffer.
    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        self.buffers.get(index).map_or(&[], Buffer::as_slice)
    }

    /// A range of values of a buffer, which was [checked](Self::check).
    pub(super) fn values<T: arrow_buffer::ArrowNativeType>(&self, index: usize, range: Range<usize>) -> &[T] {
        // The library panics if the last value is incomplete.
        let Some(buffer) = self.buffers.get(index).filter(|buffer| buffer.len().is_multiple_of(size_of::<T>())) else {
            return &[];
        };
        buffer.typed_data().get(range).unwrap_or_default()
    }
}

fn too_long() -> Fault {
    Fault::unsupported("a buffer is too long for this machine")
}

fn sized(buffer: &mut MutableBuffer, length: usize) -> &mut [u8] {
    if buffer.capacity() < length {
        // Fresh memory is zeroed already; growing would zero and copy it.
        *buffer = MutableBuffer::from_len_zeroed(length);
    } else {
        buffer.resize(length, 0);
    }
    buffer.as_slice_mut()
}

fn decompress(codec: Codec, stored: &[u8], out: &mut MutableBuffer) -> Result<(), Fault> {
    // An empty buffer may be stored without a length.
    if stored.is_empty() {
        out.clear();
        return Ok(());
    }
    let (length, is_packed, bytes) = Codec::length(stored)?;
    if length / LARGEST_RATIO > stored.len() {
        return Err(Fault::corrupt("a compressed buffer stands for more than it can"));
    }
    let out = sized(out, length);
    if is_packed {
        return codec.decompress(bytes, out);
    }
    out.copy_from_slice(bytes);
    Ok(())
}
