//! Ends what is computed before it is done, because whoever waited for it no longer does.
//!
//! A signal is one of the process, and so is this: whoever handles it calls [`request`], whatever threads are at work.
//! [Scans](crate::scan()) and other long work [check](check()) now and then, and end with [`Error::Interrupted`]. A loop that
//! cannot fail may leave off in the middle instead: whoever wanted what it makes checks behind it, and throws it away.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Has all work of this process end that checks. Returns whether it was not to end already.
pub fn request() -> bool {
    !IS_REQUESTED.swap(true, Relaxed)
}

/// Lets work go on that begins from now on.
pub fn clear() {
    IS_REQUESTED.store(false, Relaxed);
}

/// To be called by work that takes long, at least some times a second.
///
/// # Errors
/// [`Error::Interrupted`] if it is to end.
#[inline]
pub fn check() -> Result<()> {
    if IS_REQUESTED.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}
