//! Files that are written under a temporary name beside their target, and renamed when they are complete.
//!
//! Temporary files never stay for good: an error or a signal removes them, and what remains after SIGKILL or a power
//! failure is removed by the next run with the same target. It recognises them by their name, which contains that of
//! the target, and by a lock that is held while a process writes them.

use crate::frames::checksum;
use crate::platform::{is_named, sync_directory};
use crate::write_back::WriteBack;
use brc_core::{ReadAt, WriteAt};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use tempfile::TempPath;

/// A file under its temporary name, and what it will be called.
pub(crate) struct Unfinished {
    /// Before the file, so that the name is free before the lock is.
    temporary: Temporary,
    file: File,
    target: PathBuf,
    finish: Finish,
    /// Who brings the bytes to the disk meanwhile.
    write_back: Option<WriteBack>,
}

/// How an unfinished file gets the name of its target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Finish {
    /// Whether it replaces the file that has the name by then, if there is one.
    pub(crate) replaces: bool,
    /// Whether it is to be on the disk when it gets the name.
    pub(crate) sync: bool,
}

impl Unfinished {
    /// Begins a file with these permissions, or those of any new file.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn create(target: PathBuf, permissions: Option<Permissions>, finish: Finish) -> io::Result<Self> {
        let (temporary, file) = Temporary::create(&target)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        // Without it there is only more to wait for at the end.
        let write_back = if finish.sync && WriteBack::IS_CHEAP { WriteBack::of(&file).ok() } else { None };
        Ok(Self { temporary, file, target, finish, write_back })
    }

    /// Reads at a place of the file, until `buffer` is full.
    ///
    /// # Errors
    /// The system's; also if the file ends before.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    /// The file, to be written in order.
    pub(crate) fn sequential(&self) -> &File {
        &self.file
    }

    /// Another file for the same target.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn another(&self) -> io::Result<Self> {
        Self::create(self.target.clone(), Some(self.file.metadata()?.permissions()), self.finish)
    }

    /// Writes at a place of the file.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)?;
        if let Some(write_back) = &self.write_back {
            write_back.wrote(bytes.len());
        }
        Ok(())
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The system's; also if another file has got the name meanwhile, and none was to be replaced.
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

/// Temporary files that are there now, for whoever has to end the process from outside.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all targets that are being written: what a process does just before it is ended from
/// outside. Whoever begins or ends another target afterwards waits for ever.
pub fn remove_unfinished() {
    /// How often it is tried while another target is begun or ended: by this very thread perhaps, if memory runs out.
    const ATTEMPTS: u32 = 100;
    let attempt = |_| match UNFINISHED.try_lock() {
        Ok(unfinished) => Some(unfinished),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(Duration::from_millis(5));
            None
        }
    };
    let Some(mut unfinished) = (0..ATTEMPTS).find_map(attempt) else { return };
    for path in unfinished.drain(..) {
        // Nobody is left to tell if it fails.
        let _ = fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

/// The name of a temporary file, which goes with it unless it is renamed.
struct Temporary {
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    /// Makes a file beside `target`, and removes what killed processes have left there.
    fn create(target: &Path) -> io::Result<(Self, File)> {
        /// How many processes may write one target at the same time: the first to end gets the name.
        const MOST: u32 = 1000;
        /// How many names behind the one that is taken are looked at. They are in use where processes write side by side.
        const OTHERS: u32 = 8;
        let path = |number| directory(target).join(name(target.file_name().unwrap_or_default(), number));
        // Locked, so that no file comes into being once a signal has had all of them removed.
        let mut unfinished = unfinished();
        for number in 0..MOST {
            let Some(file) = claim(&path(number))? else { continue };
            let temporary = Self { path: path(number), renamed: false };
            unfinished.push(temporary.path.clone());
            for other in number + 1..=number + OTHERS {
                remove_stale(&path(other));
            }
            return Ok((temporary, file));
        }
        Err(io::Error::new(ErrorKind::ResourceBusy, format!("{MOST} other processes are writing it")))
    }

    fn rename(mut self, target: &Path, replaces: bool) -> io::Result<()> {
        let mut unfinished = unfinished();
        let path = TempPath::try_from_path(&self.path)?;
        let renamed = if replaces { path.persist(target) } else { path.persist_noclobber(target) };
        if let Err(failed) = renamed {
            // It is removed when `self` is dropped.
            let _ = failed.path.keep();
            return Err(failed.error);
        }
        unfinished.retain(|path| *path != self.path);
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let mut unfinished = unfinished();
            // Nobody is left to tell if it fails.
            let _ = fs::remove_file(&self.path);
            unfinished.retain(|path| *path != self.path);
        }
    }
}

/// The name of a temporary file for a target: not longer than the target's name where that could be too long.
fn name(target: &OsStr, number: u32) -> OsString {
    const LONG: usize = 100;
    const KEPT: usize = 50;
    let bytes = target.as_encoded_bytes();
    let mut name = OsString::from(".");
    if bytes.len() <= LONG {
        name.push(target);
    } else {
        // Two targets with one name here would only take turns.
        name.push(format!("{}.{:08x}", String::from_utf8_lossy(&bytes[..KEPT]), checksum(bytes)));
    }
    name.push(format!(".{number}.brc-tmp"));
    name
}

/// Makes a file of that name and locks it; `None` if another process is writing one.
fn claim(path: &Path) -> io::Result<Option<File>> {
    loop {
        match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
            // Another process may have taken it for a stale one before it was locked.
            Ok(file) if !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) && is_named(&file, path) => {
                return Ok(Some(file));
            }
            Ok(_) => {}
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) if remove_stale(path) => {}
            Err(_) => return Ok(None),
        }
    }
}

/// Removes a temporary file that nobody writes any more; returns whether there is none of that name now.
fn remove_stale(path: &Path) -> bool {
    let gone = |error: io::Error| error.kind() == ErrorKind::NotFound;
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return false,
        Ok(_) => {}
        Err(error) => return gone(error),
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    // Only who holds the lock removes the file, so what is locked and still has the name is safe to remove by it.
    file.try_lock().is_ok() && (!is_named(&file, path) || fs::remove_file(path).is_ok())
}

/// The directory in which a path lies.
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
    fn processes_write_one_target_side_by_side() {
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
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
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
    fn a_name_that_is_just_short_enough_has_a_temporary_one() {
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
