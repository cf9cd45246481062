//! Shared code of parquet and arrow, the columnar encodings of other projects.
//!
//! Their files come from anywhere, so everything in them is checked before it is used. Files written by `brc` have
//! checksums where the formats have none, so that damage is always detected.

pub(crate) mod array_batches;
pub(crate) mod arrow_columns;
pub(crate) mod footer;
pub(crate) mod part_rows;
pub(crate) mod seal;

use crate::description::{self, Fact, Facts};
use crate::encoding::unread;
pub(crate) use crate::fault::{Fault, guarded};
use brc_core::{Bitmap, Error, Field, Integers, LogicalType, Result, Schema, Table, TimeUnit, UnsupportedColumn};
use std::path::Path;

/// The maximum rows of a batch: few enough for the L1 cache.
pub(crate) const WINDOW: usize = 4096;

/// The metadata key for the scales of all columns in files of version 1 if a column has numbers of nineteen digits.
/// Other programs do not accept these as 64-bit decimals, so they are stored as integers.
pub(crate) const SCALES: &str = "brc.scales";

/// Applies the scales stored under [`SCALES`] to the types of columns.
pub(crate) fn with_scales<'a>(types: impl Iterator<Item = &'a mut LogicalType>, scales: &str) {
    for (logical_type, scale) in types.zip(scales.split(',')) {
        if let (LogicalType::Int64, Ok(scale @ 1..=18)) = (&logical_type, scale.parse()) {
            *logical_type = LogicalType::Decimal { precision: 19, scale };
        }
    }
}

/// The schema of a file with these columns, and further unsupported ones.
///
/// # Errors
/// [`Error::Unsupported`] if they do not make a table.
pub(crate) fn schema(path: &Path, fields: Vec<Field>, unsupported_columns: Vec<UnsupportedColumn>) -> Result<Schema> {
    match unsupported_columns.first() {
        Some(column) if fields.is_empty() => Err(unread(path, column)),
        _ => match Schema::new(fields) {
            Ok(schema) => Ok(schema.without(unsupported_columns)),
            Err(error) => Err(Error::unsupported(path, error.to_string())),
        },
    }
}

/// The prefix of table metadata in a file, where other programs have their own keys.
const METADATA: &str = "brc.table.";

/// The table's metadata as keys and values for a file.
pub(crate) fn metadata_of(schema: &Schema) -> impl Iterator<Item = (String, String)> {
    schema.metadata().iter().map(|(key, value)| (format!("{METADATA}{key}"), value.clone()))
}

/// The table's metadata from the keys and values of a file.
pub(crate) fn table_metadata<'a>(pairs: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> Vec<(String, String)> {
    let own = |(key, value): (&str, Option<&str>)| Some((key.strip_prefix(METADATA)?.to_owned(), value?.to_owned()));
    pairs.filter_map(own).collect()
}

/// The structure of a file of these formats: its writer, its `parts`, and its footer, which begins at `end`.
pub(crate) fn facts(
    encoding: &str,
    table: &dyn Table,
    created_by: Option<&str>,
    end: u64,
    (parts, count): (&'static str, usize),
) -> Facts {
    let bytes = table.bytes().unwrap_or(0);
    let mut facts: Facts = vec![("encoding", encoding.into())];
    facts.extend(created_by.map(|by| ("created by", by.into())));
    facts.extend([
        ("rows", Fact::Count(table.rows().unwrap_or(0))),
        ("bytes", Fact::Bytes(bytes)),
        (parts, Fact::Count(count as u64)),
        ("footer", Fact::Bytes(bytes.saturating_sub(end))),
    ]);
    facts.extend(description::metadata(table.schema()));
    facts
}

/// The factor for values when they are written: these formats have no unit of seconds.
pub(crate) fn factor(logical_type: LogicalType) -> i64 {
    match logical_type {
        LogicalType::Time { unit: TimeUnit::Second } | LogicalType::Timestamp { unit: TimeUnit::Second, .. } => 1000,
        LogicalType::Bool
        | LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Float32
        | LogicalType::Float64
        | LogicalType::Date
        | LogicalType::Time { .. }
        | LogicalType::Timestamp { .. }
        | LogicalType::String
        | LogicalType::Binary
        | LogicalType::Uuid => 1,
    }
}

/// Checks that all valid values are within the bounds of their type.
pub(crate) fn check_bounds(
    values: &Integers<'_>,
    validity: Option<Bitmap<'_>>,
    logical_type: LogicalType,
) -> Result<(), Fault> {
    let Some((min, max)) = logical_type.bounds() else { return Ok(()) };
    if values.bounds().is_none_or(|(low, high)| min <= low && high <= max) {
        return Ok(());
    }
    let is_valid = |row: usize| validity.is_none_or(|validity| validity.get(row));
    let is_outside = |row: &usize| is_valid(*row) && !(min..=max).contains(&values.get(*row));
    match (0..values.len()).find(is_outside) {
        Some(row) => {
            let reason = format!("the value {} is out of the range of {logical_type}", values.get(row));
            Err(Fault::UnsupportedRow(row, reason.into()))
        }
        None => Ok(()),
    }
}
