//! Byte compressions behind one interface: one file each, and one list.
//!
//! Adding one is a file and a line in [`COMPRESSIONS`]; names in help texts, ids in buren files and the tests come from
//! there.

#![forbid(unsafe_code)]

mod lz4;
mod none;
mod snappy;

/// A general byte compressor applied to blocks.
pub trait Compression: Sync {
    /// Its name, as in `--compression`.
    fn name(&self) -> &'static str;

    /// What stands for it in files, for ever.
    fn id(&self) -> u8;

    /// One line on what it is, for help texts.
    fn about(&self) -> &'static str;

    /// Appends the compressed form of `input` to `output`.
    fn compress(&self, input: &[u8], output: &mut Vec<u8>);

    /// Decompresses into exactly `output`: the caller knows, and has checked, the length.
    ///
    /// # Errors
    /// If `input` is malformed or does not come to exactly that length.
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError>;
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

/// All compressions, in the order in which help texts show them.
pub static COMPRESSIONS: &[&dyn Compression] = &[&none::None, &snappy::Snappy, &lz4::Lz4];

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_and_ids_are_pinned() {
        let list: Vec<_> = COMPRESSIONS.iter().map(|compression| (compression.id(), compression.name())).collect();
        assert_eq!(list, [(0, "none"), (1, "snappy"), (2, "lz4")]);
    }

    proptest! {
        #[test]
        fn round_trips(input in prop::collection::vec(0u8..4, 0..5000)) {
            for compression in COMPRESSIONS {
                let mut packed = Vec::new();
                compression.compress(&input, &mut packed);
                let mut output = vec![0; input.len()];
                compression.decompress(&packed, &mut output).unwrap();
                prop_assert_eq!(&output, &input);
                let mut longer = vec![0; input.len() + 1];
                prop_assert!(compression.decompress(&packed, &mut longer).is_err());
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
