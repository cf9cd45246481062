//! Work during which other threads of Python run, and which Ctrl-C ends.

use crate::warnings;
use brc_core::interrupt;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long Ctrl-C may go unnoticed.
pub(crate) const PATIENCE: Duration = Duration::from_millis(40);

/// Does work on another thread, while this one looks for signals and calls `meanwhile` now and then. If either raises an
/// exception, the work is made to end, and then that exception is raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    meanwhile: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let worker = scope.spawn(move || {
            let made = work();
            // If nobody waits for it any more, they were told to.
            let _ = sender.send(());
            made
        });
        // Its end of the channel goes with it if it panics.
        let receiver = Mutex::new(receiver);
        let wait = || receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE);
        while py.detach(wait) == Err(RecvTimeoutError::Timeout) {
            if let Err(raised) = py.check_signals().and_then(|()| meanwhile()) {
                interrupt::request();
                let _ = py.detach(|| worker.join());
                interrupt::clear();
                return Err(raised);
            }
        }
        match py.detach(|| worker.join()) {
            Ok(made) => {
                warnings::tell(py)?;
                Ok(made)
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The same with nothing to do meanwhile.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    watched(py, || Ok(()), work)
}

/// Whether this is the thread on which Python handles signals, as far as that can be told.
pub(crate) fn is_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::thread::gettid() == rustix::process::getpid();
    #[cfg(not(target_os = "linux"))]
    return false;
}
