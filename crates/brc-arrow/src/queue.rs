//! Record batches on their way from several workers to one reader, who gets them in the order of the table.

use arrow_array::RecordBatch;
use brc_core::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Batches of splits that several workers read at the same time. Those of the split that the reader is at never wait; all
/// others do while more bytes than a bound are in the queue.
pub(crate) struct Queue {
    /// In bytes.
    bound: usize,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// The split that the reader is at, counted from the first that is scanned.
    next: u64,
    /// The splits from which on nothing will come: one failed.
    end: Option<u64>,
    splits: BTreeMap<u64, OfSplit>,
    /// The size of all batches in the queue.
    bytes: usize,
    /// Whether there is no reader any more.
    is_closed: bool,
    /// How the scan ended, once it has.
    outcome: Option<Result<()>>,
}

#[derive(Default)]
struct OfSplit {
    batches: VecDeque<(RecordBatch, usize)>,
    is_whole: bool,
}

impl Queue {
    pub(crate) fn new(bound: usize) -> Self {
        Self { bound, state: Mutex::default(), moved: Condvar::new() }
    }

    /// Adds a batch of a split.
    ///
    /// # Errors
    /// [`Error::Stopped`] if no one will read it.
    pub(crate) fn push(&self, split: u64, batch: RecordBatch) -> Result<()> {
        let bytes = batch.get_array_memory_size();
        let mut state = self.lock();
        let is_over = |state: &State| state.is_closed || state.end.is_some_and(|end| split > end);
        while split > state.next && state.bytes + bytes > self.bound && !is_over(&state) {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if is_over(&state) {
            return Err(Error::Stopped);
        }
        state.bytes += bytes;
        state.splits.entry(split).or_default().batches.push_back((batch, bytes));
        drop(state);
        self.moved.notify_all();
        Ok(())
    }

    /// Tells that all batches of a split are there.
    pub(crate) fn finish_split(&self, split: u64) {
        self.lock().splits.entry(split).or_default().is_whole = true;
        self.moved.notify_all();
    }

    /// Tells that a split failed: it and those after it will not come.
    pub(crate) fn abandon(&self, split: u64) {
        let mut state = self.lock();
        state.end = Some(state.end.map_or(split, |end| end.min(split)));
        drop(state);
        self.moved.notify_all();
    }

    /// Tells how the scan ended.
    pub(crate) fn finish(&self, outcome: Result<()>) {
        self.lock().outcome = Some(outcome);
        self.moved.notify_all();
    }

    /// Tells that there is no reader any more.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.splits.clear();
        drop(state);
        self.moved.notify_all();
    }

    /// The next batch, as soon as it is there; `None` after the last. [`Poll::Pending`] if it is not there after so long.
    ///
    /// # Errors
    /// That of the scan, after the batches of all splits before the one that failed.
    pub(crate) fn pop_within(&self, patience: Duration) -> Poll<Result<Option<RecordBatch>>> {
        let begun = Instant::now();
        let mut state = self.lock();
        loop {
            let next = state.next;
            if let Some(of_split) = state.splits.get_mut(&next) {
                if let Some((batch, bytes)) = of_split.batches.pop_front() {
                    state.bytes -= bytes;
                    drop(state);
                    self.moved.notify_all();
                    return Poll::Ready(Ok(Some(batch)));
                }
                if of_split.is_whole {
                    state.splits.remove(&next);
                    state.next += 1;
                    // Batches of the split that is next now need not wait any more.
                    self.moved.notify_all();
                    continue;
                }
            }
            match state.outcome.take() {
                Some(Ok(())) => {
                    state.outcome = Some(Ok(()));
                    return Poll::Ready(Ok(None));
                }
                Some(Err(error)) => {
                    // It is told once; then nothing more comes.
                    (state.outcome, state.splits) = (Some(Ok(())), BTreeMap::new());
                    return Poll::Ready(Err(error));
                }
                None => {
                    let waited = self.moved.wait_timeout(state, patience.saturating_sub(begun.elapsed()));
                    let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    if timeout.timed_out() {
                        return Poll::Pending;
                    }
                    state = woken;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
