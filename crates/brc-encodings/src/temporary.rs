//! Temporary files. They have no name, so that nothing of them stays when the process ends, however it ends.

use brc_core::{Error, Result};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Chooses the directory for the temporary files of this process. Only the first call has an effect.
pub fn choose_directory(directory: PathBuf) {
    let _ = CHOSEN.set(directory);
}

/// The chosen directory, if one was chosen.
#[must_use]
pub fn chosen_directory() -> Option<&'static Path> {
    CHOSEN.get().map(PathBuf::as_path)
}

/// The chosen directory, or else the default one.
#[must_use]
pub fn directory() -> PathBuf {
    chosen_directory().map_or_else(default_directory, Path::to_owned)
}

/// The system's directory for temporary files.
#[must_use]
pub fn default_directory() -> PathBuf {
    let directory = std::env::temp_dir();
    // TMPDIR may be set but empty.
    if directory.as_os_str().is_empty() { PathBuf::from("/tmp") } else { directory }
}

/// A new file in the [directory] for temporary files.
///
/// # Errors
/// I/O errors, under the name of the directory.
pub(crate) fn file() -> Result<File> {
    file_in(&directory())
}

/// A new file in a directory.
///
/// # Errors
/// As for [`file`].
pub(crate) fn file_in(directory: &Path) -> Result<File> {
    // Checked first, because `tempfile` would report a missing directory in its own words.
    let there = std::fs::metadata(directory);
    there.and_then(|_| tempfile::tempfile_in(directory)).map_err(Error::io(directory, "make a temporary file in"))
}

/// For `map_err` on writes to a [`file`]: a full disk is not the fault of what is copied to it.
pub(crate) fn write_error(error: io::Error) -> Error {
    write_error_in(&directory())(error)
}

/// For `map_err` on writes to a [`file_in`] a directory.
pub(crate) fn write_error_in(directory: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io(directory, "write a temporary file")
}
