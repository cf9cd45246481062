//! The columns in the headers of version 1: `name:string,name:int,name:decimal(2)`, none nullable.

use brc_core::{Field, LogicalType, Schema, SchemaError, identifier};

/// Formats the columns.
pub(crate) fn write(schema: &Schema) -> String {
    let column = |field: &Field| {
        let logical_type = match (field.logical_type, field.logical_type.scale()) {
            (LogicalType::String, _) => "string".to_owned(),
            (_, 0) => "int".to_owned(),
            (_, scale) => format!("decimal({scale})"),
        };
        format!("{}:{logical_type}", identifier::in_list(&field.name))
    };
    schema.fields().iter().map(column).collect::<Vec<_>>().join(",")
}

/// Parses columns.
///
/// # Errors
/// The reason if the text is invalid.
pub(crate) fn parse(text: &str) -> Result<Schema, SchemaError> {
    let required = |field: &Field| Field { nullable: false, ..field.clone() };
    Schema::new(Schema::parse(text)?.fields().iter().map(required).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_round_trip() {
        for text in ["station:string,temperature:decimal(1)", "\"a,\":int,b:c:decimal(18)"] {
            assert_eq!(write(&parse(text).unwrap()), text);
        }
        for text in ["a", "a:int,a:int", "a:decimal(39)"] {
            assert!(parse(text).is_err());
        }
    }
}
