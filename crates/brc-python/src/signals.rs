//! Runs work while other Python threads continue, and lets Ctrl-C interrupt it.

use crate::warnings;
use brc_core::interrupt;
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The interval between checks for Ctrl-C.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(40);

/// Runs work on another thread, while this one checks for signals and calls `meanwhile` regularly. If either raises,
/// the work is interrupted and the exception is raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    meanwhile: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let worker = scope.spawn(move || {
            let result = work();
            // The receiver is gone only if it stopped waiting after an interrupt.
            let _ = sender.send(());
            result
        });
        // A panicking worker drops its sender, which ends the wait.
        let receiver = Mutex::new(receiver);
        let wait = || receiver.lock().recv_timeout(CHECK_INTERVAL);
        while py.detach(wait) == Err(RecvTimeoutError::Timeout) {
            if let Err(raised) = py.check_signals().and_then(|()| meanwhile()) {
                interrupt::request();
                let _ = py.detach(|| worker.join());
                interrupt::clear();
                return Err(raised);
            }
        }
        match py.detach(|| worker.join()) {
            Ok(result) => {
                warnings::emit(py)?;
                Ok(result)
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Like [`watched`], without a callback.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    watched(py, || Ok(()), work)
}

/// Whether this is the thread on which Python handles signals, as far as it can be determined.
pub(crate) fn is_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::thread::gettid() == rustix::process::getpid();
    #[cfg(not(target_os = "linux"))]
    return false;
}
