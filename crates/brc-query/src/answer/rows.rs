//! The rows of an answer one by one: in blocks, which are made while they are read.

use super::Answer;
use super::source::Source;
use crate::finish::groups::{BLOCK, Groups};
use crate::values::cells::Cells;
use brc_core::{Field, Result, Value, interrupt};
use std::borrow::Cow;
use std::ops::Range;

impl Answer {
    /// All rows in order, some at a time: those that are not in memory are made, or read, block by block.
    ///
    /// A block is an error if the spill file cannot be read, or is damaged; if a value is none of the type of its column.
    pub fn blocks(&self) -> impl Iterator<Item = Result<RowBlock<'_>>> {
        (0..self.source.parts()).flat_map(|part| {
            let mut blocks = Vec::new();
            let read = self.each_block(part, |block| {
                blocks.push(Ok(block));
                Ok(())
            });
            blocks.extend(read.and_then(|()| interrupt::check()).err().map(Err));
            blocks
        })
    }

    /// Calls `each` with some rows of a part after the other.
    pub(crate) fn each_block<'a>(
        &'a self,
        part: usize,
        mut each: impl FnMut(RowBlock<'a>) -> Result<()>,
    ) -> Result<()> {
        let made = |rows: usize, cells: Vec<Cells>| RowBlock { cells: Cow::Owned(cells), rows: 0..rows };
        match &self.source {
            Source::InMemory { blocks, parts } => {
                let (block, rows) = &parts[part];
                each(RowBlock { cells: Cow::Borrowed(&blocks[*block].1), rows: rows.clone() })
            }
            Source::Groups { plan, partials, places } => {
                let places = &places[part * BLOCK..places.len().min((part + 1) * BLOCK)];
                each(made(places.len(), Groups::new(plan, partials).rows(places)?))
            }
            Source::Parts(parts) => parts.with(part, |plan, part| {
                part.blocks(plan).try_for_each(|block| block.and_then(|(rows, cells)| each(made(rows, cells))))
            }),
            Source::Rows { parts, order } => {
                let rows = &order[part * BLOCK..order.len().min((part + 1) * BLOCK)];
                let column = |(column, field): (usize, &Field)| {
                    let mut cells = Cells::with_capacity(field.logical_type, rows.len());
                    rows.iter().for_each(|&(part, row)| {
                        cells.push(parts[part as usize][column].get(row as usize));
                    });
                    cells
                };
                each(made(rows.len(), self.schema.fields().iter().enumerate().map(column).collect()))
            }
            Source::Spilled { blocks, spill } => {
                each(RowBlock { cells: blocks[part].cells(spill)?, rows: 0..blocks[part].rows })
            }
        }
    }
}

/// Some rows of an answer, in sequence.
#[derive(Debug)]
pub struct RowBlock<'a> {
    pub(crate) cells: Cow<'a, [Cells]>,
    /// Which of the rows of these columns.
    pub(crate) rows: Range<usize>,
}

impl RowBlock<'_> {
    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.clone().map(|row| Row { cells: &self.cells, row, column: 0 })
    }
}

/// One row of an answer: an iterator over its values, one for each column; `None` is null.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    cells: &'a [Cells],
    row: usize,
    column: usize,
}

impl<'a> Row<'a> {
    /// The value of a column; `None` if it is null.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn value(&self, column: usize) -> Option<Value<'a>> {
        self.cells[column].get(self.row)
    }
}

impl<'a> Iterator for Row<'a> {
    type Item = Option<Value<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let cells = self.cells.get(self.column)?;
        self.column += 1;
        Some(cells.get(self.row))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.cells.len() - self.column;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Row<'_> {}
