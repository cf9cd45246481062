//! The header of an image: `P3` or `P6`, width, height and maximum, separated by white space and comments.

use super::image::{Image, LONGEST_SIDE};
use crate::input::{Input, PREFIX_BYTES};
use brc_core::{Error, Result, RowFault};
use memchr::{memchr_iter, memchr2};
use std::path::Path;

/// The maximum size of a header in bytes: comments may have any length.
const LONGEST: usize = 16 * PREFIX_BYTES;

/// The form of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleForm {
    /// P3: decimal numbers separated by white space.
    Ascii,
    /// P6: one byte each, or two, big-endian, if the maximum is above 255.
    Binary,
}

/// The header before the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) form: SampleForm,
    pub(super) image: Image,
    /// Its length in bytes, including the white space at its end.
    pub(super) bytes: usize,
}

/// Why the bytes do not begin with a header.
#[derive(Debug, PartialEq, Eq)]
enum HeaderError {
    /// The bytes end within it.
    Incomplete,
    Malformed {
        at: usize,
        reason: String,
    },
}

/// Whether a byte is white space in the format.
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether a byte may be part of a number or of an invalid token.
pub(super) fn is_token(byte: u8) -> bool {
    !is_white(byte) && byte != b'#'
}

/// Whether the first bytes are those of an image: a magic, and a token like a number after it.
pub(super) fn is_ppm(prefix: &[u8]) -> bool {
    let Some((_, rest)) = magic(prefix) else { return false };
    match (Tokens { text: prefix, at: prefix.len() - rest.len() }).next() {
        Ok((_, token)) => token.iter().all(|byte| byte.is_ascii_digit() || b"+-.".contains(byte)),
        Err(_) => true,
    }
}

/// Whether the bytes are exactly a header with this content.
pub(super) fn is_of(bytes: &[u8], form: SampleForm, image: Image) -> bool {
    parse(bytes) == Ok(Header { form, image, bytes: bytes.len() })
}

/// Reads the header of an image.
///
/// # Errors
/// [`Error::Corrupt`] if it is missing or malformed.
pub(super) fn read(input: &mut Input) -> Result<Header> {
    let mut header = parse(&input.prefix);
    if header == Err(HeaderError::Incomplete) {
        input.extend_prefix(LONGEST)?;
        header = parse(&input.prefix);
    }
    header.map_err(|fault| fault.error(&input.path, &input.prefix))
}

impl HeaderError {
    fn error(self, path: &Path, text: &[u8]) -> Error {
        let (at, reason) = match self {
            Self::Incomplete if text.len() < LONGEST => (text.len(), "the file ends within it".to_owned()),
            Self::Incomplete => (text.len(), format!("it does not end in {LONGEST} bytes")),
            Self::Malformed { at, reason } => (at, reason),
        };
        let line = 1 + memchr_iter(b'\n', &text[..at]).count();
        Error::corrupt(path, format!("header, line {line}, byte {at}"), reason)
    }
}

fn magic(text: &[u8]) -> Option<(SampleForm, &[u8])> {
    let form = match text.first_chunk() {
        Some(b"P3") => SampleForm::Ascii,
        Some(b"P6") => SampleForm::Binary,
        _ => return None,
    };
    let rest = &text[2..];
    rest.first().is_none_or(|&byte| !is_token(byte)).then_some((form, rest))
}

fn parse(text: &[u8]) -> Result<Header, HeaderError> {
    let Some((form, _)) = magic(text) else {
        let found = RowFault::quote(&text[..text.len().min(2)]);
        let reason = format!("it begins with '{found}', not with P3 or P6 and white space");
        return Err(HeaderError::Malformed { at: 0, reason });
    };
    let mut tokens = Tokens { text, at: 2 };
    let width = tokens.number("width", LONGEST_SIDE)? as u32;
    let height = tokens.number("height", LONGEST_SIDE)? as u32;
    let maximum = tokens.number("maximum", u16::MAX.into())? as u16;
    tokens.end()?;
    Ok(Header { form, image: Image { width, height, maximum }, bytes: tokens.at })
}

/// The tokens between white space and comments.
struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Result<(usize, &'a [u8]), HeaderError> {
        loop {
            match self.text.get(self.at) {
                None => return Err(HeaderError::Incomplete),
                Some(b'#') => self.comment()?,
                Some(&byte) if is_white(byte) => self.at += 1,
                Some(_) => break,
            }
        }
        let (start, rest) = (self.at, &self.text[self.at..]);
        let length = rest.iter().position(|&byte| !is_token(byte)).ok_or(HeaderError::Incomplete)?;
        self.at += length;
        Ok((start, &rest[..length]))
    }

    /// Skips a comment with its line end.
    fn comment(&mut self) -> Result<(), HeaderError> {
        self.at += 1 + memchr2(b'\n', b'\r', &self.text[self.at..]).ok_or(HeaderError::Incomplete)?;
        Ok(())
    }

    /// Skips the end of the header: one white space, or a comment.
    fn end(&mut self) -> Result<(), HeaderError> {
        if self.text.get(self.at) == Some(&b'#') {
            return self.comment();
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self, what: &str, most: u64) -> Result<u64, HeaderError> {
        let (at, token) = self.next()?;
        let shown = RowFault::quote(token);
        if !token.iter().all(u8::is_ascii_digit) {
            return Err(HeaderError::Malformed {
                at,
                reason: format!("the {what} is '{shown}', which is not a number"),
            });
        }
        let number = std::str::from_utf8(token).ok().and_then(|token| token.parse().ok()).unwrap_or(u64::MAX);
        if !(1..=most).contains(&number) {
            return Err(HeaderError::Malformed {
                at,
                reason: format!("the {what} is {shown}, which is not within 1 to {most}"),
            });
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_comments_may_be_anywhere() {
        let image = Image { width: 30, height: 2, maximum: 65_535 };
        for (text, form) in [
            ("P6\n30 2\n65535\n", SampleForm::Binary),
            ("P3 30\t2\r65535 ", SampleForm::Ascii),
            ("P3# a 1\n#\r30#b\n \x0b\x0c2\n# 7 #8\n\n65535#c\n", SampleForm::Ascii),
            ("P6\n0030\n2\n0065535\n", SampleForm::Binary),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(Header { form, image, bytes: text.len() }), "{text}");
            assert_eq!(parse(format!("{text}\n#").as_bytes()), Ok(Header { form, image, bytes: text.len() }));
            assert!(is_ppm(text.as_bytes()));
            for end in 0..text.len() {
                assert!(parse(&text.as_bytes()[..end]).is_err(), "{text} {end}");
            }
        }
    }

    #[test]
    fn malformed_headers_report_position_and_reason() {
        for (text, at, reason) in [
            ("P5\n1 1\n255\n", 0, "it begins with 'P5', not with P3 or P6 and white space"),
            ("P61 1 255 ", 0, "it begins with 'P6', not with P3 or P6 and white space"),
            ("P3\n-1 2\n255\n", 3, "the width is '-1', which is not a number"),
            ("P3\n1 0\n255\n", 5, "the height is 0, which is not within 1 to 2147483647"),
            (
                "P3\n1 99999999999999999999\n255\n",
                5,
                "the height is 99999999999999999999, which is not within 1 to 2147483647",
            ),
            ("P6\n1 1\n65536\n", 7, "the maximum is 65536, which is not within 1 to 65535"),
            ("P6\n1 1\n0\n", 7, "the maximum is 0, which is not within 1 to 65535"),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(HeaderError::Malformed { at, reason: reason.to_owned() }));
        }
        for text in ["P3 is a station;1.0\n", "P3;1.0\n", "P31 2 3", "p3 1 1 1"] {
            assert!(!is_ppm(text.as_bytes()), "{text}");
        }
    }
}
