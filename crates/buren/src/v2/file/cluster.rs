//! Order-preserving clusters: rows of a row group move into runs of equal keys, so that a key's rows lie side by side, and
//! back.
//!
//! The partition is stable: rows of a run keep their order. So the codes of the key in the original order of rows, the order
//! stream, are all it takes to undo it.

use super::gathered::{Gathered, Values};
use super::order::Order;
use super::strings_gathered::Form;
use brc_core::{Bitmap, BitmapBuffer};

/// Runs shorter than this on average are not worth clustering for.
const LEAST_ROWS_PER_RUN: usize = 16;

/// How the rows of a row group are moved.
pub(super) struct Partition {
    /// The key's code of each row, in the original order: values ascend with their codes, null has the last one.
    pub(super) codes: Vec<i64>,
    /// The rows as they lie then: first those with code 0, in their order.
    pub(super) rows: Vec<u32>,
}

impl Partition {
    /// `None` if the key's values are of a kind that has no codes, or if its runs would be too short.
    pub(super) fn new(key: &Gathered) -> Option<Self> {
        let (codes, runs) = codes(key)?;
        if codes.len() / runs.max(1) < LEAST_ROWS_PER_RUN {
            return None;
        }
        let mut places = Places::new(runs, &codes)?;
        let mut rows = vec![0; codes.len()];
        for (row, &code) in codes.iter().enumerate() {
            rows[places.next(code) as usize] = row as u32;
        }
        Some(Self { codes, rows })
    }
}

/// Where the next row of each run lies.
pub(super) struct Places(Vec<u32>);

impl Places {
    /// The places of the first rows of so many runs, of which these are the codes in any order; `None` if one is no code of
    /// a run.
    pub(super) fn new(runs: usize, codes: &[i64]) -> Option<Self> {
        let mut rows = vec![0; runs];
        for &code in codes {
            *rows.get_mut(usize::try_from(code).ok()?)? += 1;
        }
        let mut start = 0;
        for rows in &mut rows {
            start += std::mem::replace(rows, start);
        }
        Some(Self(rows))
    }

    /// The place of the next row with a code, one of those that `new` was given.
    pub(super) fn next(&mut self, code: i64) -> u32 {
        let place = &mut self.0[code as usize];
        *place += 1;
        *place - 1
    }
}

/// The code of each row, and how many there are.
fn codes(key: &Gathered) -> Option<(Vec<i64>, usize)> {
    let valid = key.validity.bitmap();
    match &key.values {
        Values::Integers(values) => codes_of_integers(values, &key.validity),
        Values::Strings(strings) => match &strings.form {
            Form::Codes { codes, values } => {
                let order = Order::new(values.dictionary());
                let mut sorted: Vec<u32> = (0..order.len() as u32).collect();
                sorted.sort_unstable_by(|&a, &b| order.compare(a, b));
                let mut ranks = vec![0; sorted.len()];
                (0..).zip(&sorted).for_each(|(rank, &code)| ranks[code as usize] = rank);
                let null = ranks.len() as i64;
                let rank = |(row, &code): (usize, &u32)| if is_valid(valid, row) { ranks[code as usize] } else { null };
                Some((codes.iter().enumerate().map(rank).collect(), ranks.len() + usize::from(valid.is_some())))
            }
            Form::Each(_) => None,
        },
        Values::Wide(values) => {
            let narrow =
                |(row, &value): (usize, &i128)| if is_valid(valid, row) { i64::try_from(value) } else { Ok(0) };
            let values = values.iter().enumerate().map(narrow).collect::<Result<Vec<_>, _>>().ok()?;
            codes_of_integers(&values, &key.validity)
        }
        Values::Nothing | Values::Floats(_) => None,
    }
}

fn codes_of_integers(values: &[i64], validity: &BitmapBuffer) -> Option<(Vec<i64>, usize)> {
    let valid = validity.bitmap();
    let of_valid = values.iter().enumerate().filter(|(row, _)| is_valid(valid, *row));
    let mut distinct: Vec<i64> = of_valid.map(|(_, &value)| value).collect();
    distinct.sort_unstable();
    distinct.dedup();
    if values.len() / distinct.len().max(1) < LEAST_ROWS_PER_RUN {
        return None;
    }
    let rank = |(row, value): (usize, &i64)| match is_valid(valid, row) {
        true => distinct.partition_point(|known| known < value) as i64,
        false => distinct.len() as i64,
    };
    Some((values.iter().enumerate().map(rank).collect(), distinct.len() + usize::from(valid.is_some())))
}

fn is_valid(valid: Option<Bitmap<'_>>, row: usize) -> bool {
    valid.is_none_or(|valid| valid.get(row))
}
