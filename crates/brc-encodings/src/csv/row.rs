//! Parses one row by the schema, with all checks: defines what a valid row is, and the error of an invalid one.

use crate::text::{BadRow, LONGEST_LINE};
use brc_core::{PhysicalType, RowFault, Schema, decimal};
use memchr::memchr;

/// The value of one column of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Text(&'a [u8]),
    Number(i64),
}

/// Parses a row, without its line end, into one value per column; an empty line has none.
pub(super) fn parse<'a>(
    line: &'a [u8],
    schema: &Schema,
    delimiter: u8,
    values: &mut Vec<Value<'a>>,
) -> Result<(), BadRow> {
    values.clear();
    if line.len() > LONGEST_LINE {
        return Err(BadRow { column: None, fault: RowFault::LineTooLong(LONGEST_LINE) });
    }
    if line.is_empty() {
        return Ok(());
    }
    let last = schema.fields().len() - 1;
    let mut rest = line;
    for (column, field) in schema.fields().iter().enumerate() {
        let bad = |fault| BadRow { column: Some(column), fault };
        let text = match memchr(delimiter, rest) {
            Some(_) if column == last => return Err(BadRow { column: None, fault: RowFault::TooManyColumns }),
            Some(end) => {
                let text = &rest[..end];
                rest = &rest[end + 1..];
                text
            }
            None if column == last => rest,
            None => return Err(bad(RowFault::MissingSeparator(delimiter))),
        };
        values.push(match field.logical_type.physical() {
            PhysicalType::Integers => Value::Number(decimal::parse(text, field.logical_type.scale()).map_err(bad)?),
            _ if text.is_empty() => return Err(bad(RowFault::EmptyName)),
            _ if memchr(0, text).is_some() => return Err(bad(RowFault::NulByte)),
            _ => Value::Text(text),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &[u8]) -> (Option<usize>, RowFault) {
        let bad = parse(line, &Schema::one_brc(), b';', &mut Vec::new()).unwrap_err();
        (bad.column, bad.fault)
    }

    #[test]
    fn valid_rows_are_parsed() {
        let mut values = Vec::new();
        parse(b"S\xc3\xa3o;-12.3", &Schema::one_brc(), b';', &mut values).unwrap();
        assert_eq!(values, [Value::Text("São".as_bytes()), Value::Number(-123)]);
        let schema = Schema::parse("a:int,b:string,c:decimal(2)").unwrap();
        parse(b"7|x y|1.5", &schema, b'|', &mut values).unwrap();
        assert_eq!(values, [Value::Number(7), Value::Text(b"x y"), Value::Number(150)]);
        parse(b"", &schema, b'|', &mut values).unwrap();
        assert_eq!(values, []);
    }

    #[test]
    fn malformed_rows_report_error_and_column() {
        assert_eq!(fault(b"a"), (Some(0), RowFault::MissingSeparator(b';')));
        assert_eq!(fault(b";1.0"), (Some(0), RowFault::EmptyName));
        assert_eq!(fault(b"a\0;1.0"), (Some(0), RowFault::NulByte));
        assert_eq!(fault(b"a;"), (Some(1), RowFault::EmptyNumber));
        assert_eq!(fault(b"a;1.0;"), (None, RowFault::TooManyColumns));
        assert_eq!(fault(b"a;1.0\r\r"), (Some(1), RowFault::MalformedNumber("1.0\\r\\r".into())));
        assert_eq!(fault(&vec![b'a'; LONGEST_LINE + 1]), (None, RowFault::LineTooLong(LONGEST_LINE)));
    }
}
