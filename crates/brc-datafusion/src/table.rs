//! A file, or several that are one table, as DataFusion sees it.

use crate::error::{external, of_arrow};
use crate::leaf::Leaf;
use crate::scan::Scan;
use crate::sql;
use async_trait::async_trait;
use brc_core::{Progress, ScanOptions, Schema, Split, Table, read_rows};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Statistics};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// A table of brc.
#[derive(Clone)]
pub struct FileTable {
    table: Arc<dyn Table>,
    /// The columns with their types, all rows considered.
    columns: Schema,
    options: brc_arrow::Options,
    arrow: SchemaRef,
    threads: usize,
}

impl Debug for FileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileTable").field("path", &self.table.path()).finish_non_exhaustive()
    }
}

impl FileTable {
    /// The table, read by so many threads. Where types are inferred, all rows are read once.
    ///
    /// # Errors
    /// What goes wrong with that.
    pub fn new(table: Arc<dyn Table>, threads: usize) -> brc_core::Result<Self> {
        if table.inferred().is_some() {
            read_rows(&*table, threads, &Progress::default())?;
        }
        let columns = table.inferred().as_deref().unwrap_or(table.schema()).clone();
        let options = brc_arrow::Options { threads: 1, ..brc_arrow::Options::default() };
        let arrow = Arc::new(brc_arrow::arrow_schema(columns.fields(), &options));
        Ok(Self { table, columns, options, arrow, threads })
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<dyn Table> {
        &self.table
    }

    /// Its columns.
    pub(crate) fn columns(&self) -> &Schema {
        &self.columns
    }

    /// How many threads read it.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    fn splits(&self) -> impl Iterator<Item = Split> {
        (0..).map_while(|index| self.table.split(index))
    }

    /// The splits, dealt to as many parts as there are threads. Each has consecutive ones.
    fn parts(&self) -> Vec<Vec<Split>> {
        let splits: Vec<Split> = self.splits().collect();
        let parts = self.threads.min(splits.len()).max(1);
        let bound = |part: usize| part * splits.len() / parts;
        (0..parts).map(|part| splits[bound(part)..bound(part + 1)].to_vec()).collect()
    }

    fn column_statistics(&self, column: usize) -> ColumnStatistics {
        let has_nulls = self.splits().any(|split| self.table.known(split.index, column).nulls);
        let null_count = if has_nulls { Precision::Absent } else { Precision::Exact(0) };
        ColumnStatistics { null_count, ..ColumnStatistics::new_unknown() }
    }
}

#[async_trait]
impl TableProvider for FileTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.arrow)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let everything = ScanOptions::everything(&self.columns);
        let projection = projection.cloned().unwrap_or_else(|| everything.projection.clone());
        let conditions: Vec<_> = filters.iter().filter_map(|filter| sql::condition(filter, &self.columns)).collect();
        let predicate = sql::predicate(&conditions, &self.columns).map_err(external)?;
        let fields = projection.iter().map(|&column| self.columns.fields()[column].clone()).collect();
        let schema = Arc::new(self.arrow.project(&projection).map_err(of_arrow)?);
        let statistics = self.statistics().unwrap_or_else(|| Statistics::new_unknown(&self.arrow));
        let scan = Scan {
            table: Arc::clone(&self.table),
            fields,
            options: self.options.clone(),
            schema: Arc::clone(&schema),
            parts: self.parts(),
            condition: conditions.join(" and "),
            statistics: statistics.project(Some(&projection)),
            limit,
            request: ScanOptions { projection, predicate, ..everything },
        };
        Ok(Arc::new(Leaf::new(scan, schema)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = |filter: &&Expr| match sql::condition(filter, &self.columns) {
            // Row groups are left out by it; DataFusion still looks at each row.
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(supported).collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        let columns = (0..self.columns.fields().len()).map(|column| self.column_statistics(column));
        let rows = self.table.rows().and_then(|rows| usize::try_from(rows).ok());
        Some(Statistics {
            num_rows: rows.map_or(Precision::Absent, Precision::Exact),
            total_byte_size: Precision::Absent,
            column_statistics: columns.collect(),
        })
    }
}
