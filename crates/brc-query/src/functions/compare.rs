//! `a = b`, `a < b` …: two values of one kind, each as what it is: no side is cast to the type of the other, so that
//! numbers of any types compare exactly, and dates compare with timestamps that are too fine to reach them. All NaNs
//! are equal and above all numbers, and the two zeros are equal.

use super::temporal::Clock;
use super::{Bound, Function, Mismatch, count, exact, mixed_order, refuse};
use crate::functions::typed::Typed;
use crate::values::float_key::float_key;
use crate::values::selection::set_rows;
use crate::values::view::View;
use brc_core::{Comparison, Data, Integers, LogicalType, PhysicalType};
use brc_kernels::arithmetic::{self, Line};
use brc_kernels::cpu::Level;
use brc_kernels::direct::integer_bounds;
use brc_kernels::filter::{compare_floats, compare_integers, words};
use std::borrow::Cow;
use std::cmp::Ordering;

macro_rules! comparisons {
    ($($name:ident, $symbol:literal, $comparison:ident, $about:literal, $example:expr;)*) => {
        $(pub(super) static $name: Function = Function {
            name: $symbol,
            aliases: &[],
            usage: concat!("a ", $symbol, " b"),
            about: $about,
            example: $example,
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
    EQUAL, "=", Equal, "whether a and b are equal; numbers of any types compare exactly",
        ("0.1 + 0.2 = 0.3", "true");
    NOT_EQUAL, "<>", NotEqual, "whether a and b differ; also !=", ("'a' <> 'b'", "true");
    LESS, "<", Less, "whether a is less than b", ("2 < 10", "true");
    LESS_OR_EQUAL, "<=", LessOrEqual, "whether a is at most b", ("'b' <= 'a'", "false");
    GREATER, ">", Greater, "whether a is greater than b", ("date '2024-02-01' > date '2024-01-31'", "true");
    GREATER_OR_EQUAL, ">=", GreaterOrEqual, "whether a is at least b", ("2 >= 2", "true");
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
    // Of two types, one has a multiple of the units of the other.
    match (Clock::of_type(one), Clock::of_type(other)) {
        (Some(one), Some(other)) if one.has_date == other.has_date => {
            let most = one.per_day.max(other.per_day);
            Ok(integers(comparison, [(most / one.per_day).into(), (most / other.per_day).into()]))
        }
        _ if one == other => Ok(integers(comparison, [1; 2])),
        _ => refuse(1, format!("cannot be compared: {one} with")),
    }
}

fn numbers(arguments: &[Typed], comparison: Comparison) -> Bound {
    let scales @ [one, other] = exact::scales(arguments);
    let is_float = |index: usize| arguments[index].logical_type.physical() == PhysicalType::Floats;
    let are_floats = [is_float(0), is_float(1)];
    if are_floats == [false; 2] {
        return integers(comparison, [exact::factor(one, other), exact::factor(other, one)]);
    }
    let order = move |views: &[View<'_>], row: usize| match are_floats {
        [true, true] => float_key(views[0].float(row)).cmp(&float_key(views[1].float(row))),
        [true, false] => mixed_order::compare(views[1].integer(row), other, views[0].float(row)).reverse(),
        [false, _] => mixed_order::compare(views[0].integer(row), one, views[1].float(row)),
    };
    let bound =
        Bound::new(LogicalType::Bool, move |views, rows| rows.truths(|row| comparison.holds(order(views, row))));
    Bound { compared: Some(Compared { comparison, kind: Kind::Floats(scales) }), ..bound }
}

fn integers(comparison: Comparison, factors: [i128; 2]) -> Bound {
    let bound = Bound::new(LogicalType::Bool, move |views, rows| {
        rows.truths(|row| {
            let [one, other] = [0, 1].map(|index: usize| views[index].integer(row).checked_mul(factors[index]));
            comparison.holds(match (one, other) {
                (Some(one), Some(other)) => one.cmp(&other),
                // What overflows is further from zero than any value of the other scale.
                (None, _) => views[0].integer(row).cmp(&0),
                (_, None) => 0.cmp(&views[1].integer(row)),
            })
        })
    });
    Bound { compared: Some(Compared { comparison, kind: Kind::Integers(factors) }), ..bound }
}

/// A comparison of numbers, for many rows at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared {
    comparison: Comparison,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// `one * factor` is compared with `other * factor`.
    Integers([i128; 2]),
    /// One side is of floats; an exact number on the other has this scale.
    Floats([u8; 2]),
}

impl Compared {
    /// The bits of the rows in which it holds; `None` if these columns cannot be compared so.
    pub(crate) fn mask(&self, level: Level, one: Data<'_>, other: Data<'_>, rows: usize) -> Option<Vec<u64>> {
        let mut mask = vec![0; words(rows)];
        match self.kind {
            Kind::Integers(factors) => {
                let (Data::Integers(one), Data::Integers(other)) = (one, other) else { return None };
                (one.len() == rows && other.len() == rows).then_some(())?;
                let (first, second);
                let (one, other) = if factors == [1; 2] {
                    (one, other)
                } else {
                    (first, second) = (scaled(level, one, factors[0])?, scaled(level, other, factors[1])?);
                    (Integers::I64(&first), Integers::I64(&second))
                };
                compare_integers(level, self.comparison, one, other, &mut mask).then_some(mask)
            }
            Kind::Floats(scales) => {
                let (ones, others) = (floats(level, one, scales[0])?, floats(level, other, scales[1])?);
                (ones.len() == rows && others.len() == rows).then_some(())?;
                compare_floats(level, self.comparison, &ones, &others, &mut mask);
                match (one, other) {
                    (Data::Integers(one), _) => {
                        let order = |row| mixed_order::compare_with_nearest(one.get(row), scales[0], others[row]);
                        self.mend_ties(level, [&ones, &others], &mut mask, order);
                    }
                    (_, Data::Integers(other)) => {
                        let order = |row| mixed_order::compare_with_nearest(other.get(row), scales[1], ones[row]);
                        self.mend_ties(level, [&ones, &others], &mut mask, |row| order(row).reverse());
                    }
                    _ => {}
                }
                Some(mask)
            }
        }
    }

    /// Sets the bits of rows whose floats are equal, though one of them may only be the nearest to an exact number, by
    /// the order of the numbers.
    fn mend_ties(
        &self,
        level: Level,
        [ones, others]: [&[f64]; 2],
        mask: &mut [u64],
        order: impl Fn(usize) -> Ordering,
    ) {
        let mut ties = vec![0; mask.len()];
        compare_floats(level, Comparison::Equal, ones, others, &mut ties);
        for row in set_rows(&ties) {
            let bit = 1 << (row % 64);
            mask[row / 64] = mask[row / 64] & !bit | if self.comparison.holds(order(row)) { bit } else { 0 };
        }
    }
}

/// The integers times a factor, unless that may need more than 64 bits.
fn scaled(level: Level, values: Integers<'_>, factor: i128) -> Option<Vec<i64>> {
    let factor = i64::try_from(factor).ok()?;
    if !values.is_empty() {
        let (min, max) = integer_bounds(level, values)?;
        min.checked_mul(factor)?;
        max.checked_mul(factor)?;
    }
    let mut scaled = Vec::with_capacity(values.len());
    arithmetic::append(level, Line { factor, plus: 0 }, values, &mut scaled);
    Some(scaled)
}

/// Numbers of a scale as floats, if each is the nearest one.
fn floats(level: Level, numbers: Data<'_>, scale: u8) -> Option<Cow<'_, [f64]>> {
    match numbers {
        Data::Floats(floats) => Some(Cow::Borrowed(floats)),
        Data::Integers(integers) => {
            integer_bounds(level, integers)?;
            let mut values = Vec::with_capacity(integers.len());
            arithmetic::append(level, Line::IDENTITY, integers, &mut values);
            exact::nearest_floats(&values, scale).map(Cow::Owned)
        }
        Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => None,
    }
}
