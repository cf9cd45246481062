//! The traits between encodings and the code that reads or writes tables.
//!
//! Reading: a [`Table`] lists its [`Split`]s; each worker has its own [`Scanner`] and scans one split after the other
//! into its own [`Sink`]. Writing: each worker has a [`PartEncoder`], which is a sink and encodes one split as one
//! [`Part`]; one [`BatchWriter`] appends the parts in the order of the splits. Both sides run in parallel, and the
//! output does not depend on the number of workers.

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
use std::path::Path;
use std::sync::Arc;

/// A part of a table that one worker scans. Plain data: it may travel to another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Its position among the splits, from 0.
    pub index: u64,
    /// Where it starts: a byte of a text file, a row group of a buren file. The encoding's own business.
    pub start: u64,
    /// Where it ends (exclusive), in the same unit.
    pub end: u64,
}

/// Whether a scan must deliver rows as they lay in the original table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Any order inside a split: the cheapest one.
    Any,
    /// The original order inside a split.
    Original,
}

/// What a scan should deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanOptions {
    /// The columns wanted, as positions in the schema; batches have them in this order.
    pub projection: Vec<usize>,
    /// Rows for which this is false may be left out. The sink filters exactly; this only lets the scan skip.
    pub predicate: Option<Predicate>,
    /// All conditions on wanted rows, the one to test first ahead. A scan that decodes column by column may ask the sink
    /// about each ([`Sink::test`]) before it decodes the columns of the next; any other leaves them to the sink.
    pub conjuncts: Vec<Conjunct>,
    /// Whether statistics that are stored in the file may stand for rows that all match the predicate: they reach
    /// [`Sink::summary`].
    pub statistics: bool,
    /// Whether a row may stand for many equal ones, where the file tells how often each value occurs: such rows reach
    /// [`Sink::weighted`]. Those of a split are then others than those that lie there, and no predicate has left out any.
    pub counts: bool,
    /// Whether rows that are read may be added up in the scan: what they come to reaches [`Sink::summary`].
    pub sums: bool,
    /// In which order rows must come.
    pub order: Order,
    /// The splits to scan, in ascending order; all of the table's if `None`.
    pub splits: Option<Vec<Split>>,
}

/// One of the conditions that a wanted row meets all of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conjunct {
    /// The columns that it looks at, as positions in the schema. They are in the projection too. If there is none, it may depend
    /// on how many rows came before: it is tested of rows in the order in which they are delivered.
    pub columns: Vec<usize>,
    /// The condition, if it only compares columns with constants: rows that are known to meet it need no test.
    pub predicate: Option<Predicate>,
}

impl ScanOptions {
    /// The `n`-th split of a table to scan, from 0; `None` after the last.
    #[must_use]
    pub fn split(&self, table: &dyn Table, n: u64) -> Option<Split> {
        match &self.splits {
            Some(splits) => splits.get(usize::try_from(n).ok()?).copied(),
            None => table.split(n),
        }
    }

    /// The splits of a table to scan that come after one of them, as far as the table knows them.
    pub fn later_splits<'s>(&'s self, table: &'s dyn Table, split: u64) -> impl Iterator<Item = u64> + 's {
        let first = match &self.splits {
            Some(splits) => splits.partition_point(|other| other.index <= split) as u64,
            None => split.saturating_add(1),
        };
        (first..).map_while(|n| self.split(table, n)).map(|split| split.index)
    }

    /// All rows of all columns of a schema in their original order, as a conversion wants them.
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

/// What a scan of one split did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Rows read and delivered in batches, or added up until [`Scanner::finish`].
    pub rows: u64,
    /// Rows for which a summary stood, or counts of values.
    pub summarised_rows: u64,
    /// Rows skipped because they cannot match the predicate.
    pub skipped_rows: u64,
    /// Rows left out because they are malformed (text only; they are in `rejects`).
    pub rejects: Rejects,
    /// Lines of a text that are not rows.
    pub skipped_lines: SkippedLines,
    /// The lines of a text, where rows may be of several lines or lines no rows; `None` where each line is a row.
    pub lines: Option<u64>,
    /// Bytes read from the file.
    pub bytes: u64,
    /// Time spent reading.
    pub read_time: std::time::Duration,
    /// Time spent on decompression.
    pub decompress_time: std::time::Duration,
    /// Time spent on checksums and decoding (or parsing), without the sink.
    pub decode_time: std::time::Duration,
}

impl Scanned {
    /// All rows the scan accounted for, whatever became of them.
    #[must_use]
    pub fn all_rows(&self) -> u64 {
        self.rows + self.summarised_rows + self.skipped_rows + self.rejects.len()
    }

    /// The lines of a text.
    #[must_use]
    pub fn all_lines(&self) -> u64 {
        self.lines.unwrap_or_else(|| self.all_rows())
    }
}

/// Why a column is of strings, although its values look like those of another type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextReason {
    /// Some values have another type than most.
    Others {
        /// The first of these values.
        value: Vec<u8>,
        /// How many they are.
        others: u64,
        /// How many values there are, without nulls.
        values: u64,
        /// The line on which the first begins, from 1.
        line: u64,
        /// The type of all the rest.
        expected: LogicalType,
        /// Whether the rest is written as this type is in SQL.
        is_usual: bool,
    },
    /// The values are numbers, or dates and times, that are not all written in the same way.
    SeveralForms {
        /// The first value.
        first: Vec<u8>,
        /// The first one that is written differently.
        other: Vec<u8>,
    },
    /// The values are numbers, or dates and times, that can be read in two ways.
    Undecided {
        /// How they may be written.
        forms: [String; 2],
        /// The options of which each reads them in one of these ways.
        options: [String; 2],
    },
}

impl TextReason {
    /// A sentence that says it of a column of that name, and what helps.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        let (column, named) = (identifier::in_sql(name), identifier::in_list(name));
        match self {
            Self::Others { value, others, values, line, expected, is_usual } => {
                let value = String::from_utf8_lossy(value);
                let [others, values, line] = [others, values, line].map(|number| decimal::with_thousands(*number));
                let cast = if *is_usual { format!("try_cast({column} as {expected}), or ") } else { String::new() };
                format!(
                    "'{name}' is text because of '{value}' ({others} of {values} values, line {line}); use {cast}--type \
                     '{named}={expected}' --rejects FILE"
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

/// How the values of a column differ from the text that they were read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChanges {
    /// How many will be written in another way: `1e5` as `100000.0`, but not `1.5` as `1.50`.
    pub altered: u64,
    /// The first of these: as it was written, and as it will be.
    pub example: Option<(Vec<u8>, Vec<u8>)>,
    /// How many are null because they are words for missing values, although no one said that these are null.
    pub nulled: u64,
    /// These words.
    pub null_tokens: BTreeSet<&'static str>,
    /// Why the values are text, if they may be read in two ways.
    pub undecided: Option<TextReason>,
}

impl AddAssign<&ColumnChanges> for ColumnChanges {
    fn add_assign(&mut self, other: &Self) {
        self.altered += other.altered;
        self.example = self.example.take().or_else(|| other.example.clone());
        self.nulled += other.nulled;
        self.null_tokens.extend(&other.null_tokens);
        self.undecided = self.undecided.take().or_else(|| other.undecided.clone());
    }
}

/// The lines of a text that are not rows of its table, by kind, so that every line can be accounted for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// Lines before the header, or before the first row where there is none: titles, notes.
    pub preamble: u64,
    /// The header.
    pub header: u64,
    /// Comments.
    pub comments: u64,
    /// Lines without a byte.
    pub blank: u64,
    /// Lines after the last row that were to be left out.
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

/// Sets of rows, runs mostly, that all match the predicate, each known by its statistics only. None of the rows is null in
/// a column of the projection.
///
/// There may be a million of them in a table, with some dozen rows each. So what is known lies column by column, as rows
/// do in a batch, and is handed over for many sets at once.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// The number of rows of each set; never 0.
    pub rows: &'a [u32],
    /// One for each column of the projection, with as many entries as there are sets.
    pub columns: &'a [ColumnSummary<'a>],
}

/// What a [`Summary`] tells of a column.
#[derive(Debug, Clone, Copy)]
pub enum ColumnSummary<'a> {
    /// All rows of a set have the same code.
    Codes {
        /// The code of each set.
        codes: &'a [u32],
        /// What they stand for, as in [`crate::Data::Codes`].
        dictionary: &'a Dictionary,
    },
    /// The statistics of each set's numbers.
    Numbers(Numbers<'a>),
}

/// The statistics of the numbers of several sets of rows: those of a set stand at the same place in all slices.
#[derive(Debug, Clone, Copy)]
pub struct Numbers<'a> {
    /// The smallest of each.
    pub min: &'a [i64],
    /// The largest of each.
    pub max: &'a [i64],
    /// The sum of each.
    pub sum: Sums<'a>,
}

/// Exact sums.
#[derive(Debug, Clone, Copy)]
pub enum Sums<'a> {
    /// All of them fit 64 bits.
    Narrow(&'a [i64]),
    /// At least one may not.
    Wide(&'a [i128]),
}

impl Numbers<'_> {
    /// For how many sets of rows there are statistics; `None` if the slices are not equally long.
    #[must_use]
    pub fn sets(&self) -> Option<usize> {
        let sums = match self.sum {
            Sums::Narrow(sums) => sums.len(),
            Sums::Wide(sums) => sums.len(),
        };
        (self.min.len() == self.max.len() && self.min.len() == sums).then_some(sums)
    }

    /// The statistics of one set, which has so many rows.
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

/// Takes what a scan delivers.
pub trait Sink {
    /// Tells the columns of the table as the rows to come have them: before the rows of each split where types are inferred,
    /// never where the schema is known beforehand. They are no wider than those of [`Table::inferred`] at the end.
    ///
    /// # Errors
    /// [`Error::Widened`] if the sink takes rows of other types only.
    fn schema(&mut self, _schema: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    /// Takes some rows.
    ///
    /// # Errors
    /// What goes wrong with them; the scan stops and hands the error on.
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()>;

    /// Tests which rows meet one of [`ScanOptions::conjuncts`], of which `batch` has the columns: clears the bits of those
    /// that do not. Returns how many are left.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn test(&mut self, _conjunct: usize, _batch: &Batch<'_>, _rows: &mut [u64]) -> Result<usize> {
        unreachable!("nobody asked for rows that meet conditions")
    }

    /// Whether [`Sink::tested`] looks at the column of its batches that has this position. Any other may have no values: it is
    /// wanted for conditions only.
    fn wants(&self, _position: usize) -> bool {
        true
    }

    /// Tells that codes in the batches of [`Sink::test`] have a different meaning from now on: they are of a different table.
    /// Codes in all other batches keep theirs.
    fn forget_codes(&mut self) {}

    /// Takes rows that met all [`ScanOptions::conjuncts`]: of the batch those whose bits are set, or all of them.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn tested(&mut self, _batch: &Batch<'_>, _rows: Option<&[u64]>) -> Result<()> {
        unreachable!("nobody asked for rows that meet conditions")
    }

    /// Takes rows of which each stands for so many equal ones, at least one. Called only if [`ScanOptions::counts`] allowed it.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn weighted(&mut self, _batch: &Batch<'_>, _weights: &[u32]) -> Result<()> {
        unreachable!("nobody asked for rows that stand for others")
    }

    /// Takes summaries in place of rows. Called only if [`ScanOptions::statistics`] or [`ScanOptions::sums`]
    /// allowed it.
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

    /// The columns as all that was scanned so far has them, where types are inferred from the data: each is the least type
    /// that holds all values seen. `None` where [`Table::schema`] is what it is.
    ///
    /// Inference is optimistic. The table starts with the types of a sample, [`Table::schema`]; a split with a value that
    /// does not fit makes the types wider for itself and all later scans ([`ScanError::Widened`]). What was delivered in
    /// narrower types has to be read again, by whoever keeps it in a form that is not that of its text.
    fn inferred(&self) -> Option<Arc<Schema>> {
        None
    }

    /// Whether the type of a column is not known yet, though it is inferred: no value was seen, but nulls at most.
    fn is_untyped(&self, _column: usize) -> bool {
        false
    }

    /// Why a column is of strings although most of its values are not text; `None` if that is not known. Reads all rows.
    ///
    /// # Errors
    /// If they cannot be read.
    fn why_text(&self, _column: usize) -> Result<Option<TextReason>> {
        Ok(None)
    }

    /// Makes strings of the columns in which words for missing values were read as null. Returns whether there are any.
    fn read_nulls_as_text(&self) -> bool {
        false
    }

    /// Whether rows that were not read yet may have more columns than those of [`Table::inferred`].
    fn may_gain_columns(&self) -> bool {
        false
    }

    /// How the values of each column differ from the text that they were read from. Counts all rows that were scanned so
    /// far, by those scans that delivered them in the types of [`Table::inferred`]; empty where the file is no text.
    fn changes(&self) -> Vec<ColumnChanges> {
        Vec::new()
    }

    /// The number of rows, where the file tells it.
    fn rows(&self) -> Option<u64>;

    /// The size of the file in bytes, where there is one: what progress is measured against.
    fn bytes(&self) -> Option<u64>;

    /// Whether a scan reads only the columns that it is asked for, so that to scan some of them costs a part of all.
    fn reads_by_column(&self) -> bool {
        false
    }

    /// The split of that index, or `None` after the last. A stream does not know its end: it always gives a split, and
    /// [`Scanner::scan`] tells the end. So only a scan may loop until `None`; statistics of all splits come from
    /// `known_by_split`.
    fn split(&self, index: u64) -> Option<Split>;

    /// How many rows a split has, where the file tells it.
    fn rows_of(&self, _split: u64) -> Option<u64> {
        None
    }

    /// What is known of the values of a column in a split before it is read.
    fn known(&self, _split: u64, _column: usize) -> Known<'_> {
        Known::NOTHING
    }

    /// What is known of a column in all rows of the table, before they are read.
    fn known_totals(&self, _column: usize) -> ColumnTotals {
        ColumnTotals::default()
    }

    /// All strings of a column, where they are known before its rows: then all of these come as codes of that dictionary.
    fn dictionary(&self, _column: usize) -> Option<&Dictionary> {
        None
    }

    /// The file that a split is of, where the table is made of other tables: what messages name in its place.
    fn file_of(&self, _split: u64) -> Option<TableFile<'_>> {
        None
    }

    /// How many lines of a text stand before its first row, and are no rows.
    fn header_lines(&self) -> u64 {
        0
    }

    /// The lines outside the rows that a scan reads: before the first row and after the last. Scans count the others
    /// ([`Scanned::skipped_lines`]).
    fn skipped_lines(&self) -> SkippedLines {
        SkippedLines::default()
    }

    /// What a user should know about how the table was opened, such as columns that were renamed: each a sentence that
    /// names no file.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What is wrong with a row that was rejected, and the position of the column at fault, if one is; `None` where rows
    /// are never rejected.
    fn explain(&self, _row: &[u8]) -> Option<(Option<usize>, RowFault)> {
        None
    }

    /// A scanner for one worker.
    ///
    /// # Errors
    /// If the table cannot deliver what the options ask.
    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>>;
}

impl dyn Table + '_ {
    /// What is known of the values of a column, split by split. Where a split does not know its number of rows, nothing is
    /// known of it and of those after it, and the iteration ends: a stream has splits without end.
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

/// What a file tells of all values of a column, besides their bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColumnTotals {
    /// How many rows are null.
    pub nulls: Option<u64>,
    /// The exact sum of its integers or decimals, in units of the column's scale.
    pub sum: Option<i128>,
    /// How many different values there are, at least about: values may be counted of which no row is left.
    pub distinct: Option<u64>,
}

/// One of the files that a table is made of.
#[derive(Clone, Copy)]
pub struct TableFile<'a> {
    /// The file as a table of its own.
    pub table: &'a dyn Table,
    /// Its first split, as the table of all files numbers them.
    pub first_split: u64,
}

/// Scans splits for one worker. Codes keep their meaning as long as the scanner lives.
pub trait Scanner: Send {
    /// Delivers the rows of a split to `sink`; `None` if a stream ended before the split began.
    ///
    /// # Errors
    /// Unreadable or malformed content, or what the sink returned.
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError>;

    /// Called once behind the last split: delivers what the scanner has kept back. If [`ScanOptions::sums`] allows it, rows
    /// may be added up while they are read, and only what they come to be delivered.
    ///
    /// # Errors
    /// What the sink returned.
    fn finish(&mut self, _sink: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

/// Why a scan of a split failed. A bad row's line is only known in relation to the split: whoever knows the lines of the
/// splits before turns it into an [`Error`].
#[derive(Debug)]
pub enum ScanError {
    /// A row does not fit the schema.
    BadRow {
        /// How many lines of the split stand before it.
        line_in_split: u64,
        /// The byte of the file at which the row starts.
        byte: u64,
        /// The position of the column at fault, if one is.
        column: Option<usize>,
        /// What is wrong with it.
        fault: RowFault,
    },
    /// The split has values that the inferred types did not hold. The table has widened them by now. Whoever took rows of
    /// the split forgets them and scans it again; types can only become wider, so that has an end.
    Widened,
    /// Anything else.
    Other(Error),
}

impl From<Error> for ScanError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// One split, encoded: some bytes of the file to be, and what the writer must remember of them.
pub struct Part {
    /// The number of rows.
    pub rows: u64,
    /// The bytes as they will lie in the file.
    pub bytes: Vec<u8>,
    /// Where a reader may begin behind the start of `bytes`, in ascending order: only between whole rows. Whoever
    /// compresses the part cuts it there. Empty if the encoding compresses its own blocks.
    pub cuts: Vec<Cut>,
    /// What [`BatchWriter::append`] needs to know; private to the encoding.
    pub meta: Box<dyn Any + Send>,
    /// How many bytes of memory that takes, if they are many.
    pub meta_bytes: usize,
}

impl Part {
    /// Makes the memory of bytes that were written that of `buffer`, unless something is in it or it has more.
    pub fn recycle(mut written: Vec<u8>, buffer: &mut Vec<u8>) {
        if buffer.is_empty() && written.capacity() > buffer.capacity() {
            written.clear();
            *buffer = written;
        }
    }
}

/// A place between two rows of a [`Part`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many bytes of the part lie before it.
    pub at: usize,
    /// How many rows of the part lie before it.
    pub rows: u64,
}

/// Encodes the rows of one split after the other for one worker. A sink never gets summaries when encoding.
pub trait PartEncoder: Sink + Send {
    /// Tells which part the next batches are of: parts are counted from 0 in the order of the file, also those without rows.
    /// What an encoding finds out from the first part may serve the others, which wait for it then; so whoever begins the
    /// first part must [finish](PartEncoder::finish) or [skip](PartEncoder::skip) it.
    fn begin(&mut self, _part: u64) {}

    /// Tells that the part at hand does not come: it has no rows, or they cannot be read.
    fn skip(&mut self) {}

    /// Closes the part that the batches since the last call make up.
    ///
    /// # Errors
    /// If the rows cannot be encoded.
    fn finish(&mut self) -> Result<Part>;

    /// Gives away what is finished of the part already, as a part of its own, if that has become large: memory must not
    /// grow with a split, which may be small itself and have large rows. What is written is the same as without.
    ///
    /// # Errors
    /// If the rows cannot be encoded.
    fn overflow(&mut self) -> Result<Option<Part>> {
        Ok(None)
    }

    /// Takes the bytes of a part that was written, for the next part to use their memory. Memory that a thread has in use
    /// costs less than that which it gets anew from the system, page by page.
    fn recycle(&mut self, _bytes: Vec<u8>) {}
}

/// Puts the parts of a file together. The caller writes the bytes: first [`BatchWriter::start`]'s, then the parts' in
/// the order in which they were appended, then [`BatchWriter::finish`]'s.
pub trait BatchWriter: Send {
    /// An encoder for one worker.
    fn encoder(&self) -> Box<dyn PartEncoder>;

    /// Where the first byte goes: behind what is there already, where a file is continued.
    fn begins_at(&self) -> u64 {
        0
    }

    /// The first bytes of the file.
    fn start(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes note of the next part. Its bytes are the caller's to write.
    ///
    /// # Errors
    /// If the file would outgrow what the encoding can hold.
    fn append(&mut self, _part: &mut Part) -> Result<()> {
        Ok(())
    }

    /// The writer as one whose columns can be replaced; `None` if the rows of a part lie one behind the other.
    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        None
    }

    /// What whoever has the file written should know of it, once all parts are there: a line, if there is anything.
    fn remark(&self) -> Option<String> {
        None
    }

    /// The last bytes of the file.
    ///
    /// # Errors
    /// If the file would outgrow what the encoding can hold.
    fn finish(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// A [`BatchWriter`] of parts in which each column lies by itself. So a table whose inferred types turn out wider while it is
/// written need not be encoded again: just the columns of just the parts that were in narrower types are replaced, and the
/// file becomes the one that the wider types would have made from the start.
pub trait ColumnarWriter: Send {
    /// An encoder of these columns of a schema, which has the writer's columns in other types.
    ///
    /// # Errors
    /// [`Error::Usage`] if the encoding does not support the types.
    fn encoder_of(&self, schema: &Schema, columns: &[usize]) -> Result<Box<dyn PartEncoder>>;

    /// Whether what is stored of a column of that type depends on the parts before: if it is replaced in one part, then in all
    /// of them, from the first on.
    fn spans_parts(&self, _logical_type: LogicalType) -> bool {
        false
    }

    /// The column by which rows lie in another order than that in which they came, if there is one: it is always to be made again
    /// with others, for where their rows lie. It must not have become wider itself.
    fn orders_rows(&self) -> Option<usize> {
        None
    }

    /// Tells that parts made from now on will [replace](ColumnarWriter::replace) others.
    fn begin_replacing(&mut self) {}

    /// Takes note that these columns of the part that was appended as the `part`-th, from 0, are those of `made` instead. Its
    /// bytes are the caller's to write, behind all others.
    ///
    /// # Errors
    /// If the part has other rows, or the file would outgrow what the encoding can hold.
    fn replace(&mut self, part: u64, columns: &[usize], made: &mut Part) -> Result<()>;

    /// Tells, before [`BatchWriter::finish`], which columns the table turned out to have. Returns which of the bytes written
    /// so far the file consists of, in their order: the caller leaves out all others.
    ///
    /// # Errors
    /// If a column that turned out wider was not replaced in all parts.
    fn rearrange(&mut self, schema: &Schema) -> Result<Vec<Range<u64>>>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Splits without end, of which the first few know their rows.
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
    fn what_is_known_of_splits_ends_where_they_do_not_know_their_rows() {
        for known in [0, 3] {
            let table = Endless { schema: Schema::parse("a:string").unwrap(), known, calls: AtomicU64::new(0) };
            let table: &dyn Table = &table;
            let nulls: Vec<bool> = table.known_by_split(0).map(|known| known.nulls).collect();
            assert_eq!(nulls, [vec![false; known as usize], vec![true]].concat());
        }
    }
}
