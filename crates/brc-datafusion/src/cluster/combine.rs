//! Combines the results of partitions: counts and sums are added, and minima and maxima are taken of minima and maxima.
//! Averages are divided after all partitions are combined, exactly as DataFusion divides.

use crate::answer::Output;
use crate::cluster::PartialGroups;
use crate::grouped::{Grouped, Measure};
use brc_core::LogicalType;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{Column, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn::{max, min, sum};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};
use std::sync::Arc;

/// The digits of partial sums: 20 more than the widest value; DataFusion adds ten to those of a sum.
const DIGITS: u8 = 58;

/// The additional decimal places of DataFusion's averages and quotients of decimals.
const MORE_DIGITS: i8 = 4;

/// A column of partial results, and the function that combines its values.
struct PartialColumn {
    item: usize,
    merge: fn(Expr) -> Expr,
    data_type: DataType,
}

/// The columns of partial results after the keys, without duplicates.
#[derive(Default)]
struct PartialColumns(Vec<PartialColumn>);

impl PartialColumns {
    fn index_or_insert(&mut self, item: usize, merge: fn(Expr) -> Expr, data_type: DataType) -> usize {
        self.0.iter().position(|known| known.item == item).unwrap_or_else(|| {
            self.0.push(PartialColumn { item, merge, data_type });
            self.0.len() - 1
        })
    }
}

/// How a measure is computed from combined columns, given by their indices.
enum Combination {
    Count(usize),
    Value(usize),
    Average { sum: usize, count: usize },
}

/// The plan that queries all partitions and combines their results; `None` if they do not determine the result.
pub(crate) fn combined(aggregate: &Aggregate, grouped: Grouped) -> Result<Option<LogicalPlan>> {
    let expected: Vec<&DataType> = aggregate.schema.fields().iter().map(|field| field.data_type()).collect();
    let (of_keys, of_measures) = expected.split_at(grouped.keys.len());
    let mut partials = PartialColumns::default();
    let combination = |(measure, expected)| combination(measure, expected, &grouped, &mut partials);
    let combinations = grouped.measures.iter().copied().zip(of_measures.iter().copied()).map(combination);
    let Some(combinations) = combinations.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let keys =
        of_keys.iter().enumerate().map(|(key, data_type)| Field::new(format!("k{key}"), (*data_type).clone(), true));
    let values = partials.0.iter().enumerate();
    let values = values.map(|(index, partial)| Field::new(format!("p{index}"), partial.data_type.clone(), true));
    let schema = Arc::new(Schema::new(keys.chain(values).collect::<Vec<_>>()));
    let outputs =
        grouped.keys.iter().copied().chain(partials.0.iter().map(|partial| partial.item)).map(Output::Column).collect();
    let statistics = grouped.statistics(&aggregate.group_expr, &schema);
    let number_of_keys = grouped.keys.len();
    let table = PartialGroups {
        file: grouped.file,
        clauses: grouped.clauses,
        outputs,
        schema: Arc::clone(&schema),
        statistics,
    };

    let name = TableReference::bare("brc");
    let column = |index: usize| Expr::Column(Column::new(Some(name.clone()), schema.field(index).name()));
    let merged = partials.0.iter().zip(number_of_keys..).map(|(partial, index)| (partial.merge)(column(index)));
    let all = LogicalPlanBuilder::scan(name.clone(), provider_as_source(Arc::new(table)), None)?
        .aggregate((0..number_of_keys).map(column).collect::<Vec<_>>(), merged.collect::<Vec<_>>())?
        .build()?;
    let known: Vec<Expr> = all.schema().columns().into_iter().map(Expr::Column).collect();
    let (keys, merged) = known.split_at(number_of_keys);
    let measures =
        combinations.iter().zip(of_measures).map(|(combination, data_type)| value(combination, data_type, merged));
    let columns = keys.iter().cloned().chain(measures).zip(aggregate.schema.iter());
    let columns = columns.map(|(value, (qualifier, field))| value.alias_qualified(qualifier.cloned(), field.name()));
    LogicalPlanBuilder::from(all).project(columns.collect::<Vec<_>>())?.build().map(Some)
}

fn combination(
    measure: Measure,
    expected: &DataType,
    grouped: &Grouped,
    partials: &mut PartialColumns,
) -> Option<Combination> {
    Some(match measure {
        // Partitions may share values.
        Measure::Distinct(_) => return None,
        Measure::Count(item) => Combination::Count(partials.index_or_insert(item, sum, DataType::Int64)),
        Measure::Min(item) => Combination::Value(partials.index_or_insert(item, min, expected.clone())),
        Measure::Max(item) => Combination::Value(partials.index_or_insert(item, max, expected.clone())),
        Measure::Sum(item) => {
            Combination::Value(partials.index_or_insert(item, sum, type_of_sum(grouped.fields[item].logical_type)?))
        }
        Measure::Average { sum: total, count } => {
            let data_type = type_of_sum(grouped.fields[total].logical_type)?;
            if let (DataType::Decimal256(_, own), DataType::Decimal128(_, of_average)) = (&data_type, expected)
                && own + MORE_DIGITS > *of_average
            {
                return None;
            }
            Combination::Average {
                sum: partials.index_or_insert(total, sum, data_type),
                count: partials.index_or_insert(count, sum, DataType::Int64),
            }
        }
    })
}

/// The type in which partial sums are added: exact for integers and decimals.
fn type_of_sum(own: LogicalType) -> Option<DataType> {
    match own.is_float() {
        true => Some(DataType::Float64),
        false => Some(DataType::Decimal256(DIGITS, i8::try_from(own.scale()).ok()?)),
    }
}

fn value(combination: &Combination, expected: &DataType, merged: &[Expr]) -> Expr {
    let as_float = |partial: usize| cast(merged[partial].clone(), DataType::Float64);
    match *combination {
        // Without any row there is no partial count.
        Combination::Count(partial) => coalesce(vec![merged[partial].clone(), lit(0_i64)]),
        Combination::Value(partial) => cast(merged[partial].clone(), expected.clone()),
        Combination::Average { sum, count } => match expected {
            DataType::Decimal128(_, scale) => {
                let total = cast(merged[sum].clone(), DataType::Decimal256(DIGITS, scale - MORE_DIGITS));
                // Counts have up to 19 digits.
                cast(total / cast(merged[count].clone(), DataType::Decimal256(20, 0)), expected.clone())
            }
            _ => as_float(sum) / as_float(count),
        },
    }
}
