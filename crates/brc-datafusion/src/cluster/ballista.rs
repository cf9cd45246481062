//! Sessions, codecs and programs for running queries on Ballista.

use crate::cluster::codec::{LogicalCodec, PhysicalCodec};
use crate::cluster::{decode_failure, limit_memory};
use crate::functions::register_functions;
use crate::session::{CLUSTER_OPTION, rules, session, with_brc};
use async_trait::async_trait;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::Result as BallistaResult;
use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use ballista_core::object_store::{
    runtime_env_with_s3_support, session_config_with_s3_support, session_state_with_s3_support,
};
use ballista_core::optimizer::with_ballista_optimizer_rules;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion::arrow::array::RecordBatch;
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

/// The configuration common to clients, schedulers and executors.
fn in_cluster(config: SessionConfig) -> SessionConfig {
    let mut config = config
        .set_bool(CLUSTER_OPTION, true)
        .with_ballista_logical_extension_codec(logical_codec())
        .with_ballista_physical_extension_codec(physical_codec());
    // Each task reads only its own files.
    config.options_mut().execution.enable_file_stream_work_stealing = false;
    config
}

fn config() -> SessionConfig {
    in_cluster(with_brc(session_config_with_s3_support()))
}

/// The session with its queries run on the cluster of a scheduler, given as `HOST:PORT`. Each stage has `parts`
/// partitions.
///
/// # Errors
/// If the address is invalid.
pub fn on_cluster(context: &SessionContext, scheduler: &str, parts: usize) -> Result<SessionContext> {
    let state = context.state();
    let config = in_cluster(state.config().clone().upgrade_for_ballista())
        .with_target_partitions(parts)
        // File statistics are known before the first stage, so adaptive planning is not needed.
        .with_ballista_adaptive_query_planner(false);
    let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
    Ok(SessionContext::new_with_state(state.upgrade_for_ballista(format!("http://{scheduler}"))?))
}

/// Runs a scheduler until it is terminated.
///
/// A job that loses an executor fails, and the client runs the query again ([`rows_of`]): Ballista 55 would rerun the
/// lost tasks, and then counts rows twice or waits for ever.
///
/// # Errors
/// Errors of starting or running the scheduler.
pub async fn run_scheduler(options: SchedulerConfig, address: SocketAddr) -> BallistaResult<()> {
    let silence = options.executor_timeout_seconds.max(MIN_TIMEOUT_SECONDS);
    // Ballista forgets an executor after its jobs have failed.
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

/// Creates a listener without Nagle's delay, which connections inherit: responses are small, and executors that poll
/// for tasks wait for them.
fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_nodelay(true)?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The maximum number of pending connections.
const BACKLOG: u32 = 1024;

/// The minimum timeout in seconds: a busy executor sends a heartbeat every five seconds.
const MIN_TIMEOUT_SECONDS: u64 = 8;

/// The interval between checks for lost executors.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A scheduler of DataFusion plans.
type Scheduler = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Cancels all running jobs when an executor has sent no heartbeat for `silence`.
async fn fail_jobs_of_lost_executors(
    cluster: &BallistaCluster,
    scheduler: &Scheduler,
    silence: Duration,
) -> BallistaResult<()> {
    let mut lost = HashSet::new();
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let oldest = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(silence).as_secs();
        let heartbeats = cluster.cluster_state().executor_heartbeats();
        lost.retain(|executor| heartbeats.contains_key(executor));
        let silent = heartbeats.into_iter().filter(|(_, last)| last.timestamp < oldest).map(|(executor, _)| executor);
        let known = lost.len();
        lost.extend(silent);
        // Jobs that start later do not use the lost executor.
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

/// Error messages of the scheduler for jobs that lost an executor, and of clients that fetch rows from a lost executor.
const LOST_EXECUTOR_ERRORS: [&str; 5] = [
    "Cancelled",
    "has failed 1 times",
    "fetch partition error",
    "transport error",
    // The connection to an executor that ran the last stage is refused.
    "Error connecting to Ballista",
];

/// The number of times a query is run if executors are lost.
const ATTEMPTS: usize = 4;

/// The size of the rows, in bytes, that are fetched before the first is returned: a query can be run again only while
/// none is.
const HELD_BYTES: usize = 64 << 20;

/// Runs a plan, again if an executor is lost before [`HELD_BYTES`] of rows, or all of them, were fetched.
///
/// # Errors
/// Errors of the query.
pub async fn rows_of(context: &SessionContext, plan: LogicalPlan) -> Result<SendableRecordBatchStream> {
    if matches!(plan, LogicalPlan::DescribeTable(_)) {
        let state =
            SessionStateBuilder::new_from_existing(context.state()).with_query_planner(Arc::new(Planner::Local));
        return SessionContext::from(state.build()).execute_logical_plan(plan).await?.execute_stream().await;
    }
    for attempt in 1.. {
        let mut rows = context.execute_logical_plan(plan.clone()).await?.execute_stream().await?;
        let held = first_rows(&mut rows).await;
        if attempt < ATTEMPTS
            && let Some(Err(error)) = held.last()
            && is_lost_executor(&error.to_string())
        {
            continue;
        }
        let schema = rows.schema();
        let all = futures::stream::iter(held).chain(rows);
        return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, all)));
    }
    internal_err!("there is no last attempt")
}

/// Fetches rows until they take [`HELD_BYTES`], or up to the first error, which is the last item.
async fn first_rows(rows: &mut SendableRecordBatchStream) -> Vec<Result<RecordBatch>> {
    let (mut held, mut bytes) = (Vec::new(), 0);
    while bytes < HELD_BYTES
        && let Some(batch) = rows.next().await
    {
        let is_error = batch.is_err();
        bytes += batch.as_ref().map_or(0, RecordBatch::get_array_memory_size);
        held.push(batch);
        if is_error {
            break;
        }
    }
    held
}

fn is_lost_executor(error: &str) -> bool {
    decode_failure(error).is_none() && LOST_EXECUTOR_ERRORS.iter().any(|lost| error.contains(lost))
}

/// Runs an executor until it is terminated. `memory` limits, in bytes, all queries of brc that it runs in parallel; the
/// operators of DataFusion have a limit of their own.
///
/// # Errors
/// Errors of starting or running the executor.
pub async fn run_executor(options: ExecutorProcessConfig, memory: usize) -> BallistaResult<()> {
    limit_memory(memory / options.vcores.max(1));
    let options = ExecutorProcessConfig {
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        override_config_producer: Some(Arc::new(config)),
        override_runtime_producer: Some(Arc::new(runtime_env_with_s3_support)),
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&session(1).state()))),
        override_logical_codec: Some(logical_codec()),
        override_physical_codec: Some(physical_codec()),
        ..options
    };
    start_executor_process(Arc::new(options)).await
}

/// The session in which the scheduler plans a query.
fn scheduler_state(config: SessionConfig) -> Result<SessionState> {
    let mut state = session_state_with_s3_support(in_cluster(config))?;
    register_functions(&mut state)?;
    Ok(SessionStateBuilder::new_from_existing(state)
        .with_optimizer_rules(with_ballista_optimizer_rules(&rules()))
        .with_query_planner(Arc::new(Planner::Checking))
        .build())
}

/// Plans queries with DataFusion's planner.
#[derive(Debug)]
enum Planner {
    /// Plans for this machine.
    Local,
    /// Plans for executors. Rejects plans that cannot be serialised, because an executor that cannot read a plan would
    /// terminate.
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
        // An adaptive plan has placeholders that are filled at run time, so check the plan that DataFusion would make.
        let checked = match session.as_any().downcast_ref::<SessionState>().filter(|_| is_adaptive) {
            Some(state) => {
                let rules = PhysicalOptimizer::new().rules;
                let state = SessionStateBuilder::new_from_existing(state.clone()).with_physical_optimizer_rules(rules);
                planner.create_physical_plan(plan, &state.build()).await?
            }
            None => Arc::clone(&physical),
        };
        physical_codec().check(&checked, &session.task_ctx())?;
        Ok(physical)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ArrayRef, Int64Array};
    use datafusion::error::DataFusionError;

    fn batch(rows: i64) -> RecordBatch {
        RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef)]).unwrap()
    }

    fn stream(batches: Vec<Result<RecordBatch>>) -> SendableRecordBatchStream {
        Box::pin(RecordBatchStreamAdapter::new(batch(1).schema(), futures::stream::iter(batches)))
    }

    #[tokio::test]
    async fn an_error_after_the_first_batch_is_found_before_rows_are_returned() {
        let lost = || DataFusionError::Execution("Shuffle fetch partition error from Executor".to_owned());
        let mut rows = stream(vec![Ok(batch(3)), Ok(batch(2)), Err(lost()), Ok(batch(9))]);
        let held = first_rows(&mut rows).await;
        assert_eq!(held.len(), 3);
        assert!(is_lost_executor(&held[2].as_ref().unwrap_err().to_string()));
        assert_eq!(first_rows(&mut stream(vec![Ok(batch(3)), Ok(batch(2))])).await.len(), 2);
    }

    #[test]
    fn a_refused_connection_is_a_lost_executor() {
        let refused = "Execution error: GrpcConnectionError(\"Error connecting to Ballista scheduler or executor at \
                       http://127.0.0.1:34395: tonic::transport::Error(Transport, ConnectError(…))\")";
        assert!(is_lost_executor(refused));
        assert!(!is_lost_executor("Execution error: 'sum' is out of range for int64"));
    }

    #[tokio::test]
    async fn large_results_are_not_held() {
        let large = batch((HELD_BYTES / 16) as i64);
        let mut rows = stream(vec![Ok(large.clone()), Ok(large.clone()), Ok(large)]);
        assert_eq!(first_rows(&mut rows).await.len(), 2);
        assert!(rows.next().await.is_some() && rows.next().await.is_none());
    }
}
