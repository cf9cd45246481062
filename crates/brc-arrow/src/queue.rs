//! A queue of record batches from several workers to one reader, which receives them in table order.

use arrow_array::RecordBatch;
use brc_core::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Record batches of splits that several workers scan at the same time. Batches of the reader's current split are added
/// without waiting; the others wait while the queue exceeds its bound.
pub(crate) struct Queue {
    /// In bytes.
    bound: usize,
    state: Mutex<State>,
    /// Signals that the state has changed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The reader's current split, counted from the first scanned one.
    next: u64,
    /// The splits from this one on are not delivered: one failed.
    end: Option<u64>,
    splits: BTreeMap<u64, SplitQueue>,
    /// The size of all batches in the queue, in bytes.
    bytes: usize,
    /// Whether the reader was dropped.
    is_closed: bool,
    /// The result of the scan, once it has ended.
    outcome: Option<Result<()>>,
}

#[derive(Default)]
struct SplitQueue {
    batches: VecDeque<(RecordBatch, usize)>,
    is_complete: bool,
}

impl Queue {
    pub(crate) fn new(bound: usize) -> Self {
        Self { bound, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Adds a batch of a split.
    ///
    /// # Errors
    /// [`Error::Stopped`] if it will not be read.
    pub(crate) fn push(&self, split: u64, batch: RecordBatch) -> Result<()> {
        let bytes = batch.get_array_memory_size();
        let mut state = self.state.lock();
        let is_over = |state: &State| state.is_closed || state.end.is_some_and(|end| split > end);
        while split > state.next && state.bytes + bytes > self.bound && !is_over(&state) {
            self.changed.wait(&mut state);
        }
        if is_over(&state) {
            return Err(Error::Stopped);
        }
        state.bytes += bytes;
        state.splits.entry(split).or_default().batches.push_back((batch, bytes));
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Marks a split as complete.
    pub(crate) fn finish_split(&self, split: u64) {
        self.state.lock().splits.entry(split).or_default().is_complete = true;
        self.changed.notify_all();
    }

    /// Marks a split as failed: neither it nor later ones are delivered.
    pub(crate) fn abandon(&self, split: u64) {
        let mut state = self.state.lock();
        state.end = Some(state.end.map_or(split, |end| end.min(split)));
        drop(state);
        self.changed.notify_all();
    }

    /// Records the result of the scan.
    pub(crate) fn finish(&self, outcome: Result<()>) {
        self.state.lock().outcome = Some(outcome);
        self.changed.notify_all();
    }

    /// Records that the reader was dropped.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.splits.clear();
        drop(state);
        self.changed.notify_all();
    }

    /// The next batch; `None` after the last one. [`Poll::Pending`] if none arrives within `patience`.
    ///
    /// # Errors
    /// The error of the scan, after the batches of all splits before the failed one.
    pub(crate) fn pop_within(&self, patience: Duration) -> Poll<Result<Option<RecordBatch>>> {
        let begun = Instant::now();
        let mut state = self.state.lock();
        loop {
            let next = state.next;
            if let Some(of_split) = state.splits.get_mut(&next) {
                if let Some((batch, bytes)) = of_split.batches.pop_front() {
                    state.bytes -= bytes;
                    drop(state);
                    self.changed.notify_all();
                    return Poll::Ready(Ok(Some(batch)));
                }
                if of_split.is_complete {
                    state.splits.remove(&next);
                    state.next += 1;
                    // Batches of the new current split no longer wait.
                    self.changed.notify_all();
                    continue;
                }
            }
            match state.outcome.take() {
                Some(Ok(())) => {
                    state.outcome = Some(Ok(()));
                    return Poll::Ready(Ok(None));
                }
                Some(Err(error)) => {
                    // The error is returned once; then the queue is at its end.
                    (state.outcome, state.splits) = (Some(Ok(())), BTreeMap::new());
                    return Poll::Ready(Err(error));
                }
                None => {
                    let waited = self.changed.wait_for(&mut state, patience.saturating_sub(begun.elapsed()));
                    if waited.timed_out() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}
