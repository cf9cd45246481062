//! Writes rows as JSON: the keys in the order of the columns, no spaces, numbers with all decimals of their columns.

use crate::rows::{RowBuffer, RowWriter, Short, written};
use brc_core::{HoldFault, Schema, decimal};

/// A row is an object on a line.
#[derive(Clone)]
pub(super) struct Lines {
    schema: Schema,
}

impl Lines {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { schema: schema.clone() }
    }
}

impl RowWriter for Lines {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        let fields = self.schema.fields();
        let key = |column: usize| fields.get(column).map(|field| format!("{}:", serde_json::Value::from(&*field.name)));
        // A key belongs to the column before.
        let first = if column == 0 { key(0).map(|key| format!("{{{key}")) } else { None };
        let next = key(column + 1).map_or("}\n".to_owned(), |key| format!(",{key}"));
        (first.unwrap_or_default().into_bytes(), next.into_bytes())
    }

    fn text(&self, _: usize, text: &[u8], out: &mut RowBuffer) -> Result<(), HoldFault> {
        let text = std::str::from_utf8(text).map_err(|_| HoldFault::NotUtf8)?;
        written(serde_json::to_writer(out, text));
        Ok(())
    }

    fn number(&self, column: usize, number: i64) -> Short {
        let scale = self.schema.fields().get(column).map_or(0, |field| field.logical_type.scale());
        Short::new(decimal::write(number.into(), scale, &mut [0; 64]))
    }
}
