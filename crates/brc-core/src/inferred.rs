//! Retries work on tables whose column types are inferred.
//!
//! Such a table starts with the types of a sample. A query or an output planned for these types may fail: it may be
//! invalid for them but valid for the types of all rows, or a scan may find values of other types. [`with_types`]
//! decides what to retry and when an error is final.

use crate::error::{Error, Result};
use crate::identifier;
use crate::logical_type::{LogicalType, TimeUnit};
use crate::scan::{Counter, Progress, scan};
use crate::schema::{Field, Schema};
use crate::table::{ScanOptions, Table};
use std::sync::Arc;

/// How often work restarts with the types found so far, before a full read determines the final types. One change is
/// common, such as a decimal among integers; a restart for each of many would read the table as often.
const MAX_RESTARTS: u32 = 1;

/// The schema of a table as known so far.
#[must_use]
pub fn current_schema(table: &dyn Table) -> Arc<Schema> {
    table.inferred().unwrap_or_else(|| Arc::new(table.schema().clone()))
}

/// Calls `work` with the schema of a table. If types are inferred and the work fails because of them, with
/// [`Error::TypeMismatch`] or [`Error::Widened`], it is called again with wider types, at last with those of all rows.
/// If it needs null tokens as text ([`WantedText`](crate::WantedText)), it is called with these columns as strings.
/// Columns without values get types that fit. So `work` must leave no trace when it fails.
///
/// # Errors
/// The error of `work` for the types of all rows; errors of reading these rows.
pub fn with_types<T>(
    table: &dyn Table,
    threads: usize,
    progress: &Progress,
    mut work: impl FnMut(&Schema) -> Result<T>,
) -> Result<T> {
    let (mut restarts, mut is_final) = (0, table.inferred().is_none());
    let mut before_text = None;
    loop {
        let outcome = work(&current_schema(table));
        match outcome {
            Err(Error::Widened) if !is_final && restarts < MAX_RESTARTS => restarts += 1,
            Err(error) if !is_final && may_hold_in_other_types(&error, table) => {
                progress.restart();
                read_rows(table, threads, progress)?;
                is_final = true;
            }
            Err(Error::TypeMismatch { message, columns, as_text }) if table.read_nulls_as_text(&as_text) => {
                before_text.get_or_insert((message, columns));
            }
            Err(Error::TypeMismatch { message, columns, .. }) => {
                if let Some(outcome) = with_assumed_types(table, &columns, &mut work) {
                    return outcome;
                }
                let (message, columns) = before_text.unwrap_or((message, columns));
                return Err(with_reasons(table, message, columns)?);
            }
            outcome => return outcome,
        }
        progress.restart();
    }
}

/// The types that a column without values may have instead of string.
const ASSUMED_TYPES: [LogicalType; 5] = [
    LogicalType::Int64,
    LogicalType::Date,
    LogicalType::Timestamp { unit: TimeUnit::Second, zone: false },
    LogicalType::Time { unit: TimeUnit::Second },
    LogicalType::Bool,
];

/// Calls `work` with types for those of the columns without values; `None` if no types fit.
fn with_assumed_types<T>(
    table: &dyn Table,
    columns: &[usize],
    work: &mut impl FnMut(&Schema) -> Result<T>,
) -> Option<Result<T>> {
    let column = columns.iter().copied().find(|column| table.is_untyped(*column))?;
    for logical_type in ASSUMED_TYPES {
        if !table.assume(column, Some(logical_type)) {
            return None;
        }
        match work(&current_schema(table)) {
            Err(Error::TypeMismatch { columns, .. }) if !columns.iter().any(|column| table.is_untyped(*column)) => {}
            // This type fits, and the next column is at fault.
            Err(Error::TypeMismatch { columns, .. }) => return with_assumed_types(table, &columns, work),
            outcome => return Some(outcome),
        }
    }
    table.assume(column, None);
    None
}

/// A type mismatch, with the reasons why columns have type string.
fn with_reasons(table: &dyn Table, mut message: String, columns: Vec<usize>) -> Result<Error> {
    for &column in &columns {
        let field = table.schema().fields().get(column);
        let Some(Field { name, .. }) = field else { continue };
        if table.assume(column, None) {
            let named = identifier::in_option(name);
            message += &format!("\n'{name}' has no values, so its type is unknown; --type '{named}=int64' sets it");
        } else if let Some(reason) = table.why_text(column)? {
            message += &format!("\n{}", reason.of(name));
        }
    }
    Ok(Error::TypeMismatch { message, columns, as_text: Vec::new() })
}

/// Whether an error may disappear once the types or columns of all rows are known.
fn may_hold_in_other_types(error: &Error, table: &dyn Table) -> bool {
    match error {
        Error::Widened | Error::TypeMismatch { .. } => true,
        Error::Usage(_) => table.may_gain_columns(),
        _ => false,
    }
}

/// Reads all rows of all columns. Inferred types then fit all values.
///
/// # Errors
/// Those of the scan.
pub fn read_rows(table: &dyn Table, threads: usize, progress: &Progress) -> Result<()> {
    scan(table, &ScanOptions::everything(table.schema()), threads, progress, Counter::default).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{ScanError, Scanned, Scanner, Sink, Split};
    use parking_lot::Mutex;
    use std::path::Path;

    /// A table of one split whose sample has integers, but which has strings. Its first scan finds that out.
    struct Late {
        schema: Schema,
        inferred: Mutex<Option<Arc<Schema>>>,
        scans: Mutex<u32>,
    }

    impl Late {
        fn new(is_inferred: bool) -> Self {
            let schema = Schema::parse("a:int").unwrap();
            let inferred = is_inferred.then(|| Arc::new(schema.clone()));
            Self { schema, inferred: Mutex::new(inferred), scans: Mutex::default() }
        }
    }

    impl Table for Late {
        fn path(&self) -> &Path {
            Path::new("late")
        }

        fn schema(&self) -> &Schema {
            &self.schema
        }

        fn inferred(&self) -> Option<Arc<Schema>> {
            self.inferred.lock().clone()
        }

        fn rows(&self) -> Option<u64> {
            None
        }

        fn bytes(&self) -> Option<u64> {
            None
        }

        fn split(&self, index: u64) -> Option<Split> {
            (index == 0).then_some(Split { index, start: 0, end: 1 })
        }

        fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
            Ok(Box::new(LateScanner(self)))
        }
    }

    struct LateScanner<'a>(&'a Late);

    impl Scanner for LateScanner<'_> {
        fn scan(&mut self, _: &Split, _: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
            *self.0.scans.lock() += 1;
            let strings = Arc::new(Schema::parse("a:string").unwrap());
            match self.0.inferred.lock().replace(Arc::clone(&strings)) {
                Some(before) if before != strings => Err(ScanError::Widened),
                _ => Ok(Some(Scanned { rows: 1, ..Scanned::default() })),
            }
        }
    }

    fn mismatch<T>() -> Result<T> {
        Err(Error::type_mismatch("no"))
    }

    /// The result of the work, how often it was called, and how often the table was scanned.
    fn outcome(table: &Late, work: impl Fn(&Schema, u32) -> Result<()>) -> (Result<()>, u32, u32) {
        let mut times = 0;
        let outcome = with_types(table, 2, &Progress::default(), |schema| {
            times += 1;
            work(schema, times)
        });
        (outcome, times, *table.scans.lock())
    }

    #[test]
    fn failed_work_is_retried_with_the_types_of_all_rows() {
        let is_text = |schema: &Schema, _| if schema.to_string() == "a:string" { Ok(()) } else { mismatch() };
        assert!(matches!(outcome(&Late::new(true), is_text), (Ok(()), 2, 2)));
        let never = |_: &Schema, _| mismatch();
        assert!(matches!(outcome(&Late::new(true), never), (Err(Error::TypeMismatch { .. }), 2, 2)));
        assert!(matches!(outcome(&Late::new(false), never), (Err(Error::TypeMismatch { .. }), 1, 0)));
        let mistake = |_: &Schema, _| Err(Error::Usage("no".to_owned()));
        assert!(matches!(outcome(&Late::new(true), mistake), (Err(Error::Usage(_)), 1, 0)));
    }

    #[test]
    fn widened_work_restarts_until_the_types_are_final() {
        let second = |_: &Schema, times| if times == 2 { Ok(()) } else { Err(Error::Widened) };
        assert!(matches!(outcome(&Late::new(true), second), (Ok(()), 2, 0)));
        let never = |_: &Schema, _| Err(Error::Widened);
        assert!(matches!(outcome(&Late::new(true), never), (Err(Error::Widened), 3, 2)));
        assert!(matches!(outcome(&Late::new(false), never), (Err(Error::Widened), 1, 0)));
    }
}
