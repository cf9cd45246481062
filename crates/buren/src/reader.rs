//! Reads files of all versions.

use crate::description::FileDescription;
use crate::envelope::Envelope;
use crate::trailer::VERSION_1;
use crate::v1;
use crate::v2::file;
use brc_core::{ColumnTotals, Known, Progress, ReadAt, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::path::Path;

/// A buren file that is open for reading.
///
/// Opening reads the footer only. Split *i* of the table is row group *i*.
pub struct Reader(Version);

enum Version {
    One(v1::reader::Reader),
    Two(file::Reader),
}

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
        let envelope = Envelope::open(Box::new(file), path)?;
        Ok(Self(match envelope.version {
            VERSION_1 => Version::One(v1::reader::Reader::new(envelope)?),
            _ => Version::Two(file::Reader::new(envelope)?),
        }))
    }

    /// Describes the file. Reads no more than the dictionaries of version 1, for their first and last values.
    ///
    /// # Errors
    /// If a dictionary of version 1 cannot be read, or what the footer says of some column is damaged.
    pub fn describe(&self) -> Result<FileDescription> {
        match &self.0 {
            Version::One(reader) => reader.describe(),
            Version::Two(reader) => reader.describe(),
        }
    }

    /// What the writer's user wanted to keep with the table, by name.
    #[must_use]
    pub fn metadata(&self) -> &[(String, Vec<u8>)] {
        match &self.0 {
            Version::One(_) => &[],
            Version::Two(reader) => reader.metadata(),
        }
    }

    /// Reads the whole file with up to `threads` threads and checks everything that can be checked.
    ///
    /// # Errors
    /// The first thing in the file that does not hold.
    pub fn verify(&self, threads: usize, progress: &Progress) -> Result<Verified> {
        match &self.0 {
            Version::One(reader) => reader.verify(threads, progress),
            Version::Two(reader) => reader.verify(threads, progress),
        }
    }

    /// Whether row groups can be added to the file, which its format version must allow.
    #[must_use]
    pub fn can_be_continued(&self) -> bool {
        self.version_2().is_some()
    }

    /// The file, if it is of version 2.
    pub(crate) fn version_2(&self) -> Option<&file::Reader> {
        match &self.0 {
            Version::One(_) => None,
            Version::Two(reader) => Some(reader),
        }
    }

    fn table(&self) -> &dyn Table {
        match &self.0 {
            Version::One(reader) => reader,
            Version::Two(reader) => reader,
        }
    }
}

impl Table for Reader {
    fn path(&self) -> &Path {
        self.table().path()
    }

    fn schema(&self) -> &Schema {
        self.table().schema()
    }

    fn reads_by_column(&self) -> bool {
        self.table().reads_by_column()
    }

    fn rows(&self) -> Option<u64> {
        self.table().rows()
    }

    fn bytes(&self) -> Option<u64> {
        self.table().bytes()
    }

    fn split(&self, index: u64) -> Option<Split> {
        self.table().split(index)
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        self.table().rows_of(split)
    }

    fn known(&self, split: u64, column: usize) -> Known<'_> {
        self.table().known(split, column)
    }

    fn known_totals(&self, column: usize) -> ColumnTotals {
        self.table().known_totals(column)
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        self.table().scanner(options)
    }
}
