//! Exchanges partial aggregates between the workers of all processes.

use brc_core::{Error, Result};
use brc_query::Partial;
use std::cell::RefCell;
use std::rc::Rc;
use timely::communication::Push;
use timely::dataflow::InputHandle;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::operators::Input;
use timely::dataflow::operators::generic::Operator;
use timely::progress::Stamp;
use timely::worker::Worker;

/// The maximum size of a message in bytes, unless a single group is larger.
const MAX_MESSAGE_BYTES: u64 = 1 << 22;

/// The receiving worker and a serialised partial.
type Addressed = (u64, Vec<u8>);

/// Sends each partial to the worker with the given number. Returns once all workers have sent theirs, with the merged
/// partials that this worker received, if any.
///
/// # Errors
/// If a received message is not a partial, or belongs to a different plan; further messages are then not awaited.
pub(crate) fn exchange(worker: &mut Worker, partials: Vec<(usize, Partial)>) -> Result<Option<Partial>> {
    let received: Rc<RefCell<Result<Option<Partial>>>> = Rc::new(RefCell::new(Ok(None)));
    let mut input = InputHandle::new();
    let merged = Rc::clone(&received);
    worker.dataflow::<u64, _, _>(|scope| {
        let pact = DistributorPact(|_| Unbatched);
        scope.input_from(&mut input).sink(pact, "merge", move |(input, _)| {
            input.for_each(|_, messages: &mut Vec<Addressed>| {
                for (_, bytes) in messages.drain(..) {
                    merge(&mut merged.borrow_mut(), &bytes);
                }
            });
        });
    });
    for (target, partial) in partials {
        each_message(partial, MAX_MESSAGE_BYTES, &mut |bytes| {
            input.send((target as u64, bytes));
            input.flush();
            // Meanwhile, merge what has arrived.
            worker.step();
        })?;
    }
    input.close();
    while worker.has_dataflows() && received.borrow().is_ok() {
        worker.step_or_park(None);
    }
    received.replace(Ok(None))
}

/// Merges a received partial, unless an earlier one failed.
fn merge(merged: &mut Result<Option<Partial>>, bytes: &[u8]) {
    let Ok(merged_so_far) = merged else { return };
    let outcome = match (bincode::deserialize::<Partial>(bytes), merged_so_far) {
        (Err(error), _) => Err(Error::Usage(format!("another process sent invalid data: {error}"))),
        (Ok(partial), Some(merged)) => merged.merge(partial),
        (Ok(partial), merged @ None) => {
            *merged = Some(partial);
            Ok(())
        }
    };
    if let Err(error) = outcome {
        *merged = Err(error);
    }
}

/// Calls `each` with the serialised partial, split into several with some of its groups each if it exceeds `max_bytes`.
fn each_message(partial: Partial, max_bytes: u64, each: &mut dyn FnMut(Vec<u8>)) -> Result<()> {
    let unsendable = |error| Error::Expression(format!("groups cannot be sent: {error}"));
    let (bytes, groups) = (bincode::serialized_size(&partial).map_err(unsendable)?, partial.groups());
    if bytes <= max_bytes || groups <= 1 {
        each(bincode::serialize(&partial).map_err(unsendable)?);
        return Ok(());
    }
    let messages = usize::try_from(bytes.div_ceil(max_bytes)).unwrap_or(usize::MAX);
    let chunks = partial.chunks(groups.div_ceil(messages).min(groups - 1));
    chunks.into_iter().try_for_each(|chunk| each_message(chunk, max_bytes, each))
}

/// Sends each message separately; timely's own exchange would batch hundreds of small ones.
struct Unbatched;

impl Distributor<Vec<Addressed>> for Unbatched {
    fn partition<T: Clone, P: Push<Message<T, Vec<Addressed>>>>(
        &mut self,
        messages: &mut Vec<Addressed>,
        stamp: &Stamp<T>,
        pushers: &mut [P],
    ) {
        let peers = pushers.len() as u64;
        for message in messages.drain(..) {
            let pusher = &mut pushers[(message.0 % peers) as usize];
            Message::push_at(&mut vec![message], stamp.clone(), pusher);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Vec<Addressed>>>>(&mut self, _: &Stamp<T>, _: &mut [P]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{Progress, Schema, Table};
    use brc_query::{Plan, Query, RowBlock, ScanTotals};
    use std::ffi::OsString;
    use std::path::Path;

    fn table(directory: &Path) -> Box<dyn Table> {
        let rows: String = (0..5000).map(|row| format!("{},{row}\n", row % 997)).collect();
        let path = directory.join("t.csv");
        std::fs::write(&path, format!("k,v\n{rows}")).unwrap();
        let words = [path.into_os_string(), OsString::from("--schema"), OsString::from("k:string,v:int")];
        brc_cli::embedding::Files::from_words(&words).unwrap().open().unwrap()
    }

    fn plan(text: &str) -> Plan {
        Query::parse(text).unwrap().plan(&Schema::parse("k:string,v:int").unwrap()).unwrap()
    }

    #[test]
    fn large_partials_are_split_into_messages() {
        let directory = tempfile::tempdir().unwrap();
        let table = table(directory.path());
        for (text, max_bytes, fits) in [
            ("select k, sum(v), max(k) group by k", 1000, true),
            ("select k, median(v) group by k", 300, true),
            // A group is never split.
            ("select k, median(v) group by k", 1, false),
            ("select median(v)", 1000, false),
        ] {
            let plan = plan(text);
            let (partial, _) = plan.partial(&*table, 2, &Progress::default()).unwrap();
            let (mut lengths, mut merged) = (Vec::new(), Ok(None));
            each_message(partial.clone(), max_bytes, &mut |bytes| {
                lengths.push(bytes.len() as u64);
                merge(&mut merged, &bytes);
            })
            .unwrap();
            assert_eq!(lengths.iter().all(|&length| length <= max_bytes), fits, "{text}: {lengths:?}");
            let rows = |partial: Option<Partial>| {
                let answer = plan.answer(partial, 1, ScanTotals::default()).unwrap();
                let text = |block: RowBlock<'_>| format!("{:?}", block.rows().map(Vec::from_iter).collect::<Vec<_>>());
                answer.blocks().map(|block| text(block.unwrap())).collect::<Vec<_>>()
            };
            assert_eq!(rows(merged.unwrap()), rows(Some(partial)), "{text}");
        }
    }

    #[test]
    fn received_messages_are_checked() {
        let directory = tempfile::tempdir().unwrap();
        let table = table(directory.path());
        let message = |text: &str| {
            let (partial, _) = plan(text).partial(&*table, 1, &Progress::default()).unwrap();
            bincode::serialize(&partial).unwrap()
        };
        let (sums, medians) = (message("select k, sum(v) group by k"), message("select k, median(v) group by k"));
        for (bytes, reason) in [(&sums[..sums.len() - 1], "invalid data"), (&medians, "different plans")] {
            let mut merged = Ok(None);
            merge(&mut merged, &sums);
            merge(&mut merged, bytes);
            merge(&mut merged, &sums);
            assert!(merged.unwrap_err().to_string().contains(reason));
        }
    }
}
