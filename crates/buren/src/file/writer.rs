//! Assembles row groups into a file, and ends it with footer and trailer.

use super::chunk_writer::{ChunkWriter, Encoded};
use super::encoder::{ClusterKey, EncodedCluster, EncodedColumn, Encoder, PartMeta};
use super::file_dictionary::FileDictionary;
use super::file_tokens::FileTokens;
use super::fits;
use super::footer::{Chunk, Cluster, Footer, RowGroup};
use super::footer_message;
use super::key_choice::Sample;
use super::options::{MIN_ROWS_PER_KEY, WriterOptions, cluster_key};
use crate::block::checksum;
use crate::trailer::{self, Trailer};
use brc_compress::Compressor;
use brc_core::{BatchWriter, ColumnarWriter, Error, LogicalType, Part, PartEncoder, PhysicalType, Result, Schema};
use foldhash::fast::RandomState;
use std::ops::Range;
use std::sync::Arc;

/// Writes a buren file. [`BatchWriter`] explains which bytes the caller writes.
pub struct Writer {
    compression: Compressor,
    key: ClusterKey,
    /// The sample from which the key was chosen.
    sample: Option<Sample>,
    footer: Footer,
    /// For each row group, one chunk per column; if it is clustered, followed by the order stream and the run lengths.
    chunks: Vec<Vec<Chunk>>,
    /// The hasher of all dictionaries.
    hasher: RandomState,
    /// The dictionary of each column.
    dictionaries: Vec<FileDictionary>,
    /// The remaining memory budget for all dictionaries, in bytes.
    memory: usize,
    /// The shared tokens of the parts being encoded.
    tokens: Arc<FileTokens>,
    /// Whether parts being encoded replace existing ones.
    is_replacing: bool,
    /// Whether any dictionary was started over.
    is_replaced: bool,
    /// The number of bytes written so far.
    position: u64,
    /// The original size of the file, if the writer appends to one.
    continues: Option<u64>,
    /// The number of row groups of that file.
    kept: usize,
}

impl Writer {
    /// A writer of a table with this schema.
    ///
    /// # Errors
    /// If the key is not a column of the schema, or has floats or integers of more than 64 bits.
    pub fn new(schema: &Schema, options: WriterOptions) -> Result<Self> {
        Ok(Self::clustered_by(cluster_key(schema, &options.key)?, schema, options))
    }

    fn clustered_by(key: ClusterKey, schema: &Schema, options: WriterOptions) -> Self {
        let metadata = metadata(schema);
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
        let dictionaries = schema.fields().iter().map(|_| FileDictionary::new()).collect();
        Self {
            compression: options.compression,
            key,
            sample: None,
            footer,
            chunks: Vec::new(),
            hasher,
            dictionaries,
            memory: options.dictionary_bytes,
            tokens: Arc::default(),
            is_replacing: false,
            is_replaced: false,
            position: 0,
            continues: None,
            kept: 0,
        }
    }

    /// A writer that appends row groups to a file with these row groups and this size.
    pub(super) fn continuing(
        mut footer: Footer,
        chunks: Vec<Vec<Chunk>>,
        key: ClusterKey,
        options: WriterOptions,
        bytes: u64,
    ) -> Self {
        let dictionaries = std::mem::take(&mut footer.dictionaries).into_iter().map(FileDictionary::closed).collect();
        let new = Self::clustered_by(key, &footer.schema, options);
        let kept = footer.row_groups.len();
        Self { footer, chunks, dictionaries, position: bytes, continues: Some(bytes), kept, ..new }
    }

    /// What to say if no row group is clustered by the requested key.
    fn remark_on_key(&self, column: usize) -> Option<String> {
        let written = &self.footer.row_groups[self.kept..];
        if written.is_empty() || written.iter().any(|row_group| row_group.cluster.is_some()) {
            return None;
        }
        let name = self.footer.name(column);
        Some(format!(
            "--key has no effect: '{name}' has fewer than {MIN_ROWS_PER_KEY} rows per value in every row group"
        ))
    }

    fn encoder_of(
        &self,
        schema: &Schema,
        columns: impl Iterator<Item = usize>,
        key: ClusterKey,
    ) -> Box<dyn PartEncoder> {
        let about = |column: usize| {
            let field = &schema.fields()[column];
            let is_date = field.logical_type == LogicalType::Date;
            EncodedColumn { name: field.name.clone(), number: column as u32, is_date }
        };
        let tokens = Arc::clone(&self.tokens);
        let sampled = if let ClusterKey::Automatic(key) = &self.key { Some(key.is_obvious) } else { None };
        let key = (key, sampled);
        Box::new(Encoder::new(columns.map(about).collect(), key, self.compression, &self.hasher, tokens))
    }

    /// Takes the chunks of a part that has these columns and is written next; if it is clustered, followed by those of
    /// its runs.
    fn take_chunks(&mut self, part: &mut Part, columns: impl ExactSizeIterator<Item = usize>) -> Result<AppendedPart> {
        let empty: Box<dyn std::any::Any + Send> = Box::new(());
        let meta = std::mem::replace(&mut part.meta, empty).downcast::<PartMeta>();
        let meta =
            meta.map_err(|_| Error::Usage("a part that no buren encoder made, or one appended twice".to_owned()))?;
        let mut writer = ChunkWriter::new(self.compression, &mut part.bytes);
        let mut chunks = Vec::with_capacity(meta.columns.len());
        for (encoded, column) in meta.columns.into_iter().zip(columns) {
            let chunk = match encoded {
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
            chunks.push(chunk);
        }
        let runs = meta.cluster.map(|EncodedCluster { runs, order, lengths }| {
            chunks.extend([order, lengths]);
            runs
        });
        let cluster = self.key.known().zip(runs).map(|(key, runs)| Cluster { key, runs });
        chunks.iter_mut().for_each(|chunk| chunk.offset += self.position);
        self.position += part.bytes.len() as u64;
        Ok(AppendedPart { chunks, cluster, sample: meta.sample })
    }

    /// Checks that the choice of the key would be the same with the replaced columns of a part.
    fn check_key(&mut self, part: u64, columns: &[usize], replaced: Option<Sample>) -> Result<()> {
        if let (Some(sample), Some(replaced), 0) = (&mut self.sample, replaced, part) {
            sample.replace(columns, replaced);
            if sample.key() != self.key.known() {
                return Err(Error::Widened);
            }
        }
        Ok(())
    }

    /// Appends the value counts of each column whose dictionary covers all rows.
    fn write_counts(&self, out: &mut Vec<u8>) -> Result<Vec<Option<Chunk>>> {
        let mut writer = ChunkWriter::new(self.compression, out);
        let mut counts_of = |(column, dictionary): (usize, &FileDictionary)| {
            let mut chunks = self.footer.row_groups.iter().zip(&self.chunks);
            let is_known = chunks.all(|(row_group, chunks)| chunks[column].is_of_file(row_group.rows));
            let Some(counts) = dictionary.counts().filter(|_| is_known) else { return Ok(None) };
            let counts: Vec<i64> = counts.iter().map(|&count| count.into()).collect();
            let mut chunk = writer.extra((&counts).into())?;
            chunk.offset += self.position;
            Ok(Some(chunk))
        };
        self.dictionaries.iter().enumerate().map(&mut counts_of).collect()
    }

    /// Why a chunk does not fit the schema; `None` if all fit.
    fn misfit(&self, schema: &Schema) -> Option<String> {
        let chunks = self.chunks.iter().flat_map(|chunks| chunks.iter().zip(schema.fields()));
        let reason = |(chunk, field)| Some((field, fits::check(chunk, field).err()?));
        let (field, reason): (&brc_core::Field, String) = chunks.into_iter().find_map(reason)?;
        Some(format!("column '{}' cannot be stored: {reason}", field.name))
    }
}

/// The chunks of an appended part.
struct AppendedPart {
    chunks: Vec<Chunk>,
    cluster: Option<Cluster>,
    sample: Option<Sample>,
}

fn unknown_column(column: usize) -> Error {
    Error::Usage(format!("there is no column {column}"))
}

/// The metadata of a schema as file metadata.
fn metadata(schema: &Schema) -> Vec<(String, Vec<u8>)> {
    schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone().into_bytes())).collect()
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        self.encoder_of(&self.footer.schema, 0..self.footer.schema.fields().len(), self.key.clone())
    }

    fn begins_at(&self) -> u64 {
        self.continues.unwrap_or(0)
    }

    fn start(&mut self) -> Vec<u8> {
        if self.continues.is_some() {
            return Vec::new();
        }
        let header = trailer::header(trailer::VERSION).to_vec();
        self.position = header.len() as u64;
        header
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let AppendedPart { chunks, cluster, sample } = self.take_chunks(part, 0..self.dictionaries.len())?;
        if part.rows > 0 {
            self.footer.rows += part.rows;
            self.sample = sample.or(self.sample.take());
            self.footer.row_groups.push(RowGroup { rows: part.rows as u32, cluster });
            self.chunks.push(chunks);
        }
        Ok(())
    }

    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        // Existing row groups cannot be encoded again.
        if self.continues.is_some() { None } else { Some(self) }
    }

    fn remark(&self) -> Option<String> {
        let key = match &self.key {
            ClusterKey::Automatic(key) => key,
            ClusterKey::Column(column) => return self.remark_on_key(*column),
            ClusterKey::None => return None,
        };
        if self.sample.as_ref().is_some_and(|sample| sample.obvious_key().is_some()) {
            return None;
        }
        let name = self.footer.name(key.known()?);
        Some(format!(
            "rows are stored grouped by '{name}' to save space; reading them in the original order is slower; --key none \
             turns this off"
        ))
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        if let Some(reason) = self.misfit(&self.footer.schema) {
            return Err(Error::Usage(reason));
        }
        self.footer.dictionaries = self.dictionaries.iter_mut().map(|it| std::mem::take(&mut it.stored)).collect();
        let mut out = Vec::new();
        let counts = self.write_counts(&mut out)?;
        let footer = footer_message::write(&self.footer, &self.chunks, &counts)?;
        let (footer_bytes, footer_checksum) = (footer.len() as u64, checksum(&footer));
        let trailer = Trailer { version: trailer::VERSION, footer_bytes, footer_checksum };
        out.extend_from_slice(&footer);
        out.extend_from_slice(&trailer.to_bytes());
        Ok(out)
    }
}

impl ColumnarWriter for Writer {
    fn encoder_of(&self, schema: &Schema, columns: &[usize]) -> Result<Box<dyn PartEncoder>> {
        let key = match self.key.known().and_then(|key| columns.iter().position(|&column| column == key)) {
            _ if !self.is_replacing => self.key.clone(),
            Some(key) => ClusterKey::Column(key),
            None => ClusterKey::None,
        };
        Ok(self.encoder_of(schema, columns.iter().copied(), key))
    }

    fn orders_rows(&self) -> Option<usize> {
        self.key.known()
    }

    fn spans_parts(&self, logical_type: LogicalType) -> bool {
        logical_type.physical() == PhysicalType::Bytes
    }

    fn begin_replacing(&mut self) {
        self.is_replacing = true;
        self.tokens = Arc::default();
    }

    fn replace(&mut self, part: u64, columns: &[usize], made: &mut Part) -> Result<()> {
        if part == 0 {
            self.is_replaced = true;
            for &column in columns {
                let dictionary = self.dictionaries.get_mut(column).ok_or_else(|| unknown_column(column))?;
                self.memory += dictionary.clear();
            }
        }
        let AppendedPart { mut chunks, cluster, sample } = self.take_chunks(made, columns.iter().copied())?;
        self.check_key(part, columns, sample)?;
        let of_cluster = chunks.split_off(columns.len().min(chunks.len()));
        let unknown = || Error::Usage(format!("part {part} has fewer rows or columns"));
        let part = usize::try_from(part).unwrap_or(usize::MAX);
        let row_group = self.footer.row_groups.get_mut(part);
        let row_group = row_group.filter(|group| u64::from(group.rows) == made.rows && columns.len() == chunks.len());
        let row_group = row_group.filter(|group| group.cluster.is_some() == cluster.is_some()).ok_or_else(unknown)?;
        row_group.cluster = cluster;
        let replaced = self.chunks.get_mut(part).ok_or_else(unknown)?;
        let is_replaced = |column: u32| columns.contains(&(column as usize));
        let references = replaced.iter().enumerate().filter(|(column, _)| !columns.contains(column));
        if references.filter_map(|(_, chunk)| chunk.reference).any(is_replaced) {
            // Their differences would refer to other values.
            return Err(Error::Widened);
        }
        if cluster.is_some() {
            replaced.truncate(self.dictionaries.len());
            replaced.extend(of_cluster);
        }
        for (&column, chunk) in columns.iter().zip(chunks) {
            *replaced.get_mut(column).ok_or_else(unknown)? = chunk;
        }
        Ok(())
    }

    fn rearrange(&mut self, schema: &Schema) -> Result<Vec<Range<u64>>> {
        if let Some(reason) = self.misfit(schema) {
            return Err(Error::Usage(reason));
        }
        if self.is_replaced && self.dictionaries.iter().any(FileDictionary::lacked_memory) {
            // Which dictionary runs out of memory first depends on what the others used.
            return Err(Error::Widened);
        }
        self.footer.schema = schema.clone();
        self.footer.metadata = metadata(schema);
        let mut layout = Layouter::default();
        layout.append(0, trailer::HEADER_BYTES as u64);
        let mut parts: Vec<_> = self.dictionaries.iter_mut().map(|it| it.stored.parts.iter_mut().peekable()).collect();
        for chunks in &mut self.chunks {
            // Chunks with codes are written after all others of a row group.
            chunks.iter_mut().filter(|chunk| !chunk.is_coded()).for_each(|chunk| layout.append_chunk(chunk));
            for (chunk, parts) in chunks.iter_mut().zip(&mut parts).filter(|(chunk, _)| chunk.is_coded()) {
                // New values are stored directly before the codes.
                if let Some(part) = parts.next_if(|part| part.offset + part.stored_bytes() == chunk.offset) {
                    part.offset = layout.append(part.offset, part.stored_bytes());
                }
                layout.append_chunk(chunk);
            }
        }
        self.position = layout.end;
        Ok(layout.ranges)
    }
}

/// Assigns written bytes their final positions.
#[derive(Default)]
struct Layouter {
    ranges: Vec<Range<u64>>,
    end: u64,
}

impl Layouter {
    /// Places bytes after all others; returns their new offset.
    fn append(&mut self, offset: u64, bytes: u64) -> u64 {
        self.ranges.push(offset..offset + bytes);
        self.end += bytes;
        self.end - bytes
    }

    fn append_chunk(&mut self, chunk: &mut Chunk) {
        chunk.offset = self.append(chunk.offset, chunk.stored_bytes());
    }
}
