//! Names in expressions over groups: keys, and aggregates over the rows of a group.

use super::rows::RowScope;
use super::{Binder, Result, Scope, call};
use crate::aggregates::{AggregateCall, AggregateFunction, Form};
use crate::bind::inputs::{Inputs, Source};
use crate::functions::cast::is_exact_number;
use crate::functions::typed::{Node, Scalar, Typed};
use crate::sql::expression::Expression;
use crate::sql::suggestions::{IN_BRC_SQL, unknown_function};
use crate::sql::{Call, Kind, Literal, Syntax, SyntaxError};
use brc_core::{Field, LogicalType};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The most characters of a constant whose product with any number of rows fits in 64 bits.
const SMALL_DIGITS: usize = 6;

/// The columns that groups have: keys, then aggregates as they are met.
pub(crate) struct GroupScope<'a> {
    rows: RowScope<'a>,
    /// What is grouped and aggregated.
    pub(crate) inputs: Inputs,
    /// Which column each key is, as it was bound to rows.
    keys: HashMap<Typed, usize>,
    pub(crate) outputs: Vec<AggregateCall>,
    /// Which column each output is.
    columns: HashMap<AggregateCall, usize>,
    fields: Vec<Field>,
    /// Output columns by their names, by which later expressions may refer to them.
    aliases: HashMap<String, Typed>,
}

impl<'a> GroupScope<'a> {
    /// Groups by these keys, of which each has a name.
    pub(crate) fn new(rows: RowScope<'a>, mut inputs: Inputs, keys: Vec<(String, Typed)>) -> (Self, Vec<usize>) {
        let mut positions = Vec::with_capacity(keys.len());
        let mut fields = Vec::with_capacity(keys.len());
        for (name, key) in &keys {
            positions.push(inputs.position(name, key.clone()));
            fields.push(Field { name: name.clone(), logical_type: key.logical_type, nullable: key.nullable });
        }
        let keys = keys.into_iter().map(|(_, key)| key).zip(0..).collect();
        let (outputs, columns, aliases) = (Vec::new(), HashMap::new(), HashMap::new());
        (Self { rows, inputs, keys, outputs, columns, fields, aliases }, positions)
    }

    /// Lets later expressions name an output column; of several of a name, the first.
    pub(crate) fn name(&mut self, alias: &str, typed: &Typed) {
        self.aliases.entry(alias.to_owned()).or_insert_with(|| typed.clone());
    }

    /// A sum of a column and a small exact constant, of all rows, as the sum of the column, which a file may know, and the
    /// constant as often as there are values: so often a larger one may not fit, and floats are rounded row by row.
    fn constant_apart(&self, call: &Call, function: &AggregateFunction, position: usize) -> Option<Syntax> {
        let [Syntax { kind: Kind::Call(inner), .. }] = call.arguments.as_slice() else { return None };
        let ([left, right], "+" | "-") = (inner.arguments.as_slice(), inner.name.as_str()) else { return None };
        if function.name != "sum" || call.distinct || !self.keys.is_empty() {
            return None;
        }
        let is_number = |syntax: &Syntax| match &syntax.kind {
            Kind::Literal(Literal::Number(number)) => !number.exponential && number.to_string().len() <= SMALL_DIGITS,
            _ => false,
        };
        let is_exact = |syntax: &Syntax| match &syntax.kind {
            Kind::Column(name) => self.rows.field(name).is_some_and(|field| is_exact_number(field.logical_type)),
            _ => false,
        };
        let of = |name: &str, column: &Syntax| {
            let (name, arguments, shown) = (name.to_owned(), vec![column.clone()], Vec::new());
            Syntax { kind: Kind::Call(Call { name, arguments, shown, ..call.clone() }), position }
        };
        let times =
            |constant: &Syntax, column| Syntax::call("*", vec![constant.clone(), of("count", column)], position);
        let parts = match (is_exact(left) && is_number(right), is_number(left) && is_exact(right)) {
            (true, _) => vec![of("sum", left), times(right, left)],
            (_, true) => vec![times(left, right), of("sum", right)],
            _ => return None,
        };
        Some(Syntax::call(&inner.name, parts, position))
    }

    /// An aggregate over the rows of a group.
    fn aggregate(
        &mut self,
        expression: &Expression,
        call: &Call,
        function: &'static AggregateFunction,
        position: usize,
    ) -> Result {
        let (arguments, parameter) = self.arguments(expression, call, function, position)?;
        let mut columns: Vec<usize> = Vec::with_capacity(arguments.len());
        for (place, argument) in arguments.into_iter().enumerate() {
            let name = call.shown.get(place).map_or(function.name, String::as_str);
            columns.push(self.inputs.position(name, argument));
        }
        if function.form.is_in_row_order() {
            columns.push(self.inputs.of(Source::RowNumber));
        }
        let output = AggregateCall { function, columns, parameter };
        let bound = output.bind(self.inputs.fields()).map_err(|needed| {
            let place = call.arguments.first().map_or(position, |argument| argument.position);
            self.unsuitable(expression, call, &output.columns, needed, place)
        })?;
        let column = match self.columns.entry(output) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let name = new.key().name(self.inputs.fields());
                self.fields.push(Field { name, logical_type: bound.output, nullable: function.form != Form::Rows });
                self.outputs.push(new.key().clone());
                *new.insert(self.fields.len() - 1)
            }
        };
        let field = &self.fields[column];
        Ok(Typed::column(column, field.logical_type, field.nullable))
    }

    /// What an aggregate is computed of, null where its filter is not true; and the constant that it takes besides.
    fn arguments(
        &self,
        expression: &Expression,
        call: &Call,
        function: &AggregateFunction,
        position: usize,
    ) -> Result<(Vec<Typed>, Option<String>)> {
        let mut scope = self.rows;
        let mut binder = Binder { expression, scope: &mut scope };
        let mut arguments = call.arguments.iter().map(|argument| binder.bind(argument)).collect::<Result<Vec<_>>>()?;
        let filter = call.filter.as_deref().map(|filter| binder.truth(filter)).transpose()?;
        let parameter = function
            .form
            .parameter(&arguments)
            .map_err(|needed| expression.error(format!("'{}' {needed}", call.name), position))?;
        arguments.truncate(function.form.columns());
        if function.form == Form::Numbers && arguments.iter().any(|it| it.logical_type.is_float()) {
            let numbers = arguments.into_iter().zip(&call.arguments);
            let float =
                |(number, syntax): (Typed, &Syntax)| binder.cast(number, LogicalType::Float64, false, syntax.position);
            arguments = numbers.map(float).collect::<Result<_>>()?;
        }
        if let Some(filter) = filter {
            // Aggregates leave nulls out.
            let first = if arguments.is_empty() { truth() } else { arguments.remove(0) };
            let logical_type = first.logical_type;
            let node = Node::Case { branches: vec![(filter, first)], otherwise: None };
            arguments.insert(0, Typed { node, logical_type, nullable: true });
        }
        Ok((arguments, parameter))
    }

    /// The error for columns of which an aggregate cannot be computed.
    fn unsuitable(
        &self,
        expression: &Expression,
        call: &Call,
        columns: &[usize],
        needed: &str,
        place: usize,
    ) -> SyntaxError {
        let fields = self.inputs.fields();
        let found = match columns.first().and_then(|&column| fields.get(column)) {
            Some(field) if field.logical_type == LogicalType::Bool && needed.ends_with("of numbers") => {
                ", found bool; count(*) filter (where x) counts where it is true".to_owned()
            }
            Some(field) => format!(", found {}", field.logical_type),
            None => String::new(),
        };
        let is_text = |column: &usize| fields.get(*column).is_some_and(|it| it.logical_type == LogicalType::String);
        let texts = columns.iter().copied().filter(is_text).collect();
        expression.error(format!("'{}' needs {needed}{found}", call.name), place).of_types(texts)
    }
}

/// What is counted where nothing is.
fn truth() -> Typed {
    Typed::literal(LogicalType::Bool, Some(Scalar::Integer(1)))
}

impl Scope for GroupScope<'_> {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn column(&mut self, expression: &Expression, name: &str, position: usize) -> Result {
        if let Some(typed) = self.aliases.get(name) {
            return Ok(typed.clone());
        }
        // An unknown name is reported as such.
        self.rows.column(expression, name, position)?;
        let message = format!(
            "column '{name}' is neither in group by nor inside an aggregate; group by it, or take first({name})"
        );
        Err(expression.error(message, position))
    }

    fn whole(&mut self, expression: &Expression, syntax: &Syntax) -> Result<Option<Typed>> {
        if let Kind::Call(call) = &syntax.kind
            && let Some(function) = aggregate_of(expression, call, syntax.position)?
        {
            if let Some(apart) = self.constant_apart(call, function, syntax.position) {
                return Binder { expression, scope: self }.bind(&apart).map(Some);
            }
            return self.aggregate(expression, call, function, syntax.position).map(Some);
        }
        if matches!(syntax.kind, Kind::Literal(_)) || has_aggregates(syntax) {
            return Ok(None);
        }
        let mut scope = self.rows;
        let Ok(typed) = (Binder { expression, scope: &mut scope }).bind(syntax) else { return Ok(None) };
        Ok(match self.keys.get(&typed) {
            Some(&key) => Some(Typed::column(key, typed.logical_type, typed.nullable)),
            // Also of columns that are no keys: x in (null).
            None => typed.constant().is_some().then_some(typed),
        })
    }
}

/// The aggregate that a call is of, if it is of one.
fn aggregate_of(expression: &Expression, call: &Call, position: usize) -> Result<Option<&'static AggregateFunction>> {
    match AggregateFunction::by_name(&call.name, call.distinct) {
        Some(function) => Ok(Some(function)),
        None if call.distinct && AggregateFunction::by_name(&call.name, false).is_some() => {
            let message = format!("'{}' of distinct values is not supported; {IN_BRC_SQL}", call.name);
            Err(expression.error(message, position))
        }
        None if !call::is_function(&call.name) => Err(expression.error(unknown_function(&call.name), position)),
        None => Ok(None),
    }
}

/// Whether there is an aggregate in it.
pub(crate) fn has_aggregates(syntax: &Syntax) -> bool {
    let mut found = false;
    syntax.walk(&mut |part| {
        if let Kind::Call(call) = &part.kind {
            found |= [call.distinct, false].iter().any(|&it| AggregateFunction::by_name(&call.name, it).is_some());
        }
    });
    found
}

/// The number of an output column, if an expression is just that.
pub(crate) fn ordinal(syntax: &Syntax) -> Option<usize> {
    match &syntax.kind {
        Kind::Literal(Literal::Number(number)) if number.scale() == 0 => usize::try_from(number.floor(0).0).ok(),
        _ => None,
    }
}
