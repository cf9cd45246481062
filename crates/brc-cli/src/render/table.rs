//! A table for people, at most as wide as the terminal: long values are cut, and the last columns omitted. Strings are
//! left-aligned, numbers right-aligned. All rows are collected first, since their values determine the column widths.

use super::layout::{Cells, Header, Look, lay_out};
use super::{Format, cell};
use crate::{colour, printable};
use brc_core::{Batch, BatchWriter, Field, LogicalType, Part, PartEncoder, PhysicalType, Result, Schema, Sink, Value};
use std::sync::Arc;

/// The table format for standard output.
pub(super) static WIDE: Table = Table { is_printed: true };

/// The table format for embedding programs.
pub(super) static NARROW: Table = Table { is_printed: false };

/// The width of an embedded table without a terminal.
const DEFAULT_WIDTH: u16 = 120;

pub(super) struct Table {
    is_printed: bool,
}

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn about(&self) -> &'static str {
        "aligned columns, cut to the width of the terminal"
    }

    fn is_printable(&self) -> bool {
        true
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        Box::new(Writer { fields: schema.fields().into(), cells: Cells::default(), is_printed: self.is_printed })
    }
}

struct Writer {
    fields: Arc<[Field]>,
    cells: Cells,
    is_printed: bool,
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
        let headers: Vec<_> = self.fields.iter().map(header).collect();
        let look = match self.is_printed {
            true => Look { width: terminal_width(), colour: colour::of_stdout() },
            false => Look { width: terminal_width().or(Some(DEFAULT_WIDTH)), colour: false },
        };
        lay_out(&headers, &std::mem::take(&mut self.cells), look, &mut out);
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
        batch.without_runs(|batch| {
            for row in 0..batch.rows {
                for (column, of_type) in batch.columns.iter().zip(&self.types) {
                    let value = Value::of_row(column, row);
                    let shown = cell(value, *of_type);
                    if value.is_some() { self.cells.push(&shown) } else { self.cells.push_null(&shown) }
                }
            }
        });
        self.rows += batch.rows as u64;
        Ok(())
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let (cells, rows) = (std::mem::take(&mut self.cells), std::mem::take(&mut self.rows));
        Ok(Part { rows, bytes: Vec::new(), cuts: Vec::new(), meta: Box::new(cells), meta_bytes: 0 })
    }
}

/// The width of the terminal, if standard output is one.
pub(crate) fn terminal_width() -> Option<u16> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    (width > 0).then_some(width)
}

/// The header of a column.
fn header(field: &Field) -> Header {
    let is_right = field.logical_type.physical() != PhysicalType::Bytes;
    Header { name: printable::line(field.name.as_bytes()).into_owned(), is_right }
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
        let headers: Vec<_> = schema.fields().iter().map(header).collect();
        for width in [20, 40, 80, 120] {
            let mut out = Vec::new();
            lay_out(&headers, &cells, Look { width: Some(width), colour: false }, &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{width}\n{text}");
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.contains("a very") && text.contains('…') && text.contains(" more columns: "), "{text}");
        }
        let mut out = Vec::new();
        lay_out(&headers, &cells, Look::default(), &mut out);
        assert!(String::from_utf8(out).unwrap().contains("in full, \\xff\\n at all"));
    }
}
