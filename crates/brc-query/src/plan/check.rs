//! A plan may come from another process: its columns and types are checked before it runs.

use super::Plan;
use crate::bind::inputs::Source;
use crate::functions::cast;
use crate::functions::typed::{Node, Typed};
use brc_core::{Error, Field, LogicalType, PhysicalType, Predicate, Result};

impl Plan {
    /// Checks that all columns exist and have the right types.
    pub(crate) fn check(&self) -> Result<()> {
        let unlike = || Error::Usage("the plan names columns that its schema does not have".to_owned());
        let (of_table, fields) = (self.schema.fields(), self.fields());
        let groups = self.keys.iter().all(|&key| key < fields.len())
            && self.outputs.iter().all(|output| output.bind(&fields).is_ok());
        if !groups {
            return Err(unlike());
        }
        let of_answer = if self.grouped { &self.group_fields() } else { &fields };
        let is_sound = |value: &Typed, fields: &[Field]| is_sound(value, fields);
        let computed = self.computed.iter().all(|computed| match &computed.source {
            Source::RowNumber => computed.field.logical_type == LogicalType::Int64,
            Source::Expression(typed) => typed.logical_type == computed.field.logical_type && is_sound(typed, of_table),
        });
        let values = self.columns.iter().map(|answer| &answer.value).chain(self.order_by.iter().map(|key| &key.value));
        let answer = values.chain(&self.having).all(|value| is_sound(value, of_answer));
        let predicate = self.predicate.as_ref().is_none_or(|predicate| predicate_fits(predicate, &fields));
        let conditions = self.conditions <= self.computed.len();
        if conditions && computed && answer && predicate { Ok(()) } else { Err(unlike()) }
    }
}

/// Whether an expression is of columns that are there, and of their types.
fn is_sound(typed: &Typed, fields: &[Field]) -> bool {
    let here = match &typed.node {
        Node::Column(column) => fields.get(*column).is_some_and(|field| field.logical_type == typed.logical_type),
        Node::Condition(predicate) => predicate_fits(predicate, fields),
        Node::Test { of, test } => predicate_fits(test, &[of.field()]),
        Node::Cast { inner, attempt } => cast::bound(inner.logical_type, typed.logical_type, *attempt).is_some(),
        Node::Call { function, arguments } => {
            (function.0.bind)(arguments).is_ok_and(|bound| bound.output == typed.logical_type)
        }
        Node::Literal(_)
        | Node::And(_)
        | Node::Or(_)
        | Node::Not(_)
        | Node::IsNull(_)
        | Node::Case { .. }
        | Node::Coalesce(_) => true,
    };
    here && typed.parts().into_iter().all(|part| is_sound(part, fields))
}

fn predicate_fits(predicate: &Predicate, fields: &[Field]) -> bool {
    let logical_type = |column: usize| fields.get(column).map(|field| field.logical_type.physical());
    match predicate {
        Predicate::Constant(_) => true,
        Predicate::Range { column, .. } => {
            matches!(logical_type(*column), Some(PhysicalType::Integers | PhysicalType::Floats))
        }
        Predicate::Compare { column, .. } => logical_type(*column) == Some(PhysicalType::Bytes),
        Predicate::IsNull { column } => logical_type(*column).is_some(),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(|part| predicate_fits(part, fields)),
        Predicate::Not(part) => predicate_fits(part, fields),
    }
}
