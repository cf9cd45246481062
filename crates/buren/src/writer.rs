//! Writes a file.

use crate::file::{self, ClusterKey, FileKey};
use crate::reader::Reader;
use brc_compress::Compressor;
use brc_core::{BatchWriter, ColumnarWriter, Error, LogicalType, Part, PartEncoder, Result, Schema, Table};
use std::sync::Arc;

/// The cluster key: the column by which rows are grouped inside a row group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Key {
    /// The column of strings, if all others are a few of numbers of 64 bits; otherwise the column that makes the first rows at
    /// least 2 % smaller, if there is one.
    #[default]
    Automatic,
    /// No key: rows lie in their original order.
    None,
    /// The column of that name, in each row group where it has few enough values.
    Column(String),
}

/// Whether clustering pays for rows of so many distinct keys: runs are not too short on average.
pub(crate) fn are_long_runs(rows: usize, keys: usize) -> bool {
    const LEAST_ROWS: usize = 16;
    rows / keys.max(1) >= LEAST_ROWS
}

/// How to write a file.
#[derive(Clone)]
pub struct WriterOptions {
    /// The compression of blocks that it makes smaller.
    pub compression: Compressor,
    /// By which column rows are clustered.
    pub key: Key,
    /// How much memory, in bytes, the dictionaries may take that strings of all row groups share; when they have taken it,
    /// further row groups have dictionaries of their own. The file depends on it.
    pub dictionary_bytes: usize,
}

impl WriterOptions {
    /// Those of a file whose blocks are compressed so.
    #[must_use]
    pub fn new(compression: Compressor) -> Self {
        Self { compression, key: Key::Automatic, dictionary_bytes: 320 << 20 }
    }
}

/// Writes a buren file: see [`BatchWriter`] for who writes which bytes.
pub struct Writer(file::Writer);

impl Writer {
    /// A writer of a table of that schema.
    ///
    /// # Errors
    /// If the key is no column of the schema, or one of floats or of integers of more than 64 bits.
    pub fn new(schema: &Schema, options: WriterOptions) -> Result<Self> {
        let key = cluster_key(schema, &options.key)?;
        Ok(Self(file::Writer::new(schema, key, options)))
    }
}

impl Reader {
    /// A writer that continues this file: further row groups, and a new footer for all. Its caller writes behind the bytes of
    /// the file, which stay as they are.
    ///
    /// The columns have the names and types of `schema`; some may be nullable that were not. Blocks are compressed as those of
    /// the file are.
    ///
    /// # Errors
    /// [`Error::Usage`] if these are not the file's columns, or the key is none of them or of a type that is no key; if the
    /// file's footer is damaged.
    pub fn continued(&self, schema: &Schema, options: WriterOptions) -> Result<Writer> {
        let own = |schema: &Schema| -> Vec<_> {
            schema.fields().iter().map(|field| (field.name.clone(), field.logical_type)).collect()
        };
        if own(self.schema()) != own(schema) {
            let (path, of_file) = (self.path().display(), self.schema());
            return Err(Error::Usage(format!("{path}: its columns are {of_file}, not {schema}")));
        }
        let key = cluster_key(schema, &options.key)?;
        Ok(Writer(self.file().continued(schema, key, options)?))
    }
}

fn cluster_key(schema: &Schema, key: &Key) -> Result<ClusterKey> {
    Ok(match key {
        Key::Column(name) => ClusterKey::Column(key_column(schema, name)?),
        Key::Automatic => ClusterKey::Automatic(Arc::new(FileKey::new(schema))),
        Key::None => ClusterKey::None,
    })
}

fn key_column(schema: &Schema, name: &str) -> Result<usize> {
    let column =
        schema.index_of(name).ok_or_else(|| Error::Usage(format!("there is no column '{name}' to cluster by")))?;
    match schema.fields()[column].logical_type {
        LogicalType::Decimal { precision, .. } if precision <= LogicalType::MAX_PRECISION_64 => Ok(column),
        other @ (LogicalType::Float32 | LogicalType::Float64 | LogicalType::Uuid | LogicalType::Decimal { .. }) => {
            Err(Error::Usage(format!("cannot cluster by column '{name}': it is {other}")))
        }
        _ => Ok(column),
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        self.0.encoder()
    }

    fn begins_at(&self) -> u64 {
        self.0.begins_at()
    }

    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        self.0.append(part)
    }

    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        self.0.columnar()
    }

    fn remark(&self) -> Option<String> {
        self.0.remark()
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        self.0.finish()
    }
}
