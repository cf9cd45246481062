//! Reads the values of rows, which are in sequence: numbers as longs, strings with their length, and the branch number
//! before a nullable value.

use super::container::{take_bytes, take_long};
use super::schema::{FileColumn, FileSchema, Type};
use crate::columnar::factor;
use crate::frames::{Fault, RowLayout, RowReader, not_a_uuid, take_text};
use brc_core::{Field, LogicalType, PhysicalType, TimeUnit, Value, float32, uuid};
use std::ops::Range;

/// Reads the rows of a file.
pub(super) struct FileRows {
    schema: FileSchema,
    /// For each column of the table, its position in the file.
    supported: Vec<usize>,
    /// The symbols of enums, contiguous: they are put before the rows.
    symbols: Vec<u8>,
}

impl FileRows {
    pub(super) fn new(schema: FileSchema) -> Self {
        let is_supported = |index: &usize| schema.columns[*index].logical_type.is_ok();
        let supported = (0..schema.columns.len()).filter(is_supported).collect();
        let enums =
            schema.named.iter().filter_map(|named| if let Type::Enum(symbols) = named { Some(symbols) } else { None });
        let symbols = enums.flatten().flat_map(|symbol| symbol.bytes()).collect();
        Self { schema, supported, symbols }
    }

    /// The bytes to put before the rows.
    pub(super) fn symbols(&self) -> &[u8] {
        &self.symbols
    }

    /// The location of a symbol.
    fn symbol(&self, of: usize, index: usize) -> Option<Range<usize>> {
        let mut start = 0;
        for (number, named) in self.schema.named.iter().enumerate() {
            let Type::Enum(symbols) = named else { continue };
            if number == of {
                start += symbols.get(..index)?.iter().map(String::len).sum::<usize>();
                return Some(start..start + symbols.get(index)?.len());
            }
            start += symbols.iter().map(String::len).sum::<usize>();
        }
        None
    }
}

impl RowLayout for FileRows {
    type Reader<'a> = Reader<'a>;

    fn reader<'a>(&'a self, bytes: &'a [u8]) -> Reader<'a> {
        Reader {
            rows: self,
            all: bytes,
            rest: bytes.get(self.symbols.len()..).unwrap_or_default(),
            next: 0,
            branch: None,
            idle: 0,
            seen: 0,
        }
    }
}

pub(super) struct Reader<'a> {
    rows: &'a FileRows,
    all: &'a [u8],
    rest: &'a [u8],
    /// The next column of the file.
    next: usize,
    /// The type of the next value, if its branch number was read.
    branch: Option<&'a Type>,
    /// The number of values skipped since the number of bytes left last changed.
    idle: u32,
    seen: usize,
}

/// The maximum nesting of values.
const MAX_NESTING: usize = 64;

/// The maximum number of consecutive values without bytes.
const MAX_IDLE: u32 = 1 << 16;

impl<'a> Reader<'a> {
    fn long(&mut self) -> Result<i64, Fault> {
        take_long(&mut self.rest).ok_or(Fault::CutOff)
    }

    fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        take_bytes(&mut self.rest).ok_or(Fault::CutOff)
    }

    /// Skips the columns before a column of the table; returns its type.
    fn enter(&mut self, column: usize) -> Result<&'a Type, Fault> {
        let rows = self.rows;
        let index = rows.supported.get(column).copied().unwrap_or(rows.schema.columns.len());
        while self.next < index {
            self.skip(&rows.schema.columns[self.next].stored, MAX_NESTING)?;
            self.next += 1;
        }
        rows.schema.columns.get(index).map(|column| &column.stored).ok_or(Fault::CutOff)
    }

    /// The type of the next value, which the caller then reads.
    fn next_type(&mut self, column: usize) -> Result<&'a Type, Fault> {
        let stored = match self.branch.take() {
            Some(branch) => branch,
            None => {
                let stored = self.enter(column)?;
                self.chosen(stored)?
            }
        };
        self.next += 1;
        Ok(stored)
    }

    /// The type of the next value's branch, if the type is a union.
    fn chosen(&mut self, stored: &'a Type) -> Result<&'a Type, Fault> {
        let Type::Union(branches) = stored else { return Ok(stored) };
        let branch = usize::try_from(self.long()?).ok().and_then(|branch| branches.get(branch));
        branch.ok_or_else(|| Fault::new("a union has no such branch"))
    }

    fn skip(&mut self, stored: &'a Type, depth: usize) -> Result<(), Fault> {
        // Types without bytes could be nested without end.
        (self.idle, self.seen) =
            if self.seen == self.rest.len() { (self.idle + 1, self.seen) } else { (0, self.rest.len()) };
        let depth = depth.checked_sub(1).filter(|_| self.idle <= MAX_IDLE);
        let depth = depth.ok_or_else(|| Fault::unsupported("values are nested too deeply"))?;
        match stored {
            Type::Null => Ok(()),
            Type::Bool => take_text(&mut self.rest, 1usize).map(drop),
            Type::Int | Type::Long | Type::Enum(_) => self.long().map(drop),
            Type::Float => take_text(&mut self.rest, 4usize).map(drop),
            Type::Double => take_text(&mut self.rest, 8usize).map(drop),
            Type::Bytes | Type::Text => self.bytes().map(drop),
            Type::Fixed(size) => take_text(&mut self.rest, *size).map(drop),
            Type::List(items) => self.skip_items(|reader| reader.skip(items, depth)),
            Type::Map(values) => self.skip_items(|reader| {
                reader.bytes()?;
                reader.skip(values, depth)
            }),
            Type::Union(_) => {
                let branch = self.chosen(stored)?;
                self.skip(branch, depth)
            }
            Type::Record(fields) => fields.iter().try_for_each(|field| self.skip(field, depth)),
            Type::Named(index) => self.skip(&self.rows.schema.named[*index], depth),
        }
    }

    /// Skips the blocks of a list or a map.
    fn skip_items(&mut self, skip: impl Fn(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        loop {
            let count = self.long()?;
            match count {
                0 => return Ok(()),
                // With a length in bytes, the items need not be parsed.
                ..0 => {
                    let length = self.long()?;
                    take_text(&mut self.rest, length)?;
                }
                _ => {
                    for _ in 0..count {
                        let before = self.rest.len();
                        skip(self)?;
                        // There may be any number of items without bytes.
                        if self.rest.len() == before {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// A decimal: an integer in big-endian bytes.
    fn decimal(&mut self, stored: &Type) -> Result<i128, Fault> {
        let bytes = match stored {
            Type::Fixed(size) => take_text(&mut self.rest, *size)?,
            _ => self.bytes()?,
        };
        let is_negative = bytes.first().is_some_and(|first| *first >= 0x80);
        let filler = if is_negative { 0xff } else { 0 };
        let (spare, digits) = bytes.split_at(bytes.len().saturating_sub(16));
        let mut value = [filler; 16];
        value[16 - digits.len()..].copy_from_slice(digits);
        let value = i128::from_be_bytes(value);
        if spare.iter().any(|byte| *byte != filler) || (value < 0) != is_negative {
            return Err(Fault::unsupported("a decimal has more than 38 digits"));
        }
        Ok(value)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let bytes = take_text(&mut self.rest, N)?;
        bytes.try_into().map_err(|_| Fault::CutOff)
    }

    /// An integer of a logical type, as encoded.
    fn integer(&mut self, stored: &Type, logical_type: LogicalType) -> Result<i128, Fault> {
        Ok(match stored {
            Type::Int | Type::Long => {
                let value = self.long()?;
                let factor = factor(logical_type);
                if value % factor != 0 {
                    return Err(Fault::new("a time of whole seconds has a fraction"));
                }
                (value / factor).into()
            }
            Type::Bool => match self.array::<1>()? {
                [bool @ (0 | 1)] => bool.into(),
                _ => return Err(Fault::new("a boolean is neither 0 nor 1")),
            },
            Type::Text => uuid::parse(self.bytes()?).ok_or_else(not_a_uuid)?,
            Type::Fixed(16) if logical_type == LogicalType::Uuid => uuid::from_bytes(self.array()?),
            Type::Bytes | Type::Fixed(_) => self.decimal(stored)?,
            _ => return Err(Fault::new("a number is stored as something else")),
        })
    }

    fn resolved(&self, stored: &'a Type) -> &'a Type {
        if let Type::Named(index) = stored { &self.rows.schema.named[*index] } else { stored }
    }
}

impl<'a> RowReader<'a> for Reader<'a> {
    #[inline]
    fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    fn begin_row(&mut self, _: usize) -> Result<(), Fault> {
        (self.next, self.branch) = (0, None);
        Ok(())
    }

    #[inline]
    fn null(&mut self, column: usize) -> Result<bool, Fault> {
        let stored = self.enter(column)?;
        let branch = self.chosen(stored)?;
        if *branch == Type::Null {
            self.next += 1;
            return Ok(true);
        }
        self.branch = Some(branch);
        Ok(false)
    }

    #[inline]
    fn text(&mut self, column: usize) -> Result<&'a [u8], Fault> {
        let stored = self.next_type(column)?;
        match (stored, self.resolved(stored)) {
            (Type::Named(of), Type::Enum(_)) => {
                let index = usize::try_from(self.long()?).ok();
                let range = index.and_then(|index| self.rows.symbol(*of, index));
                range.and_then(|range| self.all.get(range)).ok_or_else(|| Fault::new("an enum has no such symbol"))
            }
            (_, Type::Fixed(size)) => take_text(&mut self.rest, *size),
            _ => self.bytes(),
        }
    }

    #[inline]
    fn number(&mut self, column: usize, scale: u8) -> Result<i64, Fault> {
        let stored = self.next_type(column)?;
        if *stored == Type::Long {
            return self.long();
        }
        let value = self.integer(self.resolved(stored), LogicalType::Int64)?;
        let fits = |value: &i64| value.unsigned_abs() < 10u64.pow(LogicalType::MAX_PRECISION_64.into());
        i64::try_from(value).ok().filter(fits).ok_or_else(|| {
            let value = brc_core::decimal::to_string(value, scale);
            Fault::unsupported(format!("{value} has more digits than its column"))
        })
    }

    fn value(&mut self, column: usize, logical_type: LogicalType) -> Result<Value<'a>, Fault> {
        if logical_type.physical() == PhysicalType::Bytes {
            return self.text(column).map(Value::Bytes);
        }
        let stored = self.next_type(column)?;
        let stored = self.resolved(stored);
        Ok(match stored {
            Type::Float => Value::Float(float32::widen(f32::from_le_bytes(self.array()?))),
            Type::Double => Value::Float(f64::from_le_bytes(self.array()?)),
            _ => Value::Integer(self.integer(stored, logical_type)?),
        })
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), Fault> {
        let rows = self.rows;
        for column in rows.schema.columns.get(self.next..).unwrap_or_default() {
            self.skip(&column.stored, MAX_NESTING)?;
        }
        Ok(())
    }
}

/// Whether a column that `brc` wrote can be read as the table's column.
pub(super) fn can_be_read_as(field: &Field, file: &FileColumn) -> bool {
    let seconds = |own, unit| own == unit || own == TimeUnit::Second && unit == TimeUnit::Millisecond;
    let is_same_kind = file.logical_type.as_ref().is_ok_and(|stored| match (field.logical_type, *stored) {
        (LogicalType::Int8 | LogicalType::Int16, LogicalType::Int32) => true,
        (LogicalType::Time { unit: TimeUnit::Nanosecond }, LogicalType::Int64) => true,
        (LogicalType::UInt64, LogicalType::Decimal { precision: 20, scale: 0 }) => true,
        (LogicalType::Time { unit: own }, LogicalType::Time { unit }) => seconds(own, unit),
        (LogicalType::Timestamp { unit: own, zone }, LogicalType::Timestamp { unit, zone: of_file }) => {
            seconds(own, unit) && zone == of_file
        }
        (own, stored) => own == stored,
    });
    is_same_kind && field.nullable == file.is_nullable()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avro::row_writer::shortest;

    #[test]
    fn decimals_have_minimal_bytes() {
        for (value, length) in [(0, 1), (127, 1), (128, 2), (-128, 1), (-129, 2), (i128::MAX, 16), (i128::MIN, 16)] {
            let (bytes, first) = shortest(value);
            assert_eq!(16 - first, length, "{value}");
            let stored = [&[2 * length as u8], &bytes[first..]].concat();
            let rows = FileRows::new(FileSchema::default());
            assert_eq!(rows.reader(&stored).decimal(&Type::Bytes), Ok(value));
        }
        let rows = FileRows::new(FileSchema::default());
        let long = [&[34, 0], &[0xff; 16][..]].concat();
        assert!(rows.reader(&long).decimal(&Type::Bytes).is_err());
    }

    #[test]
    fn values_without_bytes_are_limited() {
        // Each type contains the previous one twice: there are more values than can be skipped in any time.
        let twice = |(index, _): (usize, ())| Type::Record(vec![Type::Named(index); 2]);
        let mut named = vec![Type::Null];
        named.extend(std::iter::repeat_n((), 50).enumerate().map(twice));
        let column = |stored| FileColumn { name: "x".into(), stored, logical_type: Err("a struct".into()) };
        let skipped = |stored: Type, named: Vec<Type>, bytes: &[u8]| {
            let rows = FileRows::new(FileSchema { columns: vec![column(stored)], named });
            rows.reader(bytes).end_row()
        };
        assert!(skipped(Type::Named(50), named.clone(), &[]).is_err());
        assert!(skipped(Type::Named(3), named, &[]).is_ok());
        assert!(skipped(Type::Named(0), vec![Type::Record(vec![Type::Named(0)])], &[]).is_err());
        let nulls = Type::List(Box::new(Type::Null));
        assert!(skipped(nulls, Vec::new(), &[0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]).is_ok());
        let sized = Type::Map(Box::new(Type::Long));
        assert!(skipped(sized, Vec::new(), &[1, 6, 2, b'k', 4, 0]).is_ok());
    }
}
