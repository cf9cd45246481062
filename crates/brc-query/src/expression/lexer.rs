//! Cuts a text into words, quoted things, numbers and signs.

use super::SyntaxError;
use brc_core::{Comparison, identifier};
use std::borrow::Cow;
use std::fmt;

/// The kinds of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A bare word: a keyword, a function or a column.
    Word(String),
    /// A `"quoted"` name, without its quotes.
    Name(String),
    /// A `'quoted'` string, without its quotes.
    Text(String),
    /// A number as written: an optional `-`, digits, and optionally a point and digits, and an exponent.
    Number(String),
    Comparison(Comparison),
    Open,
    Close,
    Comma,
    Star,
    End,
}

/// A token and the byte at which it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) position: usize,
}

impl Token {
    /// Whether it is this bare word, in upper or lower case.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(found) if found.eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Word(word) | Kind::Number(word) => write!(f, "'{word}'"),
            Kind::Name(_) => f.write_str("a quoted name"),
            Kind::Text(_) => f.write_str("a string"),
            Kind::Comparison(_) => f.write_str("a comparison"),
            Kind::Open => f.write_str("'('"),
            Kind::Close => f.write_str("')'"),
            Kind::Comma => f.write_str("','"),
            Kind::Star => f.write_str("'*'"),
            Kind::End => f.write_str("the end"),
        }
    }
}

/// A text's tokens, read one after the other.
pub(crate) struct Cursor<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    next: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(source: &'a str) -> Result<Self, SyntaxError> {
        Ok(Self { source, tokens: tokens(source)?, next: 0 })
    }

    pub(crate) fn peek(&self) -> &Token {
        // The last token is the end, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    /// The token behind the next one.
    pub(crate) fn second(&self) -> &Token {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)]
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
    }

    pub(crate) fn take(&mut self, kind: &Kind) -> bool {
        self.take_if(|token| token.kind == *kind)
    }

    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        self.take_if(|token| token.is_word(word))
    }

    fn take_if(&mut self, wanted: impl Fn(&Token) -> bool) -> bool {
        let taken = wanted(self.peek());
        self.next += usize::from(taken);
        taken
    }

    /// Takes a token of that kind, or else says that `what` was expected.
    pub(crate) fn require(&mut self, kind: &Kind, what: &str) -> Result<(), SyntaxError> {
        if self.take(kind) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// The error that something else than the next token was expected.
    pub(crate) fn expected(&self, what: &str) -> SyntaxError {
        self.error(format!("expected {what}, found {}", self.peek()))
    }

    /// An error at the next token.
    pub(crate) fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(message, self.peek().position, self.source)
    }
}

/// The tokens of `source`, the last of which is [`Kind::End`].
fn tokens(source: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut position = 0;
    loop {
        position += spaces(&source[position..]);
        let (kind, length) = token(source, position)?;
        let done = kind == Kind::End;
        tokens.push(Token { kind, position });
        if done {
            return Ok(tokens);
        }
        position += length;
    }
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The token that starts at `position`, and its length in bytes.
fn token(source: &str, position: usize) -> Result<(Kind, usize), SyntaxError> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let rest = &source[position..];
    let Some(first) = rest.chars().next() else { return Ok((Kind::End, 0)) };
    const SIGNS: [(&str, Kind); 12] = [
        ("==", Kind::Comparison(Equal)),
        ("!=", Kind::Comparison(NotEqual)),
        ("<>", Kind::Comparison(NotEqual)),
        ("<=", Kind::Comparison(LessOrEqual)),
        (">=", Kind::Comparison(GreaterOrEqual)),
        ("=", Kind::Comparison(Equal)),
        ("<", Kind::Comparison(Less)),
        (">", Kind::Comparison(Greater)),
        ("(", Kind::Open),
        (")", Kind::Close),
        (",", Kind::Comma),
        ("*", Kind::Star),
    ];
    if let Some((sign, kind)) = SIGNS.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((kind, sign.len()));
    }
    match first {
        '\'' => quoted(source, position, '\'').map(|(text, length)| (Kind::Text(text), length)),
        '"' => quoted(source, position, '"').map(|(text, length)| (Kind::Name(text), length)),
        '0'..='9' | '-' | '.' => number(source, position),
        _ if in_word(first) => {
            let length = rest.find(|character| !in_word(character)).unwrap_or(rest.len());
            Ok((Kind::Word(rest[..length].to_owned()), length))
        }
        _ => Err(SyntaxError::new(format!("unexpected '{}'", first.escape_debug()), position, source)),
    }
}

/// A name as it is written in an expression: in quotes if it is more than a word.
pub(crate) fn written(name: &str) -> Cow<'_, str> {
    let starts = |character: char| in_word(character) && !character.is_ascii_digit() && character != '.';
    let is_word = name.starts_with(starts) && name.chars().all(in_word);
    if is_word { name.into() } else { identifier::quote(name).into() }
}

fn in_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '.'
}

fn quoted(source: &str, position: usize, quote: char) -> Result<(String, usize), SyntaxError> {
    let unclosed = || SyntaxError::new(format!("missing closing {quote}"), position, source);
    identifier::unquote(&source[position..], quote).ok_or_else(unclosed)
}

fn number(source: &str, position: usize) -> Result<(Kind, usize), SyntaxError> {
    let rest = &source[position..];
    let unsigned = rest.strip_prefix('-').unwrap_or(rest);
    let mut length = rest.len() - unsigned.trim_start_matches(in_word).len();
    let after = &rest[length..];
    if rest[..length].ends_with(['e', 'E']) && after.starts_with(['+', '-']) {
        length += 1 + after[1..].len() - after[1..].trim_start_matches(in_word).len();
    }
    let text = &rest[..length];
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (digits, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let well_formed = match digits.split_once('.') {
        Some((whole, decimals)) => all_digits(whole) && all_digits(decimals),
        None => all_digits(digits),
    };
    if well_formed && all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) {
        Ok((Kind::Number(text.to_owned()), length))
    } else {
        Err(SyntaxError::new(format!("'{text}' is not a number of the form -12.3 or 1e-5"), position, source))
    }
}
