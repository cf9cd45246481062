//! `sum`, `min`, `max` and `avg` without wrong results: those of DataFusion wrap if sums overflow, depend on the order
//! of rows if floats are NaN, and round each integer of an average.
//!
//! Each function keeps the name and types of DataFusion's, and uses its accumulators for values of another type
//! ([`Recoding`]). Averages of integers are exact sums divided by counts ([`Quotient`]).

mod distinct;
mod quotient;
mod recoding;
mod rule;

pub(crate) use crate::functions::rule::ExactFunctions;

use crate::functions::distinct::DistinctInFrame;
use crate::functions::quotient::Quotient;
use crate::functions::recoding::{Recoded, Recoding};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::count::{count, count_udaf};
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, Expr, GroupsAccumulator, Operator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs, cast,
};
use std::sync::Arc;

/// Registers `sum`, `min`, `max` and `avg` that give no wrong results. [`session()`](crate::session()) has them; in a
/// cluster, each session that plans or runs queries needs them.
///
/// # Errors
/// If the registry is read-only.
pub fn register_functions(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in Exact::all() {
        registry.register_udaf(Arc::new(AggregateUDF::from(function)))?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Sum,
    /// A minimum or maximum.
    Extremum,
    Average,
}

/// A function of DataFusion without its wrong results.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Exact {
    kind: Kind,
    signature: Signature,
    inner: Arc<AggregateUDF>,
}

/// The arguments with another type of the result.
fn returning(args: AccumulatorArgs<'_>, result: DataType) -> AccumulatorArgs<'_> {
    AccumulatorArgs { return_field: with_type(&args.return_field, result), ..args }
}

fn with_type(field: &FieldRef, data_type: DataType) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// Copies the arguments.
fn copied<'a>(args: &AccumulatorArgs<'a>) -> AccumulatorArgs<'a> {
    AccumulatorArgs { return_field: Arc::clone(&args.return_field), ..*args }
}

impl Exact {
    fn all() -> [Self; 4] {
        [
            (Kind::Sum, sum_udaf()),
            (Kind::Extremum, min_udaf()),
            (Kind::Extremum, max_udaf()),
            (Kind::Average, avg_udaf()),
        ]
        .map(|(kind, inner)| {
            // An average takes integers as they are, as a sum does.
            let of_arguments = if kind == Kind::Average { &sum_udaf() } else { &inner };
            Self { kind, signature: of_arguments.signature().clone(), inner }
        })
    }

    /// The recoding of values of this type; `None` if DataFusion's results are right.
    fn recoding(&self, argument: &DataType, result: &DataType, name: &str) -> Option<Recoding> {
        match self.kind {
            Kind::Sum => Recoding::of_sums(argument, result, name),
            Kind::Extremum => Recoding::of_floats(argument),
            Kind::Average => None,
        }
    }

    /// The recoding of sums within an average; `None` if DataFusion's results are right.
    fn averaged(&self, argument: &DataType) -> Option<Recoding> {
        (self.kind == Kind::Average && argument.is_integer()).then(|| Recoding::of_averages(argument))?
    }

    /// An accumulator of DataFusion, which `build` makes, or `of_sums` for recoded sums, with right results.
    fn wrapped<A: Inner + ?Sized>(
        &self,
        args: AccumulatorArgs<'_>,
        build: Build<A>,
        of_sums: Build<A>,
    ) -> Result<Box<A>> {
        let argument = args.expr_fields[0].data_type();
        if let Some(recoding) = self.averaged(argument) {
            let sum = recoded(&sum_udaf(), copied(&args), recoding, of_sums)?;
            let count = build(&count_udaf(), returning(args, DataType::Int64))?;
            return Ok(A::quotient(Quotient { sum, count }));
        }
        match self.recoding(argument, args.return_type(), args.name) {
            Some(recoding) if self.kind == Kind::Sum => recoded(&self.inner, args, recoding, of_sums),
            Some(recoding) => recoded(&self.inner, args, recoding, build),
            None => build(&self.inner, args),
        }
    }
}

type Build<A> = fn(&AggregateUDF, AccumulatorArgs<'_>) -> Result<Box<A>>;

/// A kind of accumulators that others of the kind are made of.
trait Inner {
    fn recoded(recoded: Recoded<Self>) -> Box<Self>;
    fn quotient(quotient: Quotient<Self>) -> Box<Self>;
}

impl Inner for dyn Accumulator {
    fn recoded(recoded: Recoded<Self>) -> Box<Self> {
        Box::new(recoded)
    }

    fn quotient(quotient: Quotient<Self>) -> Box<Self> {
        Box::new(quotient)
    }
}

impl Inner for dyn GroupsAccumulator {
    fn recoded(recoded: Recoded<Self>) -> Box<Self> {
        Box::new(recoded)
    }

    fn quotient(quotient: Quotient<Self>) -> Box<Self> {
        Box::new(quotient)
    }
}

/// The accumulator of recoded values.
fn recoded<A: Inner + ?Sized>(
    inner: &AggregateUDF,
    args: AccumulatorArgs<'_>,
    recoding: Recoding,
    build: Build<A>,
) -> Result<Box<A>> {
    Ok(A::recoded(Recoded { inner: build(inner, returning(args, recoding.data_type()))?, recoding }))
}

/// The accumulator of sums in window frames whose first row moves.
fn sliding_sum(sum: &AggregateUDF, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
    let is_distinct = args.is_distinct;
    let inner = sum.create_sliding_accumulator(AccumulatorArgs { is_distinct: false, ..args })?;
    Ok(if is_distinct { Box::new(DistinctInFrame::new(inner)) } else { inner })
}

/// `is_descending` is not passed on: for a `limit`, DataFusion would then compare floats without an accumulator.
impl AggregateUDFImpl for Exact {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Interval(_)] if self.kind == Kind::Average => plan_err!("avg does not take intervals"),
            _ => self.inner.return_type(arguments),
        }
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.wrapped(args, AggregateUDF::accumulator, AggregateUDF::accumulator)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.wrapped(args, AggregateUDF::create_sliding_accumulator, sliding_sum)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        match self.averaged(args.expr_fields[0].data_type()) {
            Some(_) => !args.is_distinct,
            None => self.inner.groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.wrapped(args, AggregateUDF::create_groups_accumulator, AggregateUDF::create_groups_accumulator)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let argument = args.input_fields[0].data_type();
        let field = |result| with_type(&args.return_field, result);
        if let Some(recoding) = self.averaged(argument) {
            let of_sum = StateFieldsArgs { return_field: field(recoding.data_type()), ..args };
            let of_count = StateFieldsArgs { return_field: field(DataType::Int64), ..args };
            return Ok([sum_udaf().state_fields(of_sum)?, count_udaf().state_fields(of_count)?].concat());
        }
        match self.recoding(argument, args.return_type(), args.name) {
            Some(recoding) => {
                self.inner.state_fields(StateFieldsArgs { return_field: field(recoding.state_type()), ..args })
            }
            None => self.inner.state_fields(args),
        }
    }

    /// Rewrites `sum(x + 1)` to `sum(x) + 1 * count(x)`, which DataFusion does if `x` is in several such sums.
    fn simplify_expr_op_literal(
        &self,
        call: &AggregateFunction,
        argument: &Expr,
        operator: Operator,
        literal: &Expr,
        _: bool,
    ) -> Result<Option<Expr>> {
        let Expr::Literal(ScalarValue::Int64(Some(_)), _) = literal else { return Ok(None) };
        if self.kind != Kind::Sum || operator != Operator::Plus {
            return Ok(None);
        }
        let mut sum = call.clone();
        sum.params.args = vec![argument.clone()];
        let wide = |value: Expr| cast(value, DataType::Decimal128(20, 0));
        let total = wide(Expr::AggregateFunction(sum)) + wide(literal.clone()) * wide(count(argument.clone()));
        Ok(Some(cast(total, DataType::Int64)))
    }

    fn value_from_stats(&self, args: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        // The statistics of some encodings ignore NaN.
        let is_known = self.kind != Kind::Extremum || !args.return_type.is_floating();
        is_known.then(|| self.inner.value_from_stats(args))?
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.inner.reverse_udf()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}
