//! Columns decoded by the library: those that the faster reader here does not support, above all columns with nulls.
//!
//! The library receives pages that were read, checked and decompressed here, so that damage is reported as everywhere
//! else, and columns outside the projection are not read.

use super::int96;
use super::page::{
    BIT_PACKED, BYTE_STREAM_SPLIT, DATA_PAGE_V2, DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY,
    DICTIONARY_PAGE, PLAIN, PLAIN_DICTIONARY, PageHeader, Pages, RLE, RLE_DICTIONARY,
};
use super::row_group::FileColumn;
use crate::columnar::{Fault, WINDOW, guarded};
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, Fields};
use brc_core::TimeUnit;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as LibraryResult};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A column chunk that the library decodes.
pub(super) struct LibraryColumn {
    reader: ParquetRecordBatchReader,
    /// The unit of 96-bit timestamps, which the library returns as twelve bytes.
    int96: Option<TimeUnit>,
    /// The number of delivered rows.
    row: usize,
    /// In nanoseconds.
    decompress_time: Arc<AtomicU64>,
}

impl LibraryColumn {
    /// The column chunk of a row group of `rows` rows whose pages are in memory.
    pub(super) fn new(
        metadata: &ParquetMetaData,
        column: &FileColumn,
        rows: usize,
        pages: Pages,
        has_dictionary: bool,
    ) -> Result<Self, Fault> {
        let decompress_time = Arc::<AtomicU64>::default();
        let pages = ChunkPages { pages, rows, decompress_time: Arc::clone(&decompress_time) };
        let chunk = OneColumn { rows, pages: RefCell::new(Some(pages)), metadata };
        let hints: Fields = std::iter::once(hint(column, has_dictionary)).collect();
        let types = vec![Arc::clone(&column.file_type)];
        let reader = guarded(|| {
            let root = Type::group_type_builder("schema").with_fields(types).build().map_err(fault)?;
            let schema = SchemaDescriptor::new(Arc::new(root));
            let levels = parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), Some(&hints)).map_err(fault)?;
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, &chunk, WINDOW, None).map_err(fault)
        });
        Ok(Self { reader: reader?, int96: column.int96, row: 0, decompress_time })
    }

    /// The next `rows` rows.
    pub(super) fn next(&mut self, rows: usize) -> Result<ArrayRef, Fault> {
        let fewer = || Fault::corrupt("it has fewer values than the row group has rows");
        let batch = guarded(|| match self.reader.next() {
            None => Err(fewer()),
            Some(Err(error)) => Err(fault(ParquetError::General(error.to_string()))),
            Some(Ok(batch)) => Ok(batch),
        })?;
        if batch.num_rows() != rows || batch.num_columns() != 1 {
            return Err(fewer());
        }
        let row = self.row;
        self.row += rows;
        let array = batch.column(0);
        match (self.int96, array.as_fixed_size_binary_opt()) {
            (None, _) => Ok(Arc::clone(array)),
            (Some(unit), Some(values)) => int96::timestamps(values, unit, row),
            (Some(_), None) => Err(Fault::corrupt("its timestamps do not have 96 bits")),
        }
    }

    /// Whether all values were read.
    pub(super) fn is_over(&mut self) -> Result<bool, Fault> {
        guarded(|| Ok(self.reader.next().is_none()))
    }

    /// The time spent on decompression since the last call.
    pub(super) fn decompress_time(&self) -> Duration {
        Duration::from_nanos(self.decompress_time.swap(0, Relaxed))
    }
}

/// The Arrow type to request from the library: strings with a dictionary as codes.
fn hint(column: &FileColumn, has_dictionary: bool) -> Field {
    let is_text = column.file_type.get_physical_type() == parquet::basic::Type::BYTE_ARRAY && column.stored.is_some();
    let data_type = if is_text && has_dictionary {
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Binary))
    } else {
        // A hint without effect.
        DataType::Null
    };
    Field::new(column.file_type.name(), data_type, true)
}

fn fault(error: ParquetError) -> Fault {
    let text = error.to_string();
    if text.contains("NYI") { Fault::unsupported(text) } else { Fault::corrupt(text) }
}

/// A row group with one column, in memory.
struct OneColumn<'a> {
    rows: usize,
    pages: RefCell<Option<ChunkPages>>,
    metadata: &'a ParquetMetaData,
}

impl RowGroups for OneColumn<'_> {
    fn num_rows(&self) -> usize {
        self.rows
    }

    fn column_chunks(&self, _: usize) -> LibraryResult<Box<dyn PageIterator>> {
        let pages = self.pages.borrow_mut().take();
        let pages = pages.ok_or_else(|| ParquetError::General("a column is read twice".to_owned()))?;
        Ok(Box::new(OneChunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::empty())
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}

/// The only chunk of a column.
struct OneChunk(Option<ChunkPages>);

impl Iterator for OneChunk {
    type Item = LibraryResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let pages = self.0.take()?;
        Some(Ok(Box::new(pages)))
    }
}

impl PageIterator for OneChunk {}

/// Passes pages to the library.
struct ChunkPages {
    pages: Pages,
    rows: usize,
    decompress_time: Arc<AtomicU64>,
}

impl ChunkPages {
    fn page(&mut self) -> Result<Option<Page>, Fault> {
        let header = self.pages.next()?;
        let took = std::mem::take(&mut self.pages.decompress_time);
        self.decompress_time.fetch_add(took.as_nanos() as u64, Relaxed);
        let Some(header) = header else { return Ok(None) };
        let body = self.pages.body();
        check(&header, body, self.rows)?;
        let buf = Bytes::copy_from_slice(body);
        let (encoding, num_values) = (encoding(header.encoding)?, header.values as u32);
        Ok(Some(match header.kind {
            DICTIONARY_PAGE => Page::DictionaryPage { buf, num_values, encoding, is_sorted: false },
            DATA_PAGE_V2 => Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls: header.nulls as u32,
                num_rows: header.rows as u32,
                def_levels_byte_len: header.level_bytes[1] as u32,
                rep_levels_byte_len: header.level_bytes[0] as u32,
                is_compressed: false,
                statistics: None,
            },
            _ => Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding: self::encoding(header.level_encoding)?,
                rep_level_encoding: self::encoding(header.repetition_encoding)?,
                statistics: None,
            },
        }))
    }
}

/// Checks the sizes that the library uses for allocations.
fn check(header: &PageHeader, body: &[u8], rows: usize) -> Result<(), Fault> {
    let levels: usize = header.level_bytes.iter().sum();
    let is_dictionary = header.kind == DICTIONARY_PAGE;
    if !is_dictionary && header.values > rows || header.nulls > header.values || header.rows > rows {
        return Err(Fault::corrupt("a page has more values than the row group has rows"));
    }
    // Each value takes at least one bit.
    if is_dictionary && header.values / 8 > body.len() || levels > body.len() {
        return Err(Fault::corrupt("a page is shorter than its values"));
    }
    Ok(())
}

fn encoding(number: i64) -> Result<Encoding, Fault> {
    Ok(match number {
        PLAIN => Encoding::PLAIN,
        PLAIN_DICTIONARY => Encoding::PLAIN_DICTIONARY,
        RLE => Encoding::RLE,
        #[allow(deprecated)]
        BIT_PACKED => Encoding::BIT_PACKED,
        DELTA_BINARY_PACKED => Encoding::DELTA_BINARY_PACKED,
        DELTA_LENGTH_BYTE_ARRAY => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        DELTA_BYTE_ARRAY => Encoding::DELTA_BYTE_ARRAY,
        RLE_DICTIONARY => Encoding::RLE_DICTIONARY,
        BYTE_STREAM_SPLIT => Encoding::BYTE_STREAM_SPLIT,
        other => return Err(Fault::corrupt(format!("a page is of the unknown encoding {other}"))),
    })
}

impl Iterator for ChunkPages {
    type Item = LibraryResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ChunkPages {
    fn get_next_page(&mut self) -> LibraryResult<Option<Page>> {
        self.page().map_err(|fault| match fault {
            Fault::Corrupt(reason) | Fault::Unsupported(reason) | Fault::UnsupportedRow(_, reason) => {
                ParquetError::General(reason.into_owned())
            }
        })
    }

    fn peek_next_page(&mut self) -> LibraryResult<Option<PageMetadata>> {
        Err(ParquetError::General("pages are read one after the other".to_owned()))
    }

    fn skip_next_page(&mut self) -> LibraryResult<()> {
        Err(ParquetError::General("pages are read one after the other".to_owned()))
    }
}
