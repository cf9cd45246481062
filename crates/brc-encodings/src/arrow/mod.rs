//! Apache Arrow's file and stream formats: columns in the memory layout of the programs that use them.
//!
//! The library parses the flatbuffers of the metadata. Buffers are read and written here: each separately, so that only
//! projected columns are read; they are checked, and borrowed in place if batches have the same layout.

mod arrays;
mod bounds;
mod buffers;
mod codec;
mod column_buffers;
mod encoder;
mod layout;
mod lz4_frame;
mod messages;
mod outline;
mod scanner;
mod stream;
pub(crate) mod stream_writer;
mod table;
mod types;
mod unlisted;
mod writer;

use crate::columnar;
use crate::description::{Description, Fact, Facts};
use crate::encoding::{CreateOptions, Encoding, OpenOptions, Verified, read_all};
use crate::input::Input;
use brc_compress::Compression;
use brc_core::{BatchWriter, Error, Progress, ReadAt, Result, Schema, Table};
use codec::Codec;
use outline::Outline;
use table::ArrowTable;
use writer::{MAGIC, Writer};

/// The encoding's name.
const NAME: &str = "arrow";

/// The magic of Feather version 1, which is not an Arrow file.
const FEATHER_1: &[u8] = b"FEA1";

/// The error for such a file.
const FEATHER_1_REFUSED: &str = "is a Feather file of version 1, which is not supported: convert it with pyarrow, \
                                 feather.write_feather(feather.read_table(OLD), NEW)";

pub(crate) struct Arrow;

impl Encoding for Arrow {
    fn name(&self) -> &'static str {
        NAME
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["arrow", "feather", "ipc"]
    }

    fn about(&self) -> &'static str {
        "Apache Arrow IPC file: columns in the layout that programs use in memory"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(MAGIC) || prefix.starts_with(FEATHER_1) || stream::is_stream(prefix)
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
        codec::id_of(compression).map(|_| ()).ok_or_else(|| format!("arrow does not support {}", compression.name()))
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        Ok(Box::new(table(input, options)?))
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        let compressor = options.compression;
        self.supports(schema).and_then(|()| self.can_compress(compressor.compression)).map_err(Error::Usage)?;
        Ok(Box::new(Writer::new(schema, Codec::of(compressor).flatten())))
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

/// The number of first bytes that distinguish the kinds of arrow files.
const FIRST_BYTES: usize = 64;

fn table(mut input: Input, options: &OpenOptions) -> Result<ArrowTable> {
    let path = input.path.clone();
    input.extend_prefix(FIRST_BYTES)?;
    let is_stream = stream::is_stream(&input.prefix);
    if input.prefix.starts_with(FEATHER_1) {
        return Err(Error::unsupported(&path, FEATHER_1_REFUSED));
    }
    if !is_stream && !input.prefix.starts_with(MAGIC) {
        return Err(Error::corrupt(&path, "header", "the file does not begin as arrow files do"));
    }
    let file = input.into_file(options.longest_copy)?;
    let bytes = file.length().map_err(Error::io(&path, "open"))?;
    let read = if is_stream { Outline::of_stream } else { Outline::of_file };
    let outline = read(&path, &file, bytes)?;
    let table = ArrowTable::open(file, bytes, outline, options)?;
    options.check_schema(&table.path, &table.schema)?;
    Ok(table)
}

fn describe(table: &ArrowTable) -> Description {
    let file = columnar::facts(NAME, table, table.created_by.as_deref(), table.end, ("batches", table.batches.len()));
    let columns = (0..table.columns.len()).map(|column| describe_column(table, column)).collect();
    let batches = table
        .batches
        .iter()
        .map(|batch| vec![("rows", Fact::Count(batch.rows as u64)), ("stored", Fact::Bytes(batch.location.bytes()))]);
    Description { file, columns, row_groups: batches.collect() }
}

fn describe_column(table: &ArrowTable, index: usize) -> Facts {
    let column = &table.columns[index];
    let stored =
        |batch: &layout::BatchLayout| batch.columns[index].iter().map(|buffer| buffer.end - buffer.start).sum::<u64>();
    let mut compressions: Vec<_> = table.batches.iter().map(|batch| batch.codec.map_or("none", Codec::name)).collect();
    compressions.sort_unstable();
    compressions.dedup();
    vec![
        ("name", column.name.as_str().into()),
        ("type", column.logical_type.to_string().as_str().into()),
        ("compression", compressions.join(", ").as_str().into()),
        ("stored", Fact::Bytes(table.batches.iter().map(stored).sum())),
    ]
}
