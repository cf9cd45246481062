//! Where each split of a text without rows begins: behind how many numbers, and whether within a comment.
//!
//! Only who has read all splits before knows that. So workers read their splits side by side, as if no comment went across
//! the border, and then tell each other in order. Whoever needs a split that nobody works on reads it himself: splits may
//! be scanned in any order, and more than once.

use std::collections::BTreeSet;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How often a worker looks whether the split before was read until it goes to sleep. A split takes less time than waking
/// up again.
const LOOKS: u32 = 4000;

/// What is known of the text before a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// How many numbers begin before it.
    pub(super) numbers: u64,
    /// Whether its first bytes are within a comment.
    pub(super) in_comment: bool,
}

pub(super) struct Chain {
    state: Mutex<State>,
    moved: Condvar,
    /// How many starts are known.
    known: AtomicU64,
}

struct State {
    /// The starts of the first splits.
    known: Vec<Start>,
    /// The splits that somebody reads.
    working: BTreeSet<u64>,
}

impl Chain {
    pub(super) fn new() -> Self {
        let first = Start { numbers: 0, in_comment: false };
        let state = State { known: vec![first], working: BTreeSet::new() };
        Self { state: Mutex::new(state), moved: Condvar::new(), known: AtomicU64::new(1) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note that the caller reads a split, until the claim is dropped or told the end.
    pub(super) fn claim(&self, split: u64) -> Claim<'_> {
        self.lock().working.insert(split);
        Claim { chain: self, split }
    }

    /// Where a split starts. `read` reads a split that nobody else does, and returns where the next one starts.
    ///
    /// # Errors
    /// That of `read`.
    pub(super) fn start_of<E>(
        &self,
        split: u64,
        mut read: impl FnMut(u64, Start) -> Result<Start, E>,
    ) -> Result<Start, E> {
        let is_unknown = || self.known.load(Ordering::Acquire) <= split;
        (0..LOOKS).take_while(|_| is_unknown()).for_each(|_| spin_loop());
        let mut state = self.lock();
        loop {
            if let Some(start) = usize::try_from(split).ok().and_then(|split| state.known.get(split)) {
                return Ok(*start);
            }
            let (last, start) = (state.known.len() as u64 - 1, state.known[state.known.len() - 1]);
            if state.working.contains(&last) {
                state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let claim = self.claim(last);
            let end = read(last, start)?;
            claim.ends(end);
            state = self.lock();
        }
    }
}

/// A split that somebody reads.
pub(super) struct Claim<'c> {
    chain: &'c Chain,
    split: u64,
}

impl Claim<'_> {
    /// Tells where the next split starts.
    pub(super) fn ends(self, next: Start) {
        let mut state = self.chain.lock();
        if state.known.len() as u64 == self.split + 1 {
            state.known.push(next);
            self.chain.known.store(state.known.len() as u64, Ordering::Release);
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.chain.lock().working.remove(&self.split);
        self.chain.moved.notify_all();
    }
}
