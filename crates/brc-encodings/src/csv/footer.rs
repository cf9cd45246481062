//! Leaves out lines at the end of a text.

use crate::encoding::OpenOptions;
use crate::input::{Input, Source};
use brc_core::{Error, ReadAt, Result};
use brc_text::Dialect;
use memchr::memrchr_iter;
use std::io;

/// The number of bytes that are searched at once.
const BLOCK: u64 = 64 << 10;

/// The input as a file without the [last lines](Dialect::trailing_lines) of its text, and their number. The rows start
/// at `body`; no line before it is left out.
pub(super) fn without_last_lines(
    input: Input,
    dialect: &Dialect,
    body: u64,
    options: &OpenOptions,
) -> Result<(Input, u64)> {
    let (path, mut prefix) = (input.path.clone(), input.prefix.clone());
    let file = input.into_file(options.longest_copy)?;
    let line_end = dialect.line_end.last_byte();
    let found = file.length().and_then(|length| last_lines(&file, body, length, line_end, dialect.trailing_lines));
    let (length, lines) = found.map_err(Error::io(&path, "read"))?;
    prefix.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    let is_whole = prefix.len() as u64 == length;
    Ok((Input { path, prefix, is_whole, source: Source::File { file, length }, compression: None }, lines))
}

/// The start of the last `lines` lines between two offsets, and their number, which is less if there are fewer.
fn last_lines(file: &dyn ReadAt, start: u64, end: u64, line_end: u8, lines: u64) -> io::Result<(u64, u64)> {
    let mut found = 0;
    // The line end of the last line belongs to it.
    let mut at = end.saturating_sub(1);
    let mut block = Vec::new();
    while found < lines && at > start {
        let from = at.saturating_sub(BLOCK).max(start);
        block.resize((at - from) as usize, 0);
        file.read_exact_at(&mut block, from)?;
        for place in memrchr_iter(line_end, &block) {
            found += 1;
            if found == lines {
                return Ok((from + place as u64 + 1, lines));
            }
        }
        at = from;
    }
    Ok(if found < lines && end > start { (start, found + 1) } else { (end.max(start), found) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn found(text: &[u8], start: u64, lines: u64) -> (u64, u64) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        last_lines(&file, start, text.len() as u64, b'\n', lines).unwrap()
    }

    #[test]
    fn last_lines_are_found_from_the_end() {
        for text in [&b"a,b\n1,2\n3,4\ntotal\n"[..], b"a,b\n1,2\n3,4\ntotal"] {
            assert_eq!(found(text, 4, 1), (12, 1));
            assert_eq!(found(text, 4, 2), (8, 2));
            assert_eq!(found(text, 4, 3), (4, 3));
            assert_eq!(found(text, 4, 9), (4, 3));
        }
        assert_eq!(found(b"a,b\n", 4, 1), (4, 0));
        assert_eq!(found(b"a,b", 3, 1), (3, 0));
    }

    #[test]
    fn lines_may_be_longer_than_a_block() {
        let mut text = b"1\n2\n".to_vec();
        text.resize(200_000, b'x');
        text.extend_from_slice(b"\nlast\n");
        assert_eq!(found(&text, 0, 1), (200_001, 1));
        assert_eq!(found(&text, 0, 2), (4, 2));
        assert_eq!(found(&text, 0, 4), (0, 4));
        assert_eq!(found(&text, 0, u64::MAX), (0, 4));
    }
}
