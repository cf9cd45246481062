//! `brc-timely`: runs group-by queries over the files that brc reads on several machines, without a scheduler.

#![forbid(unsafe_code)]

mod answer;
mod connect;
mod exchange;
mod failure;
mod frame;
mod hosts;
mod peers;

use crate::answer::Job;
use crate::connect::Connector;
use crate::failure::Failed;
use crate::hosts::Hosts;
use crate::peers::{Peers, Work};
use brc_cli::embedding::{OpenQuery, QueryCommand, message};
use brc_compare::printable;
use brc_encodings::turns_panics_into_errors;
use brc_kernels::memory::Allocator;
use brc_query::ScanTotals;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Answer group-by queries over the files that brc reads, on several machines (a demonstration)
///
/// Each process reads a part of the files and sends the groups that it finds to the others. There is no scheduler, and
/// no retry: if one process fails, all do.
#[derive(Parser)]
#[command(name = "brc-timely", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Query a table in SQL, or with --by, --agg and --where, on several machines
    ///
    /// Start it once on each machine, with the same files, query and options, and with its number (-p). Process 0
    /// prints the answer, which is that of brc query. The files must have the same paths on all machines: a shared
    /// directory, or an object store.
    ///
    /// Processes speak plain TCP without passwords or encryption: anyone who can reach the ports can read the groups,
    /// and disturb the query. A process listens only on its own address in the hosts file. Use a private network.
    ///
    /// This is a demonstration. Everything is kept in memory. A larger machine is often faster, as brc query spills to
    /// disk and needs no network; a cluster for many queries is brc-sql --cluster.
    Query(Args),
}

#[derive(clap::Args)]
#[group(skip)]
struct Args {
    #[command(flatten)]
    query: QueryCommand,

    #[command(flatten)]
    cluster: Cluster,

    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}

/// The processes.
#[derive(clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Processes")]
struct Cluster {
    /// The number of processes
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    processes: u16,

    /// The number of this process, from 0
    #[arg(short, long, value_name = "INDEX", default_value_t = 0)]
    process: u16,

    /// A file with the address of each process, one host:port per line, that of process 0 first
    #[arg(short = 'h', long, value_name = "FILE")]
    hosts: Option<PathBuf>,

    /// How long to wait for processes to start, and for a sign of life of one
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    timeout: u32,
}

/// Replaces the help of `brc query`, since nothing spills to temporary files here.
const MEMORY: &str = "How much memory strings may take while they are computed; groups are kept in memory, whatever they \
                      take; k, M, G are powers of 1024 [default: 60 % of what this process may use]";

const EXAMPLES: &str = "\
Examples, on two machines:
  brc-timely query /data/visits.buren -n 2 -p 0 -h hosts.txt 'select country, count(*) group by country'
  brc-timely query /data/visits.buren -n 2 -p 1 -h hosts.txt 'select country, count(*) group by country'

Exit codes are those of brc; it is 1 if a process is lost.";

/// The time that a panicking network thread waits for another thread with a better message.
const NETWORK_PANIC_DELAY: Duration = Duration::from_secs(5);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator::SYSTEM;

fn main() -> ExitCode {
    let matches = command().get_matches();
    let Command::Query(args) = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command;
    brc_encodings::on_warning(|path, text| {
        eprintln!("warning: {}", printable::line(format!("{}: {text}", path.display()).as_bytes()))
    });
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => ExitCode::from(failed.report()),
    }
}

/// The command line. Some short options have the meaning usual in timely dataflow programs rather than that of `brc
/// query`.
fn command() -> clap::Command {
    Cli::command().mut_subcommand("query", |query| {
        query
            .after_help(EXAMPLES)
            .disable_help_flag(true)
            .mut_arg("limit", |limit| limit.short(None))
            .mut_arg("memory", |memory| memory.help(MEMORY))
            .mut_arg("threads", |threads| {
                threads
                    .short('w')
                    .visible_alias("workers")
                    .help("The number of worker threads, the same for all processes")
            })
            .mut_args(|arg| match ["interactive", "explain", "timings"].contains(&arg.get_id().as_str()) {
                true => arg.hide(true),
                false => arg,
            })
    })
}

impl Cluster {
    fn hosts(&self) -> Result<Hosts, Failed> {
        let (processes, process) = (self.processes.into(), self.process.into());
        match &self.hosts {
            Some(path) => Hosts::read(path, processes, process),
            None if processes > 1 || process > 0 => Err(Failed::usage("several processes need a hosts file: -h FILE")),
            None => Ok(Hosts::alone()),
        }
    }
}

/// Runs the query together with the other processes.
fn run(args: Args) -> Result<(), Failed> {
    let Args { query, cluster, .. } = args;
    let (hosts, workers, timeout) = (cluster.hosts()?, query.threads(), Duration::from_secs(cluster.timeout.into()));
    let (processes, is_first) = (hosts.addresses.len(), hosts.own == 0);
    let query = query.open(is_first)?;
    let connections = match processes {
        1 => Vec::new(),
        _ => Connector::new(&hosts, workers, timeout).connect()?,
    };
    let watched = Peers::watch(hosts, connections, timeout);
    let (peers, sockets) = watched.map_err(|error| Failed::run(format!("cannot begin: {error}")))?;
    let panicking = Arc::clone(&peers);
    std::panic::set_hook(Box::new(move |panic| panicked(panic, &panicking)));
    if processes > 1 {
        message(format_args!("brc-timely: {processes} processes are connected, with {workers} workers each"));
    }
    let job = job(&query, &peers, workers, processes).unwrap_or_else(|failed| peers.fail(failed));
    let plan = job.plan.clone();
    let groups = answer::run(Arc::new(job), &peers, sockets).unwrap_or_else(|failed| peers.fail(failed));
    if is_first {
        let answer = plan.answer(groups, workers, ScanTotals::default());
        let answer = answer.unwrap_or_else(|error| peers.fail(error.into()));
        // All groups are here, so failures of other processes no longer matter.
        peers::claim();
        query.print(&plan, answer).unwrap_or_else(|error| peers.fail(error.into()));
    } else {
        peers.wait_for_answer();
        peers::claim();
    }
    peers.finish();
    Ok(())
}

/// Prepares the work of this process, and checks that all processes do the same.
fn job(query: &OpenQuery, peers: &Peers, workers: usize, processes: usize) -> Result<Job, Failed> {
    let job = Job::new(query.plan()?, Arc::clone(query.table()), workers);
    if processes > 1 {
        let plan =
            bincode::serialize(&job.plan).map_err(|error| Failed::run(format!("cannot send the query: {error}")))?;
        let splits = job.splits.as_ref().map(|splits| splits.len() as u64);
        peers.agree(&Work { plan, files: query.identities()?, splits })?;
    }
    Ok(job)
}

/// Ends all processes when a thread of this one panics.
fn panicked(panic: &PanicHookInfo<'_>, peers: &Peers) {
    if turns_panics_into_errors() {
        return;
    }
    let is_network_name = |name: &str| name.starts_with("timely:send") || name.starts_with("timely:recv");
    let is_network = std::thread::current().name().is_some_and(is_network_name);
    if is_network {
        // A process is probably lost; the thread that listens to it then ends this one with a better message.
        std::thread::sleep(NETWORK_PANIC_DELAY);
    }
    let payload = panic.payload();
    let message = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let location = panic.location().map(|location| format!(" at {location}")).unwrap_or_default();
    let what = if is_network { "a connection broke" } else { "internal error" };
    peers.fail(Failed::run(format!("{what}{location}: {}", message.unwrap_or("no message"))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        command().debug_assert();
    }
}
