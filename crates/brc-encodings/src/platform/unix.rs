//! The implementation for Linux, macOS and other Unix systems.

use super::Identity;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::{Resource, getrlimit};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

fn of(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    file.metadata().map(|found| of(&found))
}

/// The identity of the file at the end of all links.
pub(crate) fn identity_at(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|found| of(&found))
}

/// Whether a file has the given name, and not by a link.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    let named = fs::symlink_metadata(path).map(|found| of(&found));
    matches!((identity(file), named), (Ok(file), Ok(named)) if file == named)
}

pub(crate) fn is_fifo(metadata: &Metadata) -> bool {
    metadata.file_type().is_fifo()
}

pub(crate) fn is_socket(metadata: &Metadata) -> bool {
    metadata.file_type().is_socket()
}

/// Whether there is content that could be overwritten: a terminal may be both input and output.
pub(crate) fn has_contents(metadata: &Metadata) -> bool {
    metadata.is_file() || metadata.file_type().is_block_device()
}

/// Whether a file is the null device.
///
/// # Errors
/// I/O errors.
pub(crate) fn is_null_device(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    let is_null = || fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == metadata.rdev());
    Ok(metadata.file_type().is_char_device() && is_null())
}

/// The metadata of a file; `None` for a pipe without metadata.
///
/// # Errors
/// I/O errors.
pub(crate) fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    file.metadata().map(Some)
}

/// A duplicate handle of a standard stream.
///
/// # Errors
/// I/O errors.
pub(super) fn duplicate(stream: &impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// Syncs the entries of a directory to disk.
///
/// # Errors
/// I/O errors.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory)?.sync_all() {
        // Not every file system can sync directories.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        outcome => outcome,
    }
}

/// A directory as a file, which can be locked.
///
/// # Errors
/// I/O errors.
pub(crate) fn open_directory(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Swaps the names of two directories atomically.
///
/// # Errors
/// I/O errors; [`ErrorKind::NotFound`] if one of them does not exist.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// The maximum number of open files of the process.
pub(crate) fn most_open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
