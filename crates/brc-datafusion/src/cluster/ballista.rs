//! The sessions, codecs and programs with which questions run on Ballista.

use crate::cluster::codec::{LogicalCodec, PhysicalCodec};
use crate::cluster::limit_memory;
use crate::session::{CLUSTER_OPTION, rules, with_brc};
use async_trait::async_trait;
use ballista_core::error::Result as BallistaResult;
use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use ballista_core::object_store::{
    runtime_env_with_s3_support, session_config_with_s3_support, session_state_with_s3_support,
};
use ballista_core::optimizer::with_ballista_optimizer_rules;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::catalog::Session;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::net::SocketAddr;
use std::sync::Arc;

fn logical_codec() -> Arc<LogicalCodec> {
    Arc::new(LogicalCodec::new(Arc::new(BallistaLogicalExtensionCodec::default())))
}

fn physical_codec() -> Arc<PhysicalCodec> {
    Arc::new(PhysicalCodec::new(Arc::new(BallistaPhysicalExtensionCodec::default())))
}

/// What sessions of clients, schedulers and executors have alike.
fn in_cluster(config: SessionConfig) -> SessionConfig {
    let mut config = config
        .set_bool(CLUSTER_OPTION, true)
        .with_ballista_logical_extension_codec(logical_codec())
        .with_ballista_physical_extension_codec(physical_codec());
    // Each task reads its own files only.
    config.options_mut().execution.enable_file_stream_work_stealing = false;
    config
}

fn config() -> SessionConfig {
    in_cluster(with_brc(session_config_with_s3_support()))
}

/// The same session, whose questions run on the cluster of that scheduler, `HOST:PORT`, each stage in so many parts.
///
/// # Errors
/// If that is no address.
pub fn on_cluster(context: &SessionContext, scheduler: &str, parts: usize) -> Result<SessionContext> {
    let state = context.state();
    let config = in_cluster(state.config().clone().upgrade_for_ballista())
        .with_target_partitions(parts)
        // Ballista 55 waits for ever if an executor is lost between two stages of an adaptive plan.
        .with_ballista_adaptive_query_planner(false);
    let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
    Ok(SessionContext::new_with_state(state.upgrade_for_ballista(format!("http://{scheduler}"))?))
}

/// Runs a scheduler until it is told to end.
///
/// # Errors
/// What goes wrong with that.
pub async fn run_scheduler(config_of_scheduler: SchedulerConfig, address: SocketAddr) -> BallistaResult<()> {
    let mut options = config_of_scheduler
        .with_override_config_producer(Arc::new(config))
        .with_override_session_builder(Arc::new(scheduler_state));
    options.override_logical_codec = Some(logical_codec());
    options.override_physical_codec = Some(physical_codec());
    let cluster = BallistaCluster::new_from_config(&options).await?;
    start_server(cluster, address, Arc::new(options)).await
}

/// Runs an executor until it is told to end. All questions that it is asked side by side take so many bytes of memory, besides
/// what the operators of DataFusion do.
///
/// # Errors
/// What goes wrong with that.
pub async fn run_executor(options: ExecutorProcessConfig, memory: usize) -> BallistaResult<()> {
    limit_memory(memory);
    let options = ExecutorProcessConfig {
        override_config_producer: Some(Arc::new(config)),
        override_runtime_producer: Some(Arc::new(runtime_env_with_s3_support)),
        override_logical_codec: Some(logical_codec()),
        override_physical_codec: Some(physical_codec()),
        ..options
    };
    start_executor_process(Arc::new(options)).await
}

/// The session that plans a question.
fn scheduler_state(config: SessionConfig) -> Result<SessionState> {
    let state = session_state_with_s3_support(in_cluster(config))?;
    Ok(SessionStateBuilder::new_from_existing(state)
        .with_optimizer_rules(with_ballista_optimizer_rules(&rules()))
        .with_query_planner(Arc::new(CheckingPlanner))
        .build())
}

/// Plans as DataFusion does, and refuses plans that cannot be sent: an executor that cannot read one would end.
#[derive(Debug)]
struct CheckingPlanner;

#[async_trait]
impl QueryPlanner for CheckingPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::default();
        let physical = planner.create_physical_plan(plan, session).await?;
        let is_adaptive = session.config().ballista_adaptive_query_planner_enabled();
        // An adaptive plan has places that are filled while it runs: with what DataFusion would plan there.
        let sent = match session.as_any().downcast_ref::<SessionState>().filter(|_| is_adaptive) {
            Some(state) => {
                let rules = PhysicalOptimizer::new().rules;
                let state = SessionStateBuilder::new_from_existing(state.clone()).with_physical_optimizer_rules(rules);
                planner.create_physical_plan(plan, &state.build()).await?
            }
            None => Arc::clone(&physical),
        };
        physical_codec().check(&sent, &session.task_ctx())?;
        Ok(physical)
    }
}
