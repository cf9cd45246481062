//! Where a table is read from: a file that can be read at any place by several threads, or a stream.

use brc_core::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// How many first bytes an encoding is recognised by.
pub const PREFIX_BYTES: usize = 64 << 10;

/// An open source of bytes, with its first ones at hand.
pub struct Input {
    /// The name for messages; `-` for standard input.
    pub path: PathBuf,
    /// Up to [`PREFIX_BYTES`] first bytes. Of a stream they have been taken: whoever reads the stream starts with them.
    pub prefix: Vec<u8>,
    /// The source itself.
    pub source: Source,
}

/// Where the bytes come from.
pub enum Source {
    /// A regular file: it has a length, and threads read it side by side.
    File {
        /// The file.
        file: File,
        /// Its length when it was opened, in bytes.
        length: u64,
    },
    /// Standard input, a pipe, a device: read once, in order.
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be opened or read, or is a directory.
    pub fn open(path: &Path) -> Result<Self> {
        let file = if path == Path::new("-") { stdin() } else { File::open(path) };
        let mut file = file.map_err(Error::io(path, "open"))?;
        let metadata = file.metadata().map_err(Error::io(path, "open"))?;
        if metadata.is_dir() {
            return Err(Error::io(path, "open")(io::ErrorKind::IsADirectory.into()));
        }
        // Standard input may be a file of which another process has read a part: then only the rest is meant.
        if !metadata.is_file() || file.stream_position().map_err(Error::io(path, "open"))? > 0 {
            return Self::from_stream(path.to_owned(), Box::new(file));
        }
        Self::from_file(path.to_owned(), file)
    }

    /// Takes a regular file.
    ///
    /// # Errors
    /// If its first bytes cannot be read.
    pub fn from_file(path: PathBuf, file: File) -> Result<Self> {
        let length = file.metadata().map_err(Error::io(&path, "open"))?.len();
        let mut prefix = vec![0; PREFIX_BYTES.min(usize::try_from(length).unwrap_or(PREFIX_BYTES))];
        let read = read_full_at(&file, &mut prefix, 0).map_err(Error::io(&path, "read"))?;
        prefix.truncate(read);
        Ok(Self { path, prefix, source: Source::File { file, length } })
    }

    /// The number of bytes, if it is known.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        match self.source {
            Source::File { length, .. } => Some(length),
            Source::Stream(_) => None,
        }
    }

    /// The source as a file that can be read at any place. What comes through a pipe is put into a nameless file first.
    ///
    /// # Errors
    /// If there is no room for that.
    pub fn into_file(self) -> Result<File> {
        let Self { path, prefix, source } = self;
        let mut rest = match source {
            Source::File { file, .. } => return Ok(file),
            Source::Stream(rest) => rest,
        };
        let mut file = tempfile::tempfile().map_err(Error::io(&path, "make a temporary file for"))?;
        let copied = file.write_all(&prefix).and_then(|()| io::copy(&mut rest, &mut file));
        copied.map_err(Error::io(&path, "copy to a temporary file"))?;
        Ok(file)
    }

    /// Takes a stream.
    ///
    /// # Errors
    /// If its first bytes cannot be read.
    pub fn from_stream(path: PathBuf, mut stream: Box<dyn Read + Send>) -> Result<Self> {
        let mut prefix = Vec::new();
        let taken = stream.by_ref().take(PREFIX_BYTES as u64).read_to_end(&mut prefix);
        taken.map_err(Error::io(&path, "read"))?;
        Ok(Self { path, prefix, source: Source::Stream(stream) })
    }
}

fn stdin() -> io::Result<File> {
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

/// Reads at a place of a file until `buffer` is full or the file ends; returns how many bytes there were.
///
/// # Errors
/// The system's.
pub fn read_full_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
