//! Standard output, where results go.

use crate::printable;
use crate::render::Format;
use brc_core::{BatchWriter, Error, Part, PartEncoder, Result};
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

/// Sees to it that no terminal gets binary data.
///
/// # Errors
/// [`Error::Usage`] if standard output is one, and the format is binary.
pub(crate) fn check(format: &dyn Format) -> Result<()> {
    if !format.is_binary() || !io::stdout().is_terminal() {
        return Ok(());
    }
    let name = format.name();
    Err(Error::Usage(format!(
        "--format {name} writes binary data, which is not for a terminal: redirect it to a file or a program"
    )))
}

/// A writer of text whose bytes may go to a terminal, which must not obey them.
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
