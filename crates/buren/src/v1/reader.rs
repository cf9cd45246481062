//! An open file: its checked footer, and dictionaries that are read when first needed.

use crate::array::PackedArray;
use crate::block::{BlockBuffer, Cost, Source};
use crate::envelope::Envelope;
use crate::place::Place;
use crate::v1::dictionary_blocks;
use crate::v1::footer::{Content, Footer, RowGroup};
use crate::v1::footer_check;
use crate::v1::footer_message;
use crate::v1::scanner::BurenScanner;
use brc_core::{Dictionary, Error, ReadAt, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A file of version 1.
pub(crate) struct Reader {
    path: PathBuf,
    file: Box<dyn ReadAt>,
    file_bytes: u64,
    footer_bytes: u64,
    footer: Footer,
    dictionaries: Vec<OnceLock<Dictionary>>,
    /// Held while a dictionary is read, so that two threads do not both read it.
    loading: Mutex<()>,
}

impl Reader {
    /// Checks the footer of a file.
    ///
    /// # Errors
    /// If it is damaged.
    pub(crate) fn new(envelope: Envelope) -> Result<Self> {
        let Envelope { file, path, file_bytes, footer_bytes, footer, .. } = envelope;
        let mut footer = footer_message::read(&path, &footer)?;
        footer_check::check(&mut footer, envelope.footer_offset)
            .map_err(|reason| Error::corrupt(&path, "footer", reason))?;
        let dictionaries = footer.dictionaries.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { path, file, file_bytes, footer_bytes, footer, dictionaries, loading: Mutex::default() })
    }

    pub(crate) fn footer(&self) -> &Footer {
        &self.footer
    }

    pub(crate) fn footer_bytes(&self) -> u64 {
        self.footer_bytes
    }

    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    pub(crate) fn row_group(&self, index: usize) -> &RowGroup {
        &self.footer.row_groups[index]
    }

    pub(crate) fn source(&self) -> Source<'_> {
        Source { file: self.file.as_ref(), path: &self.path, compression: self.footer.compression }
    }

    pub(crate) fn corrupt(&self, place: Place<'_>, reason: impl Into<String>) -> Error {
        Error::corrupt(&self.path, place.to_string(), reason)
    }

    /// The distinct values of a string column in byte order.
    pub(crate) fn dictionary(&self, column: usize) -> Result<&Dictionary> {
        let cell = &self.dictionaries[column];
        if cell.get().is_none() {
            let _guard = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
            if cell.get().is_none() {
                // It is empty, and stays so while the lock is held.
                let _ = cell.set(self.read_dictionary(column)?);
            }
        }
        Ok(cell.get_or_init(Dictionary::new))
    }

    fn read_dictionary(&self, column: usize) -> Result<Dictionary> {
        let mut dictionary = Dictionary::new();
        let (mut buffer, mut cost) = (BlockBuffer::default(), Cost::default());
        for (index, (values, block)) in self.footer.dictionaries[column].blocks.iter().enumerate() {
            let place = Place::Dictionary { column: self.footer.name(column), block: index };
            buffer.load(self.source(), block, place, &mut cost)?;
            dictionary_blocks::read(buffer.bytes(), *values, &mut dictionary)
                .map_err(|reason| self.corrupt(place, reason))?;
        }
        Ok(dictionary)
    }

    /// Replaces `map` by the dictionary's code of each code of a string chunk.
    pub(crate) fn load_map(
        &self,
        row_group: usize,
        column: usize,
        buffer: &mut BlockBuffer,
        map: &mut Vec<u32>,
        cost: &mut Cost,
    ) -> Result<()> {
        let Content::String { cardinality, map: block } = &self.row_group(row_group).chunks[column].content else {
            return Ok(());
        };
        let place = Place::Map { row_group, column: self.footer.name(column) };
        buffer.load(self.source(), block, place, cost)?;
        let mut bytes = buffer.bytes();
        let array =
            PackedArray::take(&mut bytes, *cardinality as usize).map_err(|reason| self.corrupt(place, reason))?;
        array.read_u32(map);
        let largest = map.iter().copied().fold(0, u32::max);
        if !bytes.is_empty() || !map.is_empty() && largest >= self.footer.dictionaries[column].values {
            return Err(self.corrupt(place, "a code is not in the dictionary, or there are too many"));
        }
        Ok(())
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

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let columns = self.footer.schema.fields().len();
        let mut used = options.projection.clone();
        if let Some(predicate) = &options.predicate {
            predicate.columns(&mut used);
        }
        match used.iter().find(|&&column| column >= columns) {
            Some(column) => Err(Error::Usage(format!("there is no column {column}: the table has {columns}"))),
            None => Ok(Box::new(BurenScanner::new(self, options.clone())?)),
        }
    }
}
