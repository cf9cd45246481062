//! Finds the table and its header among the cells of a sheet.

use super::cell::Cell;
use super::workbook::PlacedCell;
use brc_text::DialectOverrides;
use std::collections::BTreeMap;

/// The table of a sheet.
#[derive(Debug, Default)]
pub(super) struct SheetLayout {
    /// The header's name of each column, which may be empty; `None` if there is no header.
    pub(super) header: Option<Vec<String>>,
    /// The cells of each column by row, counted from the first row of the table.
    pub(super) columns: Vec<Vec<(usize, Cell)>>,
    /// The row of the sheet that is the table's first, counted from 0.
    pub(super) first_row: u32,
    pub(super) rows: usize,
    /// The number of title rows above it.
    pub(super) title_rows: u32,
}

impl SheetLayout {
    /// The table of these cells, which are in order. Columns without a cell are omitted; rows without one are kept,
    /// unless they are the last.
    pub(super) fn of(mut cells: Vec<PlacedCell>, options: &DialectOverrides) -> Self {
        if let Some(skipped) = options.preamble_lines {
            cells.retain(|cell| u64::from(cell.row) >= skipped);
        }
        if let (Some(last), Some(skipped)) = (cells.last().map(|cell| cell.row), options.trailing_lines) {
            cells.retain(|cell| u64::from(cell.row) + skipped <= u64::from(last));
        }
        let mut title_rows = 0;
        if options.preamble_lines.is_none() {
            let first = cells.first().map_or(0, |cell| cell.row);
            cells.drain(..title_cells(&cells));
            title_rows = cells.first().map_or(0, |cell| cell.row - first);
        }
        let Some(first_row) = cells.first().map(|cell| cell.row) else { return Self::default() };
        let width = cells.iter().take_while(|cell| cell.row == first_row).count();
        let has_header =
            options.header.unwrap_or_else(|| cells[..width].iter().all(|cell| matches!(cell.cell, Cell::Text(_))));
        let first_row = first_row + u32::from(has_header);
        let mut columns = BTreeMap::<u32, (String, Vec<(usize, Cell)>)>::new();
        let mut rows = 0;
        for PlacedCell { row, column, cell } in cells {
            let (name, own) = columns.entry(column).or_default();
            match row.checked_sub(first_row) {
                None => *name = cell.to_text(),
                Some(row) => {
                    rows = row as usize + 1;
                    own.push((row as usize, cell));
                }
            }
        }
        let (names, columns) = columns.into_values().unzip();
        Self { header: has_header.then_some(names), columns, first_row, rows, title_rows }
    }
}

/// The number of title cells: texts alone in their row, above rows of several cells.
fn title_cells(cells: &[PlacedCell]) -> usize {
    let alone = |rows: &[PlacedCell]| rows.len() == 1 && matches!(rows[0].cell, Cell::Text(_));
    let rows = || cells.chunk_by(|one, next| one.row == next.row);
    let has_columns = rows().any(|row| row.len() > 1);
    if has_columns { rows().take_while(|row| alone(row)).count() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(rows: &[&[Option<Cell>]], options: &DialectOverrides) -> SheetLayout {
        let cells = (0..).zip(rows).flat_map(|(row, cells)| {
            let placed =
                move |(column, cell): (u32, &Option<Cell>)| Some(PlacedCell { row, column, cell: cell.clone()? });
            (1..).zip(*cells).filter_map(placed)
        });
        SheetLayout::of(cells.collect(), options)
    }

    fn text(text: &str) -> Option<Cell> {
        Some(Cell::Text(text.into()))
    }

    const ONE: Option<Cell> = Some(Cell::Whole(1));

    #[test]
    fn a_first_row_of_texts_is_a_header() {
        let rows: &[&[Option<Cell>]] =
            &[&[], &[text("a"), None, text("c")], &[ONE, ONE], &[], &[None, None, None, ONE]];
        let found = layout(rows, &DialectOverrides::default());
        assert_eq!(found.header.unwrap(), ["a", "", "c", ""]);
        assert_eq!((found.rows, found.first_row, found.title_rows), (3, 2, 0));
        assert_eq!(found.columns[3], [(2, Cell::Whole(1))]);
        let no = DialectOverrides { header: Some(false), ..DialectOverrides::default() };
        assert_eq!(layout(rows, &no).rows, 4);
        assert_eq!(layout(&[&[text("a"), ONE], &[ONE, ONE]], &DialectOverrides::default()).header, None);
        let last = DialectOverrides { trailing_lines: Some(1), ..DialectOverrides::default() };
        assert_eq!(layout(rows, &last).rows, 1);
    }

    #[test]
    fn titles_and_skipped_rows_are_excluded() {
        let rows: &[&[Option<Cell>]] = &[&[text("Sales")], &[], &[text("a"), text("b")], &[ONE, ONE]];
        let found = layout(rows, &DialectOverrides::default());
        assert_eq!((found.header.unwrap(), found.rows, found.title_rows), (vec!["a".into(), "b".into()], 1, 2));
        for (skip, rows_left) in [(0, 3), (1, 1), (3, 1), (4, 0)] {
            let options = DialectOverrides { preamble_lines: Some(skip), ..DialectOverrides::default() };
            assert_eq!(layout(rows, &options).rows, rows_left, "{skip}");
        }
        // A single column has no title.
        for below in [&[text("b")], &[ONE]] {
            let found = layout(&[&[text("a")], below], &DialectOverrides::default());
            assert_eq!((found.header.unwrap(), found.rows, found.title_rows), (vec!["a".to_owned()], 1, 0));
        }
        assert_eq!(layout(&[], &DialectOverrides::default()).rows, 0);
    }
}
