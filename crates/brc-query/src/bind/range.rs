//! Which values of a column compare in some way with a constant: comparisons become ranges.

use brc_core::{Comparison, Field, Predicate, float_order};

/// A constant among the integers of a column: the largest integer that is not above it, and whether it is that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) floor: i128,
    pub(crate) exact: bool,
}

/// The condition that a column of integers compares so with a constant.
pub(crate) fn of_integers(column: usize, field: &Field, comparison: Comparison, place: Place) -> Predicate {
    let Place { floor, exact } = place;
    let (smallest, largest) = match field.logical_type.fits_64_bits() {
        true => (i64::MIN.into(), i64::MAX.into()),
        false => (i128::MIN, i128::MAX),
    };
    // The first value above, and the first not below.
    let above = floor.saturating_add(1);
    let from = if exact { floor } else { above };
    let (low, high) = match comparison {
        Comparison::Less => (smallest, from.saturating_sub(1)),
        Comparison::LessOrEqual => (smallest, floor),
        Comparison::Greater => (above, largest),
        Comparison::GreaterOrEqual => (from, largest),
        Comparison::Equal => (from, floor),
        Comparison::NotEqual if exact && (smallest..=largest).contains(&floor) => {
            return Predicate::Not(Box::new(Predicate::Range { column, low: floor, high: floor }));
        }
        Comparison::NotEqual => (smallest, largest),
    };
    match (low.max(smallest), high.min(largest)) {
        (low, high) if low <= high => Predicate::Range { column, low, high },
        // No value does; but of a null it is not known.
        _ if field.nullable => Predicate::Range { column, low: largest, high: smallest },
        _ => Predicate::Constant(false),
    }
}

/// The condition that a column of floats compares so with a constant. The two zeros are equal; so are all NaNs, which are
/// above all numbers.
pub(crate) fn of_floats(column: usize, comparison: Comparison, constant: f64) -> Predicate {
    let order = |value: f64| i128::from(float_order(value));
    let range = |low: i128, high: i128| Predicate::Range { column, low, high };
    let (smallest, largest) = (order(f64::NEG_INFINITY), order(f64::INFINITY));
    // NaNs with a sign lie below all numbers.
    let or_nan = |low: i128| Predicate::Or(vec![range(low, i64::MAX.into()), range(i64::MIN.into(), smallest - 1)]);
    let (low, high) = match constant {
        0.0 => (order(-0.0), order(0.0)),
        _ if constant.is_nan() => (largest + 1, largest + 1),
        _ => (order(constant), order(constant)),
    };
    let equal = || if constant.is_nan() { or_nan(low) } else { range(low, high) };
    match comparison {
        Comparison::Equal => equal(),
        Comparison::NotEqual => Predicate::Not(Box::new(equal())),
        Comparison::Less => range(smallest, low - 1),
        Comparison::LessOrEqual if constant.is_nan() => range(i64::MIN.into(), i64::MAX.into()),
        Comparison::LessOrEqual => range(smallest, high),
        Comparison::Greater if constant.is_nan() => range(i64::MAX.into(), i64::MIN.into()),
        Comparison::Greater => or_nan(high + 1),
        Comparison::GreaterOrEqual => or_nan(low),
    }
}
