//! Signal handling on Unix.

use rustix::process::Signal;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

/// The signals that end a process by default, except those that report a fault of the program itself, those that cannot
/// be handled, and those reserved for applications (`SIGRTMIN` and above).
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
    // Other systems ignore it by default.
    #[cfg(target_os = "linux")]
    Signal::IO,
    #[cfg(target_os = "linux")]
    Signal::POWER,
];

/// Waits on a thread for a signal that ends the process according to `ends_process`, and calls `clean_up` before it
/// does.
pub(super) fn watch(ends_process: fn(is_interrupt: bool) -> bool, clean_up: fn()) {
    let is_ignored = ignored_signals();
    let wanted: Vec<_> = ENDING.iter().map(|signal| signal.as_raw()).filter(|&signal| !is_ignored(signal)).collect();
    let (ready, is_ready) = sync_channel::<()>(1);
    let wait_for_signal = move || {
        let signals = Signals::new(wanted);
        drop(ready);
        let is_last = |signal: &i32| ends_process(*signal == Signal::INT.as_raw());
        if let Some(signal) = signals.ok().and_then(|mut signals| signals.forever().find(is_last)) {
            clean_up();
            let _ = emulate_default_handler(signal);
            // Signals without a known default end the process with the exit code that a shell reports for a signal.
            std::process::exit(128 + signal);
        }
    };
    // If no thread can be started, signals keep their default effect; temporary files are then removed by the next run.
    if std::thread::Builder::new().spawn(wait_for_signal).is_ok() {
        let _ = is_ready.recv();
    }
}

/// Turns a write beyond the file size limit (`ulimit -f`) into an error like that of a full disk, instead of a signal.
pub(crate) fn report_file_size_limit_as_error() {
    // Any handler suffices; it only has to exist.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}

/// Finds the signals that were ignored when the process was started, as by `nohup`; they stay ignored.
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
