//! The column chunks of a row group as the footer describes them, checked before anything of them is read.

use super::codec::Codec;
use super::types::Stored;
use super::writer::MAGIC;
use crate::columnar::Fault;
use brc_core::{ColumnStatistics, Result, TimeUnit, ValueBounds, uuid};
use parquet::basic::{Encoding, LogicalType as Annotation};
use parquet::data_type::FixedLenByteArray;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::TypePtr;

/// The encodings of dictionary codes.
const DICTIONARY: [Encoding; 2] = [Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY];

/// The value encodings that the reader here supports.
#[allow(deprecated)]
const KNOWN: [Encoding; 5] =
    [Encoding::PLAIN, Encoding::RLE, Encoding::BIT_PACKED, Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY];

/// Whether the reader here supports an encoding of such values.
fn is_known(encoding: Encoding, stored: Option<Stored>) -> bool {
    match encoding {
        Encoding::DELTA_BINARY_PACKED => matches!(stored, Some(Stored::Int32 | Stored::Int64)),
        Encoding::DELTA_LENGTH_BYTE_ARRAY => stored == Some(Stored::Bytes),
        encoding => KNOWN.contains(&encoding),
    }
}

/// A column of the file that belongs to the table.
#[derive(Debug, Clone)]
pub(super) struct FileColumn {
    /// Its position among the column chunks of a row group.
    pub(super) leaf: usize,
    /// The layout of its values in pages, if the reader here supports it.
    pub(super) stored: Option<Stored>,
    /// Whether it is nullable.
    pub(super) is_optional: bool,
    /// Whether it has no type, and only nulls.
    pub(super) is_untyped: bool,
    /// The type that the library receives.
    pub(super) file_type: TypePtr,
    /// The unit in which 96-bit timestamps are delivered.
    pub(super) int96: Option<TimeUnit>,
}

impl FileColumn {
    fn is_uuid(&self) -> bool {
        self.file_type.get_basic_info().logical_type_ref() == Some(&Annotation::Uuid)
    }
}

pub(super) struct RowGroup {
    pub(super) rows: usize,
    pub(super) chunks: Vec<Chunk>,
}

/// A column chunk; its range was checked to be within the file.
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) rows: usize,
    pub(super) stored: usize,
    /// Whether `stored` may exceed the chunk: then only the number of rows determines where its pages end.
    pub(super) is_padded: bool,
    pub(super) unpacked: usize,
    pub(super) codec: Option<Codec>,
    pub(super) bounds: Bounds,
    /// Whether it may have nulls.
    pub(super) has_nulls: bool,
    /// Whether it has only nulls.
    is_all_null: bool,
    pub(super) has_dictionary: bool,
    /// The layout of the values, if the reader here supports the chunk.
    pub(super) fast: Option<Stored>,
    /// The checksum of all its bytes, if `brc` wrote the file.
    pub(super) checksum: Option<u32>,
}

/// The bounds of a column chunk, from the footer.
pub(super) enum Bounds {
    Unknown,
    Numbers(i128, i128),
    Text(Vec<u8>, Vec<u8>),
}

/// The space of column chunks in the file.
pub(super) struct Space {
    /// The offset of the footer.
    end: u64,
    /// The maximum bytes of a column chunk beyond its declared size.
    uncounted: u64,
}

impl Space {
    /// The space before the footer at `end`, for files of that writer.
    pub(super) fn new(end: u64, created_by: Option<&str>) -> Self {
        Self { end, uncounted: if is_short(created_by) { MAX_UNCOUNTED } else { 0 } }
    }
}

/// The maximum bytes that old writers did not count: the header of a dictionary page.
const MAX_UNCOUNTED: u64 = 100;

/// Whether parquet-mr before 1.2.9 wrote the file: it omitted dictionary headers from the sizes of column chunks.
fn is_short(created_by: Option<&str>) -> bool {
    let Some(version) = created_by.and_then(|by| by.strip_prefix("parquet-mr")) else { return false };
    let version = version.trim_start().trim_start_matches("version ");
    let numbers = version.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0u32));
    numbers.take(3).lt([1, 2, 9])
}

impl RowGroup {
    pub(super) fn new(
        row_group: &RowGroupMetaData,
        columns: &[FileColumn],
        space: &Space,
        checksums: &mut impl Iterator<Item = u32>,
    ) -> Result<Self, Fault> {
        let rows =
            usize::try_from(row_group.num_rows()).map_err(|_| Fault::corrupt("it has a negative number of rows"))?;
        let chunks = columns.iter().map(|column| {
            let chunk = row_group.columns().get(column.leaf);
            let chunk = chunk.ok_or_else(|| Fault::corrupt("it does not have the columns of the table"))?;
            let name = chunk.column_path().string();
            Chunk::new(chunk, column, rows, space, checksums.next()).map_err(|fault| match fault {
                Fault::Corrupt(reason) => Fault::corrupt(format!("column '{name}': {reason}")),
                Fault::Unsupported(reason) | Fault::UnsupportedRow(_, reason) => {
                    Fault::unsupported(format!("column '{name}': {reason}"))
                }
            })
        });
        Ok(Self { rows, chunks: chunks.collect::<Result<_, _>>()? })
    }

    /// The statistics of a column.
    pub(super) fn statistics(&self, column: usize) -> ColumnStatistics<'_> {
        let Some(chunk) = self.chunks.get(column) else { return ColumnStatistics::UNKNOWN };
        let values = match &chunk.bounds {
            Bounds::Numbers(min, max) => ValueBounds::Numbers { min: *min, max: *max },
            Bounds::Text(min, max) => ValueBounds::Strings { min, max },
            Bounds::Unknown if chunk.is_all_null => ValueBounds::None,
            Bounds::Unknown => ValueBounds::Unknown,
        };
        ColumnStatistics { values, nulls: chunk.has_nulls }
    }
}

impl Chunk {
    fn new(
        chunk: &ColumnChunkMetaData,
        column: &FileColumn,
        rows: usize,
        space: &Space,
        checksum: Option<u32>,
    ) -> Result<Self, Fault> {
        let outside = || Fault::corrupt("it lies outside the file");
        if chunk.file_path().is_some() {
            return Err(Fault::unsupported("its data are in another file"));
        }
        if usize::try_from(chunk.num_values()) != Ok(rows) {
            return Err(Fault::corrupt("it does not have the rows of the row group"));
        }
        let data = u64::try_from(chunk.data_page_offset()).map_err(|_| outside())?;
        // Some writers store 0 if there is no dictionary.
        let dictionary = chunk.dictionary_page_offset().and_then(|offset| u64::try_from(offset).ok());
        let start = dictionary.filter(|offset| *offset > 0 && *offset < data).unwrap_or(data);
        let stored = u64::try_from(chunk.compressed_size()).map_err(|_| outside())?;
        if start < MAGIC.len() as u64 || start.checked_add(stored).is_none_or(|end| end > space.end) {
            return Err(outside());
        }
        let stored = stored + space.uncounted.min(space.end - start - stored);
        let has_dictionary = start < data || chunk.encodings().any(|it| DICTIONARY.contains(&it));
        let nulls = chunk.statistics().and_then(Statistics::null_count_opt);
        let has_nulls = column.is_optional && nulls != Some(0);
        let is_known = chunk.encodings().all(|it| is_known(it, column.stored));
        // Plain strings, which follow their lengths, would all have to be copied.
        let is_fast = has_dictionary || chunk.encodings().any(|it| it == Encoding::DELTA_LENGTH_BYTE_ARRAY);
        let is_fast = is_known && (is_fast || column.stored != Some(Stored::Bytes));
        let codec = chunk.compression_codec();
        let unread = || Fault::unsupported(format!("it is compressed with {codec:?}, which is not supported"));
        Ok(Self {
            start,
            rows,
            is_padded: space.uncounted > 0,
            stored: usize::try_from(stored).map_err(|_| outside())?,
            unpacked: usize::try_from(chunk.uncompressed_size()).map_err(|_| outside())?,
            codec: Codec::of(codec).ok_or_else(unread)?,
            bounds: Bounds::of(chunk.statistics(), column),
            has_nulls,
            is_all_null: column.is_untyped || has_nulls && nulls == Some(rows as u64),
            has_dictionary,
            fast: column.stored.filter(|_| is_fast && !has_nulls),
            checksum,
        })
    }

    /// Whether all numbers are known to fit 32 bits: only statistics of `brc` are trusted, as they are checksummed.
    pub(super) fn is_narrow(&self) -> bool {
        let narrow = i32::MIN.into()..=i32::MAX.into();
        self.checksum.is_some()
            && matches!(self.bounds, Bounds::Numbers(min, max) if narrow.contains(&min) && narrow.contains(&max))
    }
}

impl Bounds {
    fn of(statistics: Option<&Statistics>, column: &FileColumn) -> Self {
        fn numbers<T: Copy + Into<i128>>(known: &ValueStatistics<T>) -> Bounds {
            match (known.min_opt(), known.max_opt()) {
                (Some(&min), Some(&max)) => Bounds::Numbers(min.into(), max.into()),
                _ => Bounds::Unknown,
            }
        }
        match (statistics, column.stored) {
            (Some(Statistics::Int32(known)), Some(Stored::Int32)) => numbers(known),
            (Some(Statistics::Int64(known)), Some(Stored::Int64)) => numbers(known),
            (Some(all @ Statistics::FixedLenByteArray(known)), None)
                if column.is_uuid() && known.min_is_exact() && known.max_is_exact() && !all.is_min_max_deprecated() =>
            {
                let uuid = |bytes: Option<&FixedLenByteArray>| Some(uuid::from_bytes(bytes?.data().try_into().ok()?));
                match (uuid(known.min_opt()), uuid(known.max_opt())) {
                    (Some(min), Some(max)) => Self::Numbers(min, max),
                    _ => Self::Unknown,
                }
            }
            // Old files order strings as signed bytes.
            (Some(all @ Statistics::ByteArray(known)), Some(Stored::Bytes))
                if known.min_is_exact() && known.max_is_exact() && !all.is_min_max_deprecated() =>
            {
                match (known.min_opt(), known.max_opt()) {
                    (Some(min), Some(max)) => Self::Text(min.data().to_vec(), max.data().to_vec()),
                    _ => Self::Unknown,
                }
            }
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_writers_with_wrong_sizes_are_recognised() {
        for short in
            ["parquet-mr", "parquet-mr version 1.2.8 (build 9)", "parquet-mr version 1.2", "parquet-mr version 0.9.9"]
        {
            assert!(is_short(Some(short)), "{short}");
        }
        for other in
            ["parquet-mr version 1.2.9", "parquet-mr version 1.12.3-SNAPSHOT", "parquet-mr version 2.0.0", "impala"]
        {
            assert!(!is_short(Some(other)), "{other}");
        }
        assert!(!is_short(None));
    }
}
