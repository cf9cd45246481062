//! Columns with one value per file, such as the file's name or a value from its directory name.

use brc_core::{ColumnStatistics, Dictionary, Field, LogicalType, ValueBounds};
use std::collections::HashMap;

/// A column with one value in each table of a union. It replaces a column of the same name in the tables.
#[derive(Debug, Clone)]
pub struct ConstantColumn {
    field: Field,
    values: ConstantValues,
}

#[derive(Debug, Clone)]
enum ConstantValues {
    Strings { codes: Vec<Option<u32>>, dictionary: Dictionary },
    Integers(Vec<Option<i64>>),
}

/// The value of a column in all rows of a table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Constant<'a> {
    Null,
    Code(u32, &'a Dictionary),
    Integer(i64),
}

impl ConstantColumn {
    /// A string column with one value per table.
    pub fn strings<'v>(name: &str, values: impl IntoIterator<Item = Option<&'v [u8]>>) -> Self {
        let (mut known, mut dictionary) = (HashMap::new(), Dictionary::new());
        let mut code = |value: &'v [u8]| *known.entry(value).or_insert_with(|| dictionary.push(value));
        let codes: Vec<_> = values.into_iter().map(|value| value.map(&mut code)).collect();
        let nullable = codes.contains(&None);
        Self {
            field: field(name, LogicalType::String, nullable),
            values: ConstantValues::Strings { codes, dictionary },
        }
    }

    /// A column of a type stored as integers, with one value per table.
    #[must_use]
    pub fn integers(name: &str, logical_type: LogicalType, values: Vec<Option<i64>>) -> Self {
        Self { field: field(name, logical_type, values.contains(&None)), values: ConstantValues::Integers(values) }
    }

    /// Its name and type.
    #[must_use]
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// The number of tables that it has values for.
    pub(super) fn tables(&self) -> usize {
        match &self.values {
            ConstantValues::Strings { codes, .. } => codes.len(),
            ConstantValues::Integers(values) => values.len(),
        }
    }

    /// Its value in a table.
    pub(super) fn of(&self, table: usize) -> Constant<'_> {
        let value = match &self.values {
            ConstantValues::Strings { codes, dictionary } => codes[table].map(|code| Constant::Code(code, dictionary)),
            ConstantValues::Integers(values) => values[table].map(Constant::Integer),
        };
        value.unwrap_or(Constant::Null)
    }
}

fn field(name: &str, logical_type: LogicalType, nullable: bool) -> Field {
    Field { nullable, ..Field::required(name, logical_type) }
}

impl<'a> Constant<'a> {
    /// The statistics of the column in that table.
    pub(super) fn statistics(self) -> ColumnStatistics<'a> {
        match self {
            Self::Null => ColumnStatistics { values: ValueBounds::None, nulls: true },
            Self::Code(code, dictionary) => ColumnStatistics::string(dictionary.get(code)),
            Self::Integer(value) => ColumnStatistics::numbers(value, value),
        }
    }
}
