//! `brc-executor`: reads partitions of files and runs the tasks of plans. It is Ballista's executor with support for
//! tables of brc.

#![forbid(unsafe_code)]

use ballista_core::error::BallistaError;
use ballista_executor::config::Config;
use ballista_executor::executor_process::ExecutorProcessConfig;
use ballista_executor::health::spawn_health_server;
use brc_cli::embedding::Files;
use brc_datafusion::cluster::ballista::run_executor;
use brc_kernels::memory::Allocator;
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

mod log;

/// Lets brc know how much memory is in use.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator::SYSTEM;

/// The stack size of threads in bytes: deep plans need more than the default.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    let command = Config::command()
        .name("brc-executor")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Read files of brc and run the tasks of queries: the executor of Apache Ballista")
        .mut_arg("task_scheduling_policy", |arg| arg.hide(true));
    let words = command.get_matches();
    let config = Config::from_arg_matches(&words).unwrap_or_else(|error| error.exit());
    log::exit_code("brc-executor", STACK_BYTES, run(config))
}

async fn run(config: Config) -> Result<(), BallistaError> {
    log::begin(&config.log_level_setting, config.log_dir.as_deref(), "executor", &config.log_rotation_policy);
    let health_address = format!("{}:{}", config.bind_host, config.bind_health_port);
    let health_address =
        health_address.parse().map_err(|error| BallistaError::Configuration(format!("{health_address}: {error}")))?;
    let memory = memory(config.memory_pool_size)?;
    let options = ExecutorProcessConfig::try_from(config)?;
    let (end, ended) = tokio::sync::oneshot::channel();
    let health = spawn_health_server(health_address, options.health.clone(), ended);
    let outcome = run_executor(options, memory).await;
    // If the receiver is gone, the server has already ended.
    let _ = end.send(());
    let _ = health.await;
    outcome
}

/// The memory limit of queries of brc in bytes: that of DataFusion's operators, or the default of `brc query`.
fn memory(pool: Option<u64>) -> Result<usize, BallistaError> {
    let bytes = match pool {
        Some(0) => u64::MAX,
        Some(bytes) => bytes,
        None => {
            Files::from_words(&["-".into()])
                .map_err(|error| BallistaError::Configuration(error.to_string()))?
                .memory()
                .limit
        }
    };
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
}
