//! Starts writing a file to disk while it is still being produced, so that the final sync has little left to do.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// The number of bytes written between two background syncs.
const STEP: u64 = 32 << 20;

/// Syncs a file in the background at intervals.
pub(crate) struct WriteBack {
    written: AtomicU64,
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl WriteBack {
    /// Whether a sync writes only this file: on macOS, it flushes the drive's cache each time.
    pub(crate) const IS_CHEAP: bool = cfg!(not(target_vendor = "apple"));

    /// Starts syncing the file.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new().spawn(move || work(&file, &woken))?;
        Ok(Self { written: AtomicU64::new(0), wake, thread })
    }

    /// Counts written bytes.
    pub(crate) fn wrote(&self, bytes: usize) {
        let before = self.written.fetch_add(bytes as u64, Relaxed);
        if before / STEP != (before + bytes as u64) / STEP {
            // If a sync is running, the next one covers these bytes.
            let _ = self.wake.try_send(());
        }
    }

    /// Stops the background thread.
    pub(crate) fn end(self) {
        drop(self.wake);
        // An error there occurs again in the final sync.
        let _ = self.thread.join();
    }
}

fn work(file: &File, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        if file.sync_data().is_err() {
            return;
        }
    }
}
