//! Detects how an input is compressed, from its first bytes or its extension.
//!
//! If the first bytes identify a compression, the extension is ignored. Otherwise an extension that names a compression
//! must be right; a damaged or empty file would be read as a strange table.

use crate::{warnings, zip};
use brc_compress::read_only::{self, ReadOnly};
use brc_compress::unsupported::{self, Unsupported};
use brc_compress::{Compression, TrailingBytes, by_extension, by_prefix};
use brc_core::{Error, Result};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A compression, as a reader sees it.
#[derive(Clone, Copy)]
pub(crate) enum CompressionKind {
    /// A compression that is also written.
    Full(&'static dyn Compression),
    /// A compression that is only read.
    ReadOnly(&'static ReadOnly),
    /// The only file of a zip archive.
    Zip(zip::Member),
}

impl CompressionKind {
    fn of_prefix(prefix: &[u8]) -> Option<Self> {
        by_prefix(prefix).map(Self::Full).or_else(|| read_only::by_prefix(prefix).map(Self::ReadOnly))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full(compression) => compression.name(),
            Self::ReadOnly(compression) => compression.name,
            Self::Zip(_) => "zip",
        }
    }

    /// Reads a whole file.
    pub(crate) fn reader(self, path: &Path, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let stored = match self {
            Self::Full(compression) => match compression.file_format() {
                Some(format) => format.reader(stored),
                None => return stored,
            },
            Self::ReadOnly(compression) => (compression.reader)(stored),
            Self::Zip(member) => member.reader(stored),
        };
        Box::new(Lenient { path: path.to_owned(), stored })
    }
}

/// Reads to the end of the compressed data and warns of trailing bytes: the data itself is complete.
struct Lenient {
    path: PathBuf,
    stored: Box<dyn Read + Send>,
}

impl Read for Lenient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stored.read(buffer).or_else(|error| match TrailingBytes::of(&error) {
            Some(bytes) => {
                warnings::warn(&self.path, &format!("{bytes} are ignored"));
                Ok(0)
            }
            None => Err(error),
        })
    }
}

/// How an input is compressed.
#[derive(Clone, Copy)]
pub(crate) struct Compressed {
    pub(crate) kind: CompressionKind,
    /// Whether only the name indicates it.
    is_promised: bool,
}

impl Compressed {
    /// The compression of an input with the given name and first bytes; `None` if it is not compressed.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if its compression is not supported, or its name promises one but it is text;
    /// [`Error::Corrupt`] if it is neither text nor what its name promises.
    pub(crate) fn of(path: &Path, prefix: &[u8]) -> Result<Option<Self>> {
        if let Some(kind) = CompressionKind::of_prefix(prefix) {
            return Ok(Some(Self { kind, is_promised: false }));
        }
        if let Some(compression) = unsupported_by_prefix(prefix) {
            return Err(not_read(path, compression));
        }
        let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else { return Ok(None) };
        let (full, only_read, other) =
            (by_extension(extension), read_only::by_extension(extension), unsupported::by_extension(extension));
        let name = full.map(Compression::name).or(only_read.map(|it| it.name)).or(other.map(|it| it.name));
        if let Some(name) = name.filter(|_| is_text(prefix)) {
            return Err(Error::unsupported(path, mismatch(name, "it looks like text")));
        }
        let broken = |name| {
            let found = if prefix.is_empty() { "the file is empty" } else { "its first bytes do not" };
            Err(broken_promise(path, name, found))
        };
        match (full, only_read, other) {
            (Some(compression), ..) if prefix.is_empty() => broken(compression.name()),
            (Some(compression), ..) => Ok(Some(Self { kind: CompressionKind::Full(compression), is_promised: true })),
            (None, Some(compression), _) => broken(compression.name),
            (None, None, Some(compression)) if prefix.is_empty() || compression.sniff.is_some() => {
                broken(compression.name)
            }
            (None, None, Some(compression)) => Err(not_read(path, compression)),
            (None, None, None) => Ok(None),
        }
    }

    /// The error to report if the first bytes cannot be decompressed: the file may not be compressed at all.
    pub(crate) fn explain(self, error: Error) -> Error {
        match error {
            Error::Corrupt { path, reason, .. } if self.is_promised => broken_promise(&path, self.kind.name(), &reason),
            error => error,
        }
    }
}

/// Checks that the decompressed bytes do not begin with another compression's magic: they would be read as a
/// nonsensical table.
pub(crate) fn check_content(path: &Path, outer: CompressionKind, prefix: &[u8]) -> Result<()> {
    let supported = CompressionKind::of_prefix(prefix).map(CompressionKind::name);
    let Some(inner) = supported.or_else(|| Some(unsupported_by_prefix(prefix)?.name)) else { return Ok(()) };
    let outer = outer.name();
    let reason = format!("is compressed twice, with {inner} inside {outer}");
    Err(Error::unsupported(path, format!("{reason}; decompress it once first")))
}

/// The unsupported compression that the first bytes of a file indicate. A workbook is also an archive of files, but
/// not a compressed table.
fn unsupported_by_prefix(prefix: &[u8]) -> Option<&'static Unsupported> {
    unsupported::by_prefix(prefix).filter(|_| !zip::is_workbook(prefix))
}

fn broken_promise(path: &Path, compression: &str, found: &str) -> Error {
    Error::corrupt(path, "first bytes", mismatch(compression, found))
}

fn mismatch(compression: &str, found: &str) -> String {
    format!("its extension says {compression}, but {found}; if it is not compressed, rename it")
}

/// Whether these first bytes are certainly text. Damaged or cut compressed data is not.
fn is_text(prefix: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    // The last character may be cut off.
    let is_utf8 = std::str::from_utf8(prefix).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && prefix.contains(&b'\n') && !prefix.iter().any(is_control)
}

fn not_read(path: &Path, compression: &Unsupported) -> Error {
    let Unsupported { name, command, .. } = compression;
    let reason = format!("is compressed with {name}, which is not supported: decompress it first, with {command}");
    Error::unsupported(path, reason)
}
