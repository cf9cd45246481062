//! The functions a question may ask for, and how one is written: `min(temperature)`, `count()`.

use crate::columns::Unknown;
use crate::expression::SyntaxError;
use crate::expression::lexer::{self, Cursor, Kind};
use brc_core::{LogicalType, Statistics, decimal};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is computed of the values of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Function {
    Min,
    Mean,
    Max,
    Sum,
    Count,
}

/// What help texts say of a function.
#[derive(Debug, Clone, Copy)]
pub struct FunctionInfo {
    /// The function.
    pub function: Function,
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line on what it is.
    pub about: &'static str,
}

/// All functions, in the order in which help texts show them.
pub static FUNCTIONS: &[FunctionInfo] = &[
    FunctionInfo { function: Function::Min, name: "min", aliases: &[], about: "the smallest value" },
    FunctionInfo {
        function: Function::Mean,
        name: "mean",
        aliases: &["avg"],
        about: "the exact sum over the count, rounded half up to the column's scale",
    },
    FunctionInfo { function: Function::Max, name: "max", aliases: &[], about: "the largest value" },
    FunctionInfo { function: Function::Sum, name: "sum", aliases: &[], about: "the exact sum" },
    FunctionInfo { function: Function::Count, name: "count", aliases: &[], about: "the number of rows" },
];

impl Function {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|info| info.function == self).map_or("", |info| info.name)
    }

    /// The function of that name or alias, in upper or lower case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
        FUNCTIONS.iter().find(|info| is_it(&info.name) || info.aliases.iter().any(is_it)).map(|info| info.function)
    }

    /// Its value for values of which that is known, in units of [`Function::logical_type`]. Of no values only the count is
    /// known.
    #[must_use]
    pub fn value(self, statistics: &Statistics) -> Option<i128> {
        match self {
            Self::Count => Some(statistics.count.into()),
            _ if statistics.count == 0 => None,
            Self::Min => Some(statistics.min.into()),
            Self::Max => Some(statistics.max.into()),
            Self::Sum => Some(statistics.sum),
            Self::Mean => Some(decimal::mean(statistics.sum, statistics.count)),
        }
    }

    /// The type of its values for a column of that scale.
    #[must_use]
    pub fn logical_type(self, scale: u8) -> LogicalType {
        match self {
            Self::Count => LogicalType::Int64,
            Self::Min | Self::Mean | Self::Max | Self::Sum => LogicalType::decimal(scale),
        }
    }
}

/// A function of a column, by name; only a count may go without a column. It displays as it is written, which is also
/// the name of its output column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// The function.
    pub function: Function,
    /// The column.
    pub column: Option<String>,
}

impl Aggregate {
    /// Parses one aggregate.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new(text)?;
        let aggregate = Term::parse(&mut cursor)?.aggregate(text)?;
        cursor.require(&Kind::End, "the end")?;
        Ok(aggregate)
    }

    /// Parses aggregates with commas between: `min(x),mean(x),count()`. Columns that are more than a word stand in double
    /// quotes: `max("wind speed")`.
    ///
    /// # Errors
    /// What is wrong with one, and where.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SyntaxError> {
        list(text, |cursor| Term::parse(cursor)?.aggregate(text))
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column.as_deref().map(lexer::written).unwrap_or_default();
        write!(f, "{}({column})", self.function.name())
    }
}

/// By which output column an answer is sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderBy {
    /// The output column's name: a key, or an aggregate as it displays.
    pub column: String,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl OrderBy {
    /// Parses output columns with commas between, each with an optional `asc` or `desc`: `mean(x) desc, station`.
    ///
    /// # Errors
    /// What is wrong with one, and where.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SyntaxError> {
        list(text, |cursor| {
            let term = Term::parse(cursor)?;
            let column = match term.argument {
                None => term.name,
                Some(_) => term.aggregate(text)?.to_string(),
            };
            let descending = cursor.take_word("desc");
            if !descending {
                cursor.take_word("asc");
            }
            Ok(Self { column, descending })
        })
    }
}

/// Parses items with commas between, up to the end.
fn list<T>(source: &str, item: impl Fn(&mut Cursor<'_>) -> Result<T, SyntaxError>) -> Result<Vec<T>, SyntaxError> {
    let mut cursor = Cursor::new(source)?;
    let mut items = vec![item(&mut cursor)?];
    while cursor.take(&Kind::Comma) {
        items.push(item(&mut cursor)?);
    }
    cursor.require(&Kind::End, "',' or the end")?;
    Ok(items)
}

/// `name`, `name()`, `name(*)` or `name(column)`.
struct Term {
    name: String,
    position: usize,
    /// What is between parentheses, if there are any.
    argument: Option<Option<String>>,
}

impl Term {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        let position = cursor.peek().position;
        let name = take_name(cursor).ok_or_else(|| cursor.expected("a name"))?;
        let mut argument = None;
        if cursor.take(&Kind::Open) {
            let column = if cursor.take(&Kind::Star) { None } else { take_name(cursor) };
            cursor.require(&Kind::Close, "a column and ')'")?;
            argument = Some(column);
        }
        Ok(Self { name, position, argument })
    }

    fn aggregate(self, source: &str) -> Result<Aggregate, SyntaxError> {
        let refuse = |message: String| Err(SyntaxError::new(message, self.position, source));
        let Some(function) = Function::by_name(&self.name) else {
            let names = FUNCTIONS.iter().map(|info| info.name);
            return refuse(Unknown::new("function", &self.name, names).to_string());
        };
        match self.argument {
            None => refuse(format!("expected '{}(COLUMN)'", function.name())),
            Some(None) if function != Function::Count => refuse(format!("'{}' needs a column", function.name())),
            Some(column) => Ok(Aggregate { function, column }),
        }
    }
}

fn take_name(cursor: &mut Cursor<'_>) -> Option<String> {
    let (Kind::Word(name) | Kind::Name(name)) = &cursor.peek().kind else { return None };
    let name = name.clone();
    cursor.advance();
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aggregate(function: Function, column: Option<&str>) -> Aggregate {
        Aggregate { function, column: column.map(str::to_owned) }
    }

    #[test]
    fn aggregates_are_read_and_named() {
        let list = Aggregate::parse_list("min(x), AVG( x ),max(\"a (b), c\"),count(),count(*),sum(y)").unwrap();
        assert_eq!(
            list,
            [
                aggregate(Function::Min, Some("x")),
                aggregate(Function::Mean, Some("x")),
                aggregate(Function::Max, Some("a (b), c")),
                aggregate(Function::Count, None),
                aggregate(Function::Count, None),
                aggregate(Function::Sum, Some("y")),
            ]
        );
        assert_eq!(list[1].to_string(), "mean(x)");
        assert_eq!(list[2].to_string(), "max(\"a (b), c\")");
        assert_eq!(list[3].to_string(), "count()");
        for info in FUNCTIONS {
            assert_eq!(Aggregate::parse(&format!("{}(x)", info.name)).unwrap().function, info.function);
        }
    }

    #[test]
    fn aggregates_of_any_name_are_read_as_they_display() {
        for name in ["x", "São", "a.b", "a b", "a\"b", "a-b", "2020", ".5", "a,b", "f(x)", "'", "*", ""] {
            let max = aggregate(Function::Max, Some(name));
            assert_eq!(Aggregate::parse(&max.to_string()).unwrap(), max, "{name}");
        }
    }

    #[test]
    fn bad_aggregates_say_where() {
        for (text, position, message) in [
            ("", 0, "expected a name, found the end"),
            ("min(x),", 7, "expected a name, found the end"),
            ("min(x", 5, "expected a column and ')', found the end"),
            ("min(x) max(y)", 7, "expected ',' or the end, found 'max'"),
            ("min()", 0, "'min' needs a column"),
            ("min(*)", 0, "'min' needs a column"),
            ("x, min(x)", 0, "unknown function 'x' (functions: min, mean, max, sum, count)"),
            (
                "min(x), maxx(x)",
                8,
                "unknown function 'maxx', did you mean 'max'? (functions: min, mean, max, sum, count)",
            ),
            ("count", 0, "expected 'count(COLUMN)'"),
            ("min(3)", 4, "expected a column and ')', found '3'"),
            ("min(x) desc", 7, "expected ',' or the end, found 'desc'"),
        ] {
            let error = Aggregate::parse_list(text).unwrap_err();
            assert_eq!((error.position, error.message.as_str()), (position, message), "{text}");
        }
        assert!(Aggregate::parse("min(x),max(x)").is_err());
    }

    #[test]
    fn orders_are_read() {
        let orders = OrderBy::parse_list("avg(x) DESC, station asc,\"odd name\"").unwrap();
        let order = |column: &str, descending| OrderBy { column: column.to_owned(), descending };
        assert_eq!(orders, [order("mean(x)", true), order("station", false), order("odd name", false)]);
        assert!(OrderBy::parse_list("station up").is_err());
        assert!(OrderBy::parse_list("foo(x)").is_err());
    }
}
