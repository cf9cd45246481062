//! Order-preserving clusters: which column makes the runs, and moving the rows of a column into them.
//!
//! The partition is stable: the rows of one run keep their order. So the codes in original order, which are kept as the
//! key's own chunk, are all it takes to undo it.

use crate::integer_buffer::{IntegerBuffer, IntegerSlice, for_widths, lengths, scatter};
use crate::writer::are_long_runs;

/// The key that a row group is clustered by, of string columns given as (column, cardinality): the one of lowest
/// cardinality, the first of equals; `None` if even that one has too few rows a run.
pub(crate) fn choose_key(strings: impl Iterator<Item = (usize, usize)>, rows: usize) -> Option<usize> {
    let (column, cardinality) = strings.min_by_key(|&(_, cardinality)| cardinality)?;
    are_long_runs(rows, cardinality).then_some(column)
}

/// How the rows of one row group are moved: run *k* gets the rows whose key has code *k*, in their order.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    rows: Vec<u32>,
    starts: Vec<u32>,
    cursors: Vec<u32>,
}

impl Partition {
    /// Prepares for keys with these codes, all below `cardinality`; each occurs.
    pub(crate) fn prepare(&mut self, codes: IntegerSlice<'_>, cardinality: usize) {
        self.rows = for_widths!(codes, codes => lengths(codes, cardinality));
        self.starts.clear();
        let mut start = 0;
        for rows in &self.rows {
            self.starts.push(start);
            start += rows;
        }
    }

    /// The rows of each run.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Replaces `clustered` by the values in their runs.
    pub(crate) fn scatter(&mut self, codes: IntegerSlice<'_>, values: &IntegerBuffer, clustered: &mut IntegerBuffer) {
        self.cursors.clone_from(&self.starts);
        let cursors = &mut self.cursors;
        for_widths!(values.slice(), values => {
            let room = clustered.room(values.len());
            for_widths!(codes, codes => scatter(values, codes, cursors, room));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_cardinality_is_the_key_unless_runs_get_short() {
        assert_eq!(choose_key([(0, 50), (2, 10), (3, 10)].into_iter(), 1000), Some(2));
        assert_eq!(choose_key([(0, 63)].into_iter(), 1000), None);
        assert_eq!(choose_key([(0, 62)].into_iter(), 1000), Some(0));
        assert_eq!(choose_key(std::iter::empty(), 1000), None);
    }

    #[test]
    fn rows_move_stably() {
        let codes = [0i16, 1, 0, 2, 1, 0];
        let mut values = IntegerBuffer::default();
        values.extend_slice(IntegerSlice::I16(&[10, 20, 11, 30, 21, 12]));
        let mut partition = Partition::default();
        partition.prepare(IntegerSlice::I16(&codes), 3);
        assert_eq!(partition.rows(), [3, 2, 1]);
        let mut out = IntegerBuffer::default();
        partition.scatter(IntegerSlice::I16(&codes), &values, &mut out);
        assert_eq!(out.slice(), IntegerSlice::I16(&[10, 11, 12, 20, 21, 30]));
    }
}
