//! The cluster key of a file whose user names none: the column that its one obvious question groups by, or one by which the
//! file gets smaller, because others depend on it.
//!
//! A table of one column of strings and a few of numbers is asked for numbers by string. Of all others a key has to pay, for to
//! move rows costs time, and more whenever they are read in their order: the first rows of the file are stored on trial, as
//! they lie and clustered by each column that has few values.
//!
//! The first row group decides; the others wait for it, so that what is written does not depend on who was faster.

use super::chunk_writer::{Rows, Runs};
use super::cluster::Partition;
use super::encoder::{EncodedColumn, MOST_REFERENCES};
use super::gathered::{Gathered, Values};
use super::options::are_long_runs;
use super::order::Order;
use super::strings_gathered::Form;
use crate::floats;
use crate::integer_buffer::{IntegerSlice, at};
use crate::integers::Plan;
use crate::strings::{self, StringBuffer};
use brc_core::{Bitmap, Field, LogicalType, Schema};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// Rows of the trial; fewer than the least are not worth one.
const ROWS: usize = 1 << 14;
const LEAST_ROWS: usize = 1 << 12;

/// Wider tables take too long.
const MOST_COLUMNS: usize = 64;

/// The columns that are tried as keys: those with the most values, on which others depend rather than the other way round.
const MOST_TRIED: usize = 8;

/// Columns whose rows take no more bytes together follow from the number of the row, as the columns of a grid do. They are no
/// keys: rows in another order would make them cost something.
const FORMULA: u64 = 64;

/// How much smaller, in percent, a key has to make a file.
const WORTH: u64 = 2;

/// Strings that the size of all is estimated from.
const STRINGS: usize = 2048;

/// Tables of more columns have no one obvious question.
const FEW_COLUMNS: usize = 8;

/// The key that the first part has chosen, for all parts.
#[derive(Debug)]
pub(crate) struct FileKey {
    chosen: OnceLock<Option<usize>>,
    /// Whether the table has one obvious question.
    pub(super) is_obvious: bool,
}

impl FileKey {
    /// Of a table of that schema.
    pub(crate) fn new(schema: &Schema) -> Self {
        let is_number = |field: &Field| match field.logical_type {
            LogicalType::Int64 => true,
            LogicalType::Decimal { precision, .. } => precision == LogicalType::MAX_PRECISION_64,
            LogicalType::String
            | LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::UInt64
            | LogicalType::Float32
            | LogicalType::Float64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. }
            | LogicalType::Binary
            | LogicalType::Uuid => false,
        };
        let fields = schema.fields();
        let is_string = |field: &&Field| field.logical_type == LogicalType::String;
        let (strings, numbers) =
            (fields.iter().filter(is_string).count(), fields.iter().filter(|it| is_number(it)).count());
        let is_obvious = strings == 1 && (1..FEW_COLUMNS).contains(&numbers) && numbers + 1 == fields.len();
        Self { chosen: OnceLock::new(), is_obvious }
    }

    /// The column that the part is clustered by; `sample` is asked for if it is the first one. Without a number it has no key.
    pub(super) fn of_part(&self, part: Option<u64>, sample: Option<&Sample>) -> Option<usize> {
        match part? {
            0 => *self.chosen.get_or_init(|| sample.and_then(Sample::key)),
            _ => *self.chosen.wait(),
        }
    }

    /// Tells that a part is finished, or will not come.
    pub(super) fn end(&self, part: Option<u64>) {
        if part == Some(0) {
            self.chosen.get_or_init(|| None);
        }
    }

    /// The key, once it is known.
    pub(super) fn known(&self) -> Option<usize> {
        self.chosen.get().copied().flatten()
    }
}

/// What a key is chosen by.
pub(super) struct Sample {
    /// How many values each column has in the part: strings with codes, in a table of one obvious question.
    distinct: Vec<Option<usize>>,
    rows: usize,
    /// Some rows, as they are stored on trial; none if a key is not worth it.
    columns: Vec<Column>,
}

enum Column {
    /// Integers, or codes of strings: those of few values ascend with them.
    Integers {
        values: Vec<i64>,
        is_date: bool,
    },
    Floats(Vec<f64>),
    /// So many bytes, in whichever order the rows lie.
    Fixed(u64),
}

impl Sample {
    /// Of a part with these columns, of a table of one obvious question or not.
    pub(super) fn new(about: &[EncodedColumn], columns: &[Gathered], rows: usize, is_obvious: bool) -> Self {
        let distinct = |column: &Gathered| match &column.values {
            Values::Strings(strings) => strings.distinct().filter(|_| is_obvious),
            Values::Nothing | Values::Integers(_) | Values::Wide(_) | Values::Floats(_) => None,
        };
        let distinct = columns.iter().map(distinct).collect();
        let start = (rows - rows.min(ROWS)) / 2;
        let sampled = start..start + rows.min(ROWS);
        let column = |(about, column): (&EncodedColumn, _)| Column::new(column, about.is_date, &sampled);
        let mut sample = Self { distinct, rows, columns: Vec::new() };
        if sample.obvious_key().is_none() && rows >= LEAST_ROWS && columns.len() <= MOST_COLUMNS {
            sample.columns = about.iter().zip(columns).map(column).collect();
        }
        sample
    }

    /// Puts other columns in the place of these.
    pub(super) fn replace(&mut self, columns: &[usize], others: Self) {
        for (index, &column) in columns.iter().enumerate() {
            if let (Some(replaced), Some(other)) = (self.distinct.get_mut(column), others.distinct.get(index)) {
                *replaced = *other;
            }
        }
        for (&column, other) in columns.iter().zip(others.columns) {
            if let Some(replaced) = self.columns.get_mut(column) {
                *replaced = other;
            }
        }
    }

    /// The key of the obvious question; else the column that makes the rows so much smaller that it pays. The first of several.
    pub(super) fn key(&self) -> Option<usize> {
        self.obvious_key().or_else(|| self.key_on_trial())
    }

    /// The strings, if their runs are long enough.
    pub(super) fn obvious_key(&self) -> Option<usize> {
        let distinct = self.distinct.iter().enumerate().filter_map(|(column, distinct)| Some(((*distinct)?, column)));
        let (distinct, column) = distinct.min()?;
        are_long_runs(self.rows, distinct).then_some(column)
    }

    fn key_on_trial(&self) -> Option<usize> {
        let as_they_lie = self.bytes(None);
        let mut candidates: Vec<_> = self
            .columns
            .iter()
            .enumerate()
            .filter_map(|(number, column)| Some((number, column.partition()?)))
            .collect();
        candidates.sort_by_key(|(_, (_, runs))| std::cmp::Reverse(*runs));
        candidates.truncate(MOST_TRIED);
        let bytes = |(number, (partition, _)): (usize, (Partition, usize))| {
            (
                Plan::choose(partition.codes(), IntegerSlice::EMPTY).estimated_bytes()
                    + self.bytes(Some(partition.rows())),
                number,
            )
        };
        let (clustered, key) = candidates.into_iter().map(bytes).min()?;
        (clustered * 100 <= as_they_lie * (100 - WORTH)).then_some(key)
    }

    /// The estimated size in bytes, if the rows lie in that order.
    fn bytes(&self, order: Option<&[u32]>) -> u64 {
        let mut dates: Vec<Cow<'_, [i64]>> = Vec::new();
        let mut bytes = 0;
        for column in &self.columns {
            bytes += match column {
                Column::Integers { values, is_date } => {
                    let values = arranged(values, order);
                    let references = dates.iter().filter(|_| *is_date).map(|date| &**date);
                    let plans = references.chain([&[][..]]).map(|reference| Plan::choose(&*values, reference));
                    let smallest = plans.map(|plan| plan.estimated_bytes()).min().unwrap_or(0);
                    if *is_date && dates.len() < MOST_REFERENCES {
                        dates.push(values);
                    }
                    smallest
                }
                Column::Floats(values) => floats::Plan::choose(&arranged(values, order)).estimated_bytes(),
                Column::Fixed(bytes) => *bytes,
            };
        }
        bytes
    }
}

impl Column {
    fn new(column: &Gathered, is_date: bool, rows: &Range<usize>) -> Self {
        let validity = column.validity.bitmap().map(|validity| validity.slice(rows.clone()));
        match &column.values {
            Values::Nothing => Self::Fixed(0),
            Values::Integers(values) => {
                let values = values.slice().slice(rows.clone()).wide();
                Self::Integers { values: filled(&values, validity, 0), is_date }
            }
            Values::Wide(_) => Self::Fixed((rows.len() * size_of::<i128>()) as u64),
            Values::Floats(values) => Self::Floats(filled(&values[rows.clone()], validity, 0.0)),
            Values::Strings(strings) => match &strings.form {
                Form::Codes { codes, values } if values.dictionary().len() <= rows.len() => {
                    let (_, ranks) = Order::new(values.dictionary()).ranks();
                    let rank = |&code: &i64| ranks.get(code as usize).map_or(0, |&rank| rank.into());
                    let ranks: Vec<_> = codes.slice().slice(rows.clone()).wide().iter().map(rank).collect();
                    Self::Integers { values: filled(&ranks, validity, 0), is_date }
                }
                Form::Codes { codes, .. } => {
                    let values = codes.slice().slice(rows.clone()).wide().into_owned();
                    Self::Integers { values, is_date }
                }
                Form::Each(each) => {
                    let all = each.strings().slice(rows.clone());
                    let sample: StringBuffer = all.iter().step_by(rows.len().div_ceil(STRINGS)).collect();
                    let sample = sample.strings();
                    Self::Fixed(strings::untrained_bytes(sample) * rows.len() as u64 / sample.len() as u64)
                }
            },
        }
    }

    /// The rows as they lie if this is the key, and how many runs they are; `None` if the runs would be too short, or one, or
    /// if the column is too small as it lies.
    fn partition(&self) -> Option<(Partition, usize)> {
        let Self::Integers { values, .. } = self else { return None };
        if Plan::choose(values, IntegerSlice::EMPTY).estimated_bytes() <= FORMULA {
            return None;
        }
        let partition = Partition::of_integers(values)?;
        let runs = partition.lengths.len();
        (runs > 1).then_some((partition, runs))
    }
}

/// The values in that order.
fn arranged<'v, T: Copy>(values: &'v [T], order: Option<&[u32]>) -> Cow<'v, [T]> {
    order.map_or(Cow::Borrowed(values), |order| Cow::Owned(at(values, order)))
}

/// The values, with a filler for nulls.
fn filled<T: Copy + PartialOrd>(values: &[T], validity: Option<Bitmap<'_>>, otherwise: T) -> Vec<T> {
    let mut values = values.to_vec();
    Rows { count: values.len(), validity, runs: Runs::None }.fill(&mut values, otherwise);
    values
}
