//! How an input is compressed: its first bytes say it, or its name promises it.
//!
//! What is recognised by its first bytes is read, whatever its name. But where they say nothing, a name that promises a
//! compression is held to it: a damaged or empty file would else be a table, if a strange one.

use brc_compress::unsupported::{self, Unsupported};
use brc_compress::{Compression, by_extension, by_prefix};
use brc_core::{Error, Result};
use std::path::Path;

/// How an input is compressed.
#[derive(Clone, Copy)]
pub(crate) struct Compressed {
    pub(crate) compression: &'static dyn Compression,
    /// Whether only the name says so.
    is_promised: bool,
}

impl Compressed {
    /// How the input of that name and with these first bytes is compressed; `None` if it is not.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it is so in a way that is not read, [`Error::Corrupt`] if it cannot be what its name
    /// promises.
    pub(crate) fn of(path: &Path, prefix: &[u8]) -> Result<Option<Self>> {
        if let Some(compression) = by_prefix(prefix) {
            return Ok(Some(Self { compression, is_promised: false }));
        }
        if let Some(compression) = unsupported::by_prefix(prefix) {
            return Err(not_read(path, compression));
        }
        let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else { return Ok(None) };
        let broken = |name, reason| Err(broken_promise(path, name, reason));
        match (by_extension(extension), unsupported::by_extension(extension)) {
            (Some(compression), _) if prefix.is_empty() => broken(compression.name(), "the file is empty"),
            (Some(compression), _) => Ok(Some(Self { compression, is_promised: true })),
            (None, Some(compression)) if prefix.is_empty() => broken(compression.name, "the file is empty"),
            (None, Some(compression)) if compression.sniff.is_some() => {
                broken(compression.name, "it does not start so")
            }
            (None, Some(compression)) => Err(not_read(path, compression)),
            (None, None) => Ok(None),
        }
    }

    /// What to say instead of an error of reading the first bytes: perhaps they are not compressed at all.
    pub(crate) fn explain(self, error: Error) -> Error {
        match error {
            Error::Corrupt { path, reason, .. } if self.is_promised => {
                broken_promise(&path, self.compression.name(), &reason)
            }
            error => error,
        }
    }
}

/// Sees to it that the first bytes of what comes out of a compression are not compressed once more: that would be taken
/// for some strange table.
pub(crate) fn check_content(path: &Path, outer: &dyn Compression, prefix: &[u8]) -> Result<()> {
    let supported = by_prefix(prefix).map(Compression::name);
    let Some(inner) = supported.or_else(|| Some(unsupported::by_prefix(prefix)?.name)) else { return Ok(()) };
    let outer = outer.name();
    let reason = format!("is compressed twice: its content, once {outer} is undone, is compressed with {inner}");
    Err(Error::unsupported(path, format!("{reason}; decompress it once first")))
}

fn broken_promise(path: &Path, compression: &str, found: &str) -> Error {
    let reason = format!("its name promises {compression}, but {found}; if it is not compressed, rename it");
    Error::corrupt(path, "first bytes", reason)
}

fn not_read(path: &Path, compression: &Unsupported) -> Error {
    let Unsupported { name, command, .. } = compression;
    let reason = format!("is compressed with {name}, which is not supported: decompress it first, with {command}");
    Error::unsupported(path, reason)
}
