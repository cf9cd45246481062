//! Ctrl-C and its like end a run as they always do, but not before its half-written files are gone.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::path::Path;

/// Sees to it that a signal that ends the process takes the unfinished files along.
pub(crate) fn clean_up_when_killed() {
    before_end(brc_encodings::output::remove_unfinished);
}

/// Like [`clean_up_when_killed`], and a directory that is not to stay goes too.
pub(crate) fn clean_up_when_killed_with(directory: &Path) {
    let directory = directory.to_owned();
    before_end(move || {
        brc_encodings::output::remove_unfinished();
        // Nobody is left to tell if it fails.
        let _ = remove_directory(&directory);
    });
}

/// Removes a directory in which another process, one that is about to end, may be making a file right now.
///
/// # Errors
/// The system's.
pub(crate) fn remove_directory(directory: &Path) -> io::Result<()> {
    /// How often a directory is removed that is not empty again and again.
    const ATTEMPTS: u32 = 20;
    let attempt = || match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    (1..ATTEMPTS).find_map(|_| attempt().ok()).map_or_else(attempt, Ok)
}

fn before_end(clean_up: impl FnOnce() + Send + 'static) {
    let ignored = ignored_signals();
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without a handler the run is as good; only a kill would leave a temporary file.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            clean_up();
            let _ = emulate_default_handler(signal);
        }
    });
}

/// The signals that whoever started the process chose to have ignored, as `nohup` does: they stay ignored. Signal 1 is
/// the lowest bit.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
