//! Converts the stored statistics of files to those of DataFusion: statistics of a whole table, which it uses to order
//! joins, and bounds of each split, which prune splits.

use brc_core::{Field, Schema, Table, ValueBounds, float_of_order};
use datafusion::arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::stats::Precision;
use datafusion::common::{Column, ColumnStatistics, ScalarValue, Statistics};
use std::collections::HashSet;
use std::sync::Arc;

/// Strings shorter than this are stored exactly in the statistics of a file; bounds of longer ones may be rounded.
const MAX_EXACT_BYTES: usize = 64;

/// The statistics of all rows of a table.
pub(crate) fn table_statistics(table: &dyn Table, columns: &Schema, arrow: &SchemaRef) -> Statistics {
    let of_column = |(column, field): (usize, &Field)| column_statistics(table, column, field, arrow);
    let rows = table.rows().and_then(|rows| usize::try_from(rows).ok());
    Statistics {
        num_rows: rows.map_or(Precision::Absent, Precision::Exact),
        total_byte_size: Precision::Absent,
        column_statistics: columns.fields().iter().enumerate().map(of_column).collect(),
    }
}

fn column_statistics(table: &dyn Table, column: usize, field: &Field, arrow: &SchemaRef) -> ColumnStatistics {
    let mut found = ColumnStatistics::new_unknown();
    let (mut has_nulls, mut bounds, mut is_known) = (false, None::<[ScalarValue; 2]>, true);
    for known in table.statistics_by_split(column) {
        has_nulls |= known.nulls;
        match (scalars(&known, arrow.field(column).data_type()), known.values) {
            (_, ValueBounds::None) => {}
            (Some([min, max]), _) => {
                bounds = Some(match bounds.take() {
                    Some([least, most]) => [if min < least { min } else { least }, if max > most { max } else { most }],
                    None => [min, max],
                });
            }
            (None, _) => is_known = false,
        }
    }
    let totals = table.column_totals(column);
    let exact = |count: Option<u64>| count.and_then(|count| usize::try_from(count).ok()).map(Precision::Exact);
    let no_nulls = (!has_nulls && table.rows().is_some()).then_some(0);
    found.null_count = exact(totals.nulls.or(no_nulls)).unwrap_or_default();
    found.distinct_count = exact(totals.distinct).unwrap_or_default().to_inexact();
    // DataFusion would also use an exact sum for joins, whose rows differ.
    let sum = totals.sum.filter(|_| table.rows() > Some(0));
    let sum = sum.and_then(|sum| sum_of(sum, arrow.field(column).data_type()));
    found.sum_value = sum.map_or(Precision::Absent, Precision::Inexact);
    if let Some([min, max]) = bounds.filter(|_| is_known) {
        (found.min_value, found.max_value) = (precision(min, field), precision(max, field));
    }
    found
}

fn precision(value: ScalarValue, field: &Field) -> Precision<ScalarValue> {
    let is_whole = match &value {
        ScalarValue::Utf8View(Some(text)) => text.len() < MAX_EXACT_BYTES,
        ScalarValue::Binary(Some(bytes)) => bytes.len() < MAX_EXACT_BYTES,
        _ => !field.logical_type.is_float(),
    };
    if is_whole { Precision::Exact(value) } else { Precision::Inexact(value) }
}

/// A sum in the type of DataFusion's sums.
fn sum_of(sum: i128, data_type: &DataType) -> Option<ScalarValue> {
    match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => number(sum, &DataType::Int64),
        DataType::Decimal128(precision, scale) => {
            let wider = (*precision + 10).min(38);
            Some(ScalarValue::Decimal128(Some(sum), wider, *scale))
        }
        _ => None,
    }
}

/// The minimum and maximum, if they are known.
fn scalars(known: &brc_core::ColumnStatistics<'_>, data_type: &DataType) -> Option<[ScalarValue; 2]> {
    match known.values {
        ValueBounds::Numbers { min, max } => Some([number(min, data_type)?, number(max, data_type)?]),
        ValueBounds::Strings { min, max } if *data_type == DataType::Utf8View => {
            let text = |bytes: &[u8]| Some(ScalarValue::Utf8View(Some(std::str::from_utf8(bytes).ok()?.to_owned())));
            Some([text(min)?, text(max)?])
        }
        ValueBounds::Strings { min, max } if *data_type == DataType::Binary => {
            Some([min, max].map(|bytes| ScalarValue::Binary(Some(bytes.to_vec()))))
        }
        ValueBounds::Strings { .. } | ValueBounds::Unknown | ValueBounds::None => None,
    }
}

/// Converts a number of the statistics: in units of its scale, and floats in their integer encoding.
fn number(value: i128, data_type: &DataType) -> Option<ScalarValue> {
    let narrow = i64::try_from(value).ok();
    Some(match data_type {
        DataType::Boolean => ScalarValue::Boolean(Some(value != 0)),
        DataType::Int8 => ScalarValue::Int8(Some(narrow?.try_into().ok()?)),
        DataType::Int16 => ScalarValue::Int16(Some(narrow?.try_into().ok()?)),
        DataType::Int32 => ScalarValue::Int32(Some(narrow?.try_into().ok()?)),
        DataType::Int64 => ScalarValue::Int64(narrow),
        DataType::UInt64 => ScalarValue::UInt64(Some(value.try_into().ok()?)),
        DataType::Decimal128(precision, scale) => ScalarValue::Decimal128(Some(value), *precision, *scale),
        DataType::Date32 => ScalarValue::Date32(Some(narrow?.try_into().ok()?)),
        DataType::Timestamp(TimeUnit::Second, zone) => ScalarValue::TimestampSecond(narrow, zone.clone()),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => ScalarValue::TimestampMillisecond(narrow, zone.clone()),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => ScalarValue::TimestampMicrosecond(narrow, zone.clone()),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => ScalarValue::TimestampNanosecond(narrow, zone.clone()),
        DataType::Float64 => ScalarValue::Float64(Some(float_of_order(narrow?))),
        DataType::Float32 => ScalarValue::Float32(Some(float_of_order(narrow?) as f32)),
        _ => return None,
    })
}

/// The statistics of one split.
pub(crate) struct SplitStatistics<'a> {
    pub(crate) table: &'a dyn Table,
    /// The Arrow schema of all columns of the table.
    pub(crate) arrow: &'a SchemaRef,
    pub(crate) split: u64,
}

impl SplitStatistics<'_> {
    fn statistics(&self, column: &Column) -> Option<(brc_core::ColumnStatistics<'_>, &DataType)> {
        let (index, field) = self.arrow.column_with_name(&column.name)?;
        Some((self.table.statistics(self.split, index), field.data_type()))
    }

    fn bounds(&self, column: &Column) -> Option<[ScalarValue; 2]> {
        let (known, data_type) = self.statistics(column)?;
        scalars(&known, data_type)
    }

    fn rows(&self) -> Option<u64> {
        self.table.rows_of(self.split)
    }
}

impl PruningStatistics for SplitStatistics<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column)?[0].to_array().ok()
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column)?[1].to_array().ok()
    }

    fn num_containers(&self) -> usize {
        1
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let (known, _) = self.statistics(column)?;
        let nulls = match known.values {
            ValueBounds::None => self.rows(),
            _ if known.nulls => None,
            _ => Some(0),
        };
        Some(Arc::new(UInt64Array::from(vec![nulls])))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(UInt64Array::from(vec![self.rows()])))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
