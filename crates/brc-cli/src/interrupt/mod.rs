//! Ctrl-C and its like end a run as they always do, but not before its half-written files are gone. At the prompt, Ctrl-C ends
//! what is computed, and not the run.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::take_large_files_for_errors;

use brc_compare::remove_directory;
use brc_core::interrupt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// What is to be done before a signal ends the process, in this order.
type CleanUp = Box<dyn FnOnce() + Send>;
/// Whether Ctrl-C ends what is computed.
static ENDS_STATEMENTS: AtomicBool = AtomicBool::new(false);

static CLEAN_UPS: Mutex<Vec<CleanUp>> = Mutex::new(Vec::new());

/// Sees to it that a signal that ends the process takes the unfinished files along.
pub(crate) fn clean_up_when_killed() {
    before_end(brc_encodings::remove_unfinished);
}

/// Like [`clean_up_when_killed`], and a directory that is not to stay goes too.
pub(crate) fn clean_up_when_killed_with(directory: &Path) {
    let directory = directory.to_owned();
    before_end(move || {
        brc_encodings::remove_unfinished();
        // Nobody is left to tell if it fails.
        let _ = remove_directory(&directory);
    });
}

/// Has something done before a signal ends the process.
pub(crate) fn before_end(clean_up: impl FnOnce() + Send + 'static) {
    static WATCHER: Once = Once::new();
    clean_ups().push(Box::new(clean_up));
    WATCHER.call_once(watch);
}

/// Has Ctrl-C end what is computed and not the run, from now on: only a second one ends the run, before [`resume`].
pub(crate) fn end_statements() {
    ENDS_STATEMENTS.store(true, Ordering::Relaxed);
    before_end(|| {});
}

/// Begins a statement that Ctrl-C may end.
pub(crate) fn resume() {
    interrupt::clear();
}

fn clean_ups() -> MutexGuard<'static, Vec<CleanUp>> {
    CLEAN_UPS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch() {
    system::watch(ends_run, || std::mem::take(&mut *clean_ups()).into_iter().for_each(|clean_up| clean_up()));
}

/// Whether a signal ends the run, and not just a statement of it.
fn ends_run(is_interrupt: bool) -> bool {
    let is_of_statement = is_interrupt && ENDS_STATEMENTS.load(Ordering::Relaxed);
    !(is_of_statement && interrupt::request())
}
