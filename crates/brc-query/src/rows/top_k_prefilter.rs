//! The prefilter of top-k queries: a first scan reads the first sort key only, and a condition on it spares most rows
//! in the second scan, where a table is read column by column.

use crate::answer::Answer;
use crate::functions::typed::Node;
use crate::plan::{OutputExpression, Plan, SortKey};
use brc_core::{Comparison, PhysicalType, Predicate, Result, Table, Value};

/// The most wanted rows for which a prefilter is used.
pub(crate) const MAX_ROWS: u64 = 1 << 16;

/// The plan that returns only the first sort key of the wanted rows. `None` if knowing it would spare no work.
pub(crate) fn of_first_key(plan: &Plan, table: &dyn Table) -> Option<Plan> {
    let most = plan.limit?.checked_add(plan.offset).filter(|most| (1..MAX_ROWS).contains(most))?;
    let key = plan.order_by.first()?;
    column(plan, key)?;
    // What else is computed may be an error, whichever rows are spared.
    if !plan.order_by.iter().all(|key| key.value.is_column()) {
        return None;
    }
    let of_key = Plan {
        columns: vec![OutputExpression { name: "key".to_owned(), value: key.value.clone() }],
        order_by: vec![key.clone()],
        offset: 0,
        limit: Some(most),
        ..plan.clone()
    };
    (table.reads_by_column() && of_key.projection().len() < plan.projection().len()).then_some(of_key)
}

/// The plan with a condition that leaves only rows that may be among the first, given their first sort keys. `None` if
/// all rows may be.
pub(crate) fn to_first_keys(plan: &Plan, most: u64, keys: &Answer) -> Result<Option<Plan>> {
    let is_full = keys.rows().is_some_and(|rows| rows >= most);
    let last = if is_full { keys.blocks().last().transpose()? } else { None };
    Ok(last.and_then(|block| up_to(plan, block.rows().last()?.value(0))))
}

/// The plan with a condition that leaves only rows whose first sort key is no later than the last that is wanted.
fn up_to(plan: &Plan, last: Option<Value<'_>>) -> Option<Plan> {
    let key = plan.order_by.first()?;
    let column = column(plan, key)?;
    let range = match last {
        Some(last) => Some(as_early(column, last, key.descending)?),
        None if key.nulls_first => None,
        None => return None,
    };
    let nulls = key.nulls_first.then_some(Predicate::IsNull { column });
    let early = Predicate::Or(nulls.into_iter().chain(range).collect());
    Some(Plan {
        predicate: Some(Predicate::And(plan.predicate.iter().cloned().chain([early]).collect())),
        ..plan.clone()
    })
}

/// The column that a key is, if it is one of integers or strings.
fn column(plan: &Plan, key: &SortKey) -> Option<usize> {
    let Node::Column(column) = key.value.node else { return None };
    let physical = plan.schema.fields().get(column)?.logical_type.physical();
    (physical != PhysicalType::Floats).then_some(column)
}

/// The condition that a value of a column is no later than another.
fn as_early(column: usize, last: Value<'_>, descending: bool) -> Option<Predicate> {
    match last {
        Value::Integer(last) if descending => Some(Predicate::Range { column, low: last, high: i128::MAX }),
        Value::Integer(last) => Some(Predicate::Range { column, low: i128::MIN, high: last }),
        Value::Bytes(last) => {
            let comparison = if descending { Comparison::GreaterOrEqual } else { Comparison::LessOrEqual };
            Some(Predicate::Compare { column, comparison, value: last.to_vec() })
        }
        Value::Float(_) => None,
    }
}
