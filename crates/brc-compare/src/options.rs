//! The options of `brc query` that a comparison passes on to its processes, as plain data: how to read a table, and what
//! to compute.

use brc_core::{Result, Schema, Table, identifier};
use brc_encodings::brc_text::{Delimiter, DialectOverrides};
use brc_encodings::{Encoding, Input, OpenOptions};
use brc_query::{Expression, Query};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// What to compute, as text: a whole `select`, or what `--by`, `--agg` and `--where` say. What is not given is left to the
/// query engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryOptions {
    /// The whole question in SQL, in place of all others.
    pub select: Option<String>,
    /// The expressions to group by, with commas between; none if empty.
    pub by: Option<String>,
    /// The aggregates, with commas between.
    pub agg: Option<String>,
    /// The condition under which rows count.
    pub filter: Option<String>,
}

impl QueryOptions {
    /// The query they describe.
    ///
    /// # Errors
    /// If one of them cannot be parsed.
    pub fn query(&self) -> Result<Query> {
        if let Some(select) = &self.select {
            return Ok(Query::parse(select)?);
        }
        Ok(Query {
            by: self.by.as_deref().map(keys).transpose()?,
            aggregates: self.agg.as_deref().map(Expression::parse_list).transpose()?,
            filter: self.filter.as_deref().map(Expression::parse).transpose()?,
            ..Query::default()
        })
    }
}

/// As command-line options, quoted for a shell.
impl fmt::Display for QueryOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = [("--by", &self.by), ("--agg", &self.agg), ("--where", &self.filter)];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        // Only a NUL byte cannot be quoted; no argument has one.
        let quote = |word| shlex::try_quote(word).unwrap_or_default();
        if let Some(select) = &self.select {
            return f.write_str(&quote(select));
        }
        let words: Vec<String> = given.map(|(name, value)| format!("{name} {}", quote(value))).collect();
        f.write_str(&words.join(" "))
    }
}

/// Reads what to group by, which may be nothing.
fn keys(list: &str) -> Result<Vec<Expression>> {
    if list.trim().is_empty() { Ok(Vec::new()) } else { Ok(Expression::parse_list(list)?) }
}

/// How to read a table: what `--from`, `--schema`, `--names`, `--delimiter` and `--max-copy` say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableOptions {
    /// The name of its encoding, if it is not to be told by the first bytes.
    pub from: Option<String>,
    /// The columns of a text.
    pub schema: Option<Schema>,
    /// The names of a text's columns.
    pub names: Option<Vec<String>>,
    /// What stands between the columns of a text, if it is not to be sniffed.
    pub delimiter: Option<u8>,
    /// The longest temporary copy of a file that is read at any place, in bytes.
    pub max_copy: u64,
}

impl TableOptions {
    /// Opens a table, and finds its encoding.
    ///
    /// # Errors
    /// If it cannot be read or its encoding or columns cannot be told.
    pub(crate) fn open(&self, path: &Path) -> Result<(&'static dyn Encoding, Box<dyn Table>)> {
        let input = Input::open(path)?;
        let encoding = match self.from.as_deref().and_then(brc_encodings::by_name) {
            Some(encoding) => encoding,
            None => brc_encodings::for_input(&input)?,
        };
        let options = OpenOptions {
            schema: self.schema.clone(),
            names: self.names.clone(),
            dialect: DialectOverrides { delimiter: self.delimiter.map(Delimiter::Byte), ..DialectOverrides::default() },
            longest_copy: self.max_copy,
            ..OpenOptions::default()
        };
        Ok((encoding, encoding.open(input, &options)?))
    }

    /// The names of columns, as `--names` reads them.
    pub(crate) fn names_text(&self) -> Option<String> {
        let names = self.names.as_ref()?.iter().map(|name| identifier::in_list(name));
        Some(names.collect::<Vec<_>>().join(","))
    }
}
