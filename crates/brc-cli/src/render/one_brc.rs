//! The official output line of the One Billion Row Challenge: `{Abha=-23.0/18.0/59.2, …}`.

use super::lines::{self, Lines};
use super::{Format, plain};
use brc_core::{Batch, BatchWriter, Error, LogicalType, Result, Schema};
use brc_query::Plan;

pub(super) struct OneBrc;

impl Format for OneBrc {
    fn name(&self) -> &'static str {
        "1brc"
    }

    fn about(&self) -> &'static str {
        "{name=min/mean/max, …} on one line, as in the One Billion Row Challenge"
    }

    fn check(&self, plan: &Plan) -> Result<()> {
        if plan.is_one_brc() {
            return Ok(());
        }
        let need = "the format 1brc needs one string column to group by, and min, mean and max of one column";
        Err(Error::Usage(need.to_owned()))
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        lines::writer(schema, Self)
    }
}

impl Lines for OneBrc {
    fn start(&self) -> Vec<u8> {
        b"{".to_vec()
    }

    fn between(&self) -> &'static [u8] {
        b", "
    }

    fn rows(&self, batch: &Batch<'_>, types: &[LogicalType], any: bool, out: &mut Vec<u8>) {
        self.each_row(batch, any, out, |values, out| {
            for ((value, of_type), before) in values.iter().zip(types).zip(["", "=", "/", "/"]) {
                out.extend_from_slice(before.as_bytes());
                plain(*value, *of_type, out);
            }
        });
    }

    fn end(&self) -> Vec<u8> {
        b"}\n".to_vec()
    }
}
