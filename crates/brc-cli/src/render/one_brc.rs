//! The official line of the One Billion Row Challenge: `{Abha=-23.0/18.0/59.2, …}`.

use super::{Format, plain};
use brc_core::{Error, Result};
use brc_query::{Plan, QueryResult};

pub(super) struct OneBrc;

impl Format for OneBrc {
    fn name(&self) -> &'static str {
        "1brc"
    }

    fn about(&self) -> &'static str {
        "{name=min/mean/max, …} on one line, as in the One Billion Row Challenge"
    }

    fn render(&self, plan: &Plan, answer: &QueryResult, out: &mut Vec<u8>) -> Result<()> {
        if !plan.is_one_brc() {
            let need = "the format 1brc needs one string column to group by, and min, mean and max of one column";
            return Err(Error::Usage(need.to_owned()));
        }
        out.push(b'{');
        for (index, mut row) in answer.rows().enumerate() {
            if index > 0 {
                out.extend_from_slice(b", ");
            }
            for ((value, column), before) in row.by_ref().zip(answer.columns()).zip(["", "=", "/", "/"]) {
                out.extend_from_slice(before.as_bytes());
                plain(value, column.logical_type, out);
            }
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}
