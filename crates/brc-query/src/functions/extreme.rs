//! What `greatest` and `least` have in common. Floats are ordered as everywhere: NaN is above all numbers.

use super::{Bound, Mismatch, count, refuse};
use crate::functions::typed::Typed;
use crate::values::float_key::float_key;
use brc_core::{LogicalType, PhysicalType};
use std::cmp::Ordering;

/// How many values are compared at most.
pub(crate) const MAX_VALUES: usize = 64;

/// The value that is `wanted` compared with all others. The binder makes all of one type, and none null unless all are.
pub(super) fn bound(arguments: &[Typed], usage: &str, wanted: Ordering) -> Result<Bound, Mismatch> {
    count(arguments, 1..=usize::MAX, usage)?;
    if arguments.len() > MAX_VALUES {
        return refuse(usize::MAX, format!("takes at most {MAX_VALUES} values"));
    }
    let output = arguments[0].logical_type;
    if let Some(index) = arguments.iter().position(|argument| argument.logical_type != output) {
        return refuse(index, format!("needs values of one type, {output}"));
    }
    Ok(match output.physical() {
        PhysicalType::Integers if output == LogicalType::Bool => Bound::new(output, move |views, rows| {
            rows.truths(|row| extreme(views.iter().map(|view| view.narrow(row)), wanted, i64::cmp) == Some(1))
        }),
        PhysicalType::Integers => Bound::new(output, move |views, rows| {
            rows.integers(output, |row| Ok(extreme(views.iter().map(|view| view.integer(row)), wanted, i128::cmp)))
        }),
        PhysicalType::Floats => Bound::new(output, move |views, rows| {
            let compare = |one: &f64, other: &f64| float_key(*one).cmp(&float_key(*other));
            rows.floats(|row| extreme(views.iter().map(|view| view.float(row)), wanted, compare).unwrap_or(0.0))
        }),
        PhysicalType::Bytes => Bound::new(output, move |views, rows| {
            rows.strings(|row, out| {
                let found = extreme(views.iter().map(|view| view.bytes(row)), wanted, Ord::cmp);
                out.extend_from_slice(found.unwrap_or_default());
            })
        }),
    })
}

/// The first value of those that no other goes beyond.
fn extreme<T>(values: impl Iterator<Item = T>, wanted: Ordering, compare: impl Fn(&T, &T) -> Ordering) -> Option<T> {
    values.reduce(|found, value| if compare(&value, &found) == wanted { value } else { found })
}
