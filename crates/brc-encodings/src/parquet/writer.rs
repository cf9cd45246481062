//! Assembles row groups to a file and writes the footer.

use super::NAME;
use super::encoder::{Bounds, Chunk, Encoder, PartMeta};
use super::types;
use crate::columnar::{factor, metadata_of, seal};
use brc_compress::Compressor;
use brc_core::{BatchWriter, ColumnarWriter, Error, LogicalType, Part, PartEncoder, Result, Schema, float32, uuid};
use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::statistics::Statistics;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

pub(super) const MAGIC: &[u8; 4] = b"PAR1";

/// The start of a file: the magic, and the mark of a footer with a checksum. Other programs find column chunks by the
/// footer alone.
pub(super) fn start() -> Vec<u8> {
    [MAGIC, seal::MARK.as_bytes()].concat()
}

/// The footer key of the checksums of all column chunks.
pub(super) const CHECKSUMS: &str = "brc.checksums";

/// The footer key of the schema of `brc`, if the format cannot express it: it has no unit of seconds.
pub(super) const SCHEMA: &str = "brc.schema";

pub(super) struct Writer {
    schema: Arc<Schema>,
    compressor: Compressor,
    row_groups: Vec<RowGroup>,
    /// The offset of the next part.
    end: u64,
}

struct RowGroup {
    rows: u64,
    /// With offsets from the start of the file.
    chunks: Vec<Chunk>,
}

impl Writer {
    pub(super) fn new(schema: &Schema, compressor: Compressor) -> Self {
        Self { schema: Arc::new(schema.clone()), compressor, row_groups: Vec::new(), end: start().len() as u64 }
    }

    /// The metadata of the next part, with offsets in the file.
    fn take(&mut self, part: &mut Part) -> Result<Vec<Chunk>> {
        let meta = std::mem::replace(&mut part.meta, Box::new(()) as Box<dyn Any + Send>).downcast::<PartMeta>();
        let meta =
            meta.map_err(|_| Error::Usage("a part that no parquet encoder made, or one appended twice".into()))?;
        let mut chunks = meta.chunks;
        for chunk in &mut chunks {
            chunk.start += self.end;
            chunk.data += self.end;
        }
        if part.rows == 0 {
            part.bytes.clear();
        }
        self.end += part.bytes.len() as u64;
        Ok(chunks)
    }

    /// The footer's key-value metadata.
    fn about(&self) -> Vec<KeyValue> {
        let checksums: Vec<_> = self.row_groups.iter().flat_map(|group| &group.chunks).collect();
        let checksums: Vec<_> = checksums.into_iter().map(|chunk| chunk.checksum).collect();
        let mut about = vec![KeyValue::new(CHECKSUMS.to_owned(), seal::to_text(&checksums))];
        if self.schema.fields().iter().any(|field| factor(field.logical_type) != 1) {
            about.push(KeyValue::new(SCHEMA.to_owned(), self.schema.to_string()));
        }
        about.extend(metadata_of(&self.schema).map(|(key, value)| KeyValue::new(key, value)));
        about
    }

    fn footer(&self) -> Result<Vec<u8>, ParquetError> {
        let columns = self.schema.fields().iter().map(types::field);
        let root = Type::group_type_builder("schema").with_fields(columns.collect::<Result<_, _>>()?).build()?;
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(root)));

        let own = self.about();
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
            let metadata = ColumnChunkMetaData::builder(Arc::clone(column))
                .set_encodings(chunk.encodings.clone())
                .set_num_values(self.rows as i64)
                .set_compression_codec(chunk.codec)
                .set_total_compressed_size(chunk.stored as i64)
                .set_total_uncompressed_size(chunk.unpacked as i64)
                .set_dictionary_page_offset(chunk.has_dictionary.then_some(chunk.start as i64))
                .set_data_page_offset(chunk.data as i64);
            metadata.set_statistics(statistics(chunk, column.physical_type())).build()
        });
        RowGroupMetaData::builder(Arc::clone(schema))
            .set_column_metadata(columns.collect::<Result<_, _>>()?)
            .set_num_rows(self.rows as i64)
            .set_total_byte_size(self.chunks.iter().map(|chunk| chunk.unpacked as i64).sum())
            .set_file_offset(self.chunks.iter().map(|chunk| chunk.start as i64).min().unwrap_or(0))
            .set_ordinal(index as i16)
            .build()
    }
}

/// The statistics of a column chunk. Readers ignore statistics without bounds, except for the null count.
fn statistics(chunk: &Chunk, stored: Physical) -> Statistics {
    let nulls = Some(chunk.nulls);
    let integers = match chunk.bounds {
        Bounds::Integers(min, max) => (Some(min), Some(max)),
        _ => (None, None),
    };
    let both = |narrow: fn(i128) -> i64| (integers.0.map(narrow), integers.1.map(narrow));
    match stored {
        Physical::BOOLEAN => {
            Statistics::boolean(integers.0.map(|min| min != 0), integers.1.map(|max| max != 0), None, nulls, false)
        }
        Physical::INT32 => {
            let (min, max) = both(|value| value as i64);
            Statistics::int32(min.map(|min| min as i32), max.map(|max| max as i32), None, nulls, false)
        }
        Physical::FIXED_LEN_BYTE_ARRAY => {
            let is_uuid = chunk.field.logical_type == LogicalType::Uuid;
            let bytes = |value: i128| if is_uuid { uuid::to_bytes(value) } else { value.to_be_bytes() };
            let bytes = |value: Option<i128>| value.map(|value| FixedLenByteArray::from(bytes(value).to_vec()));
            Statistics::fixed_len_byte_array(bytes(integers.0), bytes(integers.1), None, nulls, false)
        }
        Physical::FLOAT => match chunk.bounds {
            Bounds::Floats(min, max) => {
                let [min, max] = [min, max].map(|bound| Some(float32::nearest(bound)));
                Statistics::float(min, max, None, nulls, false)
            }
            _ => Statistics::float(None, None, None, nulls, false),
        },
        Physical::DOUBLE => match chunk.bounds {
            Bounds::Floats(min, max) => Statistics::double(Some(min), Some(max), None, nulls, false),
            _ => Statistics::double(None, None, None, nulls, false),
        },
        Physical::BYTE_ARRAY => match &chunk.bounds {
            Bounds::Text(min, max) => {
                let [min, max] = [min, max].map(|text| Some(ByteArray::from(text.clone())));
                Statistics::byte_array(min, max, None, nulls, false)
            }
            _ => Statistics::byte_array(None, None, None, nulls, false),
        },
        Physical::INT64 | Physical::INT96 => {
            // Unsigned values have unsigned order, and are stored as their bits.
            let (min, max) = both(|value| value as i64);
            Statistics::int64(min, max, None, nulls, false)
        }
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder::new(&self.schema, self.compressor))
    }

    fn start(&mut self) -> Vec<u8> {
        start()
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let chunks = self.take(part)?;
        if part.rows == 0 {
            return Ok(());
        }
        if self.row_groups.len() > i16::MAX as usize {
            return Err(Error::too_large(NAME, format!("it has more than {} row groups", i16::MAX)));
        }
        self.row_groups.push(RowGroup { rows: part.rows, chunks });
        Ok(())
    }

    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        Some(self)
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let refused = |error: ParquetError| Error::too_large(NAME, error.to_string());
        let mut end = self.footer().map_err(refused)?;
        // The footer is followed by its length and the magic.
        let footer = end.len().saturating_sub(8);
        if !seal::seal(&mut end[..footer]) {
            return Err(Error::Usage("parquet has no room for the checksum of the footer".into()));
        }
        Ok(end)
    }
}

impl ColumnarWriter for Writer {
    fn encoder_of(&self, schema: &Schema, columns: &[usize]) -> Result<Box<dyn PartEncoder>> {
        let fields = columns.iter().map(|&column| schema.fields()[column].clone()).collect();
        let schema = Schema::new(fields).map_err(|error| Error::Usage(error.to_string()))?;
        Ok(Box::new(Encoder::new(&Arc::new(schema), self.compressor)))
    }

    fn replace(&mut self, part: u64, columns: &[usize], made: &mut Part) -> Result<()> {
        let chunks = self.take(made)?;
        let unknown = || Error::Usage(format!("part {part} has fewer rows or columns"));
        let group = usize::try_from(part).ok().and_then(|part| self.row_groups.get_mut(part));
        let group = group.filter(|group| group.rows == made.rows && columns.len() == chunks.len());
        let group = group.ok_or_else(unknown)?;
        for (&column, chunk) in columns.iter().zip(chunks) {
            *group.chunks.get_mut(column).ok_or_else(unknown)? = chunk;
        }
        Ok(())
    }

    fn rearrange(&mut self, schema: &Schema) -> Result<Vec<Range<u64>>> {
        let is_replaced = |group: &RowGroup| group.chunks.iter().map(|chunk| &chunk.field).eq(schema.fields());
        if !self.row_groups.iter().all(is_replaced) {
            return Err(Error::Usage("a column that turned out wider was not replaced in all parts".to_owned()));
        }
        self.schema = Arc::new(schema.clone());
        self.end = start().len() as u64;
        let mut ranges: Vec<Range<u64>> = std::iter::once(0..self.end).collect();
        for chunk in self.row_groups.iter_mut().flat_map(|group| &mut group.chunks) {
            ranges.push(chunk.start..chunk.start + chunk.stored);
            chunk.data = chunk.data - chunk.start + self.end;
            chunk.start = self.end;
            self.end += chunk.stored;
        }
        Ok(ranges)
    }
}
