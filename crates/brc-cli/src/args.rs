//! Options shared by several commands, and the parsers of their values.

use crate::metrics;
use crate::quantity;
use crate::system_memory::system_memory;
use crate::text_args::{TextArgs, schema};
use brc_compare::{KnownQuery, QueryOptions, TableOptions};
use brc_compress::Compressor;
use brc_core::{Schema, Table};
use brc_encodings::brc_text::Delimiter;
use brc_encodings::{ENCODINGS, Encoding, Input, MemoryBudget, OpenOptions, temporary};
use brc_query::{Memory, Statement};
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use std::path::{Path, PathBuf};

// A number of worker threads.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Threads {
    /// The number of threads [default: the processors this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(Self::MAX)))]
    threads: Option<u16>,
}

impl Threads {
    const MAX: u16 = 1024;

    /// The requested number, or the number of processors available to this process.
    pub(crate) fn count(self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().map_or(1, usize::from).min(Self::MAX.into()),
        }
    }
}

// The memory limit of a query or conversion.
#[derive(Clone, clap::Args)]
pub(crate) struct MemoryArgs {
    /// How much memory to use before writing to temporary files; k, M, G are powers of 1024
    /// [default: 60 % of what this process may use]
    #[arg(long, value_name = "BYTES", value_parser = quantity::parse_bytes)]
    memory: Option<u64>,

    #[command(flatten)]
    temp: TempDir,
}

impl MemoryArgs {
    /// The memory budget of a conversion: the requested limit, or a share of the available memory.
    pub(crate) fn budget(&self) -> MemoryBudget {
        MemoryBudget::new(memory_limit(self.memory))
    }

    /// The memory of a query, or of sorting before a conversion.
    pub(crate) fn memory(&self) -> Memory {
        self.temp.memory(self.memory)
    }
}

/// The help of `--memory` for conversions.
pub(crate) const CONVERSION_MEMORY: &str = "\
How much memory to use; less than 1400M means smaller dictionaries, and less than 400M smaller row groups and fewer \
threads; k, M, G are powers of 1024 [default: 60 % of what this process may use]";

// Where temporary files are.
#[derive(Clone, clap::Args)]
struct TempDir {
    /// The directory for temporary files [default: $TMPDIR, or else /tmp]
    // With a default value, a command is known to have the option even if it is not given.
    #[arg(long, value_name = "DIR", default_value_os_t = temporary::default_directory(),
          hide_default_value = true)]
    temp_dir: PathBuf,
}

/// The name of `TempDir::temp_dir` as an argument.
pub(crate) const TEMP_DIR: &str = "temp_dir";

impl TempDir {
    fn memory(&self, limit: Option<u64>) -> Memory {
        Memory { limit: memory_limit(limit), temp_dir: self.temp_dir.clone(), spilled: metrics::spilled() }
    }
}

/// The requested limit in bytes, or a share of the available memory. Read-ahead of object stores is limited to an
/// eighth of it.
pub(crate) fn memory_limit(requested: Option<u64>) -> u64 {
    let limit = requested.or_else(|| Some(system_memory()? / 100 * 60)).unwrap_or(u64::MAX);
    #[cfg(feature = "stores")]
    brc_store::hold_at_most(limit / 8);
    limit
}

// How to read a table, beyond what the file itself says.
#[derive(Clone, clap::Args)]
pub(crate) struct Source {
    /// The encoding of the input [default: detected from its first bytes]
    #[arg(long, value_name = "ENCODING", value_parser = encoding())]
    pub(crate) from: Option<&'static dyn Encoding>,

    /// The columns of a text or of binary rows without a header: 'name:type,other:type not null …', or @FILE with the
    /// output of brc sniff --schema [default: inferred from the data]
    #[arg(long, value_name = "COLUMNS|@FILE", allow_hyphen_values = true, value_parser = schema,
          conflicts_with_all = ["names", "types", "all_strings", "exact_text"])]
    pub(crate) schema: Option<Schema>,

    /// Read the binary columns of parquet and arrow files as strings
    #[arg(long)]
    pub(crate) binary_as_string: bool,

    /// The size limit for the temporary copy of a file that needs random access (buren, parquet, arrow, avro, xlsx) but
    /// comes from a pipe or is compressed as a whole; k, M, G are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "64G", value_parser = quantity::parse_bytes)]
    pub(crate) max_copy: u64,

    #[command(flatten)]
    pub(crate) text: TextArgs,
}

impl Source {
    /// The options for opening a table.
    ///
    /// # Errors
    /// As for [`TextArgs::options`].
    pub(crate) fn open_options(&self) -> brc_core::Result<OpenOptions> {
        Ok(OpenOptions {
            schema: self.schema.clone(),
            names: self.text.names(),
            text: self.text.options()?,
            binary_as_string: self.binary_as_string,
            longest_copy: self.max_copy,
            ..OpenOptions::default()
        })
    }

    /// The options as plain data, for other processes.
    ///
    /// # Errors
    /// As for [`TextArgs::options`].
    pub(crate) fn table_options(&self) -> brc_core::Result<TableOptions> {
        Ok(TableOptions {
            from: self.from.map(|encoding| encoding.name().to_owned()),
            schema: self.schema.clone(),
            names: self.text.names(),
            text: self.text.options()?,
            binary_as_string: self.binary_as_string,
            is_written: false,
            max_copy: self.max_copy,
        })
    }

    /// The default delimiter of text output: that of the text input, if it was specified.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match self.text.delimiter {
            Some(Delimiter::Byte(delimiter)) => Some(delimiter),
            Some(Delimiter::Blanks) | None => None,
        }
    }

    /// Opens an input and determines its encoding.
    ///
    /// # Errors
    /// If it cannot be read, or its encoding cannot be determined.
    pub(crate) fn input(&self, path: &Path) -> brc_core::Result<(&'static dyn Encoding, Input)> {
        let input = Input::open(path)?;
        Ok((self.encoding(&input)?, input))
    }

    fn encoding(&self, input: &Input) -> brc_core::Result<&'static dyn Encoding> {
        brc_encodings::for_named_input(input, self.from)
    }

    /// Opens a table.
    ///
    /// # Errors
    /// If it cannot be read, or its encoding or columns cannot be determined.
    pub(crate) fn open(&self, path: &Path, options: &OpenOptions) -> brc_core::Result<Opened> {
        self.open_input(Input::open(path)?, options)
    }

    /// Opens a table from an open input.
    ///
    /// # Errors
    /// As for [`Source::open`].
    pub(crate) fn open_input(&self, input: Input, options: &OpenOptions) -> brc_core::Result<Opened> {
        let encoding = self.encoding(&input)?;
        Ok(Opened { encoding, table: encoding.open(input, options)? })
    }
}

// The query, without options for its output.
#[derive(clap::Args)]
pub(crate) struct QueryArgs {
    /// The columns or expressions to group by, separated by commas; '' makes all rows one group [default: the string
    /// column]
    #[arg(long, alias = "group-by", value_name = "EXPRESSIONS", allow_hyphen_values = true)]
    by: Option<String>,

    /// The aggregates to compute for each group, separated by commas, as in count(*),sum(price * 2); brc functions
    /// lists them [default: min, mean and max of each number column]
    #[arg(long, value_name = "AGGREGATES", allow_hyphen_values = true)]
    agg: Option<String>,

    /// Use only rows that satisfy this SQL condition, as in price * 2 > 30 and city like 'A%'
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    filter: Option<String>,
}

impl QueryArgs {
    /// The options as plain data.
    pub(crate) fn options(&self) -> QueryOptions {
        QueryOptions { select: None, by: self.by.clone(), agg: self.agg.clone(), filter: self.filter.clone() }
    }

    /// Whether any of them is given.
    pub(crate) fn is_given(&self) -> bool {
        self.by.is_some() || self.agg.is_some() || self.filter.is_some()
    }
}

/// Parses a query given as one argument: the name of a benchmark query, SQL, or command-line options.
pub(crate) fn query_options(text: &str) -> Result<QueryOptions, String> {
    #[derive(clap::Parser)]
    #[command(no_binary_name = true, disable_help_flag = true)]
    struct Options {
        #[command(flatten)]
        query: QueryArgs,
    }
    let select =
        if Statement::is_one(text) { Some(text) } else { KnownQuery::by_name(text.trim()).map(|query| query.sql) };
    if let Some(select) = select {
        return Ok(QueryOptions { select: Some(select.to_owned()), ..QueryOptions::default() });
    }
    let words = shlex::split(text).ok_or("unterminated quote or backslash")?;
    match <Options as clap::Parser>::try_parse_from(words) {
        Ok(options) => Ok(options.query.options()),
        Err(error) => {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or_default();
            Err(first.trim_start_matches("error: ").to_owned())
        }
    }
}

// How several files become one table.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct Files {
    /// Match the columns of several files by name, and fill missing ones with null [default: all files have the same
    /// columns in the same order]
    #[arg(long)]
    pub(crate) union_by_name: bool,

    /// Add a string column of this name with the file that each row comes from
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) file_name: Option<String>,
}

/// An open table and its encoding.
pub(crate) struct Opened {
    pub(crate) encoding: &'static dyn Encoding,
    pub(crate) table: Box<dyn Table>,
}

/// Parses the name of an encoding.
pub(crate) fn encoding() -> impl TypedValueParser<Value = &'static dyn Encoding> {
    one_of(ENCODINGS.iter())
}

/// Parses the name of a writable encoding.
pub(crate) fn target_encoding() -> impl TypedValueParser<Value = &'static dyn Encoding> {
    one_of(ENCODINGS.iter().filter(|encoding| !encoding.is_read_only()))
}

fn one_of(
    encodings: impl Iterator<Item = &'static &'static dyn Encoding>,
) -> impl TypedValueParser<Value = &'static dyn Encoding> {
    let value = |encoding: &&dyn Encoding| {
        PossibleValue::new(encoding.name()).aliases(encoding.aliases().iter().copied()).help(encoding.about())
    };
    PossibleValuesParser::new(encodings.map(value))
        .try_map(|name| brc_encodings::by_name(&name).ok_or_else(|| format!("unknown encoding {name}")))
}

/// Parses the name of a compression with an optional level: `zstd:9`.
pub(crate) fn compression() -> impl TypedValueParser<Value = Compressor> {
    StringValueParser::new().try_map(|text| Compressor::parse(&text))
}
