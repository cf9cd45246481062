//! The answers of all parts of a table, as a table: each has its groups.

use crate::answer::{Output, Parts};
use crate::cluster::{Asked, scan_in_parts};
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

/// What parts of a table answer.
#[derive(Clone)]
pub(crate) struct PartTable {
    pub(crate) file: FileTable,
    pub(crate) parts: Parts,
    /// The columns, made of those of brc's answer.
    pub(crate) outputs: Vec<Output>,
    pub(crate) schema: SchemaRef,
    pub(crate) statistics: Statistics,
}

impl Debug for PartTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartTable").field("parts", &self.parts).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for PartTable {
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
        let asked = Asked::Groups { parts: self.parts.clone(), outputs };
        scan_in_parts(&self.file, asked, schema, statistics, session)
    }
}
