//! Writes fields, with quotes where they are needed to read the value back unchanged.

use crate::Form;
use crate::charset::BYTE_ORDER_MARK;
use crate::dialect::{Delimiter, Dialect};
use crate::sniff::{PREFIXES, comment_prefix};
use crate::typed::NullTokens;
use crate::unquote::is_blank;
use brc_core::{
    Batch, ByteStrings, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, Schema, Value, append, decimal,
    value::write_float,
};
use std::ops::Range;

/// Writes fields in a dialect.
#[derive(Debug, Clone)]
pub struct FieldWriter {
    delimiter: u8,
    quote: u8,
    escape: Option<u8>,
    line_end: &'static [u8],
    nulls: NullTokens,
    comment: Option<Vec<u8>>,
    /// The bytes that need quotes wherever they are in a value.
    special: [bool; 256],
    /// The first bytes of values that may be read as something else.
    misleading: [bool; 256],
    /// Whether the table has a single column, in which readers may take other bytes for delimiters.
    is_alone: bool,
    /// Whether the text of numbers, times, bools and UUIDs may have special bytes.
    all_may_be_special: bool,
}

/// The bytes besides letters and digits that are in numbers and times.
const VALUE_BYTES: &[u8] = b"+-.: ";

impl FieldWriter {
    /// Creates a writer for a table with `columns` columns in a dialect. If the dialect has no quotes, `"` is used where
    /// a field needs them.
    #[must_use]
    pub fn new(dialect: &Dialect, columns: usize) -> Self {
        let delimiter = match dialect.delimiter {
            Delimiter::Byte(byte) => byte,
            Delimiter::Blanks => b' ',
        };
        let quote = dialect.quote.unwrap_or(b'"');
        let is_alone = columns == 1;
        let mut special = [false; 256];
        let others: &[u8] = if is_alone { b",;\t|" } else { b"" };
        for byte in [delimiter, quote, b'\n', b'\r'].iter().chain(&dialect.escape).chain(others) {
            special[usize::from(*byte)] = true;
        }
        let is_of_values = |byte: u8| byte.is_ascii_alphanumeric() || VALUE_BYTES.contains(&byte);
        let all_may_be_special = (0..=u8::MAX).any(|byte| special[usize::from(byte)] && is_of_values(byte));
        let mut misleading = [false; 256];
        let starts = PREFIXES.iter().chain(&[" ", "\t"]).map(|start| start.as_bytes()).chain([BYTE_ORDER_MARK]);
        let starts = starts.chain(dialect.comment.as_deref().map(str::as_bytes));
        let starts = starts.chain(dialect.null_tokens.iter().map(String::as_bytes));
        starts.filter_map(<[u8]>::first).for_each(|first| misleading[usize::from(*first)] = true);
        Self {
            delimiter,
            quote,
            escape: dialect.escape,
            line_end: dialect.line_end.bytes(),
            nulls: NullTokens::new(&dialect.null_tokens),
            comment: dialect.comment.as_ref().map(|comment| comment.as_bytes().to_vec()),
            special,
            misleading,
            is_alone,
            all_may_be_special,
        }
    }

    /// Appends a value, quoted if it would not be read back unchanged, including by readers that detect the dialect,
    /// which may for example trim blanks.
    pub fn value(&self, value: &[u8], out: &mut Vec<u8>) {
        if !self.has_special(value) && !self.is_misleading(value) {
            return out.extend_from_slice(value);
        }
        out.push(self.quote);
        for &byte in value {
            if byte == self.quote || Some(byte) == self.escape {
                out.push(byte);
            }
            out.push(byte);
        }
        out.push(self.quote);
    }

    /// Appends the value at `range` of a larger buffer.
    #[inline]
    fn value_in(&self, bytes: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
        let value = &bytes[range.clone()];
        // For 16 bytes at once, a few instructions show that none is special.
        let is_plain = bytes[range.start..]
            .first_chunk()
            .is_some_and(|first: &[u8; 16]| value.len() <= first.len() && !self.is_alone && !self.any_special(first));
        if (is_plain || !self.has_special(value)) && !self.is_misleading(value) {
            append(bytes, range, out);
        } else {
            self.value(value, out);
        }
    }

    /// Whether a value has a special byte.
    #[inline]
    fn has_special(&self, value: &[u8]) -> bool {
        // No branch per byte.
        value.iter().fold(false, |any, &byte| any | self.special[usize::from(byte)])
    }

    /// The same for 16 bytes, of a table with several columns.
    #[inline]
    fn any_special(&self, bytes: &[u8; 16]) -> bool {
        let (delimiter, quote, escape) = (self.delimiter, self.quote, self.escape.unwrap_or(self.quote));
        let is_special =
            |byte| (byte == delimiter) | (byte == quote) | (byte == escape) | (byte == b'\n') | (byte == b'\r');
        bytes.iter().fold(false, |any, &byte| any | is_special(byte))
    }

    /// Whether a value may be read as something else, though it has no special bytes: as a null, a comment, or trimmed.
    #[inline]
    fn is_misleading(&self, value: &[u8]) -> bool {
        let (Some(first), Some(last)) = (value.first(), value.last()) else { return true };
        is_blank(*last) || self.misleading[usize::from(*first)] && self.begins_misleading(*first, value)
    }

    fn begins_misleading(&self, first: u8, value: &[u8]) -> bool {
        is_blank(first)
            || comment_prefix(value).is_some()
            || value.starts_with(BYTE_ORDER_MARK)
            || self.comment.as_ref().is_some_and(|comment| value.starts_with(comment))
            || self.nulls.contain(value)
    }

    /// Appends a null.
    fn null(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.nulls.first().unwrap_or_default());
    }

    /// Appends a row.
    #[inline]
    pub fn row(&self, columns: &[ColumnFields<'_>], row: usize, out: &mut Vec<u8>) {
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                out.push(self.delimiter);
            }
            column.write(row, out);
        }
        out.extend_from_slice(self.line_end);
    }

    /// Appends a line with the names of the columns.
    pub fn header(&self, schema: &Schema, out: &mut Vec<u8>) {
        for (index, field) in schema.fields().iter().enumerate() {
            if index > 0 {
                out.push(self.delimiter);
            }
            self.value(field.name.as_bytes(), out);
        }
        out.extend_from_slice(self.line_end);
    }

    /// The fields of a batch without runs, whose columns have these types. `forms` are how their values are written, if
    /// not in the usual form.
    #[must_use]
    pub fn columns<'a>(
        &'a self,
        batch: &Batch<'a>,
        types: impl IntoIterator<Item = LogicalType>,
        forms: &[Option<Form>],
    ) -> Vec<ColumnFields<'a>> {
        let columns = batch.columns.iter().zip(types).zip(forms);
        columns.map(|((column, logical_type), form)| self.column(column, logical_type, *form)).collect()
    }

    fn column<'a>(&'a self, column: &Column<'a>, logical_type: LogicalType, form: Option<Form>) -> ColumnFields<'a> {
        let is_number = logical_type.is_numeric() && logical_type.physical() == PhysicalType::Integers;
        let kind = match (column.data, form) {
            (Data::Integers(_) | Data::Floats(_), form) if form.is_some() || self.all_may_be_special => {
                Kind::Formed(form, logical_type)
            }
            (Data::Integers(values), _) if is_number => Kind::Numbers(values, logical_type.scale()),
            (Data::Bytes(strings), _) => Kind::Strings(strings),
            (Data::Codes { codes, dictionary }, _) => Kind::Codes(codes, dictionary),
            (Data::Floats(values), _) if logical_type == LogicalType::Float64 => Kind::Floats(values),
            (Data::Floats(_) | Data::Integers(_) | Data::Runs { .. }, _) => Kind::Others(logical_type),
        };
        ColumnFields { writer: self, column: *column, has_nulls: column.has_nulls(), kind }
    }
}

/// The fields of a column, for [`FieldWriter::row`].
pub struct ColumnFields<'a> {
    writer: &'a FieldWriter,
    column: Column<'a>,
    has_nulls: bool,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Numbers(Integers<'a>, u8),
    Floats(&'a [f64]),
    Strings(ByteStrings<'a>),
    Codes(&'a [u32], &'a Dictionary),
    /// Values in a form or the usual one, whose text may need quotes.
    Formed(Option<Form>, LogicalType),
    /// Values whose text needs no quotes.
    Others(LogicalType),
}

impl ColumnFields<'_> {
    /// Appends the field of a row.
    #[inline]
    fn write(&self, row: usize, out: &mut Vec<u8>) {
        if self.has_nulls && !self.column.is_valid(row) {
            return self.writer.null(out);
        }
        match self.kind {
            Kind::Numbers(values, scale) => decimal::format(values.get(row), scale, out),
            Kind::Floats(values) => write_float(values[row], out),
            Kind::Strings(strings) => {
                let (offsets, bytes) = strings.parts();
                self.writer.value_in(bytes, offsets[row] as usize..offsets[row + 1] as usize, out);
            }
            Kind::Codes(codes, dictionary) => {
                let (bytes, range) = dictionary.place(codes[row]);
                self.writer.value_in(bytes, range, out);
            }
            Kind::Formed(form, logical_type) => {
                if let Some(value) = Value::of_row(&self.column, row) {
                    let mut text = Vec::with_capacity(40);
                    match form {
                        Some(form) => form.write(value, logical_type, &mut text),
                        None => value.write(logical_type, &mut text),
                    }
                    self.writer.value(&text, out);
                }
            }
            Kind::Others(logical_type) => {
                if let Some(value) = Value::of_row(&self.column, row) {
                    value.write(logical_type, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_comment_prefixes_are_known() {
        let writer = FieldWriter::new(&Dialect::default(), 2);
        assert!(PREFIXES.iter().all(|prefix| writer.is_misleading(prefix.as_bytes())));
        assert!(!["-1", "/a", "a#"].iter().any(|value| writer.is_misleading(value.as_bytes())));
        assert!(comment_prefix(b"").is_none());
    }

    #[test]
    fn numbers_and_times_are_quoted_if_they_contain_the_delimiter() {
        let schema = Schema::parse("t:timestamp(s),n:decimal(2),f:float64,b:bool,u:uuid").unwrap();
        let types = || schema.fields().iter().map(|field| field.logical_type);
        let integers = |values| Column { data: Data::Integers(Integers::I128(values)), validity: None };
        let columns = [
            integers(&[1_704_067_200]),
            integers(&[-150]),
            Column { data: Data::Floats(&[1e300]), validity: None },
            integers(&[1]),
            integers(&[i128::MIN + 0xaf]),
        ];
        let batch = Batch { rows: 1, columns: &columns };
        for (delimiter, expected) in [
            (b',', "2024-01-01 00:00:00,-1.50,1e300,true,00000000-0000-0000-0000-0000000000af"),
            (b':', "\"2024-01-01 00:00:00\":-1.50:1e300:true:00000000-0000-0000-0000-0000000000af"),
            (b' ', "\"2024-01-01 00:00:00\" -1.50 1e300 true 00000000-0000-0000-0000-0000000000af"),
            (b'e', "2024-01-01 00:00:00e-1.50e\"1e300\"e\"true\"e00000000-0000-0000-0000-0000000000af"),
            (b'a', "2024-01-01 00:00:00a-1.50a1e300atruea\"00000000-0000-0000-0000-0000000000af\""),
        ] {
            let dialect = Dialect { delimiter: Delimiter::Byte(delimiter), ..Dialect::default() };
            let writer = FieldWriter::new(&dialect, 5);
            let mut out = Vec::new();
            writer.row(&writer.columns(&batch, types(), &[None; 5]), 0, &mut out);
            assert_eq!(String::from_utf8(out).unwrap().trim_end(), expected);
        }
    }

    #[test]
    fn fields_are_quoted_if_necessary() {
        let dialect = Dialect { null_tokens: vec![String::new(), "NA".to_owned()], ..Dialect::default() };
        let writer = FieldWriter::new(&dialect, 2);
        for (value, written) in [
            ("", "\"\""),
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("5\" pipe", "\"5\"\" pipe\""),
            ("a\nb", "\"a\nb\""),
            ("a\r", "\"a\r\""),
            (" a", "\" a\""),
            ("a\t", "\"a\t\""),
            ("NA", "\"NA\""),
            ("#1", "\"#1\""),
            ("-", "-"),
            ("\u{feff}a", "\"\u{feff}a\""),
        ] {
            let mut out = Vec::new();
            writer.value(value.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), written);
        }
    }
}
