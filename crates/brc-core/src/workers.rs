//! Runs a task on several threads, or on as many as the system allows.
//!
//! Workers take the next free item of work, so with fewer workers the result is the same, only later.

use crate::processors::Processors;
use std::thread::{Builder, scope};

/// Runs `work` on this thread and up to `threads - 1` others concurrently and returns all results, this thread's first.
/// If the system refuses to start a thread, the threads already running do all the work.
///
/// # Panics
/// If `work` panics.
pub fn run_workers<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    if threads < 2 {
        return vec![work()];
    }
    let processors = Processors::new();
    let other = || {
        processors.start();
        work()
    };
    scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, other).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        // A new thread that waits for this processor gets to run for long enough to move to another.
        std::thread::yield_now();
        let mut results = vec![work()];
        results.extend(others.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }));
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn workers_run_at_the_same_time() {
        let (barrier, next) = (Barrier::new(4), AtomicUsize::new(0));
        let mut found = run_workers(4, || {
            barrier.wait();
            next.fetch_add(1, Relaxed)
        });
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3]);
    }

    #[test]
    fn this_thread_works_too() {
        let this = std::thread::current().id();
        for threads in [0, 1] {
            assert_eq!(run_workers(threads, || std::thread::current().id()), [this]);
        }
    }
}
