//! A thin layer over `sqlparser`: positions become byte offsets, and messages become ours.

use super::dialect::OurDialect;
use super::table_names::table_names;
use super::{Kind, Syntax, SyntaxError, calls, convert, types};
use crate::sql::expression::Expression;
use crate::sql::suggestions::unknown_operator;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser as SqlParser, ParserError, ParserOptions};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use std::sync::Arc;

static DIALECT: OurDialect = OurDialect;

/// How deep parentheses may nest: whatever walks the tree needs no more stack than this.
const MAX_DEPTH: usize = 100;

/// How many operators may stand side by side. Chains of `and` and `or` do not count, however long: they are no deeper.
const MAX_OPERATORS: usize = 500;

/// A text that is parsed from left to right.
pub(crate) struct Parser {
    source: Arc<str>,
    places: Places,
    inner: SqlParser<'static>,
    /// All of it, for messages.
    tokens: Vec<TokenWithSpan>,
    /// The names that each `from` introduces, and where.
    tables: Vec<(usize, Vec<String>)>,
    /// The names of the present table, which may stand before those of its columns.
    pub(super) table: Vec<String>,
}

impl Parser {
    pub(crate) fn new(source: &str) -> Result<Self, SyntaxError> {
        let places = Places::new(source);
        let tokens = Tokenizer::new(&DIALECT, source).tokenize_with_location();
        let mut tokens = tokens.map_err(|error| {
            let message = error
                .message
                .to_lowercase()
                .replace("unterminated string literal", "missing closing ' (inside a string it is doubled: 'it''s')");
            let message = message.replace("expected close delimiter '\"' before eof.", "missing closing \"");
            let message = message.replace("unexpected eof while in a multi-line comment", "missing closing */");
            SyntaxError::new(message, places.byte(error.location), source)
        })?;
        check_depth(&tokens, source, &places)?;
        let tables = table_names(&tokens, &places);
        types::in_sql(&mut tokens);
        calls::trim_spaces(&mut tokens);
        let inner = parser(tokens.clone());
        Ok(Self { source: source.into(), places, inner, tokens, tables, table: Vec::new() })
    }

    /// Makes the table that `from` names next, in this statement, the present one.
    pub(super) fn enter_table(&mut self) {
        let position = self.position();
        let next = self.tables.partition_point(|(at, _)| *at < position);
        self.table = self.tables.get(next).map(|(_, names)| names.clone()).unwrap_or_default();
    }

    /// One expression.
    pub(crate) fn expression(&mut self, what: &str) -> Result<Expression, SyntaxError> {
        let start = self.position();
        if matches!(self.inner.peek_token_ref().token, Token::EOF | Token::Comma | Token::RParen) {
            return Err(self.expected(what));
        }
        let parsed = self.inner.parse_expr().map_err(|error| self.error(&error))?;
        if self.inner.get_current_token().token == Token::LParen {
            // The parser takes `filter (` before it looks for `where`.
            return Err(self.refuse("write filter (where …)"));
        }
        let end = self.places.byte(self.inner.get_current_token().span.end);
        let syntax: Syntax =
            convert::Converter { source: &self.source, places: &self.places, start, table: &self.table }
                .expression(parsed)?;
        Ok(Expression::new(Arc::clone(&self.source), start..end, syntax))
    }

    /// The name of a column.
    pub(crate) fn column(&mut self) -> Result<Expression, SyntaxError> {
        let position = self.position();
        let Token::Word(word) = self.peek() else { return Err(self.expected("the name of a column")) };
        let kind = Kind::Column(word.value.clone());
        self.advance();
        let end = self.places.byte(self.inner.get_current_token().span.end);
        Ok(Expression::new(Arc::clone(&self.source), position..end, Syntax { kind, position }))
    }

    /// Items with commas between.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<Vec<T>, SyntaxError> {
        let mut items = vec![item(self)?];
        while self.take(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(crate) fn end(&mut self, expected: &str) -> Result<(), SyntaxError> {
        if self.peek() == &Token::EOF { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Takes a keyword if it is next.
    pub(crate) fn keyword(&mut self, keyword: Keyword) -> bool {
        self.inner.parse_keyword(keyword)
    }

    /// Takes a token if it is next.
    pub(crate) fn take(&mut self, token: &Token) -> bool {
        self.inner.consume_token(token)
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.inner.peek_token_ref().token
    }

    /// The token this many after the next one.
    pub(super) fn peek_at(&self, place: usize) -> &Token {
        &self.inner.peek_nth_token_ref(place).token
    }

    pub(crate) fn advance(&mut self) -> Token {
        self.inner.next_token().token
    }

    /// The byte at which the next token begins.
    pub(crate) fn position(&self) -> usize {
        match self.inner.peek_token_ref() {
            TokenWithSpan { token: Token::EOF, .. } => self.source.len(),
            token => self.places.byte(token.span.start),
        }
    }

    /// Whether nothing lies between the last token and the next one.
    pub(super) fn is_adjacent(&self) -> bool {
        let next = self.inner.peek_token_ref();
        next.token != Token::EOF && next.span.start == self.inner.get_current_token().span.end
    }

    /// The line of the next token, from 1.
    pub(super) fn line(&self) -> usize {
        usize::try_from(self.inner.peek_token_ref().span.start.line).unwrap_or(usize::MAX)
    }

    /// The whole text.
    pub(super) fn source(&self) -> Arc<str> {
        Arc::clone(&self.source)
    }

    /// Something else is next than must be.
    pub(crate) fn expected(&self, expected: &str) -> SyntaxError {
        if let Some(error) = self.broken(self.position()) {
            return error;
        }
        let found = match self.peek() {
            Token::EOF => "the end".to_owned(),
            token => format!("'{token}'"),
        };
        self.refuse(format!("expected {expected}, found {found}"))
    }

    pub(crate) fn refuse(&self, message: impl Into<String>) -> SyntaxError {
        self.error_at(message, self.position())
    }

    pub(super) fn error_at(&self, message: impl Into<String>, position: usize) -> SyntaxError {
        SyntaxError::new(message, position, &self.source)
    }

    /// An error of `sqlparser`.
    fn error(&self, error: &ParserError) -> SyntaxError {
        let error = translated(error, &self.source, &self.places, self.position());
        self.broken(error.position).unwrap_or(error)
    }

    /// The error inside a `case` or a `not`, where one was found at or after it.
    fn broken(&self, position: usize) -> Option<SyntaxError> {
        let (tokens, source, places) = (&self.tokens, &self.source, &self.places);
        open_case(tokens, source, places).or_else(|| broken(tokens, source, places, position))
    }
}

fn parser(tokens: Vec<TokenWithSpan>) -> SqlParser<'static> {
    SqlParser::new(&DIALECT)
        .with_options(ParserOptions::new().with_trailing_commas(false).with_unescape(true))
        .with_recursion_limit(4 * MAX_DEPTH)
        .with_tokens_with_locations(tokens)
}

/// An error of `sqlparser`, with the position taken out of its message; `next` is the position of the next token.
fn translated(error: &ParserError, source: &str, places: &Places, next: usize) -> SyntaxError {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            return SyntaxError::new(format!("nested deeper than {MAX_DEPTH} levels"), next, source);
        }
    };
    let (message, place) = text.rsplit_once(" at Line: ").unwrap_or((text, ""));
    let position = place.split_once(", Column: ").and_then(|(line, column)| {
        let location = Location { line: line.parse().ok()?, column: column.trim().parse().ok()? };
        Some(places.byte(location))
    });
    let position = position.unwrap_or(source.len());
    if message.starts_with("No infix parser for token") {
        return no_operator(source, position);
    }
    let before = source.get(..position).unwrap_or_default();
    if before.ends_with('*') && source.get(position..).is_some_and(|rest| rest.starts_with('*')) {
        return no_operator(source, position - 1);
    }
    let message = message.replace("Expected: ", "expected ").replace(", found: ", ", found ");
    let message = message.replace("found EOF", "found the end");
    let message = match message.split_once(" NORMALIZED FROM after IS") {
        Some((_, found)) => format!("expected null, true, false or distinct from after 'is'{found}"),
        None => message,
    };
    let is_in_brackets = message.starts_with("expected ],") && before.contains('[');
    let hint = if is_in_brackets { "; write names in double quotes, not in brackets" } else { "" };
    SyntaxError::new(message + hint, position, source)
}

/// What stands there is an operator in some dialect, but not in this one.
fn no_operator(source: &str, position: usize) -> SyntaxError {
    let rest = source.get(position..).unwrap_or_default();
    let is_word = rest.starts_with(char::is_alphanumeric);
    let part =
        |character: char| !character.is_whitespace() && (character.is_alphanumeric() || character == '_') == is_word;
    let operator: String = rest.chars().take_while(|&character| part(character)).collect();
    SyntaxError::new(unknown_operator(&operator.to_lowercase()), position, source)
}

/// Where the characters of a text are, which `sqlparser` reports by line and column.
#[derive(Clone)]
pub(super) struct Places {
    /// The byte of each character, and the end.
    bytes: Vec<usize>,
    /// The number of each line's first character.
    lines: Vec<usize>,
}

impl Places {
    fn new(source: &str) -> Self {
        let bytes = source.char_indices().map(|(byte, _)| byte).chain([source.len()]).collect();
        let breaks = source.chars().enumerate().filter(|(_, character)| *character == '\n');
        Self { bytes, lines: [0].into_iter().chain(breaks.map(|(place, _)| place + 1)).collect() }
    }

    /// The byte at a location; the end if it is none.
    pub(super) fn byte(&self, location: Location) -> usize {
        let line = usize::try_from(location.line).ok().and_then(|line| self.lines.get(line.checked_sub(1)?));
        let place = line.map(|line| line + (location.column as usize).saturating_sub(1));
        place.and_then(|place| self.bytes.get(place)).or(self.bytes.last()).copied().unwrap_or(0)
    }
}

/// The error of a `case` without `end`, which is not noticed where it is, but where the text goes on with something
/// else. A column may be called `case`, too.
fn open_case(tokens: &[TokenWithSpan], source: &str, places: &Places) -> Option<SyntaxError> {
    let keywords = tokens.iter().filter_map(|TokenWithSpan { token, span }| match token {
        Token::Word(word) if word.quote_style.is_none() => Some((word.keyword, span.start)),
        _ => None,
    });
    let (mut cases, mut has_branches) = (Vec::new(), false);
    for (keyword, start) in keywords {
        match keyword {
            Keyword::CASE => cases.push(start),
            Keyword::END => drop(cases.pop()),
            Keyword::WHEN => has_branches |= !cases.is_empty(),
            _ => {}
        }
    }
    let start = cases.last().filter(|_| has_branches)?;
    Some(SyntaxError::new("this 'case' has no 'end'", places.byte(*start), source))
}

/// The error inside the last `case` or `not` before a position that has one. `sqlparser` then takes the word for the name
/// of a column, and fails at the next one.
fn broken(tokens: &[TokenWithSpan], source: &str, places: &Places, position: usize) -> Option<SyntaxError> {
    let is = |token: &Token, keyword: Keyword| matches!(token, Token::Word(word) if word.quote_style.is_none() && word.keyword == keyword);
    let has_branches = |at: usize| tokens[at..].iter().any(|next| is(&next.token, Keyword::WHEN));
    let is_one = |at: &usize| match &tokens[*at].token {
        token if is(token, Keyword::CASE) => has_branches(*at),
        token => is(token, Keyword::NOT) && places.byte(tokens[*at].span.start) < position,
    };
    (0..tokens.len()).rev().filter(is_one).take(MAX_DEPTH).find_map(|at| {
        let mut parser = parser(tokens[at..].to_vec());
        parser.advance_token();
        let is_case = is(&tokens[at].token, Keyword::CASE);
        let error = if is_case { parser.parse_case_expr() } else { parser.parse_expr() }.err()?;
        Some(translated(&error, source, places, places.byte(tokens[at].span.start)))
    })
}

/// Walking a tree needs stack for its depth.
fn check_depth(tokens: &[TokenWithSpan], source: &str, places: &Places) -> Result<(), SyntaxError> {
    // `betweens` are those whose `and` is still to come.
    let (mut depth, mut nots, mut operators, mut betweens) = (0usize, 0usize, 0usize, 0usize);
    for TokenWithSpan { token, span } in tokens {
        let keyword = match token {
            Token::Word(word) if word.quote_style.is_none() => word.keyword,
            _ => Keyword::NoKeyword,
        };
        let place = |message: String| Err(SyntaxError::new(message, places.byte(span.start), source));
        match (token, keyword) {
            (Token::Whitespace(_), _) => continue,
            (Token::LParen, _) | (_, Keyword::CASE) => (depth, nots) = (depth + 1, 0),
            (Token::RParen, _) | (_, Keyword::END) => depth = depth.saturating_sub(1),
            (_, Keyword::AND) if betweens > 0 => betweens -= 1,
            (Token::Comma | Token::SemiColon, _) | (_, Keyword::AND | Keyword::OR | Keyword::WHEN | Keyword::THEN) => {
                operators = 0;
            }
            (_, Keyword::NOT) => nots += 1,
            (Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_), Keyword::NoKeyword) => nots = 0,
            (_, keyword) => {
                operators += 1;
                betweens += usize::from(keyword == Keyword::BETWEEN);
                nots = if keyword == Keyword::NoKeyword { nots } else { 0 };
            }
        }
        if depth + nots > MAX_DEPTH {
            return place(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        if operators > MAX_OPERATORS {
            return place(format!("more than {MAX_OPERATORS} operators in a row"));
        }
    }
    Ok(())
}
