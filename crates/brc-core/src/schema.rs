//! What a table is made of: named columns, each with one type.

use crate::identifier::{self, ListError};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DataType {
    /// Byte strings kept once each in a dictionary; a row holds a code. Usually UTF-8, but any bytes are kept as they are.
    String,
    /// An exact decimal: an integer of up to 64 bits, divided by ten to the power of `scale`. Scale 0 is an integer.
    Decimal {
        /// Digits after the decimal point, 0 to 18.
        scale: u8,
    },
}

impl DataType {
    /// The largest scale of a decimal: ten to this power still fits 64 bits.
    pub const MAX_SCALE: u8 = 18;

    /// The decimals that its numbers have; 0 if it has no numbers.
    #[must_use]
    pub fn scale(self) -> u8 {
        match self {
            Self::Decimal { scale } => scale,
            Self::String => 0,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("string"),
            Self::Decimal { scale: 0 } => f.write_str("int"),
            Self::Decimal { scale } => write!(f, "decimal({scale})"),
        }
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The column's name: not empty, unique in its schema.
    pub name: String,
    /// The column's type.
    pub data_type: DataType,
}

/// The columns of a table, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    fields: Vec<Field>,
    left_out: Vec<LeftOut>,
}

/// A column of a file that is no column of the table, because there is no type for it here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name in the file.
    pub name: String,
    /// What it is, with an article: "a date", "a list" …
    pub kind: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column '{}' is {}, which brc does not read", self.name, self.kind)
    }
}

/// Why some text is not a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A column is not of the form `name:type`.
    #[error("'{0}' is not of the form name:type")]
    Form(String),
    /// A type that does not exist.
    #[error("unknown type '{0}' (types: string, int, decimal(SCALE))")]
    Type(String),
    /// A column without a name.
    #[error("a column has an empty name")]
    EmptyName,
    /// A name in quotes does not end.
    #[error(transparent)]
    Name(#[from] ListError),
    /// Two columns of the same name.
    #[error("two columns are named '{0}'")]
    Duplicate(String),
    /// No column at all.
    #[error("a table needs at least one column")]
    Empty,
    /// A scale beyond [`DataType::MAX_SCALE`].
    #[error("scale {0} is beyond {max}", max = DataType::MAX_SCALE)]
    Scale(u8),
}

impl Schema {
    /// A schema of these columns.
    ///
    /// # Errors
    /// If there is no column, or a name is empty or taken twice, or a scale is too large.
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
            if let DataType::Decimal { scale } = field.data_type
                && scale > DataType::MAX_SCALE
            {
                return Err(SchemaError::Scale(scale));
            }
        }
        Ok(Self { fields, left_out: Vec::new() })
    }

    /// The same columns, of a file that has these others.
    #[must_use]
    pub fn without(self, left_out: Vec<LeftOut>) -> Self {
        Self { left_out, ..self }
    }

    /// The columns of the file that are left out.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The table of the One Billion Row Challenge: `station` (string) and `temperature` (decimal of scale 1).
    #[must_use]
    pub fn one_brc() -> Self {
        let field = |name: &str, data_type| Field { name: name.to_owned(), data_type };
        let fields = vec![field("station", DataType::String), field("temperature", DataType::Decimal { scale: 1 })];
        Self { fields, left_out: Vec::new() }
    }

    /// Reads `name:type,name:type…`, types being `string`, `int` and `decimal(SCALE)`; [`fmt::Display`] writes it. Names
    /// may be quoted as [`identifier`] has it.
    ///
    /// # Errors
    /// If the text is not of that form, or [`Schema::new`] refuses the columns.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let column = |item: identifier::Item<'_>| {
            let form = || SchemaError::Form(item.rest.to_owned());
            let (name, data_type) = match item.quoted {
                Some(name) => (name, item.rest.strip_prefix(':').ok_or_else(form)?),
                None => {
                    let (name, data_type) = item.rest.rsplit_once(':').ok_or_else(form)?;
                    (name.trim().to_owned(), data_type)
                }
            };
            Ok(Field { name, data_type: parse_type(data_type.trim())? })
        };
        Self::new(identifier::items(text)?.into_iter().map(column).collect::<Result<_, SchemaError>>()?)
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
}

fn parse_type(text: &str) -> Result<DataType, SchemaError> {
    let unknown = || SchemaError::Type(text.to_owned());
    match text {
        "string" => Ok(DataType::String),
        "int" => Ok(DataType::Decimal { scale: 0 }),
        _ => {
            let scale = text.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')')).ok_or_else(unknown)?;
            Ok(DataType::Decimal { scale: scale.trim().parse().map_err(|_| unknown())? })
        }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}:{}", identifier::in_list(&field.name), field.data_type)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        for text in ["station:string,temperature:decimal(1)", "a:int", "x:string,y:decimal(18),z:int"] {
            assert_eq!(Schema::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Schema::parse("station:string, temperature:decimal(1)").unwrap(), Schema::one_brc());
    }

    #[test]
    fn names_of_any_characters_round_trip() {
        let schema = Schema::parse(r#""a ""b"", c":int,d:e f:string,":":int," x" :int"#).unwrap();
        let names: Vec<_> = schema.fields().iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a \"b\", c", "d:e f", ":", " x"]);
        assert_eq!(Schema::parse(&schema.to_string()).unwrap(), schema);
    }

    #[test]
    fn bad_schemas_say_why() {
        for (text, error) in [
            ("", SchemaError::Form(String::new())),
            ("a", SchemaError::Form("a".into())),
            ("a:float", SchemaError::Type("float".into())),
            ("a:decimal(x)", SchemaError::Type("decimal(x)".into())),
            ("a:decimal(19)", SchemaError::Scale(19)),
            (":int", SchemaError::EmptyName),
            ("\"\":int", SchemaError::EmptyName),
            ("\"a:int", SchemaError::Name(ListError::Unclosed("\"a:int".into()))),
            ("\"a\" b:int", SchemaError::Form("b:int".into())),
            ("a:int,a:string", SchemaError::Duplicate("a".into())),
        ] {
            assert_eq!(Schema::parse(text).unwrap_err(), error);
        }
    }
}
