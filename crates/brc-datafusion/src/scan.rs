//! Reads rows of a table in parts, each of some of its splits.

use crate::leaf::{Batches, Source};
use brc_arrow::Reader;
use brc_core::{Field, ScanOptions, Split, Table};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::common::Statistics;
use datafusion::physical_plan::execution_plan::EmissionType;
use std::fmt::{self, Display};
use std::sync::Arc;

/// Some columns of a table.
pub(crate) struct Scan {
    pub(crate) table: Arc<dyn Table>,
    /// The columns of the request.
    pub(crate) fields: Vec<Field>,
    pub(crate) request: ScanOptions,
    pub(crate) options: brc_arrow::Options,
    pub(crate) schema: SchemaRef,
    pub(crate) parts: Vec<Vec<Split>>,
    /// Row groups are left out by it.
    pub(crate) condition: String,
    /// Of all rows of the table.
    pub(crate) statistics: Statistics,
    /// No more rows of a part are needed.
    pub(crate) limit: Option<usize>,
}

impl Display for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
        write!(f, "{}, columns=[{}]", self.table.path().display(), names.join(", "))?;
        if !self.condition.is_empty() {
            write!(f, ", skips=[{}]", self.condition)?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl Source for Scan {
    const NAME: &'static str = "BrcScan";
    const EMISSION: EmissionType = EmissionType::Incremental;

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn read(&self, part: usize, batch_rows: usize) -> Result<Batches, ArrowError> {
        let request = ScanOptions { splits: Some(self.parts[part].clone()), ..self.request.clone() };
        let (table, fields) = (Arc::clone(&self.table), self.fields.clone());
        let options = brc_arrow::Options { batch_rows, ..self.options.clone() };
        let scan = move |feed: &brc_arrow::Feed| feed.scan(&*table, &fields, &request);
        let mut reader = Reader::new(self.schema.as_ref().clone(), options, scan)?;
        let mut left = self.limit.unwrap_or(usize::MAX);
        Ok(Box::new(std::iter::from_fn(move || {
            let batch = if left > 0 { reader.next()? } else { return None };
            left = left.saturating_sub(batch.as_ref().map_or(0, RecordBatch::num_rows));
            Some(batch)
        })))
    }

    fn statistics(&self) -> Option<Statistics> {
        (self.condition.is_empty() && self.limit.is_none()).then(|| self.statistics.clone())
    }
}
