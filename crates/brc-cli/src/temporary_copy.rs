//! Copies tables that have to be read more than once to temporary files.

use crate::args::{MemoryArgs, Source, Threads};
use crate::changes;
use crate::progress::watch_table;
use brc_compress::Compressor;
use brc_core::{Error, Progress, Result, Schema, Table, current_schema, with_types};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, Output, convert, writer};
use brc_query::Query;

/// Copies the selected columns and rows to a temporary buren file, and notes on standard error how many rows were left
/// out. Reading it column by column costs less than reading a text once per column, and a pipe can be read only once.
///
/// # Errors
/// Those of the query and the table, and of the directory for temporary files.
pub(crate) fn copy(
    table: &dyn Table,
    query: &Query,
    threads: Threads,
    memory: &MemoryArgs,
    source: &Source,
) -> Result<Box<dyn Table>> {
    let progress = Progress::default();
    let copied = watch_table(&progress, table, || copy_quietly(table, query, threads, memory, source, &progress))?;
    changes::note_left_out(&progress);
    Ok(copied)
}

/// Like [`copy`], without showing progress.
///
/// # Errors
/// As for [`copy`].
pub(crate) fn copy_quietly(
    table: &dyn Table,
    query: &Query,
    threads: Threads,
    memory: &MemoryArgs,
    source: &Source,
    progress: &Progress,
) -> Result<Box<dyn Table>> {
    let (memory, budget) = (memory.memory(), memory.budget());
    let (threads, buren) = (threads.count(), buren()?);
    let workers = budget.workers(threads, budget.row_group_bytes());
    let create = CreateOptions {
        key: Some("none".to_owned()),
        dictionary_bytes: Some(budget.dictionary_bytes()),
        ..CreateOptions::new(Compressor::none())
    };
    let copy = |schema: &Schema| {
        let plan = query.plan(schema)?.within(&memory);
        let rows = plan.selected(table)?;
        let writer = writer(buren, &current_schema(&rows), &create)?;
        let (output, file) = Output::temporary(&memory.temp_dir)?;
        convert(&rows, writer, output, source.text.reject_log(), workers, progress)?;
        Ok(file)
    };
    let file = with_types(table, threads, progress, copy)?;
    // The extension of the table's name may imply a different encoding.
    let input = Input { path: table.path().to_owned(), ..Input::from_file("-".into(), file)? };
    buren.open(input, &OpenOptions::default())
}

fn buren() -> Result<&'static dyn Encoding> {
    brc_encodings::by_name("buren").ok_or_else(|| Error::Usage("there is no encoding for temporary files".to_owned()))
}
