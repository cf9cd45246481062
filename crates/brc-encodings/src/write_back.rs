//! Starts writing a file to disk while it is still being produced, so that the final sync has little left to do.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// How many bytes are written before the disk is set to work on them.
const STEP: u64 = 32 << 20;

/// Syncs a file in the background, every now and then.
pub(crate) struct WriteBack {
    written: AtomicU64,
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl WriteBack {
    /// Whether a sync has only that file written: on macOS, the drive empties its cache each time.
    pub(crate) const IS_CHEAP: bool = cfg!(not(target_vendor = "apple"));

    /// Does so for that file.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new().spawn(move || work(&file, &woken))?;
        Ok(Self { written: AtomicU64::new(0), wake, thread })
    }

    /// Takes note of bytes that were written.
    pub(crate) fn wrote(&self, bytes: usize) {
        let before = self.written.fetch_add(bytes as u64, Relaxed);
        if before / STEP != (before + bytes as u64) / STEP {
            // If it is at work already, it will get these bytes the next time.
            let _ = self.wake.try_send(());
        }
    }

    /// Ends it.
    pub(crate) fn end(self) {
        drop(self.wake);
        // What went wrong there will do so again when the whole file is synced.
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
