//! The optimizer rule that replaces functions of DataFusion that do not come from the names in a query: those of
//! `DataFrame`s and of other rules.

use crate::functions::Exact;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan, WindowFunctionDefinition};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Replaces `sum`, `min`, `max` and `avg` of DataFusion in all plans.
#[derive(Debug)]
pub(crate) struct ExactFunctions(Vec<(Arc<AggregateUDF>, Arc<AggregateUDF>)>);

impl Default for ExactFunctions {
    fn default() -> Self {
        let pair = |exact: Exact| (Arc::clone(&exact.inner), Arc::new(AggregateUDF::from(exact)));
        Self(Exact::all().map(pair).into())
    }
}

impl ExactFunctions {
    fn exact(&self, function: &AggregateUDF) -> Option<Arc<AggregateUDF>> {
        let found = self.0.iter().find(|(inner, _)| **inner == *function);
        found.map(|(_, exact)| Arc::clone(exact))
    }

    fn replaced(&self, mut expression: Expr) -> Transformed<Expr> {
        let function = match &mut expression {
            Expr::AggregateFunction(AggregateFunction { func, .. }) => Some(func),
            Expr::WindowFunction(window) => match &mut window.fun {
                WindowFunctionDefinition::AggregateUDF(function) => Some(function),
                WindowFunctionDefinition::WindowUDF(_) => None,
            },
            _ => None,
        };
        let replacement = function.and_then(|function| Some((self.exact(function)?, function)));
        let is_replaced = replacement.is_some();
        if let Some((exact, function)) = replacement {
            *function = exact;
        }
        Transformed::new_transformed(expression, is_replaced)
    }
}

impl OptimizerRule for ExactFunctions {
    fn name(&self) -> &'static str {
        "exact_functions"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match &plan {
            LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) => {
                plan.map_expressions(|expression| expression.transform_up(|part| Ok(self.replaced(part))))
            }
            _ => Ok(Transformed::no(plan)),
        }
    }
}
