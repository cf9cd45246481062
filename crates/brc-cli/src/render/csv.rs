//! Comma- or tab-separated values with a header, quoted as in RFC 4180 where necessary. Strings are written byte for
//! byte; a null is an empty field, and an empty string is `""`.

use super::lines::{self, Lines};
use super::{Format, plain};
use brc_core::{
    Batch, BatchWriter, ByteStrings, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, Result, Schema,
    Value, append, decimal, value::write_float,
};
use brc_encodings::brc_text::Form;
use std::ops::Range;

/// Values separated by the byte `DELIMITER`.
pub(super) struct Separated<const DELIMITER: u8> {
    name: &'static str,
    about: &'static str,
}

pub(super) const CSV: Separated<b','> =
    Separated { name: "csv", about: "comma-separated values with a header; nulls are empty" };

pub(super) const TSV: Separated<b'\t'> = Separated { name: "tsv", about: "the same with tabs" };

impl<const DELIMITER: u8> Format for Separated<DELIMITER> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn expresses_all(&self) -> bool {
        true
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        rows_writer::<DELIMITER>(schema, vec![None; schema.fields().len()])
    }

    fn text_writer(&self, schema: &Schema) -> Option<Box<dyn BatchWriter>> {
        Some(rows_writer::<DELIMITER>(schema, Form::of_text(schema)))
    }
}

fn rows_writer<const DELIMITER: u8>(schema: &Schema, forms: Vec<Option<Form>>) -> Box<dyn BatchWriter> {
    let names = schema.fields().iter().map(|field| field.name.as_bytes());
    let mut header = Vec::new();
    fields::<DELIMITER>(names.map(|name| (Some(Value::Bytes(name)), LogicalType::String)), &mut header);
    lines::writer(schema, Rows::<DELIMITER> { header, forms })
}

struct Rows<const DELIMITER: u8> {
    header: Vec<u8>,
    /// The text form of each column; `None` for the default form.
    forms: Vec<Option<Form>>,
}

impl<const DELIMITER: u8> Lines for Rows<DELIMITER> {
    fn start(&self) -> Vec<u8> {
        self.header.clone()
    }

    fn row(&self, values: &[Option<Value<'_>>], types: &[LogicalType], out: &mut Vec<u8>) -> Result<()> {
        fields::<DELIMITER>(values.iter().copied().zip(types.iter().copied()), out);
        Ok(())
    }

    fn rows(&self, batch: &Batch<'_>, types: &[LogicalType], _: bool, out: &mut Vec<u8>) -> Result<()> {
        let columns = batch.columns.iter().zip(types).zip(&self.forms);
        let columns: Vec<Fields<'_>> = columns.map(|((it, of), form)| Fields::of(it, *of, *form)).collect();
        for row in 0..batch.rows {
            for (index, fields) in columns.iter().enumerate() {
                if index > 0 {
                    out.push(DELIMITER);
                }
                fields.write::<DELIMITER>(row, out);
            }
            out.push(b'\n');
        }
        Ok(())
    }
}

/// A column with the way its values are formatted.
struct Fields<'a> {
    column: Column<'a>,
    has_nulls: bool,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Numbers(Integers<'a>, u8),
    Floats(&'a [f64]),
    Strings(ByteStrings<'a>),
    Codes(&'a [u32], &'a Dictionary),
    Formed(Form, LogicalType),
    /// Values whose text never needs quotes.
    Others(LogicalType),
}

impl<'a> Fields<'a> {
    fn of(column: &Column<'a>, logical_type: LogicalType, form: Option<Form>) -> Self {
        let is_number = logical_type.is_numeric() && logical_type.physical() == PhysicalType::Integers;
        let kind = match (column.data, form) {
            (Data::Integers(_) | Data::Floats(_), Some(form)) => Kind::Formed(form, logical_type),
            (Data::Integers(values), None) if is_number => Kind::Numbers(values, logical_type.scale()),
            (Data::Bytes(strings), _) => Kind::Strings(strings),
            (Data::Codes { codes, dictionary }, _) => Kind::Codes(codes, dictionary),
            (Data::Floats(values), None) if logical_type == LogicalType::Float64 => Kind::Floats(values),
            (Data::Floats(_) | Data::Integers(_) | Data::Runs { .. }, _) => Kind::Others(logical_type),
        };
        Self { column: *column, has_nulls: column.has_nulls(), kind }
    }

    #[inline]
    fn write<const DELIMITER: u8>(&self, row: usize, out: &mut Vec<u8>) {
        if self.has_nulls && !self.column.is_valid(row) {
            return;
        }
        match self.kind {
            Kind::Numbers(values, scale) => decimal::format(values.get(row), scale, out),
            Kind::Floats(values) => write_float(values[row], out),
            Kind::Strings(strings) => {
                let (offsets, bytes) = strings.parts();
                string_in::<DELIMITER>(bytes, offsets[row] as usize..offsets[row + 1] as usize, out);
            }
            Kind::Codes(codes, dictionary) => {
                let (bytes, range) = dictionary.place(codes[row]);
                string_in::<DELIMITER>(bytes, range, out);
            }
            Kind::Formed(form, logical_type) => {
                if let Some(value) = Value::of_row(&self.column, row) {
                    let mut text = Vec::with_capacity(40);
                    form.write(value, logical_type, &mut text);
                    string::<DELIMITER>(&text, out);
                }
            }
            Kind::Others(logical_type) => plain(Value::of_row(&self.column, row), logical_type, out),
        }
    }
}

/// Appends a line of fields.
fn fields<'a, const DELIMITER: u8>(values: impl Iterator<Item = (Option<Value<'a>>, LogicalType)>, out: &mut Vec<u8>) {
    for (index, (value, of_type)) in values.enumerate() {
        if index > 0 {
            out.push(DELIMITER);
        }
        match value {
            Some(Value::Bytes(text)) => string::<DELIMITER>(text, out),
            value => plain(value, of_type, out),
        }
    }
    out.push(b'\n');
}

/// Appends the string at `range` of a larger buffer.
#[inline]
fn string_in<const DELIMITER: u8>(bytes: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
    let text = &bytes[range.clone()];
    // For 16 bytes at once, a few instructions show that none is special.
    let is_plain = bytes[range.start..].first_chunk().is_some_and(|first: &[u8; 16]| {
        !text.is_empty()
            && text.len() <= first.len()
            && !first.iter().fold(false, |any, &byte| any | is_special::<DELIMITER>(byte))
    });
    if is_plain || !needs_quotes::<DELIMITER>(text) {
        append(bytes, range, out);
    } else {
        string::<DELIMITER>(text, out);
    }
}

/// Whether a byte has a special meaning.
#[inline]
const fn is_special<const DELIMITER: u8>(byte: u8) -> bool {
    (byte == DELIMITER) | (byte == b'"') | (byte == b'\r') | (byte == b'\n')
}

/// Whether a string is empty or contains special bytes.
#[inline]
fn needs_quotes<const DELIMITER: u8>(text: &[u8]) -> bool {
    // No branch per byte.
    text.is_empty()
        || text.iter().fold(false, |special, &byte| special | Special::<DELIMITER>::BYTES[usize::from(byte)])
}

struct Special<const DELIMITER: u8>;

impl<const DELIMITER: u8> Special<DELIMITER> {
    const BYTES: [bool; 256] = {
        let mut special = [false; 256];
        let mut byte = 0;
        while byte < special.len() {
            special[byte] = is_special::<DELIMITER>(byte as u8);
            byte += 1;
        }
        special
    };
}

/// Appends a string, quoted if necessary.
#[inline]
fn string<const DELIMITER: u8>(text: &[u8], out: &mut Vec<u8>) {
    if !needs_quotes::<DELIMITER>(text) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
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
            fields::<b','>([(value, LogicalType::String)].into_iter(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), quoted);
        }
    }

    #[test]
    fn values_of_every_type_are_written() {
        let expected = "a|b,n,d,f,b\n\"x, \"\"y\"\"\",1.50,2024-02-29,NaN,true\n\"\",,,1e300,\n";
        assert_eq!(crate::render::rendered(&CSV), expected);
        let expected = "a|b\tn\td\tf\tb\n\"x, \"\"y\"\"\"\t1.50\t2024-02-29\tNaN\ttrue\n\"\"\t\t\t1e300\t\n";
        assert_eq!(crate::render::rendered(&TSV), expected);
    }
}
