//! The share of one worker in a query: takes batches, and keeps the state of each group.

use crate::accumulate::accumulators::Accumulators;
use crate::evaluate::Columns;
use crate::keys::Keys;
use crate::keys::access_path::{AccessPath, RowsByAccessPath};
use crate::keys::group_ids::GroupIds;
use crate::partitions::{DisjointGroups, Partitioner, Partitioning, Parts, WorkerResult};
use crate::plan::Plan;
use crate::runtime::memory::Gauge;
use crate::scan::computed::{ComputedColumns, RowPosition};
use crate::scan::conditions::Conditions;
use crate::scan::filtered_batch::FilteredBatch;
use crate::values::error::{BatchError, EvalError};
use crate::values::selection::Selection;
use crate::values::selection::{check_lengths, halved};
use brc_core::{Batch, Column, Error, Result, Schema, Sink, Summary};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{compress, count, valid_bits, words};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The groups of one worker and their states.
#[derive(Debug)]
pub(crate) struct GroupTable<'a> {
    path: &'a Path,
    plan: &'a Plan,
    level: Level,
    conditions: Conditions,
    /// Batches in which few rows are wanted, reduced to these.
    filtered: FilteredBatch,
    /// Computes the keys and the operands of aggregates that are expressions.
    computed: ComputedColumns,
    /// The positions of computed columns in a batch.
    computed_positions: Vec<usize>,
    place: RowPosition,
    /// The positions of columns that have no nulls.
    without_nulls: Vec<usize>,
    keys: Keys,
    /// Where the keys are in a batch, unless they are its first columns.
    key_positions: Option<Vec<usize>>,
    /// The number of rows grouped by `keys`.
    grouped: u64,
    accumulators: Accumulators,
    partitioning: Option<&'a Partitioning>,
    /// Groups of keys that only one split has, if the table has such splits.
    own: Option<DisjointGroups<'a>>,
    /// Partitions rows, once there are many groups.
    partitioner: Option<Partitioner<'a>>,
    gauge: Option<Gauge>,
    access_paths: RowsByAccessPath,
    /// What was spilled because memory was short.
    spilled: Option<Parts>,
    timings: bool,
    time: Duration,
}

impl<'a> GroupTable<'a> {
    /// An empty one for the scan of a file, which messages name.
    pub(crate) fn new(plan: &'a Plan, path: &'a Path) -> Self {
        let (scanned, projection, fields) = (plan.projection(), plan.batch_columns(), plan.fields());
        let place = |key: &usize| projection.iter().position(|projected| projected == key).unwrap_or(usize::MAX);
        let key_positions: Vec<usize> = plan.keys.iter().map(place).collect();
        let (used, sources) = plan.grouped_sources();
        let of_table = Columns { fields: &fields, projection: &scanned, allowance: plan.allowance };
        Self {
            path,
            plan,
            level: Level::best(),
            conditions: Conditions::new(plan),
            filtered: FilteredBatch::new(
                scanned.len(),
                plan.grouped_columns()
                    .into_iter()
                    .map(|column| scanned.iter().position(|scanned| *scanned == column).unwrap_or(usize::MAX)),
            ),
            computed: ComputedColumns::new(&sources, of_table),
            computed_positions: used.into_iter().map(|place| scanned.len() + place).collect(),
            place: RowPosition::default(),
            without_nulls: (0..scanned.len()).filter(|&position| !fields[scanned[position]].nullable).collect(),
            keys: Keys::new(&plan.key_types()),
            key_positions: (!key_positions.iter().copied().eq(0..plan.keys.len())).then_some(key_positions),
            grouped: 0,
            accumulators: Accumulators::new(plan),
            partitioning: None,
            own: None,
            partitioner: None,
            gauge: None,
            access_paths: RowsByAccessPath::default(),
            spilled: None,
            timings: plan.timings,
            time: Duration::ZERO,
        }
    }

    /// How long it took to take batches and summaries, if that was to be measured.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// The ways in which the groups of rows were found.
    pub(crate) fn access_paths(&self) -> RowsByAccessPath {
        self.access_paths
    }

    /// Partitions rows when there are many groups.
    pub(crate) fn with_partitions(self, partitioning: &'a Partitioning) -> Self {
        let gauge = partitioning.memory.of_scan(partitioning.threads);
        let own = partitioning.disjoint_groups(self.plan);
        let keys = self.keys.expecting(partitioning.expected());
        Self { partitioning: Some(partitioning), keys, gauge: Some(gauge), own, ..self }
    }

    /// Whether there are groups, and all of their state is in accumulator slots.
    pub(crate) fn are_in_slots(&self) -> bool {
        self.keys.len() > 0 && self.accumulators.are_in_slots()
    }

    /// Adds the slots of another table to these and empties it. Returns whether it did: both must have the same groups,
    /// and the slots must have room.
    pub(crate) fn merge_slots(&mut self, other: &mut Self) -> bool {
        let may = self.keys.are_same(&other.keys) && self.accumulators.have_room_for(&mut other.accumulators);
        if may {
            let (_, accumulators) = other.without_groups();
            self.accumulators.merge_slots(&accumulators);
        }
        may
    }

    /// Takes all groups away.
    fn without_groups(&mut self) -> (Keys, Accumulators) {
        let keys = std::mem::replace(&mut self.keys, Keys::new(&self.plan.key_types()));
        (keys, std::mem::replace(&mut self.accumulators, Accumulators::new(self.plan)))
    }

    /// What was found.
    pub(crate) fn finish(self, threads: usize) -> WorkerResult<'a> {
        let groups = self.accumulators.finish(self.keys.finish(), threads);
        let own = self.own.map_or(Vec::new(), DisjointGroups::into_parts);
        WorkerResult {
            groups,
            own,
            records: self.partitioner.map(|partitioner| partitioner.records),
            spilled: self.spilled,
        }
    }

    /// Spills all groups and records if memory is short because of them.
    fn relieve(&mut self) -> Result<()> {
        let (Some(partitioning), Some(gauge)) = (self.partitioning, &self.gauge) else { return Ok(()) };
        if !gauge.is_short() {
            return Ok(());
        }
        let (values, groups) = (self.accumulators.distinct_values(), self.keys.len().max(1));
        if partitioning.limits.may_count_by_groups() && values > partitioning.limits.distinct_of_group * groups {
            return Err(partitioning.give_up());
        }
        if !partitioning.memory_is_short() {
            return Ok(());
        }
        let groups = (self.keys.len() > 0).then(|| self.without_groups());
        let spilled = self.spilled.get_or_insert_default();
        if let Some(partitioner) = &mut self.partitioner {
            spilled.spill_records(&mut partitioner.records, &partitioning.spill)?;
        }
        if let Some((keys, accumulators)) = groups {
            let groups = accumulators.finish(keys.finish(), 1);
            spilled.spill_groups(&groups, partitioning.scatter_plan(), &partitioning.spill)?;
        }
        partitioning.spill_tables(self.plan, self.path, spilled)?;
        self.gauge.iter_mut().for_each(Gauge::restart);
        Ok(())
    }

    /// The next batches belong to this split.
    pub(crate) fn split_begins(&mut self, split: u64) {
        self.place = RowPosition::of_split(split);
        self.own.iter_mut().for_each(|own| own.split_begins(split));
    }

    /// The split has no more batches.
    pub(crate) fn split_done(&mut self) -> Result<()> {
        self.own.iter_mut().try_for_each(DisjointGroups::split_done)
    }

    fn check(&self, batch: &Batch<'_>) -> Result<(), BatchError> {
        check_lengths(batch.rows, batch.columns)?;
        let has_nulls = |&position: &usize| batch.columns.get(position).is_some_and(Column::has_nulls);
        match self.without_nulls.iter().any(has_nulls) {
            true => Err(BatchError("it has nulls in a column without")),
            false => Ok(()),
        }
    }

    fn take_batch(&mut self, batch: &Batch<'_>) -> Result<(), EvalError> {
        self.check(batch)?;
        let wanted = self.conditions.select(batch)?;
        self.take_selected(batch, wanted.as_ref().map_or(Selection::All, |(mask, rows)| Selection::Some(mask, *rows)))
    }

    fn take_tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<(), EvalError> {
        self.check(batch)?;
        let level = self.level;
        self.take_selected(batch, rows.map_or(Selection::All, |mask| Selection::Some(mask, count(level, mask))))
    }

    /// Takes the wanted rows of a batch of all columns of the scan.
    fn take_selected(&mut self, batch: &Batch<'_>, selection: Selection<'_>) -> Result<(), EvalError> {
        let place = self.place;
        self.place.advance(batch.rows);
        if selection.wanted(batch.rows) == 0 {
            return Ok(());
        }
        let mut filtered = std::mem::take(&mut self.filtered);
        let taken = match filtered.of(self.level, batch, selection)? {
            Some(columns) => {
                let few = Batch { rows: selection.wanted(batch.rows), columns: &columns };
                self.compute(&few, Selection::All, place, None)
            }
            None => self.compute(batch, selection, place, None),
        };
        self.filtered = filtered;
        taken
    }

    /// Takes (value, count) rows.
    fn take_weighted(&mut self, batch: &Batch<'_>, weights: &[u32]) -> Result<(), EvalError> {
        self.check(batch)?;
        if weights.len() != batch.rows {
            return Err(BatchError("it has not as many weights as rows").into());
        }
        let wanted = self.conditions.select(batch)?;
        let selection = wanted.as_ref().map_or(Selection::All, |(mask, rows)| Selection::Some(mask, *rows));
        if selection.wanted(batch.rows) == 0 {
            return Ok(());
        }
        self.compute(batch, selection, RowPosition::default(), Some(weights))
    }

    /// Computes what is grouped by and aggregated, and groups the selected rows.
    fn compute(
        &mut self,
        batch: &Batch<'_>,
        selection: Selection<'_>,
        place: RowPosition,
        weights: Option<&[u32]>,
    ) -> Result<(), EvalError> {
        let group = |groups: &mut Self, batch: &Batch<'_>| match weights {
            Some(weights) => groups.group_weighted(batch, selection, weights),
            None => groups.group(batch, selection),
        };
        if self.computed.is_empty() {
            return Ok(group(self, batch)?);
        }
        let mask = match selection {
            Selection::All => None,
            Selection::Some(mask, _) => Some(mask),
        };
        let computed = match self.computed.run(self.level, batch, mask, place) {
            // Strings of fewer rows take less memory. Nothing was grouped yet.
            Err(fault @ EvalError::TooLarge(_)) => {
                let all = || (0..words(batch.rows)).map(|word| valid_bits(batch.rows, word)).collect();
                let halves = halved(&mask.map_or_else(all, <[u64]>::to_vec)).ok_or(fault)?;
                return halves.iter().try_for_each(|half| {
                    let half = Selection::Some(half, count(self.level, half));
                    self.compute(batch, half, place, weights)
                });
            }
            computed => computed?,
        };
        let mut columns = batch.columns.to_vec();
        for (&position, column) in self.computed_positions.iter().zip(&computed) {
            // Between are conditions, which are tested by now.
            columns.resize(position + 1, column.column());
        }
        Ok(group(self, &Batch { rows: batch.rows, columns: &columns })?)
    }

    /// Groups the selected rows of a batch that has all columns.
    fn group(&mut self, batch: &Batch<'_>, selection: Selection<'_>) -> Result<(), BatchError> {
        let mut key_columns = Vec::new();
        let keyed = self.keyed(batch, &mut key_columns)?;
        let selection = match &mut self.own {
            Some(own) => {
                let left = own.take(self.level, &keyed, batch, selection)?;
                self.access_paths.add_rows(AccessPath::Splits, selection.wanted(batch.rows) - left.wanted(batch.rows));
                left
            }
            None => selection,
        };
        if selection.wanted(batch.rows) == 0 {
            return Ok(());
        }
        if let (Some(partitioning), None) = (self.partitioning, &self.partitioner) {
            self.partitioner = partitioning.worker((&self.keys, self.grouped), &keyed, batch)?;
        }
        let selection = match &mut self.partitioner {
            Some(partitioner) => {
                let left = partitioner.scatter(&keyed, batch, selection)?;
                self.access_paths
                    .add_rows(AccessPath::Partitions, selection.wanted(batch.rows) - left.wanted(batch.rows));
                left
            }
            None => selection,
        };
        if selection.wanted(batch.rows) == 0 {
            return Ok(());
        }
        let wanted = selection.wanted(batch.rows);
        // Where most rows are wanted, it is cheaper to let the others add nothing than to leave them out of all
        // columns.
        let others_stay = wanted >= batch.rows / 2 && self.accumulators.ignore_others(batch);
        let (ids, groups) = self.keys.groups_of(self.level, &keyed, selection, others_stay)?;
        let selection = if ids.are_of_all(batch.rows) { Selection::All } else { selection };
        let are_runs = ids.are_runs();
        self.accumulators.update(self.level, batch, selection, ids, groups)?;
        self.access_paths.add_rows(self.keys.access_path(are_runs), wanted);
        self.grouped += wanted as u64;
        Ok(())
    }

    /// The columns of a batch by which it is grouped.
    fn keyed<'b>(&self, batch: &Batch<'b>, columns: &'b mut Vec<Column<'b>>) -> Result<Batch<'b>, BatchError> {
        let Some(positions) = &self.key_positions else { return Ok(*batch) };
        let column = |&position: &usize| batch.columns.get(position).copied().ok_or(BatchError("a key is not there"));
        *columns = positions.iter().map(column).collect::<Result<_, _>>()?;
        Ok(Batch { rows: batch.rows, columns })
    }

    /// Groups the selected rows of a batch that has all columns, with the weight of each.
    fn group_weighted(
        &mut self,
        batch: &Batch<'_>,
        selection: Selection<'_>,
        weights: &[u32],
    ) -> Result<(), BatchError> {
        let (mut key_columns, mut kept) = (Vec::new(), Vec::new());
        let keyed = self.keyed(batch, &mut key_columns)?;
        let weights = match selection {
            Selection::All => weights,
            Selection::Some(mask, _) => {
                compress(self.level, weights, mask, &mut kept);
                &kept
            }
        };
        let (ids, groups) = self.keys.groups_of(self.level, &keyed, selection, false)?;
        let ids: Vec<u32> = match ids {
            GroupIds::Rows(ids) => ids.to_vec(),
            GroupIds::Runs(runs) => {
                runs.iter().flat_map(|run| std::iter::repeat_n(run.code, run.rows as usize)).collect()
            }
        };
        if ids.len() != weights.len() {
            return Err(BatchError("it has not as many keys as rows"));
        }
        self.accumulators.update_weighted(self.level, batch, selection, (&ids, weights), groups)?;
        self.access_paths.add_rows(AccessPath::Statistics, weights.iter().map(|&weight| weight as usize).sum());
        Ok(())
    }

    fn take_summary(&mut self, summary: &Summary<'_>) -> Result<(), EvalError> {
        self.access_paths.add_rows(AccessPath::Statistics, summary.rows.iter().map(|&rows| rows as usize).sum());
        let (ids, groups) = self.keys.groups_of_summary(summary)?;
        Ok(self.accumulators.summarise(self.level, summary, ids, groups)?)
    }

    fn timed<T>(&mut self, take: impl FnOnce(&mut Self) -> Result<T, EvalError>) -> Result<T> {
        let start = self.timings.then(Instant::now);
        let taken = take(self);
        if let Some(start) = start {
            self.time += start.elapsed();
        }
        taken.map_err(|fault| fault.error(self.path))
    }

    /// Ends the scan if there are too many distinct values, groups the records if they are many, and spills if memory
    /// is short.
    fn limit(&mut self) -> Result<()> {
        let (values, groups) = (self.accumulators.distinct_values(), self.keys.len().max(1));
        if let Some(partitioning) = self.partitioning.filter(|it| it.limits.are_too_many_values(values, groups)) {
            return Err(partitioning.give_up());
        }
        self.timed(|groups| match (groups.partitioning, &mut groups.partitioner) {
            (Some(partitioning), Some(partitioner)) => Ok(partitioning.take_records(groups.plan, partitioner)?),
            _ => Ok(()),
        })?;
        self.relieve()
    }
}

impl Sink for GroupTable<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if self.plan.is_for(schema) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.timed(|groups| groups.take_batch(batch))?;
        self.limit()
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        self.timed(|groups| groups.conditions.test(conjunct, batch, rows))
    }

    fn forget_codes(&mut self) {
        self.conditions.forget_codes(self.plan);
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        self.timed(|groups| groups.take_tested(batch, rows))?;
        self.limit()
    }

    fn weighted(&mut self, batch: &Batch<'_>, weights: &[u32]) -> Result<()> {
        self.timed(|groups| groups.take_weighted(batch, weights))?;
        self.limit()
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        self.timed(|groups| groups.take_summary(summary))?;
        self.limit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expression, Query};
    use brc_core::table::{ColumnSummary, Numbers, Sums};
    use brc_core::{Column, Dictionary, Integers, Run, Schema};

    /// What a table with a string key, and with that key and a number as keys, says to a batch or a summary.
    fn refusals(give: impl Fn(&mut GroupTable<'_>) -> Result<()>, filter: Option<&str>) -> Vec<String> {
        let plans = [vec!["s"], vec!["s", "x"]].map(|by| Query {
            by: Some(by.into_iter().map(Expression::column).collect()),
            aggregates: Some(Expression::parse_list("sum(x)").unwrap()),
            filter: filter.map(|text| Expression::parse(text).unwrap()),
            ..Query::default()
        });
        let schema = Schema::parse("s:string,x:int").unwrap();
        let give = |query: Query| {
            let plan = query.plan(&schema).unwrap();
            give(&mut GroupTable::new(&plan, Path::new("file"))).unwrap_err().to_string()
        };
        plans.map(give).to_vec()
    }

    #[test]
    fn malformed_batches_are_refused() {
        let dictionary: Dictionary = ["a", "b"].into_iter().collect();
        let dictionary = &dictionary;
        let values = Column::integers(Integers::I16(&[1, 2]));
        let codes = |codes| Column::codes(codes, dictionary);
        let runs = |runs| Column::runs(runs, dictionary);
        let run = |code, rows| Run { code, rows };
        for (columns, reason) in [
            (vec![codes(&[0, 2]), values], "a code is not in its dictionary"),
            (vec![codes(&[0, u32::MAX]), values], "a code is not in its dictionary"),
            (vec![runs(&[run(2, 2)]), values], "a code is not in its dictionary"),
            (vec![codes(&[0]), values], "its columns are not equally long"),
            (vec![runs(&[run(0, 1), run(1, 2)]), values], "its columns are not equally long"),
            (vec![codes(&[0, 1]), Column::integers(Integers::I64(&[1]))], "its columns are not equally long"),
            (vec![values, values], ""),
            (vec![codes(&[0, 1]), codes(&[0, 1])], ""),
            (vec![codes(&[0, 1])], ""),
            (vec![], ""),
        ] {
            let batch = Batch { rows: 2, columns: &columns };
            for filter in [None, Some("s >= 'a'"), Some("x > 1"), Some("not x > 1 or s = 'b'")] {
                for refusal in refusals(|groups| groups.batch(&batch), filter) {
                    assert!(refusal.starts_with("file: corrupt file: a batch of rows: "), "{refusal}");
                    assert!(refusal.ends_with(reason), "{refusal} {columns:?}");
                }
            }
        }
    }

    #[test]
    fn malformed_summaries_are_refused() {
        let dictionary: Dictionary = ["a", "b"].into_iter().collect();
        let numbers = ColumnSummary::Numbers(Numbers { min: &[1], max: &[1], sum: Sums::Narrow(&[1]) });
        let uneven = ColumnSummary::Numbers(Numbers { min: &[1], max: &[1], sum: Sums::Wide(&[1, 1]) });
        let code = |codes| ColumnSummary::Codes { codes, dictionary: &dictionary };
        for columns in [
            vec![code(&[2]), numbers],
            vec![code(&[0]), code(&[0])],
            vec![numbers, numbers],
            vec![code(&[0])],
            vec![code(&[0, 1]), numbers],
            vec![code(&[0]), uneven],
            vec![],
        ] {
            for refusal in refusals(|groups| groups.summary(&Summary { rows: &[1], columns: &columns }), None) {
                assert!(refusal.starts_with("file: corrupt file: a batch of rows: "), "{refusal}");
            }
        }
    }
}
