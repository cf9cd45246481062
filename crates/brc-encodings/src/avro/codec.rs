//! The compression of blocks.

use crate::fault::Fault;
use brc_compress::{Compression, Compressor, by_name, read_only};
use crc_fast::{CrcAlgorithm, checksum, crc32_iscsi};
use flate2::read::DeflateDecoder;
use std::io::{Cursor, Read};

/// The maximum size of a block in bytes: limits the allocation for a forged length.
pub(super) const LARGEST_BLOCK: usize = 256 << 20;

/// A compression of the format, by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Null,
    Snappy,
    Zstandard,
    Deflate,
    Bzip2,
    Xz,
}

const NAMES: [(&str, Codec); 6] = [
    ("null", Codec::Null),
    ("snappy", Codec::Snappy),
    ("zstandard", Codec::Zstandard),
    ("deflate", Codec::Deflate),
    ("bzip2", Codec::Bzip2),
    ("xz", Codec::Xz),
];

/// The start of a Zstandard skippable frame with the checksum of the block.
const ZSTD_CHECKSUM: [u8; 8] = [0x5a, 0x2a, 0x4d, 0x18, 4, 0, 0, 0];

impl Codec {
    /// The format's codec for a compression, unless it lacks a checksum, as `deflate` does.
    pub(super) fn of(compression: &dyn Compression) -> Option<Self> {
        match compression.name() {
            "none" => Some(Self::Null),
            "snappy" => Some(Self::Snappy),
            "zstd" => Some(Self::Zstandard),
            _ => None,
        }
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(own, _)| *own == name).map(|(_, codec)| *codec)
    }

    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, codec)| *codec == self).map_or("", |(name, _)| name)
    }

    /// The name of the compression in `brc`.
    pub(super) fn compression(self) -> &'static str {
        match self {
            Self::Null => "none",
            Self::Zstandard => "zstd",
            Self::Snappy | Self::Deflate | Self::Bzip2 | Self::Xz => self.name(),
        }
    }

    /// Appends the compressed form of a block.
    pub(super) fn compress(self, compressor: Compressor, block: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Snappy => {
                compressor.compress(block, out);
                out.extend_from_slice(&crc32(block).to_be_bytes());
            }
            Self::Zstandard => {
                compressor.compress(block, out);
                out.extend_from_slice(&ZSTD_CHECKSUM);
                out.extend_from_slice(&crc32_iscsi(block).to_le_bytes());
            }
            Self::Null | Self::Deflate | Self::Bzip2 | Self::Xz => out.extend_from_slice(block),
        }
    }

    /// Appends the content of a stored block; `is_own` if `brc` wrote it.
    pub(super) fn decompress(self, stored: Vec<u8>, is_own: bool, out: &mut Vec<u8>) -> Result<(), Fault> {
        let start = out.len();
        match self {
            Self::Null => out.extend_from_slice(&stored),
            Self::Snappy => snappy(&stored, out)?,
            Self::Zstandard => {
                let sealed = stored.split_last_chunk::<4>().filter(|(packed, _)| packed.ends_with(&ZSTD_CHECKSUM));
                let sealed = sealed.map(|(_, checksum)| u32::from_le_bytes(*checksum));
                let format = by_name("zstd").and_then(Compression::file_format).ok_or_else(not_built)?;
                read(format.reader(Box::new(Cursor::new(stored))), out)?;
                if is_own && sealed != Some(crc32_iscsi(&out[start..])) {
                    return Err(Fault::corrupt("its checksum does not match"));
                }
            }
            Self::Deflate => read(Box::new(DeflateDecoder::new(Cursor::new(stored))), out)?,
            Self::Bzip2 | Self::Xz => {
                let compression = read_only::READ_ONLY.iter().find(|compression| compression.name == self.name());
                read((compression.ok_or_else(not_built)?.reader)(Box::new(Cursor::new(stored))), out)?;
            }
        }
        Ok(())
    }
}

fn not_built() -> Fault {
    Fault::unsupported("this program was built without its compression")
}

fn too_long() -> Fault {
    Fault::unsupported(format!("a block has more than {} MiB", LARGEST_BLOCK >> 20))
}

fn crc32(bytes: &[u8]) -> u32 {
    checksum(CrcAlgorithm::Crc32IsoHdlc, bytes) as u32
}

fn read(content: Box<dyn Read + Send>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let read = content.take(LARGEST_BLOCK as u64 + 1).read_to_end(out);
    let read = read.map_err(|error| Fault::corrupt(error.to_string()))?;
    if read > LARGEST_BLOCK { Err(too_long()) } else { Ok(()) }
}

/// A raw Snappy block, followed by a checksum of its content.
fn snappy(stored: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let cut = || Fault::corrupt("a block is too short for its checksum");
    let (packed, expected) = stored.split_last_chunk::<4>().ok_or_else(cut)?;
    let length = packed.iter().take(5).enumerate().map(|(index, byte)| (u64::from(*byte & 0x7f) << (7 * index), byte));
    let mut total = 0;
    for (bits, byte) in length {
        total |= bits;
        if *byte < 0x80 {
            break;
        }
    }
    let length = usize::try_from(total).ok().filter(|length| *length <= LARGEST_BLOCK).ok_or_else(too_long)?;
    let start = out.len();
    out.resize(start + length, 0);
    let snappy = by_name("snappy").ok_or_else(not_built)?;
    snappy.decompress(packed, &mut out[start..]).map_err(|error| Fault::corrupt(error.to_string()))?;
    if crc32(&out[start..]) != u32::from_be_bytes(*expected) {
        return Err(Fault::corrupt("its checksum does not match"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_round_trip_and_damage_is_detected() {
        let block: Vec<u8> = (0..2000u32).flat_map(|number| (number * number).to_le_bytes()).collect();
        for name in ["none", "snappy", "zstd"] {
            let compression = by_name(name).unwrap();
            let codec = Codec::of(compression).unwrap();
            for block in [&block[..], &[]] {
                let (mut stored, mut back) = (Vec::new(), vec![7]);
                codec.compress(Compressor::of(compression), block, &mut stored);
                codec.decompress(stored.clone(), true, &mut back).unwrap();
                assert_eq!(&back[1..], block, "{name}");
                for at in (0..stored.len()).step_by(13).filter(|_| name != "none") {
                    let mut damaged = stored.clone();
                    damaged[at] ^= 4;
                    let mut found = Vec::new();
                    assert!(
                        codec.decompress(damaged, true, &mut found).is_err() || found == block,
                        "{name}, byte {at}"
                    );
                }
            }
        }
        assert!(Codec::Snappy.decompress(b"\xff\xff\xff\xff\x0f\0\0\0\0".to_vec(), false, &mut Vec::new()).is_err());
        assert!(Codec::by_name("lzma").is_none());
    }
}
