//! The aggregate functions: one file for each, and the list of all of them.
//!
//! A function says for each type of column which state it is computed from, what type its values have, and how one is
//! made of the state of a group. What is common to several functions lies in the [states](crate::states).

mod avg;
mod count;
mod count_distinct;
mod max;
mod mean;
mod median;
mod min;
mod quantile;
mod sum;
mod variance;

use crate::states::{State, StateKind};
use brc_core::{Field, LogicalType, PhysicalType, Value};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All functions, in the order in which help texts show them.
pub static FUNCTIONS: &[&Function] = &[
    &min::MIN,
    &mean::MEAN,
    &max::MAX,
    &sum::SUM,
    &count::COUNT,
    &count_distinct::COUNT_DISTINCT,
    &avg::AVG,
    &median::MEDIAN,
    &quantile::QUANTILE,
    &variance::VAR_SAMP,
    &variance::VAR_POP,
    &variance::STDDEV_SAMP,
    &variance::STDDEV_POP,
];

/// A function of the values of a group. Nulls are no values.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line on what it is.
    pub about: &'static str,
    /// What stands between its parentheses.
    pub form: Form,
    /// How it is computed for a column; for that of [`Form::Rows`], also without one. The error says what it needs instead.
    pub(crate) bind: fn(Option<&Field>) -> Result<Bound, &'static str>,
}

/// What stands between the parentheses of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A column.
    Column,
    /// A column, or nothing or `*` for rows.
    Rows,
    /// `distinct` and a column.
    Distinct,
    /// A column and a number from 0 to 1.
    Fraction,
}

/// A function as it is computed for a column of some type.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    /// The type of its values.
    pub(crate) output: LogicalType,
    /// The state that it needs; none if the number of rows is enough.
    pub(crate) state: Option<StateKind>,
    /// Its value for a group.
    pub(crate) value: for<'a> fn(&Group<'a>) -> Option<Value<'a>>,
}

/// What is known of a group.
pub(crate) struct Group<'a> {
    pub(crate) group: usize,
    /// How many rows it has.
    pub(crate) rows: u64,
    /// The state that was asked for.
    state: Option<&'a State>,
    /// The column's decimals.
    pub(crate) scale: u8,
    /// The number of [`Form::Fraction`].
    pub(crate) fraction: f64,
}

impl<'a> Group<'a> {
    pub(crate) fn new(group: usize, rows: u64, state: Option<&'a State>, scale: u8, fraction: f64) -> Self {
        Self { group, rows, state, scale, fraction }
    }

    /// The state; `None` only if none was asked for.
    fn state(&self) -> Option<&'a State> {
        self.state
    }
}

impl Function {
    /// The function of that name or alias, in upper or lower case; with `distinct` before its column or not.
    #[must_use]
    pub fn by_name(name: &str, distinct: bool) -> Option<&'static Self> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
        let mut functions = FUNCTIONS.iter().filter(|function| (function.form == Form::Distinct) == distinct);
        functions.find(|function| is_it(&function.name) || function.aliases.iter().any(is_it)).copied()
    }

    /// How it is written, for help texts: `min(…)`.
    #[must_use]
    pub fn usage(&self) -> String {
        let inside = match self.form {
            Form::Column | Form::Rows => "…",
            Form::Distinct => "distinct …",
            Form::Fraction => "…, 0.9",
        };
        format!("{}({inside})", self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.form) == (other.name, other.form)
    }
}

impl Eq for Function {}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.usage())
    }
}

/// A function as plain data: its name.
#[derive(Serialize, Deserialize)]
pub(crate) struct FunctionName {
    name: String,
    distinct: bool,
}

impl From<&'static Function> for FunctionName {
    fn from(function: &'static Function) -> Self {
        Self { name: function.name.to_owned(), distinct: function.form == Form::Distinct }
    }
}

impl TryFrom<FunctionName> for &'static Function {
    type Error = String;

    fn try_from(FunctionName { name, distinct }: FunctionName) -> Result<Self, String> {
        Function::by_name(&name, distinct).ok_or_else(|| format!("there is no function '{name}'"))
    }
}

/// The column, if it is of numbers.
fn numbers(field: Option<&Field>) -> Result<&Field, &'static str> {
    field.filter(|field| field.logical_type.is_numeric()).ok_or("a column of numbers")
}

/// The state that knows the bounds of a column's values.
fn bounds_of(field: Option<&Field>) -> Result<(LogicalType, StateKind), &'static str> {
    let logical_type = field.ok_or("a column")?.logical_type;
    let state = match logical_type.physical() {
        PhysicalType::Integers => StateKind::Integers,
        PhysicalType::Floats => StateKind::FloatBounds,
        PhysicalType::Bytes => StateKind::Bytes,
    };
    Ok((logical_type, state))
}

/// The state that knows the sum of a column's numbers.
fn sums_of(logical_type: LogicalType) -> StateKind {
    if logical_type.physical() == PhysicalType::Floats { StateKind::FloatSums } else { StateKind::Integers }
}
