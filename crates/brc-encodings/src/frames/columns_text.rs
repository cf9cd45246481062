//! The columns as the headers of files of version 1 have them: `name:string,name:int,name:decimal(2)`, none with nulls.

use brc_core::{Field, LogicalType, Schema};

/// The text of these columns.
pub(crate) fn write(schema: &Schema) -> String {
    let column = |field: &Field| {
        let logical_type = match (field.logical_type, field.logical_type.scale()) {
            (LogicalType::String, _) => "string".to_owned(),
            (_, 0) => "int".to_owned(),
            (_, scale) => format!("decimal({scale})"),
        };
        format!("{}:{logical_type}", field.name)
    };
    schema.fields().iter().map(column).collect::<Vec<_>>().join(",")
}

/// The columns of that text.
///
/// # Errors
/// Why there are none.
pub(crate) fn parse(text: &str) -> Result<Schema, String> {
    let column = |part: &str| {
        let (name, logical_type) = part.rsplit_once(':').ok_or_else(|| format!("'{part}' is no column"))?;
        let logical_type = logical_type.parse().map_err(|error| format!("column '{name}': {error}"))?;
        Ok(Field::required(name.trim(), logical_type))
    };
    Schema::new(text.split(',').map(column).collect::<Result<_, String>>()?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back() {
        for text in ["station:string,temperature:decimal(1)", "\"a\":int,b:c:decimal(18)"] {
            assert_eq!(write(&parse(text).unwrap()), text);
        }
        assert!(parse("a").is_err());
        assert!(parse("a:int,a:int").is_err());
        assert!(parse("a:decimal(39)").is_err());
    }
}
