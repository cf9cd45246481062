//! Ctrl-C and Ctrl-Break.

/// How a process ends by Ctrl-C: `STATUS_CONTROL_C_EXIT`.
const ENDED_BY_CTRL_C: i32 = 0xC000_013A_u32.cast_signed();

/// Waits on a thread for Ctrl-C; calls `clean_up` before that ends the run, if it does, as `ends_run` says.
pub(super) fn watch(ends_run: fn(is_interrupt: bool) -> bool, clean_up: fn()) {
    // Without it the run is as good; only then a temporary file stays until the next run.
    let _ = ctrlc::set_handler(move || {
        if ends_run(true) {
            clean_up();
            std::process::exit(ENDED_BY_CTRL_C);
        }
    });
}

/// Files have no largest size here.
pub(crate) fn take_large_files_for_errors() {}
