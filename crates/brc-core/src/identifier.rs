//! The syntax of column names: plain, or in SQL's double quotes if they contain special characters. A quote inside
//! quotes is doubled: `"a ""b"", c"` is the name `a "b", c`.

use std::borrow::Cow;

/// Why a list of names cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A quoted name has no closing quote.
    #[error("missing closing \" of {0}")]
    Unclosed(String),
    /// Something other than a comma follows a quoted name.
    #[error("expected ',' or the end after the quoted name, found '{0}'")]
    Trailing(String),
    /// A name is empty.
    #[error("a name is empty")]
    Empty,
}

/// Parses comma-separated names. Spaces around a name are ignored unless quoted.
///
/// # Errors
/// If a quote is not closed, something follows a quoted name, or a name is empty, as in an empty text.
pub fn parse_list(text: &str) -> Result<Vec<String>, ListError> {
    let name = |item: Item<'_>| {
        let name = match (item.quoted, item.rest) {
            (Some(name), "") => name,
            (Some(_), rest) => return Err(ListError::Trailing(rest.to_owned())),
            (None, name) => name.to_owned(),
        };
        if name.is_empty() { Err(ListError::Empty) } else { Ok(name) }
    };
    items(text, |rest| rest.find(','))?.into_iter().map(name).collect()
}

/// The name in the syntax of [`parse_list`] and [`Schema::parse`](crate::Schema::parse).
#[must_use]
pub fn in_list(name: &str) -> Cow<'_, str> {
    let plain = !name.is_empty() && name.trim() == name && !name.contains(',') && !name.starts_with('"');
    if plain { name.into() } else { quote(name).into() }
}

/// The name as in [`in_list`], for an option that is shown within a shell's single quotes. Names that contain `=` or
/// `%` are quoted.
#[must_use]
pub fn in_option(name: &str) -> String {
    let name = if name.contains(['=', '%']) { quote(name).into() } else { in_list(name) };
    name.replace('\'', r"'\''")
}

/// The name in SQL syntax: quoted unless it is a plain lower-case word.
#[must_use]
pub fn in_sql(name: &str) -> Cow<'_, str> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let plain = name.bytes().next().is_some_and(is_word) && name.bytes().all(|it| is_word(it) || it.is_ascii_digit());
    if plain { name.into() } else { quote(name).into() }
}

/// The name in double quotes.
#[must_use]
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The content of the quoted string at the start of `text`, and its length in bytes with quotes; `None` if the quote is
/// not closed.
#[must_use]
pub fn unquote(text: &str, quote: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((offset, character)) = characters.next() {
        if character != quote {
            content.push(character);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            content.push(quote);
        } else {
            return Some((content, offset + quote.len_utf8()));
        }
    }
    None
}

/// One item of a comma-separated list.
pub(crate) struct Item<'a> {
    /// The quoted name at the start of the item, if there is one.
    pub(crate) quoted: Option<String>,
    /// The remaining text, trimmed.
    pub(crate) rest: &'a str,
}

/// Splits a list at commas outside quoted names. `comma` finds the next comma.
pub(crate) fn items(text: &str, comma: impl Fn(&str) -> Option<usize>) -> Result<Vec<Item<'_>>, ListError> {
    let mut items = Vec::new();
    let mut text = text;
    loop {
        text = text.trim_start();
        let mut quoted = None;
        if text.starts_with('"') {
            let (name, length) = unquote(text, '"').ok_or_else(|| ListError::Unclosed(text.to_owned()))?;
            quoted = Some(name);
            text = &text[length..];
        }
        let (rest, others) = comma(text).map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
        items.push(Item { quoted, rest: rest.trim() });
        match others {
            Some(others) => text = others,
            None => return Ok(items),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_and_without_quotes() {
        for (text, names) in [
            ("a", &["a"] as &[&str]),
            (" a b , c-d ", &["a b", "c-d"]),
            (r#""a ""b"", c", d"#, &["a \"b\", c", "d"]),
            (r#"" a " ,b"#, &[" a ", "b"]),
            (r#"5" pipe,6" pipe"#, &["5\" pipe", "6\" pipe"]),
        ] {
            assert_eq!(parse_list(text).unwrap(), names, "{text}");
        }
    }

    #[test]
    fn malformed_lists_are_refused() {
        for (text, message) in [
            ("", "a name is empty"),
            ("a,,b", "a name is empty"),
            ("\"\"", "a name is empty"),
            ("a,\"b", "missing closing \" of \"b"),
            ("\"a\" b,c", "expected ',' or the end after the quoted name, found 'b'"),
        ] {
            assert_eq!(parse_list(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn names_are_quoted_where_necessary() {
        for name in ["a", "a b", "a\"b", "a,b", " a", "\"a\"", "\"", "é", ","] {
            assert_eq!(parse_list(&format!("x,{},y", in_list(name))).unwrap(), ["x", name, "y"]);
        }
        assert_eq!(in_list("a b"), "a b");
        assert_eq!([in_option("it's"), in_option("b=c"), in_option("a b")], [r"it'\''s", "\"b=c\"", "a b"]);
        assert_eq!(in_list("a \"b\", c"), r#""a ""b"", c""#);
    }
}
