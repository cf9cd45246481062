//! The layout of a record after its encoded keys.
//!
//! Integers of known bounds take the free bits in the last word of the keys. So half of the records of queries with
//! millions of groups are a single word, which is all that is moved and sorted.

use super::fits_record;
use crate::keys::encoding::{KeyEncoding, bits_of, push_tuple};
use crate::plan::Plan;
use crate::states::StateKind;
use brc_core::{Batch, Column, PhysicalType};

/// The most columns whose nulls fit a word.
const MAX_COLUMNS: usize = 64;

/// The columns whose values are aggregated.
#[derive(Debug, Clone)]
pub(crate) struct Aggregated {
    /// How many columns a batch has.
    columns: usize,
    values: Vec<Value>,
    /// Whether records may be of several rows: nothing but sums and numbers of rows is kept.
    may_merge: bool,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, Copy)]
struct Value {
    /// Of the plan, and of a batch.
    column: usize,
    position: usize,
    is_float: bool,
    /// Between which integers its values lie, where that is known.
    bounds: Option<(i64, i64)>,
}

/// Where everything lies in a record of words: the encoded keys, in whose last word values may lie, then values in
/// words of their own, then nulls or the number of rows.
#[derive(Debug, Clone)]
pub(crate) struct RecordLayout {
    /// How many columns a batch has.
    pub(super) columns: usize,
    /// Words of the encoded keys.
    pub(super) width: usize,
    /// The bits that keys have of the last of them.
    keys_mask: u64,
    /// The columns whose values lie in it.
    pub(super) within: Vec<Within>,
    /// The columns whose values lie after it, of which the flag says whether they are floats.
    pub(super) values: Vec<(usize, bool)>,
    /// Whether a word of nulls follows; else there are none.
    pub(super) nulls: bool,
    /// Whether a record may be of several rows: of sums in place of values, with the number of rows after them.
    pub(super) merged: bool,
}

/// Integers in some bits of a word, as distances from the smallest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Within {
    pub(super) position: usize,
    pub(super) min: i64,
    pub(super) span: u64,
    shift: u32,
}

impl Aggregated {
    /// Those of the states of a plan; `None` if their values do not fit a record.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let (projection, fields) = (plan.batch_columns(), plan.fields());
        let mut kinds: Vec<(usize, Vec<StateKind>)> = Vec::new();
        for (columns, kind) in plan.states() {
            for column in columns {
                match kinds.iter_mut().find(|(known, _)| *known == column) {
                    Some((_, kinds)) => kinds.push(kind),
                    None => kinds.push((column, vec![kind])),
                }
            }
        }
        let fits = |(column, kinds): &(usize, Vec<StateKind>)| fits_record(fields[*column].logical_type, kinds);
        if !kinds.iter().all(fits) || kinds.len() > MAX_COLUMNS {
            return None;
        }
        let is_float = |column: usize| fields[column].logical_type.physical() == PhysicalType::Floats;
        let value = |&(column, _): &(usize, _)| {
            let position = projection.iter().position(|&projected| projected == column)?;
            Some(Value { column, position, is_float: is_float(column), bounds: None })
        };
        let adds_up = |kind: &StateKind| matches!(kind, StateKind::Sums | StateKind::Counts);
        let add_up = |(column, kinds): &(usize, Vec<StateKind>)| !is_float(*column) && kinds.iter().all(adds_up);
        let may_merge = kinds.iter().all(add_up);
        let values = kinds.iter().map(value).collect::<Option<_>>()?;
        Some(Self { columns: projection.len(), values, may_merge })
    }

    /// The same where it is known between which integers the values of the plan's columns lie.
    pub(super) fn with_bounds(mut self, bounds: impl Fn(usize) -> Option<(i64, i64)>) -> Self {
        self.values.iter_mut().for_each(|value| value.bounds = bounds(value.column));
        self
    }
}

impl RecordLayout {
    /// For rows like those of a batch, whose keys do or do not come several times in a row. Rows with nulls, where a
    /// layout has no room for them, are grouped elsewhere.
    pub(super) fn new(aggregated: &Aggregated, encoding: &KeyEncoding, batch: &Batch<'_>, keys_repeat: bool) -> Self {
        let Aggregated { columns, values, may_merge } = aggregated;
        let column = |value: &Value| batch.columns.get(value.position);
        let nulls = values.iter().filter_map(column).any(Column::has_nulls);
        let merged = keys_repeat && *may_merge && !nulls;
        let mut layout = Self {
            columns: *columns,
            width: encoding.width(),
            keys_mask: u64::MAX,
            within: Vec::new(),
            values: Vec::new(),
            nulls,
            merged,
        };
        let mut used = 0;
        for &Value { position, is_float, bounds, .. } in values {
            match bounds.filter(|_| !is_float && !nulls && !merged) {
                Some((min, max)) if used < 64 && used + bits_of(max.abs_diff(min)) <= encoding.free_bits() => {
                    let span = max.abs_diff(min);
                    layout.within.push(Within { position, min, span, shift: used });
                    used += bits_of(span);
                }
                _ => layout.values.push((position, is_float)),
            }
        }
        layout.keys_mask = u64::MAX.checked_shl(used).unwrap_or(0);
        layout
    }

    /// Words of a record.
    pub(super) fn words(&self) -> usize {
        self.width + self.values.len() + usize::from(self.nulls) + usize::from(self.merged)
    }

    /// A record's last word of keys as it is without values.
    #[inline(always)]
    pub(super) fn keys_of(&self, word: u64) -> u64 {
        word & self.keys_mask
    }

    /// Appends the encoded keys of a record.
    #[inline(always)]
    pub(super) fn push_keys(&self, record: &[u64], tuples: &mut Vec<u64>) {
        push_tuple(&record[..self.width], tuples);
        if let Some(last) = tuples.last_mut() {
            *last = self.keys_of(*last);
        }
    }

    /// Appends the encoded keys of some records, which lie in sequence.
    pub(super) fn keys_of_all(&self, records: &[u64], tuples: &mut Vec<u64>) {
        match (self.words(), self.width) {
            (words, width) if words == width && self.within.is_empty() => tuples.extend_from_slice(records),
            (1, 1) => tuples.extend(records.iter().map(|&record| self.keys_of(record))),
            (2, 1) => tuples.extend(records.as_chunks::<2>().0.iter().map(|record| self.keys_of(record[0]))),
            (words, _) => records.chunks_exact(words).for_each(|record| self.push_keys(record, tuples)),
        }
    }
}

impl Within {
    /// Whether a distance is of no more bits than the largest.
    pub(super) fn has_room(&self, distance: u64) -> bool {
        bits_of(distance) <= bits_of(self.span)
    }

    /// The bits of a distance from the smallest value.
    #[inline(always)]
    pub(super) fn bits(&self, distance: u64) -> u64 {
        distance << self.shift
    }

    /// The value in a word.
    #[inline(always)]
    pub(super) fn value(&self, word: u64) -> i64 {
        let mask = u64::MAX.checked_shr(self.span.leading_zeros()).unwrap_or(0);
        self.min.wrapping_add((word >> self.shift & mask) as i64)
    }
}
