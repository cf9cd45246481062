//! Counts the values of a column by their types, to tell why it is text. [`Tally`] is for tables whose values have
//! types of their own; a text has another, of values that are parsed.

use brc_core::{DoubtfulText, LogicalType, TextPlace, TextReason};
use brc_text::infer::Seen;

/// How many first rows tell which columns may be text because of a few values: 1 ms for ten columns of words with
/// digits.
pub(crate) const START_ROWS: usize = 100;

/// Numbers, dates, times, timestamps, booleans, text.
pub(crate) const CLASSES: usize = 6;
pub(crate) const TEXT: usize = CLASSES - 1;

/// The class of a type.
pub(crate) fn class_of(logical_type: LogicalType) -> usize {
    match logical_type {
        numeric if numeric.is_numeric() => 0,
        LogicalType::Date | LogicalType::Timestamp { zone: false, .. } => 1,
        LogicalType::Time { .. } => 2,
        LogicalType::Timestamp { zone: true, .. } => 3,
        LogicalType::Bool => 4,
        _ => TEXT,
    }
}

/// The class of at least half of the values, unless it is text, by the number of values of each class.
pub(crate) fn most_of(counts: [u64; CLASSES]) -> Option<usize> {
    let values: u64 = counts.iter().sum();
    let most = (0..TEXT).max_by_key(|&class| counts[class])?;
    (values > 0 && 2 * counts[most] >= values).then_some(most)
}

/// The maximum number of bytes of an example.
const MAX_EXAMPLE: usize = 40;

/// The values of a column by their types.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    classes: [Class; CLASSES],
    values: u64,
}

#[derive(Debug, Clone)]
struct Class {
    values: u64,
    seen: Seen,
    /// The first value and its place, and the number of values before it.
    first: Option<(u64, Vec<u8>, TextPlace)>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let class = |_| Class { values: 0, seen: Seen::NOTHING, first: None };
        Self { classes: std::array::from_fn(class), values: 0 }
    }

    /// Counts a value that is not null, by what it demands of a type.
    pub(crate) fn add(&mut self, seen: Seen, value: &[u8], place: TextPlace) {
        let class = &mut self.classes[class_of(seen.logical_type(false).unwrap_or(LogicalType::String))];
        class.values += 1;
        class.seen = class.seen.join(seen);
        class.first.get_or_insert_with(|| (self.values, shortened(value), place));
        self.values += 1;
    }

    /// The class of at least half of the values, unless it is text, and its type.
    fn most(&self) -> Option<(usize, LogicalType)> {
        let most = most_of(self.classes.each_ref().map(|class| class.values))?;
        Some((most, self.classes[most].seen.logical_type(false).unwrap_or(LogicalType::String)))
    }

    /// The first value unlike most others, if most are no text.
    pub(crate) fn why_text(&self) -> Option<TextReason> {
        let (most, expected) = self.most()?;
        let others = self.classes.iter().enumerate().filter(|(class, _)| *class != most);
        let first = others.filter_map(|(_, class)| class.first.as_ref()).min_by_key(|(before, ..)| *before);
        let (_, value, place) = first?.clone();
        let (values, others) = (self.values, self.values - self.classes[most].values);
        let (is_usual, may_reject) = (true, false);
        Some(TextReason::Others { value, others, values, place, file: None, expected, is_usual, may_reject })
    }

    /// The type of most values of a column, if it is not text.
    pub(crate) fn doubtful(&self, column: usize) -> Option<DoubtfulText> {
        let (most, expected) = self.most()?;
        let others = self.values - self.classes[most].values;
        let has_slips = TextReason::are_slips(others, self.values);
        Some(DoubtfulText { column, expected, has_slips, may_reject: false })
    }
}

fn shortened(value: &[u8]) -> Vec<u8> {
    match value.get(..MAX_EXAMPLE) {
        Some(start) if value.len() > MAX_EXAMPLE => [start, "…".as_bytes()].concat(),
        _ => value.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(values: &[(Seen, &str)]) -> Tally {
        let mut tally = Tally::new();
        for ((seen, value), line) in values.iter().zip(1..) {
            tally.add(*seen, value.as_bytes(), TextPlace::Line(line));
        }
        tally
    }

    #[test]
    fn the_first_value_unlike_most_is_named() {
        let number = |text: &'static str| (Seen::of_value(text.as_bytes()), text);
        let mixed = tally(&[number("9"), (Seen::TEXT, "\"24\""), number("1.5"), (Seen::BOOL, "true")]);
        let reason = mixed.why_text().unwrap().of("p");
        assert_eq!(reason, "'p' is text because of '\"24\"' (2 of 4 values, line 2); use try_cast(p as decimal(18,1))");
        assert_eq!(mixed.doubtful(3).unwrap().expected, LogicalType::decimal(1));
        let words = tally(&[number("9"), (Seen::TEXT, "a"), (Seen::TEXT, "b")]);
        assert!(words.why_text().is_none() && words.doubtful(0).is_none());
        assert!(tally(&[]).why_text().is_none() && tally(&[number("9")]).why_text().is_none());
    }

    #[test]
    fn long_examples_are_shortened() {
        let long = shortened("x".repeat(100).as_bytes());
        assert_eq!(String::from_utf8(long).unwrap(), "x".repeat(40) + "…");
    }
}
