//! Arrow's stream, for programs that go on with an answer: its values need be neither printed nor parsed.

use super::Format;
use brc_core::{BatchWriter, Schema};

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
        brc_encodings::arrow_stream(schema)
    }
}
