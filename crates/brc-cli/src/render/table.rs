//! A table for people, as wide as the terminal at most: long values are cut, and the last columns left out. Names are to the
//! left, numbers to the right. All rows are collected, for their values make the widths of the columns.

use super::lines::{codes_of_runs, with_codes};
use super::{Format, cell};
use crate::printable;
use brc_core::{
    Batch, BatchWriter, Column, Field, LogicalType, Part, PartEncoder, PhysicalType, Result, Schema, Sink, Summary,
    Value,
};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, TableStyle, Width};
use std::io::IsTerminal;
use std::sync::Arc;

pub(super) struct Table;

/// A line under the header, and nothing else.
pub(crate) const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

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

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        Box::new(Writer { fields: schema.fields().into(), rows: Vec::new() })
    }
}

/// Rows as they are shown.
type Rows = Vec<Vec<String>>;

struct Writer {
    fields: Arc<[Field]>,
    rows: Rows,
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let types = self.fields.iter().map(|field| field.logical_type).collect();
        Box::new(Encoder { types, rows: Vec::new() })
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        if let Some(rows) = part.meta.downcast_mut::<Rows>() {
            self.rows.append(rows);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        fit(&self.fields, std::mem::take(&mut self.rows), terminal_width(), &mut out);
        Ok(out)
    }
}

struct Encoder {
    types: Vec<LogicalType>,
    rows: Rows,
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let codes: Vec<Vec<u32>> = batch.columns.iter().map(codes_of_runs).collect();
        let columns: Vec<Column<'_>> =
            batch.columns.iter().zip(&codes).map(|(column, codes)| with_codes(column, codes)).collect();
        for row in 0..batch.rows {
            let values = columns.iter().zip(&self.types);
            self.rows.push(values.map(|(column, of_type)| cell(Value::of_row(column, row), *of_type)).collect());
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let rows = std::mem::take(&mut self.rows);
        Ok(Part { rows: rows.len() as u64, bytes: Vec::new(), cuts: Vec::new(), meta: Box::new(rows) })
    }
}

/// The width of the terminal, if standard output is one.
fn terminal_width() -> Option<u16> {
    let stdout = std::io::stdout();
    let width = if stdout.is_terminal() { rustix::termios::tcgetwinsize(&stdout).ok()?.ws_col } else { 0 };
    (width > 0).then_some(width)
}

/// The table, no wider than `width`.
fn fit(fields: &[Field], rows: Vec<Vec<String>>, width: Option<u16>, out: &mut Vec<u8>) {
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled).set_truncation_indicator("…");
    table.set_header(fields.iter().map(|field| printable::line(field.name.as_bytes())));
    for row in rows {
        let mut row = Row::from(row);
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

    #[test]
    fn a_table_fits_the_terminal() {
        let names: Vec<_> = (0..12).map(|column| format!("column_{column}:string")).collect();
        let schema = Schema::parse(&names.join(",")).unwrap();
        let long = Some(Value::Bytes(b"a very long value that nobody wants to see in full, \xff\n at all"));
        let value = |column: u32| cell(if column.is_multiple_of(3) { long } else { None }, LogicalType::String);
        let rows = || vec![(0..12).map(value).collect()];
        for width in [20, 40, 80, 120] {
            let mut out = Vec::new();
            fit(schema.fields(), rows(), Some(width), &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{width}\n{text}");
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.contains("a very") && text.contains('…') && text.contains(" more columns: "), "{text}");
        }
        let mut out = Vec::new();
        fit(schema.fields(), rows(), None, &mut out);
        assert!(String::from_utf8(out).unwrap().contains("in full, \\xff\\n at all"));
    }
}
