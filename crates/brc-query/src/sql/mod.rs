//! People write queries as SQL, as whole statements or as expressions in options. This folder reads them before
//! anything is known of a table, so that a mistake in the text is reported with its position.
//!
//! In: a text. Out: a `Query`, an `Expression` or a `Statement`, which consist of few forms of `Syntax`, each with its
//! position in the text. `sqlparser` reads the text, so that precedence, quoting and literals are those that people
//! know; a form that is not supported is named with its position.
//!
//! Where to look:
//!
//! - a question (`Query`), expressions (`Expression`, `SelectItem`, `OrderBy`): `query.rs`, `expression.rs`
//! - the layer over `sqlparser`: `parser.rs`, `dialect.rs`
//! - its tree turned into ours: `convert.rs`, `calls.rs`, `interval.rs`, `types.rs`
//! - `select`, clause by clause; several statements, `describe` and the like: `statement.rs`, `script.rs`
//! - messages: `error.rs`; what to write instead of the words of other databases: `suggestions.rs`

mod calls;
mod convert;
mod dialect;
mod error;
pub(crate) mod expression;
mod interval;
mod parser;
pub(crate) mod query;
mod script;
mod statement;
pub(crate) mod suggestions;
mod table_names;
mod types;

pub use error::SyntaxError;
pub(crate) use parser::Parser;
pub use script::{Action, Statement, TableName};

use crate::values::number::Number;
use brc_core::{Comparison, LogicalType};

/// An expression, and the byte of the text at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub(crate) kind: Kind,
    pub(crate) position: usize,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Column(String),
    Literal(Literal),
    Compare(Comparison, Box<Syntax>, Box<Syntax>),
    /// `a between b and c`
    Between(Box<[Syntax; 3]>),
    /// `a in (b, c, …)`
    In {
        operand: Box<Syntax>,
        list: Vec<Syntax>,
    },
    And(Vec<Syntax>),
    Or(Vec<Syntax>),
    Not(Box<Syntax>),
    IsNull(Box<Syntax>),
    /// With an operand, branches begin with what it is compared with; else with conditions.
    Case {
        operand: Option<Box<Syntax>>,
        branches: Vec<(Syntax, Syntax)>,
        otherwise: Option<Box<Syntax>>,
    },
    Cast {
        inner: Box<Syntax>,
        logical_type: LogicalType,
        attempt: bool,
    },
    Call(Call),
}

/// A function or an operator by its name, with what it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) distinct: bool,
    pub(crate) arguments: Vec<Syntax>,
    /// The arguments as they are shown, as far as they can be.
    pub(crate) shown: Vec<String>,
    /// `filter (where …)` of an aggregate.
    pub(crate) filter: Option<Box<Syntax>>,
}

/// A constant as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    Null,
    Text(Vec<u8>),
    Number(Number),
    Bool(bool),
    Date(Vec<u8>),
    Time(Vec<u8>),
    Timestamp(Vec<u8>),
    /// This many months, days and microseconds.
    Interval {
        months: i64,
        days: i64,
        microseconds: i64,
    },
}

impl Literal {
    /// What it is, with an article.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Date(_) => "a date",
            Self::Time(_) => "a time",
            Self::Timestamp(_) => "a timestamp",
            Self::Interval { .. } => "an interval",
        }
    }
}

impl Syntax {
    /// A function of a column.
    pub(crate) fn call(name: &str, arguments: Vec<Self>, position: usize) -> Self {
        let call = Call { name: name.to_owned(), distinct: false, arguments, shown: Vec::new(), filter: None };
        Self { kind: Kind::Call(call), position }
    }

    /// Calls `each` with this and all that it is made of.
    pub(crate) fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Self)) {
        each(self);
        match &self.kind {
            Kind::Column(_) | Kind::Literal(_) => {}
            Kind::Compare(_, left, right) => [left, right].into_iter().for_each(|part| part.walk(each)),
            Kind::Between(parts) => parts.iter().for_each(|part| part.walk(each)),
            Kind::In { operand, list } => {
                operand.walk(each);
                list.iter().for_each(|part| part.walk(each));
            }
            Kind::And(parts) | Kind::Or(parts) => parts.iter().for_each(|part| part.walk(each)),
            Kind::Not(part) | Kind::IsNull(part) | Kind::Cast { inner: part, .. } => part.walk(each),
            Kind::Case { operand, branches, otherwise } => {
                operand.iter().for_each(|part| part.walk(each));
                branches.iter().flat_map(|(when, then)| [when, then]).for_each(|part| part.walk(each));
                otherwise.iter().for_each(|part| part.walk(each));
            }
            Kind::Call(call) => {
                call.arguments.iter().for_each(|part| part.walk(each));
                call.filter.iter().for_each(|part| part.walk(each));
            }
        }
    }
}
