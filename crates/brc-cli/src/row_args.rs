//! Options of the commands that read rows: the input files, the selected columns and rows, and the output.

use crate::answer::{Destination, OutputFile, Resources};
use crate::args::{Files, MemoryArgs, Opened, Source, Threads, target_encoding};
use crate::inputs::{expand, sources};
use crate::render::{self, Format, format};
use crate::{interrupt, quantity, stdout};
use brc_core::{Result, identifier};
use brc_encodings::folders::FoundFile;
use brc_encodings::{Encoding, OutputOptions};
use brc_query::{Expression, Pick, Query, SelectItem};
use std::path::{Path, PathBuf};

// The files that are read as one table.
#[derive(clap::Args)]
pub(crate) struct TableArgs {
    /// The files to read as one table: paths, a quoted glob such as 'part-*.csv', a directory (all files below it), or -
    /// for standard input
    #[arg(value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    files: Files,

    #[command(flatten)]
    pub(crate) source: Source,
}

impl TableArgs {
    /// The files.
    ///
    /// # Errors
    /// As for [`expand`].
    pub(crate) fn found(&self) -> Result<Vec<FoundFile>> {
        expand(&self.inputs)
    }

    /// Opens the files as one table.
    ///
    /// # Errors
    /// As for [`Source::open_all`].
    pub(crate) fn open(&self, files: &[FoundFile]) -> Result<Opened> {
        self.source.open_all(files, &self.files, &self.source.open_options()?)
    }

    /// Like [`TableArgs::open`], without printing notes.
    ///
    /// # Errors
    /// As for [`Source::open_all`].
    pub(crate) fn open_quietly(&self, files: &[FoundFile]) -> Result<Opened> {
        self.source.open_quietly(files, &self.files, &self.source.open_options()?)
    }

    /// Like [`TableArgs::open`], with splits that become row groups of `bytes` bytes; the default size if `None`.
    ///
    /// # Errors
    /// As for [`Source::open_all`].
    pub(crate) fn open_in_row_groups_of(&self, bytes: Option<u64>, files: &[FoundFile]) -> Result<Opened> {
        let options = brc_encodings::OpenOptions { row_group_bytes: bytes, ..self.source.open_options()? };
        self.source.open_all(files, &self.files, &options)
    }
}

// Which columns and rows are used.
#[derive(clap::Args)]
pub(crate) struct Selection {
    /// The columns to use, in this order, separated by commas [default: all]
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, value_parser = columns)]
    columns: Option<Columns>,

    #[command(flatten)]
    filter: Filter,
}

// Which rows are used.
#[derive(clap::Args)]
pub(crate) struct Filter {
    /// Use only rows that satisfy this SQL condition, as in price * 2 > 30 and city like 'A%'
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
}

impl Filter {
    /// Parses the condition.
    ///
    /// # Errors
    /// If it is not valid SQL.
    pub(crate) fn expression(&self) -> Result<Option<Expression>> {
        Ok(self.filter.as_deref().map(Expression::parse).transpose()?)
    }
}

/// Column names.
#[derive(Clone)]
pub(crate) struct Columns(Vec<String>);

impl Columns {
    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }
}

/// Parses column names separated by commas.
///
/// # Errors
/// A message about the list.
pub(crate) fn columns(list: &str) -> std::result::Result<Columns, String> {
    let names = identifier::parse_list(list).map_err(|error| error.to_string())?;
    match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        Some((_, twice)) => Err(format!("column '{twice}' is named twice")),
        None => Ok(Columns(names)),
    }
}

impl Selection {
    /// Whether it selects all columns of all rows.
    pub(crate) fn is_everything(&self) -> bool {
        self.columns.is_none() && self.filter.filter.is_none()
    }

    /// A query for the selected columns and rows.
    ///
    /// # Errors
    /// If the condition is not valid SQL.
    pub(crate) fn query(&self) -> Result<Query> {
        let mut query = Query { filter: self.filter.expression()?, ..Query::everything() };
        if let Some(Columns(names)) = &self.columns {
            query.select = Some(names.iter().map(|name| column(name)).collect());
        }
        Ok(query)
    }
}

fn column(name: &str) -> SelectItem {
    SelectItem::Expression { expression: Expression::column(name), alias: None }
}

// How many rows are shown.
#[derive(clap::Args)]
pub(crate) struct Rows {
    /// The number of rows
    #[arg(long, short = 'n', alias = "rows", value_name = "N", default_value = "10", value_parser = quantity::parse_count)]
    pub(crate) limit: u64,
}

// How many rows there are at most.
#[derive(clap::Args)]
pub(crate) struct Limit {
    /// Return only the first N rows
    #[arg(long, short = 'n', value_name = "N", value_parser = quantity::parse_count)]
    pub(crate) limit: Option<u64>,
}

// Where rows go: to standard output in a format, or to a file in any encoding.
#[derive(clap::Args)]
pub(crate) struct OutputArgs {
    /// How to print rows [default: table; csv for cat and sort; 1brc for a query of that shape]
    #[arg(long, value_name = "NAME", conflicts_with = "to", value_parser = format())]
    format: Option<&'static dyn Format>,

    /// Print each value on a line of its own, after the name of its column
    #[arg(long, short = 'x', conflicts_with_all = ["format", "output", "to"])]
    vertical: bool,

    /// Save the rows to a file in the encoding of its extension: parquet, arrow, buren, csv, json …; - is standard
    /// output
    #[arg(long, short, alias = "out", value_name = "OUT", conflicts_with = "format")]
    output: Option<PathBuf>,

    /// The encoding of the output [default: inferred from its extension]
    #[arg(long, value_name = "ENCODING", value_parser = target_encoding())]
    to: Option<&'static dyn Encoding>,

    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,
}

impl OutputArgs {
    /// The format, if given.
    pub(crate) fn format(&self) -> Option<&'static dyn Format> {
        self.format.or(self.vertical.then(render::vertical))
    }

    /// The file to write, if a file or an encoding is given; `-` is standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        let file = self.output.as_deref().filter(|path| *path != Path::new("-"));
        file.or(self.to.is_some().then_some(Path::new("-")))
    }

    /// The encoding, if given.
    pub(crate) fn to(&self) -> Option<&'static dyn Encoding> {
        self.to
    }

    /// The options of an output that must not replace these inputs.
    pub(crate) fn options(&self, inputs: Vec<PathBuf>) -> OutputOptions {
        OutputOptions { force: self.force, sync: true, inputs }
    }

    /// The destination of rows of these files.
    ///
    /// # Errors
    /// If the file cannot be written, or a terminal cannot show the format.
    pub(crate) fn destination(&self, inputs: Vec<PathBuf>) -> Result<Destination> {
        self.destination_or(None, inputs)
    }

    /// Like [`OutputArgs::destination`], with `usual` as the default format.
    ///
    /// # Errors
    /// As for [`OutputArgs::destination`].
    pub(crate) fn destination_or(
        &self,
        usual: Option<&'static dyn Format>,
        inputs: Vec<PathBuf>,
    ) -> Result<Destination> {
        let Some(path) = self.file() else {
            let format = self.format().or(usual);
            format.map_or(Ok(()), stdout::check)?;
            return Ok(Destination::Printed(format));
        };
        interrupt::clean_up_when_killed();
        Ok(Destination::File(OutputFile::new(path, self.to, self.options(inputs))?))
    }
}

// The options that all commands that select rows share.
#[derive(clap::Args)]
pub(crate) struct RowsArgs {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    table: TableArgs,
}

impl RowsArgs {
    /// A query for the selected columns and rows.
    ///
    /// # Errors
    /// As for [`Selection::query`].
    pub(crate) fn query(&self) -> Result<Query> {
        self.selection.query()
    }

    /// Answers a query for rows, with `usual` as the default format.
    ///
    /// # Errors
    /// Those of the query, the table and the output.
    pub(crate) fn answer(&self, query: &Query, usual: Option<&'static dyn Format>) -> Result<()> {
        let files = self.table.found()?;
        let Opened { table, .. } = self.table.open(&files)?;
        let destination = self.output.destination_or(usual, sources(&files))?;
        let mut resources = Resources::new(self.threads, &self.memory, &self.table.source);
        let takes_first = query.limit.is_some() && query.pick == Pick::First && query.order_by.is_empty();
        if takes_first && query.filter.is_none() {
            // More workers would read ahead.
            resources.workers = 1.into();
        }
        destination.answer(query, table.as_ref(), &resources)?;
        Ok(())
    }
}
