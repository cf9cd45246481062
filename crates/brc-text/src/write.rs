//! Writes fields, with quotes where they are needed to read the value back unchanged.

use crate::charset::BYTE_ORDER_MARK;
use crate::dialect::{Delimiter, Dialect};
use crate::typed::NullTokens;

/// Writes fields in a dialect.
#[derive(Debug, Clone)]
pub struct FieldWriter {
    delimiter: u8,
    quote: u8,
    escape: Option<u8>,
    line_end: &'static [u8],
    nulls: NullTokens,
    comment: Option<Vec<u8>>,
    /// Whether the table has a single column, in which readers may take other bytes for delimiters.
    is_alone: bool,
}

impl FieldWriter {
    /// Creates a writer for a table with `columns` columns in a dialect. If the dialect has no quotes, `"` is used where
    /// a field needs them.
    #[must_use]
    pub fn new(dialect: &Dialect, columns: usize) -> Self {
        Self {
            delimiter: match dialect.delimiter {
                Delimiter::Byte(byte) => byte,
                Delimiter::Blanks => b' ',
            },
            quote: dialect.quote.unwrap_or(b'"'),
            escape: dialect.escape,
            line_end: dialect.line_end.bytes(),
            nulls: NullTokens::new(&dialect.null_tokens),
            comment: dialect.comment.as_ref().map(|comment| comment.as_bytes().to_vec()),
            is_alone: columns == 1,
        }
    }

    /// Appends a value, quoted if it would not be read back unchanged, including by readers that detect the dialect,
    /// which may for example trim blanks.
    pub fn value(&self, value: &[u8], out: &mut Vec<u8>) {
        if !self.needs_quotes(value) {
            return out.extend_from_slice(value);
        }
        out.push(self.quote);
        for &byte in value {
            if byte == self.quote || Some(byte) == self.escape {
                out.push(byte);
            }
            out.push(byte);
        }
        out.push(self.quote);
    }

    fn needs_quotes(&self, value: &[u8]) -> bool {
        if begins_like_comment(value) {
            return true;
        }
        let [first, .., last] = value else {
            return value.first().is_none_or(|byte| self.is_special(*byte) || is_odd_end(*byte)) || self.is_null(value);
        };
        is_odd_end(*first)
            || matches!(last, b' ' | b'\t')
            || value.iter().any(|byte| self.is_special(*byte))
            || value.starts_with(BYTE_ORDER_MARK)
            || self.comment.as_ref().is_some_and(|comment| value.starts_with(comment))
            || self.is_null(value)
    }

    fn is_special(&self, byte: u8) -> bool {
        byte == self.delimiter
            || byte == self.quote
            || matches!(byte, b'\n' | b'\r')
            || Some(byte) == self.escape
            || self.is_alone && matches!(byte, b',' | b';' | b'\t' | b'|')
    }

    fn is_null(&self, value: &[u8]) -> bool {
        self.nulls.contain(value)
    }

    /// Appends a null.
    pub fn null(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.nulls.first().unwrap_or_default());
    }

    /// Appends a delimiter.
    pub fn delimiter(&self, out: &mut Vec<u8>) {
        out.push(self.delimiter);
    }

    /// Appends a line end.
    pub fn end_row(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.line_end);
    }
}

/// Whether a value begins with a comment prefix that is detected.
fn begins_like_comment(value: &[u8]) -> bool {
    matches!(value, [b'#' | b'%', ..] | [b'/', b'/', ..] | [b'-', b'-', ..])
}

/// Whether a byte is unusual at the start of a value: blanks, which may be trimmed.
fn is_odd_end(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sniff::PREFIXES;

    #[test]
    fn all_comment_prefixes_are_known() {
        assert!(PREFIXES.iter().all(|prefix| begins_like_comment(prefix.as_bytes())));
        assert!(!["-1", "/a", "a#", ""].iter().any(|value| begins_like_comment(value.as_bytes())));
    }

    #[test]
    fn fields_are_quoted_if_necessary() {
        let dialect = Dialect { null_tokens: vec![String::new(), "NA".to_owned()], ..Dialect::default() };
        let writer = FieldWriter::new(&dialect, 2);
        for (value, written) in [
            ("", "\"\""),
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("5\" pipe", "\"5\"\" pipe\""),
            ("a\nb", "\"a\nb\""),
            ("a\r", "\"a\r\""),
            (" a", "\" a\""),
            ("a\t", "\"a\t\""),
            ("NA", "\"NA\""),
            ("#1", "\"#1\""),
            ("-", "-"),
            ("\u{feff}a", "\"\u{feff}a\""),
        ] {
            let mut out = Vec::new();
            writer.value(value.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), written);
        }
    }
}
