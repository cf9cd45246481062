//! Statements as people type them: `select`, and the few other statements that show tables, with `;` between.

use super::{Parser, SyntaxError};
use crate::sql::query::Query;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;
use std::sync::Arc;

/// Words that a statement begins with.
const WORDS: [&str; 7] = ["select", "with", "from", "describe", "summarize", "explain", "show"];

/// What can be written where a statement begins.
const EXPECTED: &str = "a statement (select, from, describe, summarize, show or explain)";

/// A statement, and which table it is about.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What it does.
    pub action: Action,
    /// How it names its table; `None` if it leaves that out.
    pub table: Option<TableName>,
    /// The line at which it begins, from 1.
    pub line: usize,
}

/// What a statement does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Answers a query.
    Select(Box<Query>),
    /// Answers a query, and reports how.
    Explain(Box<Query>),
    /// Shows the columns: `describe`, `show columns`.
    Describe,
    /// Shows what is in each column.
    Summarize,
    /// Lists the tables there are.
    ShowTables,
}

/// The name of a table as a statement has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// Without quotes.
    pub name: String,
    /// Whether it is written in single or double quotes.
    pub is_quoted: bool,
    position: usize,
    source: Arc<str>,
}

impl TableName {
    pub(super) fn new(name: String, is_quoted: bool, position: usize, source: Arc<str>) -> Self {
        Self { name, is_quoted, position, source }
    }

    /// Something is wrong with it.
    #[must_use]
    pub fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(message, self.position, &self.source)
    }
}

impl Statement {
    /// Parses statements with `;` between them, of which any may be empty.
    ///
    /// # Errors
    /// What is wrong with one, or not supported, and where.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, SyntaxError> {
        let mut parser = Parser::new(text)?;
        let mut statements = Vec::new();
        loop {
            while parser.take(&Token::SemiColon) {}
            if parser.peek() == &Token::EOF {
                return Ok(statements);
            }
            statements.push(parser.statement()?);
            if !matches!(parser.peek(), Token::SemiColon | Token::EOF) {
                return Err(parser.expected("';' or the end"));
            }
        }
    }

    /// Whether a text begins as statements do: with one of their words, whatever comes after it.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        let text = without_comments(text);
        let end = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        // A file may be called from.csv or with-header.csv, and a glob show*.csv.
        let ends = rest.is_empty()
            || rest.starts_with(char::is_whitespace)
            || rest.starts_with(['\'', '"', '(', ';'])
            || rest.starts_with("--")
            || rest.starts_with("/*")
            || rest.starts_with('*') && rest.contains(char::is_whitespace);
        ends && WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
    }
}

/// A text without the comments and spaces that it begins with.
fn without_comments(text: &str) -> &str {
    let mut text = text.trim_start();
    loop {
        let rest = match (text.strip_prefix("--"), text.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n'),
            (_, Some(comment)) => comment.split_once("*/"),
            (None, None) => return text,
        };
        text = rest.map_or("", |(_, rest)| rest.trim_start());
    }
}

impl Parser {
    fn statement(&mut self) -> Result<Statement, SyntaxError> {
        let line = self.line();
        let action = match self.word().as_str() {
            "select" | "from" | "with" => return self.select_statement(line, Action::Select),
            "explain" => {
                self.advance();
                self.keyword(Keyword::ANALYZE);
                return self.select_statement(line, Action::Explain);
            }
            "describe" => Action::Describe,
            "summarize" => Action::Summarize,
            "show" => {
                self.advance();
                return self.show(line);
            }
            _ => return Err(self.expected(EXPECTED)),
        };
        self.advance();
        if matches!(self.word().as_str(), "select" | "from" | "with") {
            let message = "subqueries are not supported; save the inner result first: -o part.parquet";
            return Err(self.refuse(message));
        }
        let table = self.optional_table()?;
        Ok(Statement { action, table, line })
    }

    fn select_statement(
        &mut self,
        line: usize,
        action: impl Fn(Box<Query>) -> Action,
    ) -> Result<Statement, SyntaxError> {
        let (query, table) = self.select_of_table()?;
        Ok(Statement { action: action(Box::new(query)), table, line })
    }

    /// `show tables`, `show columns`, `show columns from t`, `show t`.
    fn show(&mut self, line: usize) -> Result<Statement, SyntaxError> {
        if self.keyword(Keyword::TABLES) {
            return Ok(Statement { action: Action::ShowTables, table: None, line });
        }
        let table = if self.keyword(Keyword::COLUMNS) {
            if self.keyword(Keyword::FROM) || self.keyword(Keyword::IN) { Some(self.table()?) } else { None }
        } else {
            self.optional_table()?
        };
        Ok(Statement { action: Action::Describe, table, line })
    }

    fn optional_table(&mut self) -> Result<Option<TableName>, SyntaxError> {
        match self.peek() {
            Token::SemiColon | Token::EOF => Ok(None),
            _ => self.table().map(Some),
        }
    }

    /// The next word in lower case; nothing if it is no word, or a quoted one.
    fn word(&self) -> String {
        match self.peek() {
            Token::Word(word) if word.quote_style.is_none() => word.value.to_lowercase(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        let statements = match Statement::parse_all(text) {
            Ok(statements) => statements,
            Err(error) => return error.to_string(),
        };
        let shown = |Statement { action, table, line }: &Statement| {
            let action = match action {
                Action::Select(query) => format!("select {}", query.filter.as_ref().map_or(0, |_| 1)),
                Action::Explain(_) => "explain".to_owned(),
                Action::Describe => "describe".to_owned(),
                Action::Summarize => "summarize".to_owned(),
                Action::ShowTables => "tables".to_owned(),
            };
            let table = table
                .as_ref()
                .map_or(String::new(), |table| format!(" {}{}", table.name, if table.is_quoted { "!" } else { "" }));
            format!("{line} {action}{table}")
        };
        statements.iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn statements_are_told_from_files() {
        for text in [
            "select 1",
            "  SELECT\n*",
            "from 'x.csv'",
            "from\"x.csv\"",
            "-- all\n/* of it */ from t",
            "with a as (select 1) select 2",
            "describe",
            "show;",
            "select* from t",
            "select/**/1",
            "select",
        ] {
            assert!(Statement::is_one(text), "{text}");
        }
        for text in
            ["from.csv", "with-header.csv", "show*.csv", "selection", "select_1", "from/x", "x select", "-- ", ""]
        {
            assert!(!Statement::is_one(text), "{text}");
        }
    }

    #[test]
    fn statements_are_parsed() {
        for (text, expected) in [
            ("select 1;", "1 select 0"),
            ("select x from t where x > 1", "1 select 1 t"),
            ("from t", "1 select 0 t"),
            ("from 'a*.csv' where x > 1 limit 3", "1 select 1 a*.csv!"),
            ("from \"a.csv\" select x where y = 2", "1 select 1 a.csv!"),
            ("from a.csv as b select x", "1 select 0 a.csv"),
            ("select 1 -- one; two\n;;\n/* ; */ describe t; Summarize", "1 select 0, 3 describe t, 3 summarize"),
            (
                "show tables; show columns; show columns from t; show t",
                "1 tables, 1 describe, 1 describe t, 1 describe t",
            ),
            ("explain select x from t; explain analyze from t", "1 explain t, 1 explain t"),
            ("", ""),
            (" ; -- nothing", ""),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_statement_is_named() {
        for (text, expected) in [
            ("update t", "expected a statement (select, from, describe, summarize, show or explain), found 'update'\n"),
            (
                "select 1;\nselect x y z",
                "expected a clause (in this order: from, where, group by, having, order by, limit, offset) or the end, found 'z' (line 2, column 12)\n",
            ),
            ("describe t u", "expected ';' or the end, found 'u'\n"),
            ("summarize select 1", "subqueries are not supported"),
            ("with a as (select 1) select 2", "'with' is not supported: save the inner result"),
            ("from (select 1)", "subqueries are not supported: save the inner result"),
            ("select 1 from a, b", "more than one table is not supported"),
            ("select 1 union all select 2", "'union' is not supported"),
            ("from read_csv('a.csv')", "table functions are not supported; name the file itself: from 'a.csv'\n"),
            ("from t select x from u", "the table is named twice\n"),
        ] {
            assert!(parsed(text).starts_with(expected), "{text}: {}", parsed(text));
        }
    }
}
