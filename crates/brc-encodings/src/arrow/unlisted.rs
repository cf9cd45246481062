//! Messages that a file has, but its footer does not list: the footer is damaged.

use super::messages::CONTINUATION;
use super::writer::MAGIC_BYTES;
use crate::columnar::footer::read_exact;
use brc_core::{Error, ReadAt, Result};
use std::ops::Range;
use std::path::Path;

/// The marker before the length of a message, and the length.
const PREFIX: u64 = 8;

/// Checks the gaps between the schema message, the listed blocks and the footer at `end`: no other message starts
/// there.
///
/// # Errors
/// If one does.
pub(super) fn check(path: &Path, file: &dyn ReadAt, mut blocks: Vec<Range<u64>>, end: u64) -> Result<()> {
    let start = MAGIC_BYTES as u64;
    // Before version 0.15 of the format, messages had no marker.
    let Some(schema) = length_at(path, file, start, end)? else { return Ok(()) };
    let mut at = start + PREFIX + schema;
    blocks.push(end..end);
    blocks.sort_unstable_by_key(|block| block.start);
    for block in blocks {
        if length_at(path, file, at, block.start)?.is_some_and(|length| length > 0) {
            return Err(Error::corrupt(path, "footer", format!("it does not list the message at byte {at}")));
        }
        at = at.max(block.end);
    }
    Ok(())
}

/// The length of the message that starts at `at`, if one does before `end`.
fn length_at(path: &Path, file: &dyn ReadAt, at: u64, end: u64) -> Result<Option<u64>> {
    if at.checked_add(PREFIX).is_none_or(|after| after > end) {
        return Ok(None);
    }
    let mut prefix = [0; PREFIX as usize];
    read_exact(path, file, &mut prefix, at)?;
    let length = prefix.strip_prefix(&CONTINUATION).and_then(|length| length.first_chunk::<4>());
    Ok(length.map(|length| u64::from(u32::from_le_bytes(*length))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_message_that_is_not_listed_is_found() {
        let message = |length: u8| [&CONTINUATION[..], &[length, 0, 0, 0], &vec![7; length.into()]].concat();
        let bytes = [b"ARROW1\0\0", &message(8)[..], &message(16), &message(24), &message(0), b"footer"].concat();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let check = |blocks: &[Range<u64>]| check(Path::new("test"), &file, blocks.to_vec(), 88);
        let blocks = [24..48, 48..80];
        check(&blocks).unwrap();
        check(&[blocks[1].clone(), blocks[0].clone()]).unwrap();
        for listed in [&blocks[1..], &blocks[..1], &[]] {
            assert!(check(listed).is_err(), "{listed:?}");
        }
    }
}
