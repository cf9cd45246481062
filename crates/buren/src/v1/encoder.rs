//! Turns the rows of one split into one row group: gather, choose the key, cluster, encode.

use crate::block;
use crate::integer_buffer::IntegerBuffer;
use crate::run_statistics::RunStatistics;
use crate::v1::cluster::{Partition, choose_key};
use crate::v1::footer::{Chunk, Cluster, Content, ROWS_PER_BLOCK, RowGroup};
use crate::v1::footer_check::MOST_ROWS;
use crate::v1::gathered_strings::GatheredStrings;
use crate::v1::run_index;
use crate::v1::runs::RunWalk;
use crate::v1::schemes::{self, Facts, Frames};
use brc_compress::Compressor;
use brc_core::{
    Batch, Data, Dictionary, Error, LogicalType, Part, PartEncoder, Result, Run, Schema, Sink, Statistics, Summary,
};
use std::sync::Arc;

/// What the writer must know of a part. The row group's code maps are still to be made.
pub(crate) struct PartMeta {
    pub(crate) row_group: RowGroup,
    /// For each string column, the value of each of its codes.
    pub(crate) dictionaries: Vec<Dictionary>,
}

/// One worker's encoder. Its buffers are used again for every part.
pub(crate) struct Encoder {
    schema: Arc<Schema>,
    compression: Compressor,
    key: Option<usize>,
    rows: usize,
    columns: Vec<Gathered>,
    partition: Partition,
    clustered: IntegerBuffer,
    chunk_writer: ChunkWriter,
    bytes: Vec<u8>,
}

/// The rows of one column gathered so far.
enum Gathered {
    String(GatheredStrings),
    Decimal { values: IntegerBuffer, runs: RunStatistics },
}

impl Encoder {
    pub(crate) fn new(schema: Arc<Schema>, compression: Compressor, key: Option<usize>) -> Self {
        let gathered = |logical_type: &LogicalType| match logical_type {
            LogicalType::String => Gathered::String(GatheredStrings::default()),
            _ => Gathered::Decimal { values: IntegerBuffer::default(), runs: RunStatistics::default() },
        };
        let columns = schema.fields().iter().map(|field| gathered(&field.logical_type)).collect();
        Self {
            schema,
            compression,
            key,
            rows: 0,
            columns,
            partition: Partition::default(),
            clustered: IntegerBuffer::default(),
            chunk_writer: ChunkWriter::default(),
            bytes: Vec::new(),
        }
    }

    fn choose_key(&self, columns: &[Gathered]) -> Option<usize> {
        let strings = columns.iter().enumerate().filter_map(|(index, column)| match column {
            Gathered::String(strings) => Some((index, strings.dictionary.len())),
            Gathered::Decimal { .. } => None,
        });
        self.key.or_else(|| choose_key(strings, self.rows))
    }

    fn encode(&mut self, bytes: &mut Vec<u8>) -> Result<RowGroup> {
        let mut columns = std::mem::take(&mut self.columns);
        let row_group = self.encode_columns(&mut columns, bytes);
        self.columns = columns;
        row_group
    }

    /// Encodes all columns and, of a clustered row group, the run index.
    fn encode_columns(&mut self, columns: &mut [Gathered], bytes: &mut Vec<u8>) -> Result<RowGroup> {
        let key = self.choose_key(columns);
        let key_codes = key.and_then(|key| match &mut columns[key] {
            Gathered::String(strings) => Some((key, std::mem::take(&mut strings.codes), strings.dictionary.len())),
            Gathered::Decimal { .. } => None,
        });
        if let Some((_, codes, cardinality)) = &key_codes {
            self.partition.prepare(codes.slice(), *cardinality);
        }
        let mut chunks = Vec::new();
        for (index, column) in columns.iter_mut().enumerate() {
            chunks.push(match &key_codes {
                Some((key, codes, cardinality)) if *key == index => {
                    self.chunk_writer.strings(codes, *cardinality, self.compression, bytes)?
                }
                Some((_, codes, _)) => self.encode_clustered(column, codes, bytes)?,
                None => self.encode_in_order(column, bytes)?,
            });
        }
        let cluster = match key_codes {
            None => None,
            Some((key, codes, _)) => {
                if let Gathered::String(strings) = &mut columns[key] {
                    strings.codes = codes;
                }
                Some(Cluster { key, run_index: self.write_run_index(columns, bytes)? })
            }
        };
        Ok(RowGroup { rows: self.rows as u32, cluster, chunks })
    }

    fn encode_in_order(&mut self, column: &Gathered, bytes: &mut Vec<u8>) -> Result<Chunk> {
        match column {
            Gathered::String(strings) => {
                self.chunk_writer.strings(&strings.codes, strings.dictionary.len(), self.compression, bytes)
            }
            Gathered::Decimal { values, .. } => {
                let all = values.slice().statistics();
                self.chunk_writer.decimals(values, all, None, self.compression, bytes)
            }
        }
    }

    fn encode_clustered(&mut self, column: &mut Gathered, key: &IntegerBuffer, bytes: &mut Vec<u8>) -> Result<Chunk> {
        match column {
            Gathered::String(strings) => {
                self.partition.scatter(key.slice(), &strings.codes, &mut self.clustered);
                self.chunk_writer.strings(&self.clustered, strings.dictionary.len(), self.compression, bytes)
            }
            Gathered::Decimal { values, runs } => {
                self.partition.scatter(key.slice(), values, &mut self.clustered);
                runs.clear();
                let mut all = Statistics::EMPTY;
                let mut start = 0;
                for &rows in self.partition.rows() {
                    let end = start + rows as usize;
                    let of_run = self.clustered.slice().slice(start..end).statistics();
                    runs.push(&of_run, None);
                    all.merge(&of_run);
                    start = end;
                }
                let runs = Some((self.partition.rows(), &*runs));
                self.chunk_writer.decimals(&self.clustered, all, runs, self.compression, bytes)
            }
        }
    }

    fn write_run_index(&mut self, columns: &[Gathered], bytes: &mut Vec<u8>) -> Result<block::Block> {
        let start = bytes.len();
        let decimals = columns.iter().filter_map(|column| match column {
            Gathered::Decimal { runs, .. } => Some(runs),
            Gathered::String(_) => None,
        });
        run_index::write(self.partition.rows(), decimals, bytes);
        block::seal(self.compression, bytes, start, &mut self.chunk_writer.compressed)
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.columns.len() != self.columns.len() {
            return Err(Error::Usage(format!(
                "a batch of {} columns for a table of {}",
                batch.columns.len(),
                self.columns.len()
            )));
        }
        for (index, (gathered, column)) in self.columns.iter_mut().zip(batch.columns).enumerate() {
            if column.has_nulls() {
                let name = &self.schema.fields()[index].name;
                return Err(Error::Usage(format!(
                    "column '{name}' has nulls, which no table clustered by a key can have"
                )));
            }
            let stored = match (gathered, column.data) {
                (Gathered::String(strings), _) => strings.append(column),
                (Gathered::Decimal { values, .. }, Data::Integers(new)) => values.extend(new).is_some(),
                (Gathered::Decimal { .. }, _) => false,
            };
            if !stored {
                let field = &self.schema.fields()[index];
                return Err(Error::Usage(format!("buren cannot store what is in column '{}'", field.name)));
            }
        }
        self.rows += batch.rows;
        if self.rows > MOST_ROWS as usize {
            return Err(Error::too_large(
                "buren",
                format!("one of its row groups would have more than {MOST_ROWS} rows"),
            ));
        }
        Ok(())
    }

    fn summary(&mut self, _summary: &Summary<'_>) -> Result<()> {
        Err(Error::Usage("a summary cannot be encoded: it has no rows".to_owned()))
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let rows = self.rows as u64;
        let no_rows = RowGroup { rows: 0, cluster: None, chunks: Vec::new() };
        let row_group = if rows == 0 { no_rows } else { self.encode(&mut bytes)? };
        let mut dictionaries = Vec::new();
        for column in &mut self.columns {
            dictionaries.push(match column {
                Gathered::String(strings) => strings.take_dictionary(),
                Gathered::Decimal { values, .. } => {
                    values.clear();
                    Dictionary::new()
                }
            });
        }
        self.rows = 0;
        Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(PartMeta { row_group, dictionaries }), meta_bytes: 0 })
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}

/// Writes column chunks, with buffers that are used again.
#[derive(Default)]
struct ChunkWriter {
    runs: Vec<Run>,
    compressed: Vec<u8>,
}

impl ChunkWriter {
    fn strings(
        &mut self,
        codes: &IntegerBuffer,
        cardinality: usize,
        compression: Compressor,
        bytes: &mut Vec<u8>,
    ) -> Result<Chunk> {
        let content = Content::String { cardinality: cardinality as u32, map: block::Block::default() };
        self.write(codes, content, None, compression, bytes)
    }

    fn decimals(
        &mut self,
        values: &IntegerBuffer,
        statistics: Statistics,
        runs: Option<(&[u32], &RunStatistics)>,
        compression: Compressor,
        bytes: &mut Vec<u8>,
    ) -> Result<Chunk> {
        self.write(values, Content::Decimal(statistics), runs, compression, bytes)
    }

    /// Chooses the scheme and appends the chunk block by block.
    fn write(
        &mut self,
        integers: &IntegerBuffer,
        content: Content,
        runs: Option<(&[u32], &RunStatistics)>,
        compression: Compressor,
        bytes: &mut Vec<u8>,
    ) -> Result<Chunk> {
        let mut chunk = Chunk { scheme: schemes::SCHEMES[0], width: 0, content, blocks: Vec::new() };
        let (min, max) = chunk.bounds();
        let facts = Facts { min, max, widest_run: runs.map(|(_, statistics)| statistics.widest()) };
        let rows = integers.len();
        (chunk.scheme, chunk.width) = schemes::smallest(&facts, rows as u32, ROWS_PER_BLOCK);
        let (run_rows, bases) = runs.map_or((&[][..], &[][..]), |(rows, statistics)| (rows, &statistics.min));
        let mut walk = RunWalk::new(run_rows, run_rows, 0);
        let mut start = 0;
        while start < rows && chunk.scheme.block_bytes(chunk.width, ROWS_PER_BLOCK).is_some() {
            let end = rows.min(start + ROWS_PER_BLOCK as usize);
            let of_block = walk.take(end - start, &mut self.runs);
            let frames = Frames { chunk: min, runs: &self.runs, bases: &bases[of_block] };
            let block_start = bytes.len();
            let values = integers.slice().slice(start..end);
            chunk.scheme.encode(chunk.width, values, frames, bytes);
            chunk.blocks.push(block::seal(compression, bytes, block_start, &mut self.compressed)?);
            start = end;
        }
        Ok(chunk)
    }
}
