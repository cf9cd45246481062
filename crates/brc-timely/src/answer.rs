//! Runs a query on the workers of all processes: each worker aggregates some splits, then merges the groups of one
//! partition, and the first worker collects all groups.

use crate::exchange::exchange;
use crate::failure::Failed;
use crate::peers::Peers;
use brc_core::{Progress, Result, Split, Table};
use brc_query::{Partial, Plan};
use std::net::TcpStream;
use std::sync::Arc;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, Hooks};
use timely::worker::Worker;
use timely::{CommunicationConfig, WorkerConfig};

/// The salt of the hash that assigns groups to partitions, the same in all processes. Hash tables use a different hash:
/// otherwise the groups of one partition would cluster in a few slots.
const SALT: u64 = 0x243f_6a88_85a3_08d3;

/// The work of this process.
pub(crate) struct Job {
    pub(crate) plan: Plan,
    pub(crate) table: Arc<dyn Table>,
    /// All splits; `None` if the table is a stream.
    pub(crate) splits: Option<Vec<Split>>,
    /// The number of workers in this process.
    pub(crate) workers: usize,
}

impl Job {
    pub(crate) fn new(plan: Plan, table: Arc<dyn Table>, workers: usize) -> Self {
        // The splits of a stream are known only after reading it.
        let is_stream = table.bytes().is_none();
        let splits = (!is_stream).then(|| (0..).map_while(|index| table.split(index)).collect());
        Self { plan, table, splits, workers }
    }

    /// Aggregates the splits of one of all workers; `None` if it has none. A stream is read by the first worker.
    fn scan(&self, worker: usize, peers: usize) -> Result<Option<Partial>> {
        let (plan, threads) = match &self.splits {
            Some(splits) => {
                let own: Vec<Split> = splits.iter().skip(worker).step_by(peers).copied().collect();
                if own.is_empty() {
                    return Ok(None);
                }
                (self.plan.clone().over(own), 1)
            }
            None if worker == 0 => (self.plan.clone(), self.workers),
            None => return Ok(None),
        };
        Ok(Some(plan.partial(&*self.table, threads, &Progress::default())?.0))
    }

    /// Runs one of all workers; the first one returns all groups.
    fn work(&self, worker: &mut Worker) -> Result<Option<Partial>> {
        let (index, peers) = (worker.index(), worker.peers());
        let partial = self.scan(index, peers)?;
        let scattered = partial.map(|partial| partial.scatter(peers, SALT));
        let merged = exchange(worker, scattered.unwrap_or_default())?;
        exchange(worker, merged.map(|partial| (0, partial)).into_iter().collect())
    }
}

/// Runs the workers of this process. Returns all groups, if this is the first process and there are any. A failure ends
/// all processes.
pub(crate) fn run(
    job: Arc<Job>,
    peers: &Arc<Peers>,
    sockets: Vec<Option<TcpStream>>,
) -> Result<Option<Partial>, Failed> {
    let network = |error: String| Failed::run(format!("cannot begin: {error}"));
    let (workers, own) = (job.workers, sockets.iter().position(Option::is_none).unwrap_or(0));
    let (builders, others): (Vec<_>, Box<dyn std::any::Any + Send>) = match sockets.len() {
        ..=1 => CommunicationConfig::Process(workers).try_build().map_err(network)?,
        _ => {
            let hooks = Hooks::default();
            let local = ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), None);
            let (builders, threads) = initialize_networking_from_sockets(local, sockets, own, workers, hooks)
                .map_err(|error| network(error.to_string()))?;
            (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(threads))
        }
    };
    let failing = Arc::clone(peers);
    let work = move |worker: &mut Worker| match job.work(worker) {
        Ok(groups) => groups,
        Err(error) => failing.fail(error.into()),
    };
    let guards = timely::execute::execute_from(builders, others, WorkerConfig::default(), work).map_err(network)?;
    // A worker that panics ends the process.
    Ok(guards.join().into_iter().find_map(|groups| groups.ok().flatten()))
}
