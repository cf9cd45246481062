//! Decides which lines count as best: the smallest value and every one statistically indistinguishable from it. Advice
//! and table marks share this definition, so that they name the same winners.

use crate::statistics::Summary;
use crate::view::Line;
use std::cmp::Ordering;

/// Times and sizes within this ratio count as equal.
const EQUAL_RATIO: f64 = 1.05;

/// Times beyond this ratio differ, however wide their intervals are: those of few noisy runs say little.
const DIFFERENT_RATIO: f64 = 1.5;

/// A measured value and the half-width of its confidence interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    margin: f64,
}

/// The function that extracts the compared value of a line.
pub(crate) type Measure = fn(&Line<'_>) -> Figure;

impl Figure {
    fn exact(value: f64) -> Self {
        Self { value, margin: 0.0 }
    }

    fn timed(summary: &Summary) -> Self {
        Self { value: summary.median, margin: summary.median_margin }
    }

    /// The value of a line without a measurement.
    fn none() -> Self {
        Self::exact(f64::INFINITY)
    }

    /// Whether the value ties with the smallest one: they differ by less than 5 %, or by less than 50 % and their
    /// intervals overlap.
    fn ties_with(self, smallest: Self) -> bool {
        let overlaps = self.value - self.margin <= smallest.value + smallest.margin;
        let most = if overlaps { DIFFERENT_RATIO } else { EQUAL_RATIO };
        self.value.is_finite() && self.value <= smallest.value * most
    }
}

pub(crate) fn size(line: &Line<'_>) -> Figure {
    Figure::exact(line.bytes as f64)
}

pub(crate) fn query(line: &Line<'_>) -> Figure {
    Figure::timed(&line.query)
}

pub(crate) fn cold_query(line: &Line<'_>) -> Figure {
    line.cold.map_or(Figure::none(), |cold| Figure::timed(&cold.query))
}

pub(crate) fn convert(line: &Line<'_>) -> Figure {
    line.convert.map_or(Figure::none(), |convert| Figure::timed(&convert))
}

pub(crate) fn memory(line: &Line<'_>) -> Figure {
    line.peak_memory.map_or(Figure::none(), |bytes| Figure::exact(bytes as f64))
}

/// The time of one conversion and one query.
pub(crate) fn once(line: &Line<'_>) -> Figure {
    let (convert, query) = (convert(line), query(line));
    Figure { value: convert.value + query.value, margin: convert.margin.hypot(query.margin) }
}

/// Whether two figures count as equal.
pub(crate) fn is_close(one: f64, other: f64) -> bool {
    one.max(other) <= one.min(other) * EQUAL_RATIO
}

/// The lines that tie for the best value of `measure`, smallest file first, then by name.
pub(crate) fn best<'v, 'a>(lines: &[&'v Line<'a>], measure: Measure) -> Vec<&'v Line<'a>> {
    let Some(smallest) = lines.iter().map(|line| measure(line)).min_by(|one, other| one.value.total_cmp(&other.value))
    else {
        return Vec::new();
    };
    let mut level: Vec<_> = lines.iter().filter(|line| measure(line).ties_with(smallest)).copied().collect();
    level.sort_by(|one, other| by_size(one, other));
    level
}

fn by_size(one: &Line<'_>, other: &Line<'_>) -> Ordering {
    one.bytes.cmp(&other.bytes).then_with(|| one.name().cmp(&other.name()))
}

/// Whether a line ties for the best of its column: the lines that read the data and have its compression.
pub(crate) fn is_best_of_column<'v>(
    line: &Line<'_>,
    reading: impl Iterator<Item = &'v Line<'v>>,
    measure: Measure,
) -> bool {
    let column = reading.filter(|other| other.compression == line.compression).map(measure);
    let smallest = column.min_by(|one, other| one.value.total_cmp(&other.value));
    !line.statistics && smallest.is_some_and(|smallest| measure(line).ties_with(smallest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_values_and_overlapping_intervals_tie() {
        let figure = |value, margin| Figure { value, margin };
        // 4 % apart; 20 % apart with intervals that overlap and with ones that do not.
        assert!(figure(104.0, 0.0).ties_with(figure(100.0, 0.0)));
        assert!(figure(120.0, 12.0).ties_with(figure(100.0, 9.0)));
        assert!(!figure(120.0, 9.0).ties_with(figure(100.0, 9.0)));
        // 2.7 times slower, however noisy.
        assert!(!figure(270.0, 300.0).ties_with(figure(100.0, 9.0)));
        assert!(!figure(270.0, 9.0).ties_with(figure(100.0, 300.0)));
        assert!(!Figure::none().ties_with(figure(1.0, 1.0)) && !Figure::none().ties_with(Figure::none()));
    }
}
