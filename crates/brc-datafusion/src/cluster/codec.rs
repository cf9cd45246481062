//! Tables, and scans of them, as bytes. All else of a plan is made bytes of by the codec of the engine.

use crate::answer::{Output, Parts};
use crate::cluster::source::ClusterSource;
use crate::cluster::told::told;
use crate::cluster::{Asked, Dealt, PartTable, SentTable};
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

/// What the bytes of tables and scans of brc begin with.
const MARK: &[u8] = b"brc table of ";

/// The version of brc that wrote them stands behind, and a line's end.
const VERSION: &[u8] = concat!(env!("CARGO_PKG_VERSION"), "\n").as_bytes();

fn write<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.extend_from_slice(&[MARK, VERSION].concat());
    bincode::serialize_into(bytes, value).map_err(|error| DataFusionError::External(error))
}

/// `None` if they are not of brc.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<Result<T>> {
    let Some(bytes) = bytes.strip_prefix(MARK)?.strip_prefix(VERSION) else {
        return Some(plan_err!("the client, the scheduler and the executors are of different versions of brc"));
    };
    Some(
        bincode::deserialize(bytes).map_err(|error| internal_datafusion_err!("a table of brc cannot be read: {error}")),
    )
}

fn opened(sent: &SentTable) -> Result<FileTable> {
    sent.open().map_err(|error| told(external(error)))
}

/// A table of a logical plan.
#[derive(Serialize, Deserialize)]
enum Provider {
    File(SentTable),
    Parts { sent: SentTable, parts: Parts, outputs: Vec<Output> },
}

/// Makes bytes of the tables of logical plans.
#[derive(Debug)]
pub struct LogicalCodec(Arc<dyn LogicalExtensionCodec>);

impl LogicalCodec {
    /// Leaves all else to that codec.
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
            Provider::File(sent) => Arc::new(opened(&sent)?),
            Provider::Parts { sent, parts, outputs } => {
                let file = opened(&sent)?;
                let statistics = Statistics::new_unknown(&schema);
                Arc::new(PartTable { file, parts, outputs, schema, statistics })
            }
        })
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let sent = |file: &FileTable| SentTable::of(file).map_err(|error| told(external(error)));
        if let Some(file) = table.downcast_ref::<FileTable>() {
            return write(&Provider::File(sent(file)?), bytes);
        }
        if let Some(PartTable { file, parts, outputs, .. }) = table.downcast_ref::<PartTable>() {
            let (parts, outputs) = (parts.clone(), outputs.clone());
            return write(&Provider::Parts { sent: sent(file)?, parts, outputs }, bytes);
        }
        self.0.try_encode_table_provider(name, table, bytes).map_err(|_| {
            let message = format!("{name}: this table is held by the client: a cluster reads tables of files only");
            told(external(Error::Usage(message)))
        })
    }

    fn try_decode_file_format(&self, bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.0.try_encode_file_format(bytes, format)
    }
}

/// A scan of a physical plan.
#[derive(Serialize, Deserialize)]
struct Scan {
    sent: SentTable,
    asked: Asked,
    dealt: Dealt,
    /// DataFusion's own part of it.
    config: Vec<u8>,
}

/// Makes bytes of the scans of physical plans.
#[derive(Debug)]
pub struct PhysicalCodec(Arc<dyn PhysicalExtensionCodec>);

impl PhysicalCodec {
    /// Leaves all else to that codec.
    pub fn new(others: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self(others)
    }

    /// Makes bytes of a plan, and the plan of these again: what cannot be sent fails here, and not where it is run.
    ///
    /// # Errors
    /// What stands in the way.
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
        let Scan { sent, asked, dealt, config } = scan?;
        let config = FileScanExecConf::decode(config.as_slice())
            .map_err(|error| internal_datafusion_err!("a scan of brc cannot be read: {error}"))?;
        let schema = FileScanConfig::parse_table_schema_from_proto(&config)?;
        let source = ClusterSource::new(Arc::new(sent), asked, dealt, Arc::clone(schema.table_schema()));
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
        let (sent, asked) = (source.sent.as_ref().clone(), source.asked.clone());
        write(&Scan { sent, asked, dealt: source.dealt, config }, bytes)
    }
}
