//! A column of a sheet: infers the narrowest type that fits all cells, and converts them to an array.

use super::cell::{Cell, DAY};
use crate::tally::Tally;
use arrow_array::builder::LargeStringBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float64Type, Int64Type, Time32MillisecondType, Time32SecondType,
    TimestampMillisecondType, TimestampSecondType,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use brc_core::{LogicalType, TextPlace, TimeUnit};
use brc_text::infer::Seen;
use std::sync::Arc;

/// The narrowest type that fits all cells; errors are null.
pub(super) fn logical_type(cells: &[(usize, Cell)]) -> LogicalType {
    let kinds = cells.iter().filter_map(|(_, cell)| kind(cell));
    kinds.reduce(common_type).unwrap_or(LogicalType::String)
}

fn kind(cell: &Cell) -> Option<LogicalType> {
    let unit = |value: i64| if value % 1000 == 0 { TimeUnit::Second } else { TimeUnit::Millisecond };
    Some(match cell {
        Cell::Bool(_) => LogicalType::Bool,
        Cell::Whole(_) => LogicalType::Int64,
        Cell::Float(_) => LogicalType::Float64,
        Cell::Time(time) => LogicalType::Time { unit: unit(*time) },
        Cell::Moment(moment) if moment % DAY == 0 => LogicalType::Date,
        Cell::Moment(moment) => LogicalType::Timestamp { unit: unit(*moment), zone: false },
        Cell::Text(_) => LogicalType::String,
        Cell::Error(_) => return None,
    })
}

/// The cells by their types, if not all are text; the rows of the sheet are counted from that of the first cell.
pub(super) fn tally(cells: &[(usize, Cell)], first_row: u64) -> Option<Tally> {
    if cells.iter().all(|(_, cell)| matches!(cell, Cell::Text(_) | Cell::Error(_))) {
        return None;
    }
    let mut tally = Tally::new();
    for (row, cell) in cells.iter().filter(|(_, cell)| !matches!(cell, Cell::Error(_))) {
        let text = cell.to_text();
        let seen = if let Cell::Text(_) = cell { Seen::TEXT } else { Seen::of_value(text.as_bytes()) };
        tally.add(seen, text.as_bytes(), TextPlace::Row(first_row + *row as u64));
    }
    Some(tally)
}

/// The narrowest type that fits the values of both.
fn common_type(one: LogicalType, other: LogicalType) -> LogicalType {
    use LogicalType::{Date, Float64, Int64, Time, Timestamp};
    let finest = TimeUnit::Millisecond;
    match (one, other) {
        _ if one == other => one,
        (Int64, Float64) | (Float64, Int64) => Float64,
        (Time { .. }, Time { .. }) => Time { unit: finest },
        (Date, Timestamp { .. }) => other,
        (Timestamp { .. }, Date) => one,
        (Timestamp { .. }, Timestamp { .. }) => Timestamp { unit: finest, zone: false },
        _ => LogicalType::String,
    }
}

/// The cells as an array of `rows` rows.
///
/// # Errors
/// The first cell that is not of the type, or `None` if sheets do not support the type.
pub(super) fn array(
    cells: &[(usize, Cell)],
    rows: usize,
    logical_type: LogicalType,
) -> Result<ArrayRef, Option<&(usize, Cell)>> {
    let divisor = |unit: TimeUnit| 1000 / unit.per_second();
    let integer = |text: &str| text.trim().parse().ok();
    let float = |text: &str| text.trim().parse().ok();
    Ok(match logical_type {
        LogicalType::String => Arc::new(strings(cells, rows)),
        LogicalType::Bool => {
            let values = values(cells, rows, |cell| if let Cell::Bool(value) = cell { Some(*value) } else { None })?;
            Arc::new(BooleanArray::from(values))
        }
        LogicalType::Int64 => primitive::<Int64Type>(cells, rows, |cell| match cell {
            Cell::Whole(value) => Some(*value),
            Cell::Text(text) => integer(text),
            _ => None,
        })?,
        LogicalType::Float64 => primitive::<Float64Type>(cells, rows, |cell| match cell {
            Cell::Whole(value) => Some(*value as f64),
            Cell::Float(value) => Some(*value),
            Cell::Text(text) => float(text),
            _ => None,
        })?,
        LogicalType::Date => primitive::<Date32Type>(cells, rows, |cell| match cell {
            Cell::Moment(moment) if moment % DAY == 0 => i32::try_from(moment / DAY).ok(),
            _ => None,
        })?,
        LogicalType::Time { unit } => {
            let time =
                |cell: &Cell| if let Cell::Time(time) = cell { i32::try_from(time / divisor(unit)).ok() } else { None };
            match unit {
                TimeUnit::Second => primitive::<Time32SecondType>(cells, rows, time)?,
                TimeUnit::Millisecond => primitive::<Time32MillisecondType>(cells, rows, time)?,
                TimeUnit::Microsecond | TimeUnit::Nanosecond => return Err(None),
            }
        }
        LogicalType::Timestamp { unit, zone: false } => {
            let moment =
                |cell: &Cell| if let Cell::Moment(moment) = cell { Some(moment / divisor(unit)) } else { None };
            match unit {
                TimeUnit::Second => primitive::<TimestampSecondType>(cells, rows, moment)?,
                TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(cells, rows, moment)?,
                TimeUnit::Microsecond | TimeUnit::Nanosecond => return Err(None),
            }
        }
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Float32
        | LogicalType::Timestamp { zone: true, .. }
        | LogicalType::Binary
        | LogicalType::Uuid => return Err(None),
    })
}

/// The value of each row, or the first cell that cannot be converted.
fn values<T: Clone>(
    cells: &[(usize, Cell)],
    rows: usize,
    value: impl Fn(&Cell) -> Option<T>,
) -> Result<Vec<Option<T>>, Option<&(usize, Cell)>> {
    let mut values = vec![None; rows];
    for placed in cells.iter().filter(|(_, cell)| !matches!(cell, Cell::Error(_))) {
        values[placed.0] = Some(value(&placed.1).ok_or(Some(placed))?);
    }
    Ok(values)
}

fn primitive<T: ArrowPrimitiveType>(
    cells: &[(usize, Cell)],
    rows: usize,
    value: impl Fn(&Cell) -> Option<T::Native>,
) -> Result<ArrayRef, Option<&(usize, Cell)>> {
    Ok(Arc::new(values(cells, rows, value)?.into_iter().collect::<PrimitiveArray<T>>()))
}

fn strings(cells: &[(usize, Cell)], rows: usize) -> arrow_array::LargeStringArray {
    let mut builder = LargeStringBuilder::with_capacity(rows, 0);
    let mut next = 0;
    for (row, cell) in cells.iter().filter(|(_, cell)| !matches!(cell, Cell::Error(_))) {
        builder.append_nulls(row - next);
        builder.append_value(cell.to_text());
        next = row + 1;
    }
    builder.append_nulls(rows - next);
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(cells: &[Cell]) -> Vec<(usize, Cell)> {
        cells.iter().cloned().enumerate().collect()
    }

    #[test]
    fn a_column_has_the_narrowest_type_that_fits_its_cells() {
        let date = Cell::Moment(DAY);
        let timestamp = |unit| LogicalType::Timestamp { unit, zone: false };
        for (of, expected) in [
            (vec![Cell::Whole(1), Cell::Error("#N/A".into()), Cell::Float(0.5)], LogicalType::Float64),
            (vec![Cell::Whole(1)], LogicalType::Int64),
            (vec![Cell::Whole(1), Cell::Text("a".into())], LogicalType::String),
            (vec![Cell::Whole(1), Cell::Bool(true)], LogicalType::String),
            (vec![date.clone()], LogicalType::Date),
            (vec![date.clone(), Cell::Moment(5000)], timestamp(TimeUnit::Second)),
            (vec![Cell::Moment(5001), date.clone(), Cell::Moment(5000)], timestamp(TimeUnit::Millisecond)),
            (vec![Cell::Time(5000), Cell::Time(1)], LogicalType::Time { unit: TimeUnit::Millisecond }),
            (vec![Cell::Time(5000), date], LogicalType::String),
            (vec![Cell::Error("#N/A".into())], LogicalType::String),
            (vec![], LogicalType::String),
        ] {
            assert_eq!(logical_type(&cells(&of)), expected, "{of:?}");
            let array = array(&cells(&of), of.len() + 2, expected).unwrap();
            assert_eq!(array.len(), of.len() + 2);
        }
    }

    #[test]
    fn a_given_type_must_fit_all_cells() {
        let mixed = cells(&[Cell::Whole(1), Cell::Text(" 7 ".into()), Cell::Text("x".into())]);
        assert_eq!(array(&mixed, 3, LogicalType::Int64).unwrap_err(), Some(&mixed[2]));
        assert!(array(&mixed[..2], 3, LogicalType::Float64).is_ok());
        assert_eq!(array(&mixed, 3, LogicalType::Uuid).unwrap_err(), None);
    }
}
