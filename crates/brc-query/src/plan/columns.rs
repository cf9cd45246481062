//! The columns of an answer.

use brc_core::{Error, Field, LogicalType, Result, Schema};

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name: that of a column or the one it was given, else the expression as it is written.
    pub name: String,
    /// Its type.
    pub logical_type: LogicalType,
    /// Whether it may have nulls.
    pub nullable: bool,
}

/// The schema of an answer.
pub(crate) fn schema(columns: &[OutputColumn]) -> Result<Schema> {
    let field = |column: &OutputColumn| Field {
        name: column.name.clone(),
        logical_type: column.logical_type,
        nullable: column.nullable,
    };
    Schema::new(columns.iter().map(field).collect()).map_err(|error| Error::Usage(error.to_string()))
}
