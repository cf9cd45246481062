//! The traits between encodings and the code that reads or writes tables.
//!
//! Reading: a [`Table`] lists its [`Split`]s; each worker has its own [`Scanner`] and scans one split at a time into
//! its own [`Sink`]. Writing: each worker has a [`PartEncoder`], which is a sink and encodes one split as one [`Part`];
//! one [`BatchWriter`] appends the parts in split order. Both sides run in parallel, and the output does not depend on
//! the number of workers.

use crate::batch::Batch;
use crate::decimal;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result, RowFault};
use crate::identifier;
use crate::logical_type::LogicalType;
use crate::predicate::{Known, Predicate};
use crate::rejects::Rejects;
use crate::schema::Schema;
use crate::statistics::Statistics;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeSet;
use std::ops::{AddAssign, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A slice of a table that one worker scans. Plain data: it can be sent to another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Its index among the table's splits, from 0.
    pub index: u64,
    /// Where it starts, in a unit that the encoding defines: a byte of a text file, a row group of a buren file.
    pub start: u64,
    /// Where it ends (exclusive), in the same unit.
    pub end: u64,
}

/// Whether a scan must deliver rows in the order of the original table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Any order within a split: the cheapest.
    Any,
    /// The original order within a split.
    Original,
}

/// What a scan should deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanOptions {
    /// The columns to read, as positions in the schema; batches have them in this order.
    pub projection: Vec<usize>,
    /// A filter that lets the scan skip rows for which it is not true. The scan may still deliver such rows: the sink
    /// applies the exact filter.
    pub predicate: Option<Predicate>,
    /// All conjuncts of the filter, in the order in which to test them. A scan that decodes column by column may call
    /// [`Sink::test`] for each before it decodes the columns of the next; other scans leave them to the sink.
    pub conjuncts: Vec<Conjunct>,
    /// Allows the scan to replace rows that all match the predicate by statistics stored in the file, delivered through
    /// [`Sink::summary`].
    pub statistics: bool,
    /// Allows the scan to emit (value, count) pairs from stored value counts instead of rows, delivered through
    /// [`Sink::weighted`]. The rows of a split are then not those stored in it, and the predicate has skipped none of
    /// them.
    pub counts: bool,
    /// Allows the scan to pre-aggregate the rows it reads, delivered through [`Sink::summary`].
    pub sums: bool,
    /// The order in which rows must be delivered.
    pub order: Order,
    /// The splits to scan, in ascending order; all splits of the table if `None`.
    pub splits: Option<Vec<Split>>,
}

/// One of the conditions of a filter; a row passes the filter only if all of them are true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conjunct {
    /// The columns it reads, as positions in the schema; all are in the projection. If empty, the condition may depend
    /// on the number of rows before, so it is tested on rows in delivery order.
    pub columns: Vec<usize>,
    /// The condition, if it only compares columns with constants: rows known to satisfy it need no test.
    pub predicate: Option<Predicate>,
}

impl ScanOptions {
    /// The `n`-th split to scan, from 0; `None` after the last.
    #[must_use]
    pub fn split(&self, table: &dyn Table, n: u64) -> Option<Split> {
        match &self.splits {
            Some(splits) => splits.get(usize::try_from(n).ok()?).copied(),
            None => table.split(n),
        }
    }

    /// The indices of the splits to scan after `split`, as far as the table knows them.
    pub fn later_splits<'s>(&'s self, table: &'s dyn Table, split: u64) -> impl Iterator<Item = u64> + 's {
        let first = match &self.splits {
            Some(splits) => splits.partition_point(|other| other.index <= split) as u64,
            None => split.saturating_add(1),
        };
        (first..).map_while(|n| self.split(table, n)).map(|split| split.index)
    }

    /// All rows of all columns of a schema in original order, as a conversion reads them.
    #[must_use]
    pub fn everything(schema: &Schema) -> Self {
        Self {
            projection: (0..schema.fields().len()).collect(),
            predicate: None,
            conjuncts: Vec::new(),
            statistics: false,
            counts: false,
            sums: false,
            order: Order::Original,
            splits: None,
        }
    }
}

/// Counts and times of the scan of one split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Rows read and delivered in batches, or pre-aggregated until [`Scanner::finish`].
    pub rows: u64,
    /// Rows replaced by summaries or by value counts.
    pub summarised_rows: u64,
    /// Rows skipped because they cannot match the predicate.
    pub skipped_rows: u64,
    /// Malformed rows that were not delivered (text only).
    pub rejects: Rejects,
    /// Lines of a text that belong to no row.
    pub skipped_lines: SkippedLines,
    /// The number of lines of a text whose rows may span several lines or which has lines that are no rows; `None`
    /// where each line is a row.
    pub lines: Option<u64>,
    /// Bytes read from the file.
    pub bytes: u64,
    /// Time spent reading.
    pub read_time: std::time::Duration,
    /// Time spent on decompression.
    pub decompress_time: std::time::Duration,
    /// Time spent on checksums and decoding or parsing, excluding the sink.
    pub decode_time: std::time::Duration,
}

impl Scanned {
    /// All rows the scan accounted for: read, summarised, skipped or rejected.
    #[must_use]
    pub fn all_rows(&self) -> u64 {
        self.rows + self.summarised_rows + self.skipped_rows + self.rejects.len()
    }

    /// The number of lines of a text.
    #[must_use]
    pub fn all_lines(&self) -> u64 {
        self.lines.unwrap_or_else(|| self.all_rows())
    }
}

/// Why a column has type string although its values look like another type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextReason {
    /// Most values have one type and some do not.
    Others {
        /// The first value that does not.
        value: Vec<u8>,
        /// The number of such values.
        others: u64,
        /// The number of values, without nulls.
        values: u64,
        /// The line on which `value` begins, from 1.
        line: u64,
        /// The file, if the table consists of several.
        file: Option<PathBuf>,
        /// The type of the remaining values.
        expected: LogicalType,
        /// Whether the remaining values are written as in SQL, so that `try_cast` reads them.
        is_usual: bool,
    },
    /// The values are numbers, or dates and times, written in several forms.
    SeveralForms {
        /// The first value.
        first: Vec<u8>,
        /// The first value in a different form.
        other: Vec<u8>,
    },
    /// The values are numbers, or dates and times, that can be read in two ways.
    Undecided {
        /// The two ways of reading them.
        forms: [String; 2],
        /// The options that select them, in the same order.
        options: [String; 2],
    },
}

impl TextReason {
    /// The reason and its remedy for a column of that name, as a sentence for users.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        let (column, named) = (identifier::in_sql(name), identifier::in_list(name));
        match self {
            Self::Others { value, others, values, line, file, expected, is_usual } => {
                let value = String::from_utf8_lossy(value);
                let [others, values, line] = [others, values, line].map(|number| decimal::with_thousands(*number));
                let file = file.as_ref().map(|file| format!(" of {}", file.display())).unwrap_or_default();
                let cast = if *is_usual { format!("try_cast({column} as {expected}), or ") } else { String::new() };
                format!(
                    "'{name}' is text because of '{value}' ({others} of {values} values, line {line}{file}); use {cast}brc \
                     convert --type '{named}={expected}' --rejects FILE"
                )
            }
            Self::SeveralForms { first, other } => {
                let [first, other] = [first, other].map(|value| String::from_utf8_lossy(value));
                format!(
                    "'{name}' is text because its values are written in several ways: '{first}', but also '{other}'"
                )
            }
            Self::Undecided { forms: [one, other], options: [this, that] } => {
                format!("'{name}' is text because it may be written as {one} or as {other}; use {this} or {that}")
            }
        }
    }
}

/// How the values of a column differ from the text they were read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChanges {
    /// The number of values that will be written differently: `1e5` as `100000.0`, but not `1.5` as `1.50`.
    pub altered: u64,
    /// The first of these: as read, and as it will be written.
    pub example: Option<(Vec<u8>, Vec<u8>)>,
    /// The number of values read as null because they are common null tokens, without an option that says so.
    pub nulled: u64,
    /// The null tokens found.
    pub null_tokens: BTreeSet<&'static str>,
    /// Whether the column has type string because a query compares these null tokens with its values
    /// ([`Table::read_nulls_as_text`]).
    pub nulls_are_text: bool,
    /// Why the values are text, if they can be read in two ways.
    pub undecided: Option<TextReason>,
}

impl AddAssign<&ColumnChanges> for ColumnChanges {
    fn add_assign(&mut self, other: &Self) {
        self.altered += other.altered;
        self.example = self.example.take().or_else(|| other.example.clone());
        self.nulled += other.nulled;
        self.null_tokens.extend(&other.null_tokens);
        self.nulls_are_text |= other.nulls_are_text;
        self.undecided = self.undecided.take().or_else(|| other.undecided.clone());
    }
}

/// The lines of a text that belong to no row, by kind, so that every line is accounted for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// Lines before the header, or before the first row if there is no header: titles, notes.
    pub preamble: u64,
    /// Header lines.
    pub header: u64,
    /// Comment lines.
    pub comments: u64,
    /// Empty lines.
    pub blank: u64,
    /// Lines after the last row that were to be skipped.
    pub footer: u64,
}

impl AddAssign for SkippedLines {
    fn add_assign(&mut self, other: Self) {
        self.preamble += other.preamble;
        self.header += other.header;
        self.comments += other.comments;
        self.blank += other.blank;
        self.footer += other.footer;
    }
}

/// Statistics of sets of rows (mostly runs) that all match the predicate. No row is null in a column of the projection.
///
/// A table may have a million sets of a few dozen rows each, so statistics are stored column by column, like rows in a
/// batch, and delivered for many sets at once.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// The number of rows of each set; never 0.
    pub rows: &'a [u32],
    /// One entry per column of the projection, each with as many values as there are sets.
    pub columns: &'a [ColumnSummary<'a>],
}

/// One column of a [`Summary`].
#[derive(Debug, Clone, Copy)]
pub enum ColumnSummary<'a> {
    /// All rows of a set have the same code.
    Codes {
        /// The code of each set.
        codes: &'a [u32],
        /// The dictionary of the codes, as in [`crate::Data::Codes`].
        dictionary: &'a Dictionary,
    },
    /// The statistics of each set's numbers.
    Numbers(Numbers<'a>),
}

/// The statistics of the numbers of several sets of rows; all slices have one value per set, in the same order.
#[derive(Debug, Clone, Copy)]
pub struct Numbers<'a> {
    /// The minimum of each set.
    pub min: &'a [i64],
    /// The maximum of each set.
    pub max: &'a [i64],
    /// The sum of each set.
    pub sum: Sums<'a>,
}

/// Exact sums, in the narrower of two widths that holds them all.
#[derive(Debug, Clone, Copy)]
pub enum Sums<'a> {
    /// Every sum fits 64 bits.
    Narrow(&'a [i64]),
    /// Some sum may not fit 64 bits.
    Wide(&'a [i128]),
}

impl Numbers<'_> {
    /// The number of sets; `None` if the slices differ in length.
    #[must_use]
    pub fn sets(&self) -> Option<usize> {
        let sums = match self.sum {
            Sums::Narrow(sums) => sums.len(),
            Sums::Wide(sums) => sums.len(),
        };
        (self.min.len() == self.max.len() && self.min.len() == sums).then_some(sums)
    }

    /// The statistics of one set, which has `rows` rows.
    ///
    /// # Panics
    /// If `set` is not below [`Numbers::sets`].
    #[must_use]
    pub fn get(&self, set: usize, rows: u32) -> Statistics {
        let sum = match self.sum {
            Sums::Narrow(sums) => sums[set].into(),
            Sums::Wide(sums) => sums[set],
        };
        Statistics { count: rows.into(), sum, min: self.min[set], max: self.max[set] }
    }
}

/// Receives the rows of a scan.
pub trait Sink {
    /// Sets the schema of the rows that follow. Called before the rows of each split if types are inferred, never if
    /// the schema is fixed. The types are no wider than those of [`Table::inferred`] after the scan.
    ///
    /// # Errors
    /// [`Error::Widened`] if the sink cannot accept rows of these types.
    fn schema(&mut self, _schema: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    /// Receives some rows.
    ///
    /// # Errors
    /// Any error of the sink; the scan stops and returns it.
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()>;

    /// Evaluates one of [`ScanOptions::conjuncts`] on a `batch` of its columns and clears the bits of the rows that do
    /// not satisfy it: bit `r % 64` of `rows[r / 64]` belongs to row `r`. Returns the number of bits still set.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn test(&mut self, _conjunct: usize, _batch: &Batch<'_>, _rows: &mut [u64]) -> Result<usize> {
        unreachable!("the request has no conjuncts")
    }

    /// Whether [`Sink::tested`] reads the column at this position of the projection. Other columns, needed by conjuncts
    /// only, may have no values there.
    fn wants(&self, _position: usize) -> bool {
        true
    }

    /// Announces that the codes in later batches of [`Sink::test`] belong to a different dictionary. Codes in all other
    /// batches keep their meaning.
    fn forget_codes(&mut self) {}

    /// Receives rows that satisfy all [`ScanOptions::conjuncts`]: those whose bits are set, or the whole batch if
    /// `None`.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn tested(&mut self, _batch: &Batch<'_>, _rows: Option<&[u64]>) -> Result<()> {
        unreachable!("the request has no conjuncts")
    }

    /// Receives (value, count) rows: row `r` stands for `weights[r]` equal rows, at least one. Called only if
    /// [`ScanOptions::counts`] is set.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn weighted(&mut self, _batch: &Batch<'_>, _weights: &[u32]) -> Result<()> {
        unreachable!("the request does not allow weighted rows")
    }

    /// Receives summaries instead of rows. Called only if [`ScanOptions::statistics`] or [`ScanOptions::sums`] is set.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn summary(&mut self, summary: &Summary<'_>) -> Result<()>;
}

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

    /// Why a column has type string although most of its values do not look like text; `None` if unknown. Reads all
    /// rows.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn why_text(&self, _column: usize) -> Result<Option<TextReason>> {
        Ok(None)
    }

    /// Gives type string to the columns in which null tokens were read as null. Returns whether there are any.
    fn read_nulls_as_text(&self) -> bool {
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

    /// The size of the file in bytes, if it has one; the total for progress displays.
    fn bytes(&self) -> Option<u64>;

    /// Whether a scan reads only the projected columns, so that reading few columns costs less than reading all.
    fn reads_by_column(&self) -> bool {
        false
    }

    /// The split at `index`, or `None` after the last. A stream does not know its end: it always returns a split, and
    /// [`Scanner::scan`] reports the end. So only a scan may loop until `None`; use `known_by_split` for the statistics
    /// of all splits.
    fn split(&self, index: u64) -> Option<Split>;

    /// The number of rows of a split, if the file stores it.
    fn rows_of(&self, _split: u64) -> Option<u64> {
        None
    }

    /// The statistics of a column in a split, available before it is read.
    fn known(&self, _split: u64, _column: usize) -> Known<'_> {
        Known::NOTHING
    }

    /// The statistics of a column over the whole table, available before it is read.
    fn known_totals(&self, _column: usize) -> ColumnTotals {
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
    /// it yields [`Known::NOTHING`]: a stream has no last split.
    pub fn known_by_split(&self, column: usize) -> impl Iterator<Item = Known<'_>> {
        let (mut next, mut is_known) = (0, true);
        std::iter::from_fn(move || {
            let split = is_known.then(|| self.split(next)).flatten()?.index;
            next += 1;
            is_known = self.rows_of(split).is_some();
            Some(if is_known { self.known(split, column) } else { Known::NOTHING })
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

/// Scans splits for one worker. Codes keep their meaning for the lifetime of the scanner.
pub trait Scanner: Send {
    /// Delivers the rows of a split to `sink`. Returns `None` if a stream ended before the split began.
    ///
    /// # Errors
    /// Unreadable or malformed content, and errors of the sink.
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError>;

    /// Called once after the last split: delivers what the scanner has held back, such as the sums of pre-aggregated
    /// rows if [`ScanOptions::sums`] is set.
    ///
    /// # Errors
    /// Errors of the sink.
    fn finish(&mut self, _sink: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

/// Why the scan of a split failed. The line of a bad row is relative to the split; [`scan`](crate::scan()), which knows
/// the lines of earlier splits, turns it into an [`Error`].
#[derive(Debug)]
pub enum ScanError {
    /// A row does not fit the schema.
    BadRow {
        /// The number of lines of the split before the row.
        line_in_split: u64,
        /// The offset in the file at which the row starts, in bytes.
        byte: u64,
        /// The position of the column at fault, if one is.
        column: Option<usize>,
        /// What is wrong with the row.
        fault: RowFault,
    },
    /// The split has values that do not fit the inferred types, which the table has widened in the meantime. The caller
    /// must discard the rows received from the split and scan it again. Types only ever widen, so this ends.
    Widened,
    /// Any other error.
    Other(Error),
}

impl From<Error> for ScanError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// One encoded split: bytes of the output file, and metadata for the writer.
pub struct Part {
    /// The number of rows.
    pub rows: u64,
    /// The bytes, exactly as they go into the file.
    pub bytes: Vec<u8>,
    /// Positions in `bytes`, in ascending order, at which a reader can start; always between two rows. A compressor
    /// splits the part there. Empty if the encoding compresses its own blocks.
    pub cuts: Vec<Cut>,
    /// Metadata for [`BatchWriter::append`]; private to the encoding.
    pub meta: Box<dyn Any + Send>,
    /// The memory that `meta` takes in bytes, if it is large.
    pub meta_bytes: usize,
}

impl Part {
    /// Moves the memory of written bytes to `buffer`, if that is empty and has less capacity.
    pub fn recycle(mut written: Vec<u8>, buffer: &mut Vec<u8>) {
        if buffer.is_empty() && written.capacity() > buffer.capacity() {
            written.clear();
            *buffer = written;
        }
    }
}

/// A position between two rows of a [`Part`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of bytes of the part before it.
    pub at: usize,
    /// The number of rows of the part before it.
    pub rows: u64,
}

/// Encodes one split at a time for one worker. It never receives summaries.
pub trait PartEncoder: Sink + Send {
    /// Starts the part with this index, counted from 0 in file order, parts without rows included. An encoding may take
    /// what it learns from the first part for all others, which then wait for it. So a worker that begins the first
    /// part must call [`finish`](PartEncoder::finish) or [`skip`](PartEncoder::skip).
    fn begin(&mut self, _part: u64) {}

    /// Drops the current part: it has no rows, or they cannot be read.
    fn skip(&mut self) {}

    /// Ends the part that consists of the batches since the last call.
    ///
    /// # Errors
    /// If the rows cannot be encoded.
    fn finish(&mut self) -> Result<Part>;

    /// Returns what is already finished of the current part as a part of its own, if it has become large, so that
    /// memory stays bounded even where a split has large rows. The file's bytes are the same as without the call.
    ///
    /// # Errors
    /// If the rows cannot be encoded.
    fn overflow(&mut self) -> Result<Option<Part>> {
        Ok(None)
    }

    /// Takes back the bytes of a written part so that the next part can reuse their memory. Reusing memory costs less
    /// than page faults on fresh memory.
    fn recycle(&mut self, _bytes: Vec<u8>) {}
}

/// Assembles the parts of a file. The caller writes the bytes: first those of [`BatchWriter::start`], then those of the
/// parts in the order in which they were appended, then those of [`BatchWriter::finish`].
pub trait BatchWriter: Send {
    /// Creates an encoder for one worker.
    fn encoder(&self) -> Box<dyn PartEncoder>;

    /// The file offset of the first byte; not 0 if the writer appends to an existing file.
    fn begins_at(&self) -> u64 {
        0
    }

    /// The first bytes of the file.
    fn start(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Registers the next part; the caller writes its bytes.
    ///
    /// # Errors
    /// If the file would exceed a limit of the encoding.
    fn append(&mut self, _part: &mut Part) -> Result<()> {
        Ok(())
    }

    /// The writer as one that can replace columns; `None` if parts are stored row by row.
    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        None
    }

    /// A one-line note for the user about the finished file, available once all parts are appended.
    fn remark(&self) -> Option<String> {
        None
    }

    /// The last bytes of the file.
    ///
    /// # Errors
    /// If the file would exceed a limit of the encoding.
    fn finish(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// A [`BatchWriter`] whose parts store each column separately. If inferred types widen while a table is written, only
/// the columns with new types in the parts with old types are replaced; the file becomes identical to one written with
/// the wider types from the start.
pub trait ColumnarWriter: Send {
    /// Creates an encoder for these columns of a schema that has the writer's columns in other types.
    ///
    /// # Errors
    /// [`Error::Usage`] if the encoding does not support the types.
    fn encoder_of(&self, schema: &Schema, columns: &[usize]) -> Result<Box<dyn PartEncoder>>;

    /// Whether the stored form of a column of that type depends on earlier parts. If so, replacing it in one part
    /// requires replacing it in all.
    fn spans_parts(&self, _logical_type: LogicalType) -> bool {
        false
    }

    /// The column whose values determine the stored order of rows, if there is one. It must always be encoded again
    /// together with the replaced columns, and must not itself have a new type.
    fn orders_rows(&self) -> Option<usize> {
        None
    }

    /// Announces that parts encoded from now on [replace](ColumnarWriter::replace) existing ones.
    fn begin_replacing(&mut self) {}

    /// Takes these columns of the `part`-th appended part (from 0) from `made` instead. The caller writes the bytes of
    /// `made` after all others.
    ///
    /// # Errors
    /// If the number of rows differs, or the file would exceed a limit of the encoding.
    fn replace(&mut self, part: u64, columns: &[usize], made: &mut Part) -> Result<()>;

    /// Sets the final schema, before [`BatchWriter::finish`]. Returns the ranges of the bytes written so far that make
    /// up the file, in file order; the caller drops all others.
    ///
    /// # Errors
    /// If a column whose type widened was not replaced in all parts.
    fn rearrange(&mut self, schema: &Schema) -> Result<Vec<Range<u64>>>;
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

        fn known(&self, _: u64, _: usize) -> Known<'_> {
            Known::string(b"name")
        }

        fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
            Err(Error::Usage("nobody scans it".to_owned()))
        }
    }

    #[test]
    fn known_by_split_ends_at_an_unknown_row_count() {
        for known in [0, 3] {
            let table = Endless { schema: Schema::parse("a:string").unwrap(), known, calls: AtomicU64::new(0) };
            let table: &dyn Table = &table;
            let nulls: Vec<bool> = table.known_by_split(0).map(|known| known.nulls).collect();
            assert_eq!(nulls, [vec![false; known as usize], vec![true]].concat());
        }
    }
}
