//! The start of each split of a text without rows: the number of numbers before it, and whether it is in a comment.
//!
//! It depends on all earlier splits. So workers parse their splits in parallel, assuming that no comment crosses the
//! border, and then pass on the result in order. A worker that needs a split which no worker has claimed parses it
//! itself: splits may be scanned in any order, and more than once.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeSet;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of times a worker polls for the previous split before it sleeps. A split takes less time than a wakeup.
const POLLS: u32 = 4000;

/// The state of the text before a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SplitStart {
    /// The number of numbers that begin before it.
    pub(super) numbers: u64,
    /// Whether its first bytes are within a comment.
    pub(super) in_comment: bool,
}

pub(super) struct Chain {
    state: Mutex<State>,
    /// Signals that a start is known, or a claim has ended.
    changed: Condvar,
    /// The number of known starts.
    known: AtomicU64,
}

struct State {
    /// The starts of the first splits.
    known: Vec<SplitStart>,
    /// The splits being read.
    working: BTreeSet<u64>,
}

impl Chain {
    pub(super) fn new() -> Self {
        let first = SplitStart { numbers: 0, in_comment: false };
        let state = State { known: vec![first], working: BTreeSet::new() };
        Self { state: Mutex::new(state), changed: Condvar::new(), known: AtomicU64::new(1) }
    }

    /// Claims a split for the caller, until the claim is dropped or its end is reported.
    pub(super) fn claim(&self, split: u64) -> Claim<'_> {
        self.state.lock().working.insert(split);
        Claim { chain: self, split }
    }

    /// The start of a split. `read` reads an unclaimed split, and returns the start of the next one.
    ///
    /// # Errors
    /// That of `read`.
    pub(super) fn start_of<E>(
        &self,
        split: u64,
        mut read: impl FnMut(u64, SplitStart) -> Result<SplitStart, E>,
    ) -> Result<SplitStart, E> {
        let is_unknown = || self.known.load(Ordering::Acquire) <= split;
        (0..POLLS).take_while(|_| is_unknown()).for_each(|_| spin_loop());
        let mut state = self.state.lock();
        loop {
            if let Some(start) = usize::try_from(split).ok().and_then(|split| state.known.get(split)) {
                return Ok(*start);
            }
            let (last, start) = (state.known.len() as u64 - 1, state.known[state.known.len() - 1]);
            if state.working.contains(&last) {
                self.changed.wait(&mut state);
                continue;
            }
            drop(state);
            let claim = self.claim(last);
            let end = read(last, start)?;
            claim.ends(end);
            state = self.state.lock();
        }
    }
}

/// A split claimed by a worker.
pub(super) struct Claim<'c> {
    chain: &'c Chain,
    split: u64,
}

impl Claim<'_> {
    /// Reports the start of the next split.
    pub(super) fn ends(self, next: SplitStart) {
        let mut state = self.chain.state.lock();
        if state.known.len() as u64 == self.split + 1 {
            state.known.push(next);
            self.chain.known.store(state.known.len() as u64, Ordering::Release);
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.chain.state.lock().working.remove(&self.split);
        self.chain.changed.notify_all();
    }
}
