//! The values of a column that compare with a constant in some way, as a range.

use super::constant::Tested;
use crate::values::number::Number;
use brc_core::{Comparison, Predicate, float_order};
use std::cmp::Ordering;

/// A constant among the integers of a column: the largest integer that is not above it, and whether it is that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerFloor {
    pub(crate) floor: i128,
    pub(crate) exact: bool,
}

/// The condition that a column of integers compares so with a constant.
pub(super) fn of_integers(tested: Tested, comparison: Comparison, place: IntegerFloor) -> Predicate {
    let (Tested { column, of, .. }, IntegerFloor { floor, exact }) = (tested, place);
    let (smallest, largest) = match of.fits_64_bits() {
        true => (i64::MIN.into(), i64::MAX.into()),
        false => (i128::MIN, i128::MAX),
    };
    // Beyond the ends of 128 bits there is no value, and none next to them.
    let is_least = exact && floor == i128::MIN && comparison == Comparison::Less;
    let is_most = floor == i128::MAX && comparison == Comparison::Greater;
    if is_least || is_most {
        return no_value(tested, smallest, largest);
    }
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
        _ => no_value(tested, smallest, largest),
    }
}

/// No value does; but of a null it is not known.
fn no_value(Tested { column, nullable, .. }: Tested, smallest: i128, largest: i128) -> Predicate {
    match nullable {
        true => Predicate::Range { column, low: largest, high: smallest },
        false => Predicate::Constant(false),
    }
}

/// A constant among floats: the largest float that is not above it, and whether it is that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FloatFloor {
    pub(crate) floor: f64,
    pub(crate) exact: bool,
}

impl FloatFloor {
    /// That of a number. One that is not whole, or has an exponent, is replaced by the nearest float.
    pub(crate) fn of(number: &Number) -> Self {
        let nearest = number.to_float();
        if number.is_float() {
            return Self { floor: nearest, exact: true };
        }
        match number.compare_with_whole(nearest) {
            Ordering::Less => Self { floor: nearest.next_down(), exact: false },
            order => Self { floor: nearest, exact: order.is_eq() },
        }
    }
}

/// The condition that a column of floats compares so with a constant. The two zeros are equal; so are all NaNs, which
/// are above all numbers.
pub(crate) fn of_floats(column: usize, comparison: Comparison, place: FloatFloor) -> Predicate {
    let constant = place.floor;
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
    let none = || range(i64::MAX.into(), i64::MIN.into());
    match comparison {
        Comparison::Equal if !place.exact => none(),
        Comparison::NotEqual if !place.exact => Predicate::Not(Box::new(none())),
        Comparison::Less if !place.exact => range(smallest, high),
        Comparison::GreaterOrEqual if !place.exact => or_nan(high + 1),
        Comparison::Equal => equal(),
        Comparison::NotEqual => Predicate::Not(Box::new(equal())),
        Comparison::Less => range(smallest, low - 1),
        Comparison::LessOrEqual if constant.is_nan() => range(i64::MIN.into(), i64::MAX.into()),
        Comparison::LessOrEqual => range(smallest, high),
        Comparison::Greater if constant.is_nan() => none(),
        Comparison::Greater => or_nan(high + 1),
        Comparison::GreaterOrEqual => or_nan(low),
    }
}
