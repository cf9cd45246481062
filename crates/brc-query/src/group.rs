//! One worker's share of a question: takes batches, keeps the state of each group.

use crate::filter::{Filter, Selection};
use crate::keys::Keys;
use crate::partial::{Partial, Rows};
use crate::plan::Plan;
use crate::states::{Accumulator, State};
use crate::wanted::{Wanted, check_lengths};
use brc_core::{Batch, Error, Result, Schema, Sink, Summary};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a batch lacks that its scan was asked for, or has wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl From<UnknownGroup> for Malformed {
    fn from(_: UnknownGroup) -> Self {
        Self("a code is not in its dictionary")
    }
}

/// The groups and their state.
#[derive(Debug)]
pub(crate) struct GroupTable<'a> {
    path: &'a Path,
    plan: &'a Plan,
    level: Level,
    filter: Option<Filter>,
    /// The positions of columns that have no nulls.
    without_nulls: Vec<usize>,
    keys: Keys,
    rows: Rows,
    columns: Vec<Aggregated>,
    wanted: Wanted,
    timings: bool,
    time: Duration,
}

/// A column of which aggregates are computed.
#[derive(Debug)]
struct Aggregated {
    /// Where it is in a batch.
    position: usize,
    /// What is kept of it, each with its place among all states of the plan.
    states: Vec<(usize, State)>,
}

impl<'a> GroupTable<'a> {
    /// An empty one for the scan of a file, of which messages tell the name.
    pub(crate) fn new(plan: &'a Plan, path: &'a Path) -> Self {
        let projection = plan.projection();
        let fields = plan.schema().fields();
        let mut columns: Vec<Aggregated> = Vec::new();
        for (index, (column, kind)) in plan.states().into_iter().enumerate() {
            let state = (index, State::new(kind, fields[column].logical_type));
            let position = projection.iter().position(|&projected| projected == column).unwrap_or(usize::MAX);
            match columns.iter_mut().find(|column| column.position == position) {
                Some(column) => column.states.push(state),
                None => columns.push(Aggregated { position, states: vec![state] }),
            }
        }
        Self {
            path,
            plan,
            level: Level::best(),
            filter: plan.predicate().map(|predicate| Filter::new(predicate, plan.schema(), &projection)),
            without_nulls: (0..projection.len()).filter(|&position| !fields[projection[position]].nullable).collect(),
            keys: Keys::new(&plan.key_types()),
            rows: plan.rows(),
            columns,
            wanted: Wanted::default(),
            timings: plan.timings,
            time: Duration::ZERO,
        }
    }

    /// How long it took to take batches and summaries, if that was to be measured.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// The state of all groups.
    pub(crate) fn finish(self) -> Partial {
        let mut states: Vec<(usize, State)> = self.columns.into_iter().flat_map(|column| column.states).collect();
        states.sort_by_key(|(index, _)| *index);
        Partial::new(self.keys.finish(), self.rows, states.into_iter().map(|(_, state)| state).collect())
    }

    fn take_batch(&mut self, batch: &Batch<'_>) -> Result<(), Malformed> {
        check_lengths(batch.rows, batch.columns)?;
        let has_nulls = |&position: &usize| batch.columns.get(position).is_some_and(brc_core::Column::has_nulls);
        if self.without_nulls.iter().any(has_nulls) {
            return Err(Malformed("it has nulls in a column without"));
        }
        let selection = match &mut self.filter {
            Some(filter) => filter.select(self.level, batch)?,
            None => Selection::All,
        };
        if selection.wanted(batch.rows) == 0 {
            return Ok(());
        }
        let (ids, groups) = self.keys.groups_of(self.level, batch, selection)?;
        let Rows { state: counted_by, others } = &mut self.rows;
        others.grow(groups);
        if counted_by.is_none() {
            others.add(ids)?;
        }
        for Aggregated { position, states } in &mut self.columns {
            let column = batch.columns.get(*position).ok_or(Malformed("a column is not there"))?;
            let (with_values, values) = self.wanted.of(self.level, column, selection, ids);
            for (index, state) in states {
                state.grow(groups);
                state.update(self.level, with_values, values)?;
                if *counted_by == Some(*index) && column.has_nulls() {
                    others.add(ids)?;
                    others.subtract(with_values)?;
                }
            }
        }
        Ok(())
    }

    fn take_summary(&mut self, summary: &Summary<'_>) -> Result<(), Malformed> {
        let (ids, groups) = self.keys.groups_of_summary(summary)?;
        self.rows.others.grow(groups);
        if self.rows.state.is_none() {
            self.rows.others.add_sets(ids, summary.rows)?;
        }
        for Aggregated { position, states } in &mut self.columns {
            let column = summary.columns.get(*position).ok_or(Malformed("a summary's column is not there"))?;
            for (_, state) in states {
                state.grow(groups);
                state.summaries(self.level, ids, summary.rows, column)?;
            }
        }
        Ok(())
    }

    fn timed(&mut self, take: impl FnOnce(&mut Self) -> Result<(), Malformed>) -> Result<()> {
        let start = self.timings.then(Instant::now);
        let taken = take(self);
        if let Some(start) = start {
            self.time += start.elapsed();
        }
        taken.map_err(|malformed| Error::corrupt(self.path, "a batch of rows", malformed.0))
    }
}

impl Sink for GroupTable<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if self.plan.is_for(schema) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.timed(|groups| groups.take_batch(batch))
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        self.timed(|groups| groups.take_summary(summary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aggregate, Expression, Query};
    use brc_core::table::{ColumnSummary, Numbers, Sums};
    use brc_core::{Column, Dictionary, Integers, Run, Schema};

    /// What a table with a string key, and with that key and a number as keys, says to a batch or a summary.
    fn refusals(give: impl Fn(&mut GroupTable<'_>) -> Result<()>, filter: Option<&str>) -> Vec<String> {
        let plans = [vec!["s"], vec!["s", "x"]].map(|by| Query {
            by: Some(by.into_iter().map(str::to_owned).collect()),
            aggregates: Some(Aggregate::parse_list("sum(x)").unwrap()),
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
