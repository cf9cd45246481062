//! The forms of dates and times that are detected.

use crate::form::TimeForm;
use std::sync::LazyLock;

/// The starts of values. A form precedes others that parse the same values with the same result.
const STARTS: &[&str] = &[
    "%Y-%m-%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%Y.%m.%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    "%y.%m.%d",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d-%^b-%Y",
    "%d-%^b-%y",
    "%d-%B-%Y",
    "%d%b%Y",
    "%d%^b%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%d. %B %Y",
    "%d/%b/%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%B %d %Y",
    "%Y-%b-%d",
    "%Y %b %d",
    "%a, %d %b %Y",
    "%a %d %b %Y",
    "%a %b %d %Y",
    "%A, %B %d, %Y",
    "%A, %d %B %Y",
    "%a %b %e %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %z %Y",
    "%a %b %d %H:%M:%S %Z %Y",
    "%H:%M",
    "%H:%M:%S",
    "%I:%M %p",
    "%I:%M:%S %p",
    "%I:%M%p",
    "%I:%M %P",
    "%I:%M:%S %P",
    "%I:%M%P",
];

/// Dates of two digits each. All parts have two: `1.2.34` may be a version or a section.
const DOTTED_SHORT_DATES: [&str; 2] = ["%d.%m.%y", "%y.%m.%d"];

/// What may follow a date.
const CLOCKS: &[&str] = &[
    "",
    " %H:%M",
    " %H:%M:%S",
    " %H:%M:%S.%f",
    " %H:%M:%S,%f",
    " %I:%M %p",
    " %I:%M:%S %p",
    " %I:%M%p",
    " %I:%M %P",
    " %I:%M:%S %P",
    ", %H:%M",
    ", %H:%M:%S",
    ", %I:%M %p",
    ", %I:%M:%S %p",
    "T%H:%M",
    "T%H:%M:%S",
    "T%H:%M:%S.%f",
    ":%H:%M:%S",
    ":%H:%M:%S %z",
    " %H:%M:%S %z",
    " %H:%M:%S.%f %z",
    " %H:%M %Z",
    " %H:%M:%S %Z",
    " %H:%M:%S.%f %Z",
];

pub(super) static FORMS: LazyLock<Forms> = LazyLock::new(Forms::new);

/// The forms that are detected.
pub(super) struct Forms {
    pub(super) starts: Vec<TimeForm>,
    /// The starts that are [`DOTTED_SHORT_DATES`].
    pub(super) dotted_short_dates: u64,
    pub(super) clocks: Vec<TimeForm>,
    /// The starts with a numeric day before a numeric month, and those that parse some of the same values differently.
    pub(super) day_first: u64,
    pub(super) month_first: u64,
}

impl Forms {
    fn new() -> Self {
        // An invalid form becomes one that matches only the empty text.
        let compiled = |texts: &[&str]| texts.iter().map(|text| TimeForm::of_terms(text).unwrap_or_default()).collect();
        let bits = |order: [&str; 2]| {
            let has_order = |text: &&str| text.starts_with(order[0]) && text.contains(order[1]);
            (0..)
                .zip(STARTS)
                .filter(|(_, text)| has_order(text))
                .fold(0, |bits, (index, _): (u32, _)| bits | 1 << index)
        };
        let dotted = DOTTED_SHORT_DATES.map(|date| bits([date, date]));
        Self {
            starts: compiled(STARTS),
            dotted_short_dates: dotted[0] | dotted[1],
            clocks: compiled(CLOCKS),
            day_first: bits(["%d", "%m"]),
            month_first: bits(["%m", "%d"]) | dotted[1],
        }
    }
}
