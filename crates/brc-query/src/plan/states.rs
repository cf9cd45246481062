//! Which states the aggregates of a plan need: several aggregates may be computed from one.

use super::{Plan, distinct};
use crate::aggregates::AggregateCall;
use crate::states::StateKind;
use std::collections::{HashMap, HashSet};

impl Plan {
    /// What is kept of which columns for each group, each once.
    pub(crate) fn states(&self) -> Vec<(Vec<usize>, StateKind)> {
        let fields = self.fields();
        let state = |output: &AggregateCall| Some((output.columns.clone(), output.bind(&fields).ok()?.state?));
        let all = distinct(self.outputs.iter().filter_map(state));
        let known: HashSet<&(Vec<usize>, StateKind)> = all.iter().collect();
        let has = |columns: &[usize], kind| known.contains(&(columns.to_vec(), kind));
        let is_needed = |(columns, kind): &&(Vec<usize>, StateKind)| match kind {
            // What also knows bounds knows sums.
            StateKind::Sums => !has(columns, StateKind::Integers),
            StateKind::Moments => !has(columns, StateKind::Values),
            _ => true,
        };
        let combined = |(columns, kind): &(Vec<usize>, StateKind)| match kind {
            StateKind::Values if has(columns, StateKind::Moments) => (columns.clone(), StateKind::ValuesAndMoments),
            _ => (columns.clone(), *kind),
        };
        all.iter().filter(is_needed).map(combined).collect()
    }

    /// Which of all states each aggregate is computed from; `None` if it needs none but the number of rows.
    pub(crate) fn states_of_outputs(&self) -> Vec<Option<usize>> {
        let fields = self.fields();
        let positions: HashMap<_, _> = self.states().into_iter().zip(0..).collect();
        let state = |output: &AggregateCall| {
            let kind = output.bind(&fields).ok()?.state?;
            let find = |kind| positions.get(&(output.columns.clone(), kind)).copied();
            find(kind).or_else(|| match kind {
                StateKind::Sums => find(StateKind::Integers),
                StateKind::Values | StateKind::Moments => find(StateKind::ValuesAndMoments),
                _ => None,
            })
        };
        self.outputs.iter().map(state).collect()
    }

    /// The aggregates that keep values of rows, so that there is no limit to what they keep of one group.
    pub(crate) fn keeping(&self) -> Vec<String> {
        let fields = self.fields();
        let keeps = |output: &&AggregateCall| {
            let state = output.bind(&fields).ok().and_then(|bound| bound.state);
            state.is_some_and(StateKind::keeps_values)
        };
        self.outputs.iter().filter(keeps).map(|output| output.name(&fields)).collect()
    }

    /// Whether an answer needs the numbers of rows of groups.
    pub(crate) fn counts_rows(&self) -> bool {
        let fields = self.fields();
        let needs_state = |output: &AggregateCall| output.bind(&fields).is_ok_and(|bound| bound.state.is_some());
        !self.outputs.iter().all(needs_state)
    }
}
