//! The transfer statistics of all files in stores.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static FETCHED: AtomicU64 = AtomicU64::new(0);
static NEEDED: AtomicU64 = AtomicU64::new(0);

/// What this process requested from stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// The number of requests, including retries.
    pub requests: u64,
    /// The number of bytes received.
    pub fetched: u64,
    /// The number of those that were read.
    pub needed: u64,
}

/// The statistics so far.
#[must_use]
pub fn usage() -> Usage {
    Usage { requests: REQUESTS.load(Relaxed), fetched: FETCHED.load(Relaxed), needed: NEEDED.load(Relaxed) }
}

pub(crate) fn count_request() {
    REQUESTS.fetch_add(1, Relaxed);
}

pub(crate) fn count_fetched(bytes: usize) {
    FETCHED.fetch_add(bytes as u64, Relaxed);
}

pub(crate) fn count_needed(bytes: u64) {
    NEEDED.fetch_add(bytes, Relaxed);
}
