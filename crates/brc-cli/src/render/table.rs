//! A table for people: names to the left, numbers to the right.

use super::{Format, plain};
use crate::printable;
use brc_core::{LogicalType, PhysicalType, Result, Value};
use brc_query::{Plan, QueryResult};
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

    fn render(&self, _: &Plan, answer: &QueryResult, out: &mut Vec<u8>) -> Result<()> {
        let mut table = comfy_table::Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(answer.columns().iter().map(|column| printable::line(column.name.as_bytes())));
        for row in answer.rows() {
            table.add_row(row.zip(answer.columns()).map(|(value, column)| cell(value, column.logical_type)));
        }
        for (column, shown) in answer.columns().iter().zip(table.column_iter_mut()) {
            if column.logical_type.physical() != PhysicalType::Bytes {
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

/// A value as it can be shown on one line, whatever bytes it has.
fn cell(value: Option<Value<'_>>, logical_type: LogicalType) -> String {
    if value.is_none() {
        return "null".to_owned();
    }
    let mut bytes = Vec::new();
    plain(value, logical_type, &mut bytes);
    printable::line(&bytes).into_owned()
}
