//! JSON objects, one a row: in an array, or one a line. Numbers are exact decimals, as JSON allows them; floats that are no
//! numbers, and whatever JSON has no form for, are strings.

use super::Format;
use super::lines::{self, Lines};
use brc_core::{BatchWriter, Error, LogicalType, Result, RowFault, Schema, Value};

/// Objects, one a row.
pub(super) struct Json {
    name: &'static str,
    about: &'static str,
    layout: Layout,
}

/// What stands around rows.
#[derive(Clone, Copy)]
struct Layout {
    before: &'static str,
    between: &'static str,
    after: &'static str,
    /// All there is if there is no row.
    nothing: &'static str,
}

pub(super) const JSON: Json = Json {
    name: "json",
    about: "an array of objects, one a row; strings must be UTF-8",
    layout: Layout { before: "[\n  ", between: ",\n  ", after: "\n]\n", nothing: "[]\n" },
};

pub(super) const JSON_LINES: Json = Json {
    name: "jsonl",
    about: "an object a line; strings must be UTF-8",
    layout: Layout { before: "", between: "\n", after: "\n", nothing: "" },
};

impl Format for Json {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        let names = schema.fields().iter().map(|field| format!("{}: ", json_string(&field.name)));
        lines::writer(schema, Objects { names: names.collect(), layout: self.layout })
    }
}

struct Objects {
    /// The names with what stands between them and values.
    names: Vec<String>,
    layout: Layout,
}

impl Lines for Objects {
    fn between(&self) -> &'static [u8] {
        self.layout.between.as_bytes()
    }

    fn row(&self, values: &[Option<Value<'_>>], types: &[LogicalType], out: &mut Vec<u8>) -> Result<()> {
        out.push(b'{');
        for (column, ((name, value), of_type)) in self.names.iter().zip(values).zip(types).enumerate() {
            out.extend_from_slice(if column == 0 { b"" } else { b", " });
            out.extend_from_slice(name.as_bytes());
            write(*value, *of_type, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn start(&self) -> Vec<u8> {
        self.layout.before.into()
    }

    fn end(&self) -> Vec<u8> {
        self.layout.after.into()
    }

    fn nothing(&self) -> Vec<u8> {
        self.layout.nothing.into()
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
    fn rows_are_objects() {
        let first = r#"{"a|b": "x, \"y\"", "n": 1.50, "d": "2024-02-29", "f": "NaN", "b": true}"#;
        let second = r#"{"a|b": "", "n": null, "d": null, "f": 1e300, "b": null}"#;
        assert_eq!(crate::render::rendered(&JSON), format!("[\n  {first},\n  {second}\n]\n"));
        assert_eq!(crate::render::rendered(&JSON_LINES), format!("{first}\n{second}\n"));
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json_string("a\"b\\c\n\u{1}Zürich 一"), r#""a\"b\\c\n\u0001Zürich 一""#);
    }
}
