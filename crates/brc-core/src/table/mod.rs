//! The traits between encodings and the code that reads or writes tables.
//!
//! Reading: a [`Table`] lists its [`Split`]s; each worker has its own [`Scanner`] and scans one split at a time into
//! its own [`Sink`]. Writing: each worker has a [`PartEncoder`], which is a sink and encodes one split as one [`Part`];
//! one [`BatchWriter`] appends the parts in split order. Both sides run in parallel, and the output does not depend on
//! the number of workers.

mod changes;
mod request;
mod scanner;
mod sink;
mod writer;

pub use changes::{AssumedSeparator, ColumnChanges, DoubtfulText, TextPlace, TextReason, ValueForm, WantedText};
pub use request::{Conjunct, Order, ScanOptions, Split};
pub use scanner::{ScanError, Scanned, Scanner, SkippedLines};
pub use sink::{ColumnSummary, Numbers, Sink, Summary, Sums};
pub use writer::{BatchWriter, ColumnarWriter, Cut, Part, PartEncoder};

use crate::LogicalType;
use crate::dictionary::Dictionary;
use crate::error::{Result, RowFault};
use crate::predicate::ColumnStatistics;
use crate::schema::Schema;
use std::path::Path;
use std::sync::Arc;

/// A table that is open for reading.
pub trait Table: Send + Sync {
    /// The file's name, for messages; `-` for standard input.
    fn path(&self) -> &Path;

    /// Its columns.
    fn schema(&self) -> &Schema;

    /// The schema inferred from all rows scanned so far: each column has the narrowest type that fits all values seen.
    /// `None` if [`Table::schema`] is fixed.
    ///
    /// Inference is optimistic. The table starts with the types of a sample ([`Table::schema`]). A split with a value
    /// that does not fit widens the types for itself and all later scans ([`ScanError::Widened`]). A caller that keeps
    /// rows in any form other than their text must scan again what it received in narrower types.
    fn inferred(&self) -> Option<Arc<Schema>> {
        None
    }

    /// Whether the type of an inferred column is still unknown because only nulls were seen, or nothing.
    fn is_untyped(&self, _column: usize) -> bool {
        false
    }

    /// Gives a type to an inferred column without values in any row, or takes it away again. Returns whether that is
    /// possible.
    fn assume(&self, _column: usize, _logical_type: Option<LogicalType>) -> bool {
        false
    }

    /// Why a column has type string although most of its values do not look like text; `None` if unknown. Reads all
    /// rows.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn why_text(&self, _column: usize) -> Result<Option<TextReason>> {
        Ok(None)
    }

    /// How the values of a column of text are written, if all of them are numbers, or all dates or times, in one form:
    /// then it has type string because of other files. Reads all rows.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn value_form(&self, _column: usize) -> Result<Option<ValueForm>> {
        Ok(None)
    }

    /// The columns of type string of which most values in the first rows look like another type.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn doubtful_text(&self) -> Result<Vec<DoubtfulText>> {
        Ok(Vec::new())
    }

    /// Gives type string to those of the columns in which null tokens were read as null. Returns whether there are any.
    fn read_nulls_as_text(&self, _wanted: &[WantedText]) -> bool {
        false
    }

    /// Whether unread rows may have columns that [`Table::inferred`] does not have yet.
    fn may_gain_columns(&self) -> bool {
        false
    }

    /// How the values of each column differ from the text they were read from, over all rows scanned so far in the
    /// types of [`Table::inferred`]. Empty if the file is not text.
    fn changes(&self) -> Vec<ColumnChanges> {
        Vec::new()
    }

    /// The number of rows, if the file stores it.
    fn rows(&self) -> Option<u64>;

    /// The size of the file in bytes; `None` for a stream, whose splits are not known before a scan.
    fn bytes(&self) -> Option<u64>;

    /// Whether its rows can be scanned only once, like those of a pipe of which no copy is kept.
    fn is_read_once(&self) -> bool {
        false
    }

    /// Whether a scan reads only the projected columns, so that reading few columns costs less than reading all.
    fn reads_by_column(&self) -> bool {
        false
    }

    /// The split at `index`, or `None` after the last. A stream does not know its end: it always returns a split, and
    /// [`Scanner::scan`] reports the end. So only a scan may loop until `None`; use `statistics_by_split` for the statistics
    /// of all splits.
    fn split(&self, index: u64) -> Option<Split>;

    /// The number of rows of a split, if the file stores it.
    fn rows_of(&self, _split: u64) -> Option<u64> {
        None
    }

    /// The statistics of a column in a split, available before it is read.
    fn statistics(&self, _split: u64, _column: usize) -> ColumnStatistics<'_> {
        ColumnStatistics::UNKNOWN
    }

    /// The statistics of a column over the whole table, available before it is read.
    fn column_totals(&self, _column: usize) -> ColumnTotals {
        ColumnTotals::default()
    }

    /// All strings of a column, if they are known before its rows are read; every scan then delivers codes of this
    /// dictionary.
    fn dictionary(&self, _column: usize) -> Option<&Dictionary> {
        None
    }

    /// The file of a split, if the table consists of several files; messages name it instead of the table.
    fn file_of(&self, _split: u64) -> Option<TableFile<'_>> {
        None
    }

    /// The number of lines of a text before its first row.
    fn header_lines(&self) -> u64 {
        0
    }

    /// Lines before the first row and after the last. Scans count the lines between rows ([`Scanned::skipped_lines`]).
    fn skipped_lines(&self) -> SkippedLines {
        SkippedLines::default()
    }

    /// Notes for the user about how the table was opened, such as renamed columns: one sentence each, without the
    /// file's name.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why a row was rejected, and the position of the column at fault, if one is; `None` if rows are never rejected.
    fn explain(&self, _row: &[u8]) -> Option<(Option<usize>, RowFault)> {
        None
    }

    /// Creates a scanner for one worker.
    ///
    /// # Errors
    /// If the table does not support the options.
    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>>;
}

impl dyn Table + '_ {
    /// The statistics of a column, split by split. Ends after the first split with an unknown number of rows, for which
    /// it yields [`ColumnStatistics::UNKNOWN`]: a stream has no last split.
    pub fn statistics_by_split(&self, column: usize) -> impl Iterator<Item = ColumnStatistics<'_>> {
        let (mut next, mut is_known) = (0, true);
        std::iter::from_fn(move || {
            let split = is_known.then(|| self.split(next)).flatten()?.index;
            next += 1;
            is_known = self.rows_of(split).is_some();
            Some(if is_known { self.statistics(split, column) } else { ColumnStatistics::UNKNOWN })
        })
    }
}

/// Stored statistics of all values of a column, besides their bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColumnTotals {
    /// The number of nulls.
    pub nulls: Option<u64>,
    /// The exact sum of its integers or decimals, in units of the column's scale.
    pub sum: Option<i128>,
    /// The number of distinct values; approximate, because it may count values that no row has any more.
    pub distinct: Option<u64>,
}

/// One of the files of a table that consists of several.
#[derive(Clone, Copy)]
pub struct TableFile<'a> {
    /// The file as a table of its own.
    pub table: &'a dyn Table,
    /// The index of its first split within the whole table.
    pub first_split: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Endless splits of which only the first few know their number of rows.
    struct Endless {
        schema: Schema,
        known: u64,
        calls: AtomicU64,
    }

    impl Table for Endless {
        fn path(&self) -> &Path {
            Path::new("endless")
        }

        fn schema(&self) -> &Schema {
            &self.schema
        }

        fn rows(&self) -> Option<u64> {
            None
        }

        fn bytes(&self) -> Option<u64> {
            None
        }

        fn split(&self, index: u64) -> Option<Split> {
            assert!(self.calls.fetch_add(1, Relaxed) < 100, "all splits are looked at");
            Some(Split { index, start: index, end: index + 1 })
        }

        fn rows_of(&self, split: u64) -> Option<u64> {
            (split < self.known).then_some(1)
        }

        fn statistics(&self, _: u64, _: usize) -> ColumnStatistics<'_> {
            ColumnStatistics::string(b"name")
        }

        fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
            Err(crate::Error::Usage("nobody scans it".to_owned()))
        }
    }

    #[test]
    fn known_by_split_ends_at_an_unknown_row_count() {
        for known in [0, 3] {
            let table = Endless { schema: Schema::parse("a:string").unwrap(), known, calls: AtomicU64::new(0) };
            let table: &dyn Table = &table;
            let nulls: Vec<bool> = table.statistics_by_split(0).map(|known| known.nulls).collect();
            assert_eq!(nulls, [vec![false; known as usize], vec![true]].concat());
        }
    }
}
