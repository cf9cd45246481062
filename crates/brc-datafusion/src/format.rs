//! Makes the encodings of brc available as output formats of DataFusion, for `copy … to 'x.buren'`.

use crate::write::write_rows;
use async_trait::async_trait;
use brc_cli::embedding::word_of_bool;
use brc_encodings::{ENCODINGS, Encoding};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::{GetExt, Statistics, not_impl_err, plan_err};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::{ArrowSource, FileScanConfig, FileSinkConfig, FileSource};
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::sync::Arc;

/// Registers all encodings that brc writes as targets of `copy`, by name and extension, except those that DataFusion
/// supports itself.
///
/// # Errors
/// None are expected.
pub fn register_formats(state: &mut SessionState) -> Result<()> {
    for &encoding in ENCODINGS.iter().filter(|encoding| !encoding.is_read_only()) {
        for &extension in [encoding.name()].iter().chain(encoding.extensions()) {
            if state.get_file_format_factory(extension).is_none() {
                state.register_file_format(Arc::new(Format::new(encoding, extension)), false)?;
            }
        }
    }
    Ok(())
}

/// Converts the `options` of a statement to command-line words of brc, sorted by name.
#[must_use]
pub fn option_words(options: &HashMap<String, String>) -> Vec<OsString> {
    let mut options: Vec<_> = options.iter().collect();
    options.sort_unstable();
    let words = |(name, value): (&String, &String)| {
        let name = name.strip_prefix("format.").unwrap_or(name).replace('_', "-").to_ascii_lowercase();
        match value.to_ascii_lowercase().parse() {
            Ok(is_true) => word_of_bool(&name, is_true).into_iter().map(OsString::from).collect(),
            Err(_) => vec![format!("--{name}").into(), OsString::from(value)],
        }
    };
    options.into_iter().flat_map(words).collect()
}

/// An encoding with options of `brc convert`.
#[derive(Clone)]
struct Format {
    encoding: &'static dyn Encoding,
    extension: &'static str,
    options: Vec<OsString>,
}

impl Format {
    fn new(encoding: &'static dyn Encoding, extension: &'static str) -> Self {
        let options = ["--to", encoding.name()].map(OsString::from).to_vec();
        Self { encoding, extension, options }
    }
}

impl Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Format").field("encoding", &self.encoding.name()).field("options", &self.options).finish()
    }
}

impl GetExt for Format {
    fn get_ext(&self) -> String {
        self.extension.to_owned()
    }
}

impl FileFormatFactory for Format {
    fn create(&self, _: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let mut format = self.clone();
        format.options.extend(option_words(options));
        Ok(Arc::new(format))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl FileFormat for Format {
    fn get_ext(&self) -> String {
        self.extension.to_owned()
    }

    fn get_ext_with_compression(&self, _: &FileCompressionType) -> Result<String> {
        Ok(self.extension.to_owned())
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    async fn infer_schema(&self, _: &dyn Session, _: &Arc<dyn ObjectStore>, _: &[ObjectMeta]) -> Result<SchemaRef> {
        not_read()
    }

    async fn infer_stats(
        &self,
        _: &dyn Session,
        _: &Arc<dyn ObjectStore>,
        _: SchemaRef,
        _: &ObjectMeta,
    ) -> Result<Statistics> {
        not_read()
    }

    async fn create_physical_plan(&self, _: &dyn Session, _: FileScanConfig) -> Result<Arc<dyn ExecutionPlan>> {
        not_read()
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        _: &dyn Session,
        target: FileSinkConfig,
        order: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let path = target.original_url.strip_prefix("file://").unwrap_or(&target.original_url);
        if !target.table_partition_cols.is_empty() {
            return plan_err!("{} is written to a single file, not partitioned", self.encoding.name());
        }
        let sink = FileSink { path: path.into(), schema: target.output_schema, format: self.clone() };
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), order)))
    }

    fn file_source(&self, schema: TableSchema) -> Arc<dyn FileSource> {
        // It is not scanned: no plan for reading is made.
        ArrowSource::new_file_source(schema).into()
    }
}

/// Reading is not supported here: files are opened as tables of brc, which provide more than a format of DataFusion
/// can.
fn not_read<T>() -> Result<T> {
    not_impl_err!("it is only written; to read it, name its path, or: create external table t stored as brc")
}

/// The output file.
#[derive(Debug)]
struct FileSink {
    path: PathBuf,
    schema: SchemaRef,
    format: Format,
}

impl DisplayAs for FileSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrcSink({}, {})", self.format.encoding.name(), self.path.display())
    }
}

#[async_trait]
impl DataSink for FileSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(&self, rows: SendableRecordBatchStream, _: &Arc<TaskContext>) -> Result<u64> {
        write_rows(rows, &self.path, &self.format.options).await
    }
}
