//! Writes results to standard output.

use crate::printable;
use crate::render::Format;
use brc_core::{BatchWriter, Error, Part, PartEncoder, Result};
use brc_kernels::standard_output::check_open;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Writes text that includes names from files. On a terminal, control characters are escaped; elsewhere bytes are
/// unchanged.
///
/// # Errors
/// I/O errors, with the path `-`.
pub(crate) fn print_names(bytes: &[u8]) -> Result<()> {
    if io::stdout().is_terminal() { print(printable::lines(bytes).as_bytes()) } else { print(bytes) }
}

/// Writes text without names from files.
///
/// # Errors
/// I/O errors, with the path `-`.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = check_open().and_then(|()| stdout.write_all(bytes));
    written.and_then(|()| stdout.flush()).map_err(Error::io(Path::new("-"), "write"))
}

/// Refuses to write binary data to a terminal.
///
/// # Errors
/// [`Error::Usage`] if standard output is a terminal and the format is binary.
pub(crate) fn check(format: &dyn Format) -> Result<()> {
    if !format.is_binary() || !io::stdout().is_terminal() {
        return Ok(());
    }
    let name = format.name();
    Err(Error::Usage(format!(
        "--format {name} writes binary data, which is not for a terminal: redirect it to a file or a program"
    )))
}

/// Wraps a writer of text so that control characters are escaped on a terminal.
pub(crate) fn printed(writer: Box<dyn BatchWriter>) -> Box<dyn BatchWriter> {
    if io::stdout().is_terminal() { Box::new(Printed(writer)) } else { writer }
}

struct Printed(Box<dyn BatchWriter>);

impl BatchWriter for Printed {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        self.0.encoder()
    }

    fn start(&mut self) -> Vec<u8> {
        printable::lines(&self.0.start()).into_owned().into_bytes()
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        self.0.append(part)?;
        part.bytes = printable::lines(&part.bytes).into_owned().into_bytes();
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        Ok(printable::lines(&self.0.finish()?).into_owned().into_bytes())
    }
}
