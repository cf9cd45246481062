//! The footer as a Cap'n Proto message.

use crate::block::Block;
use crate::buren_capnp::{block, chunk, column, footer, row_group};
use crate::v1::footer::{Chunk, Cluster, Content, DictionaryBlocks, Footer, RowGroup};
use crate::v1::schemes;
use brc_core::{Error, Field, LogicalType, Result, Schema, Statistics};
use capnp::message::{Builder, ReaderOptions};
use std::path::Path;

/// The bytes of a footer: a multiple of eight. The message has one segment in canonical form, so that the same footer is
/// the same bytes whatever library wrote it.
pub(crate) fn write(contents: &Footer) -> Result<Vec<u8>> {
    let mut message = Builder::new_default();
    let mut root = message.init_root::<footer::Builder<'_>>();
    root.set_rows(contents.rows);
    root.set_rows_per_block(contents.rows_per_block);
    root.set_compression(contents.compression.id());
    let mut columns = root.reborrow().init_columns(contents.schema.fields().len() as u32);
    for (index, (field, dictionary)) in contents.schema.fields().iter().zip(&contents.dictionaries).enumerate() {
        write_column(field, dictionary, columns.reborrow().get(index as u32));
    }
    let mut row_groups = root.init_row_groups(contents.row_groups.len() as u32);
    for (index, row_group) in contents.row_groups.iter().enumerate() {
        write_row_group(row_group, row_groups.reborrow().get(index as u32));
    }
    let too_large = |_| Error::too_large("buren", "it has too many row groups: make them larger");
    let words = message.into_reader().canonicalize().map_err(too_large)?;
    let segment = capnp::Word::words_to_bytes(&words);
    let mut bytes = vec![0; 4];
    bytes.extend_from_slice(&(words.len() as u32).to_le_bytes());
    bytes.extend_from_slice(segment);
    Ok(bytes)
}

fn write_column(field: &Field, dictionary: &DictionaryBlocks, mut builder: column::Builder<'_>) {
    builder.set_name(&field.name);
    match field.logical_type {
        logical_type if logical_type != LogicalType::String => builder.init_decimal().set_scale(logical_type.scale()),
        _ => {
            let mut builder = builder.init_string();
            builder.set_values(dictionary.values);
            let mut blocks = builder.init_dictionary(dictionary.blocks.len() as u32);
            for (index, (values, block)) in dictionary.blocks.iter().enumerate() {
                let mut builder = blocks.reborrow().get(index as u32);
                builder.set_values(*values);
                write_block(block, builder.init_block());
            }
        }
    }
}

fn write_row_group(row_group: &RowGroup, mut builder: row_group::Builder<'_>) {
    builder.set_rows(row_group.rows);
    let mut order = builder.reborrow().init_order();
    match &row_group.cluster {
        None => order.set_original(()),
        Some(cluster) => {
            let mut clustered = order.init_clustered();
            clustered.set_key(cluster.key as u32);
            write_block(&cluster.run_index, clustered.init_run_index());
        }
    }
    let mut chunks = builder.init_chunks(row_group.chunks.len() as u32);
    for (index, chunk) in row_group.chunks.iter().enumerate() {
        write_chunk(chunk, chunks.reborrow().get(index as u32));
    }
}

fn write_chunk(chunk: &Chunk, mut builder: chunk::Builder<'_>) {
    builder.set_scheme(chunk.scheme.id());
    builder.set_width(chunk.width);
    let mut blocks = builder.reborrow().init_blocks(chunk.blocks.len() as u32);
    for (index, block) in chunk.blocks.iter().enumerate() {
        write_block(block, blocks.reborrow().get(index as u32));
    }
    match &chunk.content {
        Content::String { cardinality, map } => {
            let mut builder = builder.init_string();
            builder.set_cardinality(*cardinality);
            write_block(map, builder.init_map());
        }
        Content::Decimal(statistics) => {
            let mut builder = builder.init_decimal();
            builder.set_min(statistics.min);
            builder.set_max(statistics.max);
            builder.set_sum_low(statistics.sum as u64);
            builder.set_sum_high((statistics.sum >> 64) as i64);
        }
    }
}

fn write_block(block: &Block, mut builder: block::Builder<'_>) {
    builder.set_stored(block.stored);
    builder.set_length(block.length);
    builder.set_checksum(block.checksum);
}

/// Reads a footer. What it says is not yet checked; blocks have no offsets yet.
///
/// # Errors
/// If the message is malformed, or something in it is not known to this version.
pub(crate) fn read(path: &Path, words: &[capnp::Word]) -> Result<Footer> {
    // Every word is looked at once; a message that has more to look at refers to some of them several times.
    let options = ReaderOptions { traversal_limit_in_words: Some(words.len() + 1024), nesting_limit: 16 };
    let mut bytes = capnp::Word::words_to_bytes(words);
    let parsed = capnp::serialize::read_message_from_flat_slice(&mut bytes, options)
        .map_err(Problem::from)
        .and_then(|message| if bytes.is_empty() { Ok(message) } else { Err(Problem::malformed("too long")) })
        .and_then(|message| read_footer(message.get_root()?));
    parsed.map_err(|problem| match problem {
        Problem::Malformed(reason) => Error::corrupt(path, "footer", reason),
        Problem::Unknown(what) => Error::unsupported(path, format!("{what}: a newer version may have written it")),
    })
}

enum Problem {
    Malformed(String),
    Unknown(String),
}

impl Problem {
    fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
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

fn unknown(what: &'static str) -> impl Fn(capnp::NotInSchema) -> Problem {
    move |tag| Problem::Unknown(format!("unknown {what} {}", tag.0))
}

fn read_footer(root: footer::Reader<'_>) -> Result<Footer, Problem> {
    let id = root.get_compression();
    let compression = brc_compress::by_id(id).ok_or_else(|| Problem::Unknown(format!("unknown compression {id}")))?;
    let mut fields = Vec::new();
    let mut dictionaries = Vec::new();
    for column in root.get_columns()? {
        let (field, dictionary) = read_column(column)?;
        fields.push(field);
        dictionaries.push(dictionary);
    }
    let row_groups = root.get_row_groups()?.iter().map(read_row_group).collect::<Result<Vec<_>, _>>()?;
    widen_decimals(&mut fields, &row_groups);
    let schema = Schema::new(fields).map_err(|error| Problem::malformed(error.to_string()))?;
    let (rows, rows_per_block) = (root.get_rows(), root.get_rows_per_block());
    Ok(Footer { schema, rows, rows_per_block, compression, dictionaries, row_groups })
}

fn read_column(column: column::Reader<'_>) -> Result<(Field, DictionaryBlocks), Problem> {
    let mut dictionary = DictionaryBlocks::default();
    let logical_type = match column.which().map_err(unknown("column type"))? {
        column::Decimal(decimal) if decimal.get_scale() == 0 => LogicalType::Int64,
        column::Decimal(decimal) => LogicalType::decimal(decimal.get_scale()),
        column::String(string) => {
            dictionary.values = string.get_values();
            for part in string.get_dictionary()? {
                dictionary.blocks.push((part.get_values(), read_block(part.get_block()?)));
            }
            LogicalType::String
        }
    };
    Ok((Field::required(column.get_name()?.to_string()?, logical_type), dictionary))
}

/// Decimals have any 64 bits, which may be a digit more than their type says.
fn widen_decimals(fields: &mut [Field], row_groups: &[RowGroup]) {
    const BEYOND: i64 = 10i64.pow(LogicalType::MAX_PRECISION_64 as u32);
    for (column, field) in fields.iter_mut().enumerate() {
        let statistics = row_groups.iter().filter_map(|row_group| row_group.chunks.get(column)?.statistics());
        let wide = statistics.into_iter().any(|known| known.min <= -BEYOND || known.max >= BEYOND);
        if let LogicalType::Decimal { precision, .. } = &mut field.logical_type
            && wide
        {
            *precision = LogicalType::MAX_PRECISION_64 + 1;
        }
    }
}

fn read_row_group(row_group: row_group::Reader<'_>) -> Result<RowGroup, Problem> {
    use row_group::order;
    let cluster = match row_group.get_order().which().map_err(unknown("row order"))? {
        order::Original(()) => None,
        order::Clustered(clustered) => {
            Some(Cluster { key: clustered.get_key() as usize, run_index: read_block(clustered.get_run_index()?) })
        }
    };
    let chunks = row_group.get_chunks()?.iter().map(read_chunk).collect::<Result<_, _>>()?;
    Ok(RowGroup { rows: row_group.get_rows(), cluster, chunks })
}

fn read_chunk(chunk: chunk::Reader<'_>) -> Result<Chunk, Problem> {
    if chunk.get_nulls() != 0 {
        return Err(Problem::Unknown("nulls".to_owned()));
    }
    let id = chunk.get_scheme();
    let scheme = schemes::by_id(id).ok_or_else(|| Problem::Unknown(format!("unknown scheme {id}")))?;
    let content = match chunk.which().map_err(unknown("chunk type"))? {
        chunk::String(string) => {
            Content::String { cardinality: string.get_cardinality(), map: read_block(string.get_map()?) }
        }
        chunk::Decimal(decimal) => Content::Decimal(Statistics {
            count: 0,
            sum: i128::from(decimal.get_sum_high()) << 64 | i128::from(decimal.get_sum_low()),
            min: decimal.get_min(),
            max: decimal.get_max(),
        }),
    };
    let blocks = chunk.get_blocks()?.iter().map(read_block).collect();
    Ok(Chunk { scheme, width: chunk.get_width(), content, blocks })
}

fn read_block(block: block::Reader<'_>) -> Block {
    Block { offset: 0, stored: block.get_stored(), length: block.get_length(), checksum: block.get_checksum() }
}
