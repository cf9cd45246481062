//! The threads that requests run on, and how all others wait for them.

use brc_core::interrupt;
use std::io;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// How long somebody waits before looking whether it is still wanted.
pub(crate) const GLANCE: Duration = Duration::from_millis(50);

static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).thread_name("brc-store").enable_all().build());

/// Where requests run.
///
/// # Errors
/// The system's, if there are no more threads.
pub(crate) fn handle() -> io::Result<&'static Handle> {
    match &*RUNTIME {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
}

/// Waits for what a future comes to, on a thread that may block; also on one of another runtime.
///
/// # Errors
/// [`Interrupted`](brc_core::Error::Interrupted), inside an error of the system's kind, if the user no longer wants it.
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = channel();
    // Whoever waited may be gone by then.
    let task = handle()?.spawn(async move { drop(sender.send(future.await)) });
    loop {
        match receiver.recv_timeout(GLANCE) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => check().inspect_err(|_| task.abort())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the request was given up"));
            }
        }
    }
}

/// Whether to go on.
///
/// # Errors
/// [`Interrupted`](brc_core::Error::Interrupted), likewise, if not.
pub(crate) fn check() -> io::Result<()> {
    interrupt::check().map_err(io::Error::other)
}
