//! The compression of buffers: each separately, preceded by its length.

use super::lz4_frame;
use crate::columnar::Fault;
use arrow_ipc::CompressionType;
use brc_compress::{Compression, Compressor};
use std::io::Write;

/// The length value before an uncompressed buffer.
const NOT_COMPRESSED: i64 = -1;

/// How buffers are compressed.
#[derive(Clone, Copy)]
pub(super) struct Codec {
    pub(super) id: CompressionType,
    compressor: Compressor,
}

/// The format's id of a compression; `Some(None)` is no compression.
pub(super) fn id_of(compression: &dyn Compression) -> Option<Option<CompressionType>> {
    match compression.name() {
        "none" => Some(None),
        "lz4" => Some(Some(CompressionType::LZ4_FRAME)),
        "zstd" => Some(Some(CompressionType::ZSTD)),
        _ => None,
    }
}

impl Codec {
    /// The codec of a compressor; `Some(None)` is no compression.
    pub(super) fn of(compressor: Compressor) -> Option<Option<Self>> {
        Some(id_of(compressor.compression)?.map(|id| Self { id, compressor }))
    }

    /// The compression with an id of the format.
    pub(super) fn by_id(id: CompressionType) -> Option<Self> {
        let name = match id {
            CompressionType::LZ4_FRAME => "lz4",
            CompressionType::ZSTD => "zstd",
            _ => return None,
        };
        brc_compress::by_name(name).map(|compression| Self { id, compressor: Compressor::of(compression) })
    }

    pub(super) fn name(self) -> &'static str {
        self.compressor.compression.name()
    }

    /// Appends a buffer, compressed if that makes it smaller.
    pub(super) fn compress(self, bytes: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&(bytes.len() as i64).to_le_bytes());
        let packed = out.len();
        if self.id == CompressionType::LZ4_FRAME {
            // Arrow requires LZ4 frames, not raw blocks; writing to memory cannot fail.
            let mut frame = lz4_flex::frame::FrameEncoder::new(&mut *out);
            let written = frame.write_all(bytes).is_ok() && frame.finish().is_ok();
            debug_assert!(written, "memory takes all bytes");
        } else {
            self.compressor.compress(bytes, out);
        }
        if out.len() - packed >= bytes.len() {
            out.truncate(start);
            out.extend_from_slice(&NOT_COMPRESSED.to_le_bytes());
            out.extend_from_slice(bytes);
        }
    }

    /// The uncompressed length of a stored buffer, whether it is compressed, and its bytes.
    pub(super) fn length(stored: &[u8]) -> Result<(usize, bool, &[u8]), Fault> {
        let Some((length, bytes)) = stored.split_first_chunk() else {
            return Err(Fault::corrupt("a compressed buffer has no length"));
        };
        match i64::from_le_bytes(*length) {
            NOT_COMPRESSED => Ok((bytes.len(), false, bytes)),
            length => {
                let length = usize::try_from(length).map_err(|_| Fault::corrupt("a buffer has a negative length"))?;
                Ok((length, true, bytes))
            }
        }
    }

    /// Decompresses to exactly the length of `out`.
    pub(super) fn decompress(self, packed: &[u8], out: &mut [u8]) -> Result<(), Fault> {
        if self.id == CompressionType::LZ4_FRAME {
            return lz4_frame::decompress(packed, out);
        }
        let done = self.compressor.compression.decompress(packed, out);
        done.map_err(|error| Fault::corrupt(error.to_string()))
    }
}
