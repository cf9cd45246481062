//! Computes the distribution of a column from its groups, in the order of their values.

use super::MOST_FREQUENT;
use brc_core::{Batch, LogicalType, PhysicalType, Result, Sink, Value};

/// The distribution of the values added so far.
pub(super) struct Distribution {
    logical_type: LogicalType,
    /// The total number of non-null values.
    present: u64,
    seen: u64,
    pub(super) distinct: u64,
    pub(super) min: Option<Vec<u8>>,
    pub(super) max: Option<Vec<u8>>,
    /// The smallest values that at least 25, 50 and 75 % of all values do not exceed.
    pub(super) quartiles: Vec<Vec<u8>>,
    /// The most frequent values by descending frequency, then ascending value.
    pub(super) frequent: Vec<(Vec<u8>, u64)>,
}

impl Distribution {
    pub(super) fn new(logical_type: LogicalType, present: u64) -> Self {
        Self {
            logical_type,
            present,
            seen: 0,
            distinct: 0,
            min: None,
            max: None,
            quartiles: Vec::new(),
            frequent: Vec::new(),
        }
    }

    /// Whether the type has an order in which quartiles are meaningful.
    fn has_quartiles(&self) -> bool {
        self.logical_type.physical() != PhysicalType::Bytes && self.logical_type != LogicalType::Bool
    }

    /// Adds the next larger value and its number of rows.
    fn add(&mut self, value: Value<'_>, rows: u64) {
        self.distinct += 1;
        self.seen += rows;
        if self.min.is_none() {
            self.min = Some(self.text(value));
        }
        if self.seen == self.present {
            self.max = Some(self.text(value));
        }
        while self.has_quartiles() && self.quartiles.len() < 3 && self.seen >= self.rank_of_next_quartile() {
            self.quartiles.push(self.text(value));
        }
        if self.frequent.len() < MOST_FREQUENT || self.frequent.last().is_some_and(|&(_, least)| rows > least) {
            self.frequent.truncate(MOST_FREQUENT - 1);
            let index = self.frequent.partition_point(|&(_, others)| others >= rows);
            self.frequent.insert(index, (self.text(value), rows));
        }
    }

    /// The number of values that the next quartile bounds.
    fn rank_of_next_quartile(&self) -> u64 {
        let quarters = self.quartiles.len() as u128 + 1;
        u64::try_from((u128::from(self.present) * quarters).div_ceil(4)).unwrap_or(u64::MAX)
    }

    fn text(&self, value: Value<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        value.write(self.logical_type, &mut text);
        text
    }
}

impl Sink for Distribution {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let [values, rows] = batch.columns else { return Ok(()) };
        let mut codes = Vec::new();
        let values = values.without_runs(&mut codes);
        for row in 0..batch.rows {
            let value = Value::of_row(&values, row);
            if let (Some(value), Some(Value::Integer(rows))) = (value, Value::of_row(rows, row)) {
                self.add(value, u64::try_from(rows).unwrap_or(0));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_and_frequent_values_are_found_in_order() {
        let mut distribution = Distribution::new(LogicalType::Int64, 10);
        for (value, rows) in [(1, 2), (2, 1), (5, 4), (6, 1), (7, 1), (8, 1)] {
            distribution.add(Value::Integer(value), rows);
        }
        let texts = |values: &[Vec<u8>]| values.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
        let quartiles: Vec<String> = texts(&distribution.quartiles);
        assert_eq!(quartiles, ["2", "5", "6"]);
        let frequent: Vec<_> = distribution.frequent.iter().map(|(value, rows)| (value[0], *rows)).collect();
        assert_eq!(frequent, [(b'5', 4), (b'1', 2), (b'2', 1), (b'6', 1), (b'7', 1)]);
        assert_eq!(
            (distribution.distinct, distribution.min, distribution.max),
            (6, Some(b"1".into()), Some(b"8".into()))
        );
    }
}
