//! How aggregates are written: `min(temperature)`, `count()`, `count(distinct city)`, `quantile(price, 0.9)`.

use crate::aggregates::{FUNCTIONS, Form, Function};
use crate::columns::Unknown;
use crate::expression::SyntaxError;
use crate::expression::lexer::{self, Cursor, Kind};
use std::fmt;

/// A function of a column, by name; only a count may go without a column. It displays as it is written, which is also
/// the name of its output column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate {
    /// The function.
    pub function: &'static Function,
    /// The column.
    pub column: Option<String>,
    /// The number that a function of [`Form::Fraction`] takes besides, as it was written: from 0 to 1.
    pub fraction: Option<String>,
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
        let distinct = if self.function.form == Form::Distinct { "distinct " } else { "" };
        let column = self.column.as_deref().map(lexer::written).unwrap_or_default();
        write!(f, "{}({distinct}{column}", self.function.name)?;
        if let Some(fraction) = &self.fraction {
            write!(f, ", {fraction}")?;
        }
        f.write_str(")")
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

/// `name`, `name()`, `name(*)`, `name(column)`, `name(distinct column)` or `name(column, number)`.
struct Term {
    name: String,
    position: usize,
    /// What is between parentheses, if there are any.
    argument: Option<Argument>,
}

struct Argument {
    distinct: bool,
    column: Option<String>,
    fraction: Option<String>,
}

impl Term {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        let position = cursor.peek().position;
        let name = take_name(cursor).ok_or_else(|| cursor.expected("a name"))?;
        let argument = if cursor.take(&Kind::Open) { Some(Argument::parse(cursor)?) } else { None };
        Ok(Self { name, position, argument })
    }

    fn aggregate(self, source: &str) -> Result<Aggregate, SyntaxError> {
        let refuse = |message: String| Err(SyntaxError::new(message, self.position, source));
        let distinct = self.argument.as_ref().is_some_and(|argument| argument.distinct);
        let Some(function) = Function::by_name(&self.name, distinct) else {
            if let (true, Some(function)) = (distinct, Function::by_name(&self.name, false)) {
                return refuse(format!("'{}' of distinct values is not supported", function.name));
            }
            let names = FUNCTIONS.iter().filter(|function| function.form != Form::Distinct);
            return refuse(Unknown::new("function", &self.name, names.map(|function| function.name)).to_string());
        };
        let name = function.name;
        let Some(Argument { column, fraction, .. }) = self.argument else {
            return refuse(format!("expected '{name}(COLUMN)'"));
        };
        if column.is_none() && function.form != Form::Rows {
            return refuse(format!("'{name}' needs a column"));
        }
        match (function.form, &fraction) {
            (Form::Fraction, None) => refuse(format!("'{name}' needs a number from 0 to 1 behind its column")),
            (Form::Fraction, Some(_)) | (_, None) => Ok(Aggregate { function, column, fraction }),
            (Form::Column | Form::Rows | Form::Distinct, Some(_)) => refuse(format!("'{name}' needs a column only")),
        }
    }
}

impl Argument {
    /// What follows the opening parenthesis.
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        if cursor.take(&Kind::Star) {
            cursor.require(&Kind::Close, "')'")?;
            return Ok(Self { distinct: false, column: None, fraction: None });
        }
        let is_distinct = cursor.peek().is_word("distinct");
        let first = take_name(cursor);
        let second = if is_distinct { take_name(cursor) } else { None };
        let (distinct, column) = (second.is_some(), second.or(first));
        let mut fraction = None;
        if column.is_some() && cursor.take(&Kind::Comma) {
            let Kind::Number(number) = cursor.peek().kind.clone() else {
                return Err(cursor.expected("a number from 0 to 1"));
            };
            if !number.parse::<f64>().is_ok_and(|number| (0.0..=1.0).contains(&number)) {
                return Err(cursor.expected("a number from 0 to 1"));
            }
            cursor.advance();
            fraction = Some(number);
        }
        cursor.require(&Kind::Close, "a column and ')'")?;
        Ok(Self { distinct, column, fraction })
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

    fn aggregate(name: &str, column: Option<&str>) -> Aggregate {
        let function = Function::by_name(name, false).unwrap();
        Aggregate { function, column: column.map(str::to_owned), fraction: None }
    }

    #[test]
    fn aggregates_are_read_and_named() {
        let list = Aggregate::parse_list("min(x), AVG( x ),max(\"a (b), c\"),count(),count(*),sum(y)").unwrap();
        assert_eq!(
            list,
            [
                aggregate("min", Some("x")),
                aggregate("avg", Some("x")),
                aggregate("max", Some("a (b), c")),
                aggregate("count", None),
                aggregate("count", None),
                aggregate("sum", Some("y")),
            ]
        );
        assert_eq!(list[1].to_string(), "avg(x)");
        assert_eq!(list[2].to_string(), "max(\"a (b), c\")");
        assert_eq!(list[3].to_string(), "count()");
        for text in ["count(distinct x)", "count(distinct distinct)", "min(distinct)", "quantile(x, 0.25)"] {
            assert_eq!(Aggregate::parse(text).unwrap().to_string(), text);
        }
        for function in FUNCTIONS {
            let text = function.usage().replace('…', "x");
            assert_eq!(Aggregate::parse(&text).unwrap().function, *function);
            assert_eq!(Aggregate::parse(&text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn aggregates_of_any_name_are_read_as_they_display() {
        for name in ["x", "São", "a.b", "a b", "a\"b", "a-b", "2020", ".5", "a,b", "f(x)", "'", "*", ""] {
            let max = aggregate("max", Some(name));
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
            ("min(distinct x)", 0, "'min' of distinct values is not supported"),
            ("min(x y)", 6, "expected a column and ')', found 'y'"),
            ("quantile(x)", 0, "'quantile' needs a number from 0 to 1 behind its column"),
            ("quantile(x, 1.5)", 12, "expected a number from 0 to 1, found '1.5'"),
            ("quantile(x, y)", 12, "expected a number from 0 to 1, found 'y'"),
            ("min(x, 0.5)", 0, "'min' needs a column only"),
            ("count", 0, "expected 'count(COLUMN)'"),
            ("min(3)", 4, "expected a column and ')', found '3'"),
            ("min(x) desc", 7, "expected ',' or the end, found 'desc'"),
        ] {
            let error = Aggregate::parse_list(text).unwrap_err();
            assert_eq!((error.position, error.message.as_str()), (position, message), "{text}");
        }
        assert!(Aggregate::parse("min(x),max(x)").is_err());
        let unknown = |text: &str| Aggregate::parse(text).unwrap_err().message;
        assert!(unknown("x").starts_with("unknown function 'x' (functions: min, mean, max, sum, count, avg, "));
        assert!(unknown("maxx(x)").starts_with("unknown function 'maxx', did you mean 'max'? (functions: min, "));
    }

    #[test]
    fn orders_are_read() {
        let orders = OrderBy::parse_list("avg(x) DESC, station asc,\"odd name\"").unwrap();
        let order = |column: &str, descending| OrderBy { column: column.to_owned(), descending };
        assert_eq!(orders, [order("avg(x)", true), order("station", false), order("odd name", false)]);
        assert!(OrderBy::parse_list("station up").is_err());
        assert!(OrderBy::parse_list("foo(x)").is_err());
    }
}
