//! An open arrow file: its footer and the metadata of all blocks, checked, in the form that scans need.

use super::arrays;
use super::bounds::{self, BOUNDS};
use super::buffers::{Buffers, ReadError};
use super::layout::{self, BatchLayout, BlockRange};
use super::messages::{DECIMAL_BITS, value_of};
use super::outline::Outline;
use super::scanner::ArrowScanner;
use super::types::{Columns, FileColumn, LayoutCounts};
use super::unlisted;
use super::writer;
use crate::columnar::footer::{check_rest, is_marked};
use crate::columnar::{self, Fault, arrow_columns, seal, with_scales};
use crate::encoding::OpenOptions;
use crate::input_file::InputFile;
use arrow_array::{Array, ArrayRef};
use arrow_ipc::Block;
use arrow_schema::DataType;
use brc_core::{
    ByteStrings, ColumnStatistics, Dictionary, Error, Field, LogicalType, ReadAt, Result, ScanOptions, Scanner, Schema,
    Split, Table, ValueBounds,
};
use brc_kernels::interner::DictionaryBuilder;
use parking_lot::Mutex;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default size of a split in bytes, made of whole record batches.
const SPLIT_BYTES: u64 = 16 << 20;

pub(super) struct ArrowTable {
    pub(super) path: PathBuf,
    pub(super) file: InputFile,
    pub(super) bytes: u64,
    /// The offset of the footer.
    pub(super) end: u64,
    pub(super) is_own: bool,
    pub(super) created_by: Option<String>,
    pub(super) schema: Schema,
    /// The columns in the schema message at the start of the file.
    begins_with: Schema,
    notes: Vec<String>,
    pub(super) columns: Vec<FileColumn>,
    pub(super) batches: Vec<BatchLayout>,
    /// The first record batch of each split, and the end of the last.
    splits: Vec<usize>,
    dictionaries: Vec<DictionaryBlock>,
    /// The dictionary of each column, once a scan has requested it.
    loaded: Vec<Mutex<Option<FileDictionary>>>,
}

/// A block with values of a dictionary.
struct DictionaryBlock {
    id: i64,
    /// Whether its values extend the preceding block's, instead of replacing them.
    is_delta: bool,
    location: BlockRange,
    checksum: Option<u32>,
}

/// The dictionary of a column.
#[derive(Clone)]
pub(super) enum FileDictionary {
    Strings(Arc<StringDictionary>),
    /// Values other than strings, or with nulls.
    Any(ArrayRef),
}

/// A dictionary of strings.
pub(super) struct StringDictionary {
    pub(super) values: Dictionary,
    /// For each code of the file, its code in `values`, if they differ.
    pub(super) codes: Option<Vec<u32>>,
}

impl ArrowTable {
    /// Opens a file of `bytes` bytes.
    pub(super) fn open(file: InputFile, bytes: u64, mut outline: Outline<'_>, options: &OpenOptions) -> Result<Self> {
        let path = outline.path;
        let begins_with = restore_types(&mut outline);
        let Columns { supported: columns, trailing, unsupported_columns, note } = &mut outline.columns;
        let (mut columns, trailing, note) = (take(columns), *trailing, note.take());
        columns.iter_mut().for_each(|column| column.logical_type = options.as_read(column.logical_type));
        let fields = columns.iter().map(FileColumn::field).collect();
        let schema = columnar::schema(path, fields, take(unsupported_columns))?.with_metadata(outline.metadata.clone());
        let begins_with = Schema::new(begins_with).map_err(|error| outline.corrupt(&error.to_string()))?;
        let begins_with = begins_with.with_metadata(take(&mut outline.metadata));
        let blocks = Blocks { path, file: &file, end: outline.end, columns: &columns, trailing };
        let (batches, dictionaries) = blocks.read_all(&outline)?;
        if outline.is_of_file() && !outline.about.is_own {
            let batches = batches.iter().map(|batch| batch.location.whole());
            let dictionaries = dictionaries.iter().map(|block| block.location.whole());
            unlisted::check(path, &file, batches.chain(dictionaries).collect(), outline.end)?;
        }
        Ok(Self {
            splits: splits(&batches, options.row_group_bytes.unwrap_or(SPLIT_BYTES)),
            loaded: columns.iter().map(|_| Mutex::default()).collect(),
            bytes,
            end: outline.end,
            is_own: outline.about.is_own,
            created_by: outline.about.created_by,
            schema,
            begins_with,
            notes: outline.note.into_iter().chain(note).collect(),
            path: path.to_owned(),
            columns,
            batches,
            dictionaries,
            file,
        })
    }

    /// Checks the bytes of a file of `brc` outside of the footer, messages and buffers; in other files they may be
    /// anything.
    pub(super) fn check_rest(&self) -> Result<()> {
        if !self.is_own {
            return Ok(());
        }
        let messages = self.batches.iter().map(|batch| batch.location.start..batch.location.body_start());
        let buffers = self.batches.iter().flat_map(|batch| batch.columns.iter().flatten().cloned());
        let dictionaries = self.dictionaries.iter().map(|block| block.location.whole());
        let parts = messages.chain(buffers).chain(dictionaries).collect();
        // Files written before have no mark, or decimals of 64 bits.
        let is_marked = is_marked(&self.path, &self.file, self.bytes)?;
        let is_narrow = self.columns.iter().any(|column| matches!(column.stored, DataType::Decimal64(..)));
        let start = writer::start(&self.begins_with, if is_narrow { 64 } else { DECIMAL_BITS }, is_marked);
        check_rest(&self.path, &self.file, &start, parts, &writer::END, self.end)
    }

    /// The record batches of a split.
    pub(super) fn batches_of(&self, split: u64) -> Option<std::ops::Range<usize>> {
        let split = usize::try_from(split).ok()?;
        Some(*self.splits.get(split)?..*self.splits.get(split.checked_add(1)?)?)
    }

    /// The location of a column in a record batch, for messages.
    pub(super) fn location(&self, batch: usize, column: usize) -> String {
        let name = self.columns.get(column).map_or("", |column| column.name.as_str());
        format!("record batch {batch}, column '{name}'")
    }

    /// The dictionary of a column, which is read only once.
    pub(super) fn dictionary(&self, column: usize, id: i64) -> Result<FileDictionary> {
        let mut loaded = self.loaded[column].lock();
        if let Some(dictionary) = loaded.as_ref() {
            return Ok(dictionary.clone());
        }
        let dictionary = self.load(&self.columns[column], id)?;
        *loaded = Some(dictionary.clone());
        Ok(dictionary)
    }

    fn load(&self, column: &FileColumn, id: i64) -> Result<FileDictionary> {
        // Files of other programs may omit the dictionary of an empty table.
        if self.is_own && !self.dictionaries.iter().any(|block| block.id == id) {
            return Err(Error::corrupt(&self.path, format!("column '{}'", column.name), "it has no dictionary"));
        }
        let mut arrays = Vec::new();
        for (index, block) in self.dictionaries.iter().enumerate().filter(|(_, block)| block.id == id) {
            let location = format!("dictionary {index} of column '{}'", column.name);
            if !block.is_delta && !arrays.is_empty() {
                let reason =
                    format!("column '{}' has a dictionary that replaces another, which brc does not read", column.name);
                return Err(Error::unsupported(&self.path, reason));
            }
            arrays.push(self.values(column, block).map_err(|fault| fault.at(&self.path, &location))?);
        }
        let location = format!("the dictionary of column '{}'", column.name);
        self.concatenated(column, &arrays).map_err(|fault| fault.at(&self.path, &location))
    }

    /// The dictionary with the concatenated values.
    fn concatenated(&self, column: &FileColumn, arrays: &[ArrayRef]) -> Result<FileDictionary, Fault> {
        if !column.has_strings() || arrays.iter().any(|array| array.logical_null_count() > 0) {
            let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
            let array = if arrays.is_empty() {
                arrow_array::new_empty_array(&column.stored)
            } else {
                arrow_select::concat::concat(&arrays).map_err(|error| Fault::corrupt(error.to_string()))?
            };
            return Ok(FileDictionary::Any(array));
        }
        let mut strings = DictionaryBuilder::default();
        let mut codes = Vec::new();
        for array in arrays {
            let (offsets, bytes) = arrow_columns::strings(array)?;
            codes.extend(ByteStrings::new(&offsets, &bytes).iter().map(|value| strings.intern(value)));
        }
        let is_same = codes.iter().enumerate().all(|(index, code)| index == *code as usize);
        let codes = if is_same { None } else { Some(codes) };
        Ok(FileDictionary::Strings(Arc::new(StringDictionary { values: strings.dictionary().clone(), codes })))
    }

    fn values(&self, column: &FileColumn, block: &DictionaryBlock) -> Result<ArrayRef, ReadError> {
        let mut bytes = Buffers::default();
        bytes.read(&self.path, &self.file, &[block.location.whole()], None, block.checksum)?;
        let message = layout::message(bytes.bytes(0).get(..block.location.metadata).unwrap_or_default())?;
        let values = message.header_as_dictionary_batch().and_then(|batch| batch.data());
        let values = values.ok_or_else(|| Fault::corrupt("it has no values"))?;
        // The dictionary values form a column like any other, but without codes. They may be null where rows may not.
        let plain = FileColumn { nullable: true, ..column.of_values() };
        let layout = BatchLayout::new(values, &[plain], LayoutCounts::default(), &block.location)?;
        let mut buffers = Buffers::default();
        let ranges = layout.columns.first().map(Vec::as_slice).unwrap_or_default();
        buffers.read(&self.path, &self.file, ranges, layout.codec, None)?;
        let nulls = layout.nulls.first().copied().unwrap_or_default();
        Ok(arrays::array(&column.stored, layout.rows, nulls, buffers.all())?)
    }
}

/// Gives the columns of a file of `brc` the types of their values. Returns the fields as the schema message at the start
/// of the file has them, which is written before it is known that a decimal has nineteen digits.
fn restore_types(outline: &mut Outline<'_>) -> Vec<Field> {
    let columns = &mut outline.columns.supported;
    let mut begins_with: Vec<Field> = columns.iter().map(FileColumn::field).collect();
    if let Some(scales) = &outline.about.scales {
        with_scales(columns.iter_mut().map(|column| &mut column.logical_type), scales);
        for (first, column) in begins_with.iter_mut().zip(columns) {
            if column.logical_type != first.logical_type {
                first.logical_type = LogicalType::decimal(column.logical_type.scale());
            }
        }
    }
    begins_with
}

/// The first record batch of each split, and the end of the last.
fn splits(batches: &[BatchLayout], split_bytes: u64) -> Vec<usize> {
    let (mut starts, mut bytes) = (vec![0], 0);
    for (index, batch) in batches.iter().enumerate() {
        if bytes > 0 && bytes + batch.location.bytes() > split_bytes {
            starts.push(index);
            bytes = 0;
        }
        bytes += batch.location.bytes();
    }
    if !batches.is_empty() {
        starts.push(batches.len());
    }
    starts
}

/// What is needed to parse the metadata of blocks.
struct Blocks<'a> {
    path: &'a Path,
    file: &'a InputFile,
    end: u64,
    columns: &'a [FileColumn],
    /// The nodes and buffers of record batches after the last supported column.
    trailing: LayoutCounts,
}

impl Blocks<'_> {
    fn read_all(&self, outline: &Outline<'_>) -> Result<(Vec<BatchLayout>, Vec<DictionaryBlock>)> {
        let (batches, dictionaries) = (&outline.batches, &outline.dictionaries);
        if self.file.is_remote() {
            let ranges = batches.iter().chain(dictionaries).filter_map(|block| BlockRange::of(block, self.end).ok());
            self.file.expect(ranges.map(|location| location.start..location.body_start()).collect());
        }
        let mut checksums = if outline.about.is_own {
            let count = batches.len() * (self.columns.len() + 1) + dictionaries.len();
            let found = outline.about.checksums.as_deref().and_then(seal::from_text);
            let found = found.filter(|found| found.len() == count);
            found.ok_or_else(|| outline.corrupt("there is not one checksum for each buffer"))?.into_iter()
        } else {
            Vec::new().into_iter()
        };
        let batches = (batches.iter().enumerate())
            .map(|(index, block)| self.batch(index, block, &mut checksums))
            .collect::<Result<_>>()?;
        let dictionaries = (dictionaries.iter().enumerate())
            .map(|(index, block)| self.dictionary(index, block, checksums.next()))
            .collect::<Result<_>>()?;
        Ok((batches, dictionaries))
    }

    fn batch(&self, index: usize, block: &Block, checksums: &mut impl Iterator<Item = u32>) -> Result<BatchLayout> {
        let name = format!("record batch {index}");
        let (location, metadata) = self.metadata(&name, block)?;
        let at = |fault: Fault| fault.at(self.path, &name);
        let checksum = checksums.next();
        if checksum.is_some_and(|checksum| checksum != crc_fast::crc32_iscsi(&metadata)) {
            return Err(at(Fault::corrupt("the checksum of its message does not match")));
        }
        let message = layout::message(&metadata).map_err(at)?;
        let batch = message.header_as_record_batch();
        let batch = batch.ok_or_else(|| at(Fault::corrupt("its message has the wrong type")))?;
        let mut layout = BatchLayout::new(batch, self.columns, self.trailing, &location).map_err(at)?;
        layout.checksums = checksums.take(self.columns.len()).collect();
        let bounds = value_of(message.custom_metadata(), BOUNDS).filter(|_| checksum.is_some());
        layout.bounds = bounds.map(bounds::from_text).unwrap_or_default();
        Ok(layout)
    }

    fn dictionary(&self, index: usize, block: &Block, checksum: Option<u32>) -> Result<DictionaryBlock> {
        let name = format!("dictionary {index}");
        let (location, metadata) = self.metadata(&name, block)?;
        let at = |fault: Fault| fault.at(self.path, &name);
        let batch = layout::message(&metadata).map_err(at)?.header_as_dictionary_batch();
        let batch = batch.ok_or_else(|| at(Fault::corrupt("its message has the wrong type")))?;
        Ok(DictionaryBlock { id: batch.id(), is_delta: batch.isDelta(), location, checksum })
    }

    fn metadata(&self, name: &str, block: &Block) -> Result<(BlockRange, Vec<u8>)> {
        let location = BlockRange::of(block, self.end).map_err(|fault| fault.at(self.path, name))?;
        let mut metadata = vec![0; location.metadata];
        let read = self.file.read_full_at(&mut metadata, location.start).map_err(Error::io(self.path, "read"))?;
        if read != metadata.len() {
            return Err(Error::corrupt(self.path, name, "the file ends within it"));
        }
        Ok((location, metadata))
    }
}

impl Table for ArrowTable {
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
        Some(self.batches.iter().map(|batch| batch.rows as u64).sum())
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn split(&self, index: u64) -> Option<Split> {
        let batches = self.batches_of(index)?;
        Some(Split { index, start: batches.start as u64, end: batches.end as u64 })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        let batches = self.batches_of(split)?;
        Some(self.batches[batches].iter().map(|batch| batch.rows as u64).sum())
    }

    fn statistics(&self, _: u64, column: usize) -> ColumnStatistics<'_> {
        match self.columns.get(column).map(|column| &column.stored) {
            Some(DataType::Null) => ColumnStatistics { values: ValueBounds::None, nulls: true },
            _ => ColumnStatistics::UNKNOWN,
        }
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(ArrowScanner::new(self, options)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::writer::MAGIC;
    use arrow_ipc::{Endianness, FooterArgs, MetadataVersion, SchemaArgs};
    use flatbuffers::FlatBufferBuilder;
    use std::io::Write;

    /// The error of opening a file without rows, with this endianness and version, and a column of integers of `bits`.
    fn opened(endianness: Endianness, version: MetadataVersion, bits: i32) -> String {
        let mut builder = FlatBufferBuilder::new();
        let int = arrow_ipc::Int::create(&mut builder, &arrow_ipc::IntArgs { bitWidth: bits, is_signed: true });
        let name = builder.create_string("i");
        let field = arrow_ipc::FieldArgs {
            name: Some(name),
            type_type: arrow_ipc::Type::Int,
            type_: Some(int.as_union_value()),
            ..Default::default()
        };
        let field = arrow_ipc::Field::create(&mut builder, &field);
        let fields = builder.create_vector(&[field]);
        let schema = SchemaArgs { endianness, fields: Some(fields), ..SchemaArgs::default() };
        let schema = arrow_ipc::Schema::create(&mut builder, &schema);
        let footer = FooterArgs { version, schema: Some(schema), ..FooterArgs::default() };
        let footer = arrow_ipc::Footer::create(&mut builder, &footer);
        builder.finish(footer, None);
        let footer = builder.finished_data();
        let mut file = tempfile::tempfile().unwrap();
        let length = (footer.len() as u32).to_le_bytes();
        file.write_all(&[&MAGIC[..], b"\0\0", footer, &length, MAGIC].concat()).unwrap();
        let (path, file) = (Path::new("t.arrow"), InputFile::from(file));
        let length = file.length().unwrap();
        let table = Outline::of_file(path, &file, length)
            .and_then(|outline| ArrowTable::open(file, length, outline, &OpenOptions::default()));
        match table {
            Err(error @ Error::Unsupported { .. }) => error.to_string(),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("opened"),
        }
    }

    #[test]
    fn valid_unsupported_files_are_not_corrupt() {
        let little = Endianness::Little;
        assert_eq!(opened(Endianness::Big, MetadataVersion::V5, 64), "t.arrow: its numbers are big-endian");
        let newer = "t.arrow: its metadata are of version 6; this program reads up to 5";
        assert_eq!(opened(little, MetadataVersion(5), 64), newer);
        assert_eq!(opened(little, MetadataVersion::V3, 64), "t.arrow: is of a version from before 2017");
        let wide = "t.arrow: column 'i' is a 128-bit integer, which brc does not read";
        assert!(opened(little, MetadataVersion::V5, 128).starts_with(wide));
    }
}
