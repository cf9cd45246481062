//! The first and the last bytes of a file: magic, version, and the size and checksum of the footer.
//!
//! The magic starts with a non-ASCII byte and contains both kinds of line end and an end-of-file character, so that a
//! transfer in text mode damages it.

use crate::block::checksum;
use brc_core::{Error, Result};
use std::path::Path;

/// The first and the last eight bytes of every buren file.
pub const MAGIC: [u8; 8] = *b"\x89bur\r\n\x1a\n";

/// The version of the format.
pub const VERSION: u32 = 1;

/// The size of the header in bytes: magic, version, four reserved bytes.
pub(crate) const HEADER_BYTES: usize = 16;

/// The size of the trailer in bytes.
pub(crate) const TRAILER_BYTES: usize = 32;

pub(crate) fn header(version: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes
}

/// The contents of the trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) version: u32,
    pub(crate) footer_bytes: u64,
    pub(crate) footer_checksum: u32,
}

impl Trailer {
    pub(crate) fn to_bytes(self) -> [u8; TRAILER_BYTES] {
        let mut bytes = [0; TRAILER_BYTES];
        bytes[..8].copy_from_slice(&self.footer_bytes.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.footer_checksum.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.version.to_le_bytes());
        let own = checksum(&bytes[..20]);
        bytes[20..24].copy_from_slice(&own.to_le_bytes());
        bytes[24..].copy_from_slice(&MAGIC);
        bytes
    }
}

/// Checks the trailer of a file whose header was not read.
pub(crate) fn check_alone(path: &Path, trailer: &[u8]) -> Result<Trailer> {
    let version = sound(trailer).map_or(VERSION, |bytes| u32_at(bytes, 12));
    check(path, &header(version), trailer)
}

/// The bytes of a trailer, if it is not damaged.
fn sound(trailer: &[u8]) -> Option<&[u8; TRAILER_BYTES]> {
    let is_sound = |bytes: &&[u8; TRAILER_BYTES]| {
        bytes[24..] == MAGIC && u32_at(*bytes, 20) == checksum(&bytes[..20]) && u32_at(*bytes, 16) == 0
    };
    trailer.try_into().ok().filter(is_sound)
}

/// Checks header and trailer of a file; either may be cut short if the file is.
pub(crate) fn check(path: &Path, header: &[u8], trailer: &[u8]) -> Result<Trailer> {
    let Some(version) = header_version(path, header)? else {
        return Err(Error::corrupt(path, "header", "the file ends within it"));
    };
    // A newer version may have a different trailer, so the header's version decides if there is no valid trailer.
    match sound(trailer) {
        None if version > VERSION => Err(newer(path, version)),
        None => {
            Err(Error::corrupt(path, "trailer", "missing or damaged: the file is cut off, or its end was overwritten"))
        }
        Some(bytes) if u32_at(bytes, 12) != version => {
            Err(Error::corrupt(path, "header", "its format version is not the trailer's"))
        }
        Some(_) if version > VERSION => Err(newer(path, version)),
        Some(_) if version == 0 || header[12..HEADER_BYTES] != [0; 4] => {
            Err(Error::corrupt(path, "header", "its format version or its reserved bytes are damaged"))
        }
        Some(bytes) => Ok(Trailer {
            version,
            footer_bytes: u64::from(u32_at(bytes, 0)) | u64::from(u32_at(bytes, 4)) << 32,
            footer_checksum: u32_at(bytes, 8),
        }),
    }
}

/// Checks that a file which starts with these bytes is a buren file.
///
/// # Errors
/// [`Error::Corrupt`] if it is not, or its first bytes are damaged.
pub fn check_magic(path: &Path, header: &[u8]) -> Result<()> {
    if header.starts_with(&MAGIC) {
        return Ok(());
    }
    Err(if header.len() >= MAGIC.len() && header.starts_with(&MAGIC[..4]) {
        Error::corrupt(path, "header", "the magic is damaged, as by a transfer in text mode")
    } else {
        Error::corrupt(path, "header", "this is not a buren file: it does not start with the magic of one")
    })
}

/// The version in the header; `None` if the file ends within the header.
fn header_version(path: &Path, header: &[u8]) -> Result<Option<u32>> {
    check_magic(path, header)?;
    Ok((header.len() >= HEADER_BYTES).then(|| u32_at(header, 8)))
}

fn newer(path: &Path, version: u32) -> Error {
    Error::unsupported(path, format!("buren format version {version}; this build reads up to version {VERSION}"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAILER: Trailer = Trailer { version: 1, footer_bytes: 1 << 40 | 7, footer_checksum: 9 };

    fn check_both(header: &[u8], trailer: &[u8]) -> Result<Trailer> {
        check(Path::new("t.buren"), header, trailer)
    }

    #[test]
    fn bytes_are_pinned() {
        assert_eq!(header(1), *b"\x89bur\r\n\x1a\n\x01\0\0\0\0\0\0\0");
        let bytes = TRAILER.to_bytes();
        assert_eq!(bytes[..20], *b"\x07\0\0\0\0\x01\0\0\x09\0\0\0\x01\0\0\0\0\0\0\0");
        assert_eq!(bytes[24..], MAGIC);
        assert_eq!(check_both(&header(1), &bytes).unwrap(), TRAILER);
    }

    #[test]
    fn every_flipped_bit_is_found() {
        for at in 0..HEADER_BYTES {
            for bit in 0..8 {
                let mut bytes = header(1);
                bytes[at] ^= 1 << bit;
                assert!(check_both(&bytes, &TRAILER.to_bytes()).is_err(), "header byte {at}");
            }
        }
        for at in 0..TRAILER_BYTES {
            for bit in 0..8 {
                let mut bytes = TRAILER.to_bytes();
                bytes[at] ^= 1 << bit;
                assert!(matches!(check_both(&header(1), &bytes), Err(Error::Corrupt { .. })), "trailer byte {at}");
            }
        }
    }

    #[test]
    fn other_kinds_of_file_and_newer_versions_are_distinguished() {
        for other in [b"".as_slice(), b"\x89bur", b"Abha;1.0\nBonn;2.0\n", b"PAR1............"] {
            let message = check_both(other, b"").unwrap_err().to_string();
            assert!(message.contains("this is not a buren file"), "{message}");
        }
        let as_text = b"\x89bur\n\x1a\n\x01\0\0\0\0\0\0\0\0";
        assert!(matches!(check_both(as_text, &TRAILER.to_bytes()), Err(Error::Corrupt { .. })));
        let mut later = header(1);
        later[8] = 2;
        let message = check_both(&later, b"").unwrap_err().to_string();
        assert_eq!(message, "t.buren: buren format version 2; this build reads up to version 1");
    }
}
