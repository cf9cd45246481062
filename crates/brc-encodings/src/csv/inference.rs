//! What is known of columns whose types are inferred, shared by the files of one table.
//!
//! A column has one type in all files of a table, as it has in all rows of a file: a price that is `2` in one file and `2.5`
//! in the next is a decimal in both. So the files join what their values demand in one place, by the names of the columns.

use brc_text::infer::Seen;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the values seen so far demand of the types of their columns. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Inference {
    known: Arc<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// How often something became wider.
    version: AtomicU64,
    columns: Mutex<HashMap<String, Seen>>,
    /// What stands before decimals in the samples of the files: a point, a comma, both.
    decimals: AtomicU8,
}

const POINT: u8 = 1;
const COMMA: u8 = 2;

impl Inference {
    /// Another number whenever the types may have changed.
    pub(crate) fn version(&self) -> u64 {
        self.known.version.load(Ordering::Acquire)
    }

    /// Joins what values of a column demand with what was known of that name.
    pub(crate) fn learn(&self, column: &str, more: Seen) {
        let mut columns = self.columns();
        let known = columns.get(column).copied();
        let joined = known.map_or(more, |known| known.join(more));
        if known != Some(joined) {
            columns.insert(column.to_owned(), joined);
            self.known.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Takes note that something else than the demands of values became known of the columns.
    pub(crate) fn touch(&self) {
        self.known.version.fetch_add(1, Ordering::Release);
    }

    /// Takes note of what stands before the decimals of a column, as a sample tells it.
    pub(crate) fn learn_decimal(&self, decimal: u8) {
        self.known.decimals.fetch_or(if decimal == b',' { COMMA } else { POINT }, Ordering::Relaxed);
        self.touch();
    }

    /// What stands before the decimals, if it is the same everywhere.
    pub(crate) fn likely_decimal(&self) -> Option<u8> {
        match self.known.decimals.load(Ordering::Relaxed) {
            POINT => Some(b'.'),
            COMMA => Some(b','),
            _ => None,
        }
    }

    /// What is known of a column.
    pub(crate) fn of(&self, column: &str) -> Seen {
        self.columns().get(column).copied().unwrap_or(Seen::NOTHING)
    }

    fn columns(&self) -> MutexGuard<'_, HashMap<String, Seen>> {
        self.known.columns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
