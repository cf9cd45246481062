//! The footer as a Cap'n Proto message.

use super::bounds::{Bounds, BoundsOfBlocks, number_of, number_to_bytes};
use super::footer::{
    CHUNKS_OF_CLUSTER, Chunk, Cluster, Dictionary, DictionaryPart, Footer, Layout, RowBlock, RowGroup, StoredColumn,
    Unused,
};
use crate::block::Block;
use crate::buren_capnp::{block, bounds, chunk, column, dictionary_part, footer, row_group};
use brc_core::{Error, Field, LogicalType, PhysicalType, Result, Schema};
use capnp::message::{Builder, ReaderOptions};
use capnp::struct_list;
use std::path::Path;

/// Encodes a footer with the chunks of each row group and the counts of each column; the size is a multiple of eight.
/// The message has a single segment in canonical form, so that equal footers have equal bytes, whichever library wrote
/// them.
pub(super) fn write(contents: &Footer, chunks: &[Vec<Chunk>], counts: &[Option<Chunk>]) -> Result<Vec<u8>> {
    let mut message = Builder::new_default();
    let mut root = message.init_root::<footer::Builder<'_>>();
    root.set_rows(contents.rows);
    root.set_compression(contents.compression.id());
    let mut columns = root.reborrow().init_columns(contents.schema.fields().len() as u32);
    let dictionaries = contents.dictionaries.iter().zip(counts);
    for (index, (field, (dictionary, counts))) in (0..).zip(contents.schema.fields().iter().zip(dictionaries)) {
        let mut builder = columns.reborrow().get(index);
        builder.set_name(&field.name);
        builder.set_type(field.logical_type.to_string());
        builder.set_nullable(field.nullable);
        if let Some(counts) = counts {
            write_chunk(counts, builder.reborrow().init_counts());
        }
        if !dictionary.parts.is_empty() {
            write_dictionary(dictionary, builder.init_dictionary(dictionary.parts.len() as u32));
        }
    }
    let mut row_groups = root.reborrow().init_row_groups(contents.row_groups.len() as u32);
    for (index, (row_group, chunks)) in (0..).zip(contents.row_groups.iter().zip(chunks)) {
        let mut builder = row_groups.reborrow().get(index);
        builder.set_rows(row_group.rows);
        builder.set_key(row_group.cluster.map_or(0, |cluster| cluster.key as u32 + 1));
        builder.set_runs(row_group.cluster.map_or(0, |cluster| cluster.runs));
        let mut builders = builder.init_chunks(chunks.len() as u32);
        for (index, chunk) in (0..).zip(chunks) {
            write_chunk(chunk, builders.reborrow().get(index));
        }
    }
    let mut unused = root.reborrow().init_unused(contents.unused.len() as u32);
    for (index, bytes) in (0..).zip(&contents.unused) {
        let mut builder = unused.reborrow().get(index);
        builder.set_offset(bytes.offset);
        builder.set_bytes(bytes.bytes);
        builder.set_checksum(bytes.checksum);
    }
    let mut metadata = root.init_metadata(contents.metadata.len() as u32);
    for (index, (key, value)) in (0..).zip(&contents.metadata) {
        let mut builder = metadata.reborrow().get(index);
        builder.set_key(key);
        builder.set_value(value);
    }
    let too_large = |_| Error::too_large("buren", "it has too many row groups: make them larger");
    let words = message.into_reader().canonicalize().map_err(too_large)?;
    let mut bytes = vec![0; 4];
    bytes.extend_from_slice(&(words.len() as u32).to_le_bytes());
    bytes.extend_from_slice(capnp::Word::words_to_bytes(&words));
    Ok(bytes)
}

fn write_dictionary(dictionary: &Dictionary, mut builders: struct_list::Builder<'_, dictionary_part::Owned>) {
    for (index, part) in (0..).zip(&dictionary.parts) {
        let mut builder = builders.reborrow().get(index);
        builder.set_offset(part.offset);
        write_block(&part.tokens, || builder.reborrow().init_tokens());
        write_dictionary_blocks(&part.blocks, builder.init_blocks(part.blocks.len() as u32));
    }
}

fn write_dictionary_blocks(blocks: &[(u32, Block)], mut builders: struct_list::Builder<'_, block::Owned>) {
    for (index, (values, block)) in (0..).zip(blocks) {
        let mut builder = builders.reborrow().get(index);
        fill_block(block, builder.reborrow());
        builder.set_values(*values);
    }
}

fn write_chunk(chunk: &Chunk, mut builder: chunk::Builder<'_>) {
    builder.set_offset(chunk.offset);
    builder.set_layout(chunk.layout as u8);
    builder.set_scheme(chunk.scheme);
    builder.set_nulls(chunk.nulls);
    write_block(&chunk.parameters, || builder.reborrow().init_parameters());
    write_block(&chunk.tokens, || builder.reborrow().init_tokens());
    write_dictionary_blocks(&chunk.dictionary, builder.reborrow().init_dictionary(chunk.dictionary.len() as u32));
    builder.set_codes(chunk.codes);
    write_block(&chunk.run_index, || builder.reborrow().init_run_index());
    let mut blocks = builder.reborrow().init_blocks(chunk.blocks.len() as u32);
    for (index, block) in (0..).zip(&chunk.blocks) {
        let mut builder = blocks.reborrow().get(index);
        fill_block(&block.values, builder.reborrow());
        builder.set_nulls(block.nulls);
    }
    if chunk.blocks.iter().any(|block| block.nulls > 0) {
        let mut builders = builder.reborrow().init_validity(chunk.blocks.len() as u32);
        (0..).zip(&chunk.blocks).for_each(|(index, block)| {
            write_block(&block.validity, || builders.reborrow().get(index));
        });
    }
    write_bounds_of_blocks(&chunk.bounds_of_blocks, &mut builder);
    write_bounds(chunk.bounds.as_ref(), || builder.reborrow().init_bounds());
    if let Some(sum) = chunk.sum {
        builder.set_sum(&number_to_bytes(sum));
    }
}

/// Writes a block, unless it is absent: an absent block takes no space in the footer.
fn write_block<'a>(block: &Block, builder: impl FnOnce() -> block::Builder<'a>) {
    if block.length > 0 {
        fill_block(block, builder());
    }
}

fn fill_block(block: &Block, mut builder: block::Builder<'_>) {
    builder.set_stored(block.stored);
    builder.set_length(block.length);
    builder.set_checksum(block.checksum);
}

fn write_bounds_of_blocks(bounds: &BoundsOfBlocks, builder: &mut chunk::Builder<'_>) {
    match bounds {
        BoundsOfBlocks::Unknown => {}
        BoundsOfBlocks::Numbers(numbers) => {
            let mut smallest = builder.reborrow().init_smallest(numbers.len() as u32);
            (0..).zip(numbers).for_each(|(index, (min, _))| smallest.set(index, *min));
            let mut largest = builder.reborrow().init_largest(numbers.len() as u32);
            (0..).zip(numbers).for_each(|(index, (_, max))| largest.set(index, *max));
        }
        BoundsOfBlocks::Each(bounds) => {
            let mut builders = builder.reborrow().init_bounds_of_blocks(bounds.len() as u32);
            for (index, bounds) in (0..).zip(bounds) {
                write_bounds(bounds.as_ref(), || builders.reborrow().get(index));
            }
        }
    }
}

fn write_bounds<'a>(bounds: Option<&Bounds>, builder: impl FnOnce() -> bounds::Builder<'a>) {
    if let Some(bounds) = bounds {
        let mut builder = builder();
        let (min, max) = bounds.to_bytes();
        builder.set_min(&min);
        builder.set_max(&max);
    }
}

/// Parses a footer. Its contents are not yet checked; blocks have no offsets yet.
///
/// # Errors
/// If the message is malformed, or contains something unknown to this version.
pub(super) fn read(words: &[capnp::Word]) -> Result<Footer, Problem> {
    with_root(words, read_footer)
}

/// Parses the chunks of a column, or the order streams. Their contents are not yet checked; blocks have no offsets yet.
///
/// # Errors
/// If they are malformed, or contain something unknown to this version.
pub(super) fn read_column(words: &[capnp::Word], number: usize) -> Result<StoredColumn, Problem> {
    let chunk = |row_group: row_group::Reader<'_>| match row_group.get_chunks()?.try_get(number as u32) {
        Some(chunk) => read_chunk(chunk),
        None => Ok(Chunk::new(Layout::Integers, 0)),
    };
    let column = |root: footer::Reader<'_>| {
        let chunks = root.get_row_groups()?.iter().map(chunk).collect::<Result<_, _>>()?;
        let column = root.get_columns()?.try_get(number as u32).filter(column::Reader::has_counts);
        let counts = column.map(|column| read_chunk(column.get_counts()?)).transpose()?;
        Ok(StoredColumn { number, chunks, counts })
    };
    with_root(words, column)
}

/// Opens a message and calls `read` with its root.
fn with_root<T>(
    words: &[capnp::Word],
    read: impl FnOnce(footer::Reader<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    // Every word is read once; a message that exceeds the limit refers to some words several times.
    let options = ReaderOptions { traversal_limit_in_words: Some(words.len() + 1024), nesting_limit: 16 };
    let mut bytes = capnp::Word::words_to_bytes(words);
    let message = capnp::serialize::read_message_from_flat_slice(&mut bytes, options)?;
    if !bytes.is_empty() {
        return Err(Problem::malformed("too long"));
    }
    read(message.get_root()?)
}

/// Why a footer cannot be parsed.
pub(super) enum Problem {
    Malformed(String),
    Unknown(String),
}

impl Problem {
    pub(super) fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    /// The problem as an error of a file.
    pub(super) fn of(&self, path: &Path) -> Error {
        match self {
            Self::Malformed(reason) => Error::corrupt(path, "footer", reason.as_str()),
            Self::Unknown(what) => Error::unsupported(path, format!("{what}: a newer version may have written it")),
        }
    }
}

impl From<capnp::Error> for Problem {
    fn from(error: capnp::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

impl From<std::str::Utf8Error> for Problem {
    fn from(error: std::str::Utf8Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

fn read_footer(root: footer::Reader<'_>) -> Result<Footer, Problem> {
    let id = root.get_compression();
    let compression = brc_compress::by_id(id).ok_or_else(|| Problem::Unknown(format!("unknown compression {id}")))?;
    let columns = root.get_columns()?;
    let fields = columns.iter().map(read_field).collect::<Result<Vec<_>, _>>()?;
    let dictionaries = columns.iter().map(|column| read_dictionary(column.get_dictionary()?));
    let dictionaries = dictionaries.collect::<Result<_, Problem>>()?;
    let schema = Schema::new(fields).map_err(|error| Problem::malformed(error.to_string()))?;
    let read_group = |row_group| read_row_group(row_group, &schema);
    let row_groups = root.get_row_groups()?.iter().map(read_group).collect::<Result<_, _>>()?;
    let unused = root.get_unused()?.iter();
    let unused =
        unused.map(|it| Unused { offset: it.get_offset(), bytes: it.get_bytes(), checksum: it.get_checksum() });
    let unused = unused.collect();
    let mut metadata = Vec::new();
    for entry in root.get_metadata()? {
        metadata.push((entry.get_key()?.to_string()?, entry.get_value()?.to_vec()));
    }
    let schema = schema.with_metadata(texts(&metadata));
    Ok(Footer { rows: root.get_rows(), schema, compression, dictionaries, row_groups, unused, metadata })
}

/// The text entries of the metadata, as in a schema.
fn texts(metadata: &[(String, Vec<u8>)]) -> Vec<(String, String)> {
    let text = |(key, value): &(String, Vec<u8>)| Some((key.clone(), String::from_utf8(value.clone()).ok()?));
    metadata.iter().filter_map(text).collect()
}

fn read_field(column: column::Reader<'_>) -> Result<Field, Problem> {
    let text = column.get_type()?.to_string()?;
    let known = text.parse::<LogicalType>().ok().filter(|logical_type| logical_type.to_string() == text);
    let logical_type = known.ok_or_else(|| Problem::Unknown(format!("unknown type '{text}'")))?;
    Ok(Field { name: column.get_name()?.to_string()?, logical_type, nullable: column.get_nullable() })
}

fn read_dictionary(parts: struct_list::Reader<'_, dictionary_part::Owned>) -> Result<Dictionary, Problem> {
    let read_part = |part: dictionary_part::Reader<'_>| {
        let (tokens, blocks) = (read_block(part.get_tokens()?), read_dictionary_blocks(part.get_blocks()?));
        Ok(DictionaryPart { offset: part.get_offset(), tokens, blocks })
    };
    Ok(Dictionary { parts: parts.iter().map(read_part).collect::<Result<_, Problem>>()? })
}

fn read_dictionary_blocks(blocks: struct_list::Reader<'_, block::Owned>) -> Vec<(u32, Block)> {
    blocks.iter().map(|block| (block.get_values(), read_block(block))).collect()
}

fn read_row_group(row_group: row_group::Reader<'_>, schema: &Schema) -> Result<RowGroup, Problem> {
    let chunks = row_group.get_chunks()?.len() as usize;
    let columns = schema.fields().len();
    let runs = row_group.get_runs();
    let cluster = (row_group.get_key() as usize).checked_sub(1).map(|key| Cluster { key, runs });
    if cluster.is_some_and(|cluster| cluster.key >= columns) {
        return Err(Problem::malformed("a cluster key that is not a column"));
    }
    if cluster.is_some() != (runs > 0) {
        return Err(Problem::malformed("runs without a cluster key, or a key without runs"));
    }
    if chunks != columns + if cluster.is_some() { CHUNKS_OF_CLUSTER } else { 0 } {
        return Err(Problem::malformed(format!("{chunks} chunks for {columns} columns")));
    }
    Ok(RowGroup { rows: row_group.get_rows(), cluster })
}

fn read_chunk(reader: chunk::Reader<'_>) -> Result<Chunk, Problem> {
    let id = reader.get_layout();
    let layout = Layout::from_id(id).ok_or_else(|| Problem::Unknown(format!("unknown layout {id}")))?;
    let dictionary = read_dictionary_blocks(reader.get_dictionary()?);
    let validity = reader.get_validity()?;
    let blocks = reader.get_blocks()?;
    if !validity.is_empty() && validity.len() != blocks.len() {
        return Err(Problem::malformed("validity of other blocks than there are"));
    }
    let validity = (0..).map(|index| validity.try_get(index).map_or(Block::default(), read_block));
    let blocks = blocks.iter().zip(validity).map(|(block, validity)| read_row_block(block, validity)).collect();
    let sum = if reader.has_sum() {
        Some(number_of(reader.get_sum()?).ok_or_else(|| Problem::malformed("a sum that is not a number"))?)
    } else {
        None
    };
    Ok(Chunk {
        offset: reader.get_offset(),
        layout,
        scheme: reader.get_scheme(),
        nulls: reader.get_nulls(),
        parameters: read_block(reader.get_parameters()?),
        tokens: read_block(reader.get_tokens()?),
        dictionary,
        codes: reader.get_codes(),
        run_index: read_block(reader.get_run_index()?),
        blocks,
        bounds: read_bounds(reader.get_bounds()?, layout)?,
        bounds_of_blocks: read_bounds_of_blocks(reader, layout)?,
        sum,
        reference: None,
    })
}

fn read_row_block(reader: block::Reader<'_>, validity: Block) -> RowBlock {
    RowBlock { nulls: reader.get_nulls(), validity, values: read_block(reader) }
}

fn read_bounds_of_blocks(reader: chunk::Reader<'_>, layout: Layout) -> Result<BoundsOfBlocks, Problem> {
    let (smallest, largest, each) = (reader.get_smallest()?, reader.get_largest()?, reader.get_bounds_of_blocks()?);
    let are_numbers = layout.physical() != PhysicalType::Bytes;
    match (smallest.len(), largest.len(), each.len()) {
        (0, 0, 0) => Ok(BoundsOfBlocks::Unknown),
        (min, max, 0) if min == max && are_numbers => {
            Ok(BoundsOfBlocks::Numbers(smallest.iter().zip(largest.iter()).collect()))
        }
        (0, 0, _) => {
            let each = each.iter().map(|bounds| read_bounds(bounds, layout));
            Ok(BoundsOfBlocks::Each(each.collect::<Result<_, Problem>>()?))
        }
        _ => Err(Problem::malformed("bounds of blocks that are none")),
    }
}

fn read_bounds(reader: bounds::Reader<'_>, layout: Layout) -> Result<Option<Bounds>, Problem> {
    if !reader.has_min() && !reader.has_max() {
        return Ok(None);
    }
    let (min, max) = (reader.get_min()?, reader.get_max()?);
    let bounds = match layout.physical() {
        PhysicalType::Integers | PhysicalType::Floats => Bounds::numbers_of(min, max),
        PhysicalType::Bytes => Bounds::strings_of(min, max),
    };
    bounds.map(Some).ok_or_else(|| Problem::malformed("invalid bounds"))
}

fn read_block(block: block::Reader<'_>) -> Block {
    Block { offset: 0, stored: block.get_stored(), length: block.get_length(), checksum: block.get_checksum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_come_back_and_so_does_that_there_are_none() {
        let schema = Schema::parse("s:string").unwrap();
        let strings = |min: &[u8], max: &[u8]| Bounds::strings(min, max);
        let mut chunk = Chunk::new(Layout::Strings, 16);
        chunk.bounds = strings(b"", b"");
        chunk.bounds_of_blocks = BoundsOfBlocks::Each(vec![strings(b"", b""), None, strings(b"", b"z"), None]);
        for sum in [None, Some(0), Some(-1), Some(1 << 63), Some(i128::MIN), Some(i128::MAX)] {
            let footer = Footer {
                schema: schema.clone(),
                rows: 4,
                compression: brc_compress::by_id(0).unwrap(),
                dictionaries: vec![Dictionary::default()],
                row_groups: vec![RowGroup { rows: 4, cluster: None }],
                unused: Vec::new(),
                metadata: Vec::new(),
            };
            let chunk = Chunk { sum, ..chunk.clone() };
            let bytes = write(&footer, &[vec![chunk.clone()]], &[None]).unwrap();
            let mut words = capnp::Word::allocate_zeroed_vec(bytes.len() / 8);
            capnp::Word::words_to_bytes_mut(&mut words).copy_from_slice(&bytes);
            let Ok(column) = read_column(&words, 0) else { panic!() };
            let found = &column.chunks[0];
            assert_eq!(found.bounds, chunk.bounds);
            assert_eq!(found.bounds_of_blocks, chunk.bounds_of_blocks);
            assert_eq!(found.sum, sum);
        }
    }
}
