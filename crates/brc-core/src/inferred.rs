//! Work that depends on the types of columns, on tables whose types are inferred.
//!
//! Such a table begins with the types of a sample. A question or a target that was made for these may turn out not to fit
//! the values: because it makes no sense for types which all rows together would not have, or because a scan meets values
//! of other types. [`with_types`] decides then what to try again, and when an error is final.

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::scan::{Progress, Worker, scan};
use crate::schema::Schema;
use crate::table::{ScanOptions, Scanned, Sink, Split, Summary, Table};
use std::sync::Arc;

/// How often work begins again in the types that were met by then, before all rows are read for theirs. One surprise is
/// common, as a decimal among integers; to begin again for each of many would read the table as often.
const MAX_RESTARTS: u32 = 1;

/// The columns of a table as they are known by now.
#[must_use]
pub fn current_schema(table: &dyn Table) -> Arc<Schema> {
    table.inferred().unwrap_or_else(|| Arc::new(table.schema().clone()))
}

/// Does `work` for the columns of a table. Where types are inferred, it is done again in wider types as long as it fails
/// because of them, with [`Error::TypeMismatch`] or [`Error::Widened`]: in the end in the types of all rows. So it must
/// leave nothing behind when it fails.
///
/// # Errors
/// The error of the work in the types of all rows; what goes wrong while these are read.
pub fn with_types<T>(
    table: &dyn Table,
    threads: usize,
    progress: &Progress,
    mut work: impl FnMut(&Schema) -> Result<T>,
) -> Result<T> {
    let (mut restarts, mut is_final) = (0, table.inferred().is_none());
    loop {
        let outcome = work(&current_schema(table));
        match outcome {
            Err(Error::Widened) if !is_final && restarts < MAX_RESTARTS => restarts += 1,
            Err(Error::Widened | Error::TypeMismatch(_)) if !is_final => {
                progress.restart();
                read_rows(table, threads, progress)?;
                is_final = true;
            }
            outcome => return outcome,
        }
        progress.restart();
    }
}

/// Reads all rows of all columns. Inferred types hold all values then.
///
/// # Errors
/// Those of the scan.
pub fn read_rows(table: &dyn Table, threads: usize, progress: &Progress) -> Result<()> {
    scan(table, &ScanOptions::everything(table.schema()), threads, progress, || Reads).map(drop)
}

/// Takes rows and does nothing with them.
struct Reads;

impl Worker for Reads {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        Ok(())
    }
}

impl Sink for Reads {
    fn batch(&mut self, _: &Batch<'_>) -> Result<()> {
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Ok(())
    }
}
