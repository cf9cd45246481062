//! `brc-scheduler`: plans questions about the files that brc reads, and deals them to executors. It is Ballista's own scheduler,
//! which knows the tables of brc.

#![forbid(unsafe_code)]

use ballista_core::error::BallistaError;
use ballista_scheduler::config::Config;
use brc_datafusion::cluster::ballista::run_scheduler;
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

mod log;

/// Deep plans need more than threads have otherwise, in bytes.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    let command = Config::command()
        .name("brc-scheduler")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Plan questions about the files that brc reads, and deal them to executors: the scheduler of Apache Ballista")
        // How tasks come to executors, and what is done when one fails, is always the same.
        .mut_arg("scheduler_policy", |arg| arg.hide(true))
        .mut_arg("task_max_failures", |arg| arg.hide(true))
        .mut_arg("stage_max_failures", |arg| arg.hide(true))
        .mut_arg("expire_dead_executor_interval_seconds", |arg| arg.default_value("5"))
        .mut_arg("executor_timeout_seconds", |arg| {
            let help = "How many seconds an executor may be silent, 8 at least; then the jobs that run fail, and clients ask again";
            arg.default_value("15").help(help).long_help(help)
        });
    let words = command.get_matches();
    let config = Config::from_arg_matches(&words).unwrap_or_else(|error| error.exit());
    log::exit_code("brc-scheduler", STACK, run(config))
}

async fn run(config: Config) -> Result<(), BallistaError> {
    log::begin(&config.log_level_setting, config.log_dir.as_deref(), "scheduler", &config.log_rotation_policy);
    let address = format!("{}:{}", config.bind_host, config.bind_port);
    let address = address.parse().map_err(|error| BallistaError::Configuration(format!("{address}: {error}")))?;
    run_scheduler(config.try_into()?, address).await
}
