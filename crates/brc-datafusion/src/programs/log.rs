//! Logging and the main function of the programs of a cluster.

use ballista_core::config::LogRotationPolicy;
use ballista_core::error::BallistaError;
use brc_cli::embedding::message;
use std::future::Future;
use std::io::stderr;
use std::process::ExitCode;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

/// Sets up logging at a level, or that of the environment: to standard error, or to files of a directory.
pub(crate) fn begin(level: &str, directory: Option<&str>, name: &str, rotation: &LogRotationPolicy) {
    let level = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_else(|_| level.to_owned());
    let log = tracing_subscriber::fmt().with_ansi(false).with_env_filter(EnvFilter::new(level));
    let Some(directory) = directory else { return log.with_writer(stderr).init() };
    let rotation = match rotation {
        LogRotationPolicy::Minutely => Rotation::MINUTELY,
        LogRotationPolicy::Hourly => Rotation::HOURLY,
        LogRotationPolicy::Daily => Rotation::DAILY,
        LogRotationPolicy::Never => Rotation::NEVER,
    };
    log.with_writer(RollingFileAppender::new(rotation, directory, name)).init();
}

/// Runs a program on threads with the given stack size in bytes, and returns its exit code.
pub(crate) fn exit_code(program: &str, stack: usize, run: impl Future<Output = Result<(), BallistaError>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(stack).build();
    let outcome = runtime.map_err(BallistaError::IoError).and_then(|runtime| runtime.block_on(run));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            message(format_args!("{program}: {error}"));
            ExitCode::FAILURE
        }
    }
}
