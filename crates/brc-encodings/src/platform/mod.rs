//! What differs between operating systems: the identity and kind of files, and the standard streams.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

use brc_kernels::standard_output::check_open;
use std::fs::File;
use std::io;

/// The identity of a file under any name: the file system, and the file's number in it.
pub(crate) type Identity = (u64, u64);

/// Standard input as a file.
///
/// # Errors
/// I/O errors.
pub(crate) fn stdin() -> io::Result<File> {
    duplicate(&io::stdin())
}

/// Standard output, without the standard library's buffer, which would search all output for line ends.
///
/// # Errors
/// I/O errors.
pub(crate) fn stdout() -> io::Result<File> {
    check_open()?;
    duplicate(&io::stdout())
}

/// Standard error, likewise.
///
/// # Errors
/// I/O errors.
pub(crate) fn stderr() -> io::Result<File> {
    duplicate(&io::stderr())
}
