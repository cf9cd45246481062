//! Users and contributors look for functions one by one: each scalar function and operator is one file here and one
//! line in the slice `FUNCTIONS` or `OPERATORS`. Help, documentation and the binder iterate over the slices.
//!
//! In: the types of arguments. Out: the type of the value and a `Kernel` that computes it for a batch. It is computed
//! where no argument is null; elsewhere it is null.
//!
//! A bound expression (`Typed`) names a function, and a function looks at bound arguments: a trait and its registry,
//! which therefore share a folder. `Typed` is plain data and travels with a plan.
//!
//! Where to look:
//!
//! - expressions of which the type is known (`Typed`, `Node`, `Scalar`): `typed.rs`
//! - a function: `NAME.rs`
//! - what several functions share: `compare`, `exact`, `rounding` (numbers), `temporal`, `zone`, `directive`, `shift`
//!   (time), `pattern`, `pieces`, `segments`, `pad` (text)
//! - forms that are no calls, such as `case`, for help texts: `constructs.rs`

mod abs;
mod add;
mod bucket;
pub(crate) mod cast;
mod ceil;
pub(crate) mod compare;
mod concat;
mod constructs;
mod contains;
mod date_diff;
mod date_parts;
mod date_trunc;
mod directive;
mod divide;
mod ends_with;
mod exact;
mod exp;
mod extract;
pub(crate) mod extreme;
mod floor;
mod greatest;
mod ilike;
mod integer_divide;
mod least;
mod length;
mod like;
mod ln;
mod log;
mod log10;
mod log2;
mod lower;
mod lpad;
mod ltrim;
mod make_date;
mod mixed_order;
mod modulo;
mod multiply;
mod negate;
mod octet_length;
mod pad;
mod pattern;
mod pieces;
mod power;
mod prefix;
mod regexp_extract;
mod regexp_matches;
mod regexp_replace;
mod replace;
mod right;
mod round;
mod rounding;
mod rpad;
mod rtrim;
mod segments;
mod shift;
mod sign;
mod split_part;
mod sqrt;
mod starts_with;
mod strftime;
mod strpos;
mod substr;
mod subtract;
mod temporal;
mod timezone;
mod to_char;
mod to_timestamp;
mod trim;
mod trunc;
pub(crate) mod typed;
mod upper;
mod zone;

pub(crate) use compare::Compared;
pub use constructs::{CONSTRUCTS, Construct};
pub(crate) use exact::Exact;
pub(crate) use like::like_prefix;

use crate::functions::typed::{Scalar, Typed};
use crate::values::error::EvalError;
use crate::values::text::Text;
use crate::values::view::{Rows, View};
use brc_core::{Array, LogicalType, PhysicalType};
use std::fmt;
use std::hash::{Hash, Hasher};

/// All functions, in the order in which help texts show them.
pub static FUNCTIONS: &[&Function] = &[
    &abs::ABS,
    &sign::SIGN,
    &round::ROUND,
    &floor::FLOOR,
    &ceil::CEIL,
    &trunc::TRUNC,
    &sqrt::SQRT,
    &power::POWER,
    &exp::EXP,
    &ln::LN,
    &log::LOG,
    &log2::LOG2,
    &log10::LOG10,
    &bucket::BUCKET,
    &greatest::GREATEST,
    &least::LEAST,
    &length::LENGTH,
    &octet_length::OCTET_LENGTH,
    &lower::LOWER,
    &upper::UPPER,
    &trim::TRIM,
    &ltrim::LTRIM,
    &rtrim::RTRIM,
    &lpad::LPAD,
    &rpad::RPAD,
    &substr::SUBSTR,
    &prefix::PREFIX,
    &right::RIGHT,
    &split_part::SPLIT_PART,
    &strpos::STRPOS,
    &replace::REPLACE,
    &concat::CONCAT,
    &starts_with::STARTS_WITH,
    &ends_with::ENDS_WITH,
    &contains::CONTAINS,
    &like::LIKE,
    &ilike::ILIKE,
    &regexp_matches::REGEXP_MATCHES,
    &regexp_extract::REGEXP_EXTRACT,
    &regexp_replace::REGEXP_REPLACE,
    &date_parts::YEAR,
    &date_parts::MONTH,
    &date_parts::DAY,
    &date_parts::HOUR,
    &date_parts::MINUTE,
    &date_parts::SECOND,
    &extract::EXTRACT,
    &date_trunc::DATE_TRUNC,
    &date_diff::DATE_DIFF,
    &make_date::MAKE_DATE,
    &strftime::STRFTIME,
    &to_char::TO_CHAR,
    &to_timestamp::TO_TIMESTAMP,
    &timezone::TIMEZONE,
];

/// The operators.
pub static OPERATORS: &[&Function] = &[
    &add::ADD,
    &subtract::SUBTRACT,
    &multiply::MULTIPLY,
    &divide::DIVIDE,
    &integer_divide::INTEGER_DIVIDE,
    &modulo::MODULO,
    &negate::NEGATE,
    &shift::SHIFT,
    &compare::EQUAL,
    &compare::NOT_EQUAL,
    &compare::LESS,
    &compare::LESS_OR_EQUAL,
    &compare::GREATER,
    &compare::GREATER_OR_EQUAL,
];

/// A function of values of a row.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// How it is written, for help texts.
    pub usage: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// An expression of constants, and its value as text.
    pub example: (&'static str, &'static str),
    /// Binds it to arguments.
    pub(crate) bind: fn(&[Typed]) -> Result<Bound, Mismatch>,
}

/// Computes a function for a batch.
pub(crate) type Kernel = Box<dyn Fn(&[View<'_>], &Rows<'_>) -> Result<Array, EvalError> + Send + Sync>;

/// A function as it is computed for arguments of some types.
pub(crate) struct Bound {
    /// The type of its values.
    pub(crate) output: LogicalType,
    /// Whether it may be null where no argument is.
    pub(crate) nullable: bool,
    pub(crate) kernel: Kernel,
    /// What else it is, if it is a sum, a difference or a product of integers.
    pub(crate) exact: Option<Exact>,
    /// What else it is, if it is a comparison of numbers.
    pub(crate) compared: Option<Compared>,
}

/// Why a function cannot be computed from its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The position of the argument that does not fit; none is at fault if there is no such argument.
    pub(crate) argument: usize,
    /// What it needs instead.
    pub(crate) needed: String,
}

impl Function {
    /// The function or operator of that name or alias, in upper or lower case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
        let mut all = FUNCTIONS.iter().chain(OPERATORS);
        all.find(|function| is_it(&function.name) || function.aliases.iter().any(is_it)).copied()
    }

    /// What messages call it: an operator as it is written, not by the name that tells it from one of two numbers.
    pub(crate) fn shown(&self) -> &'static str {
        if self.name == negate::NEGATE.name { "-" } else { self.name }
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.usage)
    }
}

impl Bound {
    fn new(
        output: LogicalType,
        kernel: impl Fn(&[View<'_>], &Rows<'_>) -> Result<Array, EvalError> + Send + Sync + 'static,
    ) -> Self {
        Self { output, nullable: false, kernel: Box::new(kernel), exact: None, compared: None }
    }

    fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// A function of one string that is true or false.
    fn test(holds: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        Self::new(LogicalType::Bool, move |views, rows| rows.truths(|row| holds(views[0].bytes(row))))
    }

    /// A function of two strings that is true or false.
    fn test_of_two(
        arguments: &[Typed],
        usage: &str,
        holds: impl Fn(&[u8], &[u8]) -> bool + Send + Sync + 'static,
    ) -> Result<Self, Mismatch> {
        count(arguments, 2..=2, usage)?;
        string(arguments, 0)?;
        string(arguments, 1)?;
        Ok(Self::new(LogicalType::Bool, move |views, rows| {
            rows.truths(|row| holds(views[0].bytes(row), views[1].bytes(row)))
        }))
    }

    /// A function of one string that appends another.
    fn text(append: impl Fn(&[u8], &mut Text<'_>) + Send + Sync + 'static) -> Self {
        Self::new(LogicalType::String, move |views, rows| rows.strings(|row, out| append(views[0].bytes(row), out)))
    }
}

fn refuse<T>(argument: usize, needed: impl Into<String>) -> Result<T, Mismatch> {
    Err(Mismatch { argument, needed: needed.into() })
}

/// Checks the number of arguments.
fn count(arguments: &[Typed], range: std::ops::RangeInclusive<usize>, usage: &str) -> Result<(), Mismatch> {
    if range.contains(&arguments.len()) { Ok(()) } else { refuse(usize::MAX, format!("is written {usage}")) }
}

fn string(arguments: &[Typed], index: usize) -> Result<(), Mismatch> {
    match arguments[index].logical_type.physical() {
        PhysicalType::Bytes => Ok(()),
        PhysicalType::Integers | PhysicalType::Floats => refuse(index, "needs a string"),
    }
}

fn number(arguments: &[Typed], index: usize) -> Result<LogicalType, Mismatch> {
    let logical_type = arguments[index].logical_type;
    if logical_type.is_numeric() { Ok(logical_type) } else { refuse(index, "needs a number") }
}

/// Checks that an argument is an integer of up to 64 bits.
fn integer(arguments: &[Typed], index: usize) -> Result<(), Mismatch> {
    let logical_type = arguments[index].logical_type;
    let is_one = logical_type.is_numeric() && logical_type.fits_64_bits() && logical_type.scale() == 0;
    if is_one { Ok(()) } else { refuse(index, "needs an integer") }
}

/// The value of an argument that must be a constant string.
fn constant_text(arguments: &[Typed], index: usize) -> Result<Vec<u8>, Mismatch> {
    match arguments[index].constant() {
        Some(Some(Scalar::Bytes(text))) => Ok(text.clone()),
        _ => refuse(index, "needs a constant string"),
    }
}

/// The value of an argument that must be a constant integer.
fn constant_integer(arguments: &[Typed], index: usize) -> Result<i64, Mismatch> {
    let is_integer = arguments[index].logical_type == LogicalType::Int64;
    match arguments[index].constant() {
        Some(Some(Scalar::Integer(value))) if is_integer => Ok(i64::try_from(*value).unwrap_or(i64::MAX)),
        _ => refuse(index, "needs a constant integer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::TimeUnit;
    use typed::Node;

    /// Any number of arguments of any type, constant or not, has a meaning or is refused.
    #[test]
    fn any_arguments_are_bound_or_refused() {
        let timestamp = LogicalType::Timestamp { unit: TimeUnit::Microsecond, zone: true };
        let column = |logical_type| Typed { node: Node::Column(0), logical_type, nullable: true };
        let constant = |value, logical_type| Typed { node: Node::Literal(value), logical_type, nullable: false };
        let arguments = [
            column(LogicalType::Int64),
            column(LogicalType::String),
            column(LogicalType::Date),
            column(timestamp),
            column(LogicalType::Bool),
            constant(Some(Scalar::Integer(3)), LogicalType::Int64),
            constant(Some(Scalar::Bytes(b"day".to_vec())), LogicalType::String),
            constant(Some(Scalar::Float(0.5f64.to_bits())), LogicalType::Float64),
            constant(None, LogicalType::Int64),
        ];
        let mut bound = 0;
        for function in FUNCTIONS.iter().chain(OPERATORS) {
            for count in 0..=4 {
                for mut number in 0..arguments.len().pow(count) {
                    let chosen = (0..count).map(|_| {
                        let argument = arguments[number % arguments.len()].clone();
                        number /= arguments.len();
                        argument
                    });
                    bound += usize::from((function.bind)(&chosen.collect::<Vec<_>>()).is_ok());
                }
            }
        }
        assert!(bound > 10 * FUNCTIONS.len(), "most functions take some of these arguments");
    }
}
