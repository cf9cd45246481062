//! Decoded rows that outlive their decoder: a whole chunk, or a batch that was gathered or expanded.

use super::column::{BATCH_ROWS, ScanColumn};
use super::decoder::DecodedStrings;
use super::runs::Runs;
use crate::Malformed;
use crate::block::Cost;
use crate::integers::BLOCK_ROWS;
use crate::strings::StringBuffer;
use brc_core::{BitmapBuffer, Column, ColumnStatistics, Data, Dictionary, Integers, Result, Run, ValueBounds};
use std::ops::Range;

/// Decoded rows of a column.
#[derive(Default)]
pub(super) struct DecodedRows {
    values: DecodedValues,
    validity: BitmapBuffer,
}

#[derive(Default)]
enum DecodedValues {
    /// No rows yet.
    #[default]
    Nothing,
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    Floats(Vec<f64>),
    /// Codes in the scanner's dictionary of the column.
    Codes(Vec<u32>),
    Strings(StringBuffer),
}

/// Clears the values for a type, reusing the memory if the type is the same.
macro_rules! emptied {
    ($values:expr, $kind:ident, $own:ident => $then:expr) => {{
        if !matches!($values, DecodedValues::$kind(_)) {
            $values = DecodedValues::$kind(Vec::new());
        }
        if let DecodedValues::$kind($own) = &mut $values {
            $own.clear();
            $then;
        }
    }};
}

/// Clears the values and refills them from others of the same type, reusing the memory if possible.
macro_rules! refill {
    ($values:expr, $from:expr, $own:ident, $other:ident => $fill:expr) => {
        refill!($values, $from, $own, $other => $fill, I16 I32 I64 I128 Floats Codes)
    };
    ($values:expr, $from:expr, $own:ident, $other:ident => $fill:expr, $($kind:ident)+) => {
        match $from {
            $(DecodedValues::$kind($other) => {
                emptied!($values, $kind, $own => $fill);
            })+
            DecodedValues::Nothing | DecodedValues::Strings(_) => $values = DecodedValues::Nothing,
        }
    };
}

impl DecodedRows {
    /// All values of a chunk in stored order; `runs` are those of its row group, if it is clustered.
    pub(super) fn read(
        column: &mut ScanColumn<'_>,
        row_group: usize,
        runs: Option<&Runs>,
        cost: &mut Cost,
    ) -> Result<Self> {
        let mut all = Self::default();
        all.replace(column, row_group, runs, cost)?;
        Ok(all)
    }

    /// Like `read`, reusing memory.
    pub(super) fn replace(
        &mut self,
        column: &mut ScanColumn<'_>,
        row_group: usize,
        runs: Option<&Runs>,
        cost: &mut Cost,
    ) -> Result<()> {
        // With 0 expected rows, strings are decoded in one form throughout.
        column.start(row_group, 0, runs, cost)?;
        let rows = column.values_in(row_group);
        self.validity.clear();
        for (number, first) in (0..rows).step_by(BLOCK_ROWS).enumerate() {
            let of_block = BLOCK_ROWS.min(rows - first);
            column.load(number, of_block, cost)?;
            for first_of_batch in (0..of_block).step_by(BATCH_ROWS) {
                let batch = first_of_batch..of_block.min(first_of_batch + BATCH_ROWS);
                column.decode(batch.clone(), runs)?;
                if first + first_of_batch == 0 {
                    self.empty(&column.as_column().data, rows);
                }
                self.append(&column.as_column(), batch.len());
            }
        }
        Ok(())
    }

    /// Clears the values and reserves memory for `rows` values like these.
    fn empty(&mut self, like: &Data<'_>, rows: usize) {
        macro_rules! with_room {
            ($kind:ident) => {
                emptied!(self.values, $kind, values => values.reserve(rows))
            };
        }
        match like {
            Data::Integers(Integers::I8(_) | Integers::I16(_)) => with_room!(I16),
            Data::Integers(Integers::I32(_)) => with_room!(I32),
            Data::Integers(Integers::I64(_)) => with_room!(I64),
            Data::Integers(Integers::I128(_)) => with_room!(I128),
            Data::Floats(_) => with_room!(Floats),
            Data::Bytes(_) => self.values = DecodedValues::Strings(StringBuffer::default()),
            Data::Codes { .. } | Data::Runs { .. } => with_room!(Codes),
        }
    }

    /// Appends rows of the same chunk, if they have the same form as those before.
    fn append(&mut self, column: &Column<'_>, rows: usize) {
        match (&mut self.values, column.data) {
            (DecodedValues::I16(values), Data::Integers(Integers::I16(new))) => values.extend_from_slice(new),
            (DecodedValues::I32(values), Data::Integers(Integers::I32(new))) => values.extend_from_slice(new),
            (DecodedValues::I64(values), Data::Integers(Integers::I64(new))) => values.extend_from_slice(new),
            (DecodedValues::I128(values), Data::Integers(Integers::I128(new))) => values.extend_from_slice(new),
            (DecodedValues::Floats(values), Data::Floats(new)) => values.extend_from_slice(new),
            (DecodedValues::Strings(values), Data::Bytes(new)) => new.iter().for_each(|value| values.push(value)),
            (DecodedValues::Codes(values), Data::Codes { codes, .. }) => values.extend_from_slice(codes),
            _ => return,
        }
        self.validity.extend(column.validity, rows);
    }

    /// Appends rows of a chunk of `all` rows, if they directly follow the current ones. Expanded strings are not kept:
    /// decoding them again is as fast.
    pub(super) fn keep(&mut self, column: &Column<'_>, rows: Range<usize>, all: usize) {
        if rows.start != self.len() || matches!(column.data, Data::Bytes(_)) {
            return;
        }
        if rows.start == 0 {
            self.empty(&column.data, all);
        }
        self.append(column, rows.len());
    }

    /// Removes all rows, keeping memory for reuse.
    pub(super) fn clear(&mut self) {
        self.validity.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.validity.len()
    }

    /// The values of some rows, if they are integers of at most 64 bits; otherwise empty.
    pub(super) fn integers(&self, rows: Range<usize>) -> Vec<i64> {
        match &self.values {
            DecodedValues::I16(values) => values[rows].iter().map(|&value| value.into()).collect(),
            DecodedValues::I32(values) => values[rows].iter().map(|&value| value.into()).collect(),
            DecodedValues::I64(values) => values[rows].to_vec(),
            DecodedValues::Nothing
            | DecodedValues::I128(_)
            | DecodedValues::Floats(_)
            | DecodedValues::Codes(_)
            | DecodedValues::Strings(_) => Vec::new(),
        }
    }

    /// Replaces `lengths` with all values, if they are integers of at most 64 bits; otherwise clears it. Values that do
    /// not fit become 0.
    pub(super) fn lengths(&self, lengths: &mut Vec<u32>) {
        lengths.clear();
        match &self.values {
            DecodedValues::I16(values) => lengths.extend(values.iter().map(|&value| u32::try_from(value).unwrap_or(0))),
            DecodedValues::I32(values) => lengths.extend(values.iter().map(|&value| u32::try_from(value).unwrap_or(0))),
            DecodedValues::I64(values) => lengths.extend(values.iter().map(|&value| u32::try_from(value).unwrap_or(0))),
            DecodedValues::Nothing
            | DecodedValues::I128(_)
            | DecodedValues::Floats(_)
            | DecodedValues::Codes(_)
            | DecodedValues::Strings(_) => {}
        }
    }

    /// All codes, if the values are codes; otherwise empty.
    pub(super) fn codes(&self) -> &[u32] {
        if let DecodedValues::Codes(codes) = &self.values { codes } else { &[] }
    }

    pub(super) fn is_valid(&self, row: usize) -> bool {
        self.validity.bitmap().is_none_or(|valid| valid.get(row))
    }

    pub(super) fn has_nulls(&self) -> bool {
        self.validity.bitmap().is_some()
    }

    /// Whether two rows have the same value, or are both null.
    pub(super) fn are_equal(&self, one: usize, other: usize) -> bool {
        match (self.is_valid(one), self.is_valid(other)) {
            (true, true) => match &self.values {
                DecodedValues::Nothing => true,
                DecodedValues::I16(values) => values[one] == values[other],
                DecodedValues::I32(values) => values[one] == values[other],
                DecodedValues::I64(values) => values[one] == values[other],
                DecodedValues::I128(values) => values[one] == values[other],
                DecodedValues::Floats(values) => values[one].to_bits() == values[other].to_bits(),
                DecodedValues::Codes(codes) => codes[one] == codes[other],
                DecodedValues::Strings(values) => values.strings().get(one) == values.strings().get(other),
            },
            (one, other) => one == other,
        }
    }

    /// The statistics of a single row of integers or codes.
    pub(super) fn statistics<'a>(&self, row: usize, dictionary: &'a Dictionary) -> ColumnStatistics<'a> {
        if !self.is_valid(row) {
            return ColumnStatistics { values: ValueBounds::None, nulls: true };
        }
        match &self.values {
            DecodedValues::I16(values) => ColumnStatistics::numbers(values[row].into(), values[row].into()),
            DecodedValues::I32(values) => ColumnStatistics::numbers(values[row].into(), values[row].into()),
            DecodedValues::I64(values) => ColumnStatistics::numbers(values[row], values[row]),
            DecodedValues::Codes(codes) => ColumnStatistics::string(dictionary.get(codes[row])),
            DecodedValues::Nothing | DecodedValues::I128(_) | DecodedValues::Floats(_) | DecodedValues::Strings(_) => {
                ColumnStatistics::UNKNOWN
            }
        }
    }

    /// Replaces the rows with those at some positions of others. Strings are written to `strings`.
    pub(super) fn gather(
        &mut self,
        from: &Self,
        positions: &[u32],
        strings: &mut DecodedStrings,
    ) -> std::result::Result<(), Malformed> {
        self.validity.clear();
        match from.validity.bitmap() {
            Some(valid) => positions.iter().for_each(|&position| self.validity.push(valid.get(position as usize))),
            None => self.validity.push_values(positions.len()),
        }
        if let DecodedValues::Strings(values) = &from.values {
            let values = values.strings();
            strings.replace(positions.iter().map(|&position| values.get(position as usize)))?;
            self.values = DecodedValues::Strings(StringBuffer::default());
            return Ok(());
        }
        refill!(self.values, &from.values, own, values => {
            own.extend(positions.iter().map(|&position| values[position as usize]));
        });
        Ok(())
    }

    /// Replaces the rows with those of runs; each run has the value of `from` at its code. Strings must have codes.
    pub(super) fn repeat(&mut self, from: &Self, runs: &[Run]) {
        self.validity.clear();
        match from.validity.bitmap() {
            Some(valid) => {
                let of_run = |run: &Run| std::iter::repeat_n(valid.get(run.code as usize), run.rows as usize);
                runs.iter().flat_map(of_run).for_each(|valid| self.validity.push(valid));
            }
            None => self.validity.push_values(runs.iter().map(|run| run.rows as usize).sum()),
        }
        refill!(self.values, &from.values, own, values => for run in runs {
            own.extend(std::iter::repeat_n(values[run.code as usize], run.rows as usize));
        });
    }

    pub(super) fn as_column<'a>(&'a self, strings: &'a DecodedStrings, dictionary: &'a Dictionary) -> Column<'a> {
        let data = match &self.values {
            DecodedValues::Nothing => Data::Integers(Integers::I64(&[])),
            DecodedValues::I16(values) => Data::Integers(Integers::I16(values)),
            DecodedValues::I32(values) => Data::Integers(Integers::I32(values)),
            DecodedValues::I64(values) => Data::Integers(Integers::I64(values)),
            DecodedValues::I128(values) => Data::Integers(Integers::I128(values)),
            DecodedValues::Floats(values) => Data::Floats(values),
            DecodedValues::Codes(codes) => Data::Codes { codes, dictionary },
            DecodedValues::Strings(_) => strings.data(),
        };
        Column { data, validity: self.validity.bitmap() }
    }
}
