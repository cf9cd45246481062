//! Converts values to Python objects.

use crate::errors::OrRaise;
use brc_core::{LogicalType, Table, TimeUnit, Value, uuid};
use brc_query::Answer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// The number of rows between checks for Ctrl-C.
const ROWS_BETWEEN_CHECKS: usize = 1 << 12;

/// All rows of a result as tuples.
///
/// # Errors
/// Exceptions raised by Python.
pub(crate) fn rows<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyList>> {
    let types = Types::of(py)?;
    let rows = PyList::empty(py);
    for block in answer.blocks() {
        for (number, row) in block.or_raise(py)?.rows().enumerate() {
            if number.is_multiple_of(ROWS_BETWEEN_CHECKS) {
                py.check_signals()?;
            }
            let cells = row.zip(answer.schema().fields()).map(|(value, column)| match value {
                Some(value) => types.object(py, value, column.logical_type),
                None => Ok(py.None().into_bound(py)),
            });
            rows.append(PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)?)?;
        }
    }
    Ok(rows)
}

/// The types of Python's standard library.
struct Types<'py> {
    decimal: Bound<'py, PyAny>,
    date: Bound<'py, PyAny>,
    time: Bound<'py, PyAny>,
    /// 1970-01-01 without and with a time zone.
    epochs: [Bound<'py, PyAny>; 2],
    timedelta: Bound<'py, PyAny>,
    uuid: Bound<'py, PyAny>,
}

/// The proleptic Gregorian ordinal of 1970-01-01.
const EPOCH_DAY: i128 = 719_163;

impl<'py> Types<'py> {
    fn of(py: Python<'py>) -> PyResult<Self> {
        let datetime = py.import("datetime")?;
        let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1))?;
        let utc = datetime.getattr("timezone")?.getattr("utc")?;
        let in_utc = datetime.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, utc))?;
        Ok(Self {
            decimal: py.import("decimal")?.getattr("Decimal")?,
            date: datetime.getattr("date")?.getattr("fromordinal")?,
            time: datetime.getattr("time")?,
            epochs: [epoch, in_utc],
            timedelta: datetime.getattr("timedelta")?,
            uuid: py.import("uuid")?.getattr("UUID")?,
        })
    }

    fn object(&self, py: Python<'py>, value: Value<'_>, logical_type: LogicalType) -> PyResult<Bound<'py, PyAny>> {
        let number = match value {
            Value::Float(number) => return Ok(number.into_pyobject(py)?.into_any()),
            Value::Bytes(bytes) => {
                return Ok(match (logical_type, str::from_utf8(bytes)) {
                    (LogicalType::String, Ok(text)) => text.into_pyobject(py)?.into_any(),
                    _ => PyBytes::new(py, bytes).into_any(),
                });
            }
            Value::Integer(number) => number,
        };
        let text = || value.to_text(logical_type);
        // Values out of the range of Python's types stay text.
        let or_text = |made: PyResult<Bound<'py, PyAny>>| match made {
            Ok(made) => Ok(made),
            Err(_) => Ok(text().into_pyobject(py)?.into_any()),
        };
        match logical_type {
            LogicalType::Bool => Ok((number != 0).into_pyobject(py)?.to_owned().into_any()),
            LogicalType::Decimal { .. } => self.decimal.call1((text(),)),
            LogicalType::Date => or_text(self.date.call1((number + EPOCH_DAY,))),
            LogicalType::Time { unit } => match microseconds(number, unit) {
                Some(micros) => or_text(self.time_of_day(micros)),
                None => Ok(text().into_pyobject(py)?.into_any()),
            },
            LogicalType::Timestamp { unit, zone } => match microseconds(number, unit) {
                Some(micros) => {
                    let passed = self.timedelta.call1((0, 0, micros));
                    or_text(passed.and_then(|passed| self.epochs[usize::from(zone)].call_method1("__add__", (passed,))))
                }
                None => Ok(text().into_pyobject(py)?.into_any()),
            },
            LogicalType::Uuid => self.uuid.call1((str::from_utf8(&uuid::text(number)).unwrap_or_default(),)),
            _ => Ok(number.into_pyobject(py)?.into_any()),
        }
    }

    fn time_of_day(&self, micros: i128) -> PyResult<Bound<'py, PyAny>> {
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
        self.time.call1((seconds / 3600, seconds / 60 % 60, seconds % 60, rest))
    }
}

/// Converts to microseconds; `None` if that is not exact.
fn microseconds(number: i128, unit: TimeUnit) -> Option<i128> {
    match unit {
        TimeUnit::Second => Some(number * 1_000_000),
        TimeUnit::Millisecond => Some(number * 1000),
        TimeUnit::Microsecond => Some(number),
        TimeUnit::Nanosecond => (number % 1000 == 0).then_some(number / 1000),
    }
}
