//! Byte compressions with a common interface: one file each, registered in one list.
//!
//! A new one needs a file and a line in [`COMPRESSIONS`], from which help texts, file ids, extensions and tests are
//! derived.

#![forbid(unsafe_code)]
// Shared helpers are unused if a build disables some compressions.
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

    /// Its permanent id in files.
    fn id(&self) -> u8;

    /// A one-line description for help texts.
    fn about(&self) -> &'static str;

    /// The supported levels; `None` if there are none.
    fn levels(&self) -> Option<Levels> {
        None
    }

    /// Faster levels, the fastest first, that compress some content as well as `level` does: lower levels, or internal
    /// ones that are not offered to users.
    fn shortcuts(&self, level: i32) -> &'static [i32] {
        let _ = level;
        &[]
    }

    /// Appends the compressed form of `input` to `output`. `level` is one of [`Compression::levels`] or
    /// [`Compression::shortcuts`], and is ignored if there are none.
    fn compress(&self, level: i32, input: &[u8], output: &mut Vec<u8>);

    /// Decompresses into exactly `output`, whose length the caller knows and has checked.
    ///
    /// # Errors
    /// If `input` is malformed or decompresses to a different length.
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError>;

    /// The format of whole files of this compression; `None` for no compression.
    fn file_format(&self) -> Option<&'static dyn FileFormat> {
        None
    }
}

/// The levels of a compression: higher ones are slower and compress better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The fastest.
    pub lowest: i32,
    /// The default.
    pub usual: i32,
    /// The best compression.
    pub highest: i32,
}

/// Why decompression failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecompressError {
    /// The bytes are not in this format.
    #[error("malformed {compression} data: {reason}")]
    Malformed {
        /// The compression's name.
        compression: &'static str,
        /// The message of the library.
        reason: String,
    },
    /// The decompressed length differs from the expected one.
    #[error("{found} bytes where {expected} belong")]
    Length {
        /// The expected number of bytes.
        expected: usize,
        /// The actual number of bytes, as far as known.
        found: usize,
    },
}

/// All compressions of this build, in the order of help texts.
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

/// The compression with this name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Compression> {
    COMPRESSIONS.iter().copied().find(|compression| compression.name() == name)
}

/// The compression with this id.
#[must_use]
pub fn by_id(id: u8) -> Option<&'static dyn Compression> {
    COMPRESSIONS.iter().copied().find(|compression| compression.id() == id)
}

/// The compression whose files have this extension (without the dot).
#[must_use]
pub fn by_extension(extension: &str) -> Option<&'static dyn Compression> {
    let is_its = |format: &dyn FileFormat| format.extensions().iter().any(|own| own.eq_ignore_ascii_case(extension));
    COMPRESSIONS.iter().copied().find(|compression| compression.file_format().is_some_and(is_its))
}

/// The compression of a file that starts with these bytes, unless it is uncompressed.
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
                // At the end of an LZ4 block, such a byte adds no output.
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
