//! Outputs: a file that is replaced atomically, or a stream.
//!
//! A local file is written under a temporary name beside its target and renamed when it is complete, so a full disk or
//! a killed process never leaves a partial table. Threads write it at several offsets at once. Pipes and devices are
//! written sequentially.
//!
//! A file in a store is written sequentially and appears when it is complete.

mod target;

use crate::platform;
use crate::temporary;
use crate::unfinished::{Finish, Unfinished};
use brc_core::{Error, ReadAt, Result, WriteAt};
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
pub(crate) use target::refuse_among;
pub use target::same_target;
use target::{StandardStream, follow_links, open_stream, refuse_inputs};

/// The options of an output.
#[derive(Debug, Clone, Default)]
pub struct OutputOptions {
    /// Whether an existing file may be replaced, at the start or at the commit.
    pub force: bool,
    /// Whether [`Output::commit`] waits until the bytes are on disk. Otherwise a crash of the machine (not of the
    /// program) shortly afterwards may leave a damaged file.
    pub sync: bool,
    /// Files that are read at the same time and must not be the target, under any name, and directories that must not
    /// hold it; `-` is standard input.
    pub inputs: Vec<PathBuf>,
}

/// An output being written. If it is dropped before [`Output::commit`], no file is left.
pub struct Output {
    path: PathBuf,
    destination: Destination,
}

enum Destination {
    File(Unfinished),
    Stream(Mutex<Stream>),
    /// An unnamed file.
    Unnamed(File),
    /// A stream that receives its bytes at the end.
    Staged {
        copy: File,
        stream: Stream,
    },
}

/// An output that is written in order.
enum Stream {
    Local(File),
    #[cfg(feature = "stores")]
    Upload(Box<brc_store::Upload>),
}

impl Stream {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Local(file) => file.write_all(bytes),
            #[cfg(feature = "stores")]
            Self::Upload(upload) => upload.write_all(bytes),
        }
    }

    /// Copies the rest of a file.
    fn copy(&mut self, file: &mut File) -> io::Result<u64> {
        match self {
            Self::Local(stream) => io::copy(file, stream),
            #[cfg(feature = "stores")]
            Self::Upload(upload) => io::copy(file, upload),
        }
    }

    fn finish(self, path: &Path) -> Result<()> {
        match self {
            Self::Local(mut file) => file.flush().map_err(Error::io(path, "write")),
            #[cfg(feature = "stores")]
            Self::Upload(upload) => upload.finish(),
        }
    }
}

/// The number of bytes copied at once.
const COPIED_AT_ONCE: u64 = 1 << 20;

impl Output {
    /// Creates an output; `-` is standard output, as are its other names: `/dev/stdout`, `/dev/fd/1` …
    ///
    /// # Errors
    /// [`Error::Usage`] if the target is an input, or exists and may not be replaced; I/O errors if it cannot be
    /// created.
    pub fn create(path: &Path, options: &OutputOptions) -> Result<Self> {
        #[cfg(feature = "stores")]
        if crate::remote::is_in_store(path) {
            return Self::in_store(path, options);
        }
        let standard = StandardStream::at(path);
        let path = if standard == Some(StandardStream::Out) { Path::new("-") } else { path };
        // Not by the resolved path: the link of a pipe names no file.
        let found = match standard.map_or_else(|| fs::metadata(path), |it| it.open()?.metadata()) {
            Ok(found) => Some(found),
            Err(error) if standard.is_some() || error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(path, "create")(error)),
        };
        if found.as_ref().is_some_and(platform::has_contents) {
            refuse_inputs(path, standard, &options.inputs)?;
        }
        if standard.is_none() {
            refuse_among(path, &options.inputs)?;
        }
        let destination = match (standard, found) {
            (Some(standard), _) => {
                let stream = standard.open().map_err(Error::io(path, "open"))?;
                Destination::Stream(Mutex::new(Stream::Local(stream)))
            }
            (None, Some(found)) if found.is_dir() => {
                return Err(Error::io(path, "write")(io::ErrorKind::IsADirectory.into()));
            }
            (None, Some(found)) if !found.is_file() => {
                Destination::Stream(Mutex::new(Stream::Local(open_stream(path, &found)?)))
            }
            (None, Some(_)) if !options.force => {
                return Err(Error::Usage(format!("{}: already exists (--force replaces it)", path.display())));
            }
            (None, found) => {
                let target = follow_links(path);
                let finish = Finish { replaces: options.force, sync: options.sync };
                let file = Unfinished::create(target, found.map(|found| found.permissions()), finish);
                Destination::File(file.map_err(Error::io(path, "create"))?)
            }
        };
        Ok(Self { path: path.to_owned(), destination })
    }

    #[cfg(feature = "stores")]
    fn in_store(path: &Path, options: &OutputOptions) -> Result<Self> {
        if options.inputs.iter().any(|input| input == path) {
            return Err(target::same_file(path));
        }
        let upload = brc_store::Upload::create(&brc_store::Address::parse(path)?, options.force)?;
        Ok(Self {
            path: path.to_owned(),
            destination: Destination::Stream(Mutex::new(Stream::Upload(Box::new(upload)))),
        })
    }

    /// Creates an unnamed file in the given directory, which is gone once no process has it open; also returns the
    /// file for reading after the commit.
    ///
    /// # Errors
    /// I/O errors.
    pub fn temporary(directory: &Path) -> Result<(Self, File)> {
        let file = temporary::file_in(directory)?;
        let copy = file.try_clone().map_err(temporary::write_error_in(directory))?;
        Ok((Self { path: directory.to_owned(), destination: Destination::Unnamed(copy) }, file))
    }

    /// The target's name, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether bytes can only be written in sequence.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.destination, Destination::Stream(_) | Destination::Staged { .. })
    }

    /// The same output, of which nothing is visible before the commit: the bytes of a stream are collected in a
    /// temporary file.
    ///
    /// # Errors
    /// If there is no space for a temporary file.
    pub fn staged(self) -> Result<Self> {
        let destination = match self.destination {
            Destination::Stream(stream) => {
                let stream = stream.into_inner();
                Destination::Staged { copy: temporary::file()?, stream }
            }
            destination => destination,
        };
        Ok(Self { destination, ..self })
    }

    /// The same output with only these byte ranges of what was written so far, in the given order. A stream must be
    /// [staged](Output::staged).
    ///
    /// # Errors
    /// I/O errors.
    pub fn rearranged(self, ranges: &[Range<u64>]) -> Result<Self> {
        let Self { path, destination } = self;
        let failed = |error| Error::io(&path, "write")(error);
        let destination = match destination {
            Destination::File(file) => {
                let new = file.create_second().map_err(failed)?;
                let read = |buffer: &mut [u8], at| file.read_exact_at(buffer, at);
                copy_ranges(ranges, read, |bytes, at| new.write_at(bytes, at)).map_err(failed)?;
                Destination::File(new)
            }
            Destination::Staged { copy, stream } => {
                Destination::Staged { copy: copy_of_ranges(&copy, ranges)?, stream }
            }
            Destination::Unnamed(file) => {
                // The caller reads this very file, so it is rewritten in place.
                let failed = |error| temporary::write_error_in(&path)(error);
                let new = copy_of_ranges(&file, ranges)?;
                let whole = 0..new.metadata().map_err(failed)?.len();
                file.set_len(0).map_err(failed)?;
                let read = |buffer: &mut [u8], at| new.read_exact_at(buffer, at);
                copy_ranges(&[whole], read, |bytes, at| file.write_all_at(bytes, at)).map_err(failed)?;
                Destination::Unnamed(file)
            }
            Destination::Stream(_) => return Err(failed(io::ErrorKind::NotSeekable.into())),
        };
        Ok(Self { path, destination })
    }

    /// Writes at an offset of a file. A stream ignores the offset: its caller writes in order.
    ///
    /// # Errors
    /// I/O errors: a full disk, a closed pipe …
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        match &self.destination {
            Destination::File(file) => file.write_at(bytes, offset),
            Destination::Stream(stream) => stream.lock().write_all(bytes),
            Destination::Staged { copy, .. } => {
                return copy.write_all_at(bytes, offset).map_err(temporary::write_error);
            }
            Destination::Unnamed(file) => {
                return file.write_all_at(bytes, offset).map_err(temporary::write_error_in(&self.path));
            }
        }
        .map_err(Error::io(&self.path, "write"))
    }

    /// Starts a file output with a copy of another file; the two share disk space if the file system supports it.
    ///
    /// # Errors
    /// [`Error::Usage`] if the target is not a file; I/O errors.
    pub(crate) fn begin_with(&self, mut other: &File) -> Result<()> {
        let Destination::File(file) = &self.destination else {
            return Err(Error::Usage(format!(
                "{}: is not a regular file, so no rows can be appended",
                self.path.display()
            )));
        };
        let copied = other.rewind().and_then(|()| io::copy(&mut other, &mut file.sequential()));
        copied.map(drop).map_err(Error::io(&self.path, "write"))
    }

    /// Completes the output: the target now exists.
    ///
    /// # Errors
    /// I/O errors; an existing file is then left untouched.
    pub fn commit(self) -> Result<()> {
        match self.destination {
            Destination::File(file) => file.commit().map_err(Error::io(&self.path, "write")),
            // On systems where each write moves the position, the next reader would start at the end.
            Destination::Unnamed(mut file) => file.rewind().map_err(Error::io(&self.path, "write")),
            Destination::Stream(stream) => stream.into_inner().finish(&self.path),
            Destination::Staged { mut copy, mut stream } => {
                copy.rewind().and_then(|()| stream.copy(&mut copy)).map_err(Error::io(&self.path, "write"))?;
                stream.finish(&self.path)
            }
        }
    }
}

/// A temporary file with these byte ranges of a file.
fn copy_of_ranges(file: &File, ranges: &[Range<u64>]) -> Result<File> {
    let new = temporary::file()?;
    let copied =
        copy_ranges(ranges, |buffer, at| file.read_exact_at(buffer, at), |bytes, at| new.write_all_at(bytes, at));
    copied.map_err(temporary::write_error)?;
    Ok(new)
}

/// Copies byte ranges to contiguous bytes.
fn copy_ranges(
    ranges: &[Range<u64>],
    read: impl Fn(&mut [u8], u64) -> io::Result<()>,
    write: impl Fn(&[u8], u64) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; COPIED_AT_ONCE as usize];
    let mut filled = 0;
    let mut end = 0;
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            let length = (range.end - at).min(COPIED_AT_ONCE - filled as u64) as usize;
            read(&mut buffer[filled..filled + length], at)?;
            at += length as u64;
            filled += length;
            if filled == buffer.len() {
                write(&buffer, end)?;
                end += filled as u64;
                filled = 0;
            }
        }
    }
    write(&buffer[..filled], end)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn options() -> OutputOptions {
        OutputOptions { sync: true, ..OutputOptions::default() }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_target_appears_only_when_it_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        let output = Output::create(&path, &options()).unwrap();
        output.write_at(b"world", 6).unwrap();
        output.write_at(b"hello ", 0).unwrap();
        assert!(!path.exists());
        output.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"hello world");
        assert_eq!(names(directory.path()), ["table"]);
    }

    #[test]
    fn a_dropped_output_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        fs::write(&path, "old").unwrap();
        let output = Output::create(&path, &OutputOptions { force: true, ..options() }).unwrap();
        output.write_at(b"new", 0).unwrap();
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["table"]);
    }

    #[test]
    fn an_unnamed_file_is_readable_after_the_commit() {
        let directory = tempfile::tempdir().unwrap();
        let (output, mut file) = Output::temporary(directory.path()).unwrap();
        output.write_at(b"hello world", 0).unwrap();
        output.rearranged(&[6..11, 0..1]).unwrap().commit().unwrap();
        assert_eq!(io::read_to_string(&mut file).unwrap(), "worldh");
        // On Windows, a file always has a name: it is deleted when its last handle is closed.
        assert!(cfg!(windows) || names(directory.path()).is_empty());
        drop(file);
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn an_existing_file_needs_force_and_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Output::create(&path, &options()), Err(Error::Usage(_))));
        Output::create(&path, &OutputOptions { force: true, ..options() }).unwrap().commit().unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!((metadata.len(), metadata.mode() & 0o777), (0, 0o640));
    }

    #[test]
    fn a_file_created_meanwhile_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        let output = Output::create(&path, &options()).unwrap();
        fs::write(&path, "theirs").unwrap();
        let error = output.commit().unwrap_err().to_string();
        assert!(error.contains("exists"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(directory.path()), ["table"]);
    }

    #[test]
    fn force_replaces_a_file_created_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        let output = Output::create(&path, &OutputOptions { force: true, ..options() }).unwrap();
        output.write_at(b"our table", 0).unwrap();
        fs::write(&path, "theirs").unwrap();
        output.rearranged(&[0..3, 8..9]).unwrap().commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"oure");
        assert_eq!(names(directory.path()), ["table"]);
    }

    #[test]
    fn large_files_are_synced_in_the_background() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        let output = Output::create(&path, &options()).unwrap();
        let piece = vec![7; 12 << 20];
        for index in 0..6 {
            output.write_at(&piece, index * (12 << 20)).unwrap();
        }
        output.commit().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 6 * (12 << 20));
    }

    #[test]
    #[cfg(unix)]
    fn new_files_have_default_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let [ours, other] = ["ours", "other"].map(|name| directory.path().join(name));
        Output::create(&ours, &options()).unwrap().commit().unwrap();
        fs::write(&other, "").unwrap();
        assert_eq!(fs::metadata(ours).unwrap().mode(), fs::metadata(other).unwrap().mode());
    }

    #[test]
    fn an_input_is_refused_under_any_name() {
        let directory = tempfile::tempdir().unwrap();
        let [input, hard, soft] = ["input", "hard", "soft"].map(|name| directory.path().join(name));
        fs::write(&input, "x").unwrap();
        fs::hard_link(&input, &hard).unwrap();
        #[cfg(unix)]
        symlink("input", &soft).unwrap();
        let options = OutputOptions { force: true, inputs: vec![input.clone()], ..options() };
        for path in [&input, &hard, &soft].into_iter().filter(|path| path.exists()) {
            let error = Output::create(path, &options).err().unwrap();
            assert!(error.to_string().contains("same file"), "{error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn links_stay_links() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link, dangling] = ["file", "link", "dangling"].map(|name| directory.path().join(name));
        fs::write(&file, "old").unwrap();
        symlink("file", &link).unwrap();
        symlink("later", &dangling).unwrap();
        for path in [&link, &dangling] {
            let output = Output::create(path, &OutputOptions { force: true, ..options() }).unwrap();
            output.write_at(b"new", 0).unwrap();
            output.commit().unwrap();
            assert!(fs::symlink_metadata(path).unwrap().is_symlink());
            assert_eq!(fs::read(path).unwrap(), b"new");
        }
        assert_eq!(names(directory.path()), ["dangling", "file", "later", "link"]);
    }

    #[test]
    #[cfg(unix)]
    fn devices_are_written_directly_and_directories_are_rejected() {
        let full = Output::create(Path::new("/dev/full"), &options()).unwrap();
        assert!(full.is_stream());
        let error = full.write_at(b"x", 0).unwrap_err().to_string();
        assert!(error.contains("/dev/full: cannot write"), "{error}");
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(Output::create(directory.path(), &options()), Err(Error::Io { .. })));
        let nowhere = directory.path().join("no/such/directory");
        assert!(matches!(Output::create(&nowhere, &options()), Err(Error::Io { .. })));
    }
}
