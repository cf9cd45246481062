//! What systems have in ways of their own: which file it is, of what kind, the streams that a process starts with.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// Which file it is, whatever its names: the file system and the number of the file there.
pub(crate) type Identity = (u64, u64);
