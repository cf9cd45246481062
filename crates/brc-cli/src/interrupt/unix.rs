//! Signals.

use rustix::process::Signal;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

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

/// Waits on a thread for a signal that ends the run, as `ends_run` says of Ctrl-C and of others; calls `clean_up` before it does.
pub(super) fn watch(ends_run: fn(is_interrupt: bool) -> bool, clean_up: fn()) {
    let is_ignored = ignored_signals();
    let wanted: Vec<_> = ENDING.iter().map(|signal| signal.as_raw()).filter(|&signal| !is_ignored(signal)).collect();
    let (ready, is_ready) = sync_channel::<()>(1);
    let wait_for_one = move || {
        let signals = Signals::new(wanted);
        drop(ready);
        let is_last = |signal: &i32| ends_run(*signal == Signal::INT.as_raw());
        if let Some(signal) = signals.ok().and_then(|mut signals| signals.forever().find(is_last)) {
            clean_up();
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
