//! A checksum inside a footer that has no field for one.
//!
//! Parquet and arrow do not checksum their footers. `brc` puts a checksum into the text that names the writing program:
//! other programs only display it, and do not copy it to files that they write, as they do with other metadata. The
//! mark is searched for in the raw bytes, before anything in them is parsed.
//!
//! Damage may destroy that text, and then the footer looks like that of another program. So the start of a Parquet or
//! Arrow file has a [`MARK`] of its own: a file with it has a checksum in its footer, or is damaged. Avro files end
//! with a block like no other program's.

const PROGRAM: &str = "brc version ";
const START: &str = "(build brc-crc32c-";
const DIGITS: usize = 8;

/// What the start of a file says whose footer has a checksum.
pub(crate) const MARK: &str = "brc-crc32c-in-footer";

/// Whether a footer is intact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// Another program wrote it: unknown.
    None,
    /// It is intact.
    Sound,
    /// It is damaged.
    Broken,
}

/// The writer's name for a footer, with space for the checksum.
pub(crate) fn created_by() -> String {
    format!("{PROGRAM}{} {START}{:0>DIGITS$})", env!("CARGO_PKG_VERSION"), 0)
}

/// Whether the writer's name of a footer without a sound checksum shows damage: it is that of `brc`, or some of its
/// bytes are zeros.
pub(crate) fn is_damaged(created_by: &str) -> bool {
    created_by.starts_with(PROGRAM) || created_by.contains("\0\0")
}

/// Writes the checksum of a footer into it. Returns whether there was space for it.
pub(crate) fn seal(footer: &mut [u8]) -> bool {
    let checksum = text(crc_fast::crc32_iscsi(footer));
    match position(footer).and_then(|at| footer.get_mut(at..at + DIGITS)) {
        Some(digits) => {
            digits.copy_from_slice(checksum.as_bytes());
            true
        }
        None => false,
    }
}

/// Checks a footer.
pub(crate) fn check(footer: &[u8]) -> Seal {
    let Some(at) = position(footer) else {
        return if has_damaged_mark(footer) { Seal::Broken } else { Seal::None };
    };
    let mut unsealed = footer.to_vec();
    let Some(digits) = unsealed.get_mut(at..at + DIGITS) else { return Seal::Broken };
    let found = digits.to_vec();
    digits.fill(b'0');
    if found == text(crc_fast::crc32_iscsi(&unsealed)).as_bytes() { Seal::Sound } else { Seal::Broken }
}

fn text(checksum: u32) -> String {
    format!("{checksum:08x}")
}

fn position(footer: &[u8]) -> Option<usize> {
    memchr::memmem::rfind(footer, START.as_bytes()).map(|at| at + START.len())
}

/// The number of bytes of a mark that may be damaged without it being missed. Other programs write the first seven
/// bytes before a hexadecimal number, which cannot be this similar.
const DAMAGED: usize = 4;

/// The minimum number of contiguous intact bytes of a mark with [`DAMAGED`] damaged bytes.
const LEFT: usize = (START.len() - DAMAGED).div_ceil(DAMAGED + 1);

/// Whether there is a mark with some damaged bytes.
fn has_damaged_mark(footer: &[u8]) -> bool {
    let start = START.as_bytes();
    (0..=start.len() - LEFT).any(|at| {
        let positions = memchr::memmem::find_iter(footer, &start[at..at + LEFT]);
        let mut marks = positions.filter_map(|position| footer.get(position.checked_sub(at)?..)?.get(..start.len()));
        marks.any(|mark| mark.iter().zip(start).filter(|(found, own)| found != own).count() <= DAMAGED)
    })
}

/// The checksums of the parts of a file, as text.
pub(crate) fn to_text(checksums: &[u32]) -> String {
    checksums.iter().copied().map(text).collect()
}

/// Parses the output of [`to_text`].
pub(crate) fn from_text(text: &str) -> Option<Vec<u32>> {
    let checksum = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    if !text.len().is_multiple_of(DIGITS) { None } else { text.as_bytes().chunks(DIGITS).map(checksum).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_is_detected() {
        let mut footer = format!("some {} thing", created_by()).into_bytes();
        assert!(seal(&mut footer));
        assert_eq!(check(&footer), Seal::Sound);
        for bit in 0..footer.len() * 8 {
            let mut damaged = footer.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(check(&damaged), Seal::Sound, "bit {bit}");
        }
        for (first, second) in (0..footer.len()).flat_map(|first| (0..first).map(move |second| (first, second))) {
            let mut damaged = footer.clone();
            damaged[first] ^= 0x11;
            damaged[second] ^= 0xff;
            assert_eq!(check(&damaged), Seal::Broken, "bytes {first} and {second}");
        }
        for other in ["parquet-cpp-arrow version 26.0.1", "parquet-mr version 1.12.3 (build bcc-cc32c)", "(build brc)"]
        {
            assert_eq!(check(other.as_bytes()), Seal::None);
        }
        assert!(is_damaged(&created_by()) && is_damaged("brc\0\0\0\0") && !is_damaged("parquet-go"));
        assert!(!seal(&mut [0; 9]));
        let end = footer.iter().position(|&byte| byte == b')').unwrap();
        assert_eq!(check(&footer[..end - 1]), Seal::Broken);
    }

    #[test]
    fn checksums_round_trip() {
        let checksums = [0, 1, u32::MAX, 0x1234_5678];
        assert_eq!(from_text(&to_text(&checksums)).unwrap(), checksums);
        assert_eq!(from_text("0"), None);
        assert_eq!(from_text("0000000x"), None);
    }
}
