//! The footer at the end of a file, and the bytes before it that no checksum covers.
//!
//! Both formats end with the footer, its length in four bytes, and the magic with which the file also begins.

use super::seal::{self, Seal};
use brc_core::{Error, ReadAt, Result};
use std::ops::Range;
use std::path::Path;

/// The number of bytes read at once from a file's end: nearly always the whole footer.
const END: u64 = 32 << 10;

/// The number of first bytes of a file that have the mark of `brc`.
const MARKED: u64 = 256;

/// The number of padding bytes compared at once.
const ZEROS: u64 = 4 << 10;

/// The footer of a file.
pub(crate) struct Footer {
    pub(crate) bytes: Vec<u8>,
    /// Its offset.
    pub(crate) start: u64,
    /// Whether `brc` wrote it and it is intact.
    pub(crate) is_own: bool,
}

impl Footer {
    /// Reads the footer of a file of `length` bytes that begins and ends with `magic`.
    ///
    /// # Errors
    /// If there is none, its checksum does not match, or it has none although the file begins with the mark of one.
    pub(crate) fn read(path: &Path, file: &dyn ReadAt, length: u64, magic: &[u8]) -> Result<Self> {
        let corrupt = |reason: &str| Error::corrupt(path, "trailer", reason);
        let mut end = vec![0; length.min(END) as usize];
        read_exact(path, file, &mut end, length - length.min(END))?;
        let before = end.strip_suffix(magic).and_then(|end| end.split_last_chunk::<4>());
        let (before, size) = before.ok_or_else(|| corrupt("the file does not end with a footer"))?;
        let size = u64::from(u32::from_le_bytes(*size));
        let start = (length - (end.len() - before.len()) as u64).checked_sub(size);
        let start = start.filter(|start| *start >= magic.len() as u64);
        let start = start.ok_or_else(|| corrupt("the footer is longer than the file"))?;
        let bytes = match (before.len() as u64).checked_sub(size) {
            Some(at) => before[at as usize..].to_vec(),
            None => {
                let mut bytes = vec![0; size as usize];
                read_exact(path, file, &mut bytes, start)?;
                bytes
            }
        };
        match seal::check(&bytes) {
            Seal::None if !is_marked(path, file, length)? => Ok(Self { bytes, start, is_own: false }),
            Seal::Sound => Ok(Self { bytes, start, is_own: true }),
            Seal::None | Seal::Broken => Err(broken(path)),
        }
    }

    /// Checks that a footer without a checksum does not name `brc` or something damaged as its writer.
    ///
    /// # Errors
    /// If it does.
    pub(crate) fn check_writer(&self, path: &Path, created_by: Option<&str>) -> Result<()> {
        if !self.is_own && created_by.is_some_and(seal::is_damaged) { Err(broken(path)) } else { Ok(()) }
    }
}

/// Whether a file begins as one whose footer has a checksum.
pub(crate) fn is_marked(path: &Path, file: &dyn ReadAt, length: u64) -> Result<bool> {
    let mut start = vec![0; length.min(MARKED) as usize];
    read_exact(path, file, &mut start, 0)?;
    Ok(memchr::memmem::find(&start, seal::MARK.as_bytes()).is_some())
}

fn broken(path: &Path) -> Error {
    Error::corrupt(path, "footer", "its checksum does not match")
}

/// Checks the bytes of a file of `brc` that are in none of the `parts` with checksums: `first` begins the file, `last`
/// precedes the footer at `end`, and gaps between parts are zeros.
///
/// # Errors
/// If there are other bytes.
pub(crate) fn check_rest(
    path: &Path,
    file: &dyn ReadAt,
    first: &[u8],
    mut parts: Vec<Range<u64>>,
    last: &[u8],
    end: u64,
) -> Result<()> {
    let last_start = end.saturating_sub(last.len() as u64);
    expect(path, file, 0, first)?;
    expect(path, file, last_start, last)?;
    parts.push(last_start..end);
    parts.sort_unstable_by_key(|part| part.start);
    let mut at = first.len() as u64;
    for part in parts {
        while at < part.start {
            let count = ZEROS.min(part.start - at);
            expect(path, file, at, &[0; ZEROS as usize][..count as usize])?;
            at += count;
        }
        at = at.max(part.end);
    }
    Ok(())
}

fn expect(path: &Path, file: &dyn ReadAt, at: u64, expected: &[u8]) -> Result<()> {
    let mut found = vec![0; expected.len()];
    read_exact(path, file, &mut found, at)?;
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(index) => Err(Error::corrupt(
            path,
            format!("byte {}", at + index as u64),
            "it has changed since the file was written",
        )),
        None => Ok(()),
    }
}

pub(crate) fn read_exact(path: &Path, file: &dyn ReadAt, buffer: &mut [u8], at: u64) -> Result<()> {
    let read = file.read_full_at(buffer, at).map_err(Error::io(path, "read"))?;
    if read == buffer.len() { Ok(()) } else { Err(Error::corrupt(path, format!("byte {at}"), "the file ends here")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn footer(bytes: &[u8]) -> Result<Footer> {
        Footer::read(Path::new("test"), &file(bytes), bytes.len() as u64, b"MAGIC")
    }

    #[test]
    fn a_footer_of_any_length_is_found() {
        for size in [0, 1, 100, END as usize - 9, END as usize - 8, 3 * END as usize] {
            let content: Vec<u8> = (0..size).map(|byte| byte as u8).collect();
            let bytes = [b"MAGIC".as_slice(), &content, &(size as u32).to_le_bytes(), b"MAGIC"].concat();
            let found = footer(&bytes).unwrap();
            assert!(found.bytes == content && found.start == 5 && !found.is_own);
            // Otherwise it would begin within the magic.
            assert!(footer(&bytes[1..]).is_err());
        }
        for forged in [&b""[..], b"MAGIC", b"\0\0\0\0MAGIC", b"MAGIC\xff\xff\xff\xffMAGIC", b"MAGIC\0\0\0\0MAGID"] {
            assert!(footer(forged).is_err(), "{forged:?}");
        }
    }

    #[test]
    fn a_footer_without_its_checksum_is_broken_where_the_start_has_the_mark() {
        let with = |start: &str| footer(&[b"MAGIC", start.as_bytes(), b"some footer\x0b\0\0\0MAGIC"].concat());
        assert!(with("another start").is_ok());
        assert!(with(seal::MARK).is_err());
    }

    #[test]
    fn every_byte_outside_of_parts_is_checked() {
        let mut bytes = vec![0; 10_000];
        bytes[..3].copy_from_slice(b"one");
        bytes[9_997..].copy_from_slice(b"two");
        let parts = vec![9_000..9_001, 3..6, 100..200, 150..160];
        let check = |bytes: &[u8]| check_rest(Path::new("test"), &file(bytes), b"one", parts.clone(), b"two", 10_000);
        bytes[3..6].fill(7);
        check(&bytes).unwrap();
        for at in (0..300).chain([4_096, 4_296, 8_999, 9_000, 9_001]).chain(9_990..10_000) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let covered = (3..6).contains(&at) || (100..200).contains(&at) || at == 9_000;
            assert_eq!(check(&damaged).is_ok(), covered, "byte {at}");
        }
        assert!(check(&bytes[..9_999]).is_err());
    }
}
