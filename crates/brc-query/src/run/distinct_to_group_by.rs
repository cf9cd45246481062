//! The distinct-to-group-by rewrite: many distinct values are counted by grouping by the value too, for which
//! partitions, all threads and spilling are available. The groups with a value are then counted, and merged to the
//! groups of the plan.
//!
//! A scan begins without the rewrite, since most columns have few values, which are counted faster as they come. It
//! ends as soon as a worker has found many values, and many in each group, or when memory is short.

use crate::accumulate::partial::Partial;
use crate::aggregates::AggregateCall;
use crate::answer::Answer;
use crate::keys::Keys;
use crate::partitions::{Limits, Partitioning};
use crate::plan::Plan;
use crate::run::subgroups::Subgroups;
use crate::runtime::memory::Memory;
use crate::states::{State, StateKind};
use brc_core::{Progress, Result, Table};

/// A plan that counts the distinct values of one column.
pub(crate) struct DistinctToGroupBy<'a> {
    plan: &'a Plan,
    /// The plan whose groups are to be counted: it has the column as its last key.
    of_values: Plan,
    /// The index of the state that counts.
    counted: usize,
    /// The indices of all others.
    places: Vec<usize>,
    /// Whether these keep little of each value, so that it is fast.
    is_small: bool,
}

impl<'a> DistinctToGroupBy<'a> {
    /// `None` if the plan counts distinct values of no column or of several, or has another state of unlimited size.
    pub(crate) fn of(plan: &'a Plan) -> Option<Self> {
        let states = plan.states();
        let mut counting = states.iter().enumerate().filter(|(_, (_, kind))| *kind == StateKind::Distinct);
        let (counted, (columns, _)) = counting.next()?;
        let places: Vec<usize> = (0..states.len()).filter(|&place| place != counted).collect();
        if places.iter().any(|&place| states[place].1.keeps_values()) {
            return None;
        }
        let is_small = places.iter().all(|&place| states[place].1.is_small());
        let fields = plan.fields();
        let counts = |output: &AggregateCall| {
            output.bind(&fields).is_ok_and(|bound| bound.state == Some(StateKind::Distinct))
                && output.columns == *columns
        };
        let keys = plan.keys.iter().chain(columns).copied().collect();
        let of_values = plan.with_keys(keys, plan.outputs.iter().filter(|output| !counts(output)).cloned().collect());
        let are_the_others = of_values.states().iter().eq(places.iter().map(|&place| &states[place]));
        are_the_others.then_some(Self { plan, of_values, counted, places, is_small })
    }

    /// Whether it is faster where there are many values; else it only takes less memory.
    pub(crate) fn is_small(&self) -> bool {
        self.is_small
    }

    /// Runs the plan on a table. `None` if there are so many groups that memory is short.
    pub(crate) fn run(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
        limits: Limits,
    ) -> Result<Option<Answer>> {
        let partitioning = Partitioning::new(&self.of_values, limits, memory, threads);
        let subgroups = Subgroups { plan: self.plan, of_subgroups: &self.of_values };
        subgroups.run(
            table,
            progress,
            &partitioning,
            || self.no_groups(),
            |groups, values| Ok(groups.merge_subgroups(values, &self.places, self.counted)?),
        )
    }

    /// No groups of the plan, whose distinct values are counted by a number.
    fn no_groups(&self) -> Partial {
        let (plan, fields) = (self.plan, self.plan.fields());
        let state = |(place, (columns, kind)): (usize, (Vec<usize>, StateKind))| {
            State::new(if place == self.counted { StateKind::Counts } else { kind }, &columns, &fields)
        };
        let states = plan.states().into_iter().enumerate().map(state).collect();
        Partial::new(Keys::new(&plan.key_types()).finish(), plan.rows(), states)
    }
}
