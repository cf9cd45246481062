//! Handling of Ctrl-C and Ctrl-Break on Windows.

/// The exit code of a process that Ctrl-C ends: `STATUS_CONTROL_C_EXIT`.
const CTRL_C_EXIT: i32 = 0xC000_013A_u32.cast_signed();

/// Handles Ctrl-C: if it ends the process according to `ends_process`, calls `clean_up` first.
pub(super) fn watch(ends_process: fn(is_interrupt: bool) -> bool, clean_up: fn()) {
    // Without a handler, temporary files are removed by the next run.
    let _ = ctrlc::set_handler(move || {
        if ends_process(true) {
            clean_up();
            std::process::exit(CTRL_C_EXIT);
        }
    });
}

/// Windows has no file size limit.
pub(crate) fn report_file_size_limit_as_error() {}
