//! A table for people: names to the left, numbers to the right.

use super::{Format, plain};
use brc_core::{DataType, Result};
use brc_query::{Answer, Plan, Value};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};

pub(super) struct Table;

/// A line under the header, and nothing else.
pub(crate) const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn about(&self) -> &'static str {
        "aligned columns for people"
    }

    fn render(&self, _: &Plan, answer: &Answer, out: &mut Vec<u8>) -> Result<()> {
        let mut table = comfy_table::Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(answer.columns().iter().map(|column| column.name.as_str()));
        for row in answer.rows() {
            table.add_row(row.map(printable));
        }
        for (column, shown) in answer.columns().iter().zip(table.column_iter_mut()) {
            if column.data_type != DataType::String {
                shown.set_cell_alignment(CellAlignment::Right);
            }
        }
        for line in table.lines() {
            out.extend_from_slice(line.trim_end().as_bytes());
            out.push(b'\n');
        }
        Ok(())
    }
}

/// A value as it can be shown on a terminal, whatever bytes it has.
fn printable(value: Value<'_>) -> String {
    if value == Value::Null {
        return "null".to_owned();
    }
    let mut bytes = Vec::new();
    plain(value, &mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}
