//! A JSON array with an object for each row. Numbers are exact decimals, as JSON allows them; floats that are no numbers, and
//! whatever JSON has no form for, are strings.

use super::Format;
use brc_core::{Error, LogicalType, Result, RowFault, Value};
use brc_query::{Plan, QueryResult};

pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "an array of objects, one a row; names must be UTF-8"
    }

    fn render(&self, _: &Plan, answer: &QueryResult, out: &mut Vec<u8>) -> Result<()> {
        let names: Vec<String> = answer.columns().iter().map(|column| json_string(&column.name)).collect();
        out.push(b'[');
        for (index, row) in answer.rows().enumerate() {
            out.extend_from_slice(if index == 0 { b"\n  {" } else { b",\n  {" });
            for (column, (name, value)) in names.iter().zip(row).enumerate() {
                out.extend_from_slice(if column == 0 { b"" } else { b", " });
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                write(value, answer.columns()[column].logical_type, out)?;
            }
            out.push(b'}');
        }
        out.extend_from_slice(if answer.is_empty() { b"]\n" } else { b"\n]\n" });
        Ok(())
    }
}

fn write(value: Option<Value<'_>>, logical_type: LogicalType, out: &mut Vec<u8>) -> Result<()> {
    let Some(value) = value else {
        out.extend_from_slice(b"null");
        return Ok(());
    };
    let is_finite = !matches!(value, Value::Float(value) if !value.is_finite());
    if (logical_type.is_numeric() && is_finite) || logical_type == LogicalType::Bool {
        value.write(logical_type, out);
        return Ok(());
    }
    let mut text = Vec::new();
    value.write(logical_type, &mut text);
    match std::str::from_utf8(&text) {
        Ok(text) => out.extend_from_slice(json_string(text).as_bytes()),
        Err(_) => {
            let text = RowFault::quote(&text);
            return Err(Error::Usage(format!("'{text}' is not UTF-8, which JSON needs; try --format csv")));
        }
    }
    Ok(())
}

/// A JSON string.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_of_the_types_that_json_has() {
        for (value, logical_type, written) in [
            (None, "int64", "null"),
            (Some(Value::Integer(1)), "bool", "true"),
            (Some(Value::Integer(-105)), "decimal(10,2)", "-1.05"),
            (Some(Value::Float(1e300)), "float64", "1e300"),
            (Some(Value::Float(f64::NAN)), "float64", "\"NaN\""),
            (Some(Value::Float(f64::NEG_INFINITY)), "float64", "\"-inf\""),
            (Some(Value::Integer(0)), "date", "\"1970-01-01\""),
            (Some(Value::Bytes(b"a\"b")), "string", "\"a\\\"b\""),
        ] {
            let mut out = Vec::new();
            write(value, logical_type.parse().unwrap(), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), written);
        }
        assert!(write(Some(Value::Bytes(b"\xff")), LogicalType::Binary, &mut Vec::new()).is_err());
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json_string("a\"b\\c\n\u{1}Zürich 一"), r#""a\"b\\c\n\u0001Zürich 一""#);
    }
}
