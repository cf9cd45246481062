//! An open parquet file: its footer, checked, in the form that scans need.

use super::int96;
use super::row_group::{FileColumn, RowGroup, Space};
use super::scanner::ParquetScanner;
use super::thrift;
use super::types;
use super::writer::{self, CHECKSUMS, MAGIC, SCHEMA};
use crate::columnar::footer::{Footer, check_rest};
use crate::columnar::{self, Fault, SCALES, factor, guarded, seal, with_scales};
use crate::encoding::OpenOptions;
use crate::input_file::InputFile;
use brc_core::names::{renamed, unique_names};
use brc_core::{
    ColumnStatistics, Error, Field, LogicalType, ReadAt, Result, ScanOptions, Scanner, Schema, Split, Table, TimeUnit,
    UnsupportedColumn,
};
use parquet::basic::Type as Physical;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::path::{Path, PathBuf};

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
        let space = Space::new(end, created_by.as_deref());
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
        let durations = guarded(|| Ok(types::durations(metadata.file_metadata()))).unwrap_or_default();
        let descriptor = metadata.file_metadata().schema_descr();
        let name = |root: usize| {
            let at = columns.iter().position(|column| descriptor.get_column_root_idx(column.leaf) == root)?;
            Some(&schema.fields().get(at)?.name)
        };
        let durations = durations.into_iter().filter_map(|(root, kind)| {
            Some(format!("column '{}' is {kind}, of which brc reads the integers", name(root)?))
        });
        let notes = note.into_iter().chain(durations).collect();
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
            let (unsupported_columns, metadata) =
                (self.schema.unsupported_columns().to_vec(), self.schema.metadata().to_vec());
            self.schema = columnar::schema(&self.path, fields, unsupported_columns)?.with_metadata(metadata);
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
        let parts: Vec<_> = chunks.map(|chunk| chunk.start..chunk.start + chunk.stored as u64).collect();
        let first = parts.iter().map(|part| part.start).min().unwrap_or(self.end);
        // Files written before have no mark.
        let start = if first == MAGIC.len() as u64 { MAGIC.to_vec() } else { writer::start() };
        check_rest(&self.path, &self.file, &start, parts, &[], self.end)
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
    let (mut fields, mut columns, mut unsupported_columns) = (Vec::new(), Vec::new(), Vec::<UnsupportedColumn>::new());
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
                unsupported_columns.push(UnsupportedColumn { name, kind: "encrypted".to_owned() });
            }
            Ok(column) => {
                let is_optional = descriptor.column(leaf).max_def_level() > 0;
                fields.push(Field { name, logical_type: column.logical_type, nullable: column.nullable });
                let (is_untyped, stored, file_type) = (column.is_untyped, column.stored, column.file_type);
                let is_int96 = root.is_primitive() && root.get_physical_type() == Physical::INT96;
                let int96 = is_int96.then_some(TimeUnit::Microsecond);
                columns.push(FileColumn { leaf, stored, is_optional, is_untyped, file_type, int96 });
            }
            Err(kind) => unsupported_columns.push(UnsupportedColumn { name, kind }),
        }
    }
    if let Some(scales) = own_text(metadata, SCALES).filter(|_| is_own) {
        with_scales(fields.iter_mut().map(|field| &mut field.logical_type), scales);
    }
    let schema = columnar::schema(path, fields, unsupported_columns)?;
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

    fn statistics(&self, split: u64, column: usize) -> ColumnStatistics<'_> {
        let row_group = usize::try_from(split).ok().and_then(|split| self.row_groups.get(split));
        row_group.map_or(ColumnStatistics::UNKNOWN, |row_group| row_group.statistics(column))
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(ParquetScanner::new(self, options.clone())?))
    }
}
