//! Puts row groups together to a file and ends it with footer and trailer.

use super::encoder::{Encoder, PartMeta};
use super::fits;
use super::footer::{Chunk, Footer, RowGroup};
use super::footer_message;
use crate::block::checksum;
use crate::trailer::{self, Trailer};
use crate::writer::WriterOptions;
use brc_compress::Compressor;
use brc_core::{BatchWriter, ColumnarWriter, Error, Part, PartEncoder, Result, Schema};
use std::ops::Range;

/// Writes a file of version 2.
pub(crate) struct Writer {
    compression: Compressor,
    footer: Footer,
    /// Bytes of the file so far.
    position: u64,
}

impl Writer {
    /// A writer of a table of that schema.
    pub(crate) fn new(schema: &Schema, options: WriterOptions) -> Self {
        let mut metadata = options.metadata;
        metadata.sort();
        let footer = Footer {
            schema: schema.clone(),
            rows: 0,
            compression: options.compression.compression,
            row_groups: Vec::new(),
            unused: Vec::new(),
            metadata,
        };
        Self { compression: options.compression, footer, position: 0 }
    }

    fn encoder_of<'a>(&self, names: impl Iterator<Item = &'a str>) -> Box<dyn PartEncoder> {
        Box::new(Encoder::new(names.map(str::to_owned).collect(), self.compression))
    }

    /// The chunks of a part whose bytes come next.
    fn take(&mut self, part: &mut Part) -> Result<Vec<Chunk>> {
        let empty: Box<dyn std::any::Any + Send> = Box::new(());
        let meta = std::mem::replace(&mut part.meta, empty).downcast::<PartMeta>();
        let meta =
            meta.map_err(|_| Error::Usage("a part that no buren encoder made, or one appended twice".to_owned()))?;
        let mut chunks = meta.chunks;
        for chunk in &mut chunks {
            chunk.offset += self.position;
        }
        self.position += part.bytes.len() as u64;
        Ok(chunks)
    }

    /// Why the table is not one of that schema, if it is not.
    fn misfit(&self, schema: &Schema) -> Option<String> {
        let chunks = self.footer.row_groups.iter().flat_map(|row_group| row_group.chunks.iter().zip(schema.fields()));
        let reason = |(chunk, field)| Some((field, fits::check(chunk, field).err()?));
        let (field, reason): (&brc_core::Field, String) = chunks.into_iter().find_map(reason)?;
        Some(format!("column '{}' cannot be stored: {reason}", field.name))
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        self.encoder_of(self.footer.schema.fields().iter().map(|field| field.name.as_str()))
    }

    fn start(&mut self) -> Vec<u8> {
        let header = trailer::header(trailer::VERSION_2).to_vec();
        self.position = header.len() as u64;
        header
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let chunks = self.take(part)?;
        if part.rows > 0 {
            self.footer.rows += part.rows;
            self.footer.row_groups.push(RowGroup { rows: part.rows as u32, chunks });
        }
        Ok(())
    }

    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        Some(self)
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        if let Some(reason) = self.misfit(&self.footer.schema) {
            return Err(Error::Usage(reason));
        }
        let mut out = footer_message::write(&self.footer)?;
        let (footer_bytes, footer_checksum) = (out.len() as u64, checksum(&out));
        let trailer = Trailer { version: trailer::VERSION_2, footer_bytes, footer_checksum };
        out.extend_from_slice(&trailer.to_bytes());
        Ok(out)
    }
}

impl ColumnarWriter for Writer {
    fn encoder_of(&self, schema: &Schema, columns: &[usize]) -> Result<Box<dyn PartEncoder>> {
        Ok(self.encoder_of(columns.iter().map(|&column| schema.fields()[column].name.as_str())))
    }

    fn replace(&mut self, part: u64, columns: &[usize], made: &mut Part) -> Result<()> {
        let chunks = self.take(made)?;
        let unknown = || Error::Usage(format!("part {part} has not so many rows or columns"));
        let row_group = usize::try_from(part).ok().and_then(|part| self.footer.row_groups.get_mut(part));
        let row_group = row_group.filter(|group| u64::from(group.rows) == made.rows && columns.len() == chunks.len());
        let row_group = row_group.ok_or_else(unknown)?;
        for (&column, chunk) in columns.iter().zip(chunks) {
            *row_group.chunks.get_mut(column).ok_or_else(unknown)? = chunk;
        }
        Ok(())
    }

    fn rearrange(&mut self, schema: &Schema) -> Result<Vec<Range<u64>>> {
        if let Some(reason) = self.misfit(schema) {
            return Err(Error::Usage(reason));
        }
        self.footer.schema = schema.clone();
        self.position = trailer::HEADER_BYTES as u64;
        let mut ranges = vec![0..self.position];
        for chunk in self.footer.row_groups.iter_mut().flat_map(|row_group| &mut row_group.chunks) {
            let bytes = chunk.stored_bytes();
            ranges.push(chunk.offset..chunk.offset + bytes);
            chunk.offset = self.position;
            self.position += bytes;
        }
        Ok(ranges)
    }
}
