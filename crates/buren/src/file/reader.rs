//! An open file with a checked footer.
//!
//! A footer has several hundred bytes per chunk, but most queries read few columns. So the chunks of a column are
//! parsed and checked on first use.

use super::footer::{Chunk, Footer, RowGroup, StoredColumn};
use super::footer_check;
use super::footer_message::{self, Problem};
use super::scanner::{FileScanner, statistics};
use super::shared_dictionary::SharedDictionary;
use crate::block::Source;
use crate::envelope::Envelope;
use crate::location::Location;
use brc_core::{ColumnStatistics, ColumnTotals, Error, ReadAt, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A buren file that is open for reading.
///
/// Opening reads the footer only. Split *i* of the table is row group *i*.
pub struct Reader {
    path: PathBuf,
    file: Box<dyn ReadAt>,
    pub(super) file_bytes: u64,
    pub(super) footer_bytes: u64,
    footer_offset: u64,
    /// The bytes of the footer.
    words: Vec<capnp::Word>,
    pub(super) footer: Footer,
    /// The columns parsed so far; after the table's columns, the order streams and the run lengths.
    columns: Vec<OnceLock<Result<StoredColumn, Problem>>>,
    /// The number of blocks in the parsed columns.
    blocks: AtomicUsize,
    /// The shared dictionary of each column.
    pub(super) dictionaries: Vec<SharedDictionary>,
}

impl Reader {
    /// Opens a file and checks its footer; `path` names the file in messages. The footer's entries for a column are
    /// checked when the column is first used, and by [`Reader::verify`].
    ///
    /// # Errors
    /// If the file cannot be read, is not a buren file or has a newer version, or its footer is damaged.
    pub fn open(file: impl ReadAt + 'static, path: &Path) -> Result<Self> {
        let envelope = Envelope::open(Box::new(file), path)?;
        let Envelope { file, path, file_bytes, footer_bytes, footer_offset, footer: words } = envelope;
        let mut footer = footer_message::read(&words).map_err(|problem| problem.of(&path))?;
        let checked = footer_check::check(&mut footer, footer_offset);
        checked.map_err(|reason| Error::corrupt(&path, "footer", reason))?;
        let columns = (0..=footer.run_lengths()).map(|_| OnceLock::new()).collect();
        let dictionaries = footer.dictionaries.iter().map(|_| SharedDictionary::default()).collect();
        let blocks = AtomicUsize::new(0);
        Ok(Self { path, file, file_bytes, footer_bytes, footer_offset, words, footer, columns, blocks, dictionaries })
    }

    /// The checked chunks of a column, the order streams or the run lengths. `number` must be in range.
    ///
    /// # Errors
    /// If the footer's entries for it are damaged.
    pub(super) fn column(&self, number: usize) -> Result<&StoredColumn> {
        let read = || {
            let mut column = footer_message::read_column(&self.words, number)?;
            // Each block takes at least a word, which limits the memory for all of them.
            let blocks: usize = column.all_chunks().map(Chunk::stored_blocks).sum();
            if self.blocks.fetch_add(blocks, Relaxed).saturating_add(blocks) > self.words.len() {
                return Err(Problem::malformed("its columns have blocks in common"));
            }
            let checked = footer_check::check_column(&mut column, &self.footer, self.footer_offset);
            checked.map(|()| column).map_err(Problem::Malformed)
        };
        self.columns[number].get_or_init(read).as_ref().map_err(|problem| problem.of(&self.path))
    }

    /// The chunks of a column, if they have been read and are valid.
    pub(super) fn loaded_column(&self, number: usize) -> Option<&StoredColumn> {
        self.columns[number].get()?.as_ref().ok()
    }

    /// The chunk of a column; `None` if its entry in the footer is damaged, which is reported when it is read.
    pub(super) fn chunk(&self, row_group: usize, column: usize) -> Option<&Chunk> {
        let column = if column < self.columns.len() { self.column(column).ok()? } else { return None };
        column.chunks.get(row_group)
    }

    /// All columns, followed by the order streams and the run lengths.
    ///
    /// # Errors
    /// If any part of the footer is damaged.
    pub(super) fn all_columns(&self) -> Result<Vec<&StoredColumn>> {
        let columns = (0..self.columns.len()).map(|number| self.column(number)).collect::<Result<Vec<_>>>()?;
        let checked = footer_check::check_whole(&self.footer, &columns, self.footer_offset);
        checked.map(|()| columns).map_err(|reason| Error::corrupt(&self.path, "footer", reason))
    }

    /// User metadata, by key.
    #[must_use]
    pub fn metadata(&self) -> &[(String, Vec<u8>)] {
        &self.footer.metadata
    }

    /// The size of the footer and everything after it, in bytes.
    pub(super) fn end_bytes(&self) -> u64 {
        self.file_bytes - self.footer_offset
    }

    pub(super) fn row_group(&self, index: usize) -> &RowGroup {
        &self.footer.row_groups[index]
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { file: self.file.as_ref(), path: &self.path, compression: self.footer.compression }
    }

    pub(super) fn corrupt(&self, location: Location<'_>, reason: impl ToString) -> Error {
        Error::corrupt(&self.path, location.to_string(), reason.to_string())
    }
}

impl Table for Reader {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.footer.schema
    }

    fn reads_by_column(&self) -> bool {
        true
    }

    fn rows(&self) -> Option<u64> {
        Some(self.footer.rows)
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.file_bytes)
    }

    fn split(&self, index: u64) -> Option<Split> {
        (index < self.footer.row_groups.len() as u64).then_some(Split { index, start: index, end: index + 1 })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        self.footer.row_groups.get(usize::try_from(split).ok()?).map(|row_group| row_group.rows.into())
    }

    fn statistics(&self, split: u64, column: usize) -> ColumnStatistics<'_> {
        usize::try_from(split).map_or(ColumnStatistics::UNKNOWN, |split| self.statistics_of(split, column))
    }

    fn column_totals(&self, column: usize) -> ColumnTotals {
        let Some(Ok(stored)) = (column < self.footer.schema.fields().len()).then(|| self.column(column)) else {
            return ColumnTotals::default();
        };
        let mut sums = stored.chunks.iter().map(|chunk| statistics(chunk).map(|(_, _, sum)| sum));
        let sum = sums.try_fold(0i128, |all, sum| all.checked_add(sum?));
        ColumnTotals {
            nulls: Some(stored.chunks.iter().map(|chunk| u64::from(chunk.nulls)).sum()),
            sum,
            distinct: self.cardinality(stored).map(u64::from),
        }
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let mut used = options.projection.clone();
        if let Some(predicate) = &options.predicate {
            predicate.columns(&mut used);
        }
        let columns = self.footer.order_streams();
        if let Some(column) = used.iter().find(|&&column| column >= columns) {
            return Err(Error::Usage(format!("there is no column {column}: the table has {columns}")));
        }
        used.iter().try_for_each(|&column| self.column(column).map(drop))?;
        Ok(Box::new(FileScanner::new(self, options.clone())?))
    }
}
