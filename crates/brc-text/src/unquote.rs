//! Removes quotes, escapes and surrounding blanks from fields.

use brc_kernels::structure::Syntax;
use memchr::{memchr, memchr2};
use std::ops::Range;

/// Whether a byte is a space or a tab.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The range of a field without surrounding blanks; empty and at the end if all bytes are blanks.
pub(crate) fn within_blanks(field: &[u8]) -> Range<usize> {
    let start = field.iter().position(|byte| !is_blank(*byte)).unwrap_or(field.len());
    start..field.iter().rposition(|byte| !is_blank(*byte)).map_or(start, |last| last + 1)
}

/// The text between the brackets of a field, if the syntax has brackets and the field is bracketed.
pub(crate) fn between_brackets<'f>(syntax: &Syntax, field: &'f [u8]) -> Option<&'f [u8]> {
    let inner = field.strip_prefix(b"[").filter(|_| syntax.has_brackets())?;
    inner.strip_suffix(b"]")
}

/// Appends the value of a field: removes the surrounding quotes or brackets, replaces doubled quotes by one, and
/// removes escapes of bytes that have a meaning: quotes, escapes, delimiters, line ends, the start of a comment. Before
/// any other byte an escape is data, as in `"C:\temp"` from a program that escapes only quotes.
///
/// Only fields that [`rows`](crate::rows) marks as quoted need this.
pub fn unquote(syntax: &Syntax, field: &[u8], out: &mut Vec<u8>) {
    if syntax.has_brackets() && field.first() == Some(&b'[') {
        return out.extend_from_slice(between_brackets(syntax, field).unwrap_or(field));
    }
    let quoted = syntax.quote().and_then(|quote| Some((quote, field.strip_prefix(&[quote])?)));
    match (quoted, syntax.escape()) {
        (Some((quote, inner)), Some(escape)) => {
            // With escapes, a field that ends in a quote may still be unclosed.
            let is_special = |byte, next| byte == quote || is_escapable(syntax, next);
            copy(inner.strip_suffix(&[quote]).unwrap_or(inner), |rest| memchr2(quote, escape, rest), is_special, out);
        }
        (Some((quote, inner)), None) => {
            copy(inner.strip_suffix(&[quote]).unwrap_or(inner), |rest| memchr(quote, rest), |_, _| true, out);
        }
        (None, Some(escape)) => {
            copy(field, |rest| memchr(escape, rest), |_, next| is_escapable(syntax, next), out);
        }
        (None, None) => out.extend_from_slice(field),
    }
}

/// Whether a byte has a meaning that an escape takes away.
fn is_escapable(syntax: &Syntax, byte: u8) -> bool {
    syntax.has_meaning(byte) || matches!(byte, b'\r' | b'\n' | b'"' | b'\'')
}

/// Copies `rest`. Of each byte that `find` returns and the byte after it, the first is dropped if `is_special`.
fn copy(
    mut rest: &[u8],
    find: impl Fn(&[u8]) -> Option<usize>,
    is_special: impl Fn(u8, u8) -> bool,
    out: &mut Vec<u8>,
) {
    while let Some(at) = find(rest) {
        let Some(&next) = rest.get(at + 1) else { break };
        let kept = if is_special(rest[at], next) { at } else { at + 1 };
        out.extend_from_slice(&rest[..kept]);
        out.push(next);
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_kernels::structure::LineEnd;

    #[test]
    fn fields_are_unquoted_and_unescaped() {
        let plain = Syntax::new(b',', LineEnd::Lf).unwrap();
        let quotes = plain.clone().with_quote(b'"').unwrap();
        let escapes = plain.clone().with_escape(b'\\').unwrap();
        let brackets = quotes.clone().with_brackets().unwrap();
        let both = quotes.clone().with_escape(b'\\').unwrap();
        for (syntax, field, value) in [
            (&plain, "\"a\"", "\"a\""),
            (&quotes, "a", "a"),
            (&quotes, "[a]", "[a]"),
            (&brackets, "[a \"b\"]", "a \"b\""),
            (&brackets, "[a", "[a"),
            (&brackets, "[]", ""),
            (&quotes, "\"\"", ""),
            (&quotes, "\"\"\"\"", "\""),
            (&quotes, "\"a\"\"b\"\"\"\"c\"", "a\"b\"\"c"),
            (&quotes, "\"a\\\"", "a\\"),
            (&escapes, "a\\,b\\\\", "a,b\\"),
            (&escapes, "\\\"a\\", "\"a\\"),
            (&both, "\"a\\\"b\"\"c\\\\\"", "a\"b\"c\\"),
            (&both, "\"a\\\\\"", "a\\"),
            (&both, "a\"\\nb", "a\"\\nb"),
            (&both, "\"C:\\temp\\new \\\"x\\\"\"", "C:\\temp\\new \"x\""),
            (&both, "\"\\\\server\\share\"", "\\server\\share"),
            (&escapes, "a\\\nb\\\tc", "a\nb\\\tc"),
        ] {
            let mut out = b">".to_vec();
            unquote(syntax, field.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!(">{value}"), "{field}");
        }
    }
}
