//! Counts distinct values where these are many: rows are grouped by the value too, for which there are partitions, all threads
//! and files; then the groups that have a value each are counted, and folded to those that were asked for.
//!
//! A scan begins without that, since most columns have few values, which are counted faster as they come. It ends as soon as a
//! worker has found many, and many in each group.

use crate::group::Found;
use crate::keys::Keys;
use crate::memory::Memory;
use crate::partial::Partial;
use crate::partitions::{self, Limits, Partitioning};
use crate::plan::{Output, Plan};
use crate::run::Answered;
use crate::states::{State, StateKind};
use brc_core::{Error, Progress, Result, Table};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Memory is never short because of fewer groups.
const MANY_GROUPS: usize = 1 << 14;

/// Nothing but an error stops a scan; nobody sees this one.
const TOO_MANY: &str = "there are too many distinct values";

/// The error that ends a scan.
pub(crate) fn too_many() -> Error {
    Error::Usage(TOO_MANY.to_owned())
}

pub(crate) fn is_too_many(error: &Error) -> bool {
    matches!(error, Error::Usage(reason) if reason == TOO_MANY)
}

/// A plan that counts the distinct values of one column.
pub(crate) struct ByDistinct<'a> {
    plan: &'a Plan,
    /// The plan whose groups are to be counted: it has the column as its last key.
    of_values: Plan,
    /// The place of the state that counts.
    counted: usize,
    /// The places of all others.
    places: Vec<usize>,
}

impl<'a> ByDistinct<'a> {
    /// `None` if the plan counts distinct values of no column or of several, or keeps much else of each group.
    pub(crate) fn of(plan: &'a Plan) -> Option<Self> {
        let states = plan.states();
        let mut counting = states.iter().enumerate().filter(|(_, (_, kind))| *kind == StateKind::Distinct);
        let (counted, (columns, _)) = counting.next()?;
        let places: Vec<usize> = (0..states.len()).filter(|&place| place != counted).collect();
        if !places.iter().all(|&place| states[place].1.is_small()) {
            return None;
        }
        let fields = plan.fields();
        let counts = |output: &Output| {
            output.bind(&fields).is_ok_and(|bound| bound.state == Some(StateKind::Distinct))
                && output.columns == *columns
        };
        let of_values = Plan {
            keys: plan.keys.iter().chain(columns).copied().collect(),
            outputs: plan.outputs.iter().filter(|output| !counts(output)).cloned().collect(),
            having: None,
            columns: Vec::new(),
            distinct: false,
            order_by: Vec::new(),
            offset: 0,
            limit: None,
            ..plan.clone()
        };
        let are_the_others = of_values.states().iter().eq(places.iter().map(|&place| &states[place]));
        are_the_others.then_some(Self { plan, of_values, counted, places })
    }

    /// Asks a table. `None` if there are so many groups that memory is short.
    pub(crate) fn run(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
        limits: Limits,
    ) -> Result<Option<Answered>> {
        let plan = &self.of_values;
        let partitioning = Partitioning::new(plan, limits, memory, threads);
        let (found, mut totals) = plan.scanned(table, || plan.groups(table, progress, &partitioning))?;
        let start = Instant::now();
        let folded = Mutex::new(Vec::new());
        let fold = |values: Partial| -> Result<bool> {
            let known = folded.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut groups = known.unwrap_or_else(|| self.no_groups());
            let added = groups.fold(&values, &self.places, self.counted);
            added.map_err(|malformed| Error::corrupt(table.path(), "a batch of rows", malformed.0))?;
            let are_many = groups.groups() > MANY_GROUPS;
            folded.lock().unwrap_or_else(PoisonError::into_inner).push(groups);
            Ok(are_many && memory.is_short())
        };
        let is_short = self.each_part(table, found, &partitioning, fold)?;
        if is_short {
            return Ok(None);
        }
        let mut groups = self.no_groups();
        for folded in folded.into_inner().unwrap_or_else(PoisonError::into_inner) {
            groups.merge(folded)?;
        }
        groups.settle(threads);
        totals.groups = groups.groups_with_rows();
        totals.spilled_bytes = partitioning.spill.bytes();
        totals.regroup_time = start.elapsed();
        self.plan.answer_of(vec![groups], threads, totals, start).map(Some)
    }

    /// Calls `fold` with all groups of values, some after the other; returns whether it ever said so.
    fn each_part(
        &self,
        table: &dyn Table,
        found: Vec<Found<'_>>,
        partitioning: &Partitioning,
        fold: impl Fn(Partial) -> Result<bool> + Sync,
    ) -> Result<bool> {
        let (plan, path) = (&self.of_values, table.path());
        if partitioning.needs_parts(&found) {
            let parts = plan.parts(path, found, partitioning)?;
            return Ok(partitions::regroup_parts(plan, path, partitioning, parts, fold)?.contains(&true));
        }
        let (merged, records) = plan.merged(found)?;
        match partitioning.dealing().filter(|_| !records.is_empty()) {
            Some(dealing) => {
                let threads = partitioning.threads;
                let dealt = partitioning.dealt(dealing, merged, records);
                Ok(partitions::regroup(plan, path, &dealt, threads, fold)?.contains(&true))
            }
            None => fold(merged),
        }
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
