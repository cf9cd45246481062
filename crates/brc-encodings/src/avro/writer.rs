//! Writes a file: each part is a sequence of blocks; the last block is held back until it is known whether it is the
//! file's last.

use super::NAME;
use super::codec::{Codec, LARGEST_BLOCK};
use super::container::{BlockHeader, Header, Sync, push_long, push_longer};
use super::row_writer::AvroRowWriter;
use super::schema;
use super::table::COLUMNS;
use crate::columnar;
use crate::rows::{RowBuffer, RowEncoder};
use brc_compress::Compressor;
use brc_core::{Batch, BatchWriter, Error, Part, PartEncoder, Result, Schema, Sink};

/// A block ends after the row that fills this many bytes.
const BLOCK_BYTES: usize = 64 << 10;

/// The size in bytes from which a part is handed over before its end.
const LARGE_PART: usize = 16 << 20;

pub(super) struct Writer {
    schema: Schema,
    compressor: Compressor,
    header: Vec<u8>,
    sync: Sync,
    /// The last block, which is written before the next one, or at the end.
    held: Vec<u8>,
}

impl Writer {
    pub(super) fn new(schema: &Schema, compressor: Compressor) -> Self {
        let columns = Schema::to_string(schema);
        let about: Vec<_> =
            std::iter::once((COLUMNS.to_owned(), columns)).chain(columnar::metadata_of(schema)).collect();
        let codec = Codec::of(compressor.compression).unwrap_or(Codec::Null);
        let (header, sync) = Header::write(&schema::write(schema), codec, &about);
        Self { schema: schema.clone(), compressor, header, sync, held: Vec::new() }
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder {
            encoder: RowEncoder::new(NAME, &self.schema, AvroRowWriter::new(&self.schema)),
            codec: Codec::of(self.compressor.compression).unwrap_or(Codec::Null),
            compressor: self.compressor,
            sync: self.sync,
            block: RowBuffer::default(),
            rows_of_block: 0,
            rows: 0,
            rows_given: 0,
            bytes: Vec::new(),
            last: 0,
        })
    }

    fn start(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.header)
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let last = part.meta.downcast_ref::<usize>().copied().filter(|last| *last < part.bytes.len());
        if let Some(last) = last {
            let held = std::mem::replace(&mut self.held, part.bytes.split_off(last));
            part.bytes.splice(0..0, held);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let held = std::mem::take(&mut self.held);
        let mut bytes = Vec::with_capacity(held.len() + 1);
        match BlockHeader::read(&held) {
            Some(header) => {
                push_longer(header.rows as i64, &mut bytes);
                push_long(header.stored as i64, &mut bytes);
                bytes.extend_from_slice(&held[header.length..]);
            }
            None => {
                // A table without rows.
                let mut stored = Vec::new();
                let codec = Codec::of(self.compressor.compression).unwrap_or(Codec::Null);
                codec.compress(self.compressor, &[], &mut stored);
                push_longer(0, &mut bytes);
                push_long(stored.len() as i64, &mut bytes);
                bytes.extend_from_slice(&stored);
                bytes.extend_from_slice(&self.sync);
            }
        }
        Ok(bytes)
    }
}

/// Encodes the rows of parts, for one worker.
struct Encoder {
    encoder: RowEncoder<AvroRowWriter>,
    codec: Codec,
    compressor: Compressor,
    sync: Sync,
    /// The rows of the unfinished block.
    block: RowBuffer,
    rows_of_block: u64,
    /// The rows of the part, and the number of those handed over.
    rows: u64,
    rows_given: u64,
    /// The finished blocks, and the offset of the last.
    bytes: Vec<u8>,
    last: usize,
}

impl Encoder {
    fn end_block(&mut self) -> Result<()> {
        if self.rows_of_block == 0 {
            return Ok(());
        }
        let rows = self.block.take();
        if rows.len() > LARGEST_BLOCK {
            return Err(Error::too_large(NAME, format!("a row has more than {} MiB", LARGEST_BLOCK >> 20)));
        }
        let mut stored = Vec::new();
        self.codec.compress(self.compressor, &rows, &mut stored);
        self.block.recycle(rows);
        self.last = self.bytes.len();
        push_long(self.rows_of_block as i64, &mut self.bytes);
        push_long(stored.len() as i64, &mut self.bytes);
        self.bytes.extend_from_slice(&stored);
        self.bytes.extend_from_slice(&self.sync);
        self.rows_of_block = 0;
        Ok(())
    }

    /// The part with the finished blocks.
    fn part(&mut self) -> Part {
        let finished = self.rows - self.rows_of_block;
        let rows = finished - std::mem::replace(&mut self.rows_given, finished);
        let bytes = std::mem::take(&mut self.bytes);
        Part { rows, bytes, cuts: Vec::new(), meta: Box::new(std::mem::take(&mut self.last)), meta_bytes: 0 }
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let (mut done, rows_before) = (0, self.rows);
        while done < batch.rows {
            let going_on = |row: std::ops::Range<usize>| row.end < BLOCK_BYTES;
            let added = self.encoder.push(batch, done..batch.rows, rows_before, &mut self.block, going_on)?;
            done += added;
            self.rows += added as u64;
            self.rows_of_block += added as u64;
            if self.block.len() >= BLOCK_BYTES {
                self.end_block()?;
            }
        }
        Ok(())
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        self.end_block()?;
        let part = self.part();
        (self.rows, self.rows_given) = (0, 0);
        Ok(part)
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        Ok((self.bytes.len() >= LARGE_PART).then(|| self.part()))
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}
