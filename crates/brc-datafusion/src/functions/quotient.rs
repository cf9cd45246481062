//! Averages of integers: exact sums divided by counts, as brc divides.

use crate::answer::average;
use crate::error::of_arrow;
use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

/// An accumulator of sums and counts, each of which has one column of partial results.
#[derive(Debug)]
pub(super) struct Quotient<A: ?Sized> {
    pub(super) sum: Box<A>,
    pub(super) count: Box<A>,
}

impl Accumulator for Quotient<dyn Accumulator> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.update_batch(values)?;
        self.count.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let (sum, count) = (self.sum.evaluate()?, self.count.evaluate()?);
        // Window functions evaluate for each row.
        if let (ScalarValue::Decimal128(Some(sum), _, 0), ScalarValue::Int64(Some(count))) = (&sum, &count) {
            return Ok(ScalarValue::Float64(Some(*sum as f64 / *count as f64)));
        }
        let quotient = average(&sum.to_array()?, &count.to_array()?, &DataType::Float64).map_err(of_arrow)?;
        ScalarValue::try_from_array(&quotient, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sum.size() + self.count.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok([self.sum.state()?, self.count.state()?].concat())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.sum.merge_batch(&states[..1])?;
        self.count.merge_batch(&states[1..])
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.retract_batch(values)?;
        self.count.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.sum.supports_retract_batch() && self.count.supports_retract_batch()
    }
}

impl GroupsAccumulator for Quotient<dyn GroupsAccumulator> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        number_of_groups: usize,
    ) -> Result<()> {
        self.sum.update_batch(values, groups, filter, number_of_groups)?;
        self.count.update_batch(values, groups, filter, number_of_groups)
    }

    fn evaluate(&mut self, emitted: EmitTo) -> Result<ArrayRef> {
        let (sums, counts) = (self.sum.evaluate(emitted)?, self.count.evaluate(emitted)?);
        average(&sums, &counts, &DataType::Float64).map_err(of_arrow)
    }

    fn state(&mut self, emitted: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok([self.sum.state(emitted)?, self.count.state(emitted)?].concat())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], number_of_groups: usize) -> Result<()> {
        self.sum.merge_batch(&states[..1], groups, number_of_groups)?;
        self.count.merge_batch(&states[1..], groups, number_of_groups)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        Ok([self.sum.convert_to_state(values, filter)?, self.count.convert_to_state(values, filter)?].concat())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sum.size() + self.count.size()
    }
}
