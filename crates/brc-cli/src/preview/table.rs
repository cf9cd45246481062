//! A table for people, as wide as the terminal at most: long values are cut, and the last columns left out.

use super::{FirstRows, Format};
use crate::printable;
use crate::render::STYLE;
use brc_core::{PhysicalType, Result};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Width};
use std::io::IsTerminal;

pub(super) struct Table;

/// Values may be cut to so many characters if not all columns fit otherwise.
const NARROW: u16 = 16;

/// What stands around a value.
const PADDING: u16 = 3;

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn about(&self) -> &'static str {
        "aligned columns for people, cut to the width of the terminal"
    }

    fn render(&self, rows: &FirstRows, out: &mut Vec<u8>) -> Result<()> {
        fit(rows, terminal_width(), out);
        Ok(())
    }
}

/// The width of the terminal, if standard output is one.
fn terminal_width() -> Option<u16> {
    let stdout = std::io::stdout();
    let width = if stdout.is_terminal() { rustix::termios::tcgetwinsize(&stdout).ok()?.ws_col } else { 0 };
    (width > 0).then_some(width)
}

fn fit(rows: &FirstRows, width: Option<u16>, out: &mut Vec<u8>) {
    let fields = rows.schema.fields();
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled).set_truncation_indicator("…");
    table.set_header(fields.iter().map(|field| printable::line(field.name.as_bytes())));
    for row in &rows.rows {
        let cells = row.iter().map(|value| value.as_deref().map_or("NULL".into(), printable::line));
        let mut row = Row::from(cells);
        row.max_height(1);
        table.add_row(row);
    }
    let widths = table.column_max_content_widths();
    let layout = width.map_or((fields.len(), u16::MAX), |width| layout(&widths, width));
    for ((column, shown), &natural) in fields.iter().zip(table.column_iter_mut()).zip(&widths) {
        if column.logical_type.physical() != PhysicalType::Bytes {
            shown.set_cell_alignment(CellAlignment::Right);
        }
        if natural > layout.1 {
            shown.set_constraint(ColumnConstraint::Absolute(Width::Fixed(layout.1 + 2)));
        }
    }
    for column in table.column_iter_mut().skip(layout.0) {
        column.set_constraint(ColumnConstraint::Hidden);
    }
    for line in table.lines() {
        out.extend_from_slice(line.trim_end().as_bytes());
        out.push(b'\n');
    }
    if let Some(hidden @ [_, ..]) = fields.get(layout.0..) {
        let names: Vec<_> = hidden.iter().map(|field| printable::line(field.name.as_bytes())).collect();
        let more = format!("{} more columns: {}", hidden.len(), names.join(", "));
        let longest = usize::from(width.unwrap_or(u16::MAX));
        let is_long = more.chars().count() > longest;
        let cut: String = more.chars().take(if is_long { longest.saturating_sub(1) } else { longest }).collect();
        out.extend_from_slice(format!("{cut}{}\n", if is_long { "…" } else { "" }).as_bytes());
    }
}

/// How many columns fit, and how wide their values may be. All columns in full width, if they fit; else as many as fit
/// with narrower values.
fn layout(widths: &[u16], width: u16) -> (usize, u16) {
    let needed = |columns: usize, longest: u16| -> u32 {
        widths[..columns].iter().map(|&natural| u32::from(natural.min(longest) + PADDING)).sum()
    };
    let fits = |columns, longest| needed(columns, longest) <= width.into();
    let all = widths.len();
    if fits(all, u16::MAX - PADDING) {
        return (all, u16::MAX - PADDING);
    }
    let columns = (1..=all).rev().find(|&columns| fits(columns, NARROW)).unwrap_or(1);
    let longest = (NARROW..width.max(NARROW + 1)).rev().find(|&longest| fits(columns, longest)).unwrap_or(NARROW);
    (columns, longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Schema;
    use std::sync::Arc;

    #[test]
    fn a_table_fits_the_terminal() {
        let names: Vec<_> = (0..12).map(|column| format!("column_{column}:string")).collect();
        let schema = Arc::new(Schema::parse(&names.join(",")).unwrap());
        let long = Some(b"a very long value that nobody wants to see in full, \xff\n at all".to_vec());
        let row: Vec<_> = (0..12).map(|column| if column % 3 == 0 { long.clone() } else { None }).collect();
        let rows = FirstRows { schema, rows: vec![row] };
        for width in [20, 40, 80, 120] {
            let mut out = Vec::new();
            fit(&rows, Some(width), &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{width}\n{text}");
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.contains("a very") && text.contains('…') && text.contains(" more columns: "), "{text}");
        }
        let mut out = Vec::new();
        fit(&rows, None, &mut out);
        assert!(String::from_utf8(out).unwrap().contains("in full, \\xff\\n at all"));
    }
}
