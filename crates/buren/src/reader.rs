//! An open file: its checked footer, and dictionaries that are read when first needed.

use crate::array::PackedArray;
use crate::block::{BlockBuffer, Cost, Source, checksum};
use crate::dictionary_blocks;
use crate::footer::{Content, Footer, RowGroup};
use crate::footer_check;
use crate::footer_message;
use crate::place::Place;
use crate::scanner::BurenScanner;
use crate::trailer::{self, HEADER_BYTES, TRAILER_BYTES, Trailer};
use brc_core::{Dictionary, Error, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A buren file that is open for reading.
///
/// Opening reads the footer only. Split *i* of the table is row group *i*.
pub struct Reader {
    path: PathBuf,
    file: File,
    file_bytes: u64,
    footer_bytes: u64,
    footer: Footer,
    dictionaries: Vec<OnceLock<Dictionary>>,
    /// Held while a dictionary is read, so that two threads do not both read it.
    loading: Mutex<()>,
}

impl Reader {
    /// Opens a file and checks its footer; `path` is its name for messages.
    ///
    /// # Errors
    /// If it cannot be read, is no buren file or of a newer version, or its footer is damaged.
    pub fn open(file: File, path: &Path) -> Result<Self> {
        let file_bytes = file.metadata().map_err(Error::io(path, "open"))?.len();
        let trailer = read_trailer(&file, path, file_bytes)?;
        let least = (HEADER_BYTES + TRAILER_BYTES) as u64;
        if trailer.footer_bytes % 8 != 0 || file_bytes.checked_sub(least).is_none_or(|most| trailer.footer_bytes > most)
        {
            let reason = format!("a footer of {} bytes in a file of {file_bytes}", trailer.footer_bytes);
            return Err(Error::corrupt(path, "trailer", reason));
        }
        let footer_offset = file_bytes - TRAILER_BYTES as u64 - trailer.footer_bytes;
        let mut words = capnp::Word::allocate_zeroed_vec((trailer.footer_bytes / 8) as usize);
        let bytes = capnp::Word::words_to_bytes_mut(&mut words);
        file.read_exact_at(bytes, footer_offset).map_err(Error::io(path, "read"))?;
        if checksum(bytes) != trailer.footer_checksum {
            return Err(Error::corrupt(path, "footer", "the checksum does not match"));
        }
        let mut footer = footer_message::read(path, &words)?;
        footer_check::check(&mut footer, footer_offset).map_err(|reason| Error::corrupt(path, "footer", reason))?;
        let dictionaries = footer.dictionaries.iter().map(|_| OnceLock::new()).collect();
        let (path, footer_bytes) = (path.to_owned(), trailer.footer_bytes);
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
        Source { file: &self.file, path: &self.path, compression: self.footer.compression }
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

fn read_trailer(file: &File, path: &Path, file_bytes: u64) -> Result<Trailer> {
    let mut header = vec![0; HEADER_BYTES.min(usize::try_from(file_bytes).unwrap_or(HEADER_BYTES))];
    file.read_exact_at(&mut header, 0).map_err(Error::io(path, "read"))?;
    let mut trailer = vec![0; TRAILER_BYTES.min(usize::try_from(file_bytes).unwrap_or(TRAILER_BYTES))];
    let offset = file_bytes - trailer.len() as u64;
    file.read_exact_at(&mut trailer, offset).map_err(Error::io(path, "read"))?;
    trailer::check(path, &header, &trailer)
}

impl Table for Reader {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.footer.schema
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
