//! Unquotes and unescapes fields.

use brc_kernels::structure::Syntax;
use memchr::{memchr, memchr2};

/// What is between the brackets of a field, if they stand around it in such a text.
pub(crate) fn between_brackets<'f>(syntax: &Syntax, field: &'f [u8]) -> Option<&'f [u8]> {
    let inner = field.strip_prefix(b"[").filter(|_| syntax.has_brackets())?;
    inner.strip_suffix(b"]")
}

/// Appends the value of a field: without the quotes or brackets around it, with one for each two quotes inside, and without
/// escapes: the byte behind an escape stands for itself, whatever it is. An escape at the very end stands for itself
/// too.
///
/// What [`rows`](crate::rows) does not say needs unquoting is a value already.
pub fn unquote(syntax: &Syntax, field: &[u8], out: &mut Vec<u8>) {
    if syntax.has_brackets() && field.first() == Some(&b'[') {
        return out.extend_from_slice(between_brackets(syntax, field).unwrap_or(field));
    }
    let quoted = syntax.quote().and_then(|quote| Some((quote, field.strip_prefix(&[quote])?)));
    match (quoted, syntax.escape()) {
        (Some((quote, inner)), Some(escape)) => {
            // With escapes, a field that ends in a quote may still be one that is not closed.
            copy(inner.strip_suffix(&[quote]).unwrap_or(inner), |rest| memchr2(quote, escape, rest), out);
        }
        (Some((quote, inner)), None) => {
            copy(inner.strip_suffix(&[quote]).unwrap_or(inner), |rest| memchr(quote, rest), out);
        }
        (None, Some(escape)) => copy(field, |rest| memchr(escape, rest), out),
        (None, None) => out.extend_from_slice(field),
    }
}

/// Leaves out each byte that is found, and takes the one behind it as it is.
fn copy(mut rest: &[u8], find: impl Fn(&[u8]) -> Option<usize>, out: &mut Vec<u8>) {
    while let Some(place) = find(rest) {
        let Some(&byte) = rest.get(place + 1) else { break };
        out.extend_from_slice(&rest[..place]);
        out.push(byte);
        rest = &rest[place + 2..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_kernels::structure::LineEnd;

    #[test]
    fn values_come_out_of_quotes_and_escapes() {
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
            (&both, "a\"\\nb", "a\"nb"),
        ] {
            let mut out = b">".to_vec();
            unquote(syntax, field.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!(">{value}"), "{field}");
        }
    }
}
