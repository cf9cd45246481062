//! `brc convert --partition-by`: writes a directory of Hive folders.
//!
//! The rows are first sorted by the partition columns, in bounded memory; rows of a partition keep their order. Then
//! the files are written one at a time.

use super::{Args, skipped, unsupported_columns};
use crate::args::Opened;
use crate::changes;
use crate::inputs::{expand, sources};
use crate::progress::watch_table;
use crate::target::target_compression;
use crate::{interrupt, printable, quantity};
use brc_core::decimal::counted;
use brc_core::{Error, Progress, Result, Schema, Table, current_schema};
use brc_encodings::output_folder::OutputFolder;
use brc_encodings::partitioned::{Partitioned, partition_columns, write_partitions};
use brc_encodings::{CreateOptions, Encoding, Output, OutputOptions, by_name, writer};
use brc_query::{Expression, OrderBy, Query};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Writes the directory and reports what was written.
///
/// # Errors
/// Those of the options, the table and the directory.
pub(super) fn write(args: &Args, columns: &[String], start: Instant) -> Result<()> {
    let buren = || by_name("buren").ok_or_else(|| Error::Usage("--partition-by needs --to".to_owned()));
    let to = args.to.map_or_else(buren, Ok)?;
    if args.output() == Path::new("-") {
        return Err(Error::Usage("--partition-by writes a directory, not standard output".to_owned()));
    }
    let files = expand(args.inputs())?;
    let Opened { table, .. } = args.source.open_all(&files, &args.files, &args.source.open_options()?)?;
    let table = table.as_ref();
    partition_columns(&current_schema(table), columns)?;
    let compression = target_compression(args.output(), args.compression, to)?;
    let create = args.create_options(to, compression, args.memory.budget().dictionary_bytes())?;
    interrupt::clean_up_when_killed();
    let folder = OutputFolder::create(args.output(), args.force, !args.no_sync, &sources(&files))?;
    let (progress, threads, memory) = (Progress::default(), args.threads.count(), args.memory.memory());
    let (_, answer) = watch_table(&progress, table, || sorted(columns).ask_within(table, threads, &memory, &progress))?;
    let partitions = Partitions { args, columns, to, create, folder: folder.path() };
    let written = partitions.write(&answer)?;
    folder.commit()?;
    let bytes_in = table.bytes().unwrap_or_else(|| progress.bytes.load(Relaxed));
    message!("{}", summary(written, bytes_in, start.elapsed().as_secs_f64()));
    changes::note_left_out(&progress);
    let lines = skipped(&table.skipped_lines()).into_iter().chain(unsupported_columns(table));
    for line in lines.chain(changes::read(table)).chain(changes::text(table)).chain(changes::altered(table)) {
        message!("{}", printable::lines(line.as_bytes()));
    }
    Ok(())
}

/// A query for all rows, sorted by these columns.
fn sorted(columns: &[String]) -> Query {
    let by = |name: &String| OrderBy {
        expression: Expression::column(name),
        is_all: false,
        descending: false,
        nulls_first: false,
    };
    Query { order_by: columns.iter().map(by).collect(), ..Query::everything() }
}

/// How partitions are written.
struct Partitions<'a> {
    args: &'a Args,
    columns: &'a [String],
    to: &'static dyn Encoding,
    create: CreateOptions,
    folder: &'a Path,
}

impl Partitions<'_> {
    /// Writes the partitions of a sorted table.
    fn write(&self, table: &dyn Table) -> Result<Partitioned> {
        let Self { args, to, create, .. } = self;
        let compression = create.compression;
        let mut extension = to.extensions().first().copied().unwrap_or(to.name()).to_owned();
        let is_whole = !to.compresses_blocks() && !compression.is_none();
        let format = compression.compression.file_format().filter(|_| is_whole);
        if let Some(of_compression) = format.and_then(|format| format.extensions().first()) {
            extension = format!("{extension}.{of_compression}");
        }
        let options = OutputOptions { force: false, sync: !args.no_sync, inputs: Vec::new() };
        let mut begin = |path: &Path, schema: &Schema| {
            let path = self.folder.join(path);
            let directory = path.parent().unwrap_or(self.folder);
            std::fs::create_dir_all(directory).map_err(Error::io(directory, "create"))?;
            Ok((writer(*to, schema, create)?, Output::create(&path, &options)?))
        };
        let columns = partition_columns(table.schema(), self.columns)?;
        write_partitions(table, &columns, &extension, args.memory.budget().row_group_bytes(), &mut begin)
    }
}

fn summary(written: Partitioned, bytes_in: u64, seconds: f64) -> String {
    let Partitioned { rows, partitions, bytes } = written;
    let [bytes_in, bytes_out] = [bytes_in, bytes].map(quantity::bytes);
    let (rows, partitions) = (counted(rows, "row"), counted(partitions as u64, "partition"));
    format!("{rows} written in {partitions}; {bytes_in} → {bytes_out} in {seconds:.2} s")
}
