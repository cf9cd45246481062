//! Collects the values of a JSON column.

use super::columns::{Column as Kind, ColumnEvidence, Position};
use super::strings::Strings;
use super::syntax::{self, Member};
use super::value::{self, Value};
use crate::frames::has_any_64_bits;
use brc_core::bounds::bounds;
use brc_core::{BitmapBuffer, Column, Data, Integers, LogicalType, PhysicalType, RowFault};
use brc_text::infer::Seen;
use brc_text::typed::usual_float;

/// The rows of a column that were read but not delivered yet.
pub(super) struct JsonColumn {
    pub(super) values: ColumnValues,
    pub(super) kind: Kind,
    validity: BitmapBuffer,
    /// The scale of a number, and the range of the column's numbers.
    pub(super) scale: u8,
    pub(super) range: (i64, i64),
    /// Whether the inferred type turned out not to fit all values.
    misfits: bool,
    has_nulls: bool,
    /// The first position of the key in the split, if that may be its first one in the table.
    first: Option<Position>,
    pub(super) is_late: bool,
}

/// Its values; nulls have arbitrary ones.
pub(super) enum ColumnValues {
    Strings(Strings),
    /// Types that fit 64 bits.
    Integers(Vec<i64>),
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    /// A column outside the projection: not kept, and [mostly](Kind::checks_unread) not checked.
    Skipped,
}

impl JsonColumn {
    pub(super) fn new(kind: Kind, is_wanted: bool, is_late: bool) -> Self {
        let mut column = Self {
            values: if is_wanted { ColumnValues::Integers(Vec::new()) } else { ColumnValues::Skipped },
            kind,
            validity: BitmapBuffer::default(),
            scale: 0,
            range: (0, 0),
            misfits: false,
            has_nulls: false,
            first: None,
            is_late,
        };
        column.begin(kind);
        column
    }

    /// Begins a split in which the column has this kind. Codes keep their meaning.
    pub(super) fn begin(&mut self, kind: Kind) {
        self.clear();
        (self.kind, self.misfits, self.has_nulls, self.first) = (kind, false, false, None);
        let logical_type = self.logical_type();
        self.scale = logical_type.scale();
        self.range = range(logical_type, kind.seen.is_some());
        match (&self.values, logical_type.physical()) {
            (ColumnValues::Skipped, _) | (ColumnValues::Strings(_), PhysicalType::Bytes) => {}
            (_, PhysicalType::Bytes) => self.values = ColumnValues::Strings(Strings::default()),
            (ColumnValues::Floats(_), PhysicalType::Floats) => {}
            (_, PhysicalType::Floats) => self.values = ColumnValues::Floats(Vec::new()),
            (ColumnValues::Integers(_), PhysicalType::Integers) if logical_type.fits_64_bits() => {}
            (_, PhysicalType::Integers) if logical_type.fits_64_bits() => {
                self.values = ColumnValues::Integers(Vec::new());
            }
            (ColumnValues::Wide(_), PhysicalType::Integers) => {}
            (_, PhysicalType::Integers) => self.values = ColumnValues::Wide(Vec::new()),
        }
    }

    /// The type; irrelevant for a skipped column.
    pub(super) fn logical_type(&self) -> LogicalType {
        self.kind.logical_type.unwrap_or(LogicalType::String)
    }

    /// Whether any JSON value is accepted.
    pub(super) fn accepts_any_value(&self) -> bool {
        !self.is_wanted() && !self.kind.checks_unread && self.kind.logical_type.is_some()
    }

    /// Whether the values are kept.
    pub(super) fn is_wanted(&self) -> bool {
        !matches!(self.values, ColumnValues::Skipped)
    }

    /// Whether a value that is not null changes the known demands on the type, or may do so.
    pub(super) fn is_unsettled(&self) -> bool {
        self.kind.logical_type.is_none()
            || (self.logical_type() == LogicalType::String && self.kind.seen.is_some_and(|seen| !seen.is_text()))
    }

    /// Appends the value of a row, which is null only [once that is noted](Self::note_null). The row begins at the byte
    /// `row` of the file; `index` is the position of the member in it.
    ///
    /// # Errors
    /// If it is not a value of the column, whose type was given.
    pub(super) fn push(&mut self, text: &[u8], member: &Member, row: u64, index: usize) -> Result<(), RowFault> {
        if self.is_late && self.first.is_none() {
            self.first = Some((row, index as u32));
        }
        if member.kind == syntax::ValueKind::Null {
            let wrong = RowFault::WrongType { found: member.kind.name(), expected: self.logical_type() };
            return self.push_null().ok_or(wrong);
        }
        match self.kind.seen {
            None => {
                let value = match self.logical_type() {
                    LogicalType::String if self.kind.takes_any => {
                        value::read_inferred(text, member, LogicalType::String)
                    }
                    _ => None,
                };
                self.push_value(value.map_or_else(|| value::read(text, member, self.logical_type()), Ok)?);
            }
            Some(seen) if self.kind.logical_type.is_none() => {
                let seen = seen.join(value::demand(text, member));
                self.kind.seen = Some(seen);
                self.misfits |= !seen.is_nested();
            }
            Some(_) if !self.is_wanted() => {}
            Some(seen) => self.push_inferred(text, member, seen),
        }
        Ok(())
    }

    /// Appends a value that the type may not fit: then its demand on the type is noted, and an arbitrary value
    /// appended.
    fn push_inferred(&mut self, text: &[u8], member: &Member, seen: Seen) {
        let bytes = &text[member.value.clone()];
        if let (ColumnValues::Floats(floats), syntax::ValueKind::Number) = (&mut self.values, member.kind)
            && let Some((float, demand)) = usual_float(bytes)
        {
            self.kind.seen = Some(seen.join(demand));
            return floats.push(float);
        }
        let value = if self.misfits { None } else { value::read_inferred(text, member, self.logical_type()) };
        let is_string = self.logical_type() == LogicalType::String;
        let is_settled = if is_string { seen.is_text() } else { self.logical_type() != LogicalType::Float64 };
        if value.is_some() && is_settled {
            return self.push_value(value.unwrap_or(Value::Null));
        }
        let seen = seen.join(value::demand(text, member));
        self.kind.seen = Some(seen);
        self.misfits |= value.is_none() || seen.logical_type(false) != self.kind.logical_type;
        self.push_value(value.unwrap_or(Value::Null));
    }

    /// Appends the value under a null, which becomes null only [once that is noted](Self::note_null); `None` if the
    /// column is not nullable.
    pub(super) fn push_null(&mut self) -> Option<()> {
        if !self.kind.nullable && self.kind.seen.is_none() {
            return None;
        }
        self.misfits |= !self.kind.nullable;
        self.has_nulls = true;
        self.push_value(Value::Null);
        Some(())
    }

    /// Appends a float, and notes its demand on the type.
    #[inline]
    pub(super) fn push_float(&mut self, value: f64, demand: Seen) {
        if let Some(seen) = &mut self.kind.seen {
            *seen = seen.join(demand);
        }
        if let ColumnValues::Floats(floats) = &mut self.values {
            floats.push(value);
        }
    }

    fn push_value(&mut self, value: Value<'_>) {
        match (&mut self.values, value) {
            (ColumnValues::Strings(strings), Value::Bytes(bytes)) => strings.push(&bytes),
            (ColumnValues::Strings(strings), _) => strings.push_null(),
            (ColumnValues::Integers(integers), Value::Integer(integer)) => integers.push(integer as i64),
            (ColumnValues::Integers(integers), _) => integers.push(0),
            (ColumnValues::Wide(integers), Value::Integer(integer)) => integers.push(integer),
            (ColumnValues::Wide(integers), _) => integers.push(0),
            (ColumnValues::Floats(floats), Value::Float(float)) => floats.push(float),
            (ColumnValues::Floats(floats), _) => floats.push(0.0),
            (ColumnValues::Skipped, _) => {}
        }
    }

    /// Notes that the row after the first `rows` ones is null.
    pub(super) fn note_null(&mut self, rows: usize) {
        if self.is_wanted() {
            self.fill_validity(rows);
            self.validity.push(false);
        }
    }

    /// Marks all of the first `rows` rows that were not noted as null as valid.
    pub(super) fn fill_validity(&mut self, rows: usize) {
        self.validity.push_values(rows.saturating_sub(self.validity.len()));
    }

    /// Appends a number.
    #[inline]
    pub(super) fn push_number(&mut self, number: i64) {
        if let ColumnValues::Integers(integers) = &mut self.values {
            integers.push(number);
        }
    }

    /// Appends a number that may not fit 64 bits.
    pub(super) fn push_wide(&mut self, number: i128) {
        if let ColumnValues::Wide(integers) = &mut self.values {
            integers.push(number);
        }
    }

    /// The rows so far, with their validity filled; no rows for a skipped column.
    pub(super) fn as_column(&self) -> Column<'_> {
        let data = match &self.values {
            ColumnValues::Strings(strings) => strings.values.as_data(),
            ColumnValues::Integers(integers) => Data::Integers(Integers::I64(integers)),
            ColumnValues::Wide(integers) => Data::Integers(Integers::I128(integers)),
            ColumnValues::Floats(floats) => Data::Floats(floats),
            ColumnValues::Skipped => return Column::integers(Integers::I64(&[])),
        };
        Column { data, validity: self.validity.bitmap() }
    }

    /// Removes all rows, but keeps their demands on the type; codes keep their meaning.
    pub(super) fn clear(&mut self) {
        if let Some(seen) = &mut self.kind.seen {
            *seen = seen.join(self.values.demand(self.kind.logical_type));
        }
        match &mut self.values {
            ColumnValues::Strings(strings) => strings.values.clear(),
            ColumnValues::Integers(integers) => integers.clear(),
            ColumnValues::Wide(integers) => integers.clear(),
            ColumnValues::Floats(floats) => floats.clear(),
            ColumnValues::Skipped => {}
        }
        self.validity.clear();
    }

    /// Keeps only the first `rows` rows, whose validity is filled.
    pub(super) fn truncate(&mut self, rows: usize) {
        match &mut self.values {
            ColumnValues::Strings(strings) => strings.values.truncate(rows),
            ColumnValues::Integers(integers) => integers.truncate(rows),
            ColumnValues::Wide(integers) => integers.truncate(rows),
            ColumnValues::Floats(floats) => floats.truncate(rows),
            ColumnValues::Skipped => {}
        }
    }

    /// What the rows of the split reveal about the column.
    pub(super) fn learned(&self) -> ColumnEvidence {
        ColumnEvidence { seen: self.kind.seen, has_nulls: self.has_nulls, first: self.first }
    }

    /// Whether the inferred type does not fit all values of the split.
    pub(super) fn misfits(&self) -> bool {
        self.misfits
    }
}

impl ColumnValues {
    /// The demand of numbers on an inferred type, apart from those noted one by one.
    fn demand(&self, logical_type: Option<LogicalType>) -> Seen {
        let bounds = match self {
            Self::Integers(values) => bounds(values).map(|(min, max)| (min.into(), max.into())),
            Self::Wide(values) => bounds(values),
            Self::Floats(_) | Self::Strings(_) | Self::Skipped => None,
        };
        match (bounds, logical_type) {
            (Some((min, max)), Some(LogicalType::Timestamp { unit, .. })) => {
                let [min, max] = [min, max].map(|bound: i128| i64::try_from(bound).unwrap_or_default());
                Seen::of_times(min, max, unit)
            }
            (Some((min, max)), Some(of_numbers)) if of_numbers.is_numeric() => {
                Seen::of_range(min, max, of_numbers.scale())
            }
            _ => Seen::NOTHING,
        }
    }
}

/// The range of 64-bit integers of a column.
fn range(logical_type: LogicalType, is_inferred: bool) -> (i64, i64) {
    let narrow = |bound: i128| bound.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    match logical_type.bounds() {
        Some((min, max)) if is_inferred || !has_any_64_bits(logical_type) => (narrow(min), narrow(max)),
        _ => (i64::MIN, i64::MAX),
    }
}
