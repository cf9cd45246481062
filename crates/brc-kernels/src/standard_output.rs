//! Whether the process was started with standard output closed. Before `main`, Rust's runtime opens `/dev/null` in
//! place of a closed one, and what is written to it would be lost without an error.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::BorrowedFd;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The loader calls it before Rust's runtime begins.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: functions in this section are called without arguments that they need, and this one has that ABI.
#[unsafe(link_section = ".init_array")]
static NOTE_IF_CLOSED: extern "C" fn() = note_if_closed;

#[cfg(target_os = "linux")]
extern "C" fn note_if_closed() {
    // SAFETY: the descriptor is not kept, and asking for the flags of a closed one is an error.
    let descriptor = unsafe { BorrowedFd::borrow_raw(1) };
    let is_closed = rustix::io::fcntl_getfd(descriptor) == Err(rustix::io::Errno::BADF);
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Checks that standard output was open when the process began.
///
/// # Errors
/// If it was closed.
pub fn check_open() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(rustix::io::Errno::BADF.into());
    }
    Ok(())
}
