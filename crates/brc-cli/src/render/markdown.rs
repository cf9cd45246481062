//! A table in Markdown.

use super::lines::{self, Lines};
use super::{Format, cell};
use crate::printable;
use brc_core::{Batch, BatchWriter, LogicalType, PhysicalType, Schema};

pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn about(&self) -> &'static str {
        "a Markdown table"
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        let mut head = Vec::new();
        line(schema.fields().iter().map(|field| printable::line(field.name.as_bytes()).into_owned()), &mut head);
        let alignment = |of_type: LogicalType| if of_type.physical() == PhysicalType::Bytes { "---" } else { "---:" };
        line(schema.fields().iter().map(|field| alignment(field.logical_type).to_owned()), &mut head);
        lines::writer(schema, Rows { head })
    }
}

struct Rows {
    head: Vec<u8>,
}

impl Lines for Rows {
    fn start(&self) -> Vec<u8> {
        self.head.clone()
    }

    fn rows(&self, batch: &Batch<'_>, types: &[LogicalType], any: bool, out: &mut Vec<u8>) {
        self.each_row(batch, any, out, |values, out| {
            line(values.iter().zip(types).map(|(value, of_type)| cell(*value, *of_type)), out);
        });
    }
}

fn line(cells: impl Iterator<Item = String>, out: &mut Vec<u8>) {
    out.push(b'|');
    for cell in cells {
        let cell = cell.replace('\\', "\\\\").replace('|', "\\|");
        out.extend_from_slice(format!(" {cell} |").as_bytes());
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_of_every_type_are_written() {
        let table = "| a\\|b | n | d | f | b |\n| --- | ---: | ---: | ---: | ---: |\n";
        let rows = "| x, \"y\" | 1.50 | 2024-02-29 | NaN | true |\n|  | null | null | 1e300 | null |\n";
        assert_eq!(crate::render::rendered(&super::Markdown), [table, rows].concat());
    }
}
