//! Type inference for the values of a column.
//!
//! Each column gets the narrowest type that fits every value. A [`Seen`] records what a value requires of the type. The
//! requirements of several values are combined by [`join`](Seen::join), which is commutative and idempotent: it does
//! not matter which worker sees which rows, or how often.
//!
//! - `true` and `false` in any case are bool.
//! - Digits are `int64`; `uint64` or `decimal(38,0)` if they do not fit. With a fraction they are a decimal, with the
//!   maximum scale of all values and a precision of 18 or 38. Exponents, `inf` and `nan` make the column `float64`,
//!   provided that every value is exactly the same number as a float, or a float that was printed with more digits.
//! - `2024-02-29` is a date, `23:59` and `23:59:59.999` are times, both together a timestamp; followed by `Z` or
//!   `+02:00`, a timestamp with zone. The unit is the coarsest that keeps all digits.
//! - Dates, times and numbers in [other forms](crate::form) are recognised if exactly one form parses all values.
//! - The zero before a decimal point may be missing: `.5`.
//! - Everything else is a string: leading zeros, plus signs, more digits than fit.
//! - [Null tokens](NullTokenSet) are null, unless other values make the column a string.
//!
//! Quotes around a value do not matter.

mod forms;

mod nulls;
mod numbers;
mod time_forms;
mod times;
mod typed;

use crate::form::{Form, GivenForms};
use crate::unquote::within_blanks;
use brc_core::{LogicalType, TimeUnit};
use forms::{FormSet, Reading};
pub use nulls::NullTokenSet;
pub(crate) use numbers::{AsFloat, EXACT_UNITS, MAX_EXACT_DIGITS, as_float, is_exact_float};
use times::{date_of, nanos_per, time_of, too_short};

/// What a set of values requires of the type of their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    flags: u32,
    /// The maximum number of digits before the decimal point, without leading zeros.
    whole: u8,
    /// The maximum and minimum number of decimals.
    scale: u8,
    least_scale: u8,
    /// The finest and the coarsest unit that a time needs, as indexes into [`TimeUnit::ALL`].
    unit: u8,
    least_unit: u8,
    /// The number of units, from the finest on, in which the timestamps overflow.
    too_short: u8,
    /// The null tokens that occurred.
    nulls: NullTokenSet,
    /// The forms, other than the usual one, that parse the values.
    forms: FormSet,
}

const BOOL: u32 = 1;
const NUMBER: u32 = 1 << 1;
const FLOAT: u32 = 1 << 2;
const DATE: u32 = 1 << 3;
const TIME: u32 = 1 << 4;
const TIMESTAMP: u32 = 1 << 5;
const INSTANT: u32 = 1 << 6;
const TEXT: u32 = 1 << 7;
/// A non-finite float as a string: `"NaN"`, `"Infinity"` (JSON only).
const FLOAT_WORD: u32 = 1 << 14;
/// A list or an object (JSON only).
const NESTED: u32 = 1 << 15;
/// A time or number in a form other than the usual one.
const FORMED_TIME: u32 = 1 << 16;
const FORMED_NUMBER: u32 = 1 << 17;
const KINDS: u32 = ((1 << 8) - 1) | FLOAT_WORD | NESTED | FORMED_TIME | FORMED_NUMBER;
const DATE_OR_TIMESTAMP: u32 = DATE | TIMESTAMP;
const FLOAT_OR_NUMBER: u32 = FLOAT | NUMBER;
const FLOAT_OR_WORD: u32 = FLOAT | FLOAT_WORD;
const NUMBER_OR_WORD: u32 = NUMBER | FLOAT_WORD;
const FLOAT_OR_NUMBER_OR_WORD: u32 = FLOAT_OR_NUMBER | FLOAT_WORD;
/// Some number is negative, is outside `int64`, or is outside `uint64` (outside `int64`, if it is negative).
const NEGATIVE: u32 = 1 << 8;
const BEYOND_INT64: u32 = 1 << 9;
const BEYOND_UINT64: u32 = 1 << 10;
/// Some number changes when it is converted to a float.
const INEXACT: u32 = 1 << 11;
/// Some value would be written differently than it was read: as any type but string, or as a float.
const ALTERED: u32 = 1 << 12;
const ALTERED_AS_FLOAT: u32 = 1 << 13;
/// The flags that describe integers.
const OF_INTEGERS: u32 = NEGATIVE | BEYOND_INT64 | BEYOND_UINT64;
/// Some number in the usual form cannot have a thousands separator for its point: it does not have one to three digits,
/// optionally followed by three decimals.
const UNGROUPED: u32 = 1 << 18;
/// Some number in another form has both a comma and a point, or several points: they show which of them separates
/// thousands.
const GROUPED: u32 = 1 << 20;
/// Some number in another form has one to three digits, a separator and three digits, which may be thousands or
/// decimals.
const SHORT_GROUP: u32 = 1 << 19;
/// Some number in another form has a separator after one or two digits.
const SHORT_LEAD: u32 = 1 << 21;
/// The decimals of some number in another form end in a zero.
const ENDS_IN_ZERO: u32 = 1 << 22;
/// Some number has blanks between digits, and no decimals: it may be a phone number.
const SPACED_DIGITS: u32 = 1 << 23;
/// Some text is a list of whole numbers: `255,0,0`.
const LIST: u32 = 1 << 24;
/// Some time of day has no seconds, and some has.
const SHORT_CLOCK: u32 = 1 << 25;
const LONG_CLOCK: u32 = 1 << 26;
const CLOCKS: u32 = SHORT_CLOCK | LONG_CLOCK;

impl Default for Seen {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Seen {
    /// No values.
    pub const NOTHING: Self = Self {
        flags: 0,
        whole: 0,
        scale: 0,
        least_scale: u8::MAX,
        unit: 0,
        least_unit: u8::MAX,
        too_short: 0,
        nulls: NullTokenSet::EMPTY,
        forms: FormSet::ALL,
    };

    /// A string that is not a value of any other type.
    pub const TEXT: Self = Self { flags: TEXT, ..Self::NOTHING };

    /// A list or an object: with other values, a string that holds its JSON text. A column of nothing else has no type.
    pub const NESTED: Self = Self { flags: NESTED, ..Self::NOTHING };

    /// What `true` or `false` requires.
    pub const BOOL: Self = Self { flags: BOOL, ..Self::NOTHING };

    /// A string in a format that distinguishes strings from numbers and booleans, as JSON does: `"123"` is a string.
    /// Such formats have no syntax for dates and times, so strings may be dates or times; and among numbers, `NaN`,
    /// `Infinity` and `-Infinity` are floats.
    #[must_use]
    pub fn of_string(text: &[u8]) -> Self {
        let seen = match text.first() {
            // `12:30` may be a score.
            Some(b'0'..=b'9') if text.get(2) == Some(&b':') && text.len() >= 8 => time_of(text),
            Some(b'0'..=b'9') if text.len() >= 10 && text[4] == b'-' => date_of(text),
            Some(b'N' | b'I' | b'-') if matches!(text, b"NaN" | b"Infinity" | b"-Infinity") => {
                Some(Self { flags: FLOAT_WORD, ..Self::NOTHING })
            }
            _ => None,
        };
        seen.unwrap_or(Self::TEXT)
    }

    /// Whether there are only dates and times in a form other than the usual one.
    pub(crate) fn is_formed_time(self) -> bool {
        self.flags & KINDS == FORMED_TIME
    }

    /// Whether some value is a plain string, so that no other value can change the type.
    #[must_use]
    pub fn is_text(self) -> bool {
        self.flags & TEXT != 0
    }

    /// Whether some text is a list of whole numbers with two or more commas.
    #[must_use]
    pub fn has_lists(self) -> bool {
        self.flags & LIST != 0
    }

    /// Whether there are only lists or objects.
    #[must_use]
    pub fn is_nested(self) -> bool {
        self.flags & KINDS == NESTED
    }

    /// What a value requires, if null tokens are recognised. Null tokens require nothing.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        match NullTokenSet::of(text) {
            Some(nulls) => Self { nulls, ..Self::NOTHING },
            None => Self::of_value(text),
        }
    }

    /// What a value requires, if null tokens are not recognised.
    #[must_use]
    pub fn of_value(text: &[u8]) -> Self {
        let seen = match text.first() {
            Some(b't' | b'T' | b'f' | b'F') => bool_of(text),
            Some(b'0'..=b'9') if text.get(2) == Some(&b':') => time_of(text),
            Some(b'0'..=b'9') if text.len() >= 10 && text[4] == b'-' => date_of(text),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'i' | b'I' | b'n' | b'N') => numbers::seen(text),
            _ => None,
        };
        seen.or_else(|| forms::seen(text)).unwrap_or_else(|| match is_list(text) {
            true => Self { flags: TEXT | LIST, ..Self::NOTHING },
            false => Self::TEXT,
        })
    }

    /// What a field requires, given the forms that the user sets. Blanks within quotes, or around a field of a text
    /// whose blanks are not trimmed, are part of a string, but not of a number or time.
    #[must_use]
    pub fn of_field(text: &[u8], infer_nulls: bool, given: &GivenForms) -> Self {
        let of = |text: &[u8]| if infer_nulls { Self::of(text) } else { Self::of_value(text) }.in_forms(text, given);
        let (seen, trimmed) = (of(text), &text[within_blanks(text)]);
        if !seen.is_text() || trimmed.len() == text.len() {
            return seen;
        }
        let seen = of(trimmed);
        Self { flags: seen.flags | ALTERED | ALTERED_AS_FLOAT, ..seen }
    }

    /// What integers within these bounds require, as decimals of that scale.
    #[must_use]
    pub fn of_range(min: i128, max: i128, scale: u8) -> Self {
        let most = min.unsigned_abs().max(max.unsigned_abs()) / 10u128.pow(scale.min(38).into());
        let whole = most.checked_ilog10().map_or(0, |digits| digits as u8 + 1);
        Self { flags: if min < 0 { NEGATIVE } else { 0 }, whole, ..Self::NOTHING }
    }

    /// What a number with `whole` digits before the point and `scale` after it requires, if it is exact as a float.
    #[must_use]
    pub fn of_digits(whole: u8, scale: u8) -> Self {
        Self { flags: NUMBER, whole, scale, least_scale: scale, ..Self::NOTHING }
    }

    /// What timestamps within these bounds require.
    #[must_use]
    pub fn of_times(min: i64, max: i64, unit: TimeUnit) -> Self {
        let of_bound = |bound: i64| too_short(i128::from(bound) * nanos_per(unit));
        let too_short = of_bound(min).max(of_bound(max));
        Self { too_short, ..Self::NOTHING }
    }

    /// Records that some number is inexact as a float.
    #[must_use]
    pub fn inexact() -> Self {
        Self { flags: INEXACT, ..Self::NOTHING }
    }

    /// Records that the point of some number is not a thousands separator.
    pub(crate) fn ungrouped() -> Self {
        Self { flags: UNGROUPED, ..Self::NOTHING }
    }

    /// Whether the point of some number is not a thousands separator.
    #[must_use]
    pub fn is_ungrouped(self) -> bool {
        self.flags & UNGROUPED != 0
    }

    /// What the values of both require.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            flags: self.flags | other.flags,
            whole: self.whole.max(other.whole),
            scale: self.scale.max(other.scale),
            least_scale: self.least_scale.min(other.least_scale),
            unit: self.unit.max(other.unit),
            least_unit: self.least_unit.min(other.least_unit),
            too_short: self.too_short.max(other.too_short),
            nulls: self.nulls.union(other.nulls),
            forms: self.forms.join(other.forms),
        }
    }

    /// The narrowest type that fits the values; `None` if there are none. With `exact`, a type that reproduces the text
    /// of each value, without the help of forms.
    #[must_use]
    pub fn logical_type(self, exact: bool) -> Option<LogicalType> {
        self.type_in(exact, &GivenForms::default())
    }

    /// The type, if the user has set forms.
    #[must_use]
    pub fn type_in(self, exact: bool, given: &GivenForms) -> Option<LogicalType> {
        self.type_and_form(exact, given).0
    }

    /// The type, and the form of the values if it is not the usual one.
    #[must_use]
    pub fn type_and_form(self, exact: bool, given: &GivenForms) -> (Option<LogicalType>, Option<Form>) {
        match self.reading(given) {
            Reading::Usual => (self.usual_type(exact), None),
            Reading::Formed(logical_type, form) if !exact => (Some(logical_type), Some(form)),
            Reading::Formed(..) | Reading::Ambiguous(_) => (Some(LogicalType::String), None),
        }
    }

    /// The form of the values, if it is not the usual one.
    #[must_use]
    pub fn form(self, given: &GivenForms) -> Option<Form> {
        self.type_and_form(false, given).1
    }

    /// Two forms that both parse all values differently, if there are such; the column is text then.
    #[must_use]
    pub fn ambiguity(self, given: &GivenForms) -> Option<[Form; 2]> {
        if let Reading::Ambiguous(forms) = self.reading(given) { Some(forms) } else { None }
    }

    fn usual_type(self, exact: bool) -> Option<LogicalType> {
        let unit = TimeUnit::ALL[usize::from(self.unit.min(3))];
        let fits = self.unit + self.too_short <= 3;
        let logical_type = match self.kinds() {
            0 | NESTED if self.nulls.is_empty() => return None,
            BOOL => LogicalType::Bool,
            NUMBER => self.number(),
            FLOAT | FLOAT_OR_NUMBER | FLOAT_OR_WORD | NUMBER_OR_WORD | FLOAT_OR_NUMBER_OR_WORD
                if self.fits_floats() =>
            {
                LogicalType::Float64
            }
            DATE => LogicalType::Date,
            TIME => LogicalType::Time { unit },
            TIMESTAMP | DATE_OR_TIMESTAMP if fits => LogicalType::Timestamp { unit, zone: false },
            INSTANT if fits => LogicalType::Timestamp { unit, zone: true },
            _ => LogicalType::String,
        };
        Some(if exact && self.is_altered() { LogicalType::String } else { logical_type })
    }

    /// Whether there are no values apart from null tokens, so that the first value determines the type.
    #[must_use]
    pub fn is_untyped(self) -> bool {
        self.kinds() == 0
    }

    /// The null tokens that are null in a column of this type.
    #[must_use]
    pub fn null_tokens(self, logical_type: LogicalType) -> NullTokenSet {
        self.nulls.in_column_of(logical_type)
    }

    /// The kinds of the values. `NaN` counts as a float only among floats and decimals, or alone.
    fn kinds(self) -> u32 {
        let kinds = self.flags & KINDS;
        let is_float = match kinds {
            0 => self.nulls.without_nan().is_empty(),
            NUMBER => self.scale > 0 && self.fits_floats(),
            _ => kinds & FLOAT != 0,
        };
        if is_float && self.nulls.has_nan() { kinds | FLOAT } else { kinds }
    }

    /// Whether some times of day have seconds, others do not, and some hour has one digit. They may be durations: `5:12`
    /// beside `1:02:03` is hardly five hours.
    fn may_be_durations(self) -> bool {
        self.flags & CLOCKS == CLOCKS && self.flags & FORMED_TIME != 0
    }

    /// Whether every number is exact as a float.
    fn fits_floats(self) -> bool {
        self.flags & INEXACT == 0 && self.whole + self.scale <= 38
    }

    fn number(self) -> LogicalType {
        let is = |flag| self.flags & flag != 0;
        match (self.scale, self.whole + self.scale) {
            (0, _) if !is(BEYOND_INT64) => LogicalType::Int64,
            (0, _) if !is(BEYOND_UINT64) && !is(NEGATIVE) => LogicalType::UInt64,
            (1.., ..=18) => LogicalType::Decimal { precision: 18, scale: self.scale },
            (_, ..=38) => LogicalType::Decimal { precision: 38, scale: self.scale },
            _ => LogicalType::String,
        }
    }

    /// Whether some value would be written differently than it was read.
    fn is_altered(self) -> bool {
        let kinds = self.kinds();
        let is_float = kinds & FLOAT != 0;
        let nulls = if is_float { self.nulls.without_nan() } else { self.nulls };
        !nulls.is_empty()
            || (is_float && self.nulls.has_altered_nan())
            || self.flags & ALTERED != 0
            || (kinds == NUMBER && self.least_scale < self.scale)
            || (is_float && self.flags & ALTERED_AS_FLOAT != 0)
            || (kinds & (TIME | TIMESTAMP | INSTANT) != 0 && self.least_unit < self.unit)
            || kinds == DATE_OR_TIMESTAMP
    }
}

/// Whether a text has whole numbers with two or more commas between them, possibly one at its end.
fn is_list(text: &[u8]) -> bool {
    let is_number = |number: &[u8]| !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let are_numbers = || text.strip_suffix(b",").unwrap_or(text).split(|byte| *byte == b',').all(is_number);
    text.first().is_some_and(u8::is_ascii_digit) && memchr::memchr_iter(b',', text).count() >= 2 && are_numbers()
}

fn bool_of(text: &[u8]) -> Option<Seen> {
    let lower = [&b"true"[..], b"false"].into_iter().find(|word| text.eq_ignore_ascii_case(word))?;
    Some(Seen { flags: if text == lower { BOOL } else { BOOL | ALTERED }, ..Seen::NOTHING })
}

#[cfg(test)]
pub(crate) mod tests;
