//! One value per line, after the name of its column, for rows that are wider than a terminal. Nothing is cut.

use super::lines::{self, Lines};
use super::{Format, cell, width_of};
use crate::printable;
use brc_core::{Batch, BatchWriter, LogicalType, Schema};

pub(super) struct Vertical;

impl Format for Vertical {
    fn name(&self) -> &'static str {
        "vertical"
    }

    fn about(&self) -> &'static str {
        "one value per line, after the name of its column; an empty line between rows"
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        let names: Vec<_> = schema.fields().iter().map(|field| printable::line(field.name.as_bytes())).collect();
        let width = names.iter().map(|name| width_of(name)).max().unwrap_or(0);
        let padded = |name: &str| format!("{name}{}", " ".repeat(width - width_of(name)));
        lines::writer(schema, Rows { names: names.iter().map(|name| padded(name)).collect() })
    }
}

struct Rows {
    /// The column names, padded to the same width.
    names: Vec<String>,
}

impl Lines for Rows {
    fn between(&self) -> &'static [u8] {
        b"\n"
    }

    fn rows(&self, batch: &Batch<'_>, types: &[LogicalType], any: bool, out: &mut Vec<u8>) {
        self.each_row(batch, any, out, |values, out| {
            for ((name, value), of_type) in self.names.iter().zip(values).zip(types) {
                let line = format!("{name}  {}", cell(*value, *of_type));
                out.extend_from_slice(line.trim_end().as_bytes());
                out.push(b'\n');
            }
        });
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_of_every_type_are_written() {
        let first = "a|b  x, \"y\"\nn    1.50\nd    2024-02-29\nf    NaN\nb    true\n";
        let second = "a|b\nn    null\nd    null\nf    1e300\nb    null\n";
        assert_eq!(crate::render::rendered(&super::Vertical), format!("{first}\n{second}"));
    }
}
