//! An open parquet file: its footer, checked, in the form that scans need.

use super::codec::Codec;
use super::int96;
use super::scanner::ParquetScanner;
use super::thrift;
use super::types::{self, Stored};
use super::writer::{CHECKSUMS, MAGIC, SCHEMA};
use crate::columnar::footer::{Footer, check_rest};
use crate::columnar::{self, Fault, SCALES, factor, guarded, seal, with_scales};
use crate::encoding::OpenOptions;
use crate::input_file::InputFile;
use brc_core::names::{renamed, unique_names};
use brc_core::{
    Error, Field, Known, KnownValues, LeftOut, LogicalType, ReadAt, Result, ScanOptions, Scanner, Schema, Split, Table,
    TimeUnit, uuid,
};
use parquet::basic::{Encoding, LogicalType as Annotation, Type as Physical};
use parquet::data_type::FixedLenByteArray;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::TypePtr;
use std::path::{Path, PathBuf};

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

pub(super) struct ParquetTable {
    pub(super) path: PathBuf,
    pub(super) file: InputFile,
    pub(super) bytes: u64,
    /// The offset of the footer.
    pub(super) end: u64,
    pub(super) is_own: bool,
    pub(super) created_by: Option<String>,
    pub(super) schema: Schema,
    /// The file columns of the schema's columns.
    pub(super) columns: Vec<FileColumn>,
    notes: Vec<String>,
    pub(super) rows: u64,
    pub(super) row_groups: Vec<RowGroup>,
    pub(super) metadata: ParquetMetaData,
}

/// A column of the file that belongs to the table.
#[derive(Debug, Clone)]
pub(super) struct FileColumn {
    /// Its position among the column chunks of a row group.
    leaf: usize,
    /// The layout of its values in pages, if the reader here supports it.
    pub(super) stored: Option<Stored>,
    /// Whether it is nullable.
    pub(super) is_optional: bool,
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

impl RowGroup {
    /// The statistics of a column.
    pub(super) fn known(&self, column: usize) -> Known<'_> {
        let Some(chunk) = self.chunks.get(column) else { return Known::NOTHING };
        let values = match &chunk.bounds {
            Bounds::Numbers(min, max) => KnownValues::Numbers { min: *min, max: *max },
            Bounds::Text(min, max) => KnownValues::Strings { min, max },
            Bounds::Unknown if chunk.is_all_null => KnownValues::None,
            Bounds::Unknown => KnownValues::Nothing,
        };
        Known { values, nulls: chunk.has_nulls }
    }
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

impl ParquetTable {
    /// Opens a file.
    pub(super) fn open(path: PathBuf, file: InputFile, options: &OpenOptions) -> Result<Self> {
        let bytes = file.length().map_err(Error::io(&path, "open"))?;
        let footer = Footer::read(&path, &file, bytes, MAGIC)?;
        let (end, is_own) = (footer.start, footer.is_own);
        let at_footer = |fault: Fault| fault.at(&path, "footer");
        let mut encrypted = EncryptedChunks::default();
        let mut is_cut = |path: &[i16]| encrypted.look(path) || is_unneeded(path);
        let needed = thrift::without(&footer.bytes, &mut is_cut).map_err(at_footer)?;
        let metadata = guarded(|| {
            ParquetMetaDataReader::decode_metadata(&needed).map_err(|error| Fault::corrupt(error.to_string()))
        });
        let metadata = metadata.map_err(at_footer)?;
        let created_by = metadata.file_metadata().created_by().map(str::to_owned);
        footer.check_writer(&path, created_by.as_deref())?;
        let (schema, columns, note) = schema(&path, &metadata, &encrypted, is_own)?;
        let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
        let pairs = pairs.map(|pair| (pair.key.as_str(), pair.value.as_deref()));
        let schema = schema.with_metadata(columnar::table_metadata(pairs));
        let checksums = if is_own { checksums(&metadata).map_err(at_footer)? } else { Vec::new() };
        let mut checksums = checksums.into_iter();
        let space = Space { end, uncounted: if is_short(created_by.as_deref()) { MAX_UNCOUNTED } else { 0 } };
        let mut row_groups = Vec::with_capacity(metadata.num_row_groups());
        for (index, row_group) in metadata.row_groups().iter().enumerate() {
            // Other writers produce empty row groups, with meaningless offsets.
            if row_group.num_rows() == 0 {
                checksums.by_ref().take(columns.len()).for_each(drop);
                continue;
            }
            let row_group = guarded(|| RowGroup::new(row_group, &columns, &space, &mut checksums));
            row_groups.push(row_group.map_err(|fault| fault.at(&path, &format!("row group {index}")))?);
        }
        let rows: u64 = row_groups.iter().map(|row_group| row_group.rows as u64).sum();
        // The first writer in Rust always stored 0.
        let stated = metadata.file_metadata().num_rows();
        if u64::try_from(stated) != Ok(rows) && (is_own || stated != 0) {
            return Err(Error::corrupt(&path, "footer", "the rows of the row groups are not those of the file"));
        }
        let notes = note.into_iter().collect();
        let mut table =
            Self { path, file, bytes, end, is_own, created_by, schema, columns, notes, rows, row_groups, metadata };
        table.choose_types(options)?;
        Ok(table)
    }

    /// Chooses the units of 96-bit timestamps, as requested or as their values need, and turns binary columns into
    /// strings if requested.
    fn choose_types(&mut self, options: &OpenOptions) -> Result<()> {
        // Spark does not write nanoseconds.
        let keys = self.metadata.file_metadata().key_value_metadata().into_iter().flatten();
        let is_of_spark = keys.into_iter().any(|pair| pair.key.starts_with("org.apache.spark."));
        let mut fields = self.schema.fields().to_vec();
        let columns = self.columns.iter_mut().zip(&mut fields).enumerate();
        for (index, (column, field)) in columns.filter(|(_, (column, _))| column.int96.is_some()) {
            let wanted = options
                .schema
                .as_ref()
                .and_then(|schema| schema.fields().iter().find(|wanted| wanted.name == field.name));
            let unit = match wanted.map(|wanted| wanted.logical_type) {
                Some(LogicalType::Timestamp { unit, .. }) => unit,
                _ if is_of_spark => TimeUnit::Microsecond,
                _ => {
                    let chunks = self.row_groups.iter().map(|row_group| &row_group.chunks[index]);
                    int96::unit(&self.file, chunks, column.is_optional).map_err(Error::io(&self.path, "read"))?
                }
            };
            column.int96 = Some(unit);
            field.logical_type = LogicalType::Timestamp { unit, zone: false };
        }
        fields.iter_mut().for_each(|field| field.logical_type = options.as_read(field.logical_type));
        if fields != self.schema.fields() {
            let (left_out, metadata) = (self.schema.left_out().to_vec(), self.schema.metadata().to_vec());
            self.schema = columnar::schema(&self.path, fields, left_out)?.with_metadata(metadata);
        }
        Ok(())
    }

    /// Checks the bytes of a file of `brc` outside of the footer and the column chunks; in other files they may be
    /// anything.
    pub(super) fn check_rest(&self) -> Result<()> {
        if !self.is_own {
            return Ok(());
        }
        let chunks = self.row_groups.iter().flat_map(|row_group| &row_group.chunks);
        let parts = chunks.map(|chunk| chunk.start..chunk.start + chunk.stored as u64).collect();
        check_rest(&self.path, &self.file, MAGIC, parts, &[], self.end)
    }

    /// The location of a column chunk, for messages.
    pub(super) fn location(&self, row_group: usize, column: usize) -> String {
        let name = self.schema.fields().get(column).map_or("", |field| field.name.as_str());
        format!("row group {row_group}, column '{name}'")
    }
}

/// Finds encrypted column chunks while the footer is walked.
#[derive(Default)]
struct EncryptedChunks {
    /// The number of column chunks begun.
    begun: usize,
    chunks: Vec<usize>,
}

impl EncryptedChunks {
    /// Visits a field, given the path of field numbers to it. Returns `false`: no field is cut.
    fn look(&mut self, path: &[i16]) -> bool {
        const FILE_OFFSET: i16 = 2;
        const ENCRYPTION: i16 = 8;
        match path {
            // Every column chunk has it, before all fields that matter here.
            [ROW_GROUPS, COLUMNS, FILE_OFFSET] => self.begun += 1,
            [ROW_GROUPS, COLUMNS, ENCRYPTION] => self.chunks.extend(self.begun.checked_sub(1)),
            _ => {}
        }
        false
    }

    /// Whether some column chunk of a leaf is encrypted, given the number of leaves.
    fn has(&self, leaf: usize, leaves: usize) -> bool {
        self.chunks.iter().any(|chunk| chunk % leaves == leaf)
    }
}

/// Field numbers of the footer.
const ROW_GROUPS: i16 = 4;
const COLUMNS: i16 = 1;

/// Whether a field of the footer, given the path of field numbers to it, is unneeded: fields after the statistics of
/// column chunks. Some writers have their own fields there, on which the library fails.
fn is_unneeded(path: &[i16]) -> bool {
    const METADATA: i16 = 3;
    const STATISTICS: i16 = 12;
    matches!(path, [ROW_GROUPS, COLUMNS, METADATA, field] if *field > STATISTICS)
}

/// The columns of the table, without unsupported ones, and a note on their names for the user.
fn schema(
    path: &Path,
    metadata: &ParquetMetaData,
    encrypted: &EncryptedChunks,
    is_own: bool,
) -> Result<(Schema, Vec<FileColumn>, Option<String>)> {
    let (mut fields, mut columns, mut left_out) = (Vec::new(), Vec::new(), Vec::<LeftOut>::new());
    let descriptor = metadata.file_metadata().schema_descr();
    let roots = || descriptor.root_schema().get_fields().iter().map(|root| root.name());
    let names = unique_names(roots());
    let note = renamed(roots(), &names);
    let mut last_root = None;
    for leaf in 0..descriptor.num_columns() {
        let index = descriptor.get_column_root_idx(leaf);
        // The leaves of a nested column are contiguous.
        if last_root.replace(index) == Some(index) {
            continue;
        }
        let root = descriptor.get_column_root_ptr(leaf);
        let name = names.get(index).cloned().unwrap_or_default();
        let found = guarded(|| Ok(types::column(&root)));
        match found.map_err(|fault| fault.at(path, "footer"))? {
            Ok(_) if encrypted.has(leaf, descriptor.num_columns()) => {
                left_out.push(LeftOut { name, kind: "encrypted".to_owned() });
            }
            Ok(column) => {
                let is_optional = descriptor.column(leaf).max_def_level() > 0;
                fields.push(Field { name, logical_type: column.logical_type, nullable: column.nullable });
                let (stored, file_type) = (column.stored, column.file_type);
                let is_int96 = root.is_primitive() && root.get_physical_type() == Physical::INT96;
                let int96 = is_int96.then_some(TimeUnit::Microsecond);
                columns.push(FileColumn { leaf, stored, is_optional, file_type, int96 });
            }
            Err(kind) => left_out.push(LeftOut { name, kind }),
        }
    }
    if let Some(scales) = own_text(metadata, SCALES).filter(|_| is_own) {
        with_scales(fields.iter_mut().map(|field| &mut field.logical_type), scales);
    }
    let schema = columnar::schema(path, fields, left_out)?;
    match own_text(metadata, SCHEMA).filter(|_| is_own).map(Schema::parse) {
        None => Ok((schema, columns, note)),
        Some(Ok(own)) if own.fields().len() == columns.len() => {
            for (column, field) in columns.iter_mut().zip(own.fields()) {
                // The reader here does not convert units.
                column.stored = column.stored.filter(|_| factor(field.logical_type) == 1);
            }
            Ok((own, columns, note))
        }
        Some(_) => Err(Error::corrupt(path, "footer", "its two schemas are not of the same columns")),
    }
}

fn own_text<'a>(metadata: &'a ParquetMetaData, key: &str) -> Option<&'a str> {
    let own = metadata.file_metadata().key_value_metadata()?.iter().find(|own| own.key == key)?;
    own.value.as_deref()
}

/// The checksums of all column chunks of a file that `brc` wrote.
fn checksums(metadata: &ParquetMetaData) -> Result<Vec<u32>, Fault> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    own_text(metadata, CHECKSUMS)
        .and_then(seal::from_text)
        .filter(|checksums| checksums.len() == columns * metadata.num_row_groups())
        .ok_or_else(|| Fault::corrupt("there is not one checksum for each column chunk"))
}

/// The space of column chunks in the file.
struct Space {
    /// The offset of the footer.
    end: u64,
    /// The maximum bytes of a column chunk beyond its declared size.
    uncounted: u64,
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
    fn new(
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
                Fault::Unsupported(reason) => Fault::unsupported(format!("column '{name}': {reason}")),
            })
        });
        Ok(Self { rows, chunks: chunks.collect::<Result<_, _>>()? })
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
            is_all_null: has_nulls && nulls == Some(rows as u64),
            has_dictionary,
            fast: column.stored.filter(|_| is_fast && !has_nulls),
            checksum,
        })
    }
}

impl Chunk {
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

impl Table for ParquetTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn reads_by_column(&self) -> bool {
        true
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn split(&self, index: u64) -> Option<Split> {
        let row_groups = self.row_groups.len() as u64;
        (index < row_groups).then_some(Split { index, start: index, end: index + 1 })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        self.row_groups.get(usize::try_from(split).ok()?).map(|row_group| row_group.rows as u64)
    }

    fn known(&self, split: u64, column: usize) -> Known<'_> {
        let row_group = usize::try_from(split).ok().and_then(|split| self.row_groups.get(split));
        row_group.map_or(Known::NOTHING, |row_group| row_group.known(column))
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(ParquetScanner::new(self, options.clone())?))
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
