//! A text means nothing before names are columns and values have types. This folder resolves both, and finds out which
//! parts of a condition are plain ranges of a column, by which a scan can skip rows.
//!
//! In: `Syntax` and the columns of a table, or of groups (`Scope`). Out: typed expressions (`Typed`), predicates, and
//! the list of columns that have to be computed (`Inputs`). Errors name the position in the text.
//!
//! Where to look:
//!
//! - how an expression is bound (`Binder`): `mod.rs`, with calls in `call.rs`
//! - comparisons with constants, which become ranges: `compare.rs`, `constant.rs`, `range.rs`, `literal.rs`
//! - what names mean in a row of a table and in a group: `rows.rs`, `groups.rs`; names with slips: `names.rs`
//! - columns that are computed of rows: `inputs.rs`
//! - a condition without a query around it: `resolve.rs`

mod call;
mod compare;
mod constant;
pub(crate) mod groups;
pub(crate) mod inputs;
mod literal;
pub(crate) mod names;
mod range;
mod resolve;
pub(crate) mod rows;

use crate::bind::names::Names;
use crate::evaluate;
use crate::functions::cast;
use crate::functions::typed::{Node, Typed};
use crate::sql::expression::Expression;
use crate::sql::{Kind, Syntax, SyntaxError};
use crate::values::error::{EvalError, TOO_LONG};
use brc_core::{Field, LogicalType, Predicate, Schema, WantedText, identifier};

type Result<T = Typed> = std::result::Result<T, SyntaxError>;

/// What the names in an expression mean.
pub(crate) trait Scope {
    /// The columns that there are.
    fn fields(&self) -> &[Field];

    /// The column of that name.
    ///
    /// # Errors
    /// Why there is none.
    fn column(&mut self, expression: &Expression, name: &str, position: usize) -> Result;

    /// The column that a whole part of an expression is bound to, if there is one: a key or an aggregate.
    fn whole(&mut self, expression: &Expression, syntax: &Syntax) -> Result<Option<Typed>>;
}

/// Binds the whole of an expression.
pub(crate) fn bind(expression: &Expression, scope: &mut dyn Scope) -> Result {
    Binder { expression, scope }.bind(expression.syntax())
}

/// Binds an expression that must be a condition.
pub(crate) fn condition(expression: &Expression, scope: &mut dyn Scope) -> Result {
    Binder { expression, scope }.truth(expression.syntax())
}

/// Binds a condition that must be comparisons of columns with constants.
pub(crate) fn predicate(expression: &Expression, schema: &Schema) -> Result<Predicate> {
    let typed = condition(expression, &mut rows::RowScope::new(&Names::new(schema)))?;
    match typed.node {
        Node::Condition(predicate) => Ok(predicate),
        _ => {
            let message = "only comparisons of columns with constants are supported here; for other conditions use \
                           brc query 'select … where …'";
            Err(expression.error(message, expression.syntax().position))
        }
    }
}

/// Takes one expression apart.
pub(crate) struct Binder<'a> {
    pub(crate) expression: &'a Expression,
    pub(crate) scope: &'a mut dyn Scope,
}

impl Binder<'_> {
    pub(crate) fn bind(&mut self, syntax: &Syntax) -> Result {
        if let Some(found) = self.scope.whole(self.expression, syntax)? {
            return Ok(found);
        }
        match &syntax.kind {
            Kind::Column(name) => self.scope.column(self.expression, name, syntax.position),
            Kind::Literal(literal) => self.literal(literal, syntax.position),
            Kind::Compare(comparison, left, right) => self.compare(*comparison, left, right),
            Kind::Between(parts) => self.between(parts),
            Kind::In { operand, list } => self.is_in(operand, list),
            Kind::And(parts) => self.all(parts),
            Kind::Or(parts) => self.any(parts),
            Kind::Not(part) => Ok(negated(self.truth(part)?)),
            Kind::IsNull(part) => {
                let part = self.bind(part)?;
                Ok(Typed::truth(
                    match part.node {
                        Node::Column(column) => Node::Condition(Predicate::IsNull { column }),
                        _ => Node::IsNull(Box::new(part)),
                    },
                    false,
                ))
            }
            Kind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref())
            }
            Kind::Cast { inner, logical_type, attempt } => {
                let position = inner.position;
                let inner = self.bind(inner)?;
                self.cast(inner, *logical_type, *attempt, position)
            }
            Kind::Call(call) => self.call(call, syntax.position),
        }
    }

    fn error<T>(&self, message: impl Into<String>, position: usize) -> Result<T> {
        Err(self.expression.error(message, position))
    }

    /// What is wrong for the types of columns, which are among these values.
    fn mismatch<'t, T>(
        &self,
        message: impl Into<String>,
        position: usize,
        values: impl IntoIterator<Item = &'t Typed>,
    ) -> Result<T> {
        let column = |value: &Typed| match value.node {
            Node::Column(column) if value.logical_type == LogicalType::String => Some(column),
            _ => None,
        };
        let columns = values.into_iter().filter_map(column).collect();
        Err(self.expression.error(message, position).of_types(columns))
    }

    /// The columns among the arguments of a function that would take their null tokens as text.
    fn text_of(&self, arguments: &[Typed]) -> Vec<WantedText> {
        let fields = self.scope.fields();
        let name = |argument: &Typed| match argument.node {
            Node::Column(column) => fields.get(column).map(|field| field.name.clone()),
            _ => None,
        };
        arguments.iter().filter_map(name).map(|column| WantedText { column, token: None }).collect()
    }

    /// A part that must be a condition.
    pub(crate) fn truth(&mut self, syntax: &Syntax) -> Result {
        let typed = self.bind(syntax)?;
        if typed.is_null() {
            return Ok(Typed::literal(LogicalType::Bool, None));
        }
        if typed.logical_type != LogicalType::Bool {
            let (found, hint) = (typed.logical_type, self.as_condition(&typed));
            let message = format!("expected a condition, found a value of type {found}{hint}");
            return self.mismatch(message, syntax.position, [&typed]);
        }
        let nullable = typed.nullable;
        Ok(match typed.node {
            Node::Column(column) => {
                Typed::truth(Node::Condition(Predicate::Range { column, low: 1, high: 1 }), nullable)
            }
            Node::Literal(Some(crate::functions::typed::Scalar::Integer(value))) => {
                Typed::truth(Node::Condition(Predicate::Constant(value != 0)), false)
            }
            _ => typed,
        })
    }

    /// How a column would be written as a condition.
    fn as_condition(&self, value: &Typed) -> String {
        let Node::Column(column) = value.node else { return String::new() };
        let Some(field) = self.scope.fields().get(column) else { return String::new() };
        let name = identifier::in_sql(&field.name);
        match field.logical_type {
            LogicalType::String => format!("; write {name} = 't' or cast({name} as bool)"),
            number if number.is_numeric() => format!("; write {name} <> 0"),
            _ => format!("; write {name} is not null"),
        }
    }

    fn all(&mut self, parts: &[Syntax]) -> Result {
        let parts = all_of(parts.iter().map(|part| self.truth(part)))?;
        Ok(conjunction(parts))
    }

    fn any(&mut self, parts: &[Syntax]) -> Result {
        let parts = all_of(parts.iter().map(|part| self.truth(part)))?;
        Ok(disjunction(parts))
    }

    fn case(&mut self, operand: Option<&Syntax>, branches: &[(Syntax, Syntax)], otherwise: Option<&Syntax>) -> Result {
        let whens: Vec<&Syntax> = branches.iter().map(|(when, _)| when).collect();
        let whens = match operand {
            Some(operand) => self.equal_to_each(operand, &whens)?,
            None => whens.into_iter().map(|when| self.truth(when)).collect::<Result<_>>()?,
        };
        let mut thens = Vec::new();
        for (_, then) in branches {
            thens.push((self.bind(then)?, then.position));
        }
        if let Some(otherwise) = otherwise {
            thens.push((self.bind(otherwise)?, otherwise.position));
        }
        let mut thens = self.of_one_type(thens)?;
        let otherwise = if thens.len() > whens.len() { thens.pop().map(Box::new) } else { None };
        let logical_type = thens.first().map_or(LogicalType::String, |then| then.logical_type);
        let nullable = thens.iter().any(|then| then.nullable) || otherwise.as_ref().is_none_or(|it| it.nullable);
        let branches = whens.into_iter().zip(thens).collect();
        Ok(Typed { node: Node::Case { branches, otherwise }, logical_type, nullable })
    }

    /// Values of which one is taken: all as the type that holds all of them.
    fn of_one_type(&self, parts: Vec<(Typed, usize)>) -> Result<Vec<Typed>> {
        let parts = literal::like_the_others(literal::like_floats_32(parts));
        let mut common: Option<LogicalType> = None;
        for (part, position) in parts.iter().filter(|(part, _)| !part.is_null()) {
            common = Some(match common {
                None => part.logical_type,
                Some(common) => match compare::common(common, part.logical_type) {
                    Some(common) => common,
                    None => {
                        let found = part.logical_type;
                        let message = format!("values of types {found} and {common} cannot be combined");
                        return self.mismatch(message, *position, parts.iter().map(|(part, _)| part));
                    }
                },
            });
        }
        let common = common.unwrap_or(LogicalType::String);
        parts.into_iter().map(|(part, position)| self.cast(part, common, false, position)).collect()
    }

    fn cast(&self, inner: Typed, to: LogicalType, attempt: bool, position: usize) -> Result {
        if inner.logical_type == to {
            return Ok(inner);
        }
        if inner.is_null() {
            return Ok(Typed::literal(to, None));
        }
        let from = inner.logical_type;
        if cast::bound(from, to, attempt).is_none() {
            return self.mismatch(format!("a value of type {from} cannot be cast to {to}"), position, [&inner]);
        }
        let nullable = inner.nullable || attempt;
        self.folded(
            Typed { node: Node::Cast { inner: Box::new(inner), attempt }, logical_type: to, nullable },
            position,
        )
    }

    /// The same; a constant, if all of its parts are. One of many bytes is computed with the rows, within their memory.
    fn folded(&self, typed: Typed, position: usize) -> Result {
        if !typed.parts().iter().all(|part| part.constant().is_some()) {
            return Ok(typed);
        }
        match evaluate::constant(&typed) {
            Ok(value) => Ok(Typed::literal(typed.logical_type, value)),
            Err(EvalError::Value(message)) => self.mismatch(message, position, []),
            Err(EvalError::Batch(message)) => self.error(message, position),
            Err(EvalError::TooLarge(Some(_))) => Ok(typed),
            Err(EvalError::TooLarge(None)) => self.error(TOO_LONG, position),
        }
    }
}

/// What all parts are bound to; else the first error, which wants all that is wanted by the parts.
fn all_of<T>(parts: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut bound = Ok(Vec::new());
    for part in parts {
        bound = match (bound, part) {
            (Ok(mut bound), Ok(part)) => {
                bound.push(part);
                Ok(bound)
            }
            (Err(first), Err(next)) => Err(first.wanting(next.as_text)),
            (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        };
    }
    bound
}

/// All of these conditions.
pub(crate) fn conjunction(parts: Vec<Typed>) -> Typed {
    let nullable = parts.iter().any(|part| part.nullable);
    let (conditions, mut others) = separated(parts);
    let conditions = constant::intersected(conditions);
    let node = match others.is_empty() {
        true => Node::Condition(Predicate::And(conditions)),
        false => {
            others.splice(0..0, one(conditions, Predicate::And));
            Node::And(others)
        }
    };
    Typed::truth(node, nullable)
}

/// Any of these conditions.
pub(crate) fn disjunction(parts: Vec<Typed>) -> Typed {
    let nullable = parts.iter().any(|part| part.nullable);
    let (conditions, mut others) = separated(parts);
    let node = match others.is_empty() {
        true => Node::Condition(Predicate::Or(conditions)),
        false => {
            others.splice(0..0, one(conditions, Predicate::Or));
            Node::Or(others)
        }
    };
    Typed::truth(node, nullable)
}

pub(crate) fn negated(part: Typed) -> Typed {
    let node = match part.node {
        Node::Condition(predicate) => Node::Condition(Predicate::Not(Box::new(predicate))),
        _ => return Typed::truth(Node::Not(Box::new(part.clone())), part.nullable),
    };
    Typed::truth(node, part.nullable)
}

/// Separates predicates, which compare columns with constants, from other conditions.
fn separated(parts: Vec<Typed>) -> (Vec<Predicate>, Vec<Typed>) {
    let mut conditions = Vec::new();
    let mut others = Vec::new();
    for part in parts {
        match part.node {
            Node::Condition(predicate) => conditions.push(predicate),
            _ => others.push(part),
        }
    }
    (conditions, others)
}

/// Several conditions as one; none if there is none.
fn one(mut conditions: Vec<Predicate>, join: impl Fn(Vec<Predicate>) -> Predicate) -> Option<Typed> {
    let predicate = match conditions.len() {
        0 => return None,
        1 => conditions.remove(0),
        _ => join(conditions),
    };
    Some(Typed::truth(Node::Condition(predicate), true))
}
