//! Expressions of SQL as a user writes them, each with the text that it was parsed from.
//!
//! ```text
//! temperature > 30 and (station = 'Hamburg' or station in ('Abha', 'São Paulo'))
//! sum(price * (1 - discount)) filter (where not cancelled)
//! date_trunc('month', visited)
//! ```
//!
//! Words are case-insensitive, but names of columns are not; names that are more than a word are `"quoted"`, strings
//! are `'quoted'`, and a quote inside is doubled. Numbers are decimals of any length and are compared exactly with
//! whatever is exact. Dates and times are `date '2024-02-01'`, `time '23:59'` and `timestamp '2024-02-01 23:59'`, or
//! such strings alone where they are compared with one.

use crate::sql::{Kind, Literal, Parser, Syntax, SyntaxError};
use brc_core::{Result, identifier};
use sqlparser::keywords::Keyword;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A parsed expression, not yet bound to a table. It displays as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    source: Arc<str>,
    part: Range<usize>,
    syntax: Syntax,
    /// The name of its output column, if it is given one.
    alias: Option<String>,
}

impl Expression {
    pub(crate) fn new(source: Arc<str>, part: Range<usize>, syntax: Syntax) -> Self {
        Self { source, part, syntax, alias: None }
    }

    /// Parses an expression.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser::new(text)?;
        let expression = parser.expression("an expression")?;
        parser.end("an operator or the end")?;
        Ok(expression)
    }

    /// Parses expressions with commas between: `min(x), mean(x) as mean, count(*)`.
    ///
    /// # Errors
    /// What is wrong with one, and where.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SyntaxError> {
        let mut parser = Parser::new(text)?;
        let list = parser.list(|parser| {
            let expression = parser.expression("an expression")?;
            let alias = if parser.keyword(Keyword::AS) { Some(parser.name()?) } else { None };
            Ok(Self { alias, ..expression })
        })?;
        parser.end("',', 'as', an operator or the end")?;
        Ok(list)
    }

    /// A column.
    #[must_use]
    pub fn column(name: &str) -> Self {
        let source: Arc<str> = written(name).into();
        let syntax = Syntax { kind: Kind::Column(name.to_owned()), position: 0 };
        Self { part: 0..source.len(), source, syntax, alias: None }
    }

    /// A function of columns.
    #[must_use]
    pub fn call(function: &str, columns: &[&str]) -> Self {
        let written: Vec<String> = columns.iter().map(|name| written(name)).collect();
        let source: Arc<str> = format!("{function}({})", written.join(", ")).into();
        let column = |name: &&str| Syntax { kind: Kind::Column((*name).to_owned()), position: function.len() + 1 };
        let syntax = Syntax::call(function, columns.iter().map(column).collect(), 0);
        Self { part: 0..source.len(), source, syntax, alias: None }
    }

    pub(crate) fn syntax(&self) -> &Syntax {
        &self.syntax
    }

    /// Whether it is a number as it is written, such as the number of a column in SQL.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self.syntax.kind, Kind::Literal(Literal::Number(_)))
    }

    /// The name of an output column of it: the one that it is given, that of the column that it is, or how it is written.
    pub(crate) fn name(&self) -> String {
        match (&self.alias, &self.syntax.kind) {
            (Some(alias), _) => alias.clone(),
            (None, Kind::Column(name)) => name.clone(),
            (None, _) => self.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    /// Whether what begins at `position` is in double quotes.
    pub(crate) fn is_quoted(&self, position: usize) -> bool {
        self.source.get(position..).is_some_and(|rest| rest.starts_with('"'))
    }

    /// The one of some names that is written around a part of it, which is the word at `position`.
    pub(crate) fn name_around<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
        word: &str,
        position: usize,
    ) -> Option<&'a str> {
        let is_at = |start: usize, name: &str| self.source.get(start..).is_some_and(|rest| rest.starts_with(name));
        let is_around = |name: &&str| {
            let mut places = name.match_indices(word).filter_map(|(place, _)| position.checked_sub(place));
            name.len() > word.len() && places.any(|start| is_at(start, name))
        };
        names.find(is_around)
    }

    /// An error in the part of it at `position`.
    pub(crate) fn error(&self, message: impl Into<String>, position: usize) -> SyntaxError {
        SyntaxError::new(message, position, &self.source)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source.get(self.part.clone()).unwrap_or_default())
    }
}

/// A name as an expression has it: in quotes if it is more than a word.
fn written(name: &str) -> String {
    let is_word = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_alphanumeric() || character == '_');
    if is_word { name.to_owned() } else { identifier::quote(name) }
}

/// An item of a `select`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectItem {
    /// `*`: all columns of the table, but for those of `* exclude (a, b)`.
    All {
        /// The columns that are left out.
        exclude: Vec<Expression>,
    },
    /// An expression.
    Expression {
        /// What is computed.
        expression: Expression,
        /// The name of its output column [default: as it is written].
        alias: Option<String>,
    },
}

/// By what an answer is sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderBy {
    /// An output column's name or number, an expression of what the answer is made of, or what stands for all output
    /// columns.
    pub expression: Expression,
    /// Whether it is `all`: every output column, from left to right.
    pub is_all: bool,
    /// Whether the largest comes first.
    pub descending: bool,
    /// Whether nulls come first; else they come last, whatever the direction.
    pub nulls_first: bool,
}

impl SelectItem {
    /// `*`.
    pub const ALL: Self = Self::All { exclude: Vec::new() };
}

impl OrderBy {
    /// Parses what to sort by, with commas between: `mean(x) desc nulls first, station`.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SyntaxError> {
        let mut parser = Parser::new(text)?;
        let list = parser.list(Parser::order)?;
        parser.end("',', 'desc', 'nulls' or the end")?;
        Ok(list)
    }

    /// By an output column of that name.
    #[must_use]
    pub fn column(name: &str, descending: bool) -> Self {
        Self { expression: Expression::column(name), is_all: false, descending, nulls_first: false }
    }
}
