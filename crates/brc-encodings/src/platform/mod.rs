//! What systems have in ways of their own: which file it is, of what kind, the streams that a process starts with.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

use std::fs::File;
use std::io;

/// Which file it is, whatever its names: the file system and the number of the file there.
pub(crate) type Identity = (u64, u64);

/// Standard input as a file.
///
/// # Errors
/// The system's.
pub(crate) fn stdin() -> io::Result<File> {
    duplicate(&io::stdin())
}

/// Standard output, without the buffer that the standard library has for it, which would look for line ends in all that
/// passes.
///
/// # Errors
/// The system's.
pub(crate) fn stdout() -> io::Result<File> {
    duplicate(&io::stdout())
}

/// Standard error, likewise.
///
/// # Errors
/// The system's.
pub(crate) fn stderr() -> io::Result<File> {
    duplicate(&io::stderr())
}
