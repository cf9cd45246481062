//! Inputs: a file that several threads read at any offset, or a stream.
//!
//! All decompression of whole files happens here; other modules see the decompressed content.

use crate::chunks::{Chunks, ReadCost, read_error};
use crate::compressed_input::{Compressed, CompressionKind, check_content};
use crate::input_file::InputFile;
use crate::{platform, registry, remote, temporary, zip};
use brc_core::{Error, ReadAt, Result};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The number of first bytes by which an encoding is recognised.
pub const PREFIX_BYTES: usize = 64 << 10;

/// The number of first bytes that are read of a file that an encoding
/// [reads by its parts](crate::Encoding::reads_parts).
const HEAD_BYTES: usize = 4 << 10;

/// The default size limit of a temporary copy in bytes: a small compressed file can expand to very many.
pub const LONGEST_COPY: u64 = 64 << 30;

/// An open source of bytes, with its first bytes in memory.
pub struct Input {
    /// The name for messages; `-` for standard input.
    pub path: PathBuf,
    /// The first bytes: [`PREFIX_BYTES`], unless more were needed or the source is shorter; none for a file in a store
    /// that is read at any offset. The first bytes of a stream were consumed: readers of the stream start with them.
    pub prefix: Vec<u8>,
    /// Whether the prefix is the whole source.
    pub is_whole: bool,
    /// The source itself.
    pub source: Source,
    /// The name of the compression of the whole source, if any; prefix and source are decompressed.
    pub compression: Option<&'static str>,
}

/// The source of the bytes.
pub enum Source {
    /// A regular file: it has a length, and threads read it in parallel.
    File {
        /// The file.
        file: InputFile,
        /// Its length when it was opened, in bytes.
        length: u64,
    },
    /// A compressed file whose chunks are decompressed in parallel.
    Chunks(Chunks),
    /// Standard input, a pipe, a device, or a compressed file without chunks: read once, in order.
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// Opens a file, also in a store; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be opened or read, or is a directory.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(input) = remote::open(path)? {
            return Ok(input);
        }
        let mut file = if path == Path::new("-") {
            stdin().map_err(Error::io(path, "read"))?
        } else {
            File::open(path).map_err(Error::io(path, "open"))?
        };
        let Some(metadata) = platform::metadata(&file).map_err(Error::io(path, "open"))? else {
            return Self::from_stream(path.to_owned(), Box::new(file));
        };
        if metadata.is_dir() {
            return Err(Error::io(path, "open")(io::ErrorKind::IsADirectory.into()));
        }
        if platform::is_fifo(&metadata) {
            enlarge(&file);
        }
        // Another process may have read a part of standard input: then only the rest counts.
        if !metadata.is_file() || file.stream_position().map_err(Error::io(path, "open"))? > 0 {
            return Self::from_stream(path.to_owned(), Box::new(file));
        }
        let file = match path == Path::new("-") {
            true => InputFile::of_stdin(file),
            false => InputFile::of_path(path, file),
        };
        Self::from_file(path.to_owned(), file)
    }

    /// Opens a regular file.
    ///
    /// # Errors
    /// If its first bytes cannot be read, its compression is not supported, or its compression is not the one that its
    /// name promises.
    pub fn from_file(path: PathBuf, file: impl Into<InputFile>) -> Result<Self> {
        let file = file.into();
        let length = file.length().map_err(Error::io(&path, "open"))?;
        let prefix = read_prefix(&file, length).map_err(Error::io(&path, "read"))?;
        let Some(prefix) = prefix else {
            // System files, such as those in /proc, report a size of zero or of one page whatever they hold.
            return Self::from_stream(path, Box::new(file.reader()));
        };
        if let Some(member) = zip::only_member(&path, &file, &prefix)? {
            return Self::decompressed_file(path, file, CompressionKind::Zip(member));
        }
        let is_whole = prefix.len() as u64 == length;
        let Some(compressed) = Compressed::of(&path, &prefix)? else {
            return Ok(Self { path, prefix, is_whole, source: Source::File { file, length }, compression: None });
        };
        Self::from_compressed(path, file, length, compressed.kind).map_err(|error| compressed.explain(error))
    }

    /// Opens a file in a store that is not compressed as a whole. Its prefix is empty unless all bytes were fetched.
    ///
    /// # Errors
    /// The store's.
    #[cfg(feature = "stores")]
    pub(crate) fn in_store(path: PathBuf, file: InputFile) -> Result<Self> {
        let length = file.length().map_err(Error::io(&path, "open"))?;
        let is_whole = length <= PREFIX_BYTES as u64;
        let mut prefix = vec![0; if is_whole { length as usize } else { 0 }];
        file.read_exact_at(&mut prefix, 0).map_err(Error::io(&path, "read"))?;
        Ok(Self { path, prefix, is_whole, source: Source::File { file, length }, compression: None })
    }

    fn from_compressed(path: PathBuf, file: InputFile, length: u64, kind: CompressionKind) -> Result<Self> {
        let CompressionKind::Full(compression) = kind else { return Self::decompressed_file(path, file, kind) };
        match Chunks::find(&path, file, length, compression)? {
            Ok(chunks) => Self::from_chunks(path, chunks, kind),
            Err(file) => Self::decompressed_file(path, file, kind),
        }
    }

    /// Opens a file that is decompressed in order. After its first bytes it is closed until it is read: a table may
    /// consist of many files, and each decompressor takes memory.
    fn decompressed_file(path: PathBuf, file: InputFile, kind: CompressionKind) -> Result<Self> {
        let input = Self::decompressed(path.clone(), Box::new(file.clone().reader()), kind)?;
        let known = input.prefix.len() as u64;
        let rest = if input.is_whole { Rest::Ended } else { Rest::Unopened { path, file, kind, known } };
        Ok(Self { source: Source::Stream(Box::new(rest)), ..input })
    }

    fn from_chunks(path: PathBuf, chunks: Chunks, kind: CompressionKind) -> Result<Self> {
        let prefix = first_bytes(&chunks, PREFIX_BYTES)?;
        check_content(&path, kind, &prefix)?;
        let is_whole = prefix.len() as u64 == chunks.length();
        Ok(Self { path, prefix, is_whole, source: Source::Chunks(chunks), compression: Some(kind.name()) })
    }

    /// Extends the prefix to `bytes` bytes or the whole source, whichever is less.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn extend_prefix(&mut self, bytes: usize) -> Result<()> {
        let known = self.prefix.len();
        if self.is_whole || known >= bytes {
            return Ok(());
        }
        match &mut self.source {
            Source::File { file, length } => {
                let wanted = bytes.min(usize::try_from(*length).unwrap_or(bytes)).max(known);
                self.prefix.resize(wanted, 0);
                let read = file.read_full_at(&mut self.prefix[known..], known as u64);
                self.prefix.truncate(known + read.map_err(Error::io(&self.path, "read"))?);
                self.is_whole = self.prefix.len() as u64 >= *length;
            }
            Source::Chunks(chunks) => {
                self.prefix = first_bytes(chunks, bytes)?;
                self.is_whole = self.prefix.len() as u64 == chunks.length();
            }
            Source::Stream(stream) => {
                let more = (bytes - known) as u64;
                stream.take(more).read_to_end(&mut self.prefix).map_err(read_error(&self.path))?;
            }
        }
        // A file may have shrunk since it was opened.
        self.is_whole |= self.prefix.len() < bytes;
        Ok(())
    }

    /// The size of the source in bytes, as stored, if it is known.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        match &self.source {
            Source::File { length, .. } => Some(*length),
            Source::Chunks(chunks) => Some(chunks.stored_length()),
            Source::Stream(_) => None,
        }
    }

    /// Opens a stream.
    ///
    /// # Errors
    /// If its first bytes cannot be read, its compression is not supported, or its compression is not the one that its
    /// name promises.
    pub fn from_stream(path: PathBuf, stream: Box<dyn Read + Send>) -> Result<Self> {
        let (prefix, stream) = take_prefix(&path, stream)?;
        let is_whole = prefix.len() < PREFIX_BYTES;
        if zip::is_archive(&prefix) {
            let input =
                Self { path: path.clone(), prefix, is_whole, source: Source::Stream(stream), compression: None };
            return Self::from_file(path, input.into_file(LONGEST_COPY)?);
        }
        let Some(compressed) = Compressed::of(&path, &prefix)? else {
            return Ok(Self { path, prefix, is_whole, source: Source::Stream(stream), compression: None });
        };
        let stream = Box::new(Cursor::new(prefix).chain(stream));
        Self::decompressed(path, stream, compressed.kind).map_err(|error| compressed.explain(error))
    }

    fn decompressed(path: PathBuf, stored: Box<dyn Read + Send>, kind: CompressionKind) -> Result<Self> {
        let (prefix, stream) = take_prefix(&path, kind.reader(&path, stored))?;
        check_content(&path, kind, &prefix)?;
        let is_whole = prefix.len() < PREFIX_BYTES;
        Ok(Self { path, prefix, is_whole, source: Source::Stream(stream), compression: Some(kind.name()) })
    }

    /// The same source, converted to a stream if its chunks may begin or end within rows.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn in_whole_rows(self) -> Result<Self> {
        let source = match self.source {
            Source::Chunks(chunks) if !chunks.hold_whole_rows() => {
                let mut stream = chunks.into_stream()?;
                let known = self.prefix.len() as u64;
                io::copy(&mut stream.by_ref().take(known), &mut io::sink()).map_err(read_error(&self.path))?;
                Source::Stream(stream)
            }
            source => source,
        };
        Ok(Self { source, ..self })
    }

    /// The whole source from its first byte on, to be read once and in order.
    ///
    /// # Errors
    /// I/O errors.
    pub fn into_stream(self) -> Result<Box<dyn Read + Send>> {
        match self.source {
            Source::File { file, .. } => Ok(Box::new(file.reader())),
            Source::Chunks(chunks) => chunks.into_stream(),
            Source::Stream(rest) => Ok(Box::new(Cursor::new(self.prefix).chain(rest))),
        }
    }

    /// The source as a file with random access: a stream is copied to a temporary file of at most `longest_copy`
    /// bytes. The caller has checked that the first bytes belong to such a file.
    ///
    /// # Errors
    /// If there is no space for a temporary file, or the source cannot be read or is too long.
    pub fn into_file(self, longest_copy: u64) -> Result<InputFile> {
        if let Source::File { file, .. } = self.source {
            return Ok(file);
        }
        let path = self.path.clone();
        if matches!(&self.source, Source::Chunks(chunks) if chunks.length() > longest_copy) {
            return Err(too_long(&path, longest_copy));
        }
        let mut stream = self.into_stream()?;
        let mut file = temporary::file()?;
        let mut buffer = vec![0; COPIED_AT_ONCE];
        let mut left = longest_copy;
        loop {
            let read = match stream.read(&mut buffer) {
                Ok(0) => return Ok(file.into()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(&path)(error)),
            };
            left = left.checked_sub(read as u64).ok_or_else(|| too_long(&path, longest_copy))?;
            file.write_all(&buffer[..read]).map_err(temporary::write_error)?;
        }
    }
}

/// The content of a compressed file after its first bytes.
enum Rest {
    /// Nothing has been read yet.
    Unopened {
        path: PathBuf,
        file: InputFile,
        kind: CompressionKind,
        /// The number of known first bytes.
        known: u64,
    },
    Open(Box<dyn Read + Send>),
    Ended,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::Unopened { path, file, kind, known } = self {
            let mut reader = kind.reader(path, Box::new(file.clone().reader()));
            io::copy(&mut reader.by_ref().take(*known), &mut io::sink())?;
            *self = Self::Open(reader);
        }
        let Self::Open(reader) = self else { return Ok(0) };
        let read = reader.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            *self = Self::Ended;
        }
        Ok(read)
    }
}

const COPIED_AT_ONCE: usize = 256 << 10;

fn too_long(path: &Path, longest_copy: u64) -> Error {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("bytes", 1u64)];
    let whole = units.into_iter().find(|(_, size)| longest_copy > 0 && longest_copy.is_multiple_of(*size));
    let (unit, size) = whole.unwrap_or(("bytes", 1));
    let most = longest_copy / size;
    let reason = format!("needs a temporary copy of more than {most} {unit}; raise the limit with --max-copy");
    Error::unsupported(path, reason)
}

/// Up to `bytes` first bytes of the decompressed chunks.
fn first_bytes(chunks: &Chunks, bytes: usize) -> Result<Vec<u8>> {
    let mut first = Vec::new();
    let (mut stored, mut cost) = (Vec::new(), ReadCost::default());
    for chunk in 0..chunks.len() {
        if first.len() >= bytes {
            break;
        }
        let start = first.len();
        chunks.load(chunk, &mut stored, &mut first, start, &mut cost)?;
    }
    first.truncate(bytes);
    Ok(first)
}

/// Reads the first bytes of a file of that length. Returns `None` if the file has fewer bytes, or more.
fn read_prefix(file: &InputFile, length: u64) -> io::Result<Option<Vec<u8>>> {
    let most = usize::try_from(length).map_or(PREFIX_BYTES, |length| PREFIX_BYTES.min(length + 1));
    let (mut prefix, mut read) = (Vec::new(), 0);
    for bytes in [HEAD_BYTES.min(most), most] {
        prefix.resize(bytes, 0);
        read += file.read_full_at(&mut prefix[read..], read as u64)?;
        if read < bytes || registry::reads_parts(&prefix) {
            break;
        }
    }
    let expected = length.min(prefix.len() as u64);
    prefix.truncate(read);
    Ok((read as u64 == expected).then_some(prefix))
}

/// Reads the first bytes of a stream.
fn take_prefix(path: &Path, mut stream: Box<dyn Read + Send>) -> Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut prefix = Vec::new();
    stream.by_ref().take(PREFIX_BYTES as u64).read_to_end(&mut prefix).map_err(read_error(path))?;
    Ok((prefix, stream))
}

/// Standard input; an error if it is closed.
///
/// The runtime replaces a closed standard input by the null device, open for reading and writing. (A shell opens it for
/// reading only.) A missing table must not be read as an empty one.
fn stdin() -> io::Result<File> {
    let mut file = platform::stdin()?;
    if platform::is_null_device(&file)? && file.write(&[]).is_ok() {
        return Err(io::Error::other("standard input is closed, or is the null device"));
    }
    Ok(file)
}

/// Enlarges the buffer of a pipe, so that its two ends wake each other less often.
#[cfg(target_os = "linux")]
fn enlarge(pipe: &File) {
    /// The limit for unprivileged users.
    const PIPE_BYTES: usize = 1 << 20;
    // If the system allows less, the size stays as it is.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

#[cfg(not(target_os = "linux"))]
fn enlarge(_pipe: &File) {}

/// The error that a file has shrunk since it was opened.
pub(crate) fn cut_off(path: &Path, byte: u64) -> Error {
    Error::corrupt(path, format!("byte {byte}"), "the file was truncated while it was read")
}
