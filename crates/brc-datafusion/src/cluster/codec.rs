//! Serialises tables of brc and scans of them. The rest of a plan is left to the codec of the engine.

use crate::answer::{Output, QueryClauses};
use crate::cluster::remote_error::encode_error;
use crate::cluster::source::ClusterSource;
use crate::cluster::{FileReference, PartialGroups, PartitionQuery, SplitAssignment};
use crate::error::external;
use crate::table::FileTable;
use brc_core::Error;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Statistics, TableReference, internal_datafusion_err, plan_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::from_proto::parse_protobuf_file_scan_config;
use datafusion_proto::physical_plan::to_proto::serialize_file_scan_config;
use datafusion_proto::physical_plan::{
    AsExecutionPlan, PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{FileScanExecConf, PhysicalPlanNode};
use prost::Message;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The prefix of serialised tables and scans of brc.
const MARK: &[u8] = b"brc table of ";

/// The version of brc, followed by a line end, comes after the prefix.
const VERSION: &[u8] = concat!(env!("CARGO_PKG_VERSION"), "\n").as_bytes();

fn write<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.extend_from_slice(&[MARK, VERSION].concat());
    bincode::serialize_into(bytes, value).map_err(|error| DataFusionError::External(error))
}

/// Deserialises a value; `None` if the bytes are not from brc.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<Result<T>> {
    let Some(bytes) = bytes.strip_prefix(MARK)?.strip_prefix(VERSION) else {
        return Some(plan_err!("the client, the scheduler and the executors are of different versions of brc"));
    };
    Some(
        bincode::deserialize(bytes).map_err(|error| internal_datafusion_err!("a table of brc cannot be read: {error}")),
    )
}

fn opened(reference: &FileReference) -> Result<FileTable> {
    reference.open().map_err(|error| encode_error(external(error)))
}

/// A serialised table of a logical plan.
#[derive(Serialize, Deserialize)]
enum Provider {
    File(FileReference),
    Partial { reference: FileReference, clauses: QueryClauses, outputs: Vec<Output> },
}

/// Serialises tables of logical plans.
#[derive(Debug)]
pub struct LogicalCodec(Arc<dyn LogicalExtensionCodec>);

impl LogicalCodec {
    /// Creates a codec that leaves everything else to `others`.
    pub fn new(others: Arc<dyn LogicalExtensionCodec>) -> Self {
        Self(others)
    }
}

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.0.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, bytes)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let Some(provider) = read(bytes) else {
            return self.0.try_decode_table_provider(bytes, name, schema, context);
        };
        Ok(match provider? {
            Provider::File(reference) => Arc::new(opened(&reference)?),
            Provider::Partial { reference, clauses, outputs } => {
                let file = opened(&reference)?;
                let statistics = Statistics::new_unknown(&schema);
                Arc::new(PartialGroups { file, clauses, outputs, schema, statistics })
            }
        })
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let reference = |file: &FileTable| FileReference::of(file).map_err(|error| encode_error(external(error)));
        if let Some(file) = table.downcast_ref::<FileTable>() {
            return write(&Provider::File(reference(file)?), bytes);
        }
        if let Some(PartialGroups { file, clauses, outputs, .. }) = table.downcast_ref::<PartialGroups>() {
            let (clauses, outputs) = (clauses.clone(), outputs.clone());
            return write(&Provider::Partial { reference: reference(file)?, clauses, outputs }, bytes);
        }
        self.0.try_encode_table_provider(name, table, bytes).map_err(|_| {
            let message = format!("{name}: this table is held by the client: a cluster reads tables of files only");
            encode_error(external(Error::Usage(message)))
        })
    }

    fn try_decode_file_format(&self, bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.0.try_encode_file_format(bytes, format)
    }
}

/// A serialised scan of a physical plan.
#[derive(Serialize, Deserialize)]
struct Scan {
    reference: FileReference,
    query: PartitionQuery,
    assignment: SplitAssignment,
    /// DataFusion's serialised configuration of the scan.
    config: Vec<u8>,
}

/// Serialises scans of physical plans.
#[derive(Debug)]
pub struct PhysicalCodec(Arc<dyn PhysicalExtensionCodec>);

impl PhysicalCodec {
    /// Creates a codec that leaves everything else to `others`.
    pub fn new(others: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self(others)
    }

    /// Serialises and deserialises a plan, so that a plan that cannot be sent fails here rather than on an executor.
    ///
    /// # Errors
    /// The reason why the plan cannot be serialised.
    pub fn check(&self, plan: &Arc<dyn ExecutionPlan>, context: &TaskContext) -> Result<Arc<dyn ExecutionPlan>> {
        let node = PhysicalPlanNode::try_from_physical_plan(Arc::clone(plan), self)?;
        let node = PhysicalPlanNode::try_decode(&node.encode_to_vec())?;
        node.try_into_physical_plan(context, self)
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(scan) = read(bytes) else { return self.0.try_decode(bytes, inputs, context, converter) };
        let Scan { reference, query, assignment, config } = scan?;
        let config = FileScanExecConf::decode(config.as_slice())
            .map_err(|error| internal_datafusion_err!("a scan of brc cannot be read: {error}"))?;
        let schema = FileScanConfig::parse_table_schema_from_proto(&config)?;
        let source = ClusterSource::new(Arc::new(reference), query, assignment, Arc::clone(schema.table_schema()));
        let context = PhysicalPlanDecodeContext::new(context, self);
        let config = parse_protobuf_file_scan_config(&config, &context, converter, Arc::new(source))?;
        Ok(DataSourceExec::from_data_source(config))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let scan = node.downcast_ref::<DataSourceExec>();
        let Some((config, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<ClusterSource>) else {
            return self.0.try_encode(node, bytes, converter);
        };
        let config = serialize_file_scan_config(config, self, converter)?.encode_to_vec();
        let (reference, query) = (source.reference.as_ref().clone(), source.query.clone());
        write(&Scan { reference, query, assignment: source.assignment, config }, bytes)
    }
}
