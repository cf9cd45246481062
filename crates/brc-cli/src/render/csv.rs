//! Comma-separated values with a header, quoted as RFC 4180 has it where need be. Strings stay the bytes they are; a null is
//! an empty field, and an empty string is one in quotes.

use super::{Format, plain};
use brc_core::Result;
use brc_query::{Plan, QueryResult};

pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "comma-separated values with a header"
    }

    fn render(&self, _: &Plan, answer: &QueryResult, out: &mut Vec<u8>) -> Result<()> {
        let name = |name: &str, field: &mut Vec<u8>| {
            field.extend_from_slice(name.as_bytes());
            true
        };
        line(answer.columns().iter().map(|column| column.name.as_str()), name, out);
        for row in answer.rows() {
            let values = row.zip(answer.columns());
            line(
                values,
                |(value, column), field| {
                    plain(value, column.logical_type, field);
                    value.is_some()
                },
                out,
            );
        }
        Ok(())
    }
}

/// Appends a line of fields; `write` appends one, and returns whether there is something rather than a null.
fn line<T>(values: impl Iterator<Item = T>, write: impl Fn(T, &mut Vec<u8>) -> bool, out: &mut Vec<u8>) {
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let start = out.len();
        if write(value, out) {
            quote(start, out);
        }
    }
    out.push(b'\n');
}

/// Puts the field from `start` on in quotes if it is empty, or contains what means something in a line.
pub(crate) fn quote(start: usize, out: &mut Vec<u8>) {
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
            let write = |field: Option<&str>, out: &mut Vec<u8>| {
                out.extend_from_slice(field.unwrap_or_default().as_bytes());
                field.is_some()
            };
            line([field].into_iter(), write, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), quoted);
        }
    }
}
