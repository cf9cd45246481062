//! Reads a file.

use crate::description::FileDescription;
use crate::envelope::Envelope;
use crate::file;
use brc_core::{ColumnTotals, Known, Progress, ReadAt, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::path::Path;

/// A buren file that is open for reading.
///
/// Opening reads the footer only. Split *i* of the table is row group *i*.
pub struct Reader(file::Reader);

/// What was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// Rows.
    pub rows: u64,
    /// Row groups.
    pub row_groups: u64,
    /// Blocks whose checksum was tested.
    pub blocks: u64,
    /// The size of the file in bytes, every one of which was looked at.
    pub bytes: u64,
}

impl Reader {
    /// Opens a file and checks its footer; `path` is its name for messages. What the footer says of a column is checked when
    /// the column is first asked for, and by [`Reader::verify`].
    ///
    /// # Errors
    /// If it cannot be read, is no buren file or of a newer version, or its footer is damaged.
    pub fn open(file: impl ReadAt + 'static, path: &Path) -> Result<Self> {
        Ok(Self(file::Reader::new(Envelope::open(Box::new(file), path)?)?))
    }

    /// Describes the file.
    ///
    /// # Errors
    /// If what the footer says of some column is damaged.
    pub fn describe(&self) -> Result<FileDescription> {
        self.0.describe()
    }

    /// What the writer's user wanted to keep with the table, by name.
    #[must_use]
    pub fn metadata(&self) -> &[(String, Vec<u8>)] {
        self.0.metadata()
    }

    /// Reads the whole file with up to `threads` threads and checks everything that can be checked.
    ///
    /// # Errors
    /// The first thing in the file that does not hold.
    pub fn verify(&self, threads: usize, progress: &Progress) -> Result<Verified> {
        self.0.verify(threads, progress)
    }

    pub(crate) fn file(&self) -> &file::Reader {
        &self.0
    }
}

impl Table for Reader {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn schema(&self) -> &Schema {
        self.0.schema()
    }

    fn reads_by_column(&self) -> bool {
        self.0.reads_by_column()
    }

    fn rows(&self) -> Option<u64> {
        self.0.rows()
    }

    fn bytes(&self) -> Option<u64> {
        self.0.bytes()
    }

    fn split(&self, index: u64) -> Option<Split> {
        self.0.split(index)
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        self.0.rows_of(split)
    }

    fn known(&self, split: u64, column: usize) -> Known<'_> {
        self.0.known(split, column)
    }

    fn known_totals(&self, column: usize) -> ColumnTotals {
        self.0.known_totals(column)
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        self.0.scanner(options)
    }
}
