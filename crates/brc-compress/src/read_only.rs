//! Compressions that are only read, as whole files: other tools write such files, and buren, Parquet and other formats
//! have better compressions.

#[cfg(feature = "bzip2")]
use crate::{bzip2, frames::FrameReader};
#[cfg(feature = "xz")]
use std::io;
use std::io::Read;

/// A compression that is only read.
#[derive(Debug)]
pub struct ReadOnly {
    /// Its name.
    pub name: &'static str,
    /// The extensions of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether a file that starts with these bytes has this format.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads a whole file, like [`FileFormat::reader`](crate::FileFormat::reader).
    pub reader: fn(Box<dyn Read + Send>) -> Box<dyn Read + Send>,
}

/// All compressions that this build reads but does not write.
pub static READ_ONLY: &[ReadOnly] = &[
    #[cfg(feature = "bzip2")]
    ReadOnly {
        name: "bzip2",
        extensions: &["bz2"],
        sniff: is_bzip2,
        reader: |stored| Box::new(FrameReader::new(bzip2::Streams::new(stored))),
    },
    #[cfg(feature = "xz")]
    ReadOnly {
        name: "xz",
        extensions: &["xz"],
        sniff: is_xz,
        reader: |stored| Box::new(Checked(lzma_rust2::XzReader::new(io::BufReader::new(stored), true))),
    },
];

/// The compression of a file that starts with these bytes.
#[must_use]
pub fn by_prefix(prefix: &[u8]) -> Option<&'static ReadOnly> {
    READ_ONLY.iter().find(|compression| (compression.sniff)(prefix))
}

/// The compression whose files have this extension (without the dot).
#[must_use]
pub fn by_extension(extension: &str) -> Option<&'static ReadOnly> {
    let is_its = |own: &&str| own.eq_ignore_ascii_case(extension);
    READ_ONLY.iter().find(|compression| compression.extensions.iter().any(is_its))
}

/// The start of bzip2 streams, followed by their block size.
pub(crate) const BZIP2_MAGIC: &[u8] = b"BZh";

/// Text may start with `BZh9`, but not with the magic number of the first block, or of the end, after it.
pub(crate) fn is_bzip2(prefix: &[u8]) -> bool {
    let block = prefix.strip_prefix(BZIP2_MAGIC).and_then(|rest| match rest {
        [b'1'..=b'9', block @ ..] => Some(block),
        _ => None,
    });
    block.is_some_and(|block| {
        block.starts_with(b"\x31\x41\x59\x26\x53\x59") || block.starts_with(b"\x17\x72\x45\x38\x50\x90")
    })
}

pub(crate) fn is_xz(prefix: &[u8]) -> bool {
    prefix.starts_with(b"\xfd7zXZ\0")
}

/// A decoder whose errors are [`io::ErrorKind::InvalidData`], except those of the system and of truncated files.
#[cfg(feature = "xz")]
struct Checked<R>(R);

#[cfg(feature = "xz")]
impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::Interrupted | io::ErrorKind::Unsupported => error,
            _ if error.raw_os_error().is_some() => error,
            _ => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Abha;1.0\n", as written by bzip2 and xz.
    const BZIP2: &[u8] =
        b"\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xc9\x37\xc8\x4f\x00\x00\x02\xdd\x00\x00\x10\x00\x01\x60\
        \x08\x20\x00\x30\x40\x20\x00\x22\x0c\x99\x34\x20\xc9\x88\x04\xeb\x53\xa7\x8b\xb9\x22\x9c\x28\x48\
        \x64\x9b\xe4\x27\x80";
    const XZ: &[u8] =
        b"\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\
        \x01\x00\x08\x41\x62\x68\x61\x3b\x31\x2e\x30\x0a\x00\x00\x00\x00\x79\x26\xf9\x4f\xd2\x8b\x58\x40\
        \x00\x01\x21\x09\x6c\x18\xc5\xd5\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a";

    fn read(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let compression = by_prefix(file).unwrap();
        (compression.reader)(Box::new(io::Cursor::new(file.to_vec()))).read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn files_of_one_stream_or_several_are_read() {
        for file in [BZIP2, XZ] {
            assert_eq!(read(file).unwrap(), b"Abha;1.0\n");
            assert_eq!(read(&[file, file].concat()).unwrap(), b"Abha;1.0\nAbha;1.0\n");
        }
    }

    #[test]
    fn damage_is_detected() {
        for file in [BZIP2, XZ] {
            assert_eq!(read(&[file, &[0; 12]].concat()).unwrap(), b"Abha;1.0\n");
            for length in 10..file.len() {
                let kind = read(&file[..length]).unwrap_err().kind();
                assert!(matches!(kind, io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData), "{length}: {kind}");
            }
            for at in 12..file.len() {
                let mut damaged = file.to_vec();
                damaged[at] ^= 0x10;
                match read(&damaged) {
                    Ok(content) => assert_eq!(content, b"Abha;1.0\n", "byte {at}"),
                    Err(error) => assert_ne!(error.kind(), io::ErrorKind::Other),
                }
            }
        }
    }
}
