//! The same on Windows.

use super::Identity;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::windows::io::AsHandle;
use std::path::Path;
use winapi_util::{Handle, file::information};

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    let found = information(file)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// That of the file at the end of all links.
pub(crate) fn identity_at(path: &Path) -> io::Result<Identity> {
    let found = information(&Handle::from_path_any(path)?)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// Whether a file has that name.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    matches!((identity(file), identity_at(path)), (Ok(file), Ok(named)) if file == named)
}

/// What is opened by its name is no pipe.
pub(crate) fn is_fifo(_: &Metadata) -> bool {
    false
}

pub(crate) fn is_socket(_: &Metadata) -> bool {
    false
}

/// Whether there are contents to lose.
pub(crate) fn has_contents(metadata: &Metadata) -> bool {
    metadata.is_file()
}

/// A process without standard input has an invalid one, which fails when it is read.
///
/// # Errors
/// None.
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn is_null_device(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// What there is to know of a file; `None` if it is a pipe or a console, of which the system does not tell.
///
/// # Errors
/// The system's.
pub(crate) fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    if winapi_util::file::typ(file)?.is_disk() { file.metadata().map(Some) } else { Ok(None) }
}

/// Another file for what a stream writes to or reads from.
///
/// # Errors
/// The system's.
pub(super) fn duplicate(stream: &impl AsHandle) -> io::Result<File> {
    stream.as_handle().try_clone_to_owned().map(File::from)
}

/// The file system's journal keeps names.
///
/// # Errors
/// None.
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A directory has the permissions of the one that it is in.
///
/// # Errors
/// None.
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn open_to_others(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Has two directories swap their names. For a moment neither has that of `other`: the system has nothing for one step.
///
/// # Errors
/// The system's; [`io::ErrorKind::NotFound`] if one of them is not there.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let aside = one.with_extension("old");
    fs::rename(other, &aside)?;
    if let Err(error) = fs::rename(one, other) {
        fs::rename(&aside, other)?;
        return Err(error);
    }
    fs::rename(&aside, one)
}

/// How many files the process may have open: as many as there is memory for.
pub(crate) fn most_open_files() -> u64 {
    u64::MAX
}
