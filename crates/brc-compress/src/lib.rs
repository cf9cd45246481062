//! Byte compressions behind one interface: one file each, and one list.
//!
//! Adding one is a file and a line in [`COMPRESSIONS`]; names in help texts, ids in buren files, file extensions and the
//! tests come from there.

#![forbid(unsafe_code)]
// Some of what compressions share lies idle where a build leaves compressions out.
#![cfg_attr(not(all(feature = "snappy", feature = "lz4", feature = "deflate", feature = "zstd")), allow(dead_code))]

#[cfg(feature = "deflate")]
mod bgzf;
#[cfg(feature = "bzip2")]
mod bzip2;
mod compressor;
#[cfg(feature = "deflate")]
mod deflate;
pub mod file_format;
mod frames;
#[cfg(feature = "deflate")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
mod marks;
mod none;
pub mod read_only;
#[cfg(feature = "snappy")]
mod snappy;
mod source;
pub mod unsupported;
#[cfg(feature = "deflate")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

pub use compressor::{Compressor, CompressorError};
pub use file_format::{ChunkPlace, ChunkSummary, FileFormat};
pub use source::TrailingBytes;

/// A general byte compressor applied to blocks.
pub trait Compression: Sync {
    /// Its name, as in `--compression`.
    fn name(&self) -> &'static str;

    /// What stands for it in files, for ever.
    fn id(&self) -> u8;

    /// One line on what it is, for help texts.
    fn about(&self) -> &'static str;

    /// How hard it can be told to try; `None` if there is but one way.
    fn levels(&self) -> Option<Levels> {
        None
    }

    /// Other levels, the fastest first, that make some content as small as `level` does, in less time: lower ones, or ones
    /// of its own that it does not offer.
    fn shortcuts(&self, level: i32) -> &'static [i32] {
        let _ = level;
        &[]
    }

    /// Appends the compressed form of `input` to `output`. The level is one of [`Compression::levels`] or
    /// [`Compression::shortcuts`]; where there are none it is ignored.
    fn compress(&self, level: i32, input: &[u8], output: &mut Vec<u8>);

    /// Decompresses into exactly `output`: the caller knows, and has checked, the length.
    ///
    /// # Errors
    /// If `input` is malformed or does not come to exactly that length.
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError>;

    /// How whole files of this compression look; `None` for no compression at all.
    fn file_format(&self) -> Option<&'static dyn FileFormat> {
        None
    }
}

/// The levels of a compression: higher ones take longer and make smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The fastest.
    pub lowest: i32,
    /// What is taken if nobody says another.
    pub usual: i32,
    /// The smallest.
    pub highest: i32,
}

/// Why some bytes could not be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecompressError {
    /// The bytes are not of that compression.
    #[error("malformed {compression} data: {reason}")]
    Malformed {
        /// The compression's name.
        compression: &'static str,
        /// What its library says.
        reason: String,
    },
    /// They are, but stand for another number of bytes.
    #[error("{found} bytes where {expected} belong")]
    Length {
        /// How many bytes it should have been.
        expected: usize,
        /// How many it was, or would have been.
        found: usize,
    },
}

/// All compressions this build has, in the order in which help texts show them.
pub static COMPRESSIONS: &[&dyn Compression] = &[
    &none::None,
    #[cfg(feature = "snappy")]
    &snappy::Snappy,
    #[cfg(feature = "lz4")]
    &lz4::Lz4,
    #[cfg(feature = "deflate")]
    &gzip::Gzip,
    #[cfg(feature = "deflate")]
    &zlib::Zlib,
    #[cfg(feature = "zstd")]
    &zstd::Zstd,
];

/// The compression of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Compression> {
    COMPRESSIONS.iter().copied().find(|compression| compression.name() == name)
}

/// The compression of that id.
#[must_use]
pub fn by_id(id: u8) -> Option<&'static dyn Compression> {
    COMPRESSIONS.iter().copied().find(|compression| compression.id() == id)
}

/// The compression whose files have that extension (without the dot).
#[must_use]
pub fn by_extension(extension: &str) -> Option<&'static dyn Compression> {
    let is_its = |format: &dyn FileFormat| format.extensions().iter().any(|own| own.eq_ignore_ascii_case(extension));
    COMPRESSIONS.iter().copied().find(|compression| compression.file_format().is_some_and(is_its))
}

/// The compression of a file that starts with these bytes; none of them if they are no compression's.
#[must_use]
pub fn by_prefix(prefix: &[u8]) -> Option<&'static dyn Compression> {
    COMPRESSIONS
        .iter()
        .copied()
        .find(|compression| compression.file_format().is_some_and(|format| format.sniff(prefix)))
}

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    #[cfg(all(feature = "snappy", feature = "lz4", feature = "deflate", feature = "zstd"))]
    fn names_and_ids_are_pinned() {
        let list: Vec<_> = COMPRESSIONS.iter().map(|compression| (compression.id(), compression.name())).collect();
        assert_eq!(list, [(0, "none"), (1, "snappy"), (2, "lz4"), (3, "gzip"), (4, "zlib"), (5, "zstd")]);
    }

    proptest! {
        #[test]
        fn round_trips(input in prop::collection::vec(0u8..4, 0..5000)) {
            for compression in COMPRESSIONS {
                let mut packed = Vec::new();
                Compressor::of(*compression).compress(&input, &mut packed);
                let mut output = vec![0; input.len()];
                compression.decompress(&packed, &mut output).unwrap();
                prop_assert_eq!(&output, &input);
                let mut longer = vec![0; input.len() + 1];
                prop_assert!(compression.decompress(&packed, &mut longer).is_err());
                if let Some(shorter) = longer.get_mut(2..) {
                    prop_assert!(compression.decompress(&packed, shorter).is_err());
                }
                packed.push(0);
                // At the end of an LZ4 block such a byte means no more bytes.
                let means_nothing = compression.name() == "lz4";
                prop_assert!(compression.decompress(&packed, &mut output).is_err() || means_nothing);
                prop_assert_eq!(&output, &input);
            }
        }

        #[test]
        fn any_bytes_are_refused_or_decompressed(input: Vec<u8>, length in 0usize..10_000) {
            for compression in COMPRESSIONS {
                let _ = compression.decompress(&input, &mut vec![0; length]);
            }
        }
    }
}
