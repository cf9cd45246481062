//! Whether a file is text, and whether it is a table of the One Billion Row Challenge.
//!
//! A malformed row must be reported, and not make the file something else. So the majority of the first lines decides.

use crate::input::PREFIX_BYTES;
use crate::text::{is_binary, strip_carriage_return};
use brc_core::{Schema, decimal};
use brc_text::BYTE_ORDER_MARK;
use memchr::{memchr, memchr_iter, memrchr};
use std::collections::HashMap;

/// The delimiter.
pub(super) const DELIMITER: u8 = b';';

/// Whether the first bytes are text: text has no NUL byte in its first line, unless it is UTF-16. (Later ones are
/// malformed rows, unless there are many other control bytes.)
pub(super) fn is_text(prefix: &[u8]) -> bool {
    if prefix.starts_with(b"\xff\xfe") && prefix.get(3) == Some(&0) || prefix.starts_with(b"\xfe\xff\0") {
        return true;
    }
    let line = memchr(b'\n', prefix).unwrap_or(prefix.len());
    let (line, rest) = prefix.split_at(line);
    let nuls = memchr_iter(0, rest).count();
    let is_text = memchr(0, line).is_none() && nuls * 100 <= rest.len() && !is_binary(prefix);
    is_text || brc_text::sniff::is_utf16(prefix)
}

/// Whether these are the first bytes of a table of the One Billion Row Challenge: two columns, names and numbers of
/// one decimal within ±99.9, and no header.
pub(super) fn is_one_brc(prefix: &[u8]) -> bool {
    let mut lines_of: HashMap<usize, usize> = HashMap::new();
    for line in lines(prefix) {
        *lines_of.entry(fields(line).count()).or_default() += 1;
    }
    let width = lines_of.into_iter().max_by_key(|&(width, lines)| (width > 1, lines, width));
    if width.is_none_or(|(width, _)| width != 2) {
        return false;
    }
    let (mut names, mut tenths, mut others) = (0usize, 0usize, 0usize);
    let (mut quoted, mut quotes) = (0usize, 0usize);
    let mut odd = 0;
    for line in lines(prefix) {
        let mut fields = fields(line);
        let (Some(name), Some(value), None) = (fields.next(), fields.next(), fields.next()) else { continue };
        names += usize::from(!name.is_empty() && number(name).is_none());
        odd += usize::from(number(name).is_some() || name.is_empty() && !value.is_empty());
        match number(value) {
            Some((value, 1)) if value.unsigned_abs() <= 999 => tenths += 1,
            Some(_) => return false,
            None => others += usize::from(!value.is_empty()),
        }
        quotes += usize::from(name.starts_with(b"\""));
        quoted += usize::from(name.len() > 1 && name.starts_with(b"\"") && name.ends_with(b"\""));
    }
    // Names may begin with a quote. If most of those also end with one, the quotes enclose the names.
    let are_quoted = quotes > 0 && quotes <= 3 * quoted;
    names > odd && tenths > others && !are_quoted && !has_header(prefix)
}

/// Whether the first line has names only, above numbers.
fn has_header(prefix: &[u8]) -> bool {
    let Some(first) = lines(prefix).next() else { return false };
    first_line(prefix) == first
        && fields(first).count() == 2
        && !fields(first).any(is_like_number)
        && fields(first).nth(1).is_some_and(|above| !above.is_empty())
}

/// Whether the first line has the preset's column names.
pub(super) fn begins_with(prefix: &[u8], delimiter: u8) -> bool {
    let schema = Schema::one_brc();
    let names = schema.fields().iter().map(|field| field.name.as_bytes());
    lines(prefix).next().is_some_and(|line| line.split(|&byte| byte == delimiter).eq(names))
}

fn text(prefix: &[u8]) -> &[u8] {
    prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(prefix)
}

fn first_line(prefix: &[u8]) -> &[u8] {
    let text = text(prefix);
    strip_carriage_return(&text[..memchr(b'\n', text).unwrap_or(text.len())])
}

/// The lines that are not empty, without one that may be cut off.
fn lines(prefix: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = if prefix.len() < PREFIX_BYTES { None } else { memrchr(b'\n', prefix) };
    let text = text(&prefix[..whole.unwrap_or(prefix.len())]);
    text.split(|&byte| byte == b'\n').map(strip_carriage_return).filter(|line| !line.is_empty())
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == DELIMITER)
}

/// The value and the decimals of a number.
fn number(field: &[u8]) -> Option<(i64, u8)> {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    let decimals = memchr(b'.', field).map_or(0, |point| field.len() - point - 1);
    let scale = u8::try_from(decimals).ok().filter(|scale| *scale <= 18)?;
    Some((decimal::parse(field, scale).ok()?, scale))
}

/// Whether it is meant as a number, well-formed or not: then its line is a row, possibly a malformed one.
fn is_like_number(field: &[u8]) -> bool {
    field.iter().find(|byte| !b" +-.,".contains(byte)).is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preset_is_recognised_by_its_content() {
        for text in ["Abha;1.0\n", "Abha;-99.9\nOslo;99.9", "\u{feff}Abha;1.0\r\nOslo;2.5\r\n", "a;1.0\nbad\n;\nb;2.0"]
        {
            assert!(is_one_brc(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "\n",
            "Abha;100.0\n",
            "Abha;1.0\nOslo;1.25\n",
            "Abha;1.0\nOslo;1\n",
            "Abha;1\n",
            "7;1.0\n",
            ";0.1\n;0.5\n2076-05-26;0.7\n",
            "1.0;Abha\n",
            "a;b\nc;d\n",
            "a;1.0;x\n",
            "a,1.0\n",
            "station;temperature\nAbha;1.0\n",
            "\"a\";1.0\n",
        ] {
            assert!(!is_one_brc(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_cut_off_line_is_ignored() {
        let mut text = "a;1.0\n".repeat(PREFIX_BYTES / 6);
        text.push_str(&"b;1.75"[..PREFIX_BYTES - text.len()]);
        assert!(is_one_brc(text.as_bytes()));
    }

    #[test]
    fn malformed_first_lines_are_not_headers() {
        for text in
            ["Hamburg;+1.0\nAbha;1.0\nOslo;2.0\n", "Hamburg;\nAbha;1.0\nOslo;2.0\n", "stations\nAbha;1.0\nOslo;2.0\n"]
        {
            assert!(is_one_brc(text.as_bytes()), "{text}");
        }
    }
}
