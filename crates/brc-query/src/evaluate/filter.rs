//! Predicates over batches.
//!
//! A predicate on one string column is evaluated once for each code; numbers are compared many at a time. Both give one
//! bit a row, set where the condition is true, and `and` and `or` work on 64 rows at once. A `not` is moved down to the
//! leaves: there a null makes neither the condition nor its negation true.

use crate::evaluate::alternatives::{Ranges, TextPredicate, take_ranges};
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::{
    Batch, Bitmap, ColumnStatistics, Data, Dictionary, Field, PhysicalType, Predicate, PruneResult, ValueBounds,
    float_order, for_integers,
};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{CodeSet, count, range, valid_bits, words};

/// A predicate made ready for batches of one projection.
#[derive(Debug)]
pub(crate) struct Filter {
    test: Test,
    mask: Vec<u64>,
    /// Masks for the parts of a test, kept for the next batch.
    spare: Vec<Vec<u64>>,
}

impl Filter {
    /// Columns of the predicate are positions in `fields`; those in the batches are as `projection` says.
    pub(crate) fn new(predicate: &Predicate, fields: &[Field], projection: &[usize]) -> Self {
        Self { test: Test::new(predicate, false, fields, projection), mask: Vec::new(), spare: Vec::new() }
    }

    /// The rows of a batch for which the predicate is true.
    pub(crate) fn select(&mut self, level: Level, batch: &Batch<'_>) -> Result<Selection<'_>, BatchError> {
        self.mask.clear();
        self.mask.resize(words(batch.rows), 0);
        self.test.evaluate(level, batch, &mut self.mask, &mut self.spare)?;
        let wanted = count(level, &self.mask);
        Ok(if wanted == batch.rows { Selection::All } else { Selection::Some(&self.mask, wanted) })
    }
}

/// A predicate whose columns are positions in a batch.
#[derive(Debug)]
pub(crate) enum Test {
    Constant(bool),
    Number { position: usize, low: i128, high: i128, negated: bool },
    Numbers { position: usize, ranges: Ranges, negated: bool },
    Text(TextTest),
    Null { position: usize, negated: bool },
    All(Vec<Test>),
    Any(Vec<Test>),
}

/// A predicate that looks at one string column only.
#[derive(Debug)]
pub(crate) struct TextTest {
    position: usize,
    predicate: TextPredicate,
    /// The codes seen so far for which it holds.
    holds: CodeSet,
    /// Whether it holds for null.
    holds_for_null: bool,
}

impl Test {
    /// A test of the predicate, or of its opposite.
    pub(crate) fn new(predicate: &Predicate, negated: bool, fields: &[Field], projection: &[usize]) -> Self {
        let position = |column: usize| {
            let position = projection.iter().position(|&projected| projected == column);
            position.unwrap_or_else(|| unreachable!("a plan projects the columns that it filters by"))
        };
        // Parts of which all must hold, or any.
        let parts = |parts: &[Predicate], all: bool| {
            let mut parts: Vec<&Predicate> = parts.iter().collect();
            let ranges = take_ranges(&mut parts, all != negated);
            let tests = parts.into_iter().map(|part| Self::new(part, negated, fields, projection));
            let numbers = |(column, ranges)| Self::Numbers { position: position(column), ranges, negated: all };
            tests.chain(ranges.into_iter().map(numbers)).collect()
        };
        let mut columns = Vec::new();
        predicate.columns(&mut columns);
        if let [column] = &columns[..]
            && fields[*column].logical_type.physical() == PhysicalType::Bytes
        {
            let test = |predicate: &Predicate| Self::Text(TextTest::new(position(*column), predicate));
            return if negated { test(&Predicate::Not(Box::new(predicate.clone()))) } else { test(predicate) };
        }
        match predicate {
            Predicate::Constant(holds) => Self::Constant(*holds != negated),
            Predicate::Range { column, low, high } => {
                Self::Number { position: position(*column), low: *low, high: *high, negated }
            }
            Predicate::IsNull { column } => Self::Null { position: position(*column), negated },
            Predicate::Compare { .. } => unreachable!("it looks at one string column only"),
            Predicate::And(all) if !negated => Self::All(parts(all, true)),
            Predicate::Or(any) if negated => Self::All(parts(any, true)),
            Predicate::And(any) | Predicate::Or(any) => Self::Any(parts(any, false)),
            Predicate::Not(part) => Self::new(part, !negated, fields, projection),
        }
    }

    /// Sets or clears the bit of every row; `mask` is all 0 before, and of the right length.
    pub(crate) fn evaluate(
        &mut self,
        level: Level,
        batch: &Batch<'_>,
        mask: &mut [u64],
        spare: &mut Vec<Vec<u64>>,
    ) -> Result<(), BatchError> {
        match self {
            Self::Constant(false) => {}
            Self::Constant(true) => negate(mask, batch.rows),
            Self::Number { position, low, high, negated } => {
                let column = batch.columns.get(*position).ok_or(BatchError("a column of numbers is not there"))?;
                match column.data {
                    Data::Integers(values) if values.len() == batch.rows => range(level, values, *low, *high, mask),
                    Data::Floats(values) if values.len() == batch.rows => float_range(values, *low, *high, mask),
                    Data::Integers(_) | Data::Floats(_) | Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => {
                        return Err(BatchError("a column of numbers is not there"));
                    }
                }
                if *negated {
                    negate(mask, batch.rows);
                }
                only_values(mask, column.validity);
            }
            Self::Numbers { position, ranges, negated } => {
                let column = batch.columns.get(*position).ok_or(BatchError("a column of numbers is not there"))?;
                match column.data {
                    Data::Integers(values) if values.len() == batch.rows => {
                        for_integers!(values, values => in_ranges(values, ranges, mask, i128::from));
                    }
                    Data::Floats(values) if values.len() == batch.rows => {
                        in_ranges(values, ranges, mask, |value| float_order(value).into());
                    }
                    Data::Integers(_) | Data::Floats(_) | Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => {
                        return Err(BatchError("a column of numbers is not there"));
                    }
                }
                if *negated {
                    negate(mask, batch.rows);
                }
                only_values(mask, column.validity);
            }
            Self::Null { position, negated } => {
                let column = batch.columns.get(*position).ok_or(BatchError("a column is not there"))?;
                negate(mask, batch.rows);
                only_values(mask, column.validity);
                if !*negated {
                    negate(mask, batch.rows);
                }
            }
            Self::Text(test) => test.evaluate(level, batch, mask)?,
            Self::All(parts) => {
                negate(mask, batch.rows);
                combine(parts, level, batch, mask, spare, |all, part| *all &= part)?;
            }
            Self::Any(parts) => combine(parts, level, batch, mask, spare, |any, part| *any |= part)?,
        }
        Ok(())
    }
}

/// Sets the bits of the floats whose integers of the same order lie in `low..=high`.
fn float_range(values: &[f64], low: i128, high: i128, mask: &mut [u64]) {
    let (low, high) = (low.max(i64::MIN.into()), high.min(i64::MAX.into()));
    if low > high {
        return;
    }
    let (low, high) = (low as i64, high as i64);
    for (word, values) in mask.iter_mut().zip(values.chunks(64)) {
        for (bit, &value) in values.iter().enumerate() {
            *word |= u64::from((low..=high).contains(&float_order(value))) << bit;
        }
    }
}

/// Sets the bits of the values that lie in one of the ranges.
fn in_ranges<T: Copy>(values: &[T], ranges: &Ranges, mask: &mut [u64], order: impl Fn(T) -> i128) {
    for (word, values) in mask.iter_mut().zip(values.chunks(64)) {
        for (bit, &value) in values.iter().enumerate() {
            *word |= u64::from(ranges.contain(order(value))) << bit;
        }
    }
}

fn combine(
    parts: &mut [Test],
    level: Level,
    batch: &Batch<'_>,
    mask: &mut [u64],
    spare: &mut Vec<Vec<u64>>,
    join: impl Fn(&mut u64, u64),
) -> Result<(), BatchError> {
    for part in parts {
        let mut other = spare.pop().unwrap_or_default();
        other.clear();
        other.resize(mask.len(), 0);
        part.evaluate(level, batch, &mut other, spare)?;
        for (word, &part) in mask.iter_mut().zip(&other) {
            join(word, part);
        }
        spare.push(other);
    }
    Ok(())
}

fn negate(mask: &mut [u64], rows: usize) {
    for (index, word) in mask.iter_mut().enumerate() {
        *word = !*word & valid_bits(rows, index);
    }
}

/// Clears the bits of rows that are null.
fn only_values(mask: &mut [u64], validity: Option<Bitmap<'_>>) {
    if let Some(validity) = validity {
        for (word, (values, _)) in mask.iter_mut().zip(validity.words()) {
            *word &= values;
        }
    }
}

impl TextTest {
    fn new(position: usize, predicate: &Predicate) -> Self {
        let null = ColumnStatistics { values: ValueBounds::None, nulls: true };
        let holds_for_null = predicate.decide(&|_| null) == PruneResult::Always;
        Self { position, predicate: TextPredicate::new(predicate), holds: CodeSet::default(), holds_for_null }
    }

    fn evaluate(&mut self, level: Level, batch: &Batch<'_>, mask: &mut [u64]) -> Result<(), BatchError> {
        let column = batch.columns.get(self.position).ok_or(BatchError("a column of strings is not there"))?;
        match column.data {
            // The codes of nulls mean nothing where there is no value at all.
            Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }
                if dictionary.is_empty() && column.validity.is_some_and(|validity| validity.count_values() == 0) => {}
            Data::Codes { codes, dictionary } => {
                self.learn(dictionary);
                if codes.len() != batch.rows || !self.holds.select(level, codes, mask) {
                    return Err(BatchError("a code is not in its dictionary"));
                }
            }
            Data::Runs { runs, dictionary } => {
                self.learn(dictionary);
                let mut start = 0;
                for run in runs {
                    let end = start + run.rows as usize;
                    if self.holds(run.code)? {
                        set(mask, start, end);
                    }
                    start = end;
                }
            }
            Data::Bytes(strings) => {
                for (row, string) in strings.iter().enumerate() {
                    mask[row / 64] |= u64::from(self.decide(string)) << (row % 64);
                }
            }
            Data::Integers(_) | Data::Floats(_) => return Err(BatchError("a column of strings is not there")),
        }
        if let Some(validity) = column.validity {
            for (word, (values, rows)) in mask.iter_mut().zip(validity.words()) {
                let nulls = if self.holds_for_null { !values & valid_bits(rows, 0) } else { 0 };
                *word = *word & values | nulls;
            }
        }
        Ok(())
    }

    fn decide(&self, string: &[u8]) -> bool {
        self.predicate.holds(string)
    }

    fn holds(&self, code: u32) -> Result<bool, BatchError> {
        self.holds.get(code).ok_or(BatchError("a code is not in its dictionary"))
    }

    /// Evaluates the predicate for codes that are new.
    fn learn(&mut self, dictionary: &Dictionary) {
        for code in self.holds.known()..dictionary.len() {
            let holds = self.decide(dictionary.get(code as u32));
            self.holds.push(holds);
        }
    }
}

/// Sets the bits from `start` to `end`, as far as there are words for them.
fn set(mask: &mut [u64], start: usize, end: usize) {
    let end = end.min(mask.len() * 64);
    if start >= end {
        return;
    }
    let (first, last) = (start / 64, (end - 1) / 64);
    let from_start = u64::MAX << (start % 64);
    let to_end = valid_bits(end, last);
    if first == last {
        mask[first] |= from_start & to_end;
        return;
    }
    mask[first] |= from_start;
    mask[first + 1..last].fill(u64::MAX);
    mask[last] |= to_end;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_bits_are_set_exactly() {
        for rows in [1, 64, 65, 200] {
            for start in 0..rows {
                for end in start..=rows {
                    let mut mask = vec![0; words(rows)];
                    set(&mut mask, start, end);
                    let found: Vec<usize> =
                        (0..mask.len() * 64).filter(|row| mask[row / 64] >> (row % 64) & 1 == 1).collect();
                    assert_eq!(found, (start..end).collect::<Vec<_>>());
                }
            }
        }
    }
}
