//! Sums of distinct values in window frames whose first row moves.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::{ScalarValue, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;
use std::collections::HashMap;

/// An accumulator that passes each distinct value of a frame once to another.
#[derive(Debug)]
pub(super) struct DistinctInFrame {
    inner: Box<dyn Accumulator>,
    /// The number of rows with each value.
    rows: HashMap<ScalarValue, usize>,
}

impl DistinctInFrame {
    pub(super) fn new(inner: Box<dyn Accumulator>) -> Self {
        Self { inner, rows: HashMap::new() }
    }
}

/// The values that are not null.
fn values_of(array: &ArrayRef) -> impl Iterator<Item = Result<ScalarValue>> {
    (0..array.len()).filter(|&row| array.is_valid(row)).map(|row| ScalarValue::try_from_array(array, row))
}

impl Accumulator for DistinctInFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values.iter().flat_map(values_of) {
            let value = value?;
            let rows = self.rows.entry(value.clone()).or_insert(0);
            *rows += 1;
            if *rows == 1 {
                self.inner.update_batch(&[value.to_array()?])?;
            }
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values.iter().flat_map(values_of) {
            let value = value?;
            let Some(rows) = self.rows.get_mut(&value) else { return internal_err!("{value} is not in the frame") };
            *rows -= 1;
            if *rows == 0 {
                self.rows.remove(&value);
                self.inner.retract_batch(&[value.to_array()?])?;
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.inner.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size() + self.rows.capacity() * size_of::<(ScalarValue, usize)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("a frame has no partial results")
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("a frame has no partial results")
    }
}
