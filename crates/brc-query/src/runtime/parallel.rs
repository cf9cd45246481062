//! Runs the same work for many items on several threads.

use brc_core::workers::run_workers;
use brc_core::{Result, interrupt};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The results of `of` for the numbers below `count`, in order, or the error of the lowest number that fails.
pub(crate) fn map<T: Send, E: Send>(
    count: usize,
    threads: usize,
    of: impl Fn(usize) -> std::result::Result<T, E> + Sync,
) -> std::result::Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let one = || {
        let mut found = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                return found;
            }
            found.push((number, of(number)));
        }
    };
    let mut found: Vec<_> = run_workers(threads.min(count), one).into_iter().flatten().collect();
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, result)| result).collect()
}

/// The same for work that takes long: it ends early when the query is interrupted, and then its results may be anything
/// ([`brc_core::interrupt`]).
pub(crate) fn try_map<T: Send>(count: usize, threads: usize, of: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let one = |number| {
        interrupt::check()?;
        let found = of(number)?;
        interrupt::check()?;
        Ok(found)
    };
    map(count, threads, one)
}

/// Calls `with` for each item, on several threads.
pub(crate) fn for_each<T: Send>(all: &mut [T], threads: usize, with: impl Fn(&mut T) + Sync) {
    let threads = threads.min(all.len());
    let next = Mutex::new(all.iter_mut());
    let one = || {
        loop {
            let Some(it) = next.lock().next() else { return };
            with(it);
        }
    };
    run_workers(threads, one);
}
