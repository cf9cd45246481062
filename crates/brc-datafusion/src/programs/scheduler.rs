//! `brc-scheduler`: plans queries and assigns their tasks to executors. It is Ballista's scheduler with support for
//! tables of brc.

#![forbid(unsafe_code)]

use ballista_core::error::BallistaError;
use ballista_scheduler::config::Config;
use brc_datafusion::cluster::ballista::run_scheduler;
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

mod log;

/// The stack size of threads in bytes: deep plans need more than the default.
const STACK_BYTES: usize = 32 << 20;

fn main() -> ExitCode {
    let command = Config::command()
        .name("brc-scheduler")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Plan queries over files of brc and assign their tasks to executors: the scheduler of Apache Ballista")
        // Task distribution and failure handling are fixed.
        .mut_arg("scheduler_policy", |arg| arg.hide(true))
        .mut_arg("task_max_failures", |arg| arg.hide(true))
        .mut_arg("stage_max_failures", |arg| arg.hide(true))
        .mut_arg("expire_dead_executor_interval_seconds", |arg| arg.default_value("5"))
        .mut_arg("executor_timeout_seconds", |arg| {
            let help = "The seconds without a heartbeat, at least 8, after which an executor is lost; running jobs then fail, and clients retry";
            arg.default_value("15").help(help).long_help(help)
        });
    let words = command.get_matches();
    let config = Config::from_arg_matches(&words).unwrap_or_else(|error| error.exit());
    log::exit_code("brc-scheduler", STACK_BYTES, run(config))
}

async fn run(config: Config) -> Result<(), BallistaError> {
    log::begin(&config.log_level_setting, config.log_dir.as_deref(), "scheduler", &config.log_rotation_policy);
    let address = format!("{}:{}", config.bind_host, config.bind_port);
    let address = address.parse().map_err(|error| BallistaError::Configuration(format!("{address}: {error}")))?;
    run_scheduler(config.try_into()?, address).await
}
