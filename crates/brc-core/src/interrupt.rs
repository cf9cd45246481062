//! Cancels running work, because its result is no longer needed.
//!
//! Like a signal, a request applies to the whole process: a signal handler calls [`request`], and
//! [scans](crate::scan()) and other long work [check](check()) regularly and end with [`Error::Interrupted`]. A loop
//! that cannot fail may simply stop early; its caller then checks and discards the result.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Requests cancellation of all work in this process. Returns whether this is the first request.
pub fn request() -> bool {
    !IS_REQUESTED.swap(true, Relaxed)
}

/// Withdraws the request, so that new work can run.
pub fn clear() {
    IS_REQUESTED.store(false, Relaxed);
}

/// To be called by long-running work several times a second.
///
/// # Errors
/// [`Error::Interrupted`] if cancellation was requested.
#[inline]
pub fn check() -> Result<()> {
    if IS_REQUESTED.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}
