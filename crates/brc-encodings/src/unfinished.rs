//! Files and directories that are written under a temporary name beside their target, and renamed when they are
//! complete.
//!
//! They never stay for good: an error or a signal removes them, and what remains after SIGKILL or a power failure is
//! removed by the next run with the same target. It recognises them by their name, which contains that of the target,
//! and by a lock that is held while a process writes them.

use crate::frames::checksum;
use crate::platform::{exchange, is_named, open_directory, sync_directory};
use crate::write_back::WriteBack;
use brc_core::{ReadAt, WriteAt};
use parking_lot::Mutex;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempPath;

/// A file under its temporary name, and its target.
pub(crate) struct Unfinished {
    /// Before the file, so that the name is released before the lock.
    temporary: Temporary,
    file: File,
    target: PathBuf,
    finish: Finish,
    /// Writes the bytes to disk in the background.
    write_back: Option<WriteBack>,
}

/// How an unfinished file is renamed to its target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Finish {
    /// Whether it replaces a file that exists by then.
    pub(crate) replaces: bool,
    /// Whether it is synced before it is renamed.
    pub(crate) sync: bool,
}

impl Unfinished {
    /// Creates a file with these permissions, or the default ones.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn create(target: PathBuf, permissions: Option<Permissions>, finish: Finish) -> io::Result<Self> {
        let (temporary, file) = Temporary::create(&target, Kind::File)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        // Without it, only the final sync takes longer.
        let write_back = if finish.sync && WriteBack::IS_CHEAP { WriteBack::of(&file).ok() } else { None };
        Ok(Self { temporary, file, target, finish, write_back })
    }

    /// Reads at an offset of the file until `buffer` is full.
    ///
    /// # Errors
    /// I/O errors; also if the file ends earlier.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    /// The file, to be written in order.
    pub(crate) fn sequential(&self) -> &File {
        &self.file
    }

    /// A second file for the same target.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn create_second(&self) -> io::Result<Self> {
        Self::create(self.target.clone(), Some(self.file.metadata()?.permissions()), self.finish)
    }

    /// Writes at an offset of the file.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)?;
        if let Some(write_back) = &self.write_back {
            write_back.wrote(bytes.len());
        }
        Ok(())
    }

    /// Renames the file to its target.
    ///
    /// # Errors
    /// I/O errors; also if the target exists by now and must not be replaced.
    pub(crate) fn commit(self) -> io::Result<()> {
        if let Some(write_back) = self.write_back {
            write_back.end();
        }
        let Finish { replaces, sync } = self.finish;
        if sync {
            self.file.sync_all()?;
        }
        self.temporary.rename(&self.target, replaces)?;
        if !sync {
            return Ok(());
        }
        sync_directory(directory(&self.target))
    }
}

/// The existing temporary files and directories, for signal handlers.
static UNFINISHED: Mutex<Vec<(PathBuf, Kind)>> = Mutex::new(Vec::new());

/// Removes the temporary files and directories of all outputs: a process calls it just before a signal ends it. A
/// thread that begins or ends an output afterwards blocks forever.
pub fn remove_unfinished() {
    /// The number of attempts while another output is begun or ended: possibly by this very thread, if memory runs out.
    /// Waiting for the lock would need memory.
    const ATTEMPTS: u32 = 100;
    let attempt = |_| {
        let unfinished = UNFINISHED.try_lock();
        if unfinished.is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        unfinished
    };
    let Some(mut unfinished) = (0..ATTEMPTS).find_map(attempt) else { return };
    for (path, kind) in unfinished.drain(..) {
        // A failure cannot be reported any more.
        let _ = kind.remove(&path);
    }
    std::mem::forget(unfinished);
}

/// What an output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
}

impl Kind {
    fn is_of(self, found: &Metadata) -> bool {
        match self {
            Self::File => found.is_file(),
            Self::Directory => found.is_dir(),
        }
    }

    fn open(self, path: &Path) -> io::Result<File> {
        match self {
            Self::File => File::open(path),
            Self::Directory => open_directory(path),
        }
    }

    /// Creates a file or directory that does not exist yet, and opens it.
    fn create(self, path: &Path) -> io::Result<File> {
        if self == Self::File {
            return OpenOptions::new().read(true).write(true).create_new(true).open(path);
        }
        fs::create_dir(path)?;
        open_directory(path).map_err(|error| {
            // Another process may have removed it as stale before it was opened: as if its name had been taken.
            if is_gone(&error) {
                return ErrorKind::AlreadyExists.into();
            }
            // A failure cannot be reported any more.
            let _ = fs::remove_dir(path);
            error
        })
    }

    fn remove(self, path: &Path) -> io::Result<()> {
        match self {
            Self::File => fs::remove_file(path),
            Self::Directory => remove_directory(path),
        }
    }
}

/// Removes a directory in which a process that is about to end may still create files.
///
/// # Errors
/// I/O errors.
pub fn remove_directory(directory: &Path) -> io::Result<()> {
    /// How often removal is retried while new files appear.
    const ATTEMPTS: u32 = 20;
    let attempt = || match fs::remove_dir_all(directory) {
        Err(error) if !is_gone(&error) => Err(error),
        _ => Ok(()),
    };
    (1..ATTEMPTS).find_map(|_| attempt().ok()).map_or_else(attempt, Ok)
}

/// The name of a temporary file or directory, which is removed on drop unless it is renamed.
pub(crate) struct Temporary {
    path: PathBuf,
    kind: Kind,
    renamed: bool,
}

impl Temporary {
    /// Creates a file or directory beside `target`, and removes leftovers of killed processes. The returned file is
    /// locked: it must be dropped after the name.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn create(target: &Path, kind: Kind) -> io::Result<(Self, File)> {
        /// The maximum number of processes that write one target at the same time: the first to finish gets the name.
        const MAX_NAMES: u32 = 1000;
        /// The number of names checked after the one taken. They are in use if several processes write the same target.
        const EXTRA_NAMES: u32 = 8;
        let path = |number| directory(target).join(name(target.file_name().unwrap_or_default(), number));
        // Locked, so that no file is created after a signal has had all of them removed.
        let mut unfinished = UNFINISHED.lock();
        for number in 0..MAX_NAMES {
            let Some(file) = claim(&path(number), kind)? else { continue };
            let temporary = Self { path: path(number), kind, renamed: false };
            unfinished.push((temporary.path.clone(), kind));
            drop(unfinished);
            for other in number + 1..=number + EXTRA_NAMES {
                remove_stale(&path(other), kind);
            }
            return Ok((temporary, file));
        }
        Err(io::Error::new(ErrorKind::ResourceBusy, format!("{MAX_NAMES} other processes are writing it")))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames a directory to its target. If it `replaces` an old one, that is then removed.
    ///
    /// # Errors
    /// I/O errors, and if there is a target that it does not replace; the target is then left untouched.
    pub(crate) fn rename_directory(mut self, target: &Path, replaces: bool) -> io::Result<()> {
        let listed = UNFINISHED.lock();
        match if replaces { exchange(&self.path, target) } else { Err(ErrorKind::NotFound.into()) } {
            Err(error) if is_gone(&error) => fs::rename(&self.path, target)?,
            exchanged => exchanged?,
        }
        self.renamed = true;
        let is_free = |old: &File| !matches!(old.try_lock(), Err(fs::TryLockError::WouldBlock));
        // Locked, so that no other process removes the old directory and takes its name.
        let old = self.kind.open(&self.path).ok().filter(is_free);
        drop(listed);
        if old.is_some() {
            // It is listed until then: a signal removes what is left. Whatever remains is removed by the next run.
            let _ = self.kind.remove(&self.path);
        }
        UNFINISHED.lock().retain(|(path, _)| *path != self.path);
        Ok(())
    }

    fn rename(mut self, target: &Path, replaces: bool) -> io::Result<()> {
        let mut unfinished = UNFINISHED.lock();
        let path = TempPath::try_from_path(&self.path)?;
        let renamed = if replaces { path.persist(target) } else { path.persist_noclobber(target) };
        if let Err(failed) = renamed {
            // The file is removed when `self` is dropped.
            let _ = failed.path.keep();
            return Err(failed.error);
        }
        unfinished.retain(|(path, _)| *path != self.path);
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // To remove a directory takes long: it stays listed meanwhile, and a signal removes what is left.
            let listed = (self.kind == Kind::File).then(|| UNFINISHED.lock());
            // A failure cannot be reported any more.
            let _ = self.kind.remove(&self.path);
            listed.unwrap_or_else(|| UNFINISHED.lock()).retain(|(path, _)| *path != self.path);
        }
    }
}

/// The name of a temporary file for a target: no longer than the target's name where that could be too long.
fn name(target: &OsStr, number: u32) -> OsString {
    const MAX_BYTES: usize = 100;
    const KEPT: usize = 50;
    let bytes = target.as_encoded_bytes();
    let mut name = OsString::from(".");
    if bytes.len() <= MAX_BYTES {
        name.push(target);
    } else {
        // Two targets that share a name only delay each other.
        name.push(format!("{}.{:08x}", String::from_utf8_lossy(&bytes[..KEPT]), checksum(bytes)));
    }
    name.push(format!(".{number}.brc-tmp"));
    name
}

/// Creates a file or directory with the given name and locks it; `None` if another process is writing it.
fn claim(path: &Path, kind: Kind) -> io::Result<Option<File>> {
    loop {
        match kind.create(path) {
            // Another process may have removed it as stale before it was locked.
            Ok(file) if !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) && is_named(&file, path) => {
                return Ok(Some(file));
            }
            Ok(_) => {}
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) if remove_stale(path, kind) => {}
            Err(_) => return Ok(None),
        }
    }
}

/// Removes a temporary file or directory that no process writes; returns whether the name is free now.
fn remove_stale(path: &Path, kind: Kind) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) if !kind.is_of(&found) => return false,
        Ok(_) => {}
        Err(error) => return is_gone(&error),
    }
    let file = match kind.open(path) {
        Ok(file) => file,
        Err(error) => return is_gone(&error),
    };
    // Only the holder of the lock removes the file, so a locked file that still has its name is safe to remove.
    file.try_lock().is_ok() && (!is_named(&file, path) || kind.remove(path).is_ok())
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

/// The directory that contains a path.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn processes_write_one_target_concurrently() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("table");
        let [first, second] = [0, 1].map(|_| Unfinished::create(target.clone(), None, Finish::default()).unwrap());
        assert_eq!(names(directory.path()), [".table.0.brc-tmp", ".table.1.brc-tmp"]);
        second.write_at(b"second", 0).unwrap();
        second.commit().unwrap();
        assert_eq!(first.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(names(directory.path()), ["table"]);
        assert_eq!(fs::read(target).unwrap(), b"second");
    }

    #[test]
    #[cfg(unix)]
    fn only_leftovers_of_killed_processes_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("table");
        let living = Unfinished::create(target.clone(), None, Finish::default()).unwrap();
        let others = [".tabl.0.brc-tmp", ".table.0.tmp", ".table.x.brc-tmp", "table.0.brc-tmp"];
        for name in others.into_iter().chain([".table.1.brc-tmp", ".table.4.brc-tmp"]) {
            fs::write(directory.path().join(name), "stale").unwrap();
        }
        std::os::unix::fs::symlink("nothing", directory.path().join(".table.2.brc-tmp")).unwrap();
        fs::create_dir(directory.path().join(".table.3.brc-tmp")).unwrap();
        Unfinished::create(target, None, Finish::default()).unwrap().commit().unwrap();
        let mut expected = Vec::from(others);
        expected.extend([".table.0.brc-tmp", ".table.2.brc-tmp", ".table.3.brc-tmp", "table"]);
        expected.sort_unstable();
        assert_eq!(names(directory.path()), expected);
        drop(living);
        assert!(!directory.path().join(".table.0.brc-tmp").exists());
    }

    #[test]
    #[cfg(unix)]
    fn directories_are_written_concurrently_and_their_leftovers_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("table");
        let stale = |name: &str| fs::create_dir_all(directory.path().join(name).join("k=1")).unwrap();
        [".table.1.brc-tmp", ".table.2.brc-tmp", ".tabl.0.brc-tmp"].into_iter().for_each(stale);
        fs::write(directory.path().join(".table.3.brc-tmp"), "a file").unwrap();
        let create = || Temporary::create(&target, Kind::Directory).unwrap();
        let [first, second] = [create(), create()];
        let others = [".tabl.0.brc-tmp", ".table.0.brc-tmp", ".table.1.brc-tmp", ".table.3.brc-tmp"];
        assert_eq!(names(directory.path()), others);
        for ((temporary, _lock), name) in [(first, "k=1"), (second, "k=2")] {
            fs::create_dir(temporary.path().join(name)).unwrap();
            temporary.rename_directory(&target, true).unwrap();
            assert_eq!(names(&target), [name]);
        }
        assert_eq!(names(directory.path()), [".tabl.0.brc-tmp", ".table.3.brc-tmp", "table"]);
        drop(create());
        let (temporary, _lock) = create();
        assert!(temporary.rename_directory(&target, false).is_err(), "there is one");
        assert_eq!(names(&target), ["k=2"]);
        assert_eq!(names(directory.path()), [".tabl.0.brc-tmp", ".table.3.brc-tmp", "table"]);
    }

    #[test]
    #[cfg(unix)]
    fn the_longest_name_has_a_temporary_name() {
        let directory = tempfile::tempdir().unwrap();
        for letter in ["x", "é"] {
            let longest = letter.repeat(255 / letter.len());
            let target = directory.path().join(&longest);
            Unfinished::create(target.clone(), None, Finish::default()).unwrap().commit().unwrap();
            assert!(target.exists());
            for length in 1..=255 {
                let name = name(
                    std::os::unix::ffi::OsStrExt::from_bytes(&longest.as_bytes()[..length.min(longest.len())]),
                    999,
                );
                assert!(name.len() <= length.max(114), "{length}: {name:?}");
            }
        }
        assert_ne!(name(OsStr::new(&"x".repeat(200)), 0), name(OsStr::new(&"x".repeat(201)), 0));
    }
}
