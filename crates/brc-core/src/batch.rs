//! Some rows in memory: the only thing that crosses from an encoding to its reader.
//!
//! Keys arrive as dictionary codes, one a row ([`Column::Codes`]) or one for each run of rows ([`Column::Runs`]), so
//! that an aggregation needs no hashing of its own and folds runs as contiguous memory.

use crate::dictionary::Dictionary;
use std::ops::Range;

/// Consecutive rows that share one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The code.
    pub code: u32,
    /// How many rows; never 0.
    pub rows: u32,
}

/// Decimal values in units of the column's scale, in the narrowest width the source had at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values<'a> {
    /// 16 bits a value.
    I16(&'a [i16]),
    /// 32 bits a value.
    I32(&'a [i32]),
    /// 64 bits a value.
    I64(&'a [i64]),
}

impl Values<'_> {
    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One value.
    ///
    /// # Panics
    /// If `row` is not below [`Values::len`].
    #[must_use]
    pub fn get(&self, row: usize) -> i64 {
        match self {
            Self::I16(values) => i64::from(values[row]),
            Self::I32(values) => i64::from(values[row]),
            Self::I64(values) => values[row],
        }
    }
}

/// One column of a batch.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// Dictionary codes, one a row.
    Codes {
        /// The codes.
        codes: &'a [u32],
        /// What they stand for. All batches of one scanner share it; it may grow from batch to batch.
        dictionary: &'a Dictionary,
    },
    /// Dictionary codes, one for each run; the runs' rows add up to the batch's.
    Runs {
        /// The runs in row order.
        runs: &'a [Run],
        /// What their codes stand for, as for [`Column::Codes`].
        dictionary: &'a Dictionary,
    },
    /// Decimal values, one a row.
    Values(Values<'a>),
}

impl<'a> Column<'a> {
    /// The dictionary, if this is a string column.
    #[must_use]
    pub fn dictionary(&self) -> Option<&'a Dictionary> {
        match self {
            Self::Codes { dictionary, .. } | Self::Runs { dictionary, .. } => Some(dictionary),
            Self::Values(_) => None,
        }
    }
}

/// Up to a few thousand rows, as the columns that a scan's projection asked for, in its order.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The number of rows.
    pub rows: usize,
    /// The columns; each has `rows` rows.
    pub columns: &'a [Column<'a>],
}

/// Appends the code of every row of `column`: runs are written out.
///
/// Returns whether it was a string column at all.
pub fn codes_of(column: &Column<'_>, out: &mut Vec<u32>) -> bool {
    match column {
        Column::Codes { codes, .. } => out.extend_from_slice(codes),
        Column::Runs { runs, .. } => {
            for run in *runs {
                out.extend(std::iter::repeat_n(run.code, run.rows as usize));
            }
        }
        Column::Values(_) => return false,
    }
    true
}

/// The same for some of the rows.
///
/// # Panics
/// If the column has a code for each row, and fewer rows than that.
pub fn codes_of_rows(column: &Column<'_>, rows: Range<usize>, out: &mut Vec<u32>) -> bool {
    match column {
        Column::Codes { codes, .. } => out.extend_from_slice(&codes[rows]),
        Column::Runs { runs, .. } => {
            let mut start = 0;
            for run in *runs {
                let end = start + run.rows as usize;
                out.extend(std::iter::repeat_n(run.code, (rows.start.max(start)..rows.end.min(end)).len()));
                start = end;
            }
        }
        Column::Values(_) => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_some_rows_are_some_of_the_codes() {
        let dictionary: Dictionary = ["a", "b", "c"].into_iter().collect();
        let runs = [Run { code: 2, rows: 3 }, Run { code: 0, rows: 1 }, Run { code: 1, rows: 4 }];
        let all = [2, 2, 2, 0, 1, 1, 1, 1];
        for column in [
            Column::Runs { runs: &runs, dictionary: &dictionary },
            Column::Codes { codes: &all, dictionary: &dictionary },
        ] {
            for start in 0..=all.len() {
                for end in start..=all.len() {
                    let mut codes = vec![7];
                    assert!(codes_of_rows(&column, start..end, &mut codes));
                    assert_eq!((codes[0], &codes[1..]), (7, &all[start..end]));
                }
            }
        }
        assert!(!codes_of_rows(&Column::Values(Values::I16(&[1])), 0..1, &mut Vec::new()));
    }
}
