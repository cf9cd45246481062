//! One worker's share of a question: takes batches, keeps the state of each group.

use crate::filter::{Filter, Selection};
use crate::keys::{Keys, Members};
use crate::partial::Partial;
use crate::plan::Plan;
use brc_core::table::ColumnSummary;
use brc_core::{Batch, Column, Data, Error, Integers, Result, Run, Sink, Summary};
use brc_kernels::accumulate::{GroupStatistics, UnknownGroup};
use brc_kernels::cpu::Level;
use brc_kernels::filter::compress;
use std::path::Path;
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
    level: Level,
    filter: Option<Filter>,
    keys: Keys,
    /// The aggregated columns: where they are in a batch, and the state of each group.
    columns: Vec<(usize, GroupStatistics)>,
    /// The rows of each group; only kept if no column's state tells them.
    counts: Vec<u64>,
    kept: Kept,
    timings: bool,
    time: Duration,
}

impl<'a> GroupTable<'a> {
    /// An empty one for the scan of a file, of which messages tell the name.
    pub(crate) fn new(plan: &Plan, path: &'a Path) -> Self {
        let projection = plan.projection();
        let is_text: Vec<bool> = plan.keys().iter().map(|&key| plan.is_text(key)).collect();
        let position = |column| projection.iter().position(|&projected| projected == column);
        Self {
            path,
            level: Level::best(),
            filter: plan.predicate().map(|predicate| Filter::new(predicate, plan.schema(), &projection)),
            keys: Keys::new(&is_text),
            columns: plan
                .aggregated()
                .into_iter()
                .filter_map(position)
                .map(|position| (position, GroupStatistics::new()))
                .collect(),
            counts: Vec::new(),
            kept: Kept::default(),
            timings: plan.timings,
            time: Duration::ZERO,
        }
    }

    /// How long it took to take batches and summaries, if that was to be measured.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// The state of all groups that have rows.
    pub(crate) fn finish(self) -> Partial {
        let groups = self.keys.groups();
        let (names, tuples) = self.keys.finish();
        let statistics: Vec<_> = self
            .columns
            .into_iter()
            .map(|(_, mut column)| {
                column.grow(groups);
                column.finish()
            })
            .collect();
        let counts = match statistics.first() {
            Some(statistics) => statistics.iter().map(|statistics| statistics.count).collect(),
            None => {
                let mut counts = self.counts;
                counts.resize(groups, 0);
                counts
            }
        };
        Partial::of_groups(names, tuples, counts, statistics)
    }

    fn take_batch(&mut self, batch: &Batch<'_>) -> Result<(), Malformed> {
        check(batch)?;
        let selection = match &mut self.filter {
            Some(filter) => filter.select(self.level, batch)?,
            None => Selection::All,
        };
        if selection.wanted(batch.rows) == 0 {
            return Ok(());
        }
        let (members, groups) = self.keys.members(self.level, batch, selection)?;
        if self.columns.is_empty() {
            self.counts.resize(groups, 0);
            return count(members, &mut self.counts);
        }
        for (position, state) in &mut self.columns {
            let Some(Data::Integers(values)) = batch.columns.get(*position).map(|column| column.data) else {
                return Err(Malformed("a column of numbers is not there"));
            };
            let values = match selection {
                Selection::All => values,
                Selection::Some(mask, _) => self.kept.values(self.level, values, mask)?,
            };
            state.grow(groups);
            match members {
                Members::Rows(groups) => state.rows(self.level, groups, values)?,
                Members::Runs(runs) => state.runs(self.level, runs, values)?,
            }
        }
        Ok(())
    }

    fn take_summary(&mut self, summary: &Summary<'_>) -> Result<(), Malformed> {
        let (members, groups) = self.keys.members_of_summary(summary)?;
        for (position, state) in &mut self.columns {
            let Some(ColumnSummary::Numbers(numbers)) = summary.columns.get(*position) else {
                return Err(Malformed("a summary's column of numbers is not there"));
            };
            state.grow(groups);
            state.summaries(self.level, members, summary.rows, numbers)?;
        }
        if self.columns.is_empty() {
            self.counts.resize(groups, 0);
            for (&group, &rows) in members.iter().zip(summary.rows) {
                *self.counts.get_mut(group as usize).ok_or(UnknownGroup)? += u64::from(rows);
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
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.timed(|groups| groups.take_batch(batch))
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        self.timed(|groups| groups.take_summary(summary))
    }
}

/// Every column of a batch has as many rows as the batch.
fn check(batch: &Batch<'_>) -> Result<(), Malformed> {
    if batch.columns.iter().any(Column::has_nulls) {
        return Err(Malformed("it has nulls"));
    }
    let rows = |column: &Column<'_>| match column.data {
        Data::Codes { codes, .. } => codes.len() as u64,
        Data::Runs { runs, .. } => runs.iter().map(|run| u64::from(run.rows)).sum(),
        Data::Bytes(strings) => strings.len() as u64,
        Data::Integers(values) => values.len() as u64,
        Data::Floats(values) => values.len() as u64,
    };
    if batch.columns.iter().all(|column| rows(column) == batch.rows as u64) {
        Ok(())
    } else {
        Err(Malformed("its columns are not equally long"))
    }
}

fn count(members: Members<'_>, counts: &mut [u64]) -> Result<(), Malformed> {
    let mut add = |Run { code, rows }| {
        *counts.get_mut(code as usize).ok_or(UnknownGroup)? += u64::from(rows);
        Ok(())
    };
    match members {
        Members::Rows(groups) => groups.iter().try_for_each(|&code| add(Run { code, rows: 1 })),
        Members::Runs(runs) => runs.iter().copied().try_for_each(add),
    }
}

/// The wanted values of a batch.
#[derive(Debug, Default)]
struct Kept {
    narrow: Vec<i16>,
    middle: Vec<i32>,
    wide: Vec<i64>,
    /// Values of other widths, before they are filtered.
    unfiltered: Vec<i64>,
}

impl Kept {
    fn values(&mut self, level: Level, values: Integers<'_>, mask: &[u64]) -> Result<Integers<'_>, Malformed> {
        Ok(match values {
            Integers::I8(values) => {
                self.unfiltered.clear();
                self.unfiltered.extend(values.iter().map(|&value| i64::from(value)));
                compress(level, &self.unfiltered, mask, &mut self.wide);
                Integers::I64(&self.wide)
            }
            Integers::I128(values) => {
                self.unfiltered.clear();
                for &value in values {
                    self.unfiltered.push(i64::try_from(value).map_err(|_| UnknownGroup)?);
                }
                compress(level, &self.unfiltered, mask, &mut self.wide);
                Integers::I64(&self.wide)
            }
            Integers::I16(values) => {
                compress(level, values, mask, &mut self.narrow);
                Integers::I16(&self.narrow)
            }
            Integers::I32(values) => {
                compress(level, values, mask, &mut self.middle);
                Integers::I32(&self.middle)
            }
            Integers::I64(values) => {
                compress(level, values, mask, &mut self.wide);
                Integers::I64(&self.wide)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aggregate, Expression, Query};
    use brc_core::table::{Numbers, Sums};
    use brc_core::{Dictionary, Schema};

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
