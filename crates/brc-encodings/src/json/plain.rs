//! Rows as programs usually write them, several times faster than any JSON can be read: the columns in their order, no
//! spaces or one behind each comma and colon, strings without escapes, numbers without exponents.
//!
//! It is checked that a row is exactly so; what any other row is, valid in another form or bad, is for the general parser
//! to find out. A string is checked when it comes for the first time: then its bytes are known.

use super::column::{JsonColumn, Values, is_literal};
use super::number::ShortNumber;
use crate::rows::values::is_short_number;
use crate::text::LONGEST_LINE;
use brc_core::{LogicalType, Schema, decimal};

pub(super) struct PlainRow {
    /// Without spaces, and with them.
    styles: [Style; 2],
    /// The style of the last plain row: that of all others, usually.
    style: usize,
}

impl PlainRow {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { styles: [Style::new(schema, ""), Style::new(schema, " ")], style: 0 }
    }

    /// Whether the columns are of strings and of numbers of 64 bits: others are left to the general parser.
    pub(super) fn has_columns_of(schema: &Schema) -> bool {
        let mut types = schema.fields().iter().map(|field| field.logical_type);
        types.all(|logical_type| logical_type == LogicalType::String || is_short_number(logical_type))
    }

    /// Reads the row at the start of the text, behind the `rows` rows of the columns; returns its length with its line
    /// end, or `None`, with nothing added, if it is not plain.
    #[inline]
    pub(super) fn read(&mut self, text: &[u8], columns: &mut [JsonColumn], rows: usize) -> Option<usize> {
        for style in [self.style, 1 - self.style] {
            if let Some(length) = self.styles[style].row(text, columns) {
                self.style = style;
                columns.iter_mut().for_each(|column| column.push_validity(true));
                return Some(length);
            }
            for column in &mut *columns {
                column.truncate(rows);
            }
        }
        None
    }
}

/// One way to put the spaces.
struct Style {
    columns: Vec<StyledColumn>,
    /// What stands behind the last value.
    end: Token,
}

struct StyledColumn {
    /// What stands before the value: the end of the value before, the key, and the quote of a string.
    before: Token,
    is_string: bool,
    number: ShortNumber,
    /// What stands behind a number.
    end: u8,
}

impl Style {
    fn new(schema: &Schema, space: &str) -> Self {
        let mut columns = Vec::new();
        let mut before = "{".to_owned();
        let last = schema.fields().len() - 1;
        for (index, field) in schema.fields().iter().enumerate() {
            let key = serde_json::Value::from(field.name.as_str());
            let is_string = field.logical_type == LogicalType::String;
            let quote = if is_string { "\"" } else { "" };
            columns.push(StyledColumn {
                before: Token::new(&format!("{before}{key}:{space}{quote}")),
                is_string,
                number: ShortNumber::new(field.logical_type.scale()),
                end: if index == last { b'}' } else { b',' },
            });
            before = if index == last { format!("{quote}}}") } else { format!("{quote},{space}") };
        }
        Self { columns, end: Token::new(&before) }
    }

    /// [`PlainRow::read`], but what was added stays if the row turns out not to be plain.
    #[inline]
    fn row(&self, text: &[u8], columns: &mut [JsonColumn]) -> Option<usize> {
        let mut rest = text;
        for (styled, column) in self.columns.iter().zip(columns) {
            rest = styled.before.strip(rest)?;
            let length = if styled.is_string {
                string(rest, column)?
            } else {
                let (number, length) = styled.number(rest, column.scale)?;
                if number < column.range.0 || number > column.range.1 {
                    return None;
                }
                column.push_number(number);
                length
            };
            rest = &rest[length..];
        }
        let length = text.len() - self.end.strip(rest)?.len();
        match text[length..] {
            _ if length > LONGEST_LINE => None,
            [b'\n', ..] => Some(length + 1),
            [b'\r', b'\n', ..] => Some(length + 2),
            _ => None,
        }
    }
}

/// Takes the string at the start of the text, up to the quote; returns its length.
#[inline]
fn string(text: &[u8], column: &mut JsonColumn) -> Option<usize> {
    let length = find_quote(text)?;
    let name = &text[..length];
    let Values::Strings { interner, codes, literal } = &mut column.values else {
        return is_literal(name).then_some(length);
    };
    let code = match interner.get_prefix(text, length) {
        Some(code) if literal[code as usize] => code,
        None if is_literal(name) => {
            literal.push(true);
            interner.intern(name)
        }
        _ => return None,
    };
    codes.push(code);
    Some(length)
}

impl StyledColumn {
    /// The number at the start of the text, and its length.
    #[inline]
    fn number(&self, text: &[u8], scale: u8) -> Option<(i64, usize)> {
        self.number.read(text, self.end).or_else(|| long_number(text, scale))
    }
}

/// A number of any length, perhaps with fewer decimals than its column.
fn long_number(text: &[u8], scale: u8) -> Option<(i64, usize)> {
    let length = text.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-'))?;
    let number = &text[..length];
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    // JSON has no zeros before other digits.
    if let [b'0', b'0'..=b'9', ..] = digits {
        return None;
    }
    Some((decimal::parse(number, scale).ok()?, length))
}

/// The place of the first quote, eight bytes at a time.
#[inline]
fn find_quote(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let differences = u64::from_le_bytes(*word) ^ QUOTES;
        // The lowest set bit marks the first zero byte; higher ones may be wrong.
        let zeros = differences.wrapping_sub(ONES) & !differences & (ONES << 7);
        if zeros != 0 {
            return Some(8 * index + zeros.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&byte| byte == b'"').map(|at| 8 * words.len() + at)
}

/// Bytes that are always the same, compared sixteen at a time.
struct Token {
    text: Box<[u8]>,
    /// For each sixteen bytes, their value and which of its bits count.
    words: Vec<(u128, u128)>,
}

impl Token {
    fn new(text: &str) -> Self {
        let word = |bytes: &[u8]| {
            let (mut value, mut mask) = ([0; 16], [0; 16]);
            value[..bytes.len()].copy_from_slice(bytes);
            mask[..bytes.len()].fill(0xFF);
            (u128::from_le_bytes(value), u128::from_le_bytes(mask))
        };
        Self { text: text.as_bytes().into(), words: text.as_bytes().chunks(16).map(word).collect() }
    }

    /// What follows the token at the start of the text.
    #[inline]
    fn strip<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (chunks, _) = text.as_chunks::<16>();
        if chunks.len() < self.words.len() {
            return text.strip_prefix(&*self.text);
        }
        let differs =
            |(chunk, (value, mask)): (&[u8; 16], &(u128, u128))| (u128::from_le_bytes(*chunk) ^ value) & mask != 0;
        if chunks.iter().zip(&self.words).any(differs) { None } else { text.get(self.text.len()..) }
    }
}
