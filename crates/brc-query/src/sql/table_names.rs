//! Finds the names of the tables of a text before it is parsed: a `select` begins with columns, and the name of the table
//! that may stand before theirs follows in `from`.

use super::parser::Places;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The names that each `from` introduces, with the byte where it is; and no names where a statement ends.
pub(super) fn table_names(tokens: &[TokenWithSpan], places: &Places) -> Vec<(usize, Vec<String>)> {
    let tokens: Vec<_> = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    let (mut found, mut depth, mut names_no_table) = (Vec::new(), 0usize, false);
    for (index, TokenWithSpan { token, span }) in tokens.iter().copied().enumerate() {
        let mut keyword = Keyword::NoKeyword;
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::SemiColon => found.push((places.byte(span.start), Vec::new())),
            Token::Word(word) if word.quote_style.is_none() => keyword = word.keyword,
            _ => {}
        }
        if keyword == Keyword::FROM && depth == 0 && !names_no_table {
            found.push((places.byte(span.start), names(&tokens[index + 1..])));
        }
        // `a is distinct from b` names no table, and `t.from` is a column.
        names_no_table = keyword == Keyword::DISTINCT || *token == Token::Period;
    }
    found
}

/// A table's name as it is written, without directories and extensions, and its alias.
fn names(tokens: &[&TokenWithSpan]) -> Vec<String> {
    let token = |index: usize| tokens.get(index).map(|token| &token.token);
    let text = |index: usize| match token(index) {
        Some(Token::Word(word)) => Some(word.value.clone()),
        Some(Token::SingleQuotedString(name)) => Some(name.clone()),
        _ => None,
    };
    let Some(mut name) = text(0) else { return Vec::new() };
    let mut next = 1;
    while token(next) == Some(&Token::Period)
        && let Some(more) = text(next + 1)
    {
        (name, next) = (format!("{name}.{more}"), next + 2);
    }
    let alias = match token(next) {
        Some(Token::Word(word)) if word.keyword == Keyword::AS => text(next + 1),
        Some(Token::Word(word)) if word.keyword == Keyword::NoKeyword => Some(word.value.clone()),
        _ => None,
    };
    let file = name.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    let without = |extensions: Option<(&str, &str)>| extensions.map_or(file, |(stem, _)| stem).to_owned();
    let stems = [without(file.split_once('.')), without(file.rsplit_once('.'))];
    stems.into_iter().chain([name.clone()]).chain(alias).collect()
}
