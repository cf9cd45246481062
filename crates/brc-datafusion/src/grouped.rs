//! Translates an aggregate over a table of brc to the SQL of brc, if both engines surely compute the same.

use crate::answer::{Output, QueryClauses};
use crate::sql;
use crate::table::FileTable;
use brc_core::{Field, LogicalType};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, Statistics};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, TableScan};
use std::collections::HashMap;

/// An aggregate of the rows of one table.
pub(crate) struct Grouped {
    pub(crate) file: FileTable,
    /// The query over the table.
    pub(crate) clauses: QueryClauses,
    /// The columns of brc's result.
    pub(crate) fields: Vec<Field>,
    /// The indices of the selected expressions that are keys.
    pub(crate) keys: Vec<usize>,
    /// The measures of each group.
    pub(crate) measures: Vec<Measure>,
}

/// A measure of a group, given by indices of columns of brc's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// A number of rows or values.
    Count(usize),
    /// The number of distinct values.
    Distinct(usize),
    Min(usize),
    Max(usize),
    Sum(usize),
    /// A sum divided by a count.
    Average {
        sum: usize,
        count: usize,
    },
}

impl Measure {
    /// The column for DataFusion.
    pub(crate) fn output(self) -> Output {
        match self {
            Self::Count(item) | Self::Distinct(item) | Self::Min(item) | Self::Max(item) | Self::Sum(item) => {
                Output::Column(item)
            }
            Self::Average { sum, count } => Output::Average { sum, count },
        }
    }

    /// Whether its values can be cast to the expected type exactly, unless they are out of range.
    fn is_exact(self, fields: &[Field], expected: &DataType) -> bool {
        match self.output() {
            Output::Column(item) => is_exact(fields[item].logical_type, expected),
            Output::Average { sum, .. } => is_exact_average(fields[sum].logical_type, expected),
        }
    }
}

impl Grouped {
    /// Translates an aggregate; `None` if its input is not a table of brc, or a part of it may mean something else in
    /// brc.
    pub(crate) fn of(aggregate: &Aggregate) -> Option<Self> {
        let input = Input::of(&aggregate.input)?;
        let columns = input.file.columns();
        let (mut items, mut keys, mut words) = (Items::default(), Vec::new(), Vec::new());
        for key in &aggregate.group_expr {
            let key = sql::comparable(&input.resolved(key)?, columns)?;
            keys.push(items.index_or_insert(key.clone()));
            words.push(key);
        }
        let measure = |call| measure(&input.resolved(call)?, &input, &mut items);
        let measures: Vec<_> = aggregate.aggr_expr.iter().map(measure).collect::<Option<_>>()?;
        if items.0.is_empty() {
            return None;
        }
        let clauses =
            QueryClauses { items: items.0, conditions: input.conditions, keys: words, ..QueryClauses::default() };
        let fields = clauses.fields(columns)?;
        let expected = aggregate.schema.fields().iter().map(|field| field.data_type());
        let (of_keys, of_measures): (Vec<_>, Vec<_>) = expected.enumerate().partition(|(index, _)| *index < keys.len());
        let are_exact = keys.iter().zip(of_keys).all(|(&key, (_, of_key))| is_exact(fields[key].logical_type, of_key))
            && measures.iter().zip(of_measures).all(|(measure, (_, expected))| measure.is_exact(&fields, expected));
        are_exact.then_some(Self { file: input.file, clauses, fields, keys, measures })
    }

    /// Estimated statistics of the groups; the keys are the first columns of `schema`.
    pub(crate) fn statistics(&self, keys: &[Expr], schema: &SchemaRef) -> Statistics {
        let (known, mut found) = (self.file.stored_statistics(), Statistics::new_unknown(schema));
        let (mut groups, mut all) = (1.0, known.num_rows.get_value().map_or(f64::INFINITY, |&rows| rows as f64));
        for (key, of_key) in keys.iter().zip(&mut found.column_statistics) {
            let column = if let Expr::Column(column) = key { self.file.columns().index_of(&column.name) } else { None };
            let of_column = column.map(|column| known.column_statistics[column].clone().to_inexact());
            let distinct = of_column.as_ref().and_then(|known| match known.distinct_count.get_value() {
                Some(&distinct) => Some(distinct as f64),
                None => Some(known.max_value.get_value()?.distance(known.min_value.get_value()?)? as f64 + 1.0),
            });
            groups *= distinct.unwrap_or(all);
            of_column.into_iter().for_each(|known| *of_key = known);
        }
        all = all.min(groups);
        found.num_rows = match keys.is_empty() {
            true => Precision::Exact(1),
            false if all.is_finite() => Precision::Inexact(all as usize),
            false => Precision::Absent,
        };
        found
    }
}

/// The input of an aggregate: rows of a table that satisfy conditions, and the definitions of its columns.
struct Input {
    file: FileTable,
    conditions: Vec<String>,
    /// The definitions of columns that are not those of the table.
    computed: HashMap<Column, Expr>,
}

impl Input {
    /// Analyses a plan; `None` if it is anything else.
    fn of(plan: &LogicalPlan) -> Option<Self> {
        match plan {
            LogicalPlan::TableScan(TableScan { source, filters, fetch: None, .. }) => {
                let provider = source_as_provider(source).ok()?;
                let file = provider.downcast_ref::<FileTable>()?.clone();
                let condition = |filter| sql::condition(filter, file.columns());
                let conditions = filters.iter().map(condition).collect::<Option<_>>()?;
                Some(Self { file, conditions, computed: HashMap::new() })
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let mut input = Self::of(&alias.input)?;
                if !input.computed.is_empty() {
                    return None;
                }
                let fields = alias.schema.columns().into_iter().zip(alias.input.schema().columns());
                input.computed = fields.map(|(own, inner)| (own, Expr::Column(inner))).collect();
                Some(input)
            }
            LogicalPlan::Filter(filter) => {
                let mut input = Self::of(&filter.input)?;
                let condition = sql::condition(&input.resolved(&filter.predicate)?, input.file.columns())?;
                // The scan may already have the same condition.
                if !input.conditions.contains(&condition) {
                    input.conditions.push(condition);
                }
                Some(input)
            }
            LogicalPlan::Projection(projection) => {
                let mut input = Self::of(&projection.input)?;
                let columns = projection.schema.columns().into_iter().zip(&projection.expr);
                let computed = columns.map(|(column, computed)| Some((column, input.resolved(computed)?)));
                input.computed = computed.collect::<Option<_>>()?;
                Some(input)
            }
            _ => None,
        }
    }

    /// Rewrites an expression to columns of the table.
    fn resolved(&self, expression: &Expr) -> Option<Expr> {
        let resolve = |part: Expr| {
            Ok(match &part {
                Expr::Column(column) => match self.computed.get(column) {
                    Some(computed) => Transformed::yes(computed.clone().unalias()),
                    None => Transformed::no(part),
                },
                _ => Transformed::no(part),
            })
        };
        expression.clone().transform_up(resolve).data().ok().map(Expr::unalias)
    }
}

/// The selected expressions of a query, without duplicates.
#[derive(Default)]
struct Items(Vec<String>);

impl Items {
    fn index_or_insert(&mut self, item: String) -> usize {
        self.0.iter().position(|known| *known == item).unwrap_or_else(|| {
            self.0.push(item);
            self.0.len() - 1
        })
    }
}

/// Translates an aggregate function.
fn measure(call: &Expr, input: &Input, items: &mut Items) -> Option<Measure> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = call.clone().unalias() else { return None };
    if !params.order_by.is_empty() || params.null_treatment.is_some() {
        return None;
    }
    let [argument] = params.args.as_slice() else { return None };
    let columns = input.file.columns();
    let filter = match &params.filter {
        Some(filter) => format!(" filter (where {})", sql::condition(filter, columns)?),
        None => String::new(),
    };
    let item = |name: &str, argument: &str| format!("{name}({argument}){filter}");
    Some(match (func.name(), params.distinct) {
        ("count", true) => {
            let distinct = format!("distinct {}", sql::comparable(argument, columns)?);
            Measure::Distinct(items.index_or_insert(item("count", &distinct)))
        }
        ("count", false) => Measure::Count(items.index_or_insert(match argument {
            Expr::Literal(literal, _) if !literal.is_null() => item("count", "*"),
            argument => item("count", &sql::value(argument, columns)?),
        })),
        // `distinct` makes no difference here.
        ("min", _) => Measure::Min(items.index_or_insert(item("min", &sql::comparable(argument, columns)?))),
        ("max", _) => Measure::Max(items.index_or_insert(item("max", &sql::comparable(argument, columns)?))),
        ("sum", false) => Measure::Sum(items.index_or_insert(item("sum", &sql::value(argument, columns)?))),
        ("avg", false) => {
            let argument = sql::averaged(argument, columns)?;
            let sum = items.index_or_insert(item("sum", &argument));
            Measure::Average { sum, count: items.index_or_insert(item("count", &argument)) }
        }
        _ => return None,
    })
}

/// Whether values of brc's type can be cast to the expected type exactly, unless they are out of range.
fn is_exact(own: LogicalType, expected: &DataType) -> bool {
    let scale = match expected {
        DataType::Decimal128(_, scale) => *scale,
        _ if own.is_float() => return matches!(expected, DataType::Float64 | DataType::Float32),
        expected if expected.is_integer() => 0,
        _ => return true,
    };
    own.is_numeric() && i16::from(own.scale()) == i16::from(scale)
}

/// Whether an average of sums of this type is divided as in DataFusion.
fn is_exact_average(sum: LogicalType, expected: &DataType) -> bool {
    match expected {
        DataType::Float64 => sum.is_numeric(),
        DataType::Decimal128(_, scale) => !sum.is_float() && i16::from(sum.scale()) <= i16::from(*scale),
        _ => false,
    }
}
