//! Options that several commands share, and how their values are read.

use crate::quantity;
use brc_compare::{QueryOptions, TableOptions};
use brc_compress::Compressor;
use brc_core::{Schema, Table, identifier};
use brc_encodings::brc_text::{Delimiter, DialectOverrides};
use brc_encodings::{ENCODINGS, Encoding, Input, OpenOptions};
use brc_query::AGGREGATES;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use std::path::Path;
use std::sync::LazyLock;

/// A number of worker threads.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Threads {
    /// How many threads work [default: the processors this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Threads {
    /// The number asked for, or this process's share of the processors.
    pub(crate) fn count(self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// What a table cannot tell about itself.
#[derive(Clone, clap::Args)]
pub(crate) struct Source {
    /// The encoding of the input [default: told by its first bytes]
    #[arg(long, value_name = "ENCODING", value_parser = encoding())]
    pub(crate) from: Option<&'static dyn Encoding>,

    /// The columns of a text, as 'name:type,…' with the types string, int and decimal(SCALE) [default: guessed from the
    /// first lines]
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, value_parser = Schema::parse)]
    pub(crate) schema: Option<Schema>,

    /// The names of the columns of a text, with commas between; their types are guessed [default: those of a header, or
    /// column_1, column_2 …]
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, conflicts_with = "schema", value_parser = names)]
    pub(crate) names: Option<Names>,

    /// What stands between the columns of a text: one byte, or 'tab' [default: sniffed in a text that is read, ; in one that
    /// is written]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// How long the temporary copy may become that is made of a buren, parquet or arrow file which is compressed as a
    /// whole or comes through a pipe; k, M, G are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "64G", value_parser = quantity::parse_bytes)]
    pub(crate) max_copy: u64,
}

impl Source {
    /// How to open a table with these options.
    pub(crate) fn open_options(&self) -> OpenOptions {
        let delimiter = self.delimiter.map(Delimiter::Byte);
        OpenOptions {
            schema: self.schema.clone(),
            names: self.names.as_ref().map(|names| names.0.clone()),
            dialect: DialectOverrides { delimiter, ..DialectOverrides::default() },
            longest_copy: self.max_copy,
            ..OpenOptions::default()
        }
    }

    /// The same as plain data, for other processes.
    pub(crate) fn table_options(&self) -> TableOptions {
        TableOptions {
            from: self.from.map(|encoding| encoding.name().to_owned()),
            schema: self.schema.clone(),
            names: self.names.as_ref().map(|names| names.0.clone()),
            delimiter: self.delimiter,
            max_copy: self.max_copy,
        }
    }

    /// Opens the source of a table, and finds its encoding.
    ///
    /// # Errors
    /// If it cannot be read or its encoding cannot be told.
    pub(crate) fn input(&self, path: &Path) -> brc_core::Result<(&'static dyn Encoding, Input)> {
        let input = Input::open(path)?;
        let encoding = match self.from {
            Some(encoding) => encoding,
            None => brc_encodings::for_input(&input)?,
        };
        Ok((encoding, input))
    }

    /// Opens a table.
    ///
    /// # Errors
    /// If it cannot be read or its encoding or columns cannot be told.
    pub(crate) fn open(&self, path: &Path, options: &OpenOptions) -> brc_core::Result<Opened> {
        let (encoding, input) = self.input(path)?;
        Ok(Opened { encoding, table: encoding.open(input, options)? })
    }
}

/// Names of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names(Vec<String>);

fn names(list: &str) -> Result<Names, identifier::ListError> {
    identifier::parse_list(list).map(Names)
}

/// What to compute of a table, without how the result is printed.
#[derive(clap::Args)]
pub(crate) struct QueryArgs {
    /// What to group by: columns or expressions, with commas between; '' makes all rows one group [default: the string
    /// column]
    #[arg(long, value_name = "EXPRESSIONS", allow_hyphen_values = true)]
    by: Option<String>,

    #[arg(long, value_name = "AGGREGATES", allow_hyphen_values = true, help = AGG_HELP.as_str())]
    agg: Option<String>,

    /// Which rows count: a condition of SQL, as in price * 2 > 30 and city like 'A%'
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    filter: Option<String>,
}

static AGG_HELP: LazyLock<String> = LazyLock::new(|| {
    let functions: Vec<_> = AGGREGATES.iter().map(|function| function.usage()).collect();
    format!(
        "What to compute for each group: expressions with commas between, of the aggregates {} [default: min, mean and max \
         of each column of numbers]",
        functions.join(", ")
    )
});

impl QueryArgs {
    /// The same as plain data.
    pub(crate) fn options(&self) -> QueryOptions {
        QueryOptions { select: None, by: self.by.clone(), agg: self.agg.clone(), filter: self.filter.clone() }
    }

    /// Whether any of them is given.
    pub(crate) fn is_given(&self) -> bool {
        self.by.is_some() || self.agg.is_some() || self.filter.is_some()
    }
}

/// Whether an argument is a question in SQL.
pub(crate) fn is_select(argument: &str) -> bool {
    let (word, rest) = argument.trim_start().split_at_checked(6).unwrap_or_default();
    word.eq_ignore_ascii_case("select") && rest.starts_with(char::is_whitespace)
}

/// Reads a query from the options that describe it, in one argument.
pub(crate) fn query_options(text: &str) -> Result<QueryOptions, String> {
    #[derive(clap::Parser)]
    #[command(no_binary_name = true, disable_help_flag = true)]
    struct Options {
        #[command(flatten)]
        query: QueryArgs,
    }
    if is_select(text) {
        return Ok(QueryOptions { select: Some(text.to_owned()), ..QueryOptions::default() });
    }
    let words = shlex::split(text).ok_or("a quote or a backslash has no end")?;
    match <Options as clap::Parser>::try_parse_from(words) {
        Ok(options) => Ok(options.query.options()),
        Err(error) => {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or_default();
            Err(first.trim_start_matches("error: ").to_owned())
        }
    }
}

/// How several files become one table.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct Files {
    /// Match the columns of several files by name, and fill those that a file lacks with nulls [default: all files have
    /// the same columns in the same order]
    #[arg(long)]
    pub(crate) union_by_name: bool,

    /// Add a string column of this name, with the name of the file that each row is from
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) file_name: Option<String>,
}

/// A table, and what it is encoded as.
pub(crate) struct Opened {
    pub(crate) encoding: &'static dyn Encoding,
    pub(crate) table: Box<dyn Table>,
}

/// Reads the name of an encoding.
pub(crate) fn encoding() -> impl TypedValueParser<Value = &'static dyn Encoding> {
    let values = ENCODINGS.iter().map(|encoding| PossibleValue::new(encoding.name()).help(encoding.about()));
    PossibleValuesParser::new(values)
        .try_map(|name| brc_encodings::by_name(&name).ok_or_else(|| format!("unknown encoding {name}")))
}

/// Reads the name of a compression, perhaps with a level: `zstd:9`.
pub(crate) fn compression() -> impl TypedValueParser<Value = Compressor> {
    StringValueParser::new().try_map(|text| Compressor::parse(&text))
}

/// Reads a delimiter.
fn delimiter(text: &str) -> Result<u8, String> {
    let delimiter = match text.as_bytes() {
        b"tab" | b"\\t" => b'\t',
        [byte] => *byte,
        _ => return Err("must be one byte, or 'tab'".to_owned()),
    };
    if delimiter.is_ascii_digit() || b"-.\n\r\0\"".contains(&delimiter) {
        return Err("cannot stand between columns: it may be part of them".to_owned());
    }
    Ok(delimiter)
}
