//! Long lists of alternatives, `x in (…)` and chains of `x = … or x = …`: values are looked up in a set.

use brc_core::{Comparison, Predicate};
use foldhash::HashSet;

/// Fewer alternatives are compared one by one.
const MAX_COMPARED_ALTERNATIVES: usize = 8;

/// Ranges of numbers, of which none touches another, in ascending order.
#[derive(Debug)]
pub(crate) struct Ranges {
    lows: Vec<i128>,
    highs: Vec<i128>,
}

impl Ranges {
    fn new(mut ranges: Vec<(i128, i128)>) -> Self {
        ranges.retain(|(low, high)| low <= high);
        ranges.sort_unstable();
        let (mut lows, mut highs): (Vec<i128>, Vec<i128>) = (Vec::new(), Vec::new());
        for (low, high) in ranges {
            match highs.last_mut() {
                Some(last) if low <= last.saturating_add(1) => *last = high.max(*last),
                _ => {
                    lows.push(low);
                    highs.push(high);
                }
            }
        }
        Self { lows, highs }
    }

    pub(crate) fn contain(&self, value: i128) -> bool {
        let not_above = self.lows.partition_point(|&low| low <= value);
        not_above.checked_sub(1).is_some_and(|last| value <= self.highs[last])
    }
}

/// Takes the ranges of each column of which there are many out of alternatives. With `negated`, these are conditions
/// that must all hold, and what is taken out are ranges that values lie outside of.
pub(crate) fn take_ranges(parts: &mut Vec<&Predicate>, negated: bool) -> Vec<(usize, Ranges)> {
    let mut columns: Vec<usize> = parts.iter().filter_map(|part| range(part, negated)).map(|range| range.0).collect();
    columns.sort_unstable();
    let many = columns
        .chunk_by(|one, other| one == other)
        .filter(|same| same.len() > MAX_COMPARED_ALTERNATIVES)
        .map(|same| same[0]);
    let taken = many.map(|column| {
        let of_column = |part: &&Predicate| range(part, negated).is_some_and(|(other, ..)| other == column);
        let ranges = parts.extract_if(.., |part| of_column(part)).filter_map(|part| range(part, negated));
        (column, Ranges::new(ranges.map(|(_, low, high)| (low, high)).collect()))
    });
    taken.collect()
}

/// The range that a condition is, or is the opposite of.
fn range(part: &Predicate, negated: bool) -> Option<(usize, i128, i128)> {
    match part {
        Predicate::Range { column, low, high } if !negated => Some((*column, *low, *high)),
        Predicate::Not(part) => range(part, !negated),
        _ => None,
    }
}

/// A predicate of one string column, made ready.
#[derive(Debug)]
pub(crate) enum TextPredicate {
    Constant(bool),
    Compare(Comparison, Vec<u8>),
    In(HashSet<Vec<u8>>),
    All(Vec<TextPredicate>),
    Any(Vec<TextPredicate>),
    Not(Box<TextPredicate>),
}

impl TextPredicate {
    pub(crate) fn new(predicate: &Predicate) -> Self {
        match predicate {
            Predicate::Constant(holds) => Self::Constant(*holds),
            Predicate::Compare { comparison, value, .. } => Self::Compare(*comparison, value.clone()),
            Predicate::And(parts) => Self::all(parts.iter().map(Self::new).collect()),
            Predicate::Or(parts) => Self::any(parts.iter().map(Self::new).collect()),
            Predicate::Not(part) => Self::not(Self::new(part)),
            // Strings are no numbers.
            Predicate::IsNull { .. } | Predicate::Range { .. } => Self::Constant(false),
        }
    }

    fn any(mut parts: Vec<Self>) -> Self {
        if let Some(values) = many_values(&mut parts, Comparison::Equal) {
            parts.push(Self::In(values));
        }
        Self::Any(parts)
    }

    fn all(mut parts: Vec<Self>) -> Self {
        if let Some(values) = many_values(&mut parts, Comparison::NotEqual) {
            parts.push(Self::Not(Box::new(Self::In(values))));
        }
        Self::All(parts)
    }

    /// The opposite.
    fn not(part: Self) -> Self {
        match part {
            Self::Compare(Comparison::Equal, value) => Self::Compare(Comparison::NotEqual, value),
            Self::Compare(Comparison::NotEqual, value) => Self::Compare(Comparison::Equal, value),
            Self::Not(part) => *part,
            part => Self::Not(Box::new(part)),
        }
    }

    /// Whether it holds for a string.
    pub(crate) fn holds(&self, string: &[u8]) -> bool {
        match self {
            Self::Constant(holds) => *holds,
            Self::Compare(Comparison::Equal, value) => string == value,
            Self::Compare(comparison, value) => comparison.holds(string.cmp(value)),
            Self::In(values) => values.contains(string),
            Self::All(parts) => parts.iter().all(|part| part.holds(string)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(string)),
            Self::Not(part) => !part.holds(string),
        }
    }
}

/// Takes the values that strings are compared with so out of conditions, if these are many.
fn many_values(parts: &mut Vec<TextPredicate>, comparison: Comparison) -> Option<HashSet<Vec<u8>>> {
    let is_so = |part: &TextPredicate| matches!(part, TextPredicate::Compare(other, _) if *other == comparison);
    if parts.iter().filter(|part| is_so(part)).count() <= MAX_COMPARED_ALTERNATIVES {
        return None;
    }
    let value = |part| if let TextPredicate::Compare(_, value) = part { Some(value) } else { None };
    Some(parts.extract_if(.., |part| is_so(part)).filter_map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_contain_what_one_of_them_does(ranges in prop::collection::vec((-20i128..20, -20i128..20), 0..12)) {
            let joined = Ranges::new(ranges.clone());
            for value in -22..22 {
                let expected = ranges.iter().any(|(low, high)| (*low..=*high).contains(&value));
                prop_assert_eq!(joined.contain(value), expected);
            }
        }

        #[test]
        fn long_lists_of_strings_are_those_of_short_ones(
            values in prop::collection::vec("[a-c]{0,2}", 0..20), string in "[a-c]{0,2}", negated: bool
        ) {
            let comparison = if negated { Comparison::NotEqual } else { Comparison::Equal };
            let part = |value: &String| Predicate::Compare { column: 0, comparison, value: value.clone().into_bytes() };
            let parts: Vec<Predicate> = values.iter().map(part).collect();
            let (all, any) = (Predicate::And(parts.clone()), Predicate::Or(parts.clone()));
            let holds = |part: &Predicate| TextPredicate::new(part).holds(string.as_bytes());
            prop_assert_eq!(holds(&all), parts.iter().all(holds));
            prop_assert_eq!(holds(&any), parts.iter().any(holds));
            prop_assert_eq!(holds(&Predicate::Not(Box::new(any))), !parts.iter().any(holds));
        }
    }

    #[test]
    fn only_many_ranges_of_a_column_are_taken() {
        let range = |column, value| Predicate::Range { column, low: value, high: value };
        let outside = |column, value| Predicate::Not(Box::new(range(column, value)));
        let inside: Vec<Predicate> = (0..20).map(|value| range(usize::from(value > 3), value.into())).collect();
        let mut parts: Vec<&Predicate> = inside.iter().collect();
        let taken = take_ranges(&mut parts, false);
        assert_eq!((taken.len(), parts.len(), taken[0].0), (1, 4, 1));
        assert!(taken[0].1.contain(4) && !taken[0].1.contain(3));
        assert!(take_ranges(&mut inside.iter().collect(), true).is_empty());
        let all: Vec<Predicate> = (0..20).map(|value| outside(0, value)).collect();
        assert_eq!(take_ranges(&mut all.iter().collect(), true).len(), 1);
    }
}
