//! Descriptions of files for `brc inspect`: lists of named facts.
//!
//! Encodings have little in common here, and the facts are only displayed, so they are not forced into fields that most
//! encodings would leave empty.

use brc_core::{LogicalType, Schema, Table};

/// Names and what is known under each.
pub type Facts = Vec<(&'static str, Fact)>;

/// A property of a file or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A text, usually UTF-8.
    Text(Vec<u8>),
    /// Binary data.
    Binary(Vec<u8>),
    /// A count.
    Count(u64),
    /// A size in bytes.
    Bytes(u64),
    /// The decimal `value / 10^scale`.
    Number {
        /// In units of the scale.
        value: i128,
        /// Digits after the decimal point.
        scale: u8,
    },
}

impl Fact {
    /// A value of that type that is given by its bytes.
    pub(crate) fn of_bytes(bytes: Vec<u8>, logical_type: LogicalType) -> Self {
        if logical_type == LogicalType::Binary { Self::Binary(bytes) } else { Self::Text(bytes) }
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Self::Text(text.as_bytes().to_vec())
    }
}

/// The structure of a file.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// The whole file.
    pub file: Facts,
    /// Each column, in order.
    pub columns: Vec<Facts>,
    /// Each row group, in order, where the encoding has them.
    pub row_groups: Vec<Facts>,
}

impl Description {
    /// The description that any table can give.
    #[must_use]
    pub fn of_table(encoding: &'static str, compression: &'static str, table: &dyn Table) -> Self {
        let mut file: Facts = vec![("encoding", encoding.into()), ("compression", compression.into())];
        file.extend(table.rows().map(|rows| ("rows", Fact::Count(rows))));
        file.extend(table.bytes().map(|bytes| ("bytes", Fact::Bytes(bytes))));
        file.extend(metadata(table.schema()));
        Self { file, columns: columns(table.schema()), row_groups: Vec::new() }
    }
}

/// The metadata of the table as a whole, if there are any.
pub(crate) fn metadata(schema: &Schema) -> Option<(&'static str, Fact)> {
    let pairs: Vec<_> =
        schema.metadata().iter().map(|(key, value)| format!("{key}={}", value.escape_debug())).collect();
    (!pairs.is_empty()).then(|| ("metadata", pairs.join(", ").as_str().into()))
}

/// The name and the type of each column.
pub(crate) fn columns(schema: &Schema) -> Vec<Facts> {
    let facts = |field: &brc_core::Field| {
        vec![("name", field.name.as_str().into()), ("type", field.logical_type.to_string().as_str().into())]
    };
    schema.fields().iter().map(facts).collect()
}
