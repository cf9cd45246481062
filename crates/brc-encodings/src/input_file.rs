//! A file that is read at any offset without staying open.
//!
//! A table may consist of more files than a process may open. Files opened by path are closed when many others have
//! been opened since, and reopened when they are read. Their metadata stay in memory.
//!
//! Another process may overwrite a file while it is read. After each read, the file must be as it was when it was
//! opened, or have grown at its end, as the file of a logger does.

use crate::platform::{Identity, identity, most_open_files};
use brc_core::ReadAt;
use parking_lot::{Mutex, RwLock};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Weak};
use std::time::SystemTime;

/// The maximum number of open files, if the system allows twice as many.
const MAX_OPEN: u64 = 256;
/// The number of open files that is always allowed.
const MIN_OPEN: u64 = 8;
/// The number of last bytes by which a file that has grown is told from one that was written anew.
const END_BYTES: u64 = 256;

/// A file read by tables. Clones share it.
#[derive(Clone)]
pub struct InputFile(Kind);

#[derive(Clone)]
enum Kind {
    Local(Arc<Shared>),
    /// A file in a store.
    Remote(Arc<dyn ReadAt>),
}

struct Shared {
    /// `None` if it cannot be reopened.
    origin: Option<Origin>,
    /// `None` for a file that only this process writes.
    content: Option<Content>,
    open: RwLock<Option<Arc<File>>>,
}

/// The path at which a file was opened, and its identity.
struct Origin {
    path: PathBuf,
    identity: Identity,
}

/// What a file contained when it was opened.
struct Content {
    length: u64,
    modified: SystemTime,
    /// The last bytes.
    end: Vec<u8>,
}

impl Content {
    /// `None` if it is not known.
    fn of(file: &File) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let (length, modified) = (metadata.len(), metadata.modified().ok()?);
        Some(Self { length, modified, end: last_bytes(file, length).ok()? })
    }

    /// Whether the file still has these bytes.
    fn is_in(&self, file: &File) -> io::Result<bool> {
        let metadata = file.metadata()?;
        let is_appended =
            || Ok::<_, io::Error>(metadata.len() > self.length && last_bytes(file, self.length)? == self.end);
        Ok(metadata.modified()? == self.modified && metadata.len() == self.length || is_appended()?)
    }
}

/// The last bytes before an offset.
fn last_bytes(file: &File, before: u64) -> io::Result<Vec<u8>> {
    let mut end = vec![0; END_BYTES.min(before) as usize];
    let read = file.read_full_at(&mut end, before.saturating_sub(END_BYTES))?;
    end.truncate(read);
    Ok(end)
}

impl From<File> for InputFile {
    /// A file that stays open and that only this process writes.
    fn from(file: File) -> Self {
        Self::shared(None, None, file).0
    }
}

impl From<Arc<dyn ReadAt>> for InputFile {
    fn from(file: Arc<dyn ReadAt>) -> Self {
        Self(Kind::Remote(file))
    }
}

impl InputFile {
    /// A file opened at the given path, which may be closed and reopened there.
    pub(crate) fn of_path(path: &Path, file: File) -> Self {
        let origin = identity(&file).ok().map(|identity| Origin { path: path.to_owned(), identity });
        let (input, shared) = Self::shared(origin, Content::of(&file), file);
        register(&shared);
        input
    }

    /// Standard input, which stays open.
    pub(crate) fn of_stdin(file: File) -> Self {
        Self::shared(None, Content::of(&file), file).0
    }

    fn shared(origin: Option<Origin>, content: Option<Content>, file: File) -> (Self, Arc<Shared>) {
        let shared = Arc::new(Shared { origin, content, open: RwLock::new(Some(Arc::new(file))) });
        (Self(Kind::Local(Arc::clone(&shared))), shared)
    }

    /// Its bytes in order, from the first one on.
    pub(crate) fn reader(self) -> impl Read + Seek + Send {
        self.reader_from(0)
    }

    /// Its bytes in order, from an offset on.
    pub(crate) fn reader_from(self, offset: u64) -> impl Read + Seek + Send {
        InOrder { file: self, offset }
    }
}

impl Shared {
    /// The open file; reopens it if it was closed.
    fn file(self: &Arc<Self>) -> io::Result<Arc<File>> {
        let open = self.open.read().clone();
        open.map_or_else(|| self.reopen(), Ok)
    }

    /// Reads bytes; an error if the file has been changed since it was opened.
    fn read_at(self: &Arc<Self>, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let file = self.file()?;
        let read = file.as_ref().read_at(buffer, offset)?;
        match self.content.as_ref().map_or(Ok(true), |content| content.is_in(&file))? {
            true => Ok(read),
            false => Err(io::Error::other("it was changed during the run")),
        }
    }

    fn reopen(self: &Arc<Self>) -> io::Result<Arc<File>> {
        let origin = self.origin.as_ref().ok_or_else(|| io::Error::other("it was closed"))?;
        let mut open = self.open.write();
        if let Some(file) = &*open {
            return Ok(Arc::clone(file));
        }
        let file = File::open(&origin.path)?;
        if identity(&file)? != origin.identity {
            return Err(io::Error::other("it was replaced during the run"));
        }
        let file = Arc::new(file);
        *open = Some(Arc::clone(&file));
        drop(open);
        register(self);
        Ok(file)
    }

    fn close(&self) {
        self.open.write().take();
    }
}

/// The open files that may be closed, in the order in which they were opened.
static OPEN: Mutex<VecDeque<Weak<Shared>>> = Mutex::new(VecDeque::new());

/// The number of files that may be open: half of the system's limit, because the process has other files.
static ALLOWED: LazyLock<usize> = LazyLock::new(|| (most_open_files() / 2).clamp(MIN_OPEN, MAX_OPEN) as usize);

/// Registers an opened file, and closes others if too many are open.
fn register(shared: &Arc<Shared>) {
    let mut open = OPEN.lock();
    open.push_back(Arc::downgrade(shared));
    while open.len() > *ALLOWED {
        if let Some(oldest) = open.pop_front().and_then(|oldest| oldest.upgrade()) {
            oldest.close();
        }
    }
}

impl ReadAt for InputFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.0 {
            Kind::Local(shared) => shared.read_at(buffer, offset),
            Kind::Remote(file) => file.read_at(buffer, offset),
        }
    }

    fn length(&self) -> io::Result<u64> {
        match &self.0 {
            Kind::Local(shared) => Ok(shared.file()?.metadata()?.len()),
            Kind::Remote(file) => file.length(),
        }
    }

    fn is_remote(&self) -> bool {
        matches!(&self.0, Kind::Remote(file) if file.is_remote())
    }

    fn expect(&self, ranges: Vec<Range<u64>>) {
        if let Kind::Remote(file) = &self.0 {
            file.expect(ranges);
        }
    }

    fn forget(&self, range: Range<u64>) {
        if let Kind::Remote(file) = &self.0 {
            file.forget(range);
        }
    }
}

struct InOrder {
    file: InputFile,
    offset: u64,
}

impl Read for InOrder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Seek for InOrder {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(distance) => self.offset.checked_add_signed(distance),
            SeekFrom::End(distance) => self.file.length()?.checked_add_signed(distance),
        };
        self.offset = offset.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &Path) -> InputFile {
        InputFile::of_path(path, File::open(path).unwrap())
    }

    #[test]
    fn files_are_closed_when_many_are_open_and_reopened_when_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |number: usize| directory.path().join(number.to_string());
        let count = *ALLOWED + 40;
        let files: Vec<InputFile> = (0..count)
            .map(|number| {
                std::fs::write(path(number), format!("file {number}")).unwrap();
                opened(&path(number))
            })
            .collect();
        let local = |file: &InputFile| match &file.0 {
            Kind::Local(shared) => Arc::clone(shared),
            Kind::Remote(_) => unreachable!("it was opened here"),
        };
        let open = files.iter().filter(|file| local(file).open.read().is_some()).count();
        assert!(open <= *ALLOWED, "{open}");
        for (number, file) in files.iter().enumerate() {
            let mut text = String::new();
            file.clone().reader().read_to_string(&mut text).unwrap();
            assert_eq!(text, format!("file {number}"));
        }
        local(&files[0]).close();
        std::fs::write(path(count), "another").unwrap();
        std::fs::rename(path(count), path(0)).unwrap();
        let error = files[0].length().unwrap_err();
        assert!(error.to_string().contains("replaced"), "{error}");
    }

    #[test]
    fn a_file_may_grow_but_not_change_while_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        let old = "one\ntwo\n".repeat(1000);
        let replaced = |new: &str| {
            std::fs::write(&path, &old).unwrap();
            // The clock of a file system is coarse.
            let earlier = SystemTime::now() - std::time::Duration::from_secs(1);
            File::options().write(true).open(&path).unwrap().set_modified(earlier).unwrap();
            let file = opened(&path);
            std::fs::write(&path, new).unwrap();
            file.read_at(&mut [0; 4], 0).map_err(|error| error.to_string())
        };
        for grown in ["", "three\n"] {
            let outcome = replaced(&format!("{old}{grown}"));
            assert_eq!(outcome.is_ok(), !grown.is_empty(), "{outcome:?}");
        }
        for changed in [old[4..].to_owned(), old.replace("two", "six"), format!("zero\n{old}"), String::new()] {
            assert_eq!(replaced(&changed).unwrap_err(), "it was changed during the run");
        }
    }
}
