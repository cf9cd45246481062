//! Schemas: named columns with types.

use crate::identifier::{self, ListError};
use crate::logical_type::{LogicalType, TypeError};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;

/// A named column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The column's name: not empty, unique in its schema.
    pub name: String,
    /// The type of its values.
    pub logical_type: LogicalType,
    /// Whether values may be null. A nullable column need not have nulls.
    pub nullable: bool,
}

impl Field {
    /// A column without nulls.
    pub fn required(name: impl Into<String>, logical_type: LogicalType) -> Self {
        Self { name: name.into(), logical_type, nullable: false }
    }

    /// A column that may have nulls.
    pub fn nullable(name: impl Into<String>, logical_type: LogicalType) -> Self {
        Self { name: name.into(), logical_type, nullable: true }
    }
}

/// The columns of a table, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    fields: Vec<Field>,
    unsupported_columns: Vec<UnsupportedColumn>,
    #[serde(default)]
    metadata: Vec<(String, String)>,
}

/// A column of a file that the table lacks, because `brc` does not support its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsupportedColumn {
    /// Its name in the file.
    pub name: String,
    /// Its type with an article: "a date", "a list" …
    pub kind: String,
}

impl fmt::Display for UnsupportedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column '{}' is {}, which brc does not read", self.name, self.kind)
    }
}

/// Why a text is not a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A column is not of the form `name:type`.
    #[error("'{text}' is not of the form name{between}type")]
    Form {
        /// The text of the column.
        text: String,
        /// The separator between name and type.
        between: char,
    },
    /// A type is unknown or invalid.
    #[error("column '{column}': {error}")]
    Type {
        /// The column's name.
        column: String,
        /// What is wrong with the type.
        error: TypeError,
    },
    /// A column has no name.
    #[error("a column has an empty name")]
    EmptyName,
    /// A quoted name has no closing quote.
    #[error(transparent)]
    Name(#[from] ListError),
    /// Two columns have the same name.
    #[error("two columns are named '{0}'")]
    Duplicate(String),
    /// There are no columns.
    #[error("a table needs at least one column")]
    Empty,
}

impl Schema {
    /// Creates a schema.
    ///
    /// # Errors
    /// If there are no columns, a name is empty or used twice, or a decimal's precision or scale is out of range.
    pub fn new(fields: Vec<Field>) -> Result<Self, SchemaError> {
        if fields.is_empty() {
            return Err(SchemaError::Empty);
        }
        let mut names = HashSet::with_capacity(fields.len());
        for field in &fields {
            if field.name.is_empty() {
                return Err(SchemaError::EmptyName);
            }
            if !names.insert(field.name.as_str()) {
                return Err(SchemaError::Duplicate(field.name.clone()));
            }
            if let LogicalType::Decimal { precision, scale } = field.logical_type
                && (!(1..=LogicalType::MAX_PRECISION).contains(&precision) || scale > precision)
            {
                let error = TypeError::Decimal { precision, scale };
                return Err(SchemaError::Type { column: field.name.clone(), error });
            }
        }
        Ok(Self { fields, unsupported_columns: Vec::new(), metadata: Vec::new() })
    }

    /// Sets the unsupported columns of the file.
    #[must_use]
    pub fn without(self, unsupported_columns: Vec<UnsupportedColumn>) -> Self {
        Self { unsupported_columns, ..self }
    }

    /// The columns of the file that are not supported.
    #[must_use]
    pub fn unsupported_columns(&self) -> &[UnsupportedColumn] {
        &self.unsupported_columns
    }

    /// Sets metadata of the table as a whole, such as the width of an image. Encodings that support metadata store it.
    #[must_use]
    pub fn with_metadata(self, mut metadata: Vec<(String, String)>) -> Self {
        metadata.sort();
        metadata.dedup_by(|next, kept| next.0 == kept.0);
        Self { metadata, ..self }
    }

    /// The metadata of the table: distinct keys in ascending order, with their values.
    #[must_use]
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// The metadata value of a key.
    #[must_use]
    pub fn metadata_of(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// The table of the One Billion Row Challenge: `station` (string) and `temperature` (decimal of scale 1), both
    /// without nulls.
    #[must_use]
    pub fn one_brc() -> Self {
        let fields = vec![
            Field::required("station", LogicalType::String),
            Field::required("temperature", LogicalType::decimal(1)),
        ];
        Self { fields, unsupported_columns: Vec::new(), metadata: Vec::new() }
    }

    /// Parses types for some columns: `name=type,name=type not null…`, in the syntax of [`Schema::parse`].
    ///
    /// # Errors
    /// If the text is malformed, or names a column twice.
    pub fn parse_types(text: &str) -> Result<Vec<Field>, SchemaError> {
        let items = identifier::items(text, end_of_column)?;
        let fields = items.into_iter().map(|item| parse_field(item, '=')).collect::<Result<_, SchemaError>>()?;
        Ok(Self::new(fields)?.fields)
    }

    /// Parses `name:type,name:type not null…` with the types of [`LogicalType`]; [`fmt::Display`] writes the same
    /// syntax. Names may be quoted as in [`identifier`].
    ///
    /// # Errors
    /// If the text is malformed, or [`Schema::new`] refuses the columns.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let items = identifier::items(text, end_of_column)?;
        Self::new(items.into_iter().map(|item| parse_field(item, ':')).collect::<Result<_, SchemaError>>()?)
    }

    /// The columns in order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The position of the column with this name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Whether the columns have the same names and types in the same order. Nullability may differ.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let same = |(a, b): (&Field, &Field)| a.name == b.name && a.logical_type == b.logical_type;
        self.fields.len() == other.fields.len() && self.fields.iter().zip(&other.fields).all(same)
    }
}

/// The position at which the first column of a list ends: the first comma outside parentheses.
fn end_of_column(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.bytes().position(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        byte == b',' && depth <= 0
    })
}

fn parse_field(item: identifier::Item<'_>, between: char) -> Result<Field, SchemaError> {
    let form = || SchemaError::Form { text: item.rest.to_owned(), between };
    let (name, logical_type) = match &item.quoted {
        Some(name) => (name.clone(), item.rest.strip_prefix(between).ok_or_else(form)?),
        None => {
            let (name, logical_type) = item.rest.rsplit_once(between).ok_or_else(form)?;
            (name.trim().to_owned(), logical_type)
        }
    };
    let words = logical_type.trim();
    let lower = words.to_ascii_lowercase();
    let bare = lower.strip_suffix("null").and_then(|rest| rest.trim_end().strip_suffix("not"));
    let bare = bare.filter(|rest| rest.ends_with([' ', '\t', ')']));
    let logical_type = words[..bare.map_or(words.len(), str::len)].trim().parse();
    let logical_type = logical_type.map_err(|error| SchemaError::Type { column: name.clone(), error })?;
    Ok(Field { name, logical_type, nullable: bare.is_none() })
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            let in_parentheses = field.name.contains(['(', ')']);
            let name =
                if in_parentheses { identifier::quote(&field.name).into() } else { identifier::in_list(&field.name) };
            write!(f, "{name}:{}", field.logical_type)?;
            f.write_str(if field.nullable { "" } else { " not null" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_form_round_trips() {
        for text in [
            "station:string not null,temperature:decimal(18,1) not null",
            "a:int64",
            "x:string,y:decimal(18,18),z:timestamp(ms) with zone not null,\"a,\"\"b:\":decimal(38,2)",
        ] {
            assert_eq!(Schema::parse(text).unwrap().to_string(), text);
        }
        let short = Schema::parse("station:string NOT NULL, temperature:decimal(1) not null").unwrap();
        assert_eq!(short, Schema::one_brc());
        assert!(short.is_like(&Schema::parse("station:string,temperature:decimal(18,1)").unwrap()));
        assert!(!short.is_like(&Schema::parse("station:string,temperature:decimal(17,1)").unwrap()));
    }

    #[test]
    fn names_of_any_characters_round_trip() {
        let schema = Schema::parse(r#""a ""b"", c":int,d:e f:string,":":int," x" :int"#).unwrap();
        let names: Vec<_> = schema.fields().iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a \"b\", c", "d:e f", ":", " x"]);
        assert_eq!(Schema::parse(&schema.to_string()).unwrap(), schema);
    }

    #[test]
    fn malformed_schemas_are_refused() {
        let form = |text: &str| SchemaError::Form { text: text.into(), between: ':' };
        let unknown = |text: &str| SchemaError::Type { column: "a".into(), error: TypeError::Unknown(text.into()) };
        for (text, error) in [
            ("", form("")),
            ("a", form("a")),
            ("a:floating", unknown("floating")),
            ("a:decimal(x)", unknown("decimal(x)")),
            ("a:intnot null", unknown("intnot null")),
            (
                "a:decimal(39,0)",
                SchemaError::Type { column: "a".into(), error: TypeError::Decimal { precision: 39, scale: 0 } },
            ),
            (":int", SchemaError::EmptyName),
            ("\"\":int", SchemaError::EmptyName),
            ("\"a:int", SchemaError::Name(ListError::Unclosed("\"a:int".into()))),
            ("\"a\" b:int", form("b:int")),
            ("a:int,a:string", SchemaError::Duplicate("a".into())),
        ] {
            assert_eq!(Schema::parse(text).unwrap_err(), error);
        }
    }

    #[test]
    fn types_of_some_columns_are_read() {
        let types = Schema::parse_types("price=decimal(10,2),\"a=b\"=date not null,c=d=int").unwrap();
        let text: Vec<_> = types.iter().map(|it| format!("{} {} {}", it.name, it.logical_type, it.nullable)).collect();
        assert_eq!(text, ["price decimal(10,2) true", "a=b date false", "c=d int64 true"]);
        let error = Schema::parse_types("price:int").unwrap_err();
        assert_eq!(error.to_string(), "'price:int' is not of the form name=type");
    }

    proptest! {
        #[test]
        fn any_names_round_trip(names in prop::collection::hash_set("[a-z ,\":()]{1,6}", 1..5)) {
            let fields = names.into_iter().map(|name| Field::nullable(name, LogicalType::decimal(3))).collect();
            let schema = Schema::new(fields).unwrap();
            prop_assert_eq!(Schema::parse(&schema.to_string()).unwrap(), schema);
        }
    }
}
