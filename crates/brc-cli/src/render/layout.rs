//! Lays out aligned columns of text, for all tables for people.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width in characters to which values may be cut if not all columns fit.
const NARROW: usize = 16;

/// The space around a value.
const PADDING: usize = 3;

/// The appearance of a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look {
    /// The maximum width in terminal columns; `None` for any width.
    pub(crate) width: Option<u16>,
    /// Whether headers are bold and nulls dim.
    pub(crate) colour: bool,
}

const BOLD: &[u8] = b"\x1b[1m";
const DIM: &[u8] = b"\x1b[2m";
const PLAIN: &[u8] = b"\x1b[0m";

/// The flag of a null in its width.
const NULL: u32 = 1 << 31;

/// The header of a column.
pub(crate) struct Header {
    pub(crate) name: String,
    /// Whether values are right-aligned, like numbers.
    pub(crate) is_right: bool,
}

impl Header {
    /// The header of a left-aligned column.
    pub(crate) fn left(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_right: false }
    }
}

/// Formatted values in row order, in one buffer, since there may be millions of them.
#[derive(Default)]
pub(crate) struct Cells {
    text: String,
    /// The length of each value in bytes, and its width in terminal columns.
    sizes: Vec<(u32, u32)>,
}

impl Cells {
    /// Appends a value without line ends.
    pub(crate) fn push(&mut self, cell: &str) {
        // A value is shorter than 4 GiB.
        self.sizes.push((cell.len() as u32, (width_of(cell) as u32).min(NULL - 1)));
        self.text.push_str(cell);
    }

    /// Appends a null, shown as `word`.
    pub(crate) fn push_null(&mut self, word: &str) {
        self.push(word);
        if let Some((_, width)) = self.sizes.last_mut() {
            *width |= NULL;
        }
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        self.text.push_str(&other.text);
        self.sizes.append(&mut other.sizes);
    }

    fn iter(&self) -> impl Iterator<Item = Shown<'_>> {
        let mut end = 0;
        self.sizes.iter().map(move |&(length, width)| {
            let start = end;
            end += length as usize;
            Shown { text: &self.text[start..end], width: (width & !NULL) as usize, is_null: width & NULL != 0 }
        })
    }
}

/// A formatted value.
struct Shown<'a> {
    text: &'a str,
    /// The width in terminal columns.
    width: usize,
    is_null: bool,
}

/// The width of a text in terminal columns.
pub(crate) fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Appends a table of at most the allowed width: long values are cut, and the last columns omitted.
pub(crate) fn lay_out(headers: &[Header], cells: &Cells, look: Look, out: &mut Vec<u8>) {
    let Look { width, colour } = look;
    if headers.is_empty() {
        return;
    }
    let mut names = Cells::default();
    headers.iter().for_each(|header| names.push(&header.name));
    let mut widths = vec![0; headers.len()];
    for (column, value) in (0..headers.len()).cycle().zip(names.iter().chain(cells.iter())) {
        widths[column] = value.width.max(widths[column]);
    }
    let (shown, longest) = width.map_or((headers.len(), usize::MAX), |width| fit(&widths, width.into()));
    let columns: Vec<_> = widths.iter().map(|&natural| natural.min(longest)).zip(headers).take(shown).collect();
    let start = out.len();
    line(&columns, &mut names.iter(), colour, out);
    if colour {
        let head = out.split_off(start);
        out.extend([BOLD, head.trim_ascii_end(), PLAIN, b"\n"].concat());
    }
    let total: usize = columns.iter().map(|(width, _)| width + PADDING).sum();
    out.extend_from_slice("─".repeat(total - 1).as_bytes());
    out.push(b'\n');
    let mut values = cells.iter();
    for _ in 0..cells.sizes.len() / headers.len() {
        line(&columns, &mut values, colour, out);
        (shown..headers.len()).for_each(|_| _ = values.next());
    }
    if let Some(hidden @ [_, ..]) = headers.get(shown..) {
        let names: Vec<_> = hidden.iter().map(|header| header.name.as_str()).collect();
        let more = format!("{} more columns: {}", hidden.len(), names.join(", "));
        let longest = usize::from(width.unwrap_or(u16::MAX));
        let is_long = more.chars().count() > longest;
        let cut: String = more.chars().take(if is_long { longest.saturating_sub(1) } else { longest }).collect();
        out.extend_from_slice(format!("{cut}{}\n", if is_long { "…" } else { "" }).as_bytes());
    }
}

/// Appends the next values as a line, padded to the widths of their columns.
fn line<'a>(
    columns: &[(usize, &Header)],
    values: &mut impl Iterator<Item = Shown<'a>>,
    colour: bool,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    for ((wanted, header), Shown { text, width, is_null }) in columns.iter().zip(values.by_ref()) {
        let (before_value, after_value): (&[u8], &[u8]) = if colour && is_null { (DIM, PLAIN) } else { (b"", b"") };
        let before = if header.is_right { wanted.saturating_sub(width) } else { 0 };
        out.resize(out.len() + 1 + before, b' ');
        out.extend_from_slice(before_value);
        if width > *wanted {
            out.extend_from_slice(cut(text, *wanted).as_bytes());
        } else {
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(after_value);
        let after = if header.is_right { 0 } else { wanted.saturating_sub(width) };
        out.resize(out.len() + after + PADDING - 1, b' ');
    }
    out.truncate(start + out[start..].trim_ascii_end().len());
    out.push(b'\n');
}

/// Wraps a text between words, indenting all lines but the first. A word that is wider than a line is not cut.
pub(crate) fn wrap(text: &str, indent: usize, width: usize) -> String {
    let (mut out, mut used, mut is_first) = (String::new(), 0, true);
    for word in text.split(' ') {
        let wide = width_of(word);
        if !is_first && used + 1 + wide > width && !word.is_empty() {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if !is_first {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += wide;
        is_first = false;
    }
    out
}

/// Cuts a text that is too wide.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let mut left = width.saturating_sub(1);
    let fits = |character: &char| {
        let width = character.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// The number of columns that fit, and the maximum width of their values: all columns in full width if they fit,
/// otherwise as many as fit with narrower values.
fn fit(widths: &[usize], width: usize) -> (usize, usize) {
    let needed =
        |columns: usize, longest: usize| widths[..columns].iter().map(|&natural| natural.min(longest) + PADDING).sum();
    let fits = |columns: usize, longest: usize| -> bool { width >= needed(columns, longest) };
    let all = widths.len();
    if fits(all, usize::MAX) {
        return (all, usize::MAX);
    }
    let columns = (1..=all).rev().find(|&columns| fits(columns, NARROW)).unwrap_or(1);
    let longest = (NARROW..width.max(NARROW + 1)).rev().find(|&longest| fits(columns, longest)).unwrap_or(NARROW);
    (columns, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(headers: &[Header], values: &[&str], width: Option<u16>) -> String {
        let (mut cells, mut out) = (Cells::default(), Vec::new());
        values.iter().for_each(|value| cells.push(value));
        lay_out(headers, &cells, Look { width, colour: false }, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn heads_are_bold_and_nulls_dim() {
        let (mut cells, mut out) = (Cells::default(), Vec::new());
        cells.push("null");
        cells.push_null("null");
        cells.push("x");
        cells.push("10");
        let headers = [Header::left("a"), Header { name: "n".to_owned(), is_right: true }];
        lay_out(&headers, &cells, Look { width: None, colour: true }, &mut out);
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "\x1b[1m a         n\x1b[0m");
        assert_eq!(lines[2..], [" null   \x1b[2mnull\x1b[0m", " x        10"]);
        let mut plain = Vec::new();
        lay_out(&headers, &cells, Look::default(), &mut plain);
        let bare = ["\x1b[1m", "\x1b[2m", "\x1b[0m"].iter().fold(text.clone(), |text, code| text.replace(code, ""));
        assert_eq!(bare.as_bytes(), plain);
    }

    #[test]
    fn lines_break_between_words_only() {
        let text = "charset   raw   the sample is valid UTF-8 (--charset)";
        let wrapped = wrap(text, 4, 24);
        assert_eq!(wrapped, "charset   raw   the\n    sample is valid\n    UTF-8 (--charset)");
        assert_eq!(wrap(text, 4, 200), text);
        assert_eq!(wrap("a incomprehensibilities b", 2, 10), "a\n  incomprehensibilities\n  b");
    }

    #[test]
    fn every_row_is_one_line() {
        let headers = [Header::left("名"), Header { name: "n".to_owned(), is_right: true }];
        assert_eq!(text(&headers, &["", "10", "é", "2"], None), " 名    n\n─────────\n      10\n é     2\n");
        assert_eq!(text(&headers[..1], &["", "", "x", ""], None), " 名\n────\n\n\n x\n\n");
        assert_eq!(text(&headers[..1], &[], None), " 名\n────\n");
        assert_eq!(text(&[], &[], Some(80)), "");
    }
}
