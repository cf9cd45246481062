//! A batch: rows in memory, and the only data that passes from an encoding to its reader.
//!
//! Numbers keep the width that the source has at hand. Strings are dictionary codes if the source has them, one per row
//! or one per run of rows, so that an aggregation needs no hashing of its own and merges runs as contiguous memory.
//! Values and bitmaps have the layout of Apache Arrow, so that a batch becomes a record batch without copying values.

use crate::bitmap::Bitmap;
use crate::bounds::bounds;
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

/// Integers in the narrowest width the source had at hand. Decimals are in units of their column's scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integers<'a> {
    /// 8 bits a value.
    I8(&'a [i8]),
    /// 16 bits a value.
    I16(&'a [i16]),
    /// 32 bits a value.
    I32(&'a [i32]),
    /// 64 bits a value.
    I64(&'a [i64]),
    /// 128 bits a value.
    I128(&'a [i128]),
}

/// Evaluates an expression with the slice of an [`Integers`], whatever its width.
#[macro_export]
macro_rules! for_integers {
    ($integers:expr, $slice:ident => $body:expr) => {
        match $integers {
            $crate::Integers::I8($slice) => $body,
            $crate::Integers::I16($slice) => $body,
            $crate::Integers::I32($slice) => $body,
            $crate::Integers::I64($slice) => $body,
            $crate::Integers::I128($slice) => $body,
        }
    };
}

impl<'a> Integers<'a> {
    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        for_integers!(self, values => values.len())
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One value.
    ///
    /// # Panics
    /// If `row` is not below [`Integers::len`].
    #[must_use]
    pub fn get(&self, row: usize) -> i128 {
        match self {
            Self::I8(values) => values[row].into(),
            Self::I16(values) => values[row].into(),
            Self::I32(values) => values[row].into(),
            Self::I64(values) => values[row].into(),
            Self::I128(values) => values[row],
        }
    }

    /// The values of these rows.
    ///
    /// # Panics
    /// If they are not rows of the column.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        match self {
            Self::I8(values) => Self::I8(&values[rows]),
            Self::I16(values) => Self::I16(&values[rows]),
            Self::I32(values) => Self::I32(&values[rows]),
            Self::I64(values) => Self::I64(&values[rows]),
            Self::I128(values) => Self::I128(&values[rows]),
        }
    }

    /// The smallest and the largest value.
    #[must_use]
    pub fn bounds(&self) -> Option<(i128, i128)> {
        fn of<T: Copy + Ord + Into<i128>>(values: &[T]) -> Option<(i128, i128)> {
            bounds(values).map(|(min, max)| (min.into(), max.into()))
        }
        for_integers!(self, values => of(values))
    }
}

/// Byte strings one behind the other, with offsets as in Arrow.
#[derive(Debug, Clone, Copy)]
pub struct ByteStrings<'a> {
    offsets: &'a [i32],
    bytes: &'a [u8],
}

impl<'a> ByteStrings<'a> {
    /// Row *r* has the bytes from `offsets[r]` to `offsets[r + 1]`.
    ///
    /// # Panics
    /// If there is no offset, or the last is not within `bytes`.
    #[must_use]
    pub fn new(offsets: &'a [i32], bytes: &'a [u8]) -> Self {
        let last = offsets.last().and_then(|&last| usize::try_from(last).ok());
        assert!(last.is_some_and(|last| last <= bytes.len()), "offsets within the bytes");
        Self { offsets, bytes }
    }

    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no string.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of a row.
    ///
    /// # Panics
    /// If `row` is not below [`ByteStrings::len`], or the offsets do not ascend.
    #[must_use]
    pub fn get(&self, row: usize) -> &'a [u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The strings of these rows.
    ///
    /// # Panics
    /// If they are not rows of the column.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        Self { offsets: &self.offsets[rows.start..=rows.end], bytes: self.bytes }
    }

    /// The strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let Self { offsets, bytes } = *self;
        (1..offsets.len()).map(move |next| &bytes[offsets[next - 1] as usize..offsets[next] as usize])
    }

    /// The bytes of all strings, which lie one behind the other.
    ///
    /// # Panics
    /// If the offsets do not ascend.
    #[must_use]
    pub fn span(&self) -> &'a [u8] {
        &self.bytes[self.offsets[0] as usize..self.offsets[self.len()] as usize]
    }

    /// The offsets, one more than there are strings, and the bytes that they point into, which may be more than those of the
    /// strings.
    #[must_use]
    pub fn parts(&self) -> (&'a [i32], &'a [u8]) {
        (self.offsets, self.bytes)
    }
}

/// The values of a column; rows that are null have any value there.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
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
        /// What their codes stand for, as for [`Data::Codes`].
        dictionary: &'a Dictionary,
    },
    /// Byte strings, one a row.
    Bytes(ByteStrings<'a>),
    /// Integers, one a row.
    Integers(Integers<'a>),
    /// Floats, one a row.
    Floats(&'a [f64]),
}

/// One column of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// Its values.
    pub data: Data<'a>,
    /// Which of its rows have a value; `None` if all have.
    pub validity: Option<Bitmap<'a>>,
}

impl<'a> From<Data<'a>> for Column<'a> {
    /// A column without nulls.
    fn from(data: Data<'a>) -> Self {
        Self { data, validity: None }
    }
}

impl<'a> Column<'a> {
    /// A column of codes without nulls.
    #[must_use]
    pub fn codes(codes: &'a [u32], dictionary: &'a Dictionary) -> Self {
        Data::Codes { codes, dictionary }.into()
    }

    /// A column of runs of codes without nulls.
    #[must_use]
    pub fn runs(runs: &'a [Run], dictionary: &'a Dictionary) -> Self {
        Data::Runs { runs, dictionary }.into()
    }

    /// A column of integers without nulls.
    #[must_use]
    pub fn integers(values: Integers<'a>) -> Self {
        Data::Integers(values).into()
    }

    /// The same column with these nulls.
    #[must_use]
    pub fn with_validity(self, validity: Option<Bitmap<'a>>) -> Self {
        Self { validity, ..self }
    }

    /// The dictionary, if the column has codes.
    #[must_use]
    pub fn dictionary(&self) -> Option<&'a Dictionary> {
        match self.data {
            Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. } => Some(dictionary),
            Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => None,
        }
    }

    /// Whether the row has a value.
    ///
    /// # Panics
    /// If the column has nulls, but not that row.
    #[must_use]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.is_none_or(|validity| validity.get(row))
    }

    /// The runs that some of the rows make up, the first and the last one perhaps cut; none if the column does not come as
    /// runs.
    #[must_use]
    pub fn runs_of_rows(&self, rows: Range<usize>) -> Vec<Run> {
        let Data::Runs { runs, .. } = self.data else { return Vec::new() };
        let mut start = 0;
        let part = |run: &Run| {
            let end = start + run.rows as usize;
            let rows = (rows.start.max(start)..rows.end.min(end)).len() as u32;
            start = end;
            (rows > 0).then_some(Run { code: run.code, rows })
        };
        runs.iter().filter_map(part).collect()
    }

    /// Some of the rows. `runs` are those of [`Column::runs_of_rows`].
    ///
    /// # Panics
    /// If the column does not come as runs, and has fewer rows than that.
    #[must_use]
    pub fn slice(self, rows: Range<usize>, runs: &'a [Run]) -> Self {
        let data = match self.data {
            Data::Codes { codes, dictionary } => Data::Codes { codes: &codes[rows.clone()], dictionary },
            Data::Runs { dictionary, .. } => Data::Runs { runs, dictionary },
            Data::Bytes(strings) => Data::Bytes(strings.slice(rows.clone())),
            Data::Integers(values) => Data::Integers(values.slice(rows.clone())),
            Data::Floats(values) => Data::Floats(&values[rows.clone()]),
        };
        Self { data, validity: self.validity.map(|validity| validity.slice(rows)) }
    }

    /// Whether a row is null.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        self.validity.is_some_and(|validity| validity.count_nulls() > 0)
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

/// Appends the code of every row of `column`: runs are written out. Rows that are null have any code.
///
/// Returns whether the column has codes at all.
pub fn codes_of(column: &Column<'_>, out: &mut Vec<u32>) -> bool {
    match column.data {
        Data::Codes { codes, .. } => out.extend_from_slice(codes),
        Data::Runs { runs, .. } => {
            for run in runs {
                out.extend(std::iter::repeat_n(run.code, run.rows as usize));
            }
        }
        Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => return false,
    }
    true
}

/// The same for some of the rows.
///
/// # Panics
/// If the column has a code for each row, and fewer rows than that.
pub fn codes_of_rows(column: &Column<'_>, rows: Range<usize>, out: &mut Vec<u32>) -> bool {
    match column.data {
        Data::Codes { codes, .. } => out.extend_from_slice(&codes[rows]),
        Data::Runs { runs, .. } => {
            let mut start = 0;
            for run in runs {
                let end = start + run.rows as usize;
                out.extend(std::iter::repeat_n(run.code, (rows.start.max(start)..rows.end.min(end)).len()));
                start = end;
            }
        }
        Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => return false,
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
        for column in [Column::runs(&runs, &dictionary), Column::codes(&all, &dictionary)] {
            for start in 0..=all.len() {
                for end in start..=all.len() {
                    let mut codes = vec![7];
                    assert!(codes_of_rows(&column, start..end, &mut codes));
                    assert_eq!((codes[0], &codes[1..]), (7, &all[start..end]));
                    let runs = column.runs_of_rows(start..end);
                    let mut sliced = Vec::new();
                    assert!(codes_of(&column.slice(start..end, &runs), &mut sliced));
                    assert_eq!((&sliced[..], runs.iter().all(|run| run.rows > 0)), (&all[start..end], true));
                }
            }
        }
        assert!(!codes_of_rows(&Column::integers(Integers::I16(&[1])), 0..1, &mut Vec::new()));
    }

    #[test]
    fn parts_of_columns_are_their_rows() {
        let strings = ByteStrings::new(&[0, 1, 1, 4], b"abcde");
        assert_eq!(strings.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bcd"]);
        let part = strings.slice(1..3);
        assert_eq!((part.len(), part.get(0), part.get(1)), (2, &b""[..], &b"bcd"[..]));
        let integers = Integers::I8(&[3, -1, 2]);
        assert_eq!(integers.bounds(), Some((-1, 3)));
        assert_eq!(integers.slice(1..2), Integers::I8(&[-1]));
        assert_eq!(Integers::I128(&[]).bounds(), None);
    }
}
