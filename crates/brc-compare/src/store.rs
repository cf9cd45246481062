//! Keeps results in a directory, so that a run that was interrupted goes on where it was.
//!
//! The directory may be anybody's: what is in it and is not a comparison's stays as it is. Only one comparison at a time
//! works in it, so whatever looks like the scratch directory of one is left over from one that was killed, and goes.

use super::results::Results;
use super::resume::differences;
use crate::error;
use brc_core::{Error, Result};
use brc_encodings::{Output, OutputOptions, document};
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The file of the results.
const RESULTS: &str = "results.json";

/// All files that are written beside it.
pub(crate) const REPORTS: [&str; 3] = ["results.csv", "README.md", "report.html"];

/// Where converted files stay.
pub(crate) const FILES: &str = "files";

/// What the names of directories start with that do not stay.
const SCRATCH: &str = ".brc-compare-";

/// A directory of results, of which no other process is another.
pub(crate) struct Store {
    directory: PathBuf,
    /// Files that are read, and so must not be replaced.
    inputs: Vec<PathBuf>,
    _lock: File,
}

impl Store {
    /// The directory, made if it is not there, for a comparison of `inputs`.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is something else, if another comparison works there, or if an input is where files are
    /// going to be written; the system's.
    pub(crate) fn new(directory: &Path, inputs: &[PathBuf]) -> Result<Self> {
        let refuse = |what: &str| Err(Error::Usage(format!("{}: {what}", directory.display())));
        if fs::metadata(directory).is_ok_and(|found| !found.is_dir()) {
            return refuse("is not a directory, as --out needs one");
        }
        fs::create_dir_all(directory).map_err(Error::io(directory, "create"))?;
        let lock = File::open(directory).map_err(Error::io(directory, "open"))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return refuse("another brc compare is writing its results there");
        }
        let store = Self { directory: directory.to_owned(), inputs: inputs.to_owned(), _lock: lock };
        store.refuse_own_files_as_inputs()?;
        Ok(store)
    }

    fn refuse_own_files_as_inputs(&self) -> Result<()> {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let (own, files) = (real(&self.directory), real(&self.directory.join(FILES)));
        let is_own = |input: &&PathBuf| {
            let directory = real(input).and_then(|input| input.parent().map(Path::to_owned));
            let is_report =
                input.file_name().is_some_and(|name| RESULTS == name || REPORTS.iter().any(|it| *it == name));
            directory.is_some() && (directory == files || directory == own && is_report)
        };
        match self.inputs.iter().find(is_own) {
            Some(input) => {
                let (input, directory) = (input.display(), self.directory.display());
                Err(Error::Usage(format!(
                    "{input}: lies where the results are kept; choose a directory other than {directory}"
                )))
            }
            None => Ok(()),
        }
    }

    /// What `wanted` has got so far: itself if there is nothing yet.
    ///
    /// # Errors
    /// If results are there that were measured with anything else than what is wanted, or cannot be read; if files are
    /// there that are none of a comparison's, but in its way.
    pub(crate) fn resume(&self, wanted: Results) -> Result<Results> {
        let path = self.directory.join(RESULTS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return self.begin(wanted),
            Err(error) if error.kind() == ErrorKind::InvalidData => String::new(),
            Err(error) => return Err(Error::io(&path, "read")(error)),
        };
        let other = |what: String| Err(Error::Usage(format!("{}: {what} (--force measures anew)", path.display())));
        let found: Results = match document::from_json(&text) {
            Ok(found) => found,
            Err(error) => return other(format!("was not written by this version of brc: {error}")),
        };
        let differences = differences(&found, &wanted);
        if differences.is_empty() {
            Ok(found)
        } else {
            other(format!("cannot be continued, because it was measured {}", differences.join(", and ")))
        }
    }

    /// Without results, nobody knows whose the reports are.
    fn begin(&self, wanted: Results) -> Result<Results> {
        match REPORTS.iter().map(|name| self.directory.join(name)).find(|path| path.exists()) {
            Some(path) => Err(Error::Usage(format!(
                "{}: exists already, without the {RESULTS} of a comparison (--force replaces it)",
                path.display()
            ))),
            None => Ok(wanted),
        }
    }

    /// A directory for files that do not stay, beside those that do. What a comparison left that was killed goes.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn scratch(&self) -> Result<TempDir> {
        let entries = fs::read_dir(&self.directory).map_err(Error::io(&self.directory, "read"))?;
        for entry in entries {
            let entry = entry.map_err(Error::io(&self.directory, "read"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_directory = entry.file_type().is_ok_and(|found| found.is_dir());
            if is_directory && name.starts_with(SCRATCH) {
                remove_directory(&entry.path()).map_err(Error::io(&entry.path(), "remove"))?;
            }
        }
        scratch(&self.directory)
    }

    /// The directory for converted files that stay.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn files(&self) -> Result<PathBuf> {
        let files = self.directory.join(FILES);
        fs::create_dir_all(&files).map_err(Error::io(&files, "create"))?;
        Ok(files)
    }

    /// Replaces the results as a whole.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn save(&self, results: &Results) -> std::result::Result<(), error::Error> {
        let json = document::to_json(results).map_err(|error| error::Error::Other(error.to_string()))?;
        Ok(self.write(RESULTS, json.as_bytes())?)
    }

    /// Replaces a file beside the results.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let options = OutputOptions { force: true, sync: true, inputs: self.inputs.clone() };
        let output = Output::create(&self.directory.join(name), &options)?;
        output.write_at(content, 0)?;
        output.commit()
    }
}

/// A directory for files that do not stay.
///
/// # Errors
/// The system's.
pub(crate) fn scratch(beside: &Path) -> Result<TempDir> {
    // A missing directory is told before `tempfile` tells it in words of its own.
    fs::metadata(beside).map_err(Error::io(beside, "make a directory in"))?;
    let made = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(beside);
    made.map_err(|error| std::io::Error::from(error.kind())).map_err(Error::io(beside, "make a directory in"))
}

/// Removes a directory in which another process, one that is about to end, may be making a file right now.
///
/// # Errors
/// The system's.
pub fn remove_directory(directory: &Path) -> std::io::Result<()> {
    /// How often a directory is removed that is not empty again and again.
    const ATTEMPTS: u32 = 20;
    let attempt = || match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    (1..ATTEMPTS).find_map(|_| attempt().ok()).map_or_else(attempt, Ok)
}
