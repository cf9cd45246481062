//! The language of `--where`: which rows a question is about.
//!
//! ```text
//! temperature > 30 and (station = 'Hamburg' or station in ('Abha', 'São Paulo'))
//! not "odd name" between -1.5 and 1.5
//! visited >= date '2024-02-01' and referrer is not null
//! ```
//!
//! Comparisons (`=` or `==`, `!=` or `<>`, `<`, `<=`, `>`, `>=`) are between a column and a constant, on either side;
//! `[not] in (…)` and `[not] between … and …` stand for several of them. A comparison with a null is neither true nor
//! false; `is [not] null` asks for nulls. `not` binds tighter than `and`, and that tighter than `or`. Keywords are
//! case-insensitive; columns are bare words or `"quoted"`, strings are `'quoted'`, and a quote inside is doubled. Numbers are
//! decimals of any length and are compared exactly with whatever is exact, whatever the column's scale. Dates and times are
//! `date '2024-02-01'`, `time '23:59'` and `timestamp '2024-02-01 23:59'`, or such strings alone.

pub(crate) mod lexer;
mod number;
mod parser;
mod range;
mod resolve;

use brc_core::{Comparison, Error, Predicate, Result, Schema};
use number::Number;
use std::fmt;

/// A parsed filter, not yet bound to a table. It displays as the text that it was parsed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    source: String,
    root: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Compare { column: Column, comparison: Comparison, constant: Constant },
    IsNull { column: Column },
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    name: String,
    position: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Constant {
    value: Literal,
    position: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Literal {
    Text(Vec<u8>),
    Number(Number),
    Bool(bool),
    Date(Vec<u8>),
    Time(Vec<u8>),
    Timestamp(Vec<u8>),
}

impl Literal {
    /// What it is, with an article.
    fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Date(_) => "a date",
            Self::Time(_) => "a time",
            Self::Timestamp(_) => "a timestamp",
        }
    }
}

impl Expression {
    /// Parses a filter.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Ok(Self { source: text.to_owned(), root: parser::parse(text)? })
    }

    /// Binds the filter to the columns of a table.
    ///
    /// # Errors
    /// [`Error::Usage`] if a column is not there, or is compared with a constant of another type.
    pub fn resolve(&self, schema: &Schema) -> Result<Predicate> {
        Ok(resolve::resolve(&self.root, &self.source, schema)?)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

/// What is wrong with a text that a user wrote, and where. It displays as the message, the text, and a caret below.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}\n  {line}\n  {caret:>width$}", line = self.shown().0, caret = '^', width = self.shown().1 + 1)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// The byte of `source` at which it is, from 0.
    pub position: usize,
    /// The whole text.
    pub source_text: String,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, position: usize, source: &str) -> Self {
        Self { message: message.into(), position, source_text: source.to_owned() }
    }

    /// The part of the text around the position as it fits a line, and how many characters stand before the position.
    fn shown(&self) -> (String, usize) {
        const AROUND: usize = 60;
        let printable = |character: char| if character.is_control() { ' ' } else { character };
        let before: Vec<char> = self.source_text.get(..self.position).unwrap_or_default().chars().collect();
        let after = self.source_text.get(self.position..).unwrap_or_default().chars();
        let cut = before.len().saturating_sub(AROUND);
        let line = before[cut..].iter().copied().chain(after.take(AROUND)).map(printable).collect();
        (line, before.len() - cut)
    }
}

impl From<SyntaxError> for Error {
    fn from(error: SyntaxError) -> Self {
        Self::Usage(error.to_string())
    }
}

#[cfg(test)]
pub(crate) mod tests;
