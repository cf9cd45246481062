//! The implementation for Windows.

use super::Identity;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::Path;
use winapi_util::{Handle, file::information};

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    let found = information(file)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// The identity of the file at the end of all links.
pub(crate) fn identity_at(path: &Path) -> io::Result<Identity> {
    let found = information(&Handle::from_path_any(path)?)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// Whether a file has the given name.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    matches!((identity(file), identity_at(path)), (Ok(file), Ok(named)) if file == named)
}

/// A file opened by name is never a pipe.
pub(crate) fn is_fifo(_: &Metadata) -> bool {
    false
}

pub(crate) fn is_socket(_: &Metadata) -> bool {
    false
}

/// Whether there is content that could be overwritten.
pub(crate) fn has_contents(metadata: &Metadata) -> bool {
    metadata.is_file()
}

/// Always `false`: a missing standard input is an invalid handle, which fails when it is read.
///
/// # Errors
/// None.
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn is_null_device(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// The metadata of a file; `None` for a pipe or a console without metadata.
///
/// # Errors
/// I/O errors.
pub(crate) fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    if winapi_util::file::typ(file)?.is_disk() { file.metadata().map(Some) } else { Ok(None) }
}

/// A duplicate handle of a standard stream.
///
/// # Errors
/// I/O errors.
pub(super) fn duplicate(stream: &impl AsHandle) -> io::Result<File> {
    stream.as_handle().try_clone_to_owned().map(File::from)
}

/// Does nothing: the file system's journal protects names.
///
/// # Errors
/// None.
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A directory as a file; the system does not let it be locked.
///
/// # Errors
/// I/O errors.
pub(crate) fn open_directory(path: &Path) -> io::Result<File> {
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Swaps the names of two directories. Not atomic: for a moment, `other` does not exist, because the system has no
/// single operation.
///
/// # Errors
/// I/O errors; [`io::ErrorKind::NotFound`] if one of them does not exist.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let aside = one.with_extension("old");
    fs::rename(other, &aside)?;
    if let Err(error) = fs::rename(one, other) {
        fs::rename(&aside, other)?;
        return Err(error);
    }
    fs::rename(&aside, one)
}

/// The maximum number of open files of the process: limited only by memory.
pub(crate) fn most_open_files() -> u64 {
    u64::MAX
}
