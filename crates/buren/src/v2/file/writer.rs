//! Puts row groups together to a file and ends it with footer and trailer.

use super::chunk_writer::{ChunkWriter, Encoded};
use super::encoder::{Encoder, PartMeta};
use super::file_dictionary::FileDictionary;
use super::fits;
use super::footer::{Chunk, Footer, RowGroup, Unused};
use super::footer_message;
use crate::block::checksum;
use crate::trailer::{self, Trailer};
use crate::writer::WriterOptions;
use brc_compress::Compressor;
use brc_core::{BatchWriter, Error, Part, PartEncoder, Result, Schema};
use foldhash::fast::RandomState;

/// Writes a file of version 2.
pub(crate) struct Writer {
    compression: Compressor,
    footer: Footer,
    /// Of all dictionaries.
    hasher: RandomState,
    /// Of each column.
    dictionaries: Vec<FileDictionary>,
    /// How many bytes of memory all of them may still take.
    memory: usize,
    /// The row group of each part; none if it has no rows.
    parts: Vec<Option<usize>>,
    /// Bytes of the file so far.
    position: u64,
}

impl Writer {
    /// A writer of a table of that schema.
    pub(crate) fn new(schema: &Schema, options: WriterOptions) -> Self {
        let metadata = schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone().into_bytes())).collect();
        let footer = Footer {
            schema: schema.clone(),
            rows: 0,
            compression: options.compression.compression,
            dictionaries: Vec::new(),
            row_groups: Vec::new(),
            unused: Vec::new(),
            metadata,
        };
        let hasher = RandomState::default();
        let dictionaries = schema.fields().iter().map(|_| FileDictionary::new(&hasher)).collect();
        Self {
            compression: options.compression,
            footer,
            hasher,
            dictionaries,
            memory: options.dictionary_bytes,
            parts: Vec::new(),
            position: 0,
        }
    }

    fn encoder_of<'a>(&self, names: impl Iterator<Item = &'a str>) -> Box<dyn PartEncoder> {
        Box::new(Encoder::new(names.map(str::to_owned).collect(), self.compression, self.hasher.clone()))
    }

    /// The chunks of a part, which has these columns and whose bytes come next.
    fn take(&mut self, part: &mut Part, columns: impl ExactSizeIterator<Item = usize>) -> Result<Vec<Chunk>> {
        let empty: Box<dyn std::any::Any + Send> = Box::new(());
        let meta = std::mem::replace(&mut part.meta, empty).downcast::<PartMeta>();
        let meta =
            meta.map_err(|_| Error::Usage("a part that no buren encoder made, or one appended twice".to_owned()))?;
        let mut writer = ChunkWriter::new(self.compression, &mut part.bytes);
        let mut chunks = Vec::with_capacity(meta.columns.len());
        for (encoded, column) in meta.columns.into_iter().zip(columns) {
            let mut chunk = match encoded {
                Encoded::Chunk(chunk) => chunk,
                Encoded::Codes(codes, validity) => {
                    let dictionary = self.dictionaries.get_mut(column).ok_or_else(|| unknown_column(column))?;
                    let parts = dictionary.stored.parts.len();
                    let chunk = codes.write(&validity, dictionary, &mut self.memory, &mut writer)?;
                    for part in &mut dictionary.stored.parts[parts..] {
                        part.offset += self.position;
                    }
                    chunk
                }
            };
            chunk.offset += self.position;
            chunks.push(chunk);
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

fn unknown_column(column: usize) -> Error {
    Error::Usage(format!("there is no column {column}"))
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
        let chunks = self.take(part, 0..self.dictionaries.len())?;
        self.parts.push((part.rows > 0).then_some(self.footer.row_groups.len()));
        if part.rows > 0 {
            self.footer.rows += part.rows;
            self.footer.row_groups.push(RowGroup { rows: part.rows as u32, chunks });
        }
        Ok(())
    }

    fn widen(&mut self, schema: &Schema) -> Result<bool> {
        if schema.fields().len() != self.footer.schema.fields().len() || self.misfit(schema).is_some() {
            return Ok(false);
        }
        self.footer.schema = schema.clone();
        Ok(true)
    }

    fn replacer(&self, schema: &Schema, columns: &[usize]) -> Option<Box<dyn PartEncoder>> {
        Some(self.encoder_of(columns.iter().map(|&column| schema.fields()[column].name.as_str())))
    }

    fn replace(&mut self, part: u64, columns: &[usize], made: &mut Part) -> Result<()> {
        let chunks = self.take(made, columns.iter().copied())?;
        let unknown = || Error::Usage(format!("part {part} has not so many rows or columns"));
        let row_group = usize::try_from(part).ok().and_then(|part| self.parts.get(part)).ok_or_else(unknown)?;
        let Some(row_group) = row_group.and_then(|index| self.footer.row_groups.get_mut(index)) else {
            return if made.rows == 0 { Ok(()) } else { Err(unknown()) };
        };
        if u64::from(row_group.rows) != made.rows || chunks.len() != columns.len() {
            return Err(unknown());
        }
        for (&column, chunk) in columns.iter().zip(chunks) {
            let place = row_group.chunks.get_mut(column).ok_or_else(unknown)?;
            let mut replaced = std::mem::replace(place, chunk);
            replaced.place_blocks();
            let blocks = replaced.all_blocks().filter(|block| block.stored > 0);
            let unused = blocks.map(|it| Unused { offset: it.offset, bytes: it.stored.into(), checksum: it.checksum });
            self.footer.unused.extend(unused);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        if let Some(reason) = self.misfit(&self.footer.schema) {
            return Err(Error::Usage(reason));
        }
        self.footer.unused.sort_unstable_by_key(|unused| unused.offset);
        self.footer.dictionaries = self.dictionaries.iter_mut().map(|it| std::mem::take(&mut it.stored)).collect();
        let mut out = footer_message::write(&self.footer)?;
        let (footer_bytes, footer_checksum) = (out.len() as u64, checksum(&out));
        let trailer = Trailer { version: trailer::VERSION_2, footer_bytes, footer_checksum };
        out.extend_from_slice(&trailer.to_bytes());
        Ok(out)
    }
}
