//! Binds comparisons: with constants they become predicates on ranges, otherwise functions.

use super::{Binder, Result, all_of, conjunction, constant, disjunction, literal};
use crate::functions::compare;
use crate::functions::typed::{FunctionName, Node, Typed};
use crate::sql::{Kind, Literal, Syntax, SyntaxError};
use brc_core::{Comparison, LogicalType, Predicate, WantedText};

/// How many parts the copies of an expression may have together, where it is compared several times.
const MAX_PARTS: usize = 1 << 20;

/// Why nothing is compared with null.
const NULL: &str = "nothing is equal to null; write 'is null' or 'is not null'";

/// A comparison of a value.
enum Compared {
    /// With a constant: a test of the value, which is column 0 unless it is a column.
    Test(Predicate),
    Condition(Typed),
}

impl Binder<'_> {
    pub(super) fn compare(&mut self, comparison: Comparison, left: &Syntax, right: &Syntax) -> Result {
        let is_text = matches!(right.kind, Kind::Literal(Literal::Text(_)));
        match left.kind {
            // The type of a string constant depends on the other side.
            Kind::Literal(_) if !is_text => {
                let value = self.value(right)?;
                self.compare_with(&value, comparison.mirrored(), left)
            }
            _ => {
                let value = self.value(left)?;
                self.compare_with(&value, comparison, right)
            }
        }
    }

    pub(super) fn between(&mut self, [operand, low, high]: &[Syntax; 3]) -> Result {
        let null = Typed::literal(LogicalType::Bool, None);
        if is_null(operand) {
            all_of([low, high].map(|bound| self.bind(bound)).into_iter())?;
            return Ok(null);
        }
        let bounds = [(Comparison::GreaterOrEqual, low), (Comparison::LessOrEqual, high)];
        let given: Vec<_> = bounds.into_iter().filter(|(_, bound)| !is_null(bound)).collect();
        if given.is_empty() {
            self.value(operand)?;
            return Ok(null);
        }
        let join = |tests| Predicate::And(constant::intersected(tests));
        let is_within = self.compare_with_all(operand, &given, join, conjunction)?;
        Ok(if given.len() < bounds.len() { conjunction(vec![is_within, null]) } else { is_within })
    }

    pub(super) fn is_in(&mut self, operand: &Syntax, list: &[Syntax]) -> Result {
        if is_null(operand) {
            all_of(list.iter().map(|item| self.bind(item)))?;
            return Ok(Typed::literal(LogicalType::Bool, None));
        }
        let values = list.iter().filter(|item| !is_null(item));
        let items: Vec<_> = values.map(|item| (Comparison::Equal, item)).collect();
        let null = list.iter().find(|item| is_null(item)).map(|_| Typed::literal(LogicalType::Bool, None));
        if items.is_empty() {
            self.value(operand)?;
            return Ok(null.unwrap_or_else(|| disjunction(Vec::new())));
        }
        let is_in = self.compare_with_all(operand, &items, Predicate::Or, disjunction)?;
        Ok(match null {
            Some(null) => disjunction(vec![is_in, null]),
            None => is_in,
        })
    }

    /// `case operand when … when …`: the conditions.
    pub(super) fn equal_to_each(&mut self, operand: &Syntax, others: &[&Syntax]) -> Result<Vec<Typed>> {
        if let Kind::Literal(_) = operand.kind {
            return others.iter().map(|other| self.compare(Comparison::Equal, operand, other)).collect();
        }
        let value = self.operand(operand, others.len())?;
        all_of(others.iter().map(|other| self.compare_with(&value, Comparison::Equal, other)))
    }

    /// Compares one operand with several others, and joins what comes out: tests of constants to one.
    fn compare_with_all(
        &mut self,
        operand: &Syntax,
        others: &[(Comparison, &Syntax)],
        join_tests: impl Fn(Vec<Predicate>) -> Predicate,
        join: impl Fn(Vec<Typed>) -> Typed,
    ) -> Result {
        if let Kind::Literal(_) = operand.kind {
            let conditions = others.iter().map(|(comparison, other)| self.compare(*comparison, operand, other));
            return Ok(join(conditions.collect::<Result<_>>()?));
        }
        let is_constant = |(_, other): &&(Comparison, &Syntax)| matches!(other.kind, Kind::Literal(_));
        let value = self.operand(operand, others.len() - others.iter().filter(is_constant).count())?;
        let (mut tests, mut conditions) = (Vec::new(), Vec::new());
        for compared in all_of(others.iter().map(|(comparison, other)| self.compared(&value, *comparison, other)))? {
            match compared {
                Compared::Test(test) => tests.push(test),
                Compared::Condition(condition) => conditions.push(condition),
            }
        }
        if !tests.is_empty() {
            conditions.insert(0, self.tested(&value, join_tests(tests), operand.position)?);
        }
        Ok(if conditions.len() == 1 { conditions.remove(0) } else { join(conditions) })
    }

    /// A value that is compared.
    fn value(&mut self, syntax: &Syntax) -> Result {
        if is_null(syntax) {
            return self.error(NULL, syntax.position);
        }
        self.bind(syntax)
    }

    /// The same, where it has to be computed several times.
    fn operand(&mut self, syntax: &Syntax, times: usize) -> Result {
        let value = self.value(syntax)?;
        match value.size().saturating_mul(times) <= MAX_PARTS {
            true => Ok(value),
            false => self.error("the expression is too long for a comparison with so many values", syntax.position),
        }
    }

    fn compare_with(&mut self, value: &Typed, comparison: Comparison, other: &Syntax) -> Result {
        match self.compared(value, comparison, other)? {
            Compared::Test(test) => self.tested(value, test, other.position),
            Compared::Condition(condition) => Ok(condition),
        }
    }

    fn compared(&mut self, value: &Typed, comparison: Comparison, other: &Syntax) -> Result<Compared> {
        let position = other.position;
        if let Kind::Literal(literal) = &other.kind {
            if let Some(test) = self.test(value, comparison, literal, position)? {
                return Ok(Compared::Test(test));
            }
            if value.is_null() {
                return Ok(Compared::Condition(Typed::literal(LogicalType::Bool, None)));
            }
            let constant = self.literal_like(literal, value.logical_type, position)?;
            return self.function(comparison, value.clone(), constant, position).map(Compared::Condition);
        }
        let other = self.bind_beside(value, other)?;
        if let Some(literal) = literal::written(&other, value.logical_type)
            && let Some(test) = self.test(value, comparison, &literal, position)?
        {
            return Ok(Compared::Test(test));
        }
        if let Some(literal) = literal::written(value, other.logical_type)
            && let Some(test) = self.test(&other, comparison.mirrored(), &literal, position)?
        {
            return self.tested(&other, test, position).map(Compared::Condition);
        }
        self.function(comparison, value.clone(), other, position).map(Compared::Condition)
    }

    /// What a value is compared with. A name without a column, beside a string, is often a string without its quotes.
    fn bind_beside(&mut self, one: &Typed, other: &Syntax) -> Result {
        let is_name = one.logical_type == LogicalType::String
            && matches!(other.kind, Kind::Column(_))
            && !self.expression.is_quoted(other.position);
        self.bind(other).map_err(|error| if is_name { error.with_hint(constant::STRINGS) } else { error })
    }

    /// The test that a value compares so with a constant; `None` if its type says of no value where that is.
    fn test(
        &self,
        value: &Typed,
        comparison: Comparison,
        literal: &Literal,
        position: usize,
    ) -> Result<Option<Predicate>> {
        if *literal == Literal::Null {
            return self.error(NULL, position);
        }
        let column = if let Node::Column(column) = value.node { Some(column) } else { None };
        let tested = constant::Tested { column: column.unwrap_or(0), of: value.logical_type, nullable: value.nullable };
        match (tested.comparison(comparison, literal), column) {
            (None, Some(column)) => {
                if matches!(literal, Literal::Date(_) | Literal::Time(_) | Literal::Timestamp(_)) {
                    // One that is not what it says is reported as that.
                    self.literal(literal, position)?;
                }
                let (name, logical_type) = (&self.scope.fields()[column].name, value.logical_type);
                let (kind, hint) = (literal.kind(), constant::hint(literal, logical_type));
                let message = format!("column '{name}' is of type {logical_type}, but is compared with {kind}{hint}");
                let mismatch = self.mismatch(message, position, [value]);
                mismatch.map_err(|error: SyntaxError| error.wanting(self.wanted_token(column, comparison, literal)))
            }
            (test, _) => Ok(test),
        }
    }

    /// A column that is equal to a text only if the text is one of its null tokens.
    fn wanted_token(&self, column: usize, comparison: Comparison, literal: &Literal) -> Option<WantedText> {
        match (comparison, literal) {
            (Comparison::Equal | Comparison::NotEqual, Literal::Text(text)) => {
                Some(WantedText { column: self.scope.fields()[column].name.clone(), token: Some(text.clone()) })
            }
            _ => None,
        }
    }

    /// The condition that a value meets a test.
    fn tested(&self, value: &Typed, test: Predicate, position: usize) -> Result {
        if value.is_column() {
            return Ok(Typed::truth(Node::Condition(test), value.nullable));
        }
        self.folded(Typed::truth(Node::Test { of: Box::new(value.clone()), test }, value.nullable), position)
    }

    fn function(&self, comparison: Comparison, one: Typed, other: Typed, position: usize) -> Result {
        let (from, to) = (one.logical_type, other.logical_type);
        if common(from, to).is_none() && (one.is_null() || other.is_null()) {
            return Ok(Typed::literal(LogicalType::Bool, None));
        }
        if common(from, to).is_none() {
            let message = format!("a value of type {from} is compared with one of type {to}");
            return self.mismatch(message, position, [&one, &other]);
        }
        let arguments = vec![one, other];
        let nullable = arguments.iter().any(|argument| argument.nullable);
        let function = FunctionName(compare::function(comparison));
        self.folded(Typed::truth(Node::Call { function, arguments }, nullable), position)
    }
}

fn is_null(syntax: &Syntax) -> bool {
    syntax.kind == Kind::Literal(Literal::Null)
}

/// The type that holds the values of both.
pub(super) fn common(one: LogicalType, other: LogicalType) -> Option<LogicalType> {
    if one == other {
        return Some(one);
    }
    match (one, other) {
        (LogicalType::String, LogicalType::Binary) | (LogicalType::Binary, LogicalType::String) => {
            Some(LogicalType::Binary)
        }
        (LogicalType::Date, timestamp @ LogicalType::Timestamp { .. })
        | (timestamp @ LogicalType::Timestamp { .. }, LogicalType::Date) => Some(timestamp),
        (LogicalType::Timestamp { unit: one, zone }, LogicalType::Timestamp { unit: other, zone: other_zone }) => {
            Some(LogicalType::Timestamp { unit: one.max(other), zone: zone || other_zone })
        }
        (LogicalType::Time { unit: one }, LogicalType::Time { unit: other }) => {
            Some(LogicalType::Time { unit: one.max(other) })
        }
        _ if one.is_numeric() && other.is_numeric() => Some(numbers(one, other)),
        _ => None,
    }
}

fn numbers(one: LogicalType, other: LogicalType) -> LogicalType {
    let whole = |it: LogicalType| match it {
        LogicalType::Int8 => Some(3),
        LogicalType::Int16 => Some(5),
        LogicalType::Int32 => Some(10),
        LogicalType::Int64 => Some(19),
        LogicalType::UInt64 => Some(20),
        LogicalType::Decimal { precision, scale } => Some(precision - scale),
        _ => None,
    };
    let is_decimal = |it: LogicalType| matches!(it, LogicalType::Decimal { .. } | LogicalType::UInt64);
    match (whole(one), whole(other)) {
        (Some(first), Some(second)) if is_decimal(one) || is_decimal(other) => {
            let scale = one.scale().max(other.scale());
            let precision = first.max(second) + scale;
            if precision <= LogicalType::MAX_PRECISION {
                LogicalType::Decimal { precision, scale }
            } else {
                LogicalType::Decimal { precision: LogicalType::MAX_PRECISION, scale }
            }
        }
        (Some(_), Some(_)) => LogicalType::Int64,
        _ => LogicalType::Float64,
    }
}
