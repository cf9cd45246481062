//! Comma-separated values with a header, quoted as RFC 4180 has it where need be. Names stay the bytes they are.

use super::{Format, plain};
use brc_core::Result;
use brc_query::{Answer, Plan};

pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "comma-separated values with a header"
    }

    fn render(&self, _: &Plan, answer: &Answer, out: &mut Vec<u8>) -> Result<()> {
        line(answer.columns().iter(), |column, field| field.extend_from_slice(column.name.as_bytes()), out);
        for row in answer.rows() {
            line(row, plain, out);
        }
        Ok(())
    }
}

fn line<T>(values: impl Iterator<Item = T>, write: impl Fn(T, &mut Vec<u8>), out: &mut Vec<u8>) {
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let start = out.len();
        write(value, out);
        quote(start, out);
    }
    out.push(b'\n');
}

/// Puts the field from `start` on in quotes if it contains what means something in a line.
pub(crate) fn quote(start: usize, out: &mut Vec<u8>) {
    if !out[start..].iter().any(|byte| b",\"\r\n".contains(byte)) {
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
            ("Abha", "Abha\n"),
            ("St. John's", "St. John's\n"),
            ("a,b", "\"a,b\"\n"),
            ("say \"x\"", "\"say \"\"x\"\"\"\n"),
            ("", "\n"),
        ] {
            let mut out = Vec::new();
            line([field].into_iter(), |field, out| out.extend_from_slice(field.as_bytes()), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), quoted);
        }
    }
}
