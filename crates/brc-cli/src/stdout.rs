//! Standard output, where results go.

use brc_core::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// Writes a whole result.
///
/// # Errors
/// The system's, under the name `-`.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Error::io(Path::new("-"), "write"))
}
