//! Words that stand for a missing value.
//!
//! Programs and people write `NA`, `NULL` or `-` where a number or a date is missing. Such a word makes no column a string
//! by itself: it is null where all other values have a type of their own, and a string among strings.

use brc_core::LogicalType;

/// The words, as R, pandas, databases, spreadsheets and people write them. The empty one is `""` in quotes.
const TOKENS: [&str; 26] = [
    "NaN", "nan", "", "NA", "N/A", "n/a", "na", "<NA>", "#N/A", "#NA", "NULL", "null", "Null", "(null)", "<null>",
    "nil", "None", "none", "\\N", "-", "--", "---", ".", "..", "?", "N.A.",
];

/// `NaN` and `nan`, which are numbers among floats.
const NANS: u32 = 0b11;

/// Some of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NullTokenSet(u32);

impl NullTokenSet {
    /// None of them.
    pub const EMPTY: Self = Self(0);

    /// The word that a value is; `None` if it is none of them.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let longest = TOKENS.iter().map(|token| token.len()).max()?;
        if text.len() > longest {
            return None;
        }
        TOKENS.iter().position(|token| token.as_bytes() == text).map(|token| Self(1 << token))
    }

    /// Those of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether there is one that may be a float.
    pub(super) fn has_nan(self) -> bool {
        self.0 & NANS != 0
    }

    /// Whether there is one that may be a float, and is written in another way than floats are.
    pub(super) fn has_altered_nan(self) -> bool {
        self.0 & 0b10 != 0
    }

    /// Those that may be nothing but null or a string.
    pub(super) fn without_nan(self) -> Self {
        Self(self.0 & !NANS)
    }

    /// Those that are null in a column of this type.
    #[must_use]
    pub fn in_column_of(self, logical_type: LogicalType) -> Self {
        match logical_type {
            LogicalType::String | LogicalType::Binary => Self::EMPTY,
            float if float.is_float() => self.without_nan(),
            _ => self,
        }
    }

    /// The words.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        TOKENS.iter().enumerate().filter(move |(token, _)| self.0 & (1 << token) != 0).map(|(_, text)| *text)
    }
}
