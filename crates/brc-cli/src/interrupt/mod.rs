//! Removes unfinished files before a signal ends the process. At the prompt, Ctrl-C ends the current statement rather
//! than the process.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::report_file_size_limit_as_error;

use brc_core::interrupt;
use brc_encodings::remove_directory;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// A function to run before a signal ends the process; they run in the order of registration.
type CleanUp = Box<dyn FnOnce() + Send>;
/// Whether Ctrl-C ends the current statement.
static ENDS_STATEMENTS: AtomicBool = AtomicBool::new(false);

static CLEAN_UPS: Mutex<Vec<CleanUp>> = Mutex::new(Vec::new());

/// Removes unfinished files when a signal ends the process.
pub(crate) fn clean_up_when_killed() {
    before_end(brc_encodings::remove_unfinished);
}

/// Like [`clean_up_when_killed`]; also removes a temporary directory.
pub(crate) fn clean_up_when_killed_with(directory: &Path) {
    let directory = directory.to_owned();
    before_end(move || {
        brc_encodings::remove_unfinished();
        // A failure cannot be reported any more.
        let _ = remove_directory(&directory);
    });
}

/// Registers a function to run before a signal ends the process.
pub(crate) fn before_end(clean_up: impl FnOnce() + Send + 'static) {
    static WATCHER: Once = Once::new();
    CLEAN_UPS.lock().push(Box::new(clean_up));
    WATCHER.call_once(watch);
}

/// Makes Ctrl-C end the current statement; a second one before [`resume`] ends the process.
pub(crate) fn end_statements() {
    ENDS_STATEMENTS.store(true, Ordering::Relaxed);
    before_end(|| {});
}

/// Clears an earlier interrupt before a statement starts.
pub(crate) fn resume() {
    interrupt::clear();
}

fn watch() {
    system::watch(ends_process, || std::mem::take(&mut *CLEAN_UPS.lock()).into_iter().for_each(|clean_up| clean_up()));
}

/// Whether a signal ends the process rather than a statement.
fn ends_process(is_interrupt: bool) -> bool {
    let may_end_statement = is_interrupt && ENDS_STATEMENTS.load(Ordering::Relaxed);
    !(may_end_statement && interrupt::request())
}
