//! Null tokens: words that represent a missing value.
//!
//! Programs and people write `NA`, `NULL` or `-` where a number or a date is missing. Such a word does not make a
//! column a string: it is null if all other values have a type of their own, and a string among strings.

use brc_core::LogicalType;

/// The null tokens of R, pandas, databases, spreadsheets and people, and the errors that spreadsheets write in place of a
/// number. The empty one is `""` in quotes.
const TOKENS: [&str; 41] = [
    "NaN", "nan", "", "NA", "N/A", "n/a", "na", "<NA>", "#N/A", "#NA", "NULL", "null", "Null", "(null)", "<null>",
    "nil", "None", "none", "\\N", "-", "--", "---", ".", "..", "?", "N.A.", "NaT", "(NULL)", "<NULL>", "[NULL]",
    "[null]", "NIL", "NONE", "–", "—", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!",
];

/// The bits of `NaN` and `nan`, which are numbers among floats.
const NANS: u64 = 0b11;

/// A set of null tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NullTokenSet(u64);

impl NullTokenSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set of the token that a value equals; `None` if it equals none.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        if text.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let longest = TOKENS.iter().map(|token| token.len()).max()?;
        if text.len() > longest {
            return None;
        }
        TOKENS.iter().position(|token| token.as_bytes() == text).map(|token| Self(1 << token))
    }

    /// The tokens in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a token may be a float.
    pub(super) fn has_nan(self) -> bool {
        self.0 & NANS != 0
    }

    /// Whether a token may be a float that would be written differently.
    pub(super) fn has_altered_nan(self) -> bool {
        self.0 & 0b10 != 0
    }

    /// The tokens that can only be null or a string.
    pub(super) fn without_nan(self) -> Self {
        Self(self.0 & !NANS)
    }

    /// The tokens that are null in a column of this type.
    #[must_use]
    pub fn in_column_of(self, logical_type: LogicalType) -> Self {
        match logical_type {
            LogicalType::String | LogicalType::Binary => Self::EMPTY,
            float if float.is_float() => self.without_nan(),
            _ => self,
        }
    }

    /// The tokens.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        TOKENS.iter().enumerate().filter(move |(token, _)| self.0 & (1 << token) != 0).map(|(_, text)| *text)
    }
}
