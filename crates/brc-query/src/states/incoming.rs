//! The values of a batch that a state takes, whatever their type.

use crate::keys::group_ids::GroupIds;
use crate::values::error::{BatchError, TOO_LARGE};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{ByteStrings, Dictionary, Integers, Value};

/// Values that are not null, one for each row of [`GroupIds`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'a> {
    Integers(Integers<'a>),
    Floats(&'a [f64]),
    Codes { codes: &'a [u32], dictionary: &'a Dictionary },
    Bytes { strings: ByteStrings<'a>, rows: &'a [u32] },
}

impl<'a> Values<'a> {
    /// Calls `each` with the group and the string of every row.
    pub(super) fn each_string(
        self,
        groups: GroupIds<'_>,
        mut each: impl FnMut(usize, &'a [u8]) -> Result<(), BatchError>,
    ) -> Result<(), BatchError> {
        match self {
            Self::Codes { codes, dictionary } => {
                let known = dictionary.len();
                groups.each(codes.len(), |group, row| match codes[row] {
                    code if (code as usize) < known => each(group, dictionary.get(code)),
                    _ => Err(BatchError("a code is not in its dictionary")),
                })
            }
            Self::Bytes { strings, rows } => {
                groups.each(rows.len(), |group, row| each(group, strings.get(rows[row] as usize)))
            }
            Self::Integers(_) | Self::Floats(_) => Err(BatchError("a column of strings is not there")),
        }
    }

    /// One of them.
    pub(super) fn get(&self, row: usize) -> Result<Value<'a>, BatchError> {
        Ok(match self {
            Self::Integers(values) => Value::Integer(values.get(row)),
            Self::Floats(values) => Value::Float(values[row]),
            Self::Codes { codes, dictionary } => match codes[row] {
                code if (code as usize) < dictionary.len() => Value::Bytes(dictionary.get(code)),
                _ => return Err(BatchError("a code is not in its dictionary")),
            },
            Self::Bytes { strings, rows } => Value::Bytes(strings.get(rows[row] as usize)),
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Codes { codes, .. } => codes.len(),
            Self::Bytes { rows, .. } => rows.len(),
        }
    }

    pub(super) fn integers(&self) -> Result<Integers<'a>, BatchError> {
        match self {
            Self::Integers(values) => Ok(*values),
            Self::Floats(_) | Self::Codes { .. } | Self::Bytes { .. } => {
                Err(BatchError("a column of numbers is not there"))
            }
        }
    }

    pub(super) fn floats(&self) -> Result<&'a [f64], BatchError> {
        match self {
            Self::Floats(values) => Ok(values),
            Self::Integers(_) | Self::Codes { .. } | Self::Bytes { .. } => {
                Err(BatchError("a column of floats is not there"))
            }
        }
    }
}

/// The statistics of a column of numbers.
pub(super) fn numbers_of<'c, 'a>(column: &'c ColumnSummary<'a>) -> Result<&'c Numbers<'a>, BatchError> {
    match column {
        ColumnSummary::Numbers(numbers) => Ok(numbers),
        ColumnSummary::Codes { .. } => Err(BatchError("a summary's column of numbers is not there")),
    }
}

/// Calls `add` with integers that each stand for several rows, as statistics of these rows.
pub(super) fn weighted_integers(
    values: Values<'_>,
    weights: &[u32],
    add: impl FnOnce(&Numbers<'_>) -> Result<(), BatchError>,
) -> Result<(), BatchError> {
    let values = values.integers()?;
    let values: Result<Vec<i64>, _> = (0..values.len()).map(|row| values.get(row).try_into()).collect();
    let values = values.map_err(|_| TOO_LARGE)?;
    let sums = values.iter().zip(weights).map(|(&value, &weight)| i128::from(value) * i128::from(weight));
    let sums: Vec<i128> = sums.collect();
    add(&Numbers { min: &values, max: &values, sum: Sums::Wide(&sums) })
}
