//! A table of partial groups: each partition of a file contributes its own groups.

use crate::answer::{Output, QueryClauses};
use crate::cluster::{PartitionQuery, scan_partitioned};
use crate::table::FileTable;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Statistics;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// The partial groups of a table.
#[derive(Clone)]
pub(crate) struct PartialGroups {
    pub(crate) file: FileTable,
    pub(crate) clauses: QueryClauses,
    /// The columns, computed from those of brc's result.
    pub(crate) outputs: Vec<Output>,
    pub(crate) schema: SchemaRef,
    pub(crate) statistics: Statistics,
}

impl Debug for PartialGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialGroups").field("clauses", &self.clauses).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for PartialGroups {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = (0..self.outputs.len()).collect();
        let projection = projection.unwrap_or(&all);
        let outputs = projection.iter().map(|&column| self.outputs[column]).collect();
        let schema = Arc::new(self.schema.project(projection)?);
        let statistics = self.statistics.clone().project(Some(projection));
        let query = PartitionQuery::Groups { clauses: self.clauses.clone(), outputs };
        scan_partitioned(&self.file, query, schema, statistics, session)
    }
}
