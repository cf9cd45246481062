//! Zip archives: an archive with a single file is read as that file.
//!
//! The directory of an archive is at its end, so an archive from a pipe is copied to a file first. The library reads
//! the directory; the content is read here, because the library's reader borrows the archive.

use crate::fault::{Fault, guarded};
use crate::input_file::InputFile;
use ::zip::result::ZipError;
use ::zip::{CompressionMethod, ZipArchive};
use brc_core::{Error, Result};
use crc_fast::{CrcAlgorithm, Digest};
use flate2::read::DeflateDecoder;
use std::borrow::Cow;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The magics of an archive, and of an archive without files.
const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The magic of a local file header, which precedes a file's name.
const FILE: &[u8] = b"PK\x03\x04";
const NAME_OFFSET: usize = 30;

/// The maximum number of files listed in an error.
const MAX_LISTED: usize = 10;

/// Whether a path's extension means an archive.
pub(crate) fn is_extension(extension: &str) -> bool {
    extension.eq_ignore_ascii_case("zip")
}

/// Whether a file with these first bytes is an archive of files: a workbook is one, too, but is read as a table.
pub(crate) fn is_archive(prefix: &[u8]) -> bool {
    MAGICS.iter().any(|magic| prefix.starts_with(magic)) && !is_workbook(prefix)
}

/// Whether these are the first bytes of a workbook of Excel or LibreOffice, judged by the names of its files, which
/// are not compressed.
pub(crate) fn is_workbook(prefix: &[u8]) -> bool {
    let name = |at: usize| prefix.get(at + NAME_OFFSET..).unwrap_or_default();
    prefix.starts_with(FILE)
        && (name(0).starts_with(b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet")
            || memchr::memmem::find_iter(prefix, FILE).any(|at| name(at).starts_with(b"xl/")))
}

/// The only file of an archive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    is_deflated: bool,
    /// The offset of its stored bytes in the archive.
    start: u64,
    stored: u64,
    length: u64,
    checksum: u32,
}

/// The only file of an archive; `None` if the file with these first bytes is not an archive. Directories and files
/// that macOS adds are ignored.
///
/// # Errors
/// If there are several files, or none, or its compression is not supported, or the archive is damaged.
pub(crate) fn only_member(path: &Path, file: &InputFile, prefix: &[u8]) -> Result<Option<Member>> {
    if !is_archive(prefix) {
        return Ok(None);
    }
    guarded(|| find(path, file))
        .map_err(|fault| fault.at(path, "zip archive"))?
        .map_err(|reason| Error::unsupported(path, reason))
}

/// The only file of an archive, or why there is none; `None` if it is a workbook that its first bytes do not identify.
fn find(path: &Path, file: &InputFile) -> Result<Result<Option<Member>, String>, Fault> {
    let mut archive = ZipArchive::new(BufReader::new(file.clone().reader())).map_err(fault)?;
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(fault)?;
        let name = entry.name().map_or_else(|_| "?".into(), Cow::into_owned);
        if name.starts_with("xl/workbook.") {
            return Ok(Ok(None));
        }
        if !entry.is_dir() && !name.starts_with("__MACOSX/") {
            names.push((index, name));
        }
    }
    let (index, name) = match names.as_slice() {
        [] => return Ok(Err("is a zip archive without files".into())),
        [(index, name)] if !archive.has_duplicate_names() => (*index, name.escape_debug()),
        _ => return Ok(Err(several(path, &names))),
    };
    let member = archive.by_index_raw(index).map_err(fault)?;
    if member.encrypted() {
        let reason = format!("its file '{name}' is encrypted: decrypt it first, with unzip -P PASSWORD -p");
        return Ok(Err(reason));
    }
    let is_deflated = match member.compression() {
        CompressionMethod::Stored => false,
        CompressionMethod::Deflated => true,
        other => {
            let reason = "which is not supported: decompress it first, with 7z x -so";
            return Ok(Err(format!("its file '{name}' is compressed with {other}, {reason}")));
        }
    };
    let start = member.data_start().ok_or_else(|| Fault::corrupt("it does not say where its file begins"))?;
    let (stored, length, checksum) = (member.compressed_size(), member.size(), member.crc32());
    Ok(Ok(Some(Member { is_deflated, start, stored, length, checksum })))
}

fn several(path: &Path, names: &[(usize, String)]) -> String {
    let listed: Vec<_> = names.iter().take(MAX_LISTED).map(|(_, name)| name.escape_debug().to_string()).collect();
    let more = match names.len() - listed.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "is a zip archive of {} files ({}{more}), of which only one can be read: unzip -p {} NAME | brc query - …",
        names.len(),
        listed.join(", "),
        path.display()
    )
}

fn fault(error: ZipError) -> Fault {
    match error {
        ZipError::UnsupportedArchive(reason) => Fault::unsupported(reason),
        ZipError::InvalidArchive(reason) if reason.contains("EOCD") => {
            Fault::corrupt("there is no directory at its end: the file is cut off")
        }
        error => Fault::corrupt(error.to_string()),
    }
}

impl Member {
    /// Its content, given the archive from its first byte on.
    pub(crate) fn reader(self, archive: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let stored = Stored { archive, before: self.start }.take(self.stored);
        let content: Box<dyn Read + Send> =
            if self.is_deflated { Box::new(DeflateDecoder::new(stored)) } else { Box::new(stored) };
        let digest = Digest::new(CrcAlgorithm::Crc32IsoHdlc);
        Box::new(Content { content, left: self.length, digest, checksum: self.checksum })
    }
}

/// The bytes of an archive from an offset on.
struct Stored {
    archive: Box<dyn Read + Send>,
    /// The number of bytes still to skip.
    before: u64,
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.before -= io::copy(&mut self.archive.by_ref().take(self.before), &mut io::sink())?;
        self.archive.read(buffer)
    }
}

/// The content of a file, checked against the length and checksum in the archive.
struct Content {
    content: Box<dyn Read + Send>,
    left: u64,
    digest: Digest,
    checksum: u32,
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damaged = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
        let read = self.content.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => damaged(error.to_string()),
            _ => error,
        })?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| damaged("it is longer than it should be".into()))?;
        self.digest.update(&buffer[..read]);
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        if self.left > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if self.digest.finalize() as u32 != self.checksum {
            return Err(damaged("its checksum does not match".into()));
        }
        Ok(0)
    }
}
