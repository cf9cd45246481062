//! Ctrl-C and its like end a run as they always do, but not before its half-written files are gone. At the prompt, Ctrl-C ends
//! what is computed, and not the run.

use brc_compare::remove_directory;
use brc_core::interrupt;
use rustix::process::Signal;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// The signals that end a process unless it handles them, but for those that tell of a fault in the program itself, those
/// that nobody can handle, and those for programs' own use (`SIGRTMIN` and on).
const ENDING: &[Signal] = &[
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::ABORT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::TERM,
    #[cfg(target_os = "linux")]
    Signal::STKFLT,
    Signal::XCPU,
    Signal::VTALARM,
    Signal::PROF,
    // Elsewhere it is ignored by default.
    #[cfg(target_os = "linux")]
    Signal::IO,
    #[cfg(target_os = "linux")]
    Signal::POWER,
];

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
    let is_ignored = ignored_signals();
    let wanted: Vec<_> = ENDING.iter().map(|signal| signal.as_raw()).filter(|&signal| !is_ignored(signal)).collect();
    let (ready, is_ready) = sync_channel::<()>(1);
    let wait_for_one = move || {
        let signals = Signals::new(wanted);
        drop(ready);
        if let Some(signal) = signals.ok().and_then(|mut signals| signals.forever().find(|signal| ends_run(*signal))) {
            let clean_ups = std::mem::take(&mut *clean_ups());
            clean_ups.into_iter().for_each(|clean_up| clean_up());
            let _ = emulate_default_handler(signal);
            // It does not know all signals. A shell would say that of one that ended by it.
            std::process::exit(128 + signal);
        }
    };
    // Without a thread the run is as good, and signals must do what they do by themselves; only then a temporary file
    // stays until the next run.
    if std::thread::Builder::new().spawn(wait_for_one).is_ok() {
        let _ = is_ready.recv();
    }
}

/// Whether a signal ends the run, and not just a statement of it.
fn ends_run(signal: i32) -> bool {
    let is_of_statement = signal == Signal::INT.as_raw() && ENDS_STATEMENTS.load(Ordering::Relaxed);
    !(is_of_statement && interrupt::request())
}

/// Makes a write that would exceed the allowed size of files (`ulimit -f`) an error, as on a full disk, and no signal.
pub(crate) fn take_large_files_for_errors() {
    // A handler that only takes note is enough: what matters is that there is one.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}

/// Tells the signals that whoever started the process chose to have ignored, as `nohup` does: they stay ignored.
#[cfg(not(target_vendor = "apple"))]
fn ignored_signals() -> impl Fn(i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Signal 1 is the lowest bit.
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    move |signal| mask >> (signal - 1) & 1 == 1
}

#[cfg(target_vendor = "apple")]
fn ignored_signals() -> impl Fn(i32) -> bool {
    brc_kernels::apple::ignores
}
