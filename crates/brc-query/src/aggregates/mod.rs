//! Each aggregate function is one file here and one line in the slice `AGGREGATES`, over which help, documentation and
//! the binder iterate.
//!
//! In: the types of argument columns. Out: `Bound`, which says which state the function is computed from, what type
//! its values have, and how a value is made of the state of a group. What several functions have in common lies in the
//! states.
//!
//! Where to look:
//!
//! - a function: `NAME.rs` (`variance`, `covar`, `regr` have several)
//! - what stands between its parentheses (`Form`), a group as functions see it (`Group`): `mod.rs`
//! - an aggregate of a query: function, columns, constant (`AggregateCall`): `call.rs`
//! - what quantiles have in common: `fraction.rs`

mod approx_count_distinct;
mod avg;
mod bool_and;
mod bool_or;
mod call;
mod corr;
mod count;
mod count_distinct;
mod covar;
mod first;
mod fraction;
mod last;
mod max;
mod max_by;
mod mean;
mod median;
mod min;
mod min_by;
mod mode;
mod quantile;
mod quantile_cont;
mod regr;
mod string_agg;
mod sum;
mod top;
mod variance;

pub(crate) use call::AggregateCall;

use crate::functions::typed::Typed;
use crate::states::{State, StateKind};
use crate::values::cells::Cells;
use brc_core::{Field, LogicalType, PhysicalType, Value};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// All functions, in the order in which help texts show them.
pub static AGGREGATES: &[&AggregateFunction] = &[
    &min::MIN,
    &mean::MEAN,
    &max::MAX,
    &sum::SUM,
    &count::COUNT,
    &count_distinct::COUNT_DISTINCT,
    &avg::AVG,
    &median::MEDIAN,
    &quantile::QUANTILE,
    &quantile_cont::QUANTILE_CONT,
    &mode::MODE,
    &variance::VAR_SAMP,
    &variance::VAR_POP,
    &variance::STDDEV_SAMP,
    &variance::STDDEV_POP,
    &corr::CORR,
    &covar::COVAR_SAMP,
    &covar::COVAR_POP,
    &regr::REGR_SLOPE,
    &regr::REGR_INTERCEPT,
    &regr::REGR_R2,
    &regr::REGR_COUNT,
    &regr::REGR_AVGX,
    &regr::REGR_AVGY,
    &regr::REGR_SXX,
    &regr::REGR_SYY,
    &regr::REGR_SXY,
    &approx_count_distinct::APPROX_COUNT_DISTINCT,
    &bool_and::BOOL_AND,
    &bool_or::BOOL_OR,
    &first::FIRST,
    &last::LAST,
    &min_by::MIN_BY,
    &max_by::MAX_BY,
    &string_agg::STRING_AGG,
    &top::TOP,
];

/// The table, as CSV, that the examples of aggregates are computed from.
pub const EXAMPLE_TABLE: &str = "\
city,day,price,sold
Oslo,2024-01-30,12.50,1
Oslo,2024-01-31,10.50,6
Bergen,2024-01-31,11.50,4
Bergen,2024-02-01,,5
Oslo,2024-02-01,7.50,9
";

/// A function of the values of a group. Nulls are no values.
pub struct AggregateFunction {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line on what it is.
    pub about: &'static str,
    /// An expression over the columns of [`EXAMPLE_TABLE`], and its value as text.
    pub example: (&'static str, &'static str),
    /// What stands between its parentheses.
    pub form: Form,
    /// How it is computed for columns; for [`Form::Rows`], also without one. The error says what it needs instead.
    pub(crate) bind: fn(&[&Field]) -> Result<Bound, &'static str>,
}

/// What stands between the parentheses of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A column.
    Column,
    /// A column, with `distinct` or without: values that recur change nothing.
    Set,
    /// A column, or nothing or `*` for rows.
    Rows,
    /// `distinct` and a column.
    Distinct,
    /// A column and a number from 0 to 1.
    Fraction,
    /// Two columns.
    Pair,
    /// Two columns of numbers.
    Numbers,
    /// A column, of which it matters in which order its rows lie.
    InOrder,
    /// The same, and a string.
    Joined,
    /// A column, and how many.
    Count,
}

impl Form {
    /// How many columns there may be.
    pub(crate) fn columns(self) -> usize {
        if matches!(self, Self::Pair | Self::Numbers) { 2 } else { 1 }
    }

    /// Whether the row number in the table is a further argument.
    pub(crate) fn is_in_row_order(self) -> bool {
        matches!(self, Self::InOrder | Self::Joined)
    }

    /// The constant after the columns, if there is one.
    ///
    /// # Errors
    /// What is wrong with the number of arguments, or with the constant.
    pub(crate) fn parameter(self, arguments: &[Typed]) -> Result<Option<String>, String> {
        let constant = |needed: &str| match arguments.get(1).and_then(Typed::constant) {
            Some(Some(value)) => Ok((value.value().to_text(arguments[1].logical_type), arguments[1].logical_type)),
            _ => Err(needed.to_owned()),
        };
        let expected = match self {
            Self::Rows => 0..=1,
            Self::Column | Self::Set | Self::Distinct | Self::InOrder => 1..=1,
            Self::Fraction | Self::Pair | Self::Numbers | Self::Joined | Self::Count => 2..=2,
        };
        match self {
            _ if arguments.is_empty() && self != Self::Rows => Err("needs a column".to_owned()),
            Self::Fraction => {
                let needed = "needs a number from 0 to 1 after its column";
                let (text, _) = constant(needed)?;
                match text.parse::<f64>() {
                    Ok(number) if arguments.len() == 2 && (0.0..=1.0).contains(&number) => Ok(Some(text)),
                    _ => Err(needed.to_owned()),
                }
            }
            Self::Joined => match constant("needs a separator after its column: a constant string")? {
                (text, LogicalType::String) if arguments.len() == 2 => Ok(Some(text)),
                _ => Err("needs a separator after its column: a constant string".to_owned()),
            },
            Self::Count => match constant("needs a number after its column: how many values")? {
                (text, LogicalType::Int64) if arguments.len() == 2 && text.parse::<u32>().is_ok() => Ok(Some(text)),
                _ => Err("needs a number after its column: how many values".to_owned()),
            },
            _ if expected.contains(&arguments.len()) => Ok(None),
            Self::Pair | Self::Numbers => Err("needs two columns".to_owned()),
            Self::Distinct => Err("takes one column; count(distinct concat(a, ',', b)) counts pairs".to_owned()),
            _ => Err("takes one column".to_owned()),
        }
    }
}

/// Appends the value of a group as text; `None` if it is null.
type WriteText = fn(&Group<'_>, &mut Vec<u8>) -> Option<()>;

/// A shorter way to the values of consecutive groups.
#[derive(Clone, Copy)]
pub(crate) enum WriteAll {
    /// The values are the numbers of rows.
    Rows,
    /// Appends them from the state; `false` if they must be taken one by one.
    State(fn(&State, Range<usize>, &mut Cells) -> bool),
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
    /// Appends its value, where that is a string which lies nowhere yet.
    pub(crate) text: Option<WriteText>,
    /// A shorter way to the values of many groups, if there is one.
    pub(crate) all: Option<WriteAll>,
}

impl Bound {
    /// A value that is computed from a state.
    fn new(output: LogicalType, state: StateKind, value: for<'a> fn(&Group<'a>) -> Option<Value<'a>>) -> Self {
        Self { output, state: Some(state), value, text: None, all: None }
    }

    /// A string that is written from a state.
    fn text(state: StateKind, text: WriteText) -> Self {
        Self { output: LogicalType::String, state: Some(state), value: |_| None, text: Some(text), all: None }
    }
}

/// What is known of a group.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) group: usize,
    /// How many rows it has, where no state was requested.
    pub(crate) rows: u64,
    /// The state that was requested.
    state: Option<&'a State>,
    /// The columns' decimals.
    pub(crate) scales: [u8; 2],
    /// The constant that the function takes besides.
    pub(crate) parameter: &'a str,
    /// The type of the first column.
    pub(crate) logical_type: Option<LogicalType>,
}

impl<'a> Group<'a> {
    /// What all groups have in common for an output.
    pub(crate) fn of(output: &'a AggregateCall, fields: &[Field]) -> Self {
        let first = output.columns.first().and_then(|&column| fields.get(column));
        let parameter = output.parameter.as_deref().unwrap_or_default();
        let logical_type = first.map(|field| field.logical_type);
        Self { group: 0, rows: 0, state: None, scales: output.scales(fields), parameter, logical_type }
    }

    /// One of them, of which that state is kept.
    pub(crate) fn with_state(self, group: usize, state: &'a State) -> Self {
        Self { group, state: Some(state), ..self }
    }

    /// One of them, which has this many rows.
    pub(crate) fn with_rows(self, rows: u64) -> Self {
        Self { rows, ..self }
    }

    /// The state; `None` only if none was requested.
    fn state(&self) -> Option<&'a State> {
        self.state
    }
}

impl AggregateFunction {
    /// The function of that name or alias, in upper or lower case; with `distinct` before its column or not.
    #[must_use]
    pub fn by_name(name: &str, distinct: bool) -> Option<&'static Self> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
        let mut functions = AGGREGATES.iter().filter(|function| match function.form {
            Form::Distinct => distinct,
            Form::Set => true,
            _ => !distinct,
        });
        functions.find(|function| is_it(&function.name) || function.aliases.iter().any(is_it)).copied()
    }

    /// How it is written, for help texts: `min(x)`.
    #[must_use]
    pub fn usage(&self) -> String {
        let inside = match self.form {
            Form::Column | Form::Set | Form::Rows | Form::InOrder => "x",
            Form::Distinct => "distinct x",
            Form::Fraction => "x, 0.9",
            Form::Pair => "x, y",
            Form::Numbers => "y, x",
            Form::Joined => "s, ', '",
            Form::Count => "x, 3",
        };
        format!("{}({inside})", self.name)
    }
}

impl PartialEq for AggregateFunction {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.form) == (other.name, other.form)
    }
}

impl Eq for AggregateFunction {}

impl Hash for AggregateFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.form).hash(state);
    }
}

impl fmt::Debug for AggregateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.usage())
    }
}

/// A function as plain data: its name.
#[derive(Serialize, Deserialize)]
pub(crate) struct AggregateName {
    name: String,
    distinct: bool,
}

impl From<&'static AggregateFunction> for AggregateName {
    fn from(function: &'static AggregateFunction) -> Self {
        Self { name: function.name.to_owned(), distinct: function.form == Form::Distinct }
    }
}

impl TryFrom<AggregateName> for &'static AggregateFunction {
    type Error = String;

    fn try_from(AggregateName { name, distinct }: AggregateName) -> Result<Self, String> {
        AggregateFunction::by_name(&name, distinct).ok_or_else(|| format!("there is no function '{name}'"))
    }
}

/// The column, if it is of numbers.
fn numbers<'a>(fields: &[&'a Field]) -> Result<&'a Field, &'static str> {
    fields.first().copied().filter(|field| field.logical_type.is_numeric()).ok_or("a column of numbers")
}

/// Checks that the column is of booleans.
fn bools(fields: &[&Field]) -> Result<(), &'static str> {
    let is_one = fields.first().is_some_and(|field| field.logical_type == LogicalType::Bool);
    if is_one { Ok(()) } else { Err("a condition, or a column of true and false") }
}

/// Checks that there are two columns of numbers.
fn pairs(fields: &[&Field]) -> Result<(), &'static str> {
    match fields {
        [one, other] if one.logical_type.is_numeric() && other.logical_type.is_numeric() => Ok(()),
        _ => Err("two columns of numbers"),
    }
}

/// The state that knows the bounds of a column's values.
fn bounds_of(fields: &[&Field]) -> Result<(LogicalType, StateKind), &'static str> {
    let logical_type = fields.first().ok_or("a column")?.logical_type;
    let state = match logical_type.physical() {
        PhysicalType::Integers => StateKind::Integers,
        PhysicalType::Floats => StateKind::FloatBounds,
        PhysicalType::Bytes => StateKind::Bytes,
    };
    Ok((logical_type, state))
}

/// The state that knows the sum of a column's numbers.
fn sums_of(logical_type: LogicalType) -> StateKind {
    if logical_type.physical() == PhysicalType::Floats { StateKind::FloatSums } else { StateKind::Sums }
}
