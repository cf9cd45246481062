//! Standard output, where results go.

use crate::printable;
use brc_core::{Error, Result};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Writes a whole result with names from elsewhere. Programs get their bytes as they are; a terminal must not obey them.
///
/// # Errors
/// The system's, under the name `-`.
pub(crate) fn print_names(bytes: &[u8]) -> Result<()> {
    if io::stdout().is_terminal() { print(printable::lines(bytes).as_bytes()) } else { print(bytes) }
}

/// Writes a whole result that has nothing but what brc itself says.
///
/// # Errors
/// The system's, under the name `-`.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Error::io(Path::new("-"), "write"))
}
