//! A table for people, as wide as the terminal at most: long values are cut, and the last columns left out. Names are to the
//! left, numbers to the right. All rows are collected, for their values make the widths of the columns.

use super::lines::{codes_of_runs, with_codes};
use super::{Format, cell};
use crate::printable;
use brc_core::{
    Batch, BatchWriter, Column, Field, LogicalType, Part, PartEncoder, PhysicalType, Result, Schema, Sink, Summary,
    Value,
};
use comfy_table::{LineStyle, TableStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) struct Table;

/// A line under the header, and nothing else.
pub(crate) const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Values may be cut to so many characters if not all columns fit otherwise.
const NARROW: usize = 16;

/// What stands around a value.
const PADDING: usize = 3;

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn about(&self) -> &'static str {
        "aligned columns for people, cut to the width of the terminal"
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        Box::new(Writer { fields: schema.fields().into(), cells: Cells::default() })
    }
}

/// Values as they are shown, row by row: millions of them lie in one piece of memory.
#[derive(Default)]
struct Cells {
    text: String,
    /// The length of each in bytes, and its width in columns of the terminal.
    sizes: Vec<(u32, u32)>,
}

impl Cells {
    fn push(&mut self, cell: &str) {
        // A value has less than 4 GiB.
        self.sizes.push((cell.len() as u32, width_of(cell) as u32));
        self.text.push_str(cell);
    }

    fn append(&mut self, other: &mut Self) {
        self.text.push_str(&other.text);
        self.sizes.append(&mut other.sizes);
    }

    /// Each with its width.
    fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        let mut end = 0;
        self.sizes.iter().map(move |&(length, width)| {
            let start = end;
            end += length as usize;
            (&self.text[start..end], width as usize)
        })
    }
}

fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

struct Writer {
    fields: Arc<[Field]>,
    cells: Cells,
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let types = self.fields.iter().map(|field| field.logical_type).collect();
        Box::new(Encoder { types, cells: Cells::default(), rows: 0 })
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        if let Some(cells) = part.meta.downcast_mut::<Cells>() {
            self.cells.append(cells);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        fit(&self.fields, &std::mem::take(&mut self.cells), terminal_width(), &mut out);
        Ok(out)
    }
}

struct Encoder {
    types: Vec<LogicalType>,
    cells: Cells,
    rows: u64,
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let codes: Vec<Vec<u32>> = batch.columns.iter().map(codes_of_runs).collect();
        let columns: Vec<Column<'_>> =
            batch.columns.iter().zip(&codes).map(|(column, codes)| with_codes(column, codes)).collect();
        for row in 0..batch.rows {
            for (column, of_type) in columns.iter().zip(&self.types) {
                self.cells.push(&cell(Value::of_row(column, row), *of_type));
            }
        }
        self.rows += batch.rows as u64;
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let (cells, rows) = (std::mem::take(&mut self.cells), std::mem::take(&mut self.rows));
        Ok(Part { rows, bytes: Vec::new(), cuts: Vec::new(), meta: Box::new(cells) })
    }
}

/// The width of the terminal, if standard output is one.
fn terminal_width() -> Option<u16> {
    let stdout = std::io::stdout();
    let width = if stdout.is_terminal() { rustix::termios::tcgetwinsize(&stdout).ok()?.ws_col } else { 0 };
    (width > 0).then_some(width)
}

/// The table, no wider than `width`.
fn fit(fields: &[Field], cells: &Cells, width: Option<u16>, out: &mut Vec<u8>) {
    let mut names = Cells::default();
    fields.iter().for_each(|field| names.push(&printable::line(field.name.as_bytes())));
    let mut widths = vec![0; fields.len()];
    for (column, (_, width)) in (0..fields.len()).cycle().zip(names.iter().chain(cells.iter())) {
        widths[column] = width.max(widths[column]);
    }
    let (shown, longest) = width.map_or((fields.len(), usize::MAX), |width| layout(&widths, width.into()));
    let columns: Vec<_> = widths.iter().map(|&natural| natural.min(longest)).zip(fields).take(shown).collect();
    let mut values = names.iter();
    line(&columns, &mut values, out);
    let total: usize = columns.iter().map(|(width, _)| width + PADDING).sum();
    out.extend_from_slice("─".repeat(total - 1).as_bytes());
    out.push(b'\n');
    let mut values = cells.iter();
    for _ in 0..cells.sizes.len() / fields.len() {
        line(&columns, &mut values, out);
        (shown..fields.len()).for_each(|_| _ = values.next());
    }
    if let Some(hidden @ [_, ..]) = fields.get(shown..) {
        let names: Vec<_> = hidden.iter().map(|field| printable::line(field.name.as_bytes())).collect();
        let more = format!("{} more columns: {}", hidden.len(), names.join(", "));
        let longest = usize::from(width.unwrap_or(u16::MAX));
        let is_long = more.chars().count() > longest;
        let cut: String = more.chars().take(if is_long { longest.saturating_sub(1) } else { longest }).collect();
        out.extend_from_slice(format!("{cut}{}\n", if is_long { "…" } else { "" }).as_bytes());
    }
}

/// Appends the next values as a line, each as wide as its column.
fn line<'a>(columns: &[(usize, &Field)], values: &mut impl Iterator<Item = (&'a str, usize)>, out: &mut Vec<u8>) {
    for ((wanted, field), (text, width)) in columns.iter().zip(values.by_ref()) {
        let is_right = field.logical_type.physical() != PhysicalType::Bytes;
        let before = if is_right { wanted.saturating_sub(width) } else { 0 };
        out.resize(out.len() + 1 + before, b' ');
        if width > *wanted {
            out.extend_from_slice(cut(text, *wanted).as_bytes());
        } else {
            out.extend_from_slice(text.as_bytes());
        }
        let after = if is_right { 0 } else { wanted.saturating_sub(width) };
        out.resize(out.len() + after + PADDING - 1, b' ');
    }
    out.truncate(out.trim_ascii_end().len());
    out.push(b'\n');
}

/// The beginning of a text that is too wide.
fn cut(text: &str, width: usize) -> String {
    let mut left = width.saturating_sub(1);
    let fits = |character: &char| {
        let width = character.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// How many columns fit, and how wide their values may be. All columns in full width, if they fit; else as many as fit
/// with narrower values.
fn layout(widths: &[usize], width: usize) -> (usize, usize) {
    let needed =
        |columns: usize, longest: usize| widths[..columns].iter().map(|&natural| natural.min(longest) + PADDING).sum();
    let fits = |columns: usize, longest: usize| -> bool { width >= needed(columns, longest) };
    let all = widths.len();
    if fits(all, usize::MAX) {
        return (all, usize::MAX);
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
        let mut cells = Cells::default();
        (0..12).for_each(|column| cells.push(&value(column)));
        for width in [20, 40, 80, 120] {
            let mut out = Vec::new();
            fit(schema.fields(), &cells, Some(width), &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{width}\n{text}");
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.contains("a very") && text.contains('…') && text.contains(" more columns: "), "{text}");
        }
        let mut out = Vec::new();
        fit(schema.fields(), &cells, None, &mut out);
        assert!(String::from_utf8(out).unwrap().contains("in full, \\xff\\n at all"));
    }
}
