//! Binds functions and operators.

use super::{Binder, Result, literal};
use crate::aggregates::AggregateFunction;
use crate::functions::extreme::MAX_VALUES;
use crate::functions::typed::{FunctionName, Node, Scalar, Typed};
use crate::functions::{Function, Mismatch, like_prefix};
use crate::sql::suggestions::unknown_function;
use crate::sql::{Call, Kind, Literal, Syntax, SyntaxError};
use brc_core::bounds::after_prefix;
use brc_core::{Comparison, LogicalType, Predicate, TimeUnit};

/// Syntax in the form of a function call.
const COALESCE: [&str; 3] = ["coalesce", "ifnull", "nvl"];

/// Functions that skip nulls; others return null for a null.
const EXTREMES: [&str; 2] = ["greatest", "least"];

/// The limit of nodes in all copies of the arguments of one call.
const MAX_PARTS: usize = 1 << 12;

/// The error for a misplaced interval.
pub(super) const INTERVAL: &str = "an interval can only be added to a date or timestamp, or subtracted from one";

/// The function that joins strings and skips nulls; `||` returns null for a null.
const CONCAT: &str = "concat";

/// Whether a function, or syntax in the form of a call, has that name.
pub(super) fn is_function(name: &str) -> bool {
    COALESCE.contains(&name) || Function::by_name(name).is_some()
}

impl Binder<'_> {
    pub(super) fn call(&mut self, call: &Call, position: usize) -> Result {
        if COALESCE.contains(&call.name.as_str()) && !call.arguments.is_empty() {
            return self.coalesce(call);
        }
        if let Some(aggregate) = AggregateFunction::by_name(&call.name, false) {
            let message =
                format!("the aggregate '{}' is not allowed here; use having to filter groups", aggregate.name);
            return self.error(message, position);
        }
        let Some(function) = Function::by_name(&call.name) else {
            return self.error(unknown_function(&call.name), position);
        };
        if call.distinct || call.filter.is_some() {
            let message = format!("'{}' is not an aggregate, so it takes no distinct and no filter", function.name);
            return self.error(message, position);
        }
        if ["+", "-"].contains(&function.name)
            && let Some(shifted) = self.shifted(call)?
        {
            return Ok(shifted);
        }
        if EXTREMES.contains(&function.name) && (1..=MAX_VALUES).contains(&call.arguments.len()) {
            return self.extreme(function, call, position);
        }
        let mut arguments = call.arguments.iter().map(|argument| self.bind(argument)).collect::<Result<Vec<_>>>()?;
        if call.name == CONCAT {
            let texts = arguments.into_iter().map(|argument| self.text_or_nothing(function, argument, position));
            arguments = texts.collect::<Result<_>>()?;
        }
        let called = if function.aliases.contains(&call.name.as_str()) { &call.name } else { function.shown() };
        let typed = self.function_called(called, function, arguments, &call.arguments, position)?;
        match &typed.node {
            Node::Call { function, arguments } if ["like", "starts_with"].contains(&function.0.name) => {
                Ok(prefixed(function.0.name, arguments).unwrap_or(typed))
            }
            _ => Ok(typed),
        }
    }

    pub(super) fn function_of(
        &self,
        function: &'static Function,
        arguments: Vec<Typed>,
        syntax: &[Syntax],
        position: usize,
    ) -> Result {
        self.function_called(function.shown(), function, arguments, syntax, position)
    }

    /// The same; messages call it by the name by which it was called.
    fn function_called(
        &self,
        called: &str,
        function: &'static Function,
        arguments: Vec<Typed>,
        syntax: &[Syntax],
        position: usize,
    ) -> Result {
        match (function.bind)(&arguments) {
            Ok(bound) => {
                let nullable = bound.nullable || arguments.iter().any(|argument| argument.nullable);
                let function = FunctionName(function);
                let typed = Typed { node: Node::Call { function, arguments }, logical_type: bound.output, nullable };
                self.folded(typed, position)
            }
            // What no null can be passed to is null for one.
            Err(Mismatch { argument, .. }) if arguments.get(argument).is_some_and(Typed::is_null) => {
                Ok(Typed::literal(LogicalType::String, None))
            }
            Err(Mismatch { argument, needed }) => {
                if let Some(arguments) = self.with_uuids_as_text(&arguments, position)?
                    && (function.bind)(&arguments).is_ok()
                {
                    return self.function_called(called, function, arguments, syntax, position);
                }
                if needed.contains("a date or a time")
                    && let Some(arguments) = literal::with_time(&arguments, argument)
                {
                    return self.function_called(called, function, arguments, syntax, position);
                }
                let needed = needed.replacen(&format!(" {}(", function.name), &format!(" {called}("), 1);
                match (arguments.get(argument), syntax.get(argument)) {
                    (Some(found), Some(syntax)) => {
                        let is_row_by_row = needed.contains("constant") && found.constant().is_none();
                        let varies = if is_row_by_row { " that is not constant" } else { "" };
                        let is_moved =
                            ["+", "-"].contains(&called) && arguments.iter().any(|it| it.logical_type.is_temporal());
                        let hint = if is_moved { "; time is added as in t + interval '1 day'" } else { "" };
                        let found = format!("{}{varies}{hint}", self::found(found));
                        let message = format!("'{called}' {needed}, found {found}");
                        self.mismatch(message, syntax.position, &arguments)
                            .map_err(|error: SyntaxError| error.wanting(self.text_of(&arguments)))
                    }
                    (Some(_), None) => self.mismatch(format!("'{called}' {needed}"), position, &arguments),
                    (None, _) => self.error(format!("'{called}' {needed}"), position),
                }
            }
        }
    }

    /// The arguments with UUIDs replaced by their text; `None` if there is no UUID.
    fn with_uuids_as_text(&self, arguments: &[Typed], position: usize) -> Result<Option<Vec<Typed>>> {
        if arguments.iter().all(|argument| argument.logical_type != LogicalType::Uuid) {
            return Ok(None);
        }
        let text = |argument: &Typed| match argument.logical_type {
            LogicalType::Uuid => self.cast(argument.clone(), LogicalType::String, false, position),
            _ => Ok(argument.clone()),
        };
        arguments.iter().map(text).collect::<Result<_>>().map(Some)
    }

    /// The text form of a value, which is empty for null.
    fn text_or_nothing(&self, concat: &'static Function, value: Typed, position: usize) -> Result {
        if !value.nullable {
            return Ok(value);
        }
        let text = self.function_of(concat, vec![value], &[], position)?;
        let nothing = Typed::literal(LogicalType::String, Some(Scalar::Bytes(Vec::new())));
        let node = Node::Coalesce(vec![text, nothing]);
        Ok(Typed { node, logical_type: LogicalType::String, nullable: false })
    }

    /// `greatest(a, b, …)`: a null is replaced by another of the values, so that the result is null only if all are.
    fn extreme(&mut self, function: &'static Function, call: &Call, position: usize) -> Result {
        let values = self.arguments_of_one_type(call)?;
        if values.iter().map(Typed::size).sum::<usize>().saturating_mul(values.len()) > MAX_PARTS {
            return self.error(format!("the arguments of '{}' are too long", function.name), position);
        }
        let value = |(index, value): (usize, &Typed)| {
            if !value.nullable {
                return value.clone();
            }
            let (before, from) = values.split_at(index);
            let nullable = values.iter().all(|value| value.nullable);
            Typed { node: Node::Coalesce([from, before].concat()), logical_type: value.logical_type, nullable }
        };
        let values = values.iter().enumerate().map(value).collect();
        self.function_of(function, values, &call.arguments, position)
    }

    fn arguments_of_one_type(&mut self, call: &Call) -> Result<Vec<Typed>> {
        let parts = call.arguments.iter().map(|part| Ok((self.bind(part)?, part.position))).collect::<Result<_>>()?;
        self.of_one_type(parts)
    }

    fn coalesce(&mut self, call: &Call) -> Result {
        let parts = self.arguments_of_one_type(call)?;
        let nullable = parts.iter().all(|part| part.nullable);
        let logical_type = parts.first().map_or(LogicalType::String, |part| part.logical_type);
        Ok(Typed { node: Node::Coalesce(parts), logical_type, nullable })
    }

    /// `t + interval …`, in this order or the other, or `t - interval …`.
    fn shifted(&mut self, call: &Call) -> Result<Option<Typed>> {
        let (operand, interval) = match &call.arguments[..] {
            [operand, Syntax { kind: Kind::Literal(interval @ Literal::Interval { .. }), .. }] => (operand, interval),
            [Syntax { kind: Kind::Literal(interval), .. }, operand] if call.name == "+" => (operand, interval),
            _ => return Ok(None),
        };
        let Literal::Interval { months, days, microseconds } = interval else { return Ok(None) };
        let moved = self.bind(operand)?;
        let moved = match moved.logical_type {
            LogicalType::Date => moved,
            LogicalType::Timestamp { unit, zone } => match unit_of(*microseconds).max(unit) {
                finer if finer != unit => {
                    let finer = LogicalType::Timestamp { unit: finer, zone };
                    self.cast(moved, finer, false, operand.position)?
                }
                _ => moved,
            },
            _ if moved.is_null() => return Ok(Some(moved)),
            _ => {
                let found = found(&moved);
                return self.mismatch(format!("{INTERVAL}, found {found}"), operand.position, [&moved]);
            }
        };
        let sign = if call.name == "-" { -1 } else { 1 };
        let mut arguments = vec![moved];
        arguments.extend(
            [months, days, microseconds]
                .map(|count| Typed::literal(LogicalType::Int64, Some(Scalar::Integer(i128::from(*count) * sign)))),
        );
        let Some(function) = Function::by_name("shift") else { return Ok(None) };
        self.function_of(function, arguments, std::slice::from_ref(operand), operand.position).map(Some)
    }
}

/// The coarsest unit that has that many microseconds.
fn unit_of(microseconds: i64) -> TimeUnit {
    let is_whole = |unit: &TimeUnit| microseconds % (TimeUnit::Microsecond.per_second() / unit.per_second()) == 0;
    [TimeUnit::Second, TimeUnit::Millisecond].into_iter().find(is_whole).unwrap_or(TimeUnit::Microsecond)
}

/// What an argument is, for messages.
fn found(argument: &Typed) -> String {
    match argument.constant() {
        Some(None) => "null".to_owned(),
        Some(Some(Scalar::Bytes(text))) => format!("'{}'", String::from_utf8_lossy(text)),
        Some(Some(number)) if argument.logical_type.is_numeric() => number.value().to_text(argument.logical_type),
        Some(Some(_)) | None => argument.logical_type.to_string(),
    }
}

/// Strings of a column that begin with something are a range, if the pattern says no more.
fn prefixed(name: &str, arguments: &[Typed]) -> Option<Typed> {
    let (Node::Column(column), Some(Some(Scalar::Bytes(text)))) = (&arguments[0].node, arguments[1].constant()) else {
        return None;
    };
    let column = *column;
    let prefix = match name {
        "starts_with" => text.clone(),
        _ if arguments.len() > 2 => return None,
        _ => like_prefix(text).filter(|(_, is_all)| *is_all)?.0,
    };
    let end = after_prefix(&prefix)?;
    let compare = |comparison, value| Predicate::Compare { column, comparison, value };
    let range = vec![compare(Comparison::GreaterOrEqual, prefix), compare(Comparison::Less, end)];
    Some(Typed::truth(Node::Condition(Predicate::And(range)), arguments[0].nullable))
}
