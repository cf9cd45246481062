//! Comma-separated values with a header, quoted as RFC 4180 has it where need be. Strings stay the bytes they are; a null is
//! an empty field, and an empty string is one in quotes.

use super::lines::{self, Lines};
use super::{Format, plain};
use brc_core::{BatchWriter, LogicalType, Result, Schema, Value};

pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "comma-separated values with a header; nulls are empty"
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        let names = schema.fields().iter().map(|field| field.name.as_bytes());
        let mut header = Vec::new();
        fields(names.map(|name| (Some(Value::Bytes(name)), LogicalType::String)), &mut header);
        lines::writer(schema, Rows { header })
    }
}

struct Rows {
    header: Vec<u8>,
}

impl Lines for Rows {
    fn start(&self) -> Vec<u8> {
        self.header.clone()
    }

    fn row(&self, values: &[Option<Value<'_>>], types: &[LogicalType], out: &mut Vec<u8>) -> Result<()> {
        fields(values.iter().copied().zip(types.iter().copied()), out);
        Ok(())
    }
}

/// Appends a line of fields.
fn fields<'a>(values: impl Iterator<Item = (Option<Value<'a>>, LogicalType)>, out: &mut Vec<u8>) {
    for (index, (value, of_type)) in values.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let start = out.len();
        plain(value, of_type, out);
        if value.is_some() {
            quote(start, out);
        }
    }
    out.push(b'\n');
}

/// Puts the field from `start` on in quotes if it is empty, or contains what means something in a line.
fn quote(start: usize, out: &mut Vec<u8>) {
    let field = &out[start..];
    if !field.is_empty() && !field.iter().any(|byte| b",\"\r\n".contains(byte)) {
        return;
    }
    let field = out.split_off(start);
    out.push(b'"');
    for byte in field {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        for (field, quoted) in [
            (Some("Abha"), "Abha\n"),
            (Some("St. John's"), "St. John's\n"),
            (Some("a,b"), "\"a,b\"\n"),
            (Some("say \"x\""), "\"say \"\"x\"\"\"\n"),
            (Some("\"\""), "\"\"\"\"\"\"\n"),
            (Some(""), "\"\"\n"),
            (None, "\n"),
        ] {
            let mut out = Vec::new();
            let value = field.map(|field| Value::Bytes(field.as_bytes()));
            fields([(value, LogicalType::String)].into_iter(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), quoted);
        }
    }

    #[test]
    fn values_of_every_type_are_written() {
        let expected = "a|b,n,d,f,b\n\"x, \"\"y\"\"\",1.50,2024-02-29,NaN,true\n\"\",,,1e300,\n";
        assert_eq!(crate::render::rendered(&Csv), expected);
    }
}
