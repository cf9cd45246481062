//! Hands batches over as a scan does that asks for tests of rows before it decodes all columns.

use brc_core::{Batch, Conjunct, Result, Sink};
use brc_kernels::filter::{valid_bits, words};

/// Hands over the rows of a batch of a projection that meet all conjuncts; all of its rows, untested, if there are
/// none.
pub(crate) fn hand_over(
    batch: &Batch<'_>,
    projection: &[usize],
    conjuncts: &[Conjunct],
    sink: &mut dyn Sink,
) -> Result<()> {
    if conjuncts.is_empty() {
        return sink.batch(batch);
    }
    let mut rows: Vec<u64> = (0..words(batch.rows)).map(|word| valid_bits(batch.rows, word)).collect();
    let mut left = batch.rows;
    for (index, conjunct) in conjuncts.iter().enumerate() {
        let position = |column: &usize| projection.iter().position(|projected| projected == column).unwrap();
        let columns: Vec<_> = conjunct.columns.iter().map(|column| batch.columns[position(column)]).collect();
        left = sink.test(index, &Batch { rows: batch.rows, columns: &columns }, &mut rows)?;
        assert_eq!(left, rows.iter().map(|word| word.count_ones() as usize).sum());
        if left == 0 {
            return Ok(());
        }
    }
    sink.tested(batch, (left < batch.rows).then_some(&rows))
}
