//! An answer of many rows: a table whose rows are made of groups, or read from the spill file, while it is read. So
//! the values of all rows are never in memory at once, and rows are still in the caches when they are printed.

use crate::accumulate::partial::Partial;
use crate::answer::key_order::{KeyOrder, Part};
use crate::answer::result::QueryResult;
use crate::answer::slicer::Slicer;
use crate::answer::sorted_runs::Block;
use crate::finish::groups::{BLOCK, GroupRef, Groups};
use crate::functions::typed::Node;
use crate::partitions::spill::Spill;
use crate::plan::{OutputExpression, Plan};
use crate::runtime::memory::Memory;
use crate::runtime::parallel;
use crate::scan::totals::ScanTotals;
use crate::values::cells::Cells;
use brc_core::{Dictionary, Error, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::borrow::Cow;
use std::path::Path;

/// How many rows a split has if memory allows: as many as make a good row group.
const SPLIT_ROWS: usize = 64 * BLOCK;

/// The sorted rows of an answer, some after the other. Where rows are made of groups that are made while it is read,
/// it is not known before how many there are.
#[derive(Debug)]
pub struct LongAnswer {
    plan: Plan,
    schema: Schema,
    source: Source,
    /// The first part of each split, and how many parts there are.
    splits: Vec<usize>,
    totals: ScanTotals,
}

/// What rows come from, part by part.
#[derive(Debug)]
enum Source {
    /// Groups in memory, in that order. A part is a block of rows.
    Groups { partials: Vec<Partial>, places: Vec<GroupRef> },
    /// Groups in the order of their keys.
    Parts(Vec<Part>),
    /// Groups that are still to be made, but for the first ones. A part is a partition.
    KeyOrder { order: Box<KeyOrder>, first: Vec<Part> },
    /// Rows of the table: some of these parts, in that order. A part is a block of rows.
    Rows { parts: Vec<Vec<Cells>>, order: Vec<(u32, u32)> },
    /// Blocks of which some or all are in the spill file.
    File { blocks: Vec<Block>, spill: Spill },
}

impl Source {
    /// How many parts there are.
    fn parts(&self) -> usize {
        match self {
            Self::Groups { places, .. } => places.len().div_ceil(BLOCK),
            Self::Parts(parts) => parts.len(),
            Self::KeyOrder { order, .. } => order.parts(),
            Self::Rows { order, .. } => order.len().div_ceil(BLOCK),
            Self::File { blocks, .. } => blocks.len(),
        }
    }

    /// How many rows a part has, or about how many.
    fn rows(&self, part: usize) -> usize {
        let of_block = |rows: usize| BLOCK.min(rows - part * BLOCK);
        match self {
            Self::Groups { places, .. } => of_block(places.len()),
            Self::Parts(parts) => parts[part].rows(),
            Self::KeyOrder { order, .. } => order.most_groups(part),
            Self::Rows { order, .. } => of_block(order.len()),
            Self::File { blocks, .. } => blocks[part].rows,
        }
    }

    /// The first part of each split of this many rows, or a few more, and how many parts there are.
    fn splits(&self, rows: usize) -> Vec<usize> {
        let (mut splits, mut of_split) = (vec![0], 0);
        for part in 0..self.parts() {
            if of_split >= rows {
                splits.push(part);
                of_split = 0;
            }
            of_split += self.rows(part);
        }
        splits.push(self.parts());
        splits
    }
}

impl LongAnswer {
    /// The answer whose rows are in these blocks.
    pub(crate) fn of_blocks(
        plan: &Plan,
        blocks: Vec<Block>,
        spill: Spill,
        memory: &Memory,
        totals: ScanTotals,
    ) -> Result<Self> {
        let bytes: u64 = blocks.iter().map(Block::bytes).max().unwrap_or(0) + 1;
        let split_blocks = usize::try_from(memory.limit / 16 / bytes).unwrap_or(usize::MAX).max(1);
        let split_rows = split_blocks.saturating_mul(BLOCK).min(SPLIT_ROWS);
        Ok(Self::new(plan, Source::File { blocks, spill }, totals)?.with_splits_of(split_rows))
    }

    /// The answer that groups give, in that order: settled partials that have no group in common.
    pub(crate) fn of_groups(
        plan: &Plan,
        partials: Vec<Partial>,
        places: Vec<GroupRef>,
        totals: ScanTotals,
    ) -> Result<Self> {
        Self::new(plan, Source::Groups { partials, places }, totals)
    }

    /// The answer that groups give in the order of their keys, of which the first parts are made.
    pub(crate) fn in_key_order(plan: &Plan, order: KeyOrder, first: Vec<Part>, totals: ScanTotals) -> Result<Self> {
        Self::new(plan, Source::KeyOrder { order: Box::new(order), first }, totals)
    }

    /// The answer that groups give in the order of their keys.
    pub(crate) fn of_parts(plan: &Plan, parts: Vec<Part>, totals: ScanTotals) -> Result<Self> {
        Self::new(plan, Source::Parts(parts), totals)
    }

    /// The answer that rows of these parts give, each as its part and its position there.
    pub(crate) fn of_rows(
        plan: &Plan,
        parts: Vec<Vec<Cells>>,
        order: Vec<(u32, u32)>,
        totals: ScanTotals,
    ) -> Result<Self> {
        Self::new(plan, Source::Rows { parts, order }, totals)
    }

    fn new(plan: &Plan, source: Source, totals: ScanTotals) -> Result<Self> {
        let (plan, schema, splits) = (plan.clone(), plan.answer_schema()?, source.splits(SPLIT_ROWS));
        Ok(Self { plan, schema, source, splits, totals })
    }

    /// The same in splits of about this many rows, or fewer parts if they are large.
    #[must_use]
    pub fn with_splits_of(self, rows: usize) -> Self {
        Self { splits: self.source.splits(rows), ..self }
    }

    /// The same in splits that depend on nothing but the rows: all groups are made before any is read.
    ///
    /// # Errors
    /// What is wrong with the rows that groups are made of.
    pub fn in_even_splits(self, threads: usize) -> Result<Self> {
        let (first, rest, totals) = match self.source {
            Source::Parts(parts) => (parts, Vec::new(), self.totals),
            Source::KeyOrder { order, first } => {
                let made = first.len();
                let rest =
                    parallel::try_map(order.parts() - made, threads, |number| order.part(&self.plan, made + number))?;
                let totals = ScanTotals { groups: order.groups(), ..self.totals };
                (first, rest, totals)
            }
            Source::Groups { .. } | Source::Rows { .. } | Source::File { .. } => return Ok(self),
        };
        let (mut partials, mut places) = (Vec::new(), Vec::new());
        for part in first.into_iter().chain(rest) {
            let before = partials.len() as u32;
            let (more, its_places) = part.into_places();
            partials.extend(more);
            places.extend(its_places.into_iter().map(|place| GroupRef { partial: before + place.partial, ..place }));
        }
        Self::of_groups(&self.plan, partials, places, totals)
    }

    /// What was done to find the answer, and as many of its rows as were read.
    #[must_use]
    pub fn totals(&self) -> ScanTotals {
        match &self.source {
            Source::KeyOrder { order, .. } => ScanTotals { groups: order.groups(), ..self.totals.clone() },
            Source::Groups { .. } | Source::Parts(_) | Source::Rows { .. } | Source::File { .. } => self.totals.clone(),
        }
    }

    pub(crate) fn totals_mut(&mut self) -> &mut ScanTotals {
        &mut self.totals
    }

    /// All rows in memory, whatever they take.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged; if a value is none of the type of its column.
    pub fn load(&self, threads: usize) -> Result<QueryResult> {
        let of_part = |number: usize| {
            let mut blocks = Vec::new();
            self.each_block(number, |rows, cells| {
                blocks.push((rows, cells.into_owned()));
                Ok(())
            })?;
            Ok::<_, Error>(blocks)
        };
        let blocks = parallel::try_map(self.source.parts(), threads, of_part)?;
        Ok(QueryResult::of_blocks(&self.plan, blocks.into_iter().flatten().collect(), self.totals()))
    }

    /// Calls `each` with the columns of some rows of a part after the other, and how many those are.
    fn each_block<'a>(
        &'a self,
        part: usize,
        mut each: impl FnMut(usize, Cow<'a, [Cells]>) -> Result<()>,
    ) -> Result<()> {
        let plan = &self.plan;
        match &self.source {
            Source::Groups { partials, places } => {
                let places = &places[part * BLOCK..places.len().min((part + 1) * BLOCK)];
                each(places.len(), Cow::Owned(Groups::new(plan, partials).rows(places)?))
            }
            Source::Parts(parts) => {
                let mut blocks = parts[part].blocks(plan);
                blocks.try_for_each(|block| block.and_then(|(rows, cells)| each(rows, Cow::Owned(cells))))
            }
            Source::KeyOrder { order, first } => {
                let made = if part < first.len() { None } else { Some(order.part(plan, part)?) };
                let mut blocks = made.as_ref().unwrap_or_else(|| &first[part]).blocks(plan);
                blocks.try_for_each(|block| block.and_then(|(rows, cells)| each(rows, Cow::Owned(cells))))
            }
            Source::Rows { parts, order } => {
                let rows = &order[part * BLOCK..order.len().min((part + 1) * BLOCK)];
                let column = |(column, answer): (usize, &OutputExpression)| {
                    let mut cells = Cells::with_capacity(answer.value.logical_type, rows.len());
                    rows.iter().for_each(|&(part, row)| {
                        cells.push(parts[part as usize][column].get(row as usize));
                    });
                    cells
                };
                each(rows.len(), Cow::Owned(plan.columns.iter().enumerate().map(column).collect()))
            }
            Source::File { blocks, spill } => each(blocks[part].rows, blocks[part].cells(spill)?),
        }
    }
}

impl Table for LongAnswer {
    fn path(&self) -> &Path {
        Path::new("the answer")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        let is_known = !matches!(self.source, Source::KeyOrder { .. });
        is_known.then(|| (0..self.source.parts()).map(|part| self.source.rows(part) as u64).sum())
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn dictionary(&self, column: usize) -> Option<&Dictionary> {
        let Node::Column(key) = self.plan.columns.get(column)?.value.node else { return None };
        match &self.source {
            Source::KeyOrder { order, .. } if key < self.plan.keys.len() => order.dictionary(key),
            Source::KeyOrder { .. }
            | Source::Groups { .. }
            | Source::Parts(_)
            | Source::Rows { .. }
            | Source::File { .. } => None,
        }
    }

    fn split(&self, index: u64) -> Option<Split> {
        let first = usize::try_from(index).ok()?;
        let (start, end) = (*self.splits.get(first)?, *self.splits.get(first + 1)?);
        (start < end).then_some(Split { index, start: start as u64, end: end as u64 })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(LongScanner { answer: self, slicer: Slicer::new(options) }))
    }
}

struct LongScanner<'a> {
    answer: &'a LongAnswer,
    slicer: Slicer,
}

impl Scanner for LongScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Self { answer, slicer } = self;
        let mut rows = 0;
        for part in split.start..split.end {
            answer.each_block(part as usize, |more, cells| {
                rows += more as u64;
                slicer.deliver(&cells, 0..more, sink)
            })?;
        }
        Ok(Some(Scanned { rows, ..Scanned::default() }))
    }
}
