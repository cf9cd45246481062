//! Converts the tree of `sqlparser` to [`Syntax`].

use super::interval;
use super::parser::Places;
use super::{Call, Kind, Literal, Syntax, SyntaxError, types};
use crate::sql::suggestions::{unknown_function, unknown_operator};
use crate::values::number::Number;
use brc_core::Comparison;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DataType, DateTimeField, Expr, Ident, Interval, Spanned,
    TrimWhereField, TypedString, UnaryOperator, Value,
};

/// Turns the parts of one expression into ours.
pub(super) struct Converter<'a> {
    pub(super) source: &'a str,
    pub(super) places: &'a Places,
    /// The byte at which the expression begins: the position of parts that have none of their own.
    pub(super) start: usize,
    /// The names of the table, which may stand before those of its columns.
    pub(super) table: &'a [String],
}

const SUBQUERY: &str =
    "subqueries are not supported: run it first and write its result here, or use brc-sql, which has all of SQL";

pub(super) type Converted<T = Syntax> = Result<T, SyntaxError>;

impl Converter<'_> {
    /// The name of a column: without the name of the table; other names with dots are whole names of columns.
    fn qualified(&self, names: Vec<Ident>) -> String {
        let joined = |names: &[Ident]| names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(".");
        match names.split_last() {
            Some((last, before)) if self.table.iter().any(|table| table.eq_ignore_ascii_case(&joined(before))) => {
                last.value.clone()
            }
            _ => joined(&names),
        }
    }

    pub(super) fn expression(&self, expression: Expr) -> Converted {
        let position = self.place(&expression);
        let kind = match expression {
            Expr::Nested(inner) => return self.expression(*inner),
            Expr::Identifier(name) => Kind::Column(name.value),
            Expr::CompoundIdentifier(names) => Kind::Column(self.qualified(names)),
            Expr::Value(value) => Kind::Literal(self.value(value.value, position)?),
            Expr::TypedString(typed) => Kind::Literal(self.typed_string(typed, position)?),
            Expr::Interval(interval) => Kind::Literal(self.interval(interval, position)?),
            Expr::BinaryOp { op: BinaryOperator::And, .. } => Kind::And(self.chain(expression, &BinaryOperator::And)?),
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => Kind::Or(self.chain(expression, &BinaryOperator::Or)?),
            Expr::BinaryOp { left, op, right } => self.binary(*left, &op, *right, position)?,
            Expr::UnaryOp { op, expr } => return self.unary(op, *expr, position),
            Expr::IsNull(inner) => Kind::IsNull(self.boxed(*inner)?),
            Expr::IsNotNull(inner) => not(Kind::IsNull(self.boxed(*inner)?), position),
            Expr::IsTrue(inner) => self.or_if_null(*inner, false, position)?,
            Expr::IsNotTrue(inner) => not(self.or_if_null(*inner, false, position)?, position),
            Expr::IsNotFalse(inner) => self.or_if_null(*inner, true, position)?,
            Expr::IsFalse(inner) => not(self.or_if_null(*inner, true, position)?, position),
            Expr::IsNotDistinctFrom(one, other) => self.are_same(*one, *other, position)?,
            Expr::IsDistinctFrom(one, other) => not(self.are_same(*one, *other, position)?, position),
            Expr::InList { expr, list, negated } => self.in_list(*expr, list, negated, position)?,
            Expr::Between { expr, negated, low, high } => {
                let parts = [self.expression(*expr)?, self.expression(*low)?, self.expression(*high)?];
                let between = Kind::Between(Box::new(parts));
                if negated { not(between, position) } else { between }
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like("like", *expr, *pattern, escape_char.map(|escape| *escape), negated, position)?
            }
            Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like("ilike", *expr, *pattern, escape_char.map(|escape| *escape), negated, position)?
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.map(|operand| *operand), conditions, else_result.map(|result| *result))?
            }
            Expr::Cast { kind, expr, data_type, format: None } => self.cast(&kind, *expr, &data_type, position)?,
            Expr::Function(function) => self.choice(function, position)?,
            other => self.special_call(other, position)?,
        };
        Ok(Syntax { kind, position })
    }

    /// Functions that have a syntax of their own in SQL.
    fn special_call(&self, expression: Expr, position: usize) -> Converted<Kind> {
        let (name, arguments) = match expression {
            Expr::Extract { field, expr, .. } => {
                let unit = Kind::Literal(Literal::Text(field.to_string().to_lowercase().into_bytes()));
                ("extract", vec![Syntax { kind: unit, position }, self.expression(*expr)?])
            }
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let one = Syntax { kind: Kind::Literal(Literal::Number(Number::new("1"))), position };
                let from = substring_from.map(|from| self.expression(*from)).transpose()?;
                let mut arguments = vec![self.expression(*expr)?];
                arguments.extend(from.or(substring_for.is_some().then_some(one)));
                arguments.extend(substring_for.map(|length| self.expression(*length)).transpose()?);
                ("substr", arguments)
            }
            Expr::Ceil { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                ("ceil", vec![self.expression(*expr)?])
            }
            Expr::Floor { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                ("floor", vec![self.expression(*expr)?])
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
                let more = trim_what.map(|what| *what).into_iter().chain(trim_characters.into_iter().flatten());
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    Some(TrimWhereField::Both) | None => "trim",
                };
                (name, self.all([*expr].into_iter().chain(more).collect())?)
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                ("timezone", vec![self.expression(*time_zone)?, self.expression(*timestamp)?])
            }
            Expr::Position { expr, r#in } => ("strpos", vec![self.expression(*r#in)?, self.expression(*expr)?]),
            other => return Err(self.unsupported(&other, position)),
        };
        Ok(Kind::Call(call(name, arguments)))
    }

    /// The error for what is parsed but has no meaning here, with what to write instead where there is such.
    fn unsupported(&self, expression: &Expr, position: usize) -> SyntaxError {
        let message = match expression {
            Expr::RLike { regexp, .. } => unknown_operator(if *regexp { "regexp" } else { "rlike" }),
            Expr::SimilarTo { .. } => unknown_operator("similar to"),
            Expr::Convert { .. } => unknown_function("convert"),
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => SUBQUERY.to_owned(),
            Expr::Tuple(_) => {
                "several expressions in parentheses are not one; write a, b, or a = 1 and b = 2".to_owned()
            }
            Expr::Array(array) if array.elem.iter().all(|part| matches!(part, Expr::Value(_))) => {
                "lists are not supported; write one call for each of the values".to_owned()
            }
            Expr::Array(_) => "write names in double quotes, not in brackets: \"wind speed\"".to_owned(),
            other => format!("'{}' is not supported", shortened(&other.to_string())),
        };
        SyntaxError::new(message, position, self.source)
    }

    pub(super) fn boxed(&self, expression: Expr) -> Converted<Box<Syntax>> {
        self.expression(expression).map(Box::new)
    }

    fn all(&self, expressions: Vec<Expr>) -> Converted<Vec<Syntax>> {
        expressions.into_iter().map(|expression| self.expression(expression)).collect()
    }

    /// The byte at which an expression begins.
    fn place(&self, expression: &Expr) -> usize {
        // The position of a chain, however long, is that of its first part.
        let mut first = expression;
        while let Expr::BinaryOp { left, .. } = first {
            first = left;
        }
        let span = first.span();
        if span.start.line == 0 { self.start } else { self.places.byte(span.start) }
    }

    pub(super) fn refuse<T>(&self, what: String, position: usize) -> Converted<T> {
        Err(SyntaxError::new(format!("{what} is not supported"), position, self.source))
    }

    fn no_operator(&self, name: &str, position: usize) -> SyntaxError {
        SyntaxError::new(unknown_operator(name), position, self.source)
    }

    pub(super) fn no_function(&self, name: &str, position: usize) -> SyntaxError {
        SyntaxError::new(unknown_function(name), position, self.source)
    }

    /// The parts of a chain of one operator, which is as deep as it is long.
    fn chain(&self, expression: Expr, operator: &BinaryOperator) -> Converted<Vec<Syntax>> {
        let mut parts = Vec::new();
        let mut rest = expression;
        let first = loop {
            match rest {
                Expr::BinaryOp { left, op, right } if op == *operator => {
                    parts.push(*right);
                    rest = *left;
                }
                first => break first,
            }
        };
        parts.push(first);
        parts.reverse();
        self.all(parts)
    }

    fn binary(&self, left: Expr, operator: &BinaryOperator, right: Expr, position: usize) -> Converted<Kind> {
        let comparison = match operator {
            BinaryOperator::Eq => Some(Comparison::Equal),
            BinaryOperator::NotEq => Some(Comparison::NotEqual),
            BinaryOperator::Lt => Some(Comparison::Less),
            BinaryOperator::LtEq => Some(Comparison::LessOrEqual),
            BinaryOperator::Gt => Some(Comparison::Greater),
            BinaryOperator::GtEq => Some(Comparison::GreaterOrEqual),
            _ => None,
        };
        if let Some(comparison) = comparison {
            return Ok(Kind::Compare(comparison, self.boxed(left)?, self.boxed(right)?));
        }
        let name = match operator {
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::DuckIntegerDivide => "//",
            BinaryOperator::Modulo => "%",
            BinaryOperator::StringConcat => "||",
            other => return Err(self.no_operator(&other.to_string(), position)),
        };
        Ok(Kind::Call(call(name, vec![self.expression(left)?, self.expression(right)?])))
    }

    fn unary(&self, operator: UnaryOperator, operand: Expr, position: usize) -> Converted {
        let operand = self.expression(operand)?;
        let kind = match (operator, operand.kind) {
            (UnaryOperator::Plus, kind) => kind,
            (UnaryOperator::Minus, Kind::Literal(Literal::Number(number))) => {
                Kind::Literal(Literal::Number(number.negated()))
            }
            (UnaryOperator::Minus, kind) => Kind::Call(call("negate", vec![Syntax { kind, ..operand }])),
            (UnaryOperator::Not, kind) => Kind::Not(Box::new(Syntax { kind, ..operand })),
            (other, _) => return Err(self.no_operator(&other.to_string(), position)),
        };
        Ok(Syntax { kind, position })
    }

    fn in_list(&self, operand: Expr, list: Vec<Expr>, negated: bool, position: usize) -> Converted<Kind> {
        let is_in = Kind::In { operand: self.boxed(operand)?, list: self.all(list)? };
        Ok(if negated { not(is_in, position) } else { is_in })
    }

    fn like(
        &self,
        name: &str,
        text: Expr,
        pattern: Expr,
        escape: Option<Expr>,
        negated: bool,
        position: usize,
    ) -> Converted<Kind> {
        let mut arguments = vec![self.expression(text)?, self.expression(pattern)?];
        arguments.extend(escape.map(|escape| self.expression(escape)).transpose()?);
        let like = Kind::Call(call(name, arguments));
        Ok(if negated { not(like, position) } else { like })
    }

    fn case(&self, operand: Option<Expr>, conditions: Vec<CaseWhen>, otherwise: Option<Expr>) -> Converted<Kind> {
        let operand = operand.map(|operand| self.boxed(operand)).transpose()?;
        let branch = |CaseWhen { condition, result }| Ok((self.expression(condition)?, self.expression(result)?));
        let branches = conditions.into_iter().map(branch).collect::<Converted<_>>()?;
        let otherwise = otherwise.map(|otherwise| self.boxed(otherwise)).transpose()?;
        Ok(Kind::Case { operand, branches, otherwise })
    }

    fn cast(&self, kind: &CastKind, operand: Expr, data_type: &DataType, position: usize) -> Converted<Kind> {
        let Some(logical_type) = types::logical_type(data_type) else {
            let hint = format!(" (types: {})", types::FORMS);
            return self.refuse(format!("the type {data_type}"), position).map_err(|error| error.with_hint(&hint));
        };
        let attempt = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
        Ok(Kind::Cast { inner: self.boxed(operand)?, logical_type, attempt })
    }

    /// The value of a condition, or the given one where it is null.
    fn or_if_null(&self, condition: Expr, value: bool, position: usize) -> Converted<Kind> {
        let value = Syntax { kind: Kind::Literal(Literal::Bool(value)), position };
        Ok(Kind::Call(call("coalesce", vec![self.expression(condition)?, value])))
    }

    fn value(&self, value: Value, position: usize) -> Converted<Literal> {
        Ok(match value {
            Value::Number(text, _) => Literal::Number(Number::new(&text.replace('_', ""))),
            Value::Boolean(value) => Literal::Bool(value),
            Value::Null => Literal::Null,
            Value::SingleQuotedString(text) => Literal::Text(text.into_bytes()),
            other => return self.refuse(format!("the constant {other}"), position),
        })
    }

    /// `date '2024-01-31'` and the like.
    fn typed_string(&self, typed: TypedString, position: usize) -> Converted<Literal> {
        let word = typed.data_type.to_string().to_lowercase();
        let Some(text) = typed.value.into_string() else {
            let ends = |character: char| character.is_whitespace() || matches!(character, ',' | ';' | ')');
            let rest = self.source.get(position..).unwrap_or_default();
            let text = rest.split(ends).next().unwrap_or_default();
            return Err(SyntaxError::new(format!("write it in quotes: {word} '{text}'"), position, self.source));
        };
        Ok(match word.as_str() {
            "date" => Literal::Date(text.into_bytes()),
            "time" => Literal::Time(text.into_bytes()),
            word if word.starts_with("timestamp") => Literal::Timestamp(text.into_bytes()),
            word => return self.refuse(format!("constants of type {word}"), position),
        })
    }

    /// `interval '90' day`, `interval 90 day`, `interval '1 month 90 days'`.
    fn interval(&self, interval: Interval, position: usize) -> Converted<Literal> {
        let text = match self.expression(*interval.value)?.kind {
            Kind::Literal(Literal::Text(text)) => String::from_utf8(text).unwrap_or_default(),
            Kind::Literal(Literal::Number(number)) => number.to_string(),
            _ => return self.refuse("an interval that is no constant".to_owned(), position),
        };
        let text = match interval.leading_field {
            Some(unit) => format!("{text} {unit}"),
            None => text,
        };
        match interval::parse(&text) {
            Ok(interval) => Ok(interval),
            Err(Some(unit)) => {
                let message = format!("the interval unit '{unit}' is not supported (units: {})", interval::UNITS);
                Err(SyntaxError::new(message, position, self.source))
            }
            Err(None) if text.trim().parse::<f64>().is_ok() => {
                let text = text.trim();
                let message = format!("an interval needs a unit, in quotes: interval '{text} day'");
                Err(SyntaxError::new(message, position, self.source))
            }
            Err(None) => self.refuse(format!("the interval '{text}'"), position),
        }
    }
}

pub(super) fn call(name: &str, arguments: Vec<Syntax>) -> Call {
    Call { name: name.to_owned(), distinct: false, arguments, shown: Vec::new(), filter: None }
}

fn not(kind: Kind, position: usize) -> Kind {
    Kind::Not(Box::new(Syntax { kind, position }))
}

/// What is quoted in a message need not be whole.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}
