//! Work that depends on column types, on tables whose types are inferred.
//!
//! Such a table starts with the types of a sample. A query or an output made for these types may turn out not to fit:
//! it may be invalid for them but valid for the types of all rows, or a scan may find values of other types.
//! [`with_types`] decides what to try again, and when an error is final.

use crate::error::{Error, Result};
use crate::scan::{Counter, Progress, scan};
use crate::schema::Schema;
use crate::table::{ScanOptions, Table};
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
/// because of them, with [`Error::TypeMismatch`] or [`Error::Widened`]: in the end in the types of all rows, and if these
/// do not fit because words for missing values were read as null, with these as text. So it must leave nothing behind when
/// it fails.
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
            Err(error) if !is_final && may_hold_in_other_types(&error, table) => {
                progress.restart();
                read_rows(table, threads, progress)?;
                is_final = true;
            }
            Err(mismatch @ Error::TypeMismatch { .. }) if table.read_nulls_as_text() => {
                progress.restart();
                return match work(&current_schema(table)) {
                    Err(Error::TypeMismatch { .. }) => Err(mismatch),
                    outcome => outcome,
                };
            }
            Err(Error::TypeMismatch { message, columns }) => return Err(with_reasons(table, message, columns)?),
            outcome => return outcome,
        }
        progress.restart();
    }
}

/// A mismatch with the reasons why columns are text, if some values make them so.
fn with_reasons(table: &dyn Table, mut message: String, columns: Vec<usize>) -> Result<Error> {
    for &column in &columns {
        let field = table.schema().fields().get(column);
        if let (Some(reason), Some(field)) = (table.why_text(column)?, field) {
            message += &format!("\n{}", reason.of(&field.name));
        }
    }
    Ok(Error::TypeMismatch { message, columns })
}

/// Whether an error may be gone once the types, or the columns, of all rows are known.
fn may_hold_in_other_types(error: &Error, table: &dyn Table) -> bool {
    match error {
        Error::Widened | Error::TypeMismatch { .. } => true,
        Error::Usage(_) => table.may_gain_columns(),
        _ => false,
    }
}

/// Reads all rows of all columns. Inferred types hold all values then.
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
    use std::path::Path;
    use std::sync::Mutex;

    /// A table of one split that seems to be of integers, but is of strings. It knows that once it was scanned.
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
            self.inferred.lock().unwrap().clone()
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
            *self.0.scans.lock().unwrap() += 1;
            let strings = Arc::new(Schema::parse("a:string").unwrap());
            match self.0.inferred.lock().unwrap().replace(Arc::clone(&strings)) {
                Some(before) if before != strings => Err(ScanError::Widened),
                _ => Ok(Some(Scanned { rows: 1, ..Scanned::default() })),
            }
        }
    }

    fn mismatch<T>() -> Result<T> {
        Err(Error::type_mismatch("no"))
    }

    /// How the work ended, how often it was done, and how often the table was scanned.
    fn outcome(table: &Late, work: impl Fn(&Schema, u32) -> Result<()>) -> (Result<()>, u32, u32) {
        let mut times = 0;
        let outcome = with_types(table, 2, &Progress::default(), |schema| {
            times += 1;
            work(schema, times)
        });
        (outcome, times, *table.scans.lock().unwrap())
    }

    #[test]
    fn what_does_not_fit_a_sample_is_tried_with_the_types_of_all_rows() {
        let is_text = |schema: &Schema, _| if schema.to_string() == "a:string" { Ok(()) } else { mismatch() };
        assert!(matches!(outcome(&Late::new(true), is_text), (Ok(()), 2, 2)));
        let never = |_: &Schema, _| mismatch();
        assert!(matches!(outcome(&Late::new(true), never), (Err(Error::TypeMismatch { .. }), 2, 2)));
        assert!(matches!(outcome(&Late::new(false), never), (Err(Error::TypeMismatch { .. }), 1, 0)));
        let mistake = |_: &Schema, _| Err(Error::Usage("no".to_owned()));
        assert!(matches!(outcome(&Late::new(true), mistake), (Err(Error::Usage(_)), 1, 0)));
    }

    #[test]
    fn work_begins_again_as_long_as_types_may_change() {
        let second = |_: &Schema, times| if times == 2 { Ok(()) } else { Err(Error::Widened) };
        assert!(matches!(outcome(&Late::new(true), second), (Ok(()), 2, 0)));
        let never = |_: &Schema, _| Err(Error::Widened);
        assert!(matches!(outcome(&Late::new(true), never), (Err(Error::Widened), 3, 2)));
        assert!(matches!(outcome(&Late::new(false), never), (Err(Error::Widened), 1, 0)));
    }
}
