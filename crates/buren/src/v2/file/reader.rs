//! An open file of version 2 and its checked footer.

use super::footer::{Footer, RowGroup};
use super::footer_check;
use super::footer_message;
use super::scanner::FileScanner;
use super::shared_dictionary::SharedDictionary;
use crate::block::Source;
use crate::envelope::Envelope;
use crate::place::Place;
use brc_core::{Error, Known, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A file of version 2.
pub(crate) struct Reader {
    path: PathBuf,
    file: File,
    pub(super) file_bytes: u64,
    pub(super) footer_bytes: u64,
    pub(super) footer: Footer,
    /// Of each column.
    pub(super) dictionaries: Vec<SharedDictionary>,
}

impl Reader {
    /// Checks the footer of a file.
    ///
    /// # Errors
    /// If it is damaged.
    pub(crate) fn new(envelope: Envelope) -> Result<Self> {
        let Envelope { file, path, file_bytes, footer_bytes, footer_offset, footer, .. } = envelope;
        let mut footer = footer_message::read(&path, &footer)?;
        let checked = footer_check::check(&mut footer, footer_offset);
        checked.map_err(|reason| Error::corrupt(&path, "footer", reason))?;
        let dictionaries = footer.dictionaries.iter().map(|_| SharedDictionary::default()).collect();
        Ok(Self { path, file, file_bytes, footer_bytes, footer, dictionaries })
    }

    pub(crate) fn metadata(&self) -> &[(String, Vec<u8>)] {
        &self.footer.metadata
    }

    pub(super) fn row_group(&self, index: usize) -> &RowGroup {
        &self.footer.row_groups[index]
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { file: &self.file, path: &self.path, compression: self.footer.compression }
    }

    pub(super) fn corrupt(&self, place: Place<'_>, reason: impl ToString) -> Error {
        Error::corrupt(&self.path, place.to_string(), reason.to_string())
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

    fn known(&self, split: u64, column: usize) -> Known<'_> {
        let row_group = usize::try_from(split).ok().and_then(|split| self.footer.row_groups.get(split));
        row_group.map_or(Known::NOTHING, |row_group| row_group.known(column))
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let columns = self.footer.schema.fields().len();
        let mut used = options.projection.clone();
        if let Some(predicate) = &options.predicate {
            predicate.columns(&mut used);
        }
        match used.iter().find(|&&column| column >= columns) {
            Some(column) => Err(Error::Usage(format!("there is no column {column}: the table has {columns}"))),
            None => Ok(Box::new(FileScanner::new(self, options.clone()))),
        }
    }
}
