//! `a = b`, `a < b` …: two values of one kind. All NaNs are equal and above all numbers, and the two zeros are equal.

use super::{Bound, Function, Mismatch, count, exact, refuse};
use crate::keys::layout::float_key;
use crate::node::Typed;
use crate::vector::ViewData;
use brc_core::{Comparison, LogicalType, PhysicalType};

macro_rules! comparisons {
    ($($name:ident, $symbol:literal, $comparison:ident, $about:literal;)*) => {
        $(pub(super) static $name: Function = Function {
            name: $symbol,
            aliases: &[],
            usage: concat!("a ", $symbol, " b"),
            about: $about,
            bind: |arguments| bind(arguments, Comparison::$comparison),
        };)*

        /// The function that compares so.
        pub(crate) fn function(comparison: Comparison) -> &'static Function {
            match comparison {
                $(Comparison::$comparison => &$name,)*
            }
        }
    };
}

comparisons! {
    EQUAL, "=", Equal, "whether two values are equal";
    NOT_EQUAL, "<>", NotEqual, "whether two values are different";
    LESS, "<", Less, "whether a value is below another";
    LESS_OR_EQUAL, "<=", LessOrEqual, "whether a value is not above another";
    GREATER, ">", Greater, "whether a value is above another";
    GREATER_OR_EQUAL, ">=", GreaterOrEqual, "whether a value is not below another";
}

fn bind(arguments: &[Typed], comparison: Comparison) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a = b")?;
    let (one, other) = (arguments[0].logical_type, arguments[1].logical_type);
    let bytes = |it: LogicalType| it.physical() == PhysicalType::Bytes;
    if bytes(one) && bytes(other) {
        return Ok(Bound::new(LogicalType::Bool, move |views, rows| {
            rows.truths(|row| comparison.holds(views[0].bytes(row).cmp(views[1].bytes(row))))
        }));
    }
    if one.is_numeric() && other.is_numeric() {
        return Ok(numbers(arguments, comparison));
    }
    if one != other {
        return refuse(1, format!("cannot be compared: {one} with"));
    }
    Ok(integers(comparison, [1; 2]))
}

fn numbers(arguments: &[Typed], comparison: Comparison) -> Bound {
    let [one, other] = exact::scales(arguments);
    if arguments.iter().any(|argument| argument.logical_type == LogicalType::Float64) {
        return Bound::new(LogicalType::Bool, move |views, rows| {
            rows.truths(|row| {
                let key = |index: usize, scale| float_key(exact::float(&views[index], scale, row));
                comparison.holds(key(0, one).cmp(&key(1, other)))
            })
        });
    }
    integers(comparison, [exact::factor(one, other), exact::factor(other, one)])
}

fn integers(comparison: Comparison, factors: [i128; 2]) -> Bound {
    Bound::new(LogicalType::Bool, move |views, rows| match (&views[0].data, &views[1].data) {
        (ViewData::Narrow(one), ViewData::Narrow(other)) if factors == [1; 2] => {
            rows.truths(|row| comparison.holds(one[row].cmp(&other[row])))
        }
        _ => rows.truths(|row| {
            let [one, other] = [0, 1].map(|index: usize| views[index].integer(row).checked_mul(factors[index]));
            comparison.holds(match (one, other) {
                (Some(one), Some(other)) => one.cmp(&other),
                // What overflows is further from zero than any value of the other scale.
                (None, _) => views[0].integer(row).cmp(&0),
                (_, None) => 0.cmp(&views[1].integer(row)),
            })
        }),
    })
}
