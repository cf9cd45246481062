//! A JSON array with an object for each row. Numbers are exact decimals, as JSON allows them.

use super::{Format, plain};
use brc_core::{Error, Result, RowFault};
use brc_query::{Answer, Plan, Value};

pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "an array of objects, one a row; names must be UTF-8"
    }

    fn render(&self, _: &Plan, answer: &Answer, out: &mut Vec<u8>) -> Result<()> {
        let names: Vec<String> = answer.columns().iter().map(|column| json_string(&column.name)).collect();
        out.push(b'[');
        for (index, row) in answer.rows().enumerate() {
            out.extend_from_slice(if index == 0 { b"\n  {" } else { b",\n  {" });
            for (column, (name, value)) in names.iter().zip(row).enumerate() {
                out.extend_from_slice(if column == 0 { b"" } else { b", " });
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                write(value, out)?;
            }
            out.push(b'}');
        }
        out.extend_from_slice(if answer.is_empty() { b"]\n" } else { b"\n]\n" });
        Ok(())
    }
}

fn write(value: Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Number { .. } => plain(value, out),
        Value::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => out.extend_from_slice(json_string(text).as_bytes()),
            Err(_) => {
                let text = RowFault::quote(text);
                return Err(Error::Usage(format!("'{text}' is not UTF-8, which JSON needs; try --format csv")));
            }
        },
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
    fn strings_are_escaped() {
        assert_eq!(json_string("a\"b\\c\n\u{1}Zürich 一"), r#""a\"b\\c\n\u0001Zürich 一""#);
    }
}
