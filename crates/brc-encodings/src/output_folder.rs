//! Output directories, replaced atomically: written under a temporary name beside the target.

use crate::output::refuse_among;
use crate::platform::sync_directory;
use crate::remote::is_in_store;
use crate::unfinished::{Kind, Temporary, directory};
use brc_core::{Error, Result};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A directory being written. If it is dropped before [`OutputFolder::commit`], nothing is left.
pub struct OutputFolder {
    target: PathBuf,
    /// Before the lock, so that the name is released first.
    temporary: Temporary,
    lock: File,
    force: bool,
    sync: bool,
}

impl OutputFolder {
    /// Creates a directory for `target`. An existing target requires `force`, and must hold nothing but partitions:
    /// only the output of an earlier run is replaced.
    ///
    /// # Errors
    /// [`Error::Usage`] if it may not be replaced, or it contains an input; I/O errors.
    pub fn create(target: &Path, force: bool, sync: bool, inputs: &[PathBuf]) -> Result<Self> {
        let usage = |reason: String| Err(Error::Usage(format!("{}: {reason}", target.display())));
        if is_in_store(target) {
            return usage("partitions can be written to a local directory only".to_owned());
        }
        let mut target_path = target.to_owned();
        match fs::canonicalize(target) {
            Ok(found) => {
                if !found.is_dir() {
                    return usage("already exists and is not a directory".to_owned());
                }
                if inputs.iter().filter_map(|input| fs::canonicalize(input).ok()).any(|input| input.starts_with(&found))
                {
                    return usage("an input lies in the output".to_owned());
                }
                if !force {
                    return usage("already exists (--force replaces it)".to_owned());
                }
                if let Some(other) = other_than_partitions(target)? {
                    return usage(format!("holds '{other}', which is not a partition; remove the directory yourself"));
                }
                target_path = found;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(target, "create")(error)),
        }
        refuse_among(target, inputs)?;
        let created = Temporary::create(&target_path, Kind::Directory);
        let (temporary, lock) = created.map_err(Error::io(target, "create"))?;
        Ok(Self { target: target_path, temporary, lock, force, sync })
    }

    /// The temporary path to write to.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Renames the directory to its target.
    ///
    /// # Errors
    /// I/O errors, and without `force` if a directory has been made there meanwhile; it is then left untouched.
    pub fn commit(self) -> Result<()> {
        let failed = |error: io::Error| Error::io(&self.target, "write")(error);
        if self.sync {
            sync_directories(self.temporary.path()).map_err(failed)?;
        }
        self.temporary.rename_directory(&self.target, self.force).map_err(failed)?;
        drop(self.lock);
        if self.sync {
            sync_directory(directory(&self.target)).map_err(failed)?;
        }
        Ok(())
    }
}

/// An entry of a directory that no conversion wrote.
fn other_than_partitions(directory: &Path) -> Result<Option<String>> {
    for entry in fs::read_dir(directory).map_err(Error::io(directory, "list"))? {
        let entry = entry.map_err(Error::io(directory, "list"))?;
        let name = entry.file_name();
        let is_folder = name.as_encoded_bytes().contains(&b'=') && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder && !name.as_encoded_bytes().starts_with(b"_") {
            return Ok(Some(name.to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}

/// Syncs the entries of a directory and of all directories below it.
fn sync_directories(top: &Path) -> io::Result<()> {
    let mut directories = vec![top.to_owned()];
    while let Some(at) = directories.pop() {
        for entry in fs::read_dir(&at)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                directories.push(entry.path());
            }
        }
        sync_directory(&at)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_replaced_atomically() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out");
        let begin = |force| {
            let folder = OutputFolder::create(&target, force, true, &[])?;
            fs::create_dir(folder.path().join("a=1")).unwrap();
            fs::write(folder.path().join("a=1/x"), "new").unwrap();
            Ok::<_, Error>(folder)
        };
        drop(begin(false).unwrap());
        assert!(!target.exists());
        begin(false).unwrap().commit().unwrap();
        assert_eq!(fs::read(target.join("a=1/x")).unwrap(), b"new");
        assert!(matches!(begin(false), Err(Error::Usage(_))));
        fs::create_dir(target.join("a=2")).unwrap();
        drop(begin(true).unwrap());
        assert!(target.join("a=2").exists());
        begin(true).unwrap().commit().unwrap();
        assert!(!target.join("a=2").exists());
        fs::write(target.join("precious"), "").unwrap();
        assert!(begin(true).err().unwrap().to_string().contains("'precious'"));
        let inside = OutputFolder::create(&target, true, true, &[target.join("a=1/x")]);
        assert!(inside.err().unwrap().to_string().contains("an input lies in the output"));
        let late = OutputFolder::create(&directory.path().join("late"), false, true, &[]).unwrap();
        fs::create_dir_all(directory.path().join("late/of another")).unwrap();
        fs::create_dir(late.path().join("a=1")).unwrap();
        late.commit().unwrap_err();
        assert!(directory.path().join("late/of another").exists());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
