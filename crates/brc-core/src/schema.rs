//! What a table is made of: named columns, each of one type.

use crate::logical_type::{LogicalType, TypeError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A named column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The column's name: not empty, unique in its schema.
    pub name: String,
    /// What its values mean.
    pub logical_type: LogicalType,
    /// Whether rows may be null. A column that may have nulls need not have any.
    pub nullable: bool,
}

impl Field {
    /// A column that has a value in every row.
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
}

/// Why some text is not a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A column is not of the form `name:type`.
    #[error("'{0}' is not of the form name:type")]
    Form(String),
    /// A name in double quotes that does not end.
    #[error("a name in double quotes does not end: {0}")]
    Quote(String),
    /// A type that does not exist.
    #[error("column '{column}': {error}")]
    Type {
        /// The column's name.
        column: String,
        /// What is wrong with it.
        error: TypeError,
    },
    /// A column without a name.
    #[error("a column has an empty name")]
    EmptyName,
    /// Two columns of the same name.
    #[error("two columns are named '{0}'")]
    Duplicate(String),
    /// No column at all.
    #[error("a table needs at least one column")]
    Empty,
}

impl Schema {
    /// A schema of these columns.
    ///
    /// # Errors
    /// If there is no column, or a name is empty or taken twice, or a decimal has more digits than there can be.
    pub fn new(fields: Vec<Field>) -> Result<Self, SchemaError> {
        if fields.is_empty() {
            return Err(SchemaError::Empty);
        }
        let mut names = std::collections::HashSet::with_capacity(fields.len());
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
        Ok(Self { fields })
    }

    /// The table of the One Billion Row Challenge: `station` (string) and `temperature` (decimal of scale 1), both
    /// without nulls.
    #[must_use]
    pub fn one_brc() -> Self {
        Self {
            fields: vec![
                Field::required("station", LogicalType::String),
                Field::required("temperature", LogicalType::decimal(1)),
            ],
        }
    }

    /// Reads `name:type,name:type not null…`; [`fmt::Display`] writes it. A name may stand in double quotes, a double
    /// quote in it doubled. The types are those of [`LogicalType`].
    ///
    /// # Errors
    /// If the text is not of that form, or [`Schema::new`] refuses the columns.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let mut fields = Vec::new();
        let mut rest = text;
        loop {
            let end = end_of_column(rest)?;
            fields.push(parse_field(&rest[..end])?);
            match rest[end..].strip_prefix(',') {
                Some(behind) => rest = behind,
                None => return Self::new(fields),
            }
        }
    }

    /// The columns in order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The position of the column of that name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Whether the columns have the same names and types in the same order. Only one of them may allow nulls.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let same = |(a, b): (&Field, &Field)| a.name == b.name && a.logical_type == b.logical_type;
        self.fields.len() == other.fields.len() && self.fields.iter().zip(&other.fields).all(same)
    }
}

/// Where the first column of a list ends: at a comma that is in no quotes and no parentheses.
fn end_of_column(text: &str) -> Result<usize, SchemaError> {
    let (mut quoted, mut depth) = (false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => depth -= 1,
            b',' if !quoted && depth <= 0 => return Ok(at),
            _ => {}
        }
    }
    if quoted { Err(SchemaError::Quote(text.to_owned())) } else { Ok(text.len()) }
}

fn parse_field(text: &str) -> Result<Field, SchemaError> {
    let (name, logical_type) = text.rsplit_once(':').ok_or_else(|| SchemaError::Form(text.trim().to_owned()))?;
    let name = match name.trim().strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => name.trim().to_owned(),
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
            if field.name.contains([',', '"', ':', '(', ')']) || field.name.trim() != field.name {
                write!(f, "\"{}\"", field.name.replace('"', "\"\""))?;
            } else {
                f.write_str(&field.name)?;
            }
            write!(f, ":{}", field.logical_type)?;
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
    fn bad_schemas_say_why() {
        let unknown = |text: &str| SchemaError::Type { column: "a".into(), error: TypeError::Unknown(text.into()) };
        for (text, error) in [
            ("", SchemaError::Form(String::new())),
            ("a", SchemaError::Form("a".into())),
            ("a:float", unknown("float")),
            ("a:decimal(x)", unknown("decimal(x)")),
            ("a:intnot null", unknown("intnot null")),
            (
                "a:decimal(39,0)",
                SchemaError::Type { column: "a".into(), error: TypeError::Decimal { precision: 39, scale: 0 } },
            ),
            (":int", SchemaError::EmptyName),
            ("a:int,a:string", SchemaError::Duplicate("a".into())),
            ("\"a:int", SchemaError::Quote("\"a:int".into())),
        ] {
            assert_eq!(Schema::parse(text).unwrap_err(), error);
        }
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
