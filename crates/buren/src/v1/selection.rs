//! Which runs of a clustered row group a scan has to look at.

use brc_core::{Dictionary, Known, Predicate, Verdict};

/// Consecutive rows that are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// The run that its first row is the first of.
    pub(crate) first_run: usize,
    pub(crate) first_row: u32,
    pub(crate) rows: u32,
}

/// Fewer rows than this between two spans are delivered as well: decoding them is cheaper than starting anew.
const SMALL_GAP: u32 = 512;

/// Collects the runs to deliver, in row order, as few spans.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    pub(crate) spans: Vec<Span>,
    /// Rows skipped since the last span, if nothing but skipped rows came since.
    gap: Option<u32>,
    pub(crate) skipped: u64,
}

impl Spans {
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.gap = None;
        self.skipped = 0;
    }

    /// Takes note of a run to deliver.
    pub(crate) fn deliver(&mut self, run: usize, first_row: u32, rows: u32) {
        match (self.spans.last_mut(), self.gap) {
            (Some(last), Some(gap)) if gap < SMALL_GAP => {
                last.rows += gap + rows;
                self.skipped -= u64::from(gap);
            }
            _ => self.spans.push(Span { first_run: run, first_row, rows }),
        }
        self.gap = Some(0);
    }

    /// Takes note of a run that is skipped.
    pub(crate) fn skip(&mut self, rows: u32) {
        self.skipped += u64::from(rows);
        self.gap = self.gap.map(|gap| gap + rows);
    }

    /// Takes note of a run that a summary stands for: it must not be delivered as well.
    pub(crate) fn summarised(&mut self) {
        self.gap = None;
    }
}

/// What a predicate is for each value of a string column, as far as that alone decides it.
pub(crate) fn verdicts_by_value(predicate: &Predicate, column: usize, dictionary: &Dictionary) -> Vec<Verdict> {
    let of_value =
        |value| predicate.decide(&|asked| if asked == column { Known::string(value) } else { Known::NOTHING });
    dictionary.iter().map(of_value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gaps_are_closed_unless_a_summary_stands_for_them() {
        let mut spans = Spans::default();
        spans.skip(1000);
        spans.deliver(1, 1000, 10);
        spans.skip(5);
        spans.deliver(3, 1015, 10);
        spans.summarised();
        spans.deliver(5, 1030, 10);
        spans.skip(SMALL_GAP);
        spans.deliver(7, 1040 + SMALL_GAP, 10);
        let expected = [(1, 1000, 25), (5, 1030, 10), (7, 1040 + SMALL_GAP, 10)];
        let expected = expected.map(|(first_run, first_row, rows)| Span { first_run, first_row, rows });
        assert_eq!(spans.spans, expected);
        assert_eq!(spans.skipped, 1000 + u64::from(SMALL_GAP));
    }
}
