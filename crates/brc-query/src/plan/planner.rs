//! From a query to a plan: names and types are resolved against the columns of a table.

use super::{OutputExpression, Plan, SortKey};
use crate::bind::groups::{GroupScope, has_aggregates, ordinal};
use crate::bind::inputs::Inputs;
use crate::bind::names::Names;
use crate::bind::rows::RowScope;
use crate::bind::{self, Scope};
use crate::functions::typed::{Node, Typed, columns_of};
use crate::runtime::memory::Allowance;
use crate::sql::expression::{Expression, OrderBy, SelectItem};
use crate::sql::query::Query;
use crate::sql::{Kind, Syntax};
use brc_core::{Error, Field, PhysicalType, Predicate, Result, Schema};
use std::collections::HashSet;

impl Query {
    /// Binds the query to the columns of a table.
    ///
    /// # Errors
    /// [`Error::Usage`] if a column is not there or is of the wrong type, two output columns have the same name, or it
    /// is not clear by which column to group.
    pub fn plan(&self, schema: &Schema) -> Result<Plan> {
        let mut plan = Plan {
            schema: schema.clone(),
            computed: Vec::new(),
            conditions: 0,
            grouped: true,
            keys: Vec::new(),
            outputs: Vec::new(),
            filter: self.filter.as_ref().map(ToString::to_string),
            predicate: None,
            having: None,
            columns: Vec::new(),
            distinct: self.distinct,
            order_by: Vec::new(),
            offset: self.offset,
            limit: self.limit,
            pick: self.pick,
            statistics: self.statistics,
            timings: self.timings,
            allowance: Allowance::default(),
            splits: None,
        };
        let (names, mut inputs) = (Names::new(schema), Inputs::new(schema));
        let rows = RowScope::new(&names);
        if let Some(filter) = &self.filter {
            self.check_no_output(filter, rows, "repeat its expression, or use having")?;
            plan.predicate = Some(predicate(filter, rows, &mut inputs)?);
        }
        plan.conditions = inputs.computed.len();
        match self.selects_rows() {
            true => self.rows(schema, rows, &inputs, &mut plan)?,
            false => self.groups(schema, rows, inputs, &mut plan)?,
        }
        check_names(&plan.columns)?;
        Ok(plan)
    }

    /// Refuses an expression over rows that names a column of the answer, which is not there yet.
    fn check_no_output(&self, expression: &Expression, rows: RowScope<'_>, instead: &str) -> Result<()> {
        let is_alias = |name: &str| {
            let mut items = self.select.iter().flatten();
            items.any(|item| matches!(item, SelectItem::Expression { alias: Some(alias), .. } if alias == name))
        };
        let mut found = None;
        expression.syntax().walk(&mut |part| match &part.kind {
            Kind::Column(name) if !rows.has(name) && is_alias(name) => {
                let is_whole = rows.name_around(expression, name, part.position).is_none();
                found = found.or(is_whole.then_some((name, part.position)));
            }
            _ => {}
        });
        let Some((name, position)) = found else { return Ok(()) };
        let message = format!("'{name}' is an output column, not one of the table; {instead}");
        Err(expression.error(message, position).into())
    }

    /// Whether each row of the table gives one of the answer.
    fn selects_rows(&self) -> bool {
        let Some(items) = &self.select else { return false };
        let is_plain = |item: &SelectItem| match item {
            SelectItem::All { .. } => true,
            SelectItem::Expression { expression, .. } => !has_aggregates(expression.syntax()),
        };
        let has_keys = self.group_by_all || self.by.as_ref().is_some_and(|by| !by.is_empty());
        let ungrouped = !has_keys && self.having.is_none() && !self.distinct;
        let ordered = self.order_by.iter().all(|order| !has_aggregates(order.expression.syntax()));
        ungrouped && ordered && items.iter().all(is_plain)
    }

    fn rows(&self, schema: &Schema, mut scope: RowScope<'_>, inputs: &Inputs, plan: &mut Plan) -> Result<()> {
        plan.grouped = false;
        plan.computed.clone_from(&inputs.computed);
        for (name, expression) in self.items(schema, scope)? {
            self.check_no_output(&expression, scope, "repeat its expression")?;
            plan.columns.push(OutputExpression { name, value: bind::bind(&expression, &mut scope)? });
        }
        plan.order_by = self.sort_keys(&plan.columns, &mut scope)?;
        Ok(())
    }

    fn groups(&self, schema: &Schema, rows: RowScope<'_>, inputs: Inputs, plan: &mut Plan) -> Result<()> {
        let items = self.select.is_some().then(|| self.items(schema, rows)).transpose()?;
        let mut keys = self.keys(schema, rows, items.as_deref())?;
        if items.is_some() {
            drop_dependent(&mut keys);
        }
        let (mut scope, positions) = GroupScope::new(rows, inputs, keys.clone());
        let items = match items {
            Some(items) => items,
            None => self.keys_and_aggregates(schema, &keys, &positions)?,
        };
        for (index, (name, expression)) in items.into_iter().enumerate() {
            // Keys by option are taken as they are, whatever they are called.
            let is_key = self.select.is_none() && index < keys.len();
            let value = match is_key {
                true => Typed::column(index, keys[index].1.logical_type, keys[index].1.nullable),
                false => bind::bind(&expression, &mut scope)?,
            };
            scope.name(&name, &value);
            plan.columns.push(OutputExpression { name, value });
        }
        plan.having =
            self.having.as_ref().map(|having| bind::condition(having, &mut scope as &mut dyn Scope)).transpose()?;
        plan.order_by = self.sort_keys(&plan.columns, &mut scope)?;
        // Groups differ by their keys: where an answer has all of those, its rows do too.
        let shown: HashSet<&Node> = plan.columns.iter().map(|column| &column.value.node).collect();
        plan.distinct &= !(0..positions.len()).all(|key| shown.contains(&Node::Column(key)));
        plan.keys = positions;
        plan.computed = scope.inputs.computed;
        plan.outputs = scope.outputs;
        Ok(())
    }

    /// What the answer, which has these columns, is sorted by.
    fn sort_keys(&self, columns: &[OutputExpression], scope: &mut dyn Scope) -> Result<Vec<SortKey>> {
        let mut keys = Vec::new();
        for order in &self.order_by {
            if order.is_all {
                keys.extend(columns.iter().map(|column| sort_key(order, column.value.clone())));
                continue;
            }
            let value = output(order, columns)?;
            let value = value.map_or_else(|| bind::bind(&order.expression, scope), Ok)?;
            keys.push(sort_key(order, value));
        }
        Ok(keys)
    }

    /// The output columns that `select` names.
    fn items(&self, schema: &Schema, mut rows: RowScope<'_>) -> Result<Vec<(String, Expression)>> {
        let mut items = Vec::new();
        for item in self.select.iter().flatten() {
            match item {
                SelectItem::All { exclude } => {
                    for column in exclude {
                        bind::bind(column, &mut rows)?;
                    }
                    let is_shown = |field: &&Field| !exclude.iter().any(|column| column.name() == field.name);
                    let fields = schema.fields().iter().filter(is_shown);
                    items.extend(fields.map(|field| (field.name.clone(), Expression::column(&field.name))));
                }
                SelectItem::Expression { expression, alias } => {
                    items.push((alias.clone().unwrap_or_else(|| expression.name()), expression.clone()));
                }
            }
        }
        let excludes = |item: &SelectItem| matches!(item, SelectItem::All { exclude } if !exclude.is_empty());
        if items.is_empty() && self.select.iter().flatten().any(excludes) {
            return Err(Error::Usage("no column is left to select".to_owned()));
        }
        Ok(items)
    }

    /// What is grouped by, each with its name.
    fn keys(
        &self,
        schema: &Schema,
        mut scope: RowScope<'_>,
        items: Option<&[(String, Expression)]>,
    ) -> Result<Vec<(String, Typed)>> {
        let (mut keys, mut known) = (Vec::new(), HashSet::new());
        let by: Vec<Expression> = match (&self.by, items) {
            (Some(_), Some(items)) if self.group_by_all => {
                let is_constant = |syntax: &Syntax| matches!(syntax.kind, Kind::Literal(_));
                let is_key = |syntax: &Syntax| !is_constant(syntax) && !has_aggregates(syntax);
                let keys = items.iter().filter(|(_, expression)| is_key(expression.syntax()));
                keys.map(|(_, expression)| expression.clone()).collect()
            }
            // All that is selected is what distinct rows differ by.
            (Some(by), Some(items))
                if by.is_empty() && self.distinct && !items.iter().any(|(_, it)| has_aggregates(it.syntax())) =>
            {
                items.iter().map(|(_, expression)| expression.clone()).collect()
            }
            (Some(by), _) => by.iter().map(|key| item(key, items, scope)).collect::<Result<_>>()?,
            (None, _) => self.default_keys(schema)?,
        };
        for key in by {
            let typed = bind::bind(&key, &mut scope)?;
            if !known.insert(typed.clone()) {
                if items.is_some() {
                    continue;
                }
                let name = key.name();
                return Err(key.error(format!("'{name}' is named twice as a key"), key.syntax().position).into());
            }
            keys.push((key.name(), typed));
        }
        Ok(keys)
    }

    /// The only column of strings, if there is one.
    fn default_keys(&self, schema: &Schema) -> Result<Vec<Expression>> {
        let fields = schema.fields().iter();
        let strings: Vec<&str> = fields
            .filter(|field| field.logical_type.physical() == PhysicalType::Bytes)
            .map(|field| field.name.as_str())
            .collect();
        if strings.len() <= 1 {
            return Ok(strings.into_iter().map(Expression::column).collect());
        }
        let rows = match (&self.aggregates, &self.filter) {
            (None, Some(filter)) => format!("; for the rows themselves, write 'select * where {filter}'"),
            _ => String::new(),
        };
        Err(Error::Usage(format!(
            "no single column to group by; choose with --by: {}; or '' for all rows as one group{rows}",
            strings.join(", ")
        )))
    }

    fn keys_and_aggregates(
        &self,
        schema: &Schema,
        keys: &[(String, Typed)],
        positions: &[usize],
    ) -> Result<Vec<(String, Expression)>> {
        let aggregates = match &self.aggregates {
            Some(aggregates) => aggregates.clone(),
            None => default_aggregates(schema, positions),
        };
        let keys = keys.iter().map(|(name, _)| (name.clone(), Expression::column(name)));
        Ok(keys.chain(aggregates.into_iter().map(|aggregate| (aggregate.name(), aggregate))).collect())
    }
}

/// Drops keys that distinguish no groups, because they are the same for all rows or follow from keys before them: rows
/// that are selected can compute them. Equal floats may differ in their sign, so that nothing follows from them.
fn drop_dependent(keys: &mut Vec<(String, Typed)>) {
    if columns_of(keys.iter().map(|(_, key)| key)).is_empty() {
        // Without a key there is a group of no rows.
        keys.truncate(1);
        return;
    }
    let mut given = Vec::new();
    keys.retain(|(_, key)| {
        let columns = columns_of([key]);
        let follows = columns.iter().all(|column| given.contains(column));
        if key.is_column() && !key.logical_type.is_float() {
            given.extend(columns);
        }
        !follows
    });
}

/// The expression of an item of `group by`: a number or a name refers to an item of `select`.
fn item(key: &Expression, items: Option<&[(String, Expression)]>, rows: RowScope<'_>) -> Result<Expression> {
    let Some(items) = items else { return Ok(key.clone()) };
    if let Some(number) = ordinal(key.syntax()) {
        let item = number.checked_sub(1).and_then(|place| items.get(place));
        return match item {
            Some((_, expression)) => of_rows(key, expression),
            None => Err(no_such_column(key, items.len())),
        };
    }
    if let Kind::Column(name) = &key.syntax().kind
        && !rows.has(name)
        && let Some((_, expression)) = items.iter().find(|(alias, _)| alias == name)
    {
        return of_rows(key, expression);
    }
    Ok(key.clone())
}

/// The expression that a key refers to, which must have no aggregate.
fn of_rows(key: &Expression, expression: &Expression) -> Result<Expression> {
    if has_aggregates(expression.syntax()) {
        let message = format!("'{key}' is '{expression}', which has an aggregate; group by other columns");
        return Err(key.error(message, key.syntax().position).into());
    }
    Ok(expression.clone())
}

/// The output column that an item of `order by` names, by its number or its name.
fn output(order: &OrderBy, columns: &[OutputExpression]) -> Result<Option<Typed>> {
    let expression = &order.expression;
    if let Some(number) = ordinal(expression.syntax()) {
        let column = number.checked_sub(1).and_then(|place| columns.get(place));
        return column
            .map(|column| Some(column.value.clone()))
            .ok_or_else(|| no_such_column(expression, columns.len()));
    }
    let Kind::Column(name) = &expression.syntax().kind else { return Ok(None) };
    Ok(columns.iter().find(|column| column.name == *name).map(|column| column.value.clone()))
}

fn no_such_column(expression: &Expression, columns: usize) -> Error {
    let message = format!("there are {columns} output columns, but it names number {expression}");
    expression.error(message, expression.syntax().position).into()
}

fn sort_key(order: &OrderBy, value: Typed) -> SortKey {
    SortKey { value, descending: order.descending, nulls_first: order.nulls_first }
}

/// The predicate of a filter. Parts that are more than comparisons of columns with constants become computed columns.
fn predicate(filter: &Expression, mut rows: RowScope<'_>, inputs: &mut Inputs) -> Result<Predicate> {
    let typed = bind::condition(filter, &mut rows)?;
    let mut test = |part: Typed| match part.node {
        Node::Condition(predicate) => predicate,
        _ => Predicate::Range { column: inputs.position("where", part), low: 1, high: 1 },
    };
    Ok(match typed.node {
        Node::And(parts) => Predicate::And(parts.into_iter().map(test).collect()),
        _ => test(typed),
    })
}

fn check_names(columns: &[OutputExpression]) -> Result<()> {
    let mut names = HashSet::new();
    for OutputExpression { name, .. } in columns {
        if !names.insert(name) {
            return Err(Error::Usage(format!("two output columns are named '{name}'; rename one with: as NAME")));
        }
    }
    Ok(())
}

fn default_aggregates(schema: &Schema, keys: &[usize]) -> Vec<Expression> {
    let fields = schema.fields().iter().enumerate();
    let values = fields.filter(|(column, field)| !keys.contains(column) && field.logical_type.is_numeric());
    let aggregates: Vec<Expression> = values
        .flat_map(|(_, field)| ["min", "mean", "max"].map(|function| Expression::call(function, &[&field.name])))
        .collect();
    if aggregates.is_empty() { vec![Expression::call("count", &[])] } else { aggregates }
}
