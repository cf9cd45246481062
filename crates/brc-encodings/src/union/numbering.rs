//! Maps split numbers of the union to splits of its tables.

use brc_core::{Split, Table};
use parking_lot::Mutex;

/// Numbers the splits of tables as they are requested.
#[derive(Debug, Default)]
pub(super) struct Numbering(Mutex<Ends>);

#[derive(Debug, Default)]
struct Ends {
    /// For each finished table, the number after its last split.
    ends: Vec<u64>,
    /// The number of splits of the next table that are numbered so far.
    known: u64,
}

/// The location of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SplitLocation {
    /// The position of its table.
    pub(super) table: usize,
    /// The union's number of the first split of that table.
    pub(super) first_split: u64,
    /// The split within its table.
    pub(super) split: Split,
}

impl Numbering {
    /// The split with the given number; `None` after the last split of all tables.
    pub(super) fn find(&self, index: u64, tables: &[Box<dyn Table>]) -> Option<SplitLocation> {
        let mut ends = self.0.lock();
        while ends.ends.last().is_none_or(|&end| end <= index) {
            let open = tables.get(ends.ends.len())?;
            if ends.first_of_open() + ends.known > index {
                break;
            }
            match open.split(ends.known) {
                Some(_) => ends.known += 1,
                None => ends.close(),
            }
        }
        let table = ends.ends.partition_point(|&end| end <= index);
        let first_split = table.checked_sub(1).map_or(0, |before| ends.ends[before]);
        let split = tables.get(table)?.split(index - first_split)?;
        Some(SplitLocation { table, first_split, split })
    }

    /// Records the end of a stream: later split numbers belong to the next table.
    pub(super) fn ended(&self, table: usize) {
        let mut ends = self.0.lock();
        if ends.ends.len() == table {
            ends.close();
        }
    }
}

impl Ends {
    fn first_of_open(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn close(&mut self) {
        self.ends.push(self.first_of_open() + self.known);
        self.known = 0;
    }
}
