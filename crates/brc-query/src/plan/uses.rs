//! What a query does with columns, for notes about what it may be meant to do.

use crate::aggregates::AggregateFunction;
use crate::bind::groups::ordinal;
use crate::sql::expression::{Expression, OrderBy, SelectItem};
use crate::sql::query::Query;
use crate::sql::{Kind, Literal, Syntax};
use brc_core::{Comparison, Schema};
use std::collections::{BTreeSet, HashSet};

impl Query {
    /// The columns whose values are compared by size, or by which the answer is sorted.
    #[must_use]
    pub fn sized_columns(&self) -> HashSet<&str> {
        let mut parts: Vec<&Syntax> = self.order_by.iter().filter_map(|order| self.sorted(order)).collect();
        for expression in self.expressions() {
            expression.syntax().walk(&mut |part| parts.extend(sized(part)));
        }
        parts.into_iter().filter_map(column).collect()
    }

    /// The whole numbers that are aggregated, although a column has that name.
    #[must_use]
    pub fn numbers_for_columns(&self, schema: &Schema) -> BTreeSet<String> {
        let mut parts = Vec::new();
        for expression in self.expressions() {
            expression.syntax().walk(&mut |part| parts.extend(aggregated(part)));
        }
        let numbers = parts.into_iter().filter_map(whole_number);
        numbers.filter(|number| schema.fields().iter().any(|field| field.name == *number)).collect()
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let sorted = self.order_by.iter().map(|order| &order.expression);
        let lists = self.selected_expressions().map(|(expression, _)| expression).chain(self.by.iter().flatten());
        lists.chain(self.aggregates.iter().flatten()).chain(&self.filter).chain(&self.having).chain(sorted)
    }

    /// The items of `select` with their names, but for `*`.
    fn selected_expressions(&self) -> impl Iterator<Item = (&Expression, Option<&str>)> {
        self.select.iter().flatten().filter_map(|item| match item {
            SelectItem::Expression { expression, alias } => Some((expression, alias.as_deref())),
            SelectItem::All { .. } => None,
        })
    }

    /// What an item of `order by` stands for.
    fn sorted<'a>(&'a self, order: &'a OrderBy) -> Option<&'a Syntax> {
        let syntax = order.expression.syntax();
        if let Some(number) = ordinal(syntax) {
            let item = self.select.as_ref()?.get(number.checked_sub(1)?)?;
            return if let SelectItem::Expression { expression, .. } = item { Some(expression.syntax()) } else { None };
        }
        let Kind::Column(name) = &syntax.kind else { return Some(syntax) };
        let named = self.selected_expressions().find(|(_, alias)| *alias == Some(name));
        Some(named.map_or(syntax, |(expression, _)| expression.syntax()))
    }
}

/// What an expression compares by size.
fn sized(syntax: &Syntax) -> Vec<&Syntax> {
    match &syntax.kind {
        Kind::Compare(Comparison::Equal | Comparison::NotEqual, ..) => Vec::new(),
        Kind::Compare(_, one, other) => vec![one, other],
        Kind::Between(parts) => parts.iter().collect(),
        Kind::Call(call) if ["min", "max", "greatest", "least"].contains(&call.name.as_str()) => {
            call.arguments.iter().collect()
        }
        Kind::Call(call) if ["min_by", "max_by"].contains(&call.name.as_str()) => {
            call.arguments.iter().skip(1).collect()
        }
        _ => Vec::new(),
    }
}

/// The arguments of an aggregate in which there is no column, part by part.
fn aggregated(syntax: &Syntax) -> Vec<&Syntax> {
    let Kind::Call(call) = &syntax.kind else { return Vec::new() };
    if AggregateFunction::by_name(&call.name, call.distinct).is_none() {
        return Vec::new();
    }
    let (mut parts, mut has_columns) = (Vec::new(), false);
    for argument in &call.arguments {
        argument.walk(&mut |part| {
            parts.push(part);
            has_columns |= column(part).is_some();
        });
    }
    if has_columns { Vec::new() } else { parts }
}

fn column(syntax: &Syntax) -> Option<&str> {
    if let Kind::Column(name) = &syntax.kind { Some(name) } else { None }
}

fn whole_number(syntax: &Syntax) -> Option<String> {
    match &syntax.kind {
        Kind::Literal(Literal::Number(number)) if number.scale() == 0 && !number.exponential => {
            Some(number.to_string())
        }
        _ => None,
    }
}
