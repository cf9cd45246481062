//! The options of `brc query` that a comparison passes to its processes, as plain data: how to read a table, and which
//! query to run.

use brc_core::{Error, Result, Schema, Table, identifier};
use brc_encodings::brc_text::dialect::Byte;
use brc_encodings::brc_text::{Delimiter, DialectOverrides, TimeForm};
use brc_encodings::folders::{self, FilesAsTable};
use brc_encodings::{Encoding, Input, OpenOptions, TextOptions};
use brc_query::{Expression, Query};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A query as text: a whole `select`, or the values of `--by`, `--agg` and `--where`. Missing options get the defaults
/// of the query engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryOptions {
    /// The whole query in SQL; the other options are then unset.
    pub select: Option<String>,
    /// The comma-separated expressions to group by; no grouping if empty.
    pub by: Option<String>,
    /// The comma-separated aggregates.
    pub agg: Option<String>,
    /// The condition that rows must satisfy.
    pub filter: Option<String>,
}

impl QueryOptions {
    /// Parses the options.
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

/// Parses the grouping expressions; an empty list is allowed.
fn keys(list: &str) -> Result<Vec<Expression>> {
    let keys = if list.trim().is_empty() { Vec::new() } else { Expression::parse_list(list)? };
    match keys.iter().find(|key| key.is_number()) {
        Some(key) => Err(Error::Usage(format!("--by takes names and expressions, not the number of a column ({key})"))),
        None => Ok(keys),
    }
}

/// How to read a table: the values of `--from`, `--schema`, `--names`, `--max-copy` and the options for text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableOptions {
    /// The name of the encoding; `None` to detect it.
    pub from: Option<String>,
    /// The schema of a text file.
    pub schema: Option<Schema>,
    /// The column names of a text file.
    pub names: Option<Vec<String>>,
    /// The other options for text.
    pub text: TextOptions,
    /// Whether binary columns of Parquet and Arrow files are read as strings.
    #[serde(default)]
    pub binary_as_string: bool,
    /// Whether brc wrote the file, with this schema.
    #[serde(default)]
    pub is_written: bool,
    /// The largest temporary copy of an input that needs random access, in bytes.
    pub max_copy: u64,
}

impl TableOptions {
    /// Opens a table and determines its encoding. A directory is one table of all files below it.
    ///
    /// # Errors
    /// If it cannot be read, or its encoding or columns cannot be determined.
    pub(crate) fn open(&self, path: &Path) -> Result<(&'static dyn Encoding, Box<dyn Table>)> {
        self.open_in(path, None)
    }

    /// Like `open`, with splits that become row groups of `row_group_bytes` bytes.
    pub(crate) fn open_in(
        &self,
        path: &Path,
        row_group_bytes: Option<u64>,
    ) -> Result<(&'static dyn Encoding, Box<dyn Table>)> {
        let options = OpenOptions {
            schema: self.schema.clone(),
            names: self.names.clone(),
            text: self.text.clone(),
            is_trusted: self.is_written,
            binary_as_string: self.binary_as_string,
            longest_copy: self.max_copy,
            row_group_bytes,
            ..OpenOptions::default()
        };
        if !path.is_dir() {
            return self.open_file(path, &options);
        }
        let files = folders::files_of(path)?;
        let open = |path: &Path, options: &OpenOptions| self.open_file(path, options);
        let (encodings, table) = FilesAsTable::default().open(&files, &options, open)?;
        // The rows taken from a directory are written as one file, so the encoding must be writable.
        let writable = encodings.into_iter().find(|encoding| !encoding.is_read_only());
        Ok((writable.unwrap_or_else(brc_encodings::text), table))
    }

    fn open_file(&self, path: &Path, options: &OpenOptions) -> Result<(&'static dyn Encoding, Box<dyn Table>)> {
        let input = Input::open(path)?;
        let named = self.from.as_deref().and_then(brc_encodings::by_name);
        let encoding = brc_encodings::for_named_input(&input, named)?;
        Ok((encoding, encoding.open(input, options)?))
    }

    /// How to read a file that was written from the table: its schema is known, and text has the dialect that brc
    /// writes. As in a query without a schema, only the columns that are needed are parsed.
    pub(crate) fn of_written(&self, schema: Schema) -> Self {
        let delimiter = self.written_delimiter().map(Delimiter::Byte);
        let dialect = DialectOverrides { delimiter, ..DialectOverrides::default() };
        let text = TextOptions { dialect, ..TextOptions::default() };
        let (schema, names) = (Some(schema), None);
        Self { schema, names, text, binary_as_string: false, is_written: true, ..self.clone() }
    }

    /// The delimiter of written text: that of the input, if it was specified.
    pub(crate) fn written_delimiter(&self) -> Option<u8> {
        match self.text.dialect.delimiter {
            Some(Delimiter::Byte(delimiter)) => Some(delimiter),
            Some(Delimiter::Blanks) | None => None,
        }
    }

    /// The given options for schema and text, keyed by command-line option.
    pub(crate) fn given(&self) -> BTreeMap<String, String> {
        fn part<T: ToString>(part: Option<&Option<T>>) -> Option<String> {
            part.map(|part| part.as_ref().map_or_else(|| "none".to_owned(), T::to_string))
        }
        let names =
            |names: &Vec<String>| names.iter().map(|name| identifier::in_list(name)).collect::<Vec<_>>().join(",");
        let TextOptions { types, all_strings, exact_text, dialect, forms, sheet, ragged } = &self.text;
        let types = Schema::new(types.clone()).ok().map(|types| types.to_string());
        let [quote, escape] = [dialect.quote, dialect.escape].map(|byte| byte.map(|byte| byte.map(Byte)));
        let times = |is_date: bool| {
            let is_it = |form: &TimeForm| is_date != form.is_timestamp();
            let own = forms.times.iter().filter(|(_, form)| is_it(form)).map(|(name, form)| match name {
                Some(name) => format!("{}={form}", identifier::in_list(name)),
                None => form.to_string(),
            });
            let own = own.collect::<Vec<_>>().join(",");
            (!own.is_empty()).then_some(own)
        };
        let text: [(&str, Option<String>); 25] = [
            ("--from", self.from.clone()),
            ("--binary-as-string", self.binary_as_string.then(|| "true".to_owned())),
            ("--schema", self.schema.as_ref().map(Schema::to_string)),
            ("--names", self.names.as_ref().map(names)),
            ("--type", types),
            ("--all-strings", all_strings.then(|| "true".to_owned())),
            ("--exact-text", exact_text.then(|| "true".to_owned())),
            ("--delimiter", dialect.delimiter.map(|it| it.to_string())),
            ("--quote", part(quote.as_ref())),
            ("--escape", part(escape.as_ref())),
            ("--brackets", dialect.brackets.map(|it| it.to_string())),
            ("--comment", part(dialect.comment.as_ref())),
            ("--header", dialect.header.map(|it| it.to_string())),
            ("--line-end", dialect.line_end.map(|it| it.to_string())),
            ("--charset", dialect.charset.map(|it| it.to_string())),
            ("--skip", dialect.preamble_lines.map(|it| it.to_string())),
            ("--skip-footer", dialect.trailing_lines.map(|it| it.to_string())),
            ("--null-only", dialect.null_tokens.as_ref().map(|it| it.join(","))),
            ("--decimal", forms.number.map(|given| char::from(given.form.decimal()).to_string())),
            ("--thousands", forms.number.map(|given| given.form.thousands()).filter(|it| !it.is_empty())),
            ("--date-format", times(true)),
            ("--timestamp-format", times(false)),
            ("--trim", dialect.trim.map(|it| it.to_string())),
            ("--sheet", sheet.clone()),
            ("--ragged", ragged.map(|ragged| format!("{ragged:?}").to_lowercase())),
        ];
        text.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}
