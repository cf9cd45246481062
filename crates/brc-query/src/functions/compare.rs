//! `a = b`, `a < b` …: two values of one kind. All NaNs are equal and above all numbers, and the two zeros are equal.

use super::{Bound, Function, Mismatch, count, exact, refuse};
use crate::keys::layout::float_key;
use crate::node::Typed;
use brc_core::{Comparison, Data, Integers, LogicalType, PhysicalType};
use brc_kernels::arithmetic::{self, Line};
use brc_kernels::cpu::Level;
use brc_kernels::direct::integer_bounds;
use brc_kernels::filter::{compare_floats, compare_integers, words};
use std::borrow::Cow;

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
    if one != other {
        return refuse(1, format!("cannot be compared: {one} with"));
    }
    Ok(integers(comparison, [1; 2]))
}

fn numbers(arguments: &[Typed], comparison: Comparison) -> Bound {
    let scales @ [one, other] = exact::scales(arguments);
    if arguments.iter().any(|argument| argument.logical_type == LogicalType::Float64) {
        let bound = Bound::new(LogicalType::Bool, move |views, rows| {
            rows.truths(|row| {
                let key = |index: usize, scale| float_key(exact::float(&views[index], scale, row));
                comparison.holds(key(0, one).cmp(&key(1, other)))
            })
        });
        return Bound { compared: Some(Compared { comparison, kind: Kind::Floats(scales) }), ..bound };
    }
    integers(comparison, [exact::factor(one, other), exact::factor(other, one)])
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
    /// Numbers of these scales are compared as floats.
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
                let (one, other) = (floats(level, one, scales[0])?, floats(level, other, scales[1])?);
                (one.len() == rows && other.len() == rows).then_some(())?;
                compare_floats(level, self.comparison, &one, &other, &mut mask);
                Some(mask)
            }
        }
    }

    /// Between which integers those of a side lie if it holds for them and a constant on the other side; `true` if it holds
    /// outside of them instead. `None` of floats, and if that is not known.
    pub(crate) fn range(&self, side: usize, constant: i128) -> Option<(i128, i128, bool)> {
        let Kind::Integers(factors) = self.kind else { return None };
        let factor = factors[side];
        let constant = constant.checked_mul(factors[1 - side])?;
        let comparison = if side == 0 { self.comparison } else { self.comparison.mirrored() };
        // The largest that is not above the constant, and the smallest that is not below.
        let (below, above) = (constant.div_euclid(factor), constant.checked_sub(1)?.div_euclid(factor) + 1);
        Some(match comparison {
            Comparison::Equal => (above, below, false),
            Comparison::NotEqual => (above, below, true),
            Comparison::Less => (i128::MIN, above - 1, false),
            Comparison::LessOrEqual => (i128::MIN, below, false),
            Comparison::Greater => (below.checked_add(1)?, i128::MAX, false),
            Comparison::GreaterOrEqual => (above, i128::MAX, false),
        })
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
