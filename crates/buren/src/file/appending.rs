//! Appends to a file: new row groups after the existing ones, and a new footer for all.
//!
//! Stored bytes stay where they are. The old footer and the value counts, which no longer cover all rows, become unused
//! bytes. The dictionaries of the file do not grow, because that would require them in memory; new row groups have
//! their own dictionaries.

use super::footer::{Chunk, Footer, Unused};
use super::options::{WriterOptions, cluster_key};
use super::reader::Reader;
use super::writer::Writer;
use crate::block::checksum;
use brc_compress::Compressor;
use brc_core::{Error, Result, Schema, Table};

/// The maximum number of unused bytes under one checksum.
const MAX_CHECKSUMMED_BYTES: u64 = 16 << 20;

impl Reader {
    /// A writer that appends row groups to this file and writes a new footer. Its caller writes after the existing
    /// bytes, which do not change.
    ///
    /// `schema` has the file's column names and types; columns may become nullable. Blocks are compressed like those of
    /// the file.
    ///
    /// # Errors
    /// [`Error::Usage`] if the columns differ from the file's, or the key is not one of them or has an unsupported
    /// type; if the file's footer is damaged or cannot be read.
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
            self.mark_unused(counts.offset, counts.offset + counts.stored_bytes(), &mut unused)?;
        }
        self.mark_unused(self.file_bytes - self.end_bytes(), self.file_bytes, &mut unused)?;
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

    /// Marks a range of the file as unused.
    fn mark_unused(&self, start: u64, end: u64, unused: &mut Vec<Unused>) -> Result<()> {
        let mut offset = start;
        while offset < end {
            let bytes = (end - offset).min(MAX_CHECKSUMMED_BYTES);
            let mut buffer = vec![0; bytes as usize];
            let source = self.source();
            source.file.read_exact_at(&mut buffer, offset).map_err(Error::io(self.path(), "read"))?;
            unused.push(Unused { offset, bytes, checksum: checksum(&buffer) });
            offset += bytes;
        }
        Ok(())
    }
}
