//! Apache Avro's object container files: rows in blocks, after a header with their schema as JSON.
//!
//! The format has no checksums except those of its compressions, and no end: a file that is cut off between two blocks
//! is valid. So `brc` checksums the header of its files, adds a checksum where a compression has none, and marks the
//! last block: its number of rows has one byte more than it needs, which all other programs accept.

mod codec;
mod container;
mod row_writer;
mod schema;
mod table;
mod values;
mod writer;

use crate::description::Description;
use crate::encoding::{CreateOptions, Encoding, OpenOptions, Verified, read_all};
use crate::input::Input;
use brc_compress::Compression;
use brc_core::{BatchWriter, Error, Progress, Result, Schema, Table};
use codec::Codec;
use table::AvroTable;
use writer::Writer;

pub(crate) struct Avro;

/// The encoding's name.
const NAME: &str = "avro";

impl Encoding for Avro {
    fn name(&self) -> &'static str {
        NAME
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["avro"]
    }

    fn about(&self) -> &'static str {
        "Apache Avro object container file: rows with their schema, common in Kafka and Hadoop"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(container::MAGIC)
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn detects_damage(&self) -> bool {
        false
    }

    fn is_text(&self) -> bool {
        false
    }

    fn compresses_blocks(&self) -> bool {
        true
    }

    fn can_compress(&self, compression: &dyn Compression) -> Result<(), String> {
        Codec::of(compression)
            .map(|_| ())
            .ok_or_else(|| format!("avro does not support {} with a checksum", compression.name()))
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        Ok(Box::new(AvroTable::open(input, options)?))
    }

    fn describe(&self, input: Input, options: &OpenOptions) -> Result<Description> {
        let table = AvroTable::open(input, options)?;
        Ok(Description::of_table(NAME, table.codec().compression(), &table))
    }

    fn verify(&self, input: Input, options: &OpenOptions, threads: usize, progress: &Progress) -> Result<Verified> {
        let is_compressed = input.compression.is_some();
        let table = AvroTable::open(input, options)?;
        let verified = read_all(&table, threads, progress)?;
        let remark = (!is_compressed && !table.has_checksums()).then_some("its rows have no checksums");
        Ok(Verified { remark, ..verified })
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        self.can_compress(options.compression.compression).map_err(Error::Usage)?;
        Ok(Box::new(Writer::new(schema, options.compression)))
    }
}
