//! Pre-image grouping: where all keys are computed of one column of few integers, as months are of dates, rows are
//! grouped by the column itself, whose values index an array. The keys are computed once for each of these values, so
//! that no row needs an expression or a hash table.

use crate::answer::Answer;
use crate::bind::inputs::Source;
use crate::evaluate::Columns;
use crate::evaluate::computed::computed;
use crate::functions::typed::{Typed, columns_of};
use crate::partitions::{Limits, Partitioning, bounds_of};
use crate::plan::Plan;
use crate::run::subgroups::Subgroups;
use crate::runtime::memory::Memory;
use brc_core::{PhysicalType, Progress, Result, Table};

/// The states of all values together fit a worker's cache: this many words at most.
const MAX_WORDS: u64 = 1 << 15;

/// With fewer rows per value, grouping by the value first does not pay.
const ROWS_A_VALUE: u64 = 16;

/// A plan whose keys are computed of one column.
pub(crate) struct PreImageGrouping<'a> {
    plan: &'a Plan,
    /// The plan whose only key is the column.
    of_column: Plan,
    column: usize,
    keys: Vec<&'a Typed>,
}

impl<'a> PreImageGrouping<'a> {
    /// `None` if some key is something else, or the column is not known to have few values for its rows.
    pub(crate) fn of(plan: &'a Plan, table: &dyn Table) -> Option<Self> {
        let of_table = plan.schema.fields();
        let key = |&key: &usize| match &plan.computed.get(key.checked_sub(of_table.len())?)?.source {
            Source::Expression(typed) => Some(typed),
            Source::RowNumber => None,
        };
        let keys = plan.keys.iter().map(key).collect::<Option<Vec<_>>>()?;
        let [column] = columns_of(keys.iter().copied())[..] else { return None };
        let states = plan.states();
        let logical_type = of_table.get(column)?.logical_type;
        if logical_type.physical() != PhysicalType::Integers || !states.iter().all(|(_, kind)| kind.is_small()) {
            return None;
        }
        let (low, high) = bounds_of(table, column)?;
        let values = high.abs_diff(low).checked_add(1)?;
        let words = values.checked_mul(states.len().max(1).next_power_of_two() as u64)?;
        if words > MAX_WORDS || values * ROWS_A_VALUE > table.rows()? {
            return None;
        }
        Some(Self { plan, of_column: plan.with_keys(vec![column], plan.outputs.clone()), column, keys })
    }

    /// Runs the plan on a table.
    pub(crate) fn run(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
        limits: Limits,
    ) -> Result<Option<Answer>> {
        let Self { plan, of_column, column, keys } = self;
        // All groups are merged afterwards, so splits are not grouped one by one.
        let limits = Limits { of_splits: u64::MAX, ..limits };
        let partitioning = Partitioning::new(of_column, limits, memory, threads).with_splits_of(table, of_column);
        let fields = plan.fields();
        let columns = Columns { fields: &fields, projection: &[*column], allowance: plan.allowance };
        let subgroups = Subgroups { plan, of_subgroups: of_column };
        subgroups.run(
            table,
            progress,
            &partitioning,
            || plan.no_groups(),
            |groups, of_values| {
                groups.merge_computed(of_values, fields[*column].logical_type, |value, rows| {
                    keys.iter().map(|key| computed(key, columns, std::slice::from_ref(value), rows)).collect()
                })
            },
        )
    }
}
