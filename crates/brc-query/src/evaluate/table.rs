//! Expressions of one integer column, computed once for each integer between the smallest and the largest, if these are
//! few, as dates and counts are.

use super::{Columns, Evaluated, Frame, Inputs, Step};
use crate::functions::typed::{Node, Typed, columns_of};
use crate::values::error::EvalError;
use crate::values::view::View;
use brc_core::{Array, ArrayData, Batch, Data, Integers, LogicalType, PhysicalType};
use brc_kernels::direct::{integer_bounds, look_up_integers};

/// The most integers of a table.
const MAX_INTEGERS: u64 = 1 << 15;

/// A table may have this many integers for each row so far.
const A_ROW: u64 = 2;

pub(super) struct Table {
    /// Where the column is in a batch.
    position: usize,
    inputs: Inputs,
    /// Computes the expression for a batch that has no other column.
    of_integers: Step,
    of_rows: Step,
    /// Rows so far.
    rows: u64,
    /// The first integer that there is a result of.
    low: i64,
    results: Results,
    /// The table is not used: there are too many integers, or a result is no integer of up to 64 bits.
    off: bool,
}

enum Results {
    Short(Vec<i32>),
    Long(Vec<i64>),
}

impl Table {
    /// A table, if the expression is computed from a single column of integers, and not only by operations that are
    /// faster than a table.
    pub(super) fn new(typed: &Typed, columns: Columns<'_>) -> Option<Self> {
        let is_integers = |logical_type: LogicalType| {
            logical_type.physical() == PhysicalType::Integers && logical_type.fits_64_bits()
        };
        let [column] = columns_of([typed])[..] else { return None };
        let logical_type = columns.fields.get(column)?.logical_type;
        if !is_slow(typed) || !is_integers(logical_type) || !is_integers(typed.logical_type) {
            return None;
        }
        Some(Self {
            position: columns.position(column),
            inputs: vec![(0, logical_type)],
            of_integers: Step::new(typed, Columns { projection: &[column], ..columns }, false),
            of_rows: Step::new(typed, columns, false),
            rows: 0,
            low: 0,
            results: Results::Short(Vec::new()),
            off: false,
        })
    }

    pub(super) fn run<'a>(&mut self, frame: &Frame<'a, '_>) -> Result<Evaluated<'a>, EvalError> {
        let column = frame.batch.columns.get(self.position).ok_or(EvalError::Batch("a column is not there"))?;
        self.rows += frame.batch.rows as u64;
        match column.data {
            Data::Integers(integers) if !self.off && !column.has_nulls() => {
                if let Some(found) = self.look_up(frame, integers) {
                    return Ok(Evaluated::Array(found));
                }
                if self.widen(frame, integers)?
                    && let Some(found) = self.look_up(frame, integers)
                {
                    return Ok(Evaluated::Array(found));
                }
                self.of_rows.run(frame)
            }
            _ => self.of_rows.run(frame),
        }
    }

    fn look_up(&self, frame: &Frame<'_, '_>, integers: Integers<'_>) -> Option<Array> {
        let values = match &self.results {
            Results::Short(results) => look_up_integers(frame.level, integers, self.low, results).map(ArrayData::from),
            Results::Long(results) => look_up_integers(frame.level, integers, self.low, results).map(ArrayData::from),
        };
        values.map(Array::from)
    }

    /// Makes the table one of these integers as well; `false` if it is not worth it.
    fn widen(&mut self, frame: &Frame<'_, '_>, integers: Integers<'_>) -> Result<bool, EvalError> {
        let Some((min, max)) = integer_bounds(frame.level, integers) else { return Ok(false) };
        let known = match &self.results {
            Results::Short(results) => results.len(),
            Results::Long(results) => results.len(),
        };
        let (low, high) = match known {
            0 => (min, max),
            _ => (min.min(self.low), max.max(self.low + known as i64 - 1)),
        };
        let Some(span) =
            high.checked_sub(low).and_then(|span| u64::try_from(span).ok()).filter(|&span| span < MAX_INTEGERS)
        else {
            self.off = true;
            return Ok(false);
        };
        if span >= self.rows * A_ROW {
            return Ok(false);
        }
        // Some more, so that the table is not widened for every batch, unless these cannot be computed.
        let slack = (span / 4) as i64;
        for (low, high) in [(low.saturating_sub(slack), high.saturating_add(slack)), (low, high)] {
            match self.compute(frame, low, high) {
                Err(EvalError::Value(_) | EvalError::TooLarge(_)) => {}
                done => {
                    self.off = !done?;
                    return Ok(!self.off);
                }
            }
        }
        self.off = true;
        Ok(false)
    }

    /// Computes the results of these integers; `false` if they are not such as a table has.
    fn compute(&mut self, frame: &Frame<'_, '_>, low: i64, high: i64) -> Result<bool, EvalError> {
        let integers: Vec<i64> = (low..=high).collect();
        let column = brc_core::Column::integers(Integers::I64(&integers));
        let batch = Batch { rows: integers.len(), columns: std::slice::from_ref(&column) };
        let found = self.of_integers.run(&Frame { level: frame.level, batch, inputs: &self.inputs })?;
        let column = found.column();
        if column.has_nulls() || matches!(column.data, Data::Integers(Integers::I128(_))) {
            return Ok(false);
        }
        let view = View::of(&column)?;
        let results = || (0..integers.len()).map(|row| view.narrow(row));
        let short: Option<Vec<i32>> = results().map(|result| i32::try_from(result).ok()).collect();
        self.results = short.map_or_else(|| Results::Long(results().collect()), Results::Short);
        self.low = low;
        Ok(true)
    }
}

/// Whether something is computed that is no sum, difference or product, nor a comparison.
fn is_slow(typed: &Typed) -> bool {
    let here = match &typed.node {
        Node::Call { function, arguments } => {
            (function.0.bind)(arguments).is_ok_and(|bound| bound.exact.is_none() && bound.compared.is_none())
        }
        Node::Case { .. } => true,
        Node::Column(_)
        | Node::Literal(_)
        | Node::Condition(_)
        | Node::Test { .. }
        | Node::And(_)
        | Node::Or(_)
        | Node::Not(_)
        | Node::IsNull(_)
        | Node::Coalesce(_)
        | Node::Cast { .. } => false,
    };
    here || typed.parts().into_iter().any(is_slow)
}
