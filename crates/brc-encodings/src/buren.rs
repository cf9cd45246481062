//! The `buren` crate's format as an encoding.

use crate::description::{self, Description, Fact, Facts};
use crate::encoding::{CreateOptions, Encoding, OpenOptions, Verified};
use crate::input::Input;
use ::buren::{
    Bounds, ColumnDescription, FileDescription, Key, MAGIC, Reader, RowGroupDescription, Writer, WriterOptions,
};
use brc_core::{BatchWriter, Error, LogicalType, Progress, Result, Schema, Table, Value};

pub(crate) struct Buren;

impl Encoding for Buren {
    fn name(&self) -> &'static str {
        "buren"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["buren"]
    }

    fn about(&self) -> &'static str {
        "packed and dictionary-encoded columns with statistics: small, and queried in milliseconds"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        // Half of the magic is enough: a file that is damaged or cut off after it is reported as a damaged buren file.
        prefix.starts_with(&MAGIC[..4]) || (!prefix.is_empty() && MAGIC.starts_with(prefix))
    }

    fn has_cluster_key(&self) -> bool {
        true
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn compresses_blocks(&self) -> bool {
        true
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        let reader = reader(input, options)?;
        options.check_schema(reader.path(), reader.schema())?;
        Ok(Box::new(reader))
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        Ok(Box::new(Writer::new(schema, writer_options(options))?))
    }

    fn describe(&self, input: Input, options: &OpenOptions) -> Result<Description> {
        Ok(describe(&reader(input, options)?.describe()?))
    }

    fn verify(&self, input: Input, options: &OpenOptions, threads: usize, progress: &Progress) -> Result<Verified> {
        let verified = reader(input, options)?.verify(threads, progress)?;
        Ok(Verified { rows: verified.rows, bytes: verified.bytes, remark: None })
    }
}

/// The options with which the crate `buren` writes a file.
pub(crate) fn writer_options(options: &CreateOptions) -> WriterOptions {
    let key = match options.key.as_deref() {
        None => Key::Automatic,
        Some("none") => Key::None,
        Some(column) => Key::Column(column.to_owned()),
    };
    let usual = WriterOptions::new(options.compression);
    let dictionary_bytes = options.dictionary_bytes.map_or(usual.dictionary_bytes, |it| it.min(usual.dictionary_bytes));
    WriterOptions { key, dictionary_bytes, ..usual }
}

fn describe(file: &FileDescription) -> Description {
    let dictionaries = |column: &ColumnDescription| column.dictionary.stored_bytes;
    let mut facts = vec![
        ("encoding", "buren".into()),
        ("version", Fact::Count(file.version.into())),
        ("compression", file.compression.into()),
        ("rows", Fact::Count(file.rows)),
        ("bytes", Fact::Bytes(file.bytes)),
        ("row groups", Fact::Count(file.row_groups.len() as u64)),
    ];
    facts.extend(cluster_key(file).map(|key| ("cluster key", key.into())));
    if file.run_indexes.blocks > 0 {
        facts.push(("run indexes", Fact::Bytes(file.run_indexes.stored_bytes)));
    }
    facts.push(("dictionaries", Fact::Bytes(file.columns.iter().map(dictionaries).sum())));
    facts.push(("footer", Fact::Bytes(file.footer_bytes)));
    if file.unused_bytes > 0 {
        facts.push(("unused", Fact::Bytes(file.unused_bytes)));
    }
    facts.extend(description::metadata(&file.schema));
    let columns = file.columns.iter().map(describe_column).collect();
    let row_groups = file.row_groups.iter().map(|row_group| describe_row_group(file, row_group)).collect();
    Description { file: facts, columns, row_groups }
}

/// The column by which row groups are clustered, if any are.
fn cluster_key(file: &FileDescription) -> Option<&str> {
    let key = file.row_groups.iter().find_map(|row_group| row_group.key)?;
    file.schema.fields().get(key).map(|field| field.name.as_str())
}

fn describe_column(column: &ColumnDescription) -> Facts {
    let schemes: Vec<&str> = column.schemes.iter().map(|(name, _)| *name).collect();
    let mut facts: Facts = vec![
        ("name", column.name.as_str().into()),
        ("type", column.logical_type.to_string().as_str().into()),
        ("scheme", schemes.join(", ").as_str().into()),
    ];
    facts.push(("stored", Fact::Bytes(column.data.stored_bytes)));
    facts.push(("unpacked", Fact::Bytes(column.data.unpacked_bytes)));
    facts.extend(column.cardinality.map(|values| ("cardinality", Fact::Count(values.into()))));
    if column.nulls > 0 {
        facts.push(("nulls", Fact::Count(column.nulls)));
    }
    let (min, max) = match &column.bounds {
        None => return facts,
        Some(Bounds::Text { min, max }) => {
            let bytes = |bytes: &Vec<u8>| Fact::of_bytes(bytes.clone(), column.logical_type);
            (bytes(min), bytes(max))
        }
        Some(Bounds::Number { min, max }) => (number(*min, column.logical_type), number(*max, column.logical_type)),
        Some(Bounds::Float { min, max }) => {
            let text = |value| Fact::Text(Value::Float(value).to_text(column.logical_type).into_bytes());
            (text(*min), text(*max))
        }
    };
    facts.extend([("min", min), ("max", max)]);
    facts
}

/// Shows a number as a number, and a date, a time or a bool in its own form.
fn number(value: i128, logical_type: LogicalType) -> Fact {
    match logical_type.is_numeric() {
        true => Fact::Number { value, scale: logical_type.scale() },
        false => Fact::Text(Value::Integer(value).to_text(logical_type).into_bytes()),
    }
}

fn describe_row_group(file: &FileDescription, row_group: &RowGroupDescription) -> Facts {
    let data: u64 = row_group.chunks.iter().map(|chunk| chunk.data.stored_bytes).sum();
    let key = row_group.key.and_then(|key| file.schema.fields().get(key));
    let mut facts: Facts = vec![("rows", Fact::Count(row_group.rows.into()))];
    facts.extend(key.map(|key| ("cluster key", key.name.as_str().into())));
    facts.push(("stored", Fact::Bytes(data + row_group.run_index.stored_bytes)));
    facts
}

/// Opens a file. The footer is at the end, so a stream is copied to an unnamed file first.
fn reader(input: Input, options: &OpenOptions) -> Result<Reader> {
    if input.is_whole && input.prefix.len() < MAGIC.len() && MAGIC.starts_with(&input.prefix) {
        return Err(Error::corrupt(&input.path, "header", "the file ends within it"));
    }
    if !input.prefix.is_empty() {
        ::buren::check_magic(&input.path, &input.prefix)?;
    }
    let path = input.path.clone();
    Reader::open(input.into_file(options.longest_copy)?, &path)
}
