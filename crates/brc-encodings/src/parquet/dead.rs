//! What lies in a file and belongs to no row group: column chunks that were written before their types turned out wider.
//! They have checksums all the same, so that every byte of a file is under one.

use crate::input::read_full_at;
use brc_core::{Error, Result};
use std::fs::File;
use std::path::Path;

/// Bytes that are looked at together.
const STEP: usize = 1 << 20;

/// Bytes that nobody needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dead {
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) checksum: u32,
}

impl Dead {
    /// All of them as text.
    pub(super) fn to_text(all: &[Self]) -> String {
        let text = |dead: &Self| format!("{}+{}={:08x}", dead.start, dead.length, dead.checksum);
        all.iter().map(text).collect::<Vec<_>>().join(",")
    }

    /// Reads what [`Dead::to_text`] wrote.
    pub(super) fn list(text: &str) -> Option<Vec<Self>> {
        let one = |text: &str| {
            let (start, rest) = text.split_once('+')?;
            let (length, checksum) = rest.split_once('=')?;
            let checksum = u32::from_str_radix(checksum, 16).ok()?;
            Some(Self { start: start.parse().ok()?, length: length.parse().ok()?, checksum })
        };
        text.split(',').map(one).collect()
    }

    /// Checks that the bytes are as they were written, and before `end`.
    ///
    /// # Errors
    /// If they are not.
    pub(super) fn check(&self, path: &Path, file: &File, end: u64) -> Result<()> {
        let corrupt = |reason: &str| Error::corrupt(path, format!("byte {}", self.start), reason);
        if self.start.checked_add(self.length).is_none_or(|last| last > end) {
            return Err(corrupt("what was replaced is not inside the file"));
        }
        let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
        let mut buffer = vec![0; STEP.min(usize::try_from(self.length).unwrap_or(STEP))];
        let mut at = 0;
        while at < self.length {
            let part = buffer.len().min(usize::try_from(self.length - at).unwrap_or(STEP));
            let read = read_full_at(file, &mut buffer[..part], self.start + at).map_err(Error::io(path, "read"))?;
            if read != part {
                return Err(corrupt("the file ends within what was replaced"));
            }
            digest.update(&buffer[..part]);
            at += part as u64;
        }
        let is_sound = digest.finalize() == u64::from(self.checksum);
        if is_sound { Ok(()) } else { Err(corrupt("the checksum of what was replaced does not match")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip() {
        let all = [Dead { start: 4, length: 10, checksum: 7 }, Dead { start: 99, length: 0, checksum: u32::MAX }];
        assert_eq!(Dead::list(&Dead::to_text(&all)).unwrap(), all);
        for bad in ["", "1", "1+2", "1+2=x", "1+2=3,"] {
            assert_eq!(Dead::list(bad), None);
        }
    }
}
