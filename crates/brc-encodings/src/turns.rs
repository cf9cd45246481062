//! Lets workers read a source in order that cannot be read otherwise: a stream, or rows whose starts are unknown.

use brc_core::Error;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// A source of which each split is read by one worker, after the earlier splits.
pub(crate) struct Turns<T> {
    state: Mutex<State<T>>,
    passed: Condvar,
}

struct State<T> {
    /// The next split to read.
    next: u64,
    source: T,
}

/// The source, positioned at a split. Dropping it, also by a panic, lets the worker of the next split read.
pub(crate) struct Turn<'a, T> {
    state: MutexGuard<'a, State<T>>,
    passed: &'a Condvar,
}

impl<T> Turns<T> {
    pub(crate) fn new(source: T) -> Self {
        Self { state: Mutex::new(State { next: 0, source }), passed: Condvar::new() }
    }

    /// Waits until all earlier splits have been read; `None` if this one has been, too.
    pub(crate) fn turn(&self, split: u64) -> Option<Turn<'_, T>> {
        let mut state = self.state.lock();
        while state.next < split {
            self.passed.wait(&mut state);
        }
        (state.next == split).then(|| Turn { state, passed: &self.passed })
    }

    /// Calls `look` with the source, at whatever split it is.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.state.lock().source)
    }

    /// The source before it is shared.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.state.get_mut().source
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state.source
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state.source
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.state.next += 1;
        self.passed.notify_all();
    }
}

/// The error of a second scan of a source without a copy.
pub(crate) fn read_once(path: &Path) -> Error {
    Error::unsupported(path, "is a stream, which is read only once")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    #[test]
    fn splits_are_read_in_order_and_once() {
        let turns = Turns::new(Vec::new());
        thread::scope(|scope| {
            for split in (0..8).rev() {
                let turns = &turns;
                scope.spawn(move || turns.turn(split).map(|mut read| read.push(split)));
            }
        });
        assert_eq!(turns.look(Vec::clone), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(turns.turn(3).is_none());
    }

    #[test]
    fn a_panic_does_not_stop_later_splits() {
        let turns = Turns::new(0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _turn = turns.turn(0);
            panic!("a test");
        }));
        assert!(panicked.is_err() && turns.turn(1).is_some());
    }
}
