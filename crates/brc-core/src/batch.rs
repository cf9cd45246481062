//! A batch: rows in memory, and the only form in which data passes from an encoding to its reader.
//!
//! Numbers keep the width of their source. Strings are dictionary codes if the source has them, one per row or one per
//! run of rows, so that an aggregation needs no hashing of its own and processes runs as contiguous memory. Values and
//! bitmaps have the layout of Apache Arrow, so that a batch becomes a record batch without copying values.

use crate::bitmap::Bitmap;
use crate::bounds::bounds;
use crate::dictionary::Dictionary;
use std::ops::Range;

/// Consecutive rows that share one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The code.
    pub code: u32,
    /// The number of rows; never 0.
    pub rows: u32,
}

/// Integers in the width of their source. Decimals are in units of their column's scale.
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

/// Evaluates an expression with the slice of an [`Integers`] of any width.
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
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        for_integers!(self, values => values.len())
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row.
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
    /// If they are out of bounds.
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

    /// The minimum and maximum; `None` if there are no values.
    #[must_use]
    pub fn bounds(&self) -> Option<(i128, i128)> {
        fn of<T: Copy + Ord + Into<i128>>(values: &[T]) -> Option<(i128, i128)> {
            bounds(values).map(|(min, max)| (min.into(), max.into()))
        }
        for_integers!(self, values => of(values))
    }
}

/// Contiguous byte strings with offsets, as in Arrow.
#[derive(Debug, Clone, Copy)]
pub struct ByteStrings<'a> {
    offsets: &'a [i32],
    bytes: &'a [u8],
}

impl<'a> ByteStrings<'a> {
    /// Strings of which row *r* has the bytes from `offsets[r]` to `offsets[r + 1]`.
    ///
    /// # Panics
    /// If `offsets` is empty, or the last offset is out of bounds.
    #[must_use]
    pub fn new(offsets: &'a [i32], bytes: &'a [u8]) -> Self {
        let last = offsets.last().and_then(|&last| usize::try_from(last).ok());
        assert!(last.is_some_and(|last| last <= bytes.len()), "offsets within the bytes");
        Self { offsets, bytes }
    }

    /// The number of strings.
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
    /// If `row` is not below [`ByteStrings::len`], or the offsets are not ascending.
    #[must_use]
    pub fn get(&self, row: usize) -> &'a [u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The strings of these rows.
    ///
    /// # Panics
    /// If they are out of bounds.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        Self { offsets: &self.offsets[rows.start..=rows.end], bytes: self.bytes }
    }

    /// The strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let Self { offsets, bytes } = *self;
        (1..offsets.len()).map(move |next| &bytes[offsets[next - 1] as usize..offsets[next] as usize])
    }

    /// The contiguous bytes of all strings.
    ///
    /// # Panics
    /// If the offsets are not ascending.
    #[must_use]
    pub fn span(&self) -> &'a [u8] {
        &self.bytes[self.offsets[0] as usize..self.offsets[self.len()] as usize]
    }

    /// The offsets (one more than there are strings) and the bytes they point into, which may contain more than these
    /// strings.
    #[must_use]
    pub fn parts(&self) -> (&'a [i32], &'a [u8]) {
        (self.offsets, self.bytes)
    }
}

/// The values of a column. Null rows have an arbitrary value.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Dictionary codes, one per row.
    Codes {
        /// The codes.
        codes: &'a [u32],
        /// The dictionary of the codes. All batches of one scanner share it; it may grow between batches.
        dictionary: &'a Dictionary,
    },
    /// Dictionary codes, one per run; the runs cover all rows of the batch.
    Runs {
        /// The runs in row order.
        runs: &'a [Run],
        /// The dictionary of the codes, as for [`Data::Codes`].
        dictionary: &'a Dictionary,
    },
    /// Byte strings, one per row.
    Bytes(ByteStrings<'a>),
    /// Integers, one per row.
    Integers(Integers<'a>),
    /// Floats, one per row.
    Floats(&'a [f64]),
}

/// One column of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// Its values.
    pub data: Data<'a>,
    /// Which rows have a value; `None` if all have.
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

    /// The same column with this validity.
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

    /// Whether the row is not null.
    ///
    /// # Panics
    /// If the column has a validity bitmap with fewer rows.
    #[must_use]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.is_none_or(|validity| validity.get(row))
    }

    /// The runs of these rows, the first and the last shortened if necessary; empty unless the column consists of runs.
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

    /// A slice of the rows. `runs` must be the result of [`Column::runs_of_rows`] for them.
    ///
    /// # Panics
    /// If the rows are out of bounds, except for runs.
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

    /// The same column, with one code per row, in the buffer, in place of runs.
    #[must_use]
    pub fn without_runs(self, codes: &'a mut Vec<u32>) -> Self {
        let Data::Runs { dictionary, .. } = self.data else { return self };
        codes_of(&self, codes);
        Self { data: Data::Codes { codes, dictionary }, ..self }
    }

    /// Whether any row is null.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        self.validity.is_some_and(|validity| validity.count_nulls() > 0)
    }
}

/// Up to a few thousand rows with the columns of a scan's projection, in its order.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The number of rows.
    pub rows: usize,
    /// The columns; each has `rows` rows.
    pub columns: &'a [Column<'a>],
}

impl Batch<'_> {
    /// Calls `each` with the same rows, and one code per row in place of runs.
    pub fn without_runs<T>(&self, each: impl FnOnce(&Batch<'_>) -> T) -> T {
        let mut codes = vec![Vec::new(); self.columns.len()];
        let columns = self.columns.iter().zip(&mut codes).map(|(column, codes)| column.without_runs(codes));
        let columns: Vec<Column<'_>> = columns.collect();
        each(&Batch { rows: self.rows, columns: &columns })
    }
}

/// Appends the code of every row of `column`, with runs expanded. Null rows have an arbitrary code.
///
/// Returns whether the column has codes.
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

/// Like [`codes_of`], for some of the rows.
///
/// # Panics
/// If the column has one code per row and the rows are out of bounds.
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
    fn codes_of_rows_match_slices() {
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
    fn slices_have_the_values_of_their_rows() {
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
