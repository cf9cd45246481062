//! Chooses the cluster key of a file if the user names none: the obvious group-by column, or a column on which others
//! depend, so that clustering by it makes the file smaller.
//!
//! A table of one string column and a few number columns is mostly queried for numbers by string. In other tables a key
//! must pay, because moving rows costs time, again whenever they are read in original order. So the first rows of the
//! file are encoded on trial, unclustered and clustered by each column with few values.
//!
//! The first row group decides; the others wait for it, so that the output does not depend on timing.

use super::chunk_rows::{ChunkRows, RunLayout};
use super::cluster::Partition;
use super::column_buffer::{BufferedValues, ColumnBuffer};
use super::encoder::{EncodedColumn, MAX_REFERENCES};
use super::options::are_long_runs;
use super::string_column::StringForm;
use super::value_order::ValueOrder;
use crate::floats;
use crate::integer_buffer::at;
use crate::integer_slice::IntegerSlice;
use crate::integers::Plan;
use crate::strings::{self, StringBuffer};
use brc_core::{Bitmap, Field, LogicalType, Schema};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// The maximum number of rows in the trial, and the minimum for which it is done.
const MAX_ROWS: usize = 1 << 14;
const MIN_ROWS: usize = 1 << 12;

/// The maximum number of columns; wider tables would take too long.
const MAX_COLUMNS: usize = 64;

/// The maximum number of columns tried as keys: those with the most values, because others depend on them rather than
/// vice versa.
const MAX_CANDIDATES: usize = 8;

/// A column encoded in at most this many bytes follows from the row number, like the columns of a grid. It cannot be a
/// key: in another row order it would take more.
const MAX_FORMULA_BYTES: u64 = 64;

/// The minimum saving of a key in percent.
const MIN_SAVING_PERCENT: u64 = 2;

/// The number of strings from which the size of all is estimated.
const SAMPLED_STRINGS: usize = 2048;

/// Tables of more columns have no obvious group-by.
const MAX_OBVIOUS_COLUMNS: usize = 8;

/// The key chosen by the first part, for all parts.
#[derive(Debug)]
pub(crate) struct FileKey {
    chosen: OnceLock<Option<usize>>,
    /// Whether the schema suggests an obvious group-by column.
    pub(super) is_obvious: bool,
}

impl FileKey {
    /// The undecided key of a table with this schema.
    pub(crate) fn new(schema: &Schema) -> Self {
        let is_number = |field: &&Field| field.logical_type.is_64_bit_number();
        let fields = schema.fields();
        let is_string = |field: &&Field| field.logical_type == LogicalType::String;
        let (strings, numbers) = (fields.iter().filter(is_string).count(), fields.iter().filter(is_number).count());
        let is_obvious = strings == 1 && (1..MAX_OBVIOUS_COLUMNS).contains(&numbers) && numbers + 1 == fields.len();
        Self { chosen: OnceLock::new(), is_obvious }
    }

    /// The key of a part. The first part chooses it from `sample`; a part without a number has no key.
    pub(super) fn of_part(&self, part: Option<u64>, sample: Option<&Sample>) -> Option<usize> {
        match part? {
            0 => *self.chosen.get_or_init(|| sample.and_then(Sample::key)),
            _ => *self.chosen.wait(),
        }
    }

    /// Announces that a part is finished or was skipped.
    pub(super) fn end(&self, part: Option<u64>) {
        if part == Some(0) {
            self.chosen.get_or_init(|| None);
        }
    }

    /// The key, if it has been chosen.
    pub(super) fn known(&self) -> Option<usize> {
        self.chosen.get().copied().flatten()
    }
}

/// The input of the key choice.
pub(super) struct Sample {
    /// The number of distinct values of each string column with codes, if the schema suggests an obvious group-by.
    distinct: Vec<Option<usize>>,
    rows: usize,
    /// Some rows for the trial; empty if there is none.
    columns: Vec<SampleColumn>,
}

enum SampleColumn {
    /// Integers, or ranks of strings; if there are many distinct strings, their codes.
    Integers {
        values: Vec<i64>,
        is_date: bool,
    },
    Floats(Vec<f64>),
    /// The size in bytes, which does not depend on the row order.
    Fixed(u64),
}

impl Sample {
    /// Samples the rows of a part.
    pub(super) fn new(about: &[EncodedColumn], columns: &[ColumnBuffer], rows: usize, is_obvious: bool) -> Self {
        let distinct = |column: &ColumnBuffer| match &column.values {
            BufferedValues::Strings(strings) => strings.distinct().filter(|_| is_obvious),
            BufferedValues::Nothing
            | BufferedValues::Integers(_)
            | BufferedValues::Wide(_)
            | BufferedValues::Floats(_) => None,
        };
        let distinct = columns.iter().map(distinct).collect();
        let start = (rows - rows.min(MAX_ROWS)) / 2;
        let sampled = start..start + rows.min(MAX_ROWS);
        let column = |(about, column): (&EncodedColumn, _)| SampleColumn::new(column, about.is_date, &sampled);
        let mut sample = Self { distinct, rows, columns: Vec::new() };
        if sample.obvious_key().is_none() && rows >= MIN_ROWS && columns.len() <= MAX_COLUMNS {
            sample.columns = about.iter().zip(columns).map(column).collect();
        }
        sample
    }

    /// Replaces some of the columns.
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

    /// The obvious key, or else the first column among those that save the most, if that is enough.
    pub(super) fn key(&self) -> Option<usize> {
        self.obvious_key().or_else(|| self.key_on_trial())
    }

    /// The string column, if its runs are long enough.
    pub(super) fn obvious_key(&self) -> Option<usize> {
        let distinct = self.distinct.iter().enumerate().filter_map(|(column, distinct)| Some(((*distinct)?, column)));
        let (distinct, column) = distinct.min()?;
        are_long_runs(self.rows, distinct).then_some(column)
    }

    fn key_on_trial(&self) -> Option<usize> {
        let unclustered = self.bytes(None);
        let mut candidates: Vec<_> = self
            .columns
            .iter()
            .enumerate()
            .filter_map(|(number, column)| Some((number, column.partition()?)))
            .collect();
        candidates.sort_by_key(|(_, (_, runs))| std::cmp::Reverse(*runs));
        candidates.truncate(MAX_CANDIDATES);
        let bytes = |(number, (partition, _)): (usize, (Partition, usize))| {
            (
                Plan::choose(partition.codes(), IntegerSlice::EMPTY).estimated_bytes()
                    + self.bytes(Some(partition.rows())),
                number,
            )
        };
        let (clustered, key) = candidates.into_iter().map(bytes).min()?;
        (clustered * 100 <= unclustered * (100 - MIN_SAVING_PERCENT)).then_some(key)
    }

    /// The estimated size in bytes with the rows in that order.
    fn bytes(&self, order: Option<&[u32]>) -> u64 {
        let mut dates: Vec<Cow<'_, [i64]>> = Vec::new();
        let mut bytes = 0;
        for column in &self.columns {
            bytes += match column {
                SampleColumn::Integers { values, is_date } => {
                    let values = reordered(values, order);
                    let references = dates.iter().filter(|_| *is_date).map(|date| &**date);
                    let plans = references.chain([&[][..]]).map(|reference| Plan::choose(&*values, reference));
                    let smallest = plans.map(|plan| plan.estimated_bytes()).min().unwrap_or(0);
                    if *is_date && dates.len() < MAX_REFERENCES {
                        dates.push(values);
                    }
                    smallest
                }
                SampleColumn::Floats(values) => floats::Plan::choose(&reordered(values, order)).estimated_bytes(),
                SampleColumn::Fixed(bytes) => *bytes,
            };
        }
        bytes
    }
}

impl SampleColumn {
    fn new(column: &ColumnBuffer, is_date: bool, rows: &Range<usize>) -> Self {
        let validity = column.validity.bitmap().map(|validity| validity.slice(rows.clone()));
        match &column.values {
            BufferedValues::Nothing => Self::Fixed(0),
            BufferedValues::Integers(values) => {
                let values = values.slice().slice(rows.clone()).wide();
                Self::Integers { values: filled(&values, validity, 0), is_date }
            }
            BufferedValues::Wide(_) => Self::Fixed((rows.len() * size_of::<i128>()) as u64),
            BufferedValues::Floats(values) => Self::Floats(filled(&values[rows.clone()], validity, 0.0)),
            BufferedValues::Strings(strings) => match &strings.form {
                StringForm::Codes { codes, values } if values.dictionary().len() <= rows.len() => {
                    let (_, ranks) = ValueOrder::new(values.dictionary()).ranks();
                    let rank = |&code: &i64| ranks.get(code as usize).map_or(0, |&rank| rank.into());
                    let ranks: Vec<_> = codes.slice().slice(rows.clone()).wide().iter().map(rank).collect();
                    Self::Integers { values: filled(&ranks, validity, 0), is_date }
                }
                StringForm::Codes { codes, .. } => {
                    let values = codes.slice().slice(rows.clone()).wide().into_owned();
                    Self::Integers { values, is_date }
                }
                StringForm::Each(each) => {
                    let all = each.strings().slice(rows.clone());
                    let sample: StringBuffer = all.iter().step_by(rows.len().div_ceil(SAMPLED_STRINGS)).collect();
                    let sample = sample.strings();
                    Self::Fixed(strings::untrained_bytes(sample) * rows.len() as u64 / sample.len() as u64)
                }
            },
        }
    }

    /// The rows clustered by this column, and the number of runs. `None` if there is only one run, runs are too short,
    /// or the unclustered column is tiny.
    fn partition(&self) -> Option<(Partition, usize)> {
        let Self::Integers { values, .. } = self else { return None };
        if Plan::choose(values, IntegerSlice::EMPTY).estimated_bytes() <= MAX_FORMULA_BYTES {
            return None;
        }
        let partition = Partition::of_integers(values)?;
        let runs = partition.lengths.len();
        (runs > 1).then_some((partition, runs))
    }
}

/// The values in that order.
fn reordered<'v, T: Copy>(values: &'v [T], order: Option<&[u32]>) -> Cow<'v, [T]> {
    order.map_or(Cow::Borrowed(values), |order| Cow::Owned(at(values, order)))
}

/// The values, with nulls filled.
fn filled<T: Copy + PartialOrd>(values: &[T], validity: Option<Bitmap<'_>>, otherwise: T) -> Vec<T> {
    let mut values = values.to_vec();
    ChunkRows { count: values.len(), validity, runs: RunLayout::None }.fill(&mut values, otherwise);
    values
}
