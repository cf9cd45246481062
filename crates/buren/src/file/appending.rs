//! Continues a file: further row groups behind those that it has, and a new footer for all of them.
//!
//! What is stored stays where it is. The old footer, and the counts of values that are no longer those of all rows, become
//! unused bytes. The dictionaries of the file do not grow, for that would need them in memory: the strings of new row groups
//! have dictionaries of their own.

use super::footer::{Chunk, Footer, Unused};
use super::options::{WriterOptions, cluster_key};
use super::reader::Reader;
use super::writer::Writer;
use crate::block::checksum;
use brc_compress::Compressor;
use brc_core::{Error, Result, Schema, Table};

/// How many unused bytes have a checksum of their own.
const UNUSED_AT_ONCE: u64 = 16 << 20;

impl Reader {
    /// A writer that continues this file: further row groups, and a new footer for all. Its caller writes behind the bytes of
    /// the file, which stay as they are.
    ///
    /// The columns have the names and types of `schema`; some may be nullable that were not. Blocks are compressed as those of
    /// the file are.
    ///
    /// # Errors
    /// [`Error::Usage`] if these are not the file's columns, or the key is none of them or of a type that is no key; if the
    /// file's footer is damaged, or it cannot be read.
    pub fn continued(&self, schema: &Schema, options: WriterOptions) -> Result<Writer> {
        let own = |schema: &Schema| -> Vec<_> {
            schema.fields().iter().map(|field| (field.name.clone(), field.logical_type)).collect()
        };
        if own(self.schema()) != own(schema) {
            let (path, of_file) = (self.path().display(), self.schema());
            return Err(Error::Usage(format!("{path}: its columns are {of_file}, not {schema}")));
        }
        let key = cluster_key(schema, &options.key)?;
        let of_file = self.footer.compression;
        let is_same = options.compression.compression.id() == of_file.id();
        let compression = if is_same { options.compression } else { Compressor::of(of_file) };
        let columns = self.all_columns()?;
        let mut unused = self.footer.unused.clone();
        for counts in columns.iter().filter_map(|column| column.counts.as_ref()) {
            self.give_up(counts.offset, counts.offset + counts.stored_bytes(), &mut unused)?;
        }
        self.give_up(self.file_bytes - self.end_bytes(), self.file_bytes, &mut unused)?;
        let row_groups = self.footer.row_groups.clone();
        let chunks = row_groups.iter().enumerate().map(|(index, row_group)| {
            let stored = if row_group.cluster.is_some() { columns.len() } else { self.footer.order_streams() };
            columns[..stored].iter().map(|column| column.chunks[index].clone()).collect::<Vec<Chunk>>()
        });
        let chunks = chunks.collect();
        let footer = Footer {
            schema: schema.clone(),
            rows: self.footer.rows,
            compression: of_file,
            dictionaries: self.footer.dictionaries.clone(),
            row_groups,
            unused,
            metadata: self.metadata().to_vec(),
        };
        Ok(Writer::continuing(footer, chunks, key, WriterOptions { compression, ..options }, self.file_bytes))
    }

    /// Adds bytes of the file to those that are unused.
    fn give_up(&self, start: u64, end: u64, unused: &mut Vec<Unused>) -> Result<()> {
        let mut offset = start;
        while offset < end {
            let bytes = (end - offset).min(UNUSED_AT_ONCE);
            let mut buffer = vec![0; bytes as usize];
            let source = self.source();
            source.file.read_exact_at(&mut buffer, offset).map_err(Error::io(self.path(), "read"))?;
            unused.push(Unused { offset, bytes, checksum: checksum(&buffer) });
            offset += bytes;
        }
        Ok(())
    }
}
