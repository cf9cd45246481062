//! Encodes the rows of one split, or some of their columns, as column chunks.

use super::chunk_rows::RunLayout;
use super::chunk_writer::{ChunkWriter, Encoded, Reference};
use super::cluster::Partition;
use super::column_buffer::{BufferedValues, ColumnBuffer};
use super::file_tokens::FileTokens;
use super::footer::{Chunk, MAX_ROW_GROUP_ROWS};
use super::key_choice::{FileKey, Sample};
use crate::integer_buffer::IntegerBuffer;
use crate::strings::Strings;
use brc_compress::Compressor;
use brc_core::{Batch, Error, Part, PartEncoder, Result, Sink};
use foldhash::fast::RandomState;
use std::sync::Arc;

/// The metadata of a part for the writer; offsets of chunks are relative to the part.
pub(super) struct PartMeta {
    pub(super) columns: Vec<Encoded>,
    /// `None` if the rows are stored in original order.
    pub(super) cluster: Option<EncodedCluster>,
    /// A sample of the first part for choosing the key.
    pub(super) sample: Option<Sample>,
}

/// The encoded runs and order stream of a clustered part.
pub(super) struct EncodedCluster {
    pub(super) runs: u32,
    pub(super) order: Chunk,
    pub(super) lengths: Chunk,
}

/// The column by which rows are clustered.
#[derive(Debug, Clone)]
pub(crate) enum ClusterKey {
    None,
    Column(usize),
    /// The column that the first part chooses.
    Automatic(Arc<FileKey>),
}

impl ClusterKey {
    /// The column, if there is one and it has been chosen.
    pub(super) fn known(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Column(column) => Some(*column),
            Self::Automatic(key) => key.known(),
        }
    }
}

/// The maximum number of columns considered as references for differences of dates.
pub(super) const MAX_REFERENCES: usize = 4;

/// A column of the file.
pub(super) struct EncodedColumn {
    /// The name, for messages.
    pub(super) name: String,
    pub(super) number: u32,
    pub(super) is_date: bool,
}

/// The encoder of one worker.
pub(super) struct Encoder {
    about: Vec<EncodedColumn>,
    /// One of these columns.
    key: ClusterKey,
    /// Whether the schema suggests an obvious group-by; `None` if no sample of the first part is needed.
    sampled: Option<bool>,
    compression: Compressor,
    tokens: Arc<FileTokens>,
    /// The index of the current part, if known.
    part: Option<u64>,
    rows: usize,
    columns: Vec<ColumnBuffer>,
    /// Memory for moving integers.
    spare: IntegerBuffer,
    bytes: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(
        about: Vec<EncodedColumn>,
        (key, sampled): (ClusterKey, Option<bool>),
        compression: Compressor,
        hasher: &RandomState,
        tokens: Arc<FileTokens>,
    ) -> Self {
        let columns = about.iter().map(|_| ColumnBuffer::new(hasher)).collect();
        Self {
            about,
            key,
            sampled,
            compression,
            tokens,
            part: None,
            rows: 0,
            columns,
            spare: IntegerBuffer::default(),
            bytes: Vec::new(),
        }
    }

    /// Moves the rows into runs of the key, if there is one and its runs are long enough. All columns then have one
    /// value per row, except the key, which has one per run.
    fn cluster(&mut self, sample: Option<&Sample>) -> Option<(usize, Partition)> {
        let key = match &self.key {
            ClusterKey::Automatic(key) => key.of_part(self.part, sample),
            key => key.known(),
        }?;
        let partition = Partition::new(self.columns.get_mut(key)?)?;
        for (index, column) in self.columns.iter_mut().enumerate() {
            if index == key {
                column.pick(&partition.firsts);
            } else {
                column.cluster(&partition, &mut self.spare);
            }
        }
        Some((key, partition))
    }

    /// Announces that the current part is finished or was skipped.
    fn end(&mut self) {
        let part = self.part.take();
        self.tokens.end(part);
        if let ClusterKey::Automatic(key) = &self.key {
            key.end(part);
        }
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.columns.len() != self.columns.len() {
            let (found, expected) = (batch.columns.len(), self.columns.len());
            return Err(Error::Usage(format!("a batch of {found} columns for a table of {expected}")));
        }
        self.rows += batch.rows;
        if self.rows > MAX_ROW_GROUP_ROWS as usize {
            let reason = format!("one of its row groups would have more than {MAX_ROW_GROUP_ROWS} rows");
            return Err(Error::too_large("buren", reason));
        }
        for ((buffer, column), about) in self.columns.iter_mut().zip(batch.columns).zip(&self.about) {
            buffer.append(column, batch.rows).map_err(|error| match error {
                Error::Usage(reason) => Error::Usage(format!("column '{}': {reason}", about.name)),
                error => error,
            })?;
        }
        Ok(())
    }
}

fn reference<'a>(about: &EncodedColumn, buffer: &'a ColumnBuffer) -> Option<Reference<'a>> {
    let BufferedValues::Integers(values) = &buffer.values else { return None };
    Some(Reference { column: about.number, values: values.slice() })
}

fn write_cluster(partition: &Partition, writer: &mut ChunkWriter<'_>) -> Result<EncodedCluster> {
    let lengths = IntegerBuffer::of_codes(partition.lengths.iter().copied(), MAX_ROW_GROUP_ROWS);
    let order = writer.extra(partition.codes())?;
    Ok(EncodedCluster { runs: partition.lengths.len() as u32, order, lengths: writer.extra(lengths.slice())? })
}

impl PartEncoder for Encoder {
    fn begin(&mut self, part: u64) {
        self.part = Some(part);
    }

    fn skip(&mut self) {
        self.end();
    }

    fn finish(&mut self) -> Result<Part> {
        let sampled = self.sampled.filter(|_| self.part == Some(0));
        let sample = sampled.map(|is_obvious| Sample::new(&self.about, &self.columns, self.rows, is_obvious));
        let rows = std::mem::take(&mut self.rows) as u64;
        let partition = self.cluster(sample.as_ref());
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut writer = ChunkWriter::new(self.compression, &mut bytes);
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut references = Vec::new();
        for (index, about) in self.about.iter().enumerate().filter(|_| rows > 0) {
            let (before, rest) = self.columns.split_at_mut(index);
            let of = |&index: &usize| reference(&self.about[index], &before[index]);
            let references_of_date: Vec<_> = references.iter().filter(|_| about.is_date).filter_map(of).collect();
            let estimate = |values: Strings<'_>| self.tokens.estimate(self.part, about.number, values);
            let runs = match &partition {
                Some((key, partition)) if *key == index => RunLayout::PerRun(&partition.lengths),
                Some((_, partition)) => RunLayout::PerRow(&partition.lengths),
                None => RunLayout::None,
            };
            let encoded = writer.write(&mut rest[0], runs, &references_of_date, estimate)?;
            let is_key = matches!(runs, RunLayout::PerRun(_));
            let is_whole =
                matches!(&encoded, Encoded::Chunk(chunk) if chunk.is_by_itself() && chunk.nulls == 0 && !is_key);
            if about.is_date && is_whole && references.len() < MAX_REFERENCES {
                references.push(index);
            }
            columns.push(encoded);
        }
        let cluster = partition.map(|(_, partition)| write_cluster(&partition, &mut writer)).transpose()?;
        self.columns.iter_mut().for_each(ColumnBuffer::clear);
        self.end();
        let meta_bytes = columns.iter().map(Encoded::memory).sum();
        let meta = Box::new(PartMeta { columns, cluster, sample });
        Ok(Part { rows, bytes, cuts: Vec::new(), meta, meta_bytes })
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}
