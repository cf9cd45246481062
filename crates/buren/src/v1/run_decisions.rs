//! What the predicate of a scan is for each run of a row group.
//!
//! A table may have a million runs. Where the key alone decides, and that is once for each of its values, a run costs one
//! look into a table; and neighbours of the same fate are taken together.

use crate::run_statistics::RunNumbers;
use crate::v1::footer::RowGroup;
use crate::v1::run_table::RunTable;
use crate::v1::scanner::BurenScanner;
use brc_core::{Dictionary, Known, Predicate, Result, Verdict};
use std::ops::Range;

/// Decides runs.
pub(crate) struct RunDecisions<'a> {
    row_group: &'a RowGroup,
    runs: &'a RunTable,
    key: usize,
    /// The predicate, unless it is known to be true for the whole row group.
    predicate: Option<&'a Predicate>,
    /// If the predicate looks at the key: its values, and the verdict of each.
    by_key: Option<(&'a Dictionary, &'a [Verdict])>,
    /// If the predicate is no more than a range of numbers: those of its column.
    only_numbers: Option<&'a RunNumbers>,
}

impl<'a> RunDecisions<'a> {
    /// For a row group for which the predicate is `verdict`. What the predicate looks at of its runs has been read.
    pub(crate) fn new(scanner: &'a BurenScanner<'_>, index: usize, key: usize, verdict: Verdict) -> Result<Self> {
        let by_key = match scanner.predicate_columns.contains(&key) {
            true => {
                let verdicts = scanner.key_verdicts[key].as_deref().unwrap_or_default();
                Some((scanner.reader.dictionary(key)?, verdicts))
            }
            false => None,
        };
        let predicate = scanner.options.predicate.as_ref().filter(|_| verdict != Verdict::Always);
        let only_numbers = match predicate {
            Some(Predicate::Range { column, low, high }) if low <= high => Some(&scanner.runs.statistics[*column]),
            _ => None,
        };
        let row_group = scanner.reader.row_group(index);
        Ok(Self { row_group, runs: &scanner.runs, key, predicate, by_key, only_numbers })
    }

    /// The runs in their order, as few stretches with one verdict for each of their runs.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = (Verdict, Range<usize>)> {
        let runs = self.runs.rows.len();
        // Runs outside this part were ruled out before.
        let part = self.runs.part.start.min(runs)..self.runs.part.end.min(runs);
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = next;
            let verdict;
            (verdict, next) = match self.predicate {
                _ if start == runs => return None,
                None => (Verdict::Always, runs),
                Some(_) if start < part.start => (Verdict::Never, part.start),
                Some(_) if start >= part.end => (Verdict::Never, runs),
                Some(_) => {
                    let verdict = self.of_run(start);
                    let other = (start + 1..part.end).find(|&run| self.of_run(run) != verdict);
                    (verdict, other.unwrap_or(part.end))
                }
            };
            Some((verdict, start..next))
        })
    }

    #[inline(always)]
    fn of_run(&self, run: usize) -> Verdict {
        let Some(predicate) = self.predicate else { return Verdict::Always };
        let Some((dictionary, verdicts)) = self.by_key else {
            return match (self.only_numbers, predicate) {
                (Some(numbers), Predicate::Range { low, high, .. }) => numbers.decide_range(run, *low, *high),
                _ => self.look(predicate, run, Known::NOTHING),
            };
        };
        let code = self.runs.codes[run];
        match verdicts.get(code as usize) {
            Some(verdict @ (Verdict::Always | Verdict::Never)) => *verdict,
            _ => self.look(predicate, run, Known::string(dictionary.get(code))),
        }
    }

    /// Asks the predicate itself, which is slow for what most of them are: see [`RunNumbers::decide_range`].
    #[inline(never)]
    fn look(&self, predicate: &Predicate, run: usize, value: Known<'_>) -> Verdict {
        predicate.decide(&|column| {
            if column == self.key {
                value
            } else if self.row_group.chunks[column].statistics().is_some() {
                let numbers = &self.runs.statistics[column];
                Known::numbers(numbers.min[run], numbers.max[run])
            } else {
                Known::NOTHING
            }
        })
    }
}
