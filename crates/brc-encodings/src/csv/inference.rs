//! The demands on inferred column types, shared by the files of one table.
//!
//! A column has one type in all files of a table, as in all rows of a file: a price that is `2` in one file and `2.5`
//! in the next is a decimal in both. So the demands of all files are merged by column name.

use brc_core::{LogicalType, Value};
use brc_text::infer::Seen;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The demands of the values seen so far on the types of their columns. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Inference {
    known: Arc<InferenceState>,
}

#[derive(Debug, Default)]
struct InferenceState {
    /// The number of changes.
    version: AtomicU64,
    columns: Mutex<HashMap<String, Seen>>,
    /// What values of the types that are assumed of columns without values would demand.
    assumed: Mutex<HashMap<String, Seen>>,
    /// The demands of samples of columns whose types are given.
    given: Mutex<HashMap<String, Seen>>,
    /// The decimal separators in the samples of the files: a point, a comma, or both.
    decimals: AtomicU8,
}

const POINT: u8 = 1;
const COMMA: u8 = 2;

impl Inference {
    /// A number that changes whenever the types may have changed.
    pub(crate) fn version(&self) -> u64 {
        self.known.version.load(Ordering::Acquire)
    }

    /// Merges the demands of values into those of the column with this name.
    pub(crate) fn learn(&self, column: &str, more: Seen) {
        let mut columns = self.known.columns.lock();
        let known = columns.get(column).copied();
        let joined = known.map_or(more, |known| known.join(more));
        if known != Some(joined) {
            columns.insert(column.to_owned(), joined);
            self.known.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Merges the demands of a sample into those of the column with this name, whose type is given. Returns all demands
    /// of that column.
    pub(crate) fn learn_given(&self, column: &str, more: Seen) -> Seen {
        let mut columns = self.known.given.lock();
        let known = columns.entry(column.to_owned()).or_insert(Seen::NOTHING);
        *known = known.join(more);
        *known
    }

    /// Everything that determines how values of given types are written. If it changes, files that were opened before
    /// are read differently.
    pub(crate) fn forms(&self) -> (HashMap<String, Seen>, Option<u8>) {
        (self.known.given.lock().clone(), self.likely_decimal())
    }

    /// Counts a change of the columns other than a demand of values.
    pub(crate) fn touch(&self) {
        self.known.version.fetch_add(1, Ordering::Release);
    }

    /// Records the decimal separator of a column in a sample.
    pub(crate) fn learn_decimal(&self, decimal: u8) {
        self.known.decimals.fetch_or(if decimal == b',' { COMMA } else { POINT }, Ordering::Relaxed);
        self.touch();
    }

    /// The decimal separator, if it is the same everywhere.
    pub(crate) fn likely_decimal(&self) -> Option<u8> {
        match self.known.decimals.load(Ordering::Relaxed) {
            POINT => Some(b'.'),
            COMMA => Some(b','),
            _ => None,
        }
    }

    /// Whether a column in a sample has decimal points.
    pub(crate) fn has_decimal_points(&self) -> bool {
        self.known.decimals.load(Ordering::Relaxed) & POINT != 0
    }

    /// Gives a type to a column without values, or takes it away again. Returns whether the column has none.
    pub(crate) fn assume(&self, column: &str, logical_type: Option<LogicalType>) -> bool {
        if !self.of_values(column).is_untyped() {
            return false;
        }
        let demand = |of: LogicalType| Seen::of_value(Value::Integer(0).to_text(of).as_bytes());
        let demand = logical_type.map_or(Seen::NOTHING, demand);
        self.known.assumed.lock().insert(column.to_owned(), demand);
        self.touch();
        true
    }

    /// The demands on a column.
    pub(crate) fn of(&self, column: &str) -> Seen {
        let assumed = self.known.assumed.lock().get(column).copied();
        self.of_values(column).join(assumed.unwrap_or(Seen::NOTHING))
    }

    /// The demands of the values of a column.
    fn of_values(&self, column: &str) -> Seen {
        self.known.columns.lock().get(column).copied().unwrap_or(Seen::NOTHING)
    }
}
