//! Words as a shell takes them: a command line that is shown can be pasted, and one argument can hold several.

/// A word in quotes, if it needs any.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:,=%+@".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The words of a text: between spaces, as far as no quotes or backslashes keep them together.
///
/// # Errors
/// If a quote has no end.
pub(crate) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, character) if character.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    match quote {
        Some(quote) => Err(format!("a {quote} has no end")),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, words) in [
            ("", &[] as &[&str]),
            ("  a  b\tc\n", &["a", "b", "c"]),
            ("--where \"station = 'Hamburg'\"", &["--where", "station = 'Hamburg'"]),
            ("--by ''", &["--by", ""]),
            (r#"a\ b 'c\d' "e\"f" g'h'i"#, &["a b", r"c\d", "e\"f", "ghi"]),
        ] {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
        assert!(split("'a").is_err());
        assert_eq!(quote("a-b"), "a-b");
        assert_eq!(quote("it's"), r"'it'\''s'");
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_split_again(words in prop::collection::vec(".*", 0..4)) {
            let text = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(split(&text).unwrap(), words);
        }
    }
}
