//! `brc cat`: writes rows of tables, some or all of them.

use crate::answer::{Destination, OutputFile, Resources};
use crate::args::{MemoryArgs, Opened, Threads, compression};
use crate::inputs::sources;
use crate::row_args::{Limit, OutputArgs, Selection, TableArgs};
use crate::target::{refuse_delimiter, target_compression};
use crate::text_args::delimiter;
use crate::{changes, metrics};
use brc_compress::Compressor;
use brc_core::{BatchWriter, Progress, Schema, Table, current_schema, with_types};
use brc_encodings::folders::FoundFile;
use brc_encodings::{
    CreateOptions, Output, Workers, by_extension, convert, delimiter_by_extension, refuse_other_format, text, writer,
};
use brc_query::{OrderBy, Query};
use std::path::Path;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,

    /// How to sort the rows: expressions separated by commas, each optionally followed by desc and nulls first; all is
    /// every column from left to right [default: as they are in the table]
    #[arg(long, value_name = "EXPRESSIONS", allow_hyphen_values = true)]
    order_by: Option<String>,

    #[command(flatten)]
    limit: Limit,

    #[command(flatten)]
    output: OutputArgs,

    /// How the output is compressed, as for convert [default: inferred from a second extension, else none]
    #[arg(long, value_name = "NAME[:LEVEL]", value_parser = compression(), conflicts_with_all = ["format", "vertical"])]
    compression: Option<Compressor>,

    /// The delimiter of a text output [default: a tab for .tsv, else that of --delimiter, else a comma; a semicolon for
    /// the table of the One Billion Row Challenge]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, conflicts_with_all = ["format", "vertical"])]
    output_delimiter: Option<u8>,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    table: TableArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc cat measurements.buren | head
  brc cat measurements.buren --where 'temperature > 60' --to json
  brc cat measurements.parquet --columns temperature,station -o swapped.csv
  brc cat measurements.parquet --order-by 'temperature desc' --limit 1000 -o warmest.csv
  brc cat 'part-*.csv' --file-name part --where \"part != 'part-3.csv'\" -o parts.parquet";

/// The size of a part of the output in an encoding without row groups, in bytes of text: small, so that rows are
/// streamed.
const STREAMED: u64 = 2 << 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = args.query()?;
    let files = args.table.found()?;
    if args.output.format().is_some() {
        let Opened { table, .. } = args.table.open(&files)?;
        let resources = Resources::new(args.threads, &args.memory, &args.table.source);
        args.output.destination(sources(&files))?.answer(&query, table.as_ref(), &resources)?;
        return Ok(());
    }
    args.write(&query, &files)
}

impl Args {
    fn query(&self) -> brc_core::Result<Query> {
        let order_by = self.order_by.as_deref().map_or(Ok(Vec::new()), OrderBy::parse_list)?;
        Ok(Query { order_by, limit: self.limit.limit, ..self.selection.query()? })
    }

    /// Writes the rows in an encoding.
    fn write(&self, query: &Query, files: &[FoundFile]) -> anyhow::Result<()> {
        let path = self.output.file().unwrap_or(Path::new("-")).to_owned();
        let to = match self.output.to().or_else(|| by_extension(&path)) {
            Some(encoding) => encoding,
            None => {
                refuse_other_format(&path)?;
                text()
            }
        };
        let budget = self.memory.budget();
        let row_group_bytes =
            Some(budget.row_group_bytes()).filter(|&bytes| to.compresses_blocks() || bytes < STREAMED);
        let Opened { table, .. } = self.table.open_in_row_groups_of(row_group_bytes, files)?;
        let compression = target_compression(&path, self.compression, to)?;
        refuse_delimiter(to, self.output_delimiter)?;
        let delimiter = self.output_delimiter.or(delimiter_by_extension(&path)).or(self.table.source.delimiter());
        let dictionary_bytes = Some(budget.dictionary_bytes());
        let create = CreateOptions { delimiter, dictionary_bytes, ..CreateOptions::new(compression) };
        crate::interrupt::clean_up_when_killed();
        let options = self.output.options(sources(files));
        let workers = budget.workers(self.threads.count(), row_group_bytes.unwrap_or(STREAMED));
        if self.selection.is_everything() && query.order_by.is_empty() && query.limit.is_none() {
            return self.copy(table.as_ref(), workers, |schema| {
                Ok((writer(to, schema, &create)?, Output::create(&path, &options)?))
            });
        }
        let file = OutputFile::new(&path, Some(to), options)?.created_with(create);
        let resources = Resources { workers, memory: self.memory.memory(), text: &self.table.source.text };
        Destination::File(file).answer(query, table.as_ref(), &resources)?;
        Ok(())
    }

    /// Writes all rows as they are.
    fn copy(
        &self,
        table: &dyn Table,
        workers: Workers,
        target: impl Fn(&Schema) -> brc_core::Result<(Box<dyn BatchWriter>, Output)> + Send + Sync,
    ) -> anyhow::Result<()> {
        let progress = Progress::default();
        let write = |_: &Schema| {
            let (writer, output) = target(&current_schema(table))?;
            convert(table, writer, output, self.table.source.text.reject_log(), workers, &progress)
        };
        metrics::follow(&progress, || with_types(table, workers.threads, &progress, write))?;
        changes::note_read(table, &progress);
        Ok(())
    }
}
