//! Puts row groups together to a file and writes the footer.

use super::NAME;
use super::encoder::{Bounds, Chunk, Encoder, PartMeta};
use super::types;
use crate::columnar::{self, DIGITS, seal};
use brc_compress::Compressor;
use brc_core::{BatchWriter, Error, Part, PartEncoder, Result, Schema};
use parquet::basic::{Encoding, Type as Physical};
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::statistics::Statistics;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use std::any::Any;
use std::sync::Arc;

pub(super) const MAGIC: &[u8; 4] = b"PAR1";

/// The key in the footer under which the checksums of all column chunks are.
pub(super) const CHECKSUMS: &str = "brc.checksums";

pub(super) struct Writer {
    schema: Arc<Schema>,
    compressor: Compressor,
    row_groups: Vec<RowGroup>,
    /// Where the next part will lie.
    end: u64,
}

struct RowGroup {
    start: u64,
    rows: u64,
    chunks: Vec<Chunk>,
}

impl Writer {
    pub(super) fn new(schema: &Schema, compressor: Compressor) -> Self {
        Self { schema: Arc::new(schema.clone()), compressor, row_groups: Vec::new(), end: MAGIC.len() as u64 }
    }

    /// The digits of the decimals of a column: those of 64 bits for other programs, if they are enough.
    fn digits(&self, column: usize) -> i32 {
        let fits = |row_group: &RowGroup| match row_group.chunks[column].bounds {
            Bounds::Numbers(min, max) => columnar::has_digits(min, max),
            _ => true,
        };
        if self.row_groups.iter().all(fits) { DIGITS } else { DIGITS + 1 }
    }

    fn footer(&self) -> Result<Vec<u8>, ParquetError> {
        let columns = self.schema.fields().iter().enumerate();
        let columns = columns.map(|(index, field)| types::field(&field.name, field.logical_type, self.digits(index)));
        let root = Type::group_type_builder("schema").with_fields(columns.collect::<Result<_, _>>()?).build()?;
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(root)));

        let checksums: Vec<_> = self.row_groups.iter().flat_map(|group| &group.chunks).collect();
        let checksums: Vec<_> = checksums.into_iter().map(|chunk| chunk.checksum).collect();
        let own = vec![KeyValue::new(CHECKSUMS.to_owned(), seal::to_text(&checksums))];
        let rows: u64 = self.row_groups.iter().map(|row_group| row_group.rows).sum();
        let about = FileMetaData::new(2, rows as i64, Some(seal::created_by()), Some(own), Arc::clone(&schema), None);
        let row_groups = self.row_groups.iter().enumerate();
        let row_groups = row_groups.map(|(index, row_group)| row_group.metadata(index, &schema));
        let metadata = ParquetMetaData::new(about, row_groups.collect::<Result<_, _>>()?);
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &metadata).finish()?;
        Ok(footer)
    }
}

impl RowGroup {
    fn metadata(&self, index: usize, schema: &SchemaDescPtr) -> Result<RowGroupMetaData, ParquetError> {
        let columns = self.chunks.iter().zip(schema.columns()).map(|(chunk, column)| {
            let encodings = if chunk.has_dictionary {
                vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY]
            } else {
                vec![Encoding::PLAIN, Encoding::RLE]
            };
            let place = |offset: u64| (self.start + offset) as i64;
            let metadata = ColumnChunkMetaData::builder(Arc::clone(column))
                .set_encodings(encodings)
                .set_num_values(self.rows as i64)
                .set_compression_codec(chunk.codec)
                .set_total_compressed_size(chunk.stored as i64)
                .set_total_uncompressed_size(chunk.unpacked as i64)
                .set_dictionary_page_offset(chunk.has_dictionary.then(|| place(chunk.start)))
                .set_data_page_offset(place(chunk.data));
            match statistics(&chunk.bounds, column.physical_type()) {
                Some(statistics) => metadata.set_statistics(statistics).build(),
                None => metadata.build(),
            }
        });
        RowGroupMetaData::builder(Arc::clone(schema))
            .set_column_metadata(columns.collect::<Result<_, _>>()?)
            .set_num_rows(self.rows as i64)
            .set_total_byte_size(self.chunks.iter().map(|chunk| chunk.unpacked as i64).sum())
            .set_file_offset(self.start as i64)
            .set_ordinal(index as i16)
            .build()
    }
}

fn statistics(bounds: &Bounds, stored: Physical) -> Option<Statistics> {
    match bounds {
        Bounds::Unknown => None,
        Bounds::Numbers(min, max) if stored == Physical::FIXED_LEN_BYTE_ARRAY => {
            let [min, max] = [*min, *max].map(|number| Some(FixedLenByteArray::from(types::decimal(number).to_vec())));
            Some(Statistics::fixed_len_byte_array(min, max, None, Some(0), false))
        }
        Bounds::Numbers(min, max) => Some(Statistics::int64(Some(*min), Some(*max), None, Some(0), false)),
        Bounds::Text(min, max) => {
            let [min, max] = [min, max].map(|text| Some(ByteArray::from(text.clone())));
            Some(Statistics::byte_array(min, max, None, Some(0), false))
        }
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder::new(&self.schema, self.compressor))
    }

    fn start(&mut self) -> Vec<u8> {
        MAGIC.to_vec()
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let meta = std::mem::replace(&mut part.meta, Box::new(()) as Box<dyn Any + Send>).downcast::<PartMeta>();
        let meta =
            meta.map_err(|_| Error::Usage("a part that no parquet encoder made, or one appended twice".into()))?;
        if part.rows == 0 {
            part.bytes.clear();
            return Ok(());
        }
        if self.row_groups.len() > i16::MAX as usize {
            return Err(Error::too_large(NAME, format!("it has more than {} row groups", i16::MAX)));
        }
        self.row_groups.push(RowGroup { start: self.end, rows: part.rows, chunks: meta.chunks });
        self.end += part.bytes.len() as u64;
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let refused = |error: ParquetError| Error::too_large(NAME, error.to_string());
        let mut end = self.footer().map_err(refused)?;
        // The footer's own length and the magic number follow it.
        let footer = end.len().saturating_sub(8);
        if !seal::seal(&mut end[..footer]) {
            return Err(Error::Usage("parquet has no room for the checksum of the footer".into()));
        }
        Ok(end)
    }
}
