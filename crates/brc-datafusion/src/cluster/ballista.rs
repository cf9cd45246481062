//! The sessions, codecs and programs with which questions run on Ballista.

use crate::cluster::codec::{LogicalCodec, PhysicalCodec};
use crate::cluster::{heard, limit_memory};
use crate::session::{CLUSTER_OPTION, rules, with_brc};
use async_trait::async_trait;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::Result as BallistaResult;
use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use ballista_core::object_store::{
    runtime_env_with_s3_support, session_config_with_s3_support, session_state_with_s3_support,
};
use ballista_core::optimizer::with_ballista_optimizer_rules;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion::catalog::Session;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::{SendableRecordBatchStream, SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use futures::StreamExt;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::{TcpListener, TcpSocket};

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
        // What files tell of their rows is known before the first stage.
        .with_ballista_adaptive_query_planner(false);
    let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
    Ok(SessionContext::new_with_state(state.upgrade_for_ballista(format!("http://{scheduler}"))?))
}

/// Runs a scheduler until it is told to end.
///
/// A job that has lost an executor fails, and whoever asked asks again ([`rows_of`]): where Ballista 55 runs the lost tasks once
/// more, it counts rows twice, or waits for ever.
///
/// # Errors
/// What goes wrong with that.
pub async fn run_scheduler(options: SchedulerConfig, address: SocketAddr) -> BallistaResult<()> {
    let silence = options.executor_timeout_seconds.max(LEAST_SILENCE);
    // Ballista forgets an executor when its jobs have failed.
    let timeout = silence.saturating_mul(4);
    let options = SchedulerConfig {
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        stage_max_failures: 1,
        task_max_failures: 1,
        executor_timeout_seconds: timeout,
        no_executors_grace_period_seconds: options.no_executors_grace_period_seconds.max(timeout),
        override_config_producer: Some(Arc::new(config)),
        override_session_builder: Some(Arc::new(scheduler_state)),
        override_logical_codec: Some(logical_codec()),
        override_physical_codec: Some(physical_codec()),
        ..options
    };
    let cluster = BallistaCluster::new_from_config(&options).await?;
    options.validate()?;
    let scheduler = create_scheduler(cluster.clone(), Arc::new(options)).await?;
    let watch = fail_jobs_of_lost_executors(&cluster, &scheduler, Duration::from_secs(silence));
    tokio::select! {
        ended = start_grpc_service_with_listener(listener(address)?, scheduler.clone()) => ended,
        ended = watch => ended,
    }
}

/// Answers are small, and whoever polls for tasks waits for them: connections inherit that they are sent at once.
fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_nodelay(true)?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// How many connections may wait until they are taken.
const BACKLOG: u32 = 1024;

/// An executor that is busy is heard of every five seconds.
const LEAST_SILENCE: u64 = 8;

/// How often it is looked whether executors are there.
const WATCHED_EVERY: Duration = Duration::from_millis(500);

/// A scheduler of plans as DataFusion writes them.
type Scheduler = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Has all jobs fail that run when an executor was not heard of for so long.
async fn fail_jobs_of_lost_executors(
    cluster: &BallistaCluster,
    scheduler: &Scheduler,
    silence: Duration,
) -> BallistaResult<()> {
    let mut lost = HashSet::new();
    loop {
        tokio::time::sleep(WATCHED_EVERY).await;
        let oldest = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(silence).as_secs();
        let heard = cluster.cluster_state().executor_heartbeats();
        lost.retain(|executor| heard.contains_key(executor));
        let silent = heard.into_iter().filter(|(_, last)| last.timestamp < oldest).map(|(executor, _)| executor);
        let known = lost.len();
        lost.extend(silent);
        // Jobs that begin later have nothing there.
        if lost.len() > known {
            cancel_running(cluster, scheduler).await?;
        }
    }
}

async fn cancel_running(cluster: &BallistaCluster, scheduler: &Scheduler) -> BallistaResult<()> {
    for job in cluster.job_state().get_all_jobs().await? {
        let status = cluster.job_state().get_job_status(&job).await?.and_then(|known| known.status);
        if matches!(status, Some(Status::Running(_))) {
            scheduler.cancel_job(job).await?;
        }
    }
    Ok(())
}

/// What a scheduler says of jobs that failed as an executor was lost, and what a client finds that fetches rows from such a one.
const LOST: [&str; 4] = ["Cancelled", "has failed 1 times", "fetch partition error", "transport error"];

/// How often a question is asked if executors are lost.
const ATTEMPTS: usize = 4;

/// The rows of a plan; asks again if an executor is lost before the first of them.
///
/// # Errors
/// What goes wrong with that.
pub async fn rows_of(context: &SessionContext, plan: LogicalPlan) -> Result<SendableRecordBatchStream> {
    if matches!(plan, LogicalPlan::DescribeTable(_)) {
        let state =
            SessionStateBuilder::new_from_existing(context.state()).with_query_planner(Arc::new(Planner::Local));
        return SessionContext::from(state.build()).execute_logical_plan(plan).await?.execute_stream().await;
    }
    for attempt in 1.. {
        let mut rows = context.execute_logical_plan(plan.clone()).await?.execute_stream().await?;
        let first = rows.next().await;
        if let Some(Err(error)) = &first
            && attempt < ATTEMPTS
            && heard(&error.to_string()).is_none()
            && LOST.iter().any(|lost| error.to_string().contains(lost))
        {
            continue;
        }
        let schema = rows.schema();
        let all = futures::stream::iter(first).chain(rows);
        return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, all)));
    }
    internal_err!("there is no last attempt")
}

/// Runs an executor until it is told to end. All questions about parts that it is asked side by side take so many bytes of memory,
/// besides what the operators of DataFusion do.
///
/// # Errors
/// What goes wrong with that.
pub async fn run_executor(options: ExecutorProcessConfig, memory: usize) -> BallistaResult<()> {
    limit_memory(memory / options.vcores.max(1));
    let options = ExecutorProcessConfig {
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
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
        .with_query_planner(Arc::new(Planner::Checking))
        .build())
}

/// Plans as DataFusion does.
#[derive(Debug)]
enum Planner {
    /// What runs here.
    Local,
    /// What is sent; refuses plans that cannot be: an executor that cannot read one would end.
    Checking,
}

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::default();
        let physical = planner.create_physical_plan(plan, session).await?;
        if let Self::Local = self {
            return Ok(physical);
        }
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
