//! The Arrow IPC stream, for programs that process a result further without parsing text.

use super::Format;
use brc_core::{BatchWriter, Schema, Table};

pub(super) struct Arrow;

impl Format for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn about(&self) -> &'static str {
        "an Apache Arrow IPC stream, for programs; strings must be UTF-8"
    }

    fn expresses_all(&self) -> bool {
        true
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        brc_encodings::arrow_stream(schema, Vec::new())
    }

    fn writer_of(&self, table: &dyn Table) -> Box<dyn BatchWriter> {
        let columns = 0..table.schema().fields().len();
        brc_encodings::arrow_stream(table.schema(), columns.map(|column| table.dictionary(column).cloned()).collect())
    }
}
