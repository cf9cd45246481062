//! Apache Parquet, the columnar format that nearly every tool for tables reads and writes.
//!
//! The library reads and writes the footer. Column chunks are read and written here: dictionary codes pass as codes in
//! both directions, sizes are checked before anything is allocated, and every chunk that `brc` wrote has a checksum,
//! which covers the headers of pages too (the format's own checksums do not).

mod choice;
mod codec;
mod delta_decoder;
mod delta_encoder;
mod encoder;
mod floats;
mod hybrid;
mod int96;
mod library;
mod numbers;
mod page;
mod paging;
mod row_group;
mod scanner;
mod string_rows;
mod strings;
mod table;
mod thrift;
mod types;
mod walk;
mod writer;

use crate::columnar;
use crate::description::{Description, Fact, Facts};
use crate::encoding::{CreateOptions, Encoding, OpenOptions, Verified, read_all};
use crate::input::Input;
use brc_compress::Compression;
use brc_core::{BatchWriter, Error, LogicalType, PhysicalType, Progress, Result, Schema, Table, Value};
use codec::Codec;
use row_group::{Bounds, Chunk};
use table::ParquetTable;
use writer::{MAGIC, Writer};

/// The encoding's name.
const NAME: &str = "parquet";

pub(crate) struct Parquet;

/// The magic of a file whose footer is encrypted.
const ENCRYPTED: &[u8] = b"PARE";

impl Encoding for Parquet {
    fn name(&self) -> &'static str {
        NAME
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet", "pq"]
    }

    fn about(&self) -> &'static str {
        "Apache Parquet: dictionary-encoded columns that nearly every tool reads"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(MAGIC) || prefix.starts_with(ENCRYPTED)
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn compresses_blocks(&self) -> bool {
        true
    }

    fn can_compress(&self, compression: &dyn Compression) -> Result<(), String> {
        codec::written(compression)
            .map(|_| ())
            .ok_or_else(|| format!("parquet does not support {}", compression.name()))
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        Ok(Box::new(table(input, options)?))
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        let refused = self.supports(schema).and_then(|()| self.can_compress(options.compression.compression));
        refused.map_err(Error::Usage)?;
        Ok(Box::new(Writer::new(schema, options.compression)))
    }

    fn verify(&self, input: Input, options: &OpenOptions, threads: usize, progress: &Progress) -> Result<Verified> {
        let table = table(input, options)?;
        table.check_rest()?;
        read_all(&table, threads, progress)
    }

    fn describe(&self, input: Input, options: &OpenOptions) -> Result<Description> {
        Ok(describe(&table(input, options)?))
    }
}

fn table(input: Input, options: &OpenOptions) -> Result<ParquetTable> {
    let path = input.path.clone();
    if input.prefix.starts_with(ENCRYPTED) {
        return Err(Error::unsupported(&path, "is encrypted"));
    }
    // The first bytes of a file in a store are unknown; the magic is also at its end.
    let is_unknown = input.prefix.is_empty() && !input.is_whole;
    if !is_unknown && !input.prefix.starts_with(MAGIC) {
        return Err(Error::corrupt(&path, "header", "the file does not begin as parquet files do"));
    }
    let file = input.into_file(options.longest_copy)?;
    let table = ParquetTable::open(path, file, options)?;
    options.check_schema(&table.path, &table.schema)?;
    Ok(table)
}

fn describe(table: &ParquetTable) -> Description {
    let row_groups = ("row groups", table.row_groups.len());
    let file = columnar::facts(NAME, table, table.created_by.as_deref(), table.end, row_groups);
    let columns = (0..table.schema.fields().len()).map(|column| describe_column(table, column)).collect();
    let row_groups = table.row_groups.iter().map(|row_group| {
        let stored = row_group.chunks.iter().map(|chunk| chunk.stored as u64).sum();
        vec![("rows", Fact::Count(row_group.rows as u64)), ("stored", Fact::Bytes(stored))]
    });
    Description { file, columns, row_groups: row_groups.collect() }
}

fn describe_column(table: &ParquetTable, column: usize) -> Facts {
    let field = &table.schema.fields()[column];
    let chunks: Vec<&Chunk> = table.row_groups.iter().map(|row_group| &row_group.chunks[column]).collect();
    let mut compressions: Vec<_> = chunks.iter().map(|chunk| chunk.codec.map_or("none", Codec::name)).collect();
    compressions.sort_unstable();
    compressions.dedup();
    let mut facts: Facts = vec![
        ("name", field.name.as_str().into()),
        ("type", field.logical_type.to_string().as_str().into()),
        ("compression", compressions.join(", ").as_str().into()),
        ("stored", Fact::Bytes(chunks.iter().map(|chunk| chunk.stored as u64).sum())),
        ("unpacked", Fact::Bytes(chunks.iter().map(|chunk| chunk.unpacked as u64).sum())),
    ];
    facts.extend(describe_bounds(field.logical_type, &chunks));
    facts
}

/// The minimum and maximum, if every column chunk has them.
fn describe_bounds(logical_type: LogicalType, chunks: &[&Chunk]) -> Facts {
    let numbers = |chunk: &&Chunk| if let Bounds::Numbers(min, max) = chunk.bounds { Some((min, max)) } else { None };
    let texts = |chunk: &&'_ Chunk| match &chunk.bounds {
        Bounds::Text(min, max) => Some((min.clone(), max.clone())),
        _ => None,
    };
    match logical_type.physical() {
        PhysicalType::Integers => {
            let bounds: Option<Vec<_>> = chunks.iter().map(numbers).collect();
            let number = |value: i128| match logical_type.is_numeric() {
                true => Fact::Number { value, scale: logical_type.scale() },
                false => Fact::from(Value::Integer(value).to_text(logical_type).as_str()),
            };
            let bounds = bounds.and_then(|all| all.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))));
            bounds.map(|(min, max)| vec![("min", number(min)), ("max", number(max))]).unwrap_or_default()
        }
        PhysicalType::Floats | PhysicalType::Bytes => {
            let bounds: Option<Vec<_>> = chunks.iter().map(texts).collect();
            let bounds = bounds.and_then(|all| all.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))));
            let fact = |bytes| Fact::of_bytes(bytes, logical_type);
            bounds.map(|(min, max)| vec![("min", fact(min)), ("max", fact(max))]).unwrap_or_default()
        }
    }
}
