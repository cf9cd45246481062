//! Partials on their way between the workers of all processes.

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

/// A message has no more bytes, unless a single group has.
const LONGEST: u64 = 1 << 22;

/// The worker that a message is for, and a serialised partial.
type Sent = (u64, Vec<u8>);

/// Sends partials, each to the worker of that number. Returns once all workers have sent theirs: what those sent to
/// this worker come to, if any did.
///
/// # Errors
/// If what arrives is no partial, or of a different plan. What the others send is not waited for then.
pub(crate) fn exchange(worker: &mut Worker, partials: Vec<(usize, Partial)>) -> Result<Option<Partial>> {
    let received: Rc<RefCell<Result<Option<Partial>>>> = Rc::new(RefCell::new(Ok(None)));
    let mut input = InputHandle::new();
    let merged = Rc::clone(&received);
    worker.dataflow::<u64, _, _>(|scope| {
        let pact = DistributorPact(|_| OneByOne);
        scope.input_from(&mut input).sink(pact, "merge", move |(input, _)| {
            input.for_each(|_, messages: &mut Vec<Sent>| {
                for (_, bytes) in messages.drain(..) {
                    merge(&mut merged.borrow_mut(), &bytes);
                }
            });
        });
    });
    for (target, partial) in partials {
        each_message(partial, LONGEST, &mut |bytes| {
            input.send((target as u64, bytes));
            input.flush();
            // What has arrived is merged meanwhile.
            worker.step();
        })?;
    }
    input.close();
    while worker.has_dataflows() && received.borrow().is_ok() {
        worker.step_or_park(None);
    }
    received.replace(Ok(None))
}

/// Adds a partial that arrived, unless something was wrong before.
fn merge(merged: &mut Result<Option<Partial>>, bytes: &[u8]) {
    let Ok(known) = merged else { return };
    let outcome = match (bincode::deserialize::<Partial>(bytes), known) {
        (Err(error), _) => Err(Error::Usage(format!("what another process sent makes no sense: {error}"))),
        (Ok(partial), Some(known)) => known.merge(partial),
        (Ok(partial), known @ None) => {
            *known = Some(partial);
            Ok(())
        }
    };
    if let Err(error) = outcome {
        *merged = Err(error);
    }
}

/// Calls `each` with a serialised partial, or with several that have its groups, if it is longer than `longest` bytes.
fn each_message(partial: Partial, longest: u64, each: &mut dyn FnMut(Vec<u8>)) -> Result<()> {
    let unsound = |error| Error::Expression(format!("groups cannot be sent: {error}"));
    let (bytes, groups) = (bincode::serialized_size(&partial).map_err(unsound)?, partial.groups());
    if bytes <= longest || groups <= 1 {
        each(bincode::serialize(&partial).map_err(unsound)?);
        return Ok(());
    }
    let messages = usize::try_from(bytes.div_ceil(longest)).unwrap_or(usize::MAX);
    let chunks = partial.chunks(groups.div_ceil(messages).min(groups - 1));
    chunks.into_iter().try_for_each(|chunk| each_message(chunk, longest, each))
}

/// Sends each message by itself: timely's own exchange collects hundreds of small ones in one.
struct OneByOne;

impl Distributor<Vec<Sent>> for OneByOne {
    fn partition<T: Clone, P: Push<Message<T, Vec<Sent>>>>(
        &mut self,
        messages: &mut Vec<Sent>,
        stamp: &Stamp<T>,
        pushers: &mut [P],
    ) {
        let peers = pushers.len() as u64;
        for message in messages.drain(..) {
            let pusher = &mut pushers[(message.0 % peers) as usize];
            Message::push_at(&mut vec![message], stamp.clone(), pusher);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Vec<Sent>>>>(&mut self, _: &Stamp<T>, _: &mut [P]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{Progress, Schema, Table};
    use brc_query::{Plan, Query, ScanTotals};
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
    fn long_partials_are_sent_in_parts() {
        let directory = tempfile::tempdir().unwrap();
        let table = table(directory.path());
        for (text, longest, fits) in [
            ("select k, sum(v), max(k) group by k", 1000, true),
            ("select k, median(v) group by k", 300, true),
            // A group is never cut.
            ("select k, median(v) group by k", 1, false),
            ("select median(v)", 1000, false),
        ] {
            let plan = plan(text);
            let (partial, _) = plan.partial(&*table, 2, &Progress::default()).unwrap();
            let (mut lengths, mut merged) = (Vec::new(), Ok(None));
            each_message(partial.clone(), longest, &mut |bytes| {
                lengths.push(bytes.len() as u64);
                merge(&mut merged, &bytes);
            })
            .unwrap();
            assert_eq!(lengths.iter().all(|&length| length <= longest), fits, "{text}: {lengths:?}");
            let rows = |partial: Option<Partial>| {
                let answer = plan.answer(partial, ScanTotals::default()).unwrap();
                let rows: Vec<String> = answer.rows().map(|row| format!("{:?}", row.collect::<Vec<_>>())).collect();
                rows
            };
            assert_eq!(rows(merged.unwrap()), rows(Some(partial)), "{text}");
        }
    }

    #[test]
    fn what_arrives_is_checked() {
        let directory = tempfile::tempdir().unwrap();
        let table = table(directory.path());
        let message = |text: &str| {
            let (partial, _) = plan(text).partial(&*table, 1, &Progress::default()).unwrap();
            bincode::serialize(&partial).unwrap()
        };
        let (sums, medians) = (message("select k, sum(v) group by k"), message("select k, median(v) group by k"));
        for (bytes, reason) in [(&sums[..sums.len() - 1], "makes no sense"), (&medians, "different plans")] {
            let mut merged = Ok(None);
            merge(&mut merged, &sums);
            merge(&mut merged, bytes);
            merge(&mut merged, &sums);
            assert!(merged.unwrap_err().to_string().contains(reason));
        }
    }
}
