//! The runs of a clustered row group, cut into pieces.

use brc_core::Run;
use std::ops::Range;

/// Walks along runs piece by piece.
#[derive(Debug, Clone)]
pub(crate) struct RunWalk<'a> {
    codes: &'a [u32],
    rows: &'a [u32],
    next: usize,
    /// Rows of the next run that have been taken.
    taken: u32,
}

impl<'a> RunWalk<'a> {
    /// Starts at the first row of run `first`. Each run has a code and rows, which are never 0.
    pub(crate) fn new(codes: &'a [u32], rows: &'a [u32], first: usize) -> Self {
        Self { codes, rows, next: first, taken: 0 }
    }

    /// Replaces `runs` by the runs of the next rows, the first and the last one perhaps cut, and returns which they are.
    pub(crate) fn take(&mut self, rows: usize, runs: &mut Vec<Run>) -> Range<usize> {
        runs.clear();
        let first = self.next;
        let mut left = rows as u32;
        while left > 0
            && let (Some(&code), Some(&of_run)) = (self.codes.get(self.next), self.rows.get(self.next))
        {
            let taken = left.min(of_run - self.taken);
            runs.push(Run { code, rows: taken });
            left -= taken;
            self.taken += taken;
            if self.taken == of_run {
                self.taken = 0;
                self.next += 1;
            }
        }
        first..first + runs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cut_runs() {
        let (codes, rows) = ([7, 8, 9], [2, 5, 1]);
        let mut walk = RunWalk::new(&codes, &rows, 0);
        let mut runs = Vec::new();
        assert_eq!(walk.take(2, &mut runs), 0..1);
        assert_eq!(runs, [Run { code: 7, rows: 2 }]);
        assert_eq!(walk.take(3, &mut runs), 1..2);
        assert_eq!(runs, [Run { code: 8, rows: 3 }]);
        assert_eq!(walk.take(3, &mut runs), 1..3);
        assert_eq!(runs, [Run { code: 8, rows: 2 }, Run { code: 9, rows: 1 }]);
        assert_eq!(walk.take(1, &mut runs), 3..3);
        assert_eq!(RunWalk::new(&codes, &rows, 1).take(5, &mut runs), 1..2);
    }
}
