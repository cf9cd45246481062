//! The rows of one column that were read but not delivered yet.

use super::BATCH_ROWS;
use brc_core::{Column, Field, Integers, PhysicalType};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

/// A column that fills up.
pub(crate) enum Gathered {
    /// Strings as codes.
    Strings {
        /// Gives the codes.
        interner: Box<Interner>,
        /// One for each row.
        codes: Vec<u32>,
    },
    /// Decimals in units of the column's scale.
    Numbers(Vec<i64>),
    /// Strings nobody asked for: checked, not kept.
    SkippedStrings,
    /// Decimals nobody asked for.
    SkippedNumbers,
}

impl Gathered {
    /// Room for a batch of a column.
    pub(crate) fn new(field: &Field, wanted: bool) -> Self {
        match field.logical_type.physical() {
            PhysicalType::Integers if wanted => Self::Numbers(Vec::with_capacity(BATCH_ROWS)),
            PhysicalType::Integers => Self::SkippedNumbers,
            _ if wanted => {
                let interner = Box::new(Interner::new(Level::best()));
                Self::Strings { interner, codes: Vec::with_capacity(BATCH_ROWS) }
            }
            _ => Self::SkippedStrings,
        }
    }

    /// The rows so far; none of a column that is skipped.
    pub(crate) fn lend(&self) -> Column<'_> {
        match self {
            Self::Strings { interner, codes } => Column::codes(codes, interner.dictionary()),
            Self::Numbers(numbers) => Column::integers(Integers::I64(numbers)),
            Self::SkippedStrings | Self::SkippedNumbers => Column::integers(Integers::I64(&[])),
        }
    }

    /// Forgets the rows; codes keep their meaning.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }

    /// Forgets all but the first `rows` rows; codes keep their meaning.
    pub(crate) fn truncate(&mut self, rows: usize) {
        match self {
            Self::Strings { codes, .. } => codes.truncate(rows),
            Self::Numbers(numbers) => numbers.truncate(rows),
            Self::SkippedStrings | Self::SkippedNumbers => {}
        }
    }
}
