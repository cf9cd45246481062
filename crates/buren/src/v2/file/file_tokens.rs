//! Tokens that the row groups of a file have in common: to find some takes longer than to store a row group with them, and
//! those of one row group mostly serve all others as well.
//!
//! They are found in the first row group; the others wait for it, but only those that are done with all else by then. So what
//! is written does not depend on who was faster. A row group that they serve badly finds its own.

use crate::v2::strings::{self, Estimate, KnownTokens, Strings};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// The tokens of the first row group, by column.
#[derive(Default)]
pub(super) struct FileTokens {
    first: Mutex<First>,
    changed: Condvar,
}

#[derive(Default)]
struct First {
    columns: HashMap<u32, Option<KnownTokens>>,
    /// Whether no more will come.
    is_complete: bool,
}

impl FileTokens {
    /// How small the strings of a column get in a part, and with which tokens. Where the number of the part is not known it
    /// has tokens of its own.
    pub(super) fn estimate(&self, part: Option<u64>, column: u32, values: Strings<'_>) -> Estimate {
        match part {
            None => strings::estimate(values, None),
            Some(0) => {
                let estimate = strings::estimate(values, None);
                let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
                first.columns.insert(column, estimate.tokens());
                self.changed.notify_all();
                estimate
            }
            Some(_) => strings::estimate(values, self.of_first(column).as_ref()),
        }
    }

    /// Waits for what the first part has found for a column.
    fn of_first(&self, column: u32) -> Option<KnownTokens> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unknown = |first: &mut First| !first.is_complete && !first.columns.contains_key(&column);
        let first = self.changed.wait_while(first, is_unknown).unwrap_or_else(PoisonError::into_inner);
        first.columns.get(&column).cloned().flatten()
    }

    /// Tells that a part is finished, or will not come.
    pub(super) fn end(&self, part: Option<u64>) {
        if part == Some(0) {
            self.first.lock().unwrap_or_else(PoisonError::into_inner).is_complete = true;
            self.changed.notify_all();
        }
    }
}
