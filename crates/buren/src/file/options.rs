//! Options for writing a file: the cluster key and the compression.

use super::encoder::ClusterKey;
use super::key_choice::FileKey;
use brc_compress::Compressor;
use brc_core::{Error, LogicalType, Result, Schema, identifier};
use std::sync::Arc;

/// The cluster key: the column by which rows are grouped inside a row group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Key {
    /// The string column, if all others are a few columns of 64-bit numbers; otherwise the column that makes the first
    /// rows at least 2 % smaller, if there is one.
    #[default]
    Automatic,
    /// No key: rows are stored in original order.
    None,
    /// The named column, in each row group in which it has few enough values.
    Column(String),
}

/// The number of rows per value of the key, on average, from which clustering pays.
pub(super) const MIN_ROWS_PER_KEY: usize = 16;

/// Whether clustering pays: runs are long enough on average.
pub(super) fn are_long_runs(rows: usize, keys: usize) -> bool {
    rows / keys.max(1) >= MIN_ROWS_PER_KEY
}

/// Options for writing a file.
#[derive(Clone)]
pub struct WriterOptions {
    /// The compression; blocks that it does not make smaller are stored uncompressed.
    pub compression: Compressor,
    /// The cluster key.
    pub key: Key,
    /// The memory budget in bytes for the dictionaries shared by all row groups. Once it is used up, further row groups
    /// have their own dictionaries. The contents of the file depend on it.
    pub dictionary_bytes: usize,
}

impl WriterOptions {
    /// Default options with this compression.
    #[must_use]
    pub fn new(compression: Compressor) -> Self {
        Self { compression, key: Key::Automatic, dictionary_bytes: 320 << 20 }
    }
}

/// Resolves the key for a table with this schema.
///
/// # Errors
/// If the column does not exist, or has floats or integers of more than 64 bits.
pub(super) fn cluster_key(schema: &Schema, key: &Key) -> Result<ClusterKey> {
    Ok(match key {
        Key::Column(name) => ClusterKey::Column(key_column(schema, name)?),
        Key::Automatic => ClusterKey::Automatic(Arc::new(FileKey::new(schema))),
        Key::None => ClusterKey::None,
    })
}

fn key_column(schema: &Schema, name: &str) -> Result<usize> {
    let unknown = || {
        let names: Vec<_> = schema.fields().iter().map(|field| identifier::in_list(&field.name)).collect();
        Error::Usage(format!("there is no column '{name}' to cluster by (columns: {})", names.join(", ")))
    };
    let column = schema.index_of(name).ok_or_else(unknown)?;
    match schema.fields()[column].logical_type {
        LogicalType::Decimal { precision, .. } if precision <= LogicalType::MAX_PRECISION_64 => Ok(column),
        other @ (LogicalType::Float32 | LogicalType::Float64 | LogicalType::Uuid | LogicalType::Decimal { .. }) => {
            Err(Error::Usage(format!("cannot cluster by column '{name}': it is {other}")))
        }
        _ => Ok(column),
    }
}
