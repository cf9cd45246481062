//! The threads that run requests, and how other threads wait for them.

use brc_core::interrupt;
use std::io;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// The interval at which a waiting thread checks for interruption.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).thread_name("brc-store").enable_all().build());

/// The runtime of requests.
///
/// # Errors
/// The system's, if no thread can be started.
pub(crate) fn handle() -> io::Result<&'static Handle> {
    match &*RUNTIME {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
}

/// Waits for the result of a future, on a thread that may block, or on one of a different runtime.
///
/// # Errors
/// [`Interrupted`](brc_core::Error::Interrupted), inside an I/O error, if the user has cancelled.
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = channel();
    // The waiting thread may have given up.
    let task = handle()?.spawn(async move { drop(sender.send(future.await)) });
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => check().inspect_err(|_| task.abort())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the request was given up"));
            }
        }
    }
}

/// Checks for interruption.
///
/// # Errors
/// [`Interrupted`](brc_core::Error::Interrupted), inside an I/O error, if the user has cancelled.
pub(crate) fn check() -> io::Result<()> {
    interrupt::check().map_err(io::Error::other)
}
