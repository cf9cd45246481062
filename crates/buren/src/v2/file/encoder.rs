//! Turns the rows of one split, or some of their columns, into column chunks.

use super::chunk_writer::{ChunkWriter, Encoded};
use super::footer::MOST_ROWS;
use super::gathered::Gathered;
use brc_compress::Compressor;
use brc_core::{Batch, Error, Part, PartEncoder, Result, Sink, Summary};
use foldhash::fast::RandomState;

/// What the writer must know of a part: its columns; chunks are placed from the start of the part.
pub(super) struct PartMeta {
    pub(super) columns: Vec<Encoded>,
}

/// One worker's encoder.
pub(super) struct Encoder {
    /// The names of the columns, for messages.
    names: Vec<String>,
    compression: Compressor,
    rows: usize,
    columns: Vec<Gathered>,
    bytes: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(names: Vec<String>, compression: Compressor, hasher: RandomState) -> Self {
        let columns = names.iter().map(|_| Gathered::new(&hasher)).collect();
        Self { names, compression, rows: 0, columns, bytes: Vec::new() }
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.columns.len() != self.columns.len() {
            let (found, expected) = (batch.columns.len(), self.columns.len());
            return Err(Error::Usage(format!("a batch of {found} columns for a table of {expected}")));
        }
        self.rows += batch.rows;
        if self.rows > MOST_ROWS as usize {
            let reason = format!("one of its row groups would have more than {MOST_ROWS} rows");
            return Err(Error::too_large("buren", reason));
        }
        for ((gathered, column), name) in self.columns.iter_mut().zip(batch.columns).zip(&self.names) {
            gathered.append(column, batch.rows).map_err(|error| match error {
                Error::Usage(reason) => Error::Usage(format!("column '{name}': {reason}")),
                error => error,
            })?;
        }
        Ok(())
    }

    fn summary(&mut self, _summary: &Summary<'_>) -> Result<()> {
        Err(Error::Usage("a summary cannot be encoded: it has no rows".to_owned()))
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let rows = std::mem::take(&mut self.rows) as u64;
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut writer = ChunkWriter::new(self.compression, &mut bytes);
        let gathered = if rows == 0 { &mut [][..] } else { &mut self.columns };
        let write = |column: &mut Gathered| {
            let encoded = writer.write(column);
            column.clear();
            encoded
        };
        let columns = gathered.iter_mut().map(write).collect::<Result<_>>()?;
        Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(PartMeta { columns }) })
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}
