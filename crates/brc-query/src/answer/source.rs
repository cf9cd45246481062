//! Sources of the rows of an answer: memory, or groups that are computed part by part while they are read, so that rows
//! are still in the caches when they are printed.

use crate::accumulate::partial::Partial;
use crate::answer::key_order::Parts;
use crate::answer::sorted_runs::Block;
use crate::finish::groups::{BLOCK, GroupRef};
use crate::partitions::spill::Spill;
use crate::plan::Plan;
use crate::values::cells::Cells;
use brc_core::Result;
use std::ops::Range;

/// The source of rows, divided into parts.
#[derive(Debug)]
pub(crate) enum Source {
    /// Blocks in memory, each with its number of rows. A part is some rows of a block.
    InMemory { blocks: Vec<(usize, Vec<Cells>)>, parts: Vec<(usize, Range<usize>)> },
    /// Groups of prepared partials in memory, in the order of `places`. No group is in two partials. A part is a block of
    /// rows.
    Groups { plan: Box<Plan>, partials: Vec<Partial>, places: Vec<GroupRef> },
    /// Groups in the order of their keys.
    Parts(Box<Parts>),
    /// Rows of the table, in the order of `order`, which has the part and position of each. A part is a block of rows.
    Rows { parts: Vec<Vec<Cells>>, order: Vec<(u32, u32)> },
    /// Blocks, some or all of them in the spill file.
    Spilled { blocks: Vec<Block>, spill: Spill },
}

impl Source {
    /// Blocks in memory, each with its number of rows.
    pub(crate) fn in_memory(blocks: Vec<(usize, Vec<Cells>)>) -> Self {
        let of_block = |(block, (rows, _)): (usize, &(usize, Vec<Cells>))| {
            let rows = *rows;
            (0..rows).step_by(BLOCK).map(move |first| (block, first..rows.min(first + BLOCK)))
        };
        Self::InMemory { parts: blocks.iter().enumerate().flat_map(of_block).collect(), blocks }
    }

    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        match self {
            Self::InMemory { parts, .. } => parts.len(),
            Self::Groups { places, .. } => places.len().div_ceil(BLOCK),
            Self::Parts(parts) => parts.len(),
            Self::Rows { order, .. } => order.len().div_ceil(BLOCK),
            Self::Spilled { blocks, .. } => blocks.len(),
        }
    }

    /// The number of rows of a part, or an upper bound.
    pub(crate) fn rows(&self, part: usize) -> usize {
        let of_block = |rows: usize| BLOCK.min(rows - part * BLOCK);
        match self {
            Self::InMemory { parts, .. } => parts[part].1.len(),
            Self::Groups { places, .. } => of_block(places.len()),
            Self::Parts(parts) => parts.rows(part),
            Self::Rows { order, .. } => of_block(order.len()),
            Self::Spilled { blocks, .. } => blocks[part].rows,
        }
    }

    /// The number of rows of a part.
    pub(crate) fn count(&self, part: usize) -> Result<usize> {
        match self {
            Self::Parts(parts) => parts.with(part, |_, part| Ok(part.rows())),
            Self::InMemory { .. } | Self::Groups { .. } | Self::Rows { .. } | Self::Spilled { .. } => {
                Ok(self.rows(part))
            }
        }
    }

    /// The number of groups computed so far; `None` if all are in memory.
    pub(crate) fn groups(&self) -> Option<u64> {
        match self {
            Self::Parts(parts) => parts.groups(),
            Self::InMemory { .. } | Self::Groups { .. } | Self::Rows { .. } | Self::Spilled { .. } => None,
        }
    }

    /// The first part of each split of at least `rows` rows, then the number of parts.
    pub(crate) fn splits(&self, rows: usize) -> Vec<usize> {
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
