//! Receives the rows of a scan, or statistics in their place.

use crate::batch::Batch;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::statistics::Statistics;
use std::sync::Arc;

/// Statistics of sets of rows (mostly runs) that all match the predicate. No row is null in a column of the projection.
///
/// A table may have a million sets of a few dozen rows each, so statistics are stored column by column, like rows in a
/// batch, and delivered for many sets at once.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// The number of rows of each set; never 0.
    pub rows: &'a [u32],
    /// One entry per column of the projection, each with as many values as there are sets.
    pub columns: &'a [ColumnSummary<'a>],
}

/// One column of a [`Summary`].
#[derive(Debug, Clone, Copy)]
pub enum ColumnSummary<'a> {
    /// All rows of a set have the same code.
    Codes {
        /// The code of each set.
        codes: &'a [u32],
        /// The dictionary of the codes, as in [`crate::Data::Codes`].
        dictionary: &'a Dictionary,
    },
    /// The statistics of each set's numbers.
    Numbers(Numbers<'a>),
}

/// The statistics of the numbers of several sets of rows; all slices have one value per set, in the same order.
#[derive(Debug, Clone, Copy)]
pub struct Numbers<'a> {
    /// The minimum of each set.
    pub min: &'a [i64],
    /// The maximum of each set.
    pub max: &'a [i64],
    /// The sum of each set.
    pub sum: Sums<'a>,
}

/// Exact sums, in the narrower of two widths that holds them all.
#[derive(Debug, Clone, Copy)]
pub enum Sums<'a> {
    /// Every sum fits 64 bits.
    Narrow(&'a [i64]),
    /// Some sum may not fit 64 bits.
    Wide(&'a [i128]),
}

impl Numbers<'_> {
    /// The number of sets; `None` if the slices differ in length.
    #[must_use]
    pub fn sets(&self) -> Option<usize> {
        let sums = match self.sum {
            Sums::Narrow(sums) => sums.len(),
            Sums::Wide(sums) => sums.len(),
        };
        (self.min.len() == self.max.len() && self.min.len() == sums).then_some(sums)
    }

    /// The statistics of one set, which has `rows` rows.
    ///
    /// # Panics
    /// If `set` is not below [`Numbers::sets`].
    #[must_use]
    pub fn get(&self, set: usize, rows: u32) -> Statistics {
        let sum = match self.sum {
            Sums::Narrow(sums) => sums[set].into(),
            Sums::Wide(sums) => sums[set],
        };
        Statistics { count: rows.into(), sum, min: self.min[set], max: self.max[set] }
    }
}

/// Receives the rows of a scan.
pub trait Sink {
    /// Sets the schema of the rows that follow. Called before the rows of each split if types are inferred, never if
    /// the schema is fixed. The types are no wider than those of [`Table::inferred`](super::Table::inferred) after the
    /// scan.
    ///
    /// # Errors
    /// [`Error::Widened`](crate::Error::Widened) if the sink cannot accept rows of these types.
    fn schema(&mut self, _schema: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    /// Receives some rows.
    ///
    /// # Errors
    /// Any error of the sink; the scan stops and returns it.
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()>;

    /// Evaluates one of the [conjuncts](super::ScanOptions::conjuncts) on a `batch` of its columns and clears the bits
    /// of the rows that do not satisfy it: bit `r % 64` of `rows[r / 64]` belongs to row `r`. Returns the number of
    /// bits still set.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn test(&mut self, _conjunct: usize, _batch: &Batch<'_>, _rows: &mut [u64]) -> Result<usize> {
        unreachable!("the request has no conjuncts")
    }

    /// Whether [`Sink::tested`] reads the column at this position of the projection. Other columns, needed by conjuncts
    /// only, may have no values there.
    fn wants(&self, _position: usize) -> bool {
        true
    }

    /// Announces that the codes in later batches of [`Sink::test`] belong to a different dictionary. Codes in all other
    /// batches keep their meaning.
    fn forget_codes(&mut self) {}

    /// Receives rows that satisfy all [conjuncts](super::ScanOptions::conjuncts): those whose bits are set, or the
    /// whole batch if `None`.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn tested(&mut self, _batch: &Batch<'_>, _rows: Option<&[u64]>) -> Result<()> {
        unreachable!("the request has no conjuncts")
    }

    /// Receives (value, count) rows: row `r` stands for `weights[r]` equal rows, at least one. Called only if
    /// [`ScanOptions::counts`](super::ScanOptions::counts) is set.
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn weighted(&mut self, _batch: &Batch<'_>, _weights: &[u32]) -> Result<()> {
        unreachable!("the request does not allow weighted rows")
    }

    /// Receives summaries instead of rows. Called only if the request allows
    /// [statistics](super::ScanOptions::statistics) or [sums](super::ScanOptions::sums).
    ///
    /// # Errors
    /// As for [`Sink::batch`].
    fn summary(&mut self, _summary: &Summary<'_>) -> Result<()> {
        Err(Error::Usage("statistics are no rows, and the sink did not request them".to_owned()))
    }
}
