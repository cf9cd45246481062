//! `brc compare-cell`: one worker process of a comparison. It is internal: only `brc compare` starts it, and help and
//! completions do not list it.

use crate::args::{Threads, memory_limit};
use crate::invocation::before_arguments;
use crate::render::{exact_format, render};
use crate::{failure, stdout};
use anyhow::Context;
use brc_compare::{JobArguments, Worker};
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;

/// The first argument, which selects this command.
const NAME: &str = "compare-cell";

/// Do one job of brc compare
#[derive(Parser)]
#[command(name = NAME)]
pub(crate) struct Args {
    /// The process id of brc compare
    #[arg(long)]
    parent: u32,

    /// The job as JSON
    job: String,

    /// The file to read
    input: PathBuf,

    /// The file to write or to compare with
    other: PathBuf,

    #[command(flatten)]
    threads: Threads,

    /// The memory limit in bytes
    #[arg(long)]
    memory: Option<u64>,
}

impl Args {
    /// Parses the arguments if they are those of a worker process.
    pub(crate) fn of(arguments: &[OsString]) -> Option<Self> {
        (arguments.first()? == NAME).then(|| Self::parse_from(arguments))
    }
}

/// The arguments of a worker process for the job.
pub(crate) fn arguments(job: &JobArguments<'_>) -> Vec<OsString> {
    let (threads, parent) = (job.threads.to_string(), std::process::id().to_string());
    let mut arguments = before_arguments();
    arguments.extend([NAME, "--threads", &threads, "--parent", &parent].map(OsString::from));
    if let Some(memory) = job.memory {
        arguments.extend(["--memory".into(), memory.to_string().into()]);
    }
    arguments.extend(["--".into(), job.job.into(), job.input.into(), job.other.into()]);
    arguments
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Args { job, input, other, .. } = args;
    let arguments =
        JobArguments { job, input, other, threads: args.threads.count(), memory: Some(memory_limit(args.memory)) };
    let worker = Worker::new(arguments, |plan, answer, out| render(exact_format(), plan, answer, out));
    let worker = worker.context("the job")?;
    end_with(args.parent);
    if worker.writes_table() {
        crate::interrupt::clean_up_when_killed();
    }
    Ok(stdout::print(worker.run(failure::describe)?.as_bytes())?)
}

/// Ends this process when its parent ends, since nothing reads the reply then.
#[cfg(unix)]
fn end_with(parent: u32) {
    // If the signal cannot be set, the process still ends when its job is done.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    // The parent may have ended before the signal was set.
    let end_without = move || {
        if rustix::process::getppid().is_some_and(|now| now.as_raw_pid().cast_unsigned() != parent) {
            std::process::exit(1);
        }
    };
    end_without();
    // Other systems have no such signal; poll instead.
    #[cfg(not(target_os = "linux"))]
    let _ = std::thread::Builder::new().spawn(move || {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
            end_without();
        }
    });
}

/// Not supported here: the process ends when its job is done.
#[cfg(not(unix))]
fn end_with(_parent: u32) {}
