//! Decimal constants of any length, and what a comparison with one means for a column of some scale.

use brc_core::Comparison;

/// A decimal constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    negative: bool,
    whole: String,
    decimals: String,
}

/// The values of a column that compare so with a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// Those from the first to the second.
    Inside(i64, i64),
    /// All but this one.
    Except(i64),
    /// None.
    None,
}

impl Number {
    /// Takes a number apart that the lexer found: an optional `-`, digits, and optionally a point and digits.
    pub(super) fn new(text: &str) -> Self {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        Self { negative, whole: whole.to_owned(), decimals: decimals.to_owned() }
    }

    /// The values of a column of that scale for which `value <comparison> self` holds.
    pub(super) fn range(&self, comparison: Comparison, scale: u8) -> Range {
        let (floor, exact) = self.floor(scale);
        let (smallest, largest) = (i128::from(i64::MIN), i128::from(i64::MAX));
        // The first value above, and the first not below.
        let above = floor + 1;
        let from = if exact { floor } else { above };
        let (low, high) = match comparison {
            Comparison::Less => (smallest, from - 1),
            Comparison::LessOrEqual => (smallest, floor),
            Comparison::Greater => (above, largest),
            Comparison::GreaterOrEqual => (from, largest),
            Comparison::Equal => (from, floor),
            Comparison::NotEqual => match i64::try_from(floor) {
                Ok(value) if exact => return Range::Except(value),
                _ => (smallest, largest),
            },
        };
        let (low, high) = (low.max(smallest), high.min(largest));
        // Both lie between the ends of 64 bits now, unless the range is empty.
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) if low <= high => Range::Inside(low, high),
            _ => Range::None,
        }
    }

    /// The largest integer not above the number times ten to the power of `scale`, and whether it equals that. Beyond 64
    /// bits it is only as exact as to stay beyond.
    fn floor(&self, scale: u8) -> (i128, bool) {
        const FAR: i128 = 1 << 100;
        let scale = usize::from(scale);
        let (kept, cut) = self.decimals.split_at(scale.min(self.decimals.len()));
        let zeros = scale - kept.len();
        let digits = self.whole.bytes().chain(kept.bytes()).chain(std::iter::repeat_n(b'0', zeros));
        let truncated = digits.fold(0i128, |value, digit| (value * 10 + i128::from(digit - b'0')).min(FAR));
        let exact = cut.bytes().all(|digit| digit == b'0');
        match (self.negative, exact) {
            (false, _) => (truncated, exact),
            (true, true) => (-truncated, true),
            (true, false) => (-truncated - 1, false),
        }
    }
}
