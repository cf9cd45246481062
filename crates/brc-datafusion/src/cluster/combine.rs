//! Puts together what parts of a table answer: counts and sums are added up, of the smallest and largest values the smallest and
//! the largest are taken. Averages are divided when all parts are known, exactly as DataFusion divides.

use crate::answer::Output;
use crate::cluster::PartTable;
use crate::grouped::{Grouped, Measure};
use brc_core::LogicalType;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{Column, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn::{max, min, sum};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, cast, lit};
use std::sync::Arc;

/// The digits that sums of parts have: 20 more than the widest value, and DataFusion adds ten to those of a sum.
const DIGITS: u8 = 58;

/// DataFusion's averages of decimals have so many more digits behind the point, and quotients of decimals, too.
const MORE_DIGITS: i8 = 4;

/// An item of the answers of parts, and how all of them become one.
struct Piece {
    item: usize,
    fold: fn(Expr) -> Expr,
    data_type: DataType,
}

/// The columns of the answers of parts behind their keys, each once.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn place(&mut self, item: usize, fold: fn(Expr) -> Expr, data_type: DataType) -> usize {
        self.0.iter().position(|known| known.item == item).unwrap_or_else(|| {
            self.0.push(Piece { item, fold, data_type });
            self.0.len() - 1
        })
    }
}

/// What a measure is made of, in places of pieces.
enum Whole {
    Count(usize),
    Value(usize),
    Average { sum: usize, count: usize },
}

/// The plan that asks all parts and puts their answers together; `None` if the answers of parts do not tell that of all.
pub(crate) fn combined(aggregate: &Aggregate, grouped: Grouped) -> Result<Option<LogicalPlan>> {
    let expected: Vec<&DataType> = aggregate.schema.fields().iter().map(|field| field.data_type()).collect();
    let (of_keys, of_measures) = expected.split_at(grouped.keys.len());
    let mut pieces = Pieces::default();
    let whole = |(measure, expected)| whole(measure, expected, &grouped, &mut pieces);
    let wholes = grouped.measures.iter().copied().zip(of_measures.iter().copied()).map(whole);
    let Some(wholes) = wholes.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let keys =
        of_keys.iter().enumerate().map(|(key, data_type)| Field::new(format!("k{key}"), (*data_type).clone(), true));
    let values = pieces.0.iter().enumerate();
    let values = values.map(|(place, piece)| Field::new(format!("p{place}"), piece.data_type.clone(), true));
    let schema = Arc::new(Schema::new(keys.chain(values).collect::<Vec<_>>()));
    let outputs =
        grouped.keys.iter().copied().chain(pieces.0.iter().map(|piece| piece.item)).map(Output::Column).collect();
    let statistics = grouped.statistics(&aggregate.group_expr, &schema);
    let number_of_keys = grouped.keys.len();
    let table =
        PartTable { file: grouped.file, parts: grouped.parts, outputs, schema: Arc::clone(&schema), statistics };

    let name = TableReference::bare("brc");
    let column = |place: usize| Expr::Column(Column::new(Some(name.clone()), schema.field(place).name()));
    let folded = pieces.0.iter().zip(number_of_keys..).map(|(piece, place)| (piece.fold)(column(place)));
    let all = LogicalPlanBuilder::scan(name.clone(), provider_as_source(Arc::new(table)), None)?
        .aggregate((0..number_of_keys).map(column).collect::<Vec<_>>(), folded.collect::<Vec<_>>())?
        .build()?;
    let known: Vec<Expr> = all.schema().columns().into_iter().map(Expr::Column).collect();
    let (keys, folded) = known.split_at(number_of_keys);
    let measures = wholes.iter().zip(of_measures).map(|(whole, data_type)| value(whole, data_type, folded));
    let columns = keys.iter().cloned().chain(measures).zip(aggregate.schema.iter());
    let columns = columns.map(|(value, (qualifier, field))| value.alias_qualified(qualifier.cloned(), field.name()));
    LogicalPlanBuilder::from(all).project(columns.collect::<Vec<_>>())?.build().map(Some)
}

fn whole(measure: Measure, expected: &DataType, grouped: &Grouped, pieces: &mut Pieces) -> Option<Whole> {
    Some(match measure {
        // Parts may have the same values.
        Measure::Distinct(_) => return None,
        Measure::Count(item) => Whole::Count(pieces.place(item, sum, DataType::Int64)),
        Measure::Min(item) => Whole::Value(pieces.place(item, min, expected.clone())),
        Measure::Max(item) => Whole::Value(pieces.place(item, max, expected.clone())),
        Measure::Sum(item) => Whole::Value(pieces.place(item, sum, type_of_sum(grouped.fields[item].logical_type)?)),
        Measure::Average { sum: total, count } => {
            let data_type = type_of_sum(grouped.fields[total].logical_type)?;
            if let (DataType::Decimal256(_, own), DataType::Decimal128(_, of_average)) = (&data_type, expected)
                && own + MORE_DIGITS > *of_average
            {
                return None;
            }
            Whole::Average {
                sum: pieces.place(total, sum, data_type),
                count: pieces.place(count, sum, DataType::Int64),
            }
        }
    })
}

/// The type that sums of parts are added up in: of integers and decimals none is lost.
fn type_of_sum(own: LogicalType) -> Option<DataType> {
    match own.is_float() {
        true => Some(DataType::Float64),
        false => Some(DataType::Decimal256(DIGITS, i8::try_from(own.scale()).ok()?)),
    }
}

fn value(whole: &Whole, expected: &DataType, folded: &[Expr]) -> Expr {
    let as_float = |piece: usize| cast(folded[piece].clone(), DataType::Float64);
    match *whole {
        // Nobody counts where there are no rows at all.
        Whole::Count(piece) => coalesce(vec![folded[piece].clone(), lit(0_i64)]),
        Whole::Value(piece) => cast(folded[piece].clone(), expected.clone()),
        Whole::Average { sum, count } => match expected {
            DataType::Decimal128(_, scale) => {
                let total = cast(folded[sum].clone(), DataType::Decimal256(DIGITS, scale - MORE_DIGITS));
                // Counts have 19 digits.
                cast(total / cast(folded[count].clone(), DataType::Decimal256(20, 0)), expected.clone())
            }
            _ => as_float(sum) / as_float(count),
        },
    }
}

/// The same aggregate with sums of integers that do not wrap, if it has such and is DataFusion's to compute.
pub(crate) fn with_exact_sums(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let mut sums = 0;
    let mut exact = |call: &Expr| {
        let (inner, name) = (call.clone().unalias(), call.schema_name().to_string());
        let Expr::AggregateFunction(AggregateFunction { func, mut params }) = inner else { return Ok(call.clone()) };
        let is_sum = func.name() == "sum" && !params.distinct;
        if is_sum
            && let [argument] = params.args.as_mut_slice()
            && argument.get_type(aggregate.input.schema())?.is_integer()
        {
            *argument = cast(argument.clone(), DataType::Decimal128(38, 0));
            sums += 1;
        }
        Ok(Expr::AggregateFunction(AggregateFunction { func, params }).alias(name))
    };
    let calls = aggregate.aggr_expr.iter().map(&mut exact).collect::<Result<Vec<_>>>()?;
    if sums == 0 {
        return Ok(None);
    }
    let input = aggregate.input.as_ref().clone();
    let all = LogicalPlanBuilder::from(input).aggregate(aggregate.group_expr.clone(), calls)?.build()?;
    let columns = all.schema().columns().into_iter().zip(aggregate.schema.iter());
    let columns = columns.map(|(column, (qualifier, field))| {
        cast(Expr::Column(column), field.data_type().clone()).alias_qualified(qualifier.cloned(), field.name())
    });
    LogicalPlanBuilder::from(all).project(columns.collect::<Vec<_>>())?.build().map(Some)
}
