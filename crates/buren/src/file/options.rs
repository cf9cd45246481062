//! How to write a file: by which column rows are clustered, and how blocks are compressed.

use super::encoder::ClusterKey;
use super::key_choice::FileKey;
use brc_compress::Compressor;
use brc_core::{Error, LogicalType, Result, Schema};
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
pub(super) fn are_long_runs(rows: usize, keys: usize) -> bool {
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

/// The key of a table of that schema.
///
/// # Errors
/// If it is no column of the schema, or one of floats or of integers of more than 64 bits.
pub(super) fn cluster_key(schema: &Schema, key: &Key) -> Result<ClusterKey> {
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
