//! The runs of one row group while it is scanned: their lengths, their codes, and as much of their statistics as the scan
//! looks at.

use crate::block::{BlockBuffer, Cost};
use crate::place::Place;
use crate::run_statistics::{Detail, RunNumbers};
use crate::v1::footer::Cluster;
use crate::v1::reader::Reader;
use crate::v1::run_index;
use brc_core::{Result, Run};
use std::ops::Range;

/// The runs of the row group that is being scanned.
#[derive(Default)]
pub(crate) struct RunTable {
    pub(crate) rows: Vec<u32>,
    /// The dictionary's code of each run, if that was asked for; else 0.
    pub(crate) codes: Vec<u32>,
    /// For each decimal column of the schema, what was asked for; what was not may be left from another row group.
    pub(crate) statistics: Vec<RunNumbers>,
    pub(crate) details: Vec<Detail>,
    /// The runs whose statistics are looked at; those of others may be missing.
    pub(crate) part: Range<usize>,
    pub(crate) block: BlockBuffer,
    /// The runs of the piece at hand.
    pub(crate) piece: Vec<Run>,
}

impl RunTable {
    pub(crate) fn new(columns: usize) -> Self {
        Self { statistics: (0..columns).map(|_| RunNumbers::default()).collect(), ..Self::default() }
    }

    /// Asks for the statistics of these columns only, and of all runs.
    pub(crate) fn want(&mut self, detail: Detail, columns: impl Iterator<Item = usize>) {
        self.details.clear();
        self.details.resize(self.statistics.len(), Detail::Nothing);
        columns.for_each(|column| self.details[column] = detail);
        self.part = 0..usize::MAX;
    }

    /// Lets the code of each run be its number.
    pub(crate) fn number(&mut self) {
        self.codes.clear();
        self.codes.extend(0..self.rows.len() as u32);
    }

    /// Reads what was asked for of a run index.
    pub(crate) fn load(&mut self, reader: &Reader, index: usize, cluster: Cluster, cost: &mut Cost) -> Result<()> {
        let row_group = reader.row_group(index);
        let place = Place::RunIndex { row_group: index };
        self.block.load(reader.source(), &cluster.run_index, place, cost)?;
        let runs = row_group.chunks[cluster.key].cardinality() as usize;
        let decimals = self.statistics.iter_mut().zip(&self.details).zip(&row_group.chunks);
        let wanted = decimals.filter_map(|((statistics, detail), chunk)| {
            chunk.statistics().map(|all| (*detail, (all.min, all.max), statistics))
        });
        let part = self.part.start.min(runs)..self.part.end.min(runs);
        run_index::read(self.block.bytes(), runs, part, row_group.rows, &mut self.rows, wanted)
            .map_err(|reason| reader.corrupt(place, reason))?;
        self.codes.resize(runs, 0);
        Ok(())
    }
}
