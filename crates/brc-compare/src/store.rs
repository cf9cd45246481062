//! Stores results in a directory, so that an interrupted run can be resumed.
//!
//! The directory may contain files of the user, which are left untouched. Only one comparison at a time uses it, so any
//! scratch directory found there was left by a killed comparison and is removed.

use super::results::Results;
use super::resume::differences;
use crate::error;
use brc_core::{Error, Result};
use brc_encodings::{Output, OutputOptions, document, remove_directory};
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The name of the results file.
const RESULTS: &str = "results.json";

/// The names of the reports beside it.
pub(crate) const REPORTS: [&str; 3] = ["results.csv", "README.md", "report.html"];

/// The subdirectory of converted files that are kept.
pub(crate) const FILES: &str = "files";

/// The prefix of the names of scratch directories.
const SCRATCH: &str = ".brc-compare-";

/// A directory of results, locked against other processes.
pub(crate) struct Store {
    directory: PathBuf,
    /// The input files, which must not be overwritten.
    inputs: Vec<PathBuf>,
    _lock: File,
}

impl Store {
    /// Opens or creates the directory for a comparison of `inputs`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the path is not a directory, if another comparison uses it, or if an input is where files
    /// will be written; I/O errors.
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
        store.refuse_outputs_as_inputs()?;
        Ok(store)
    }

    fn refuse_outputs_as_inputs(&self) -> Result<()> {
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

    /// Loads earlier results of the same comparison; returns `wanted` if there are none.
    ///
    /// # Errors
    /// If the results there were measured differently or cannot be read, or if reports are in the way without results.
    pub(crate) fn resume(&self, wanted: Results) -> Result<Results> {
        let path = self.directory.join(RESULTS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return self.begin(wanted),
            Err(error) if error.kind() == ErrorKind::InvalidData => String::new(),
            Err(error) => return Err(Error::io(&path, "read")(error)),
        };
        let other = |what: String| Err(Error::Usage(format!("{}: {what} (--force measures again)", path.display())));
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

    /// Refuses to overwrite reports that may not belong to a comparison, since there are no results beside them.
    fn begin(&self, wanted: Results) -> Result<Results> {
        match REPORTS.iter().map(|name| self.directory.join(name)).find(|path| path.exists()) {
            Some(path) => Err(Error::Usage(format!(
                "{}: already exists, without the {RESULTS} of a comparison (--force replaces it)",
                path.display()
            ))),
            None => Ok(wanted),
        }
    }

    /// Creates a scratch directory, and removes those that killed comparisons left.
    ///
    /// # Errors
    /// I/O errors.
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

    /// Creates the directory for converted files that are kept.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn files(&self) -> Result<PathBuf> {
        let files = self.directory.join(FILES);
        fs::create_dir_all(&files).map_err(Error::io(&files, "create"))?;
        Ok(files)
    }

    /// Replaces the results atomically.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn save(&self, results: &Results) -> std::result::Result<(), error::Error> {
        let json = document::to_json(results).map_err(|error| error::Error::Other(error.to_string()))?;
        Ok(self.write(RESULTS, json.as_bytes())?)
    }

    /// Replaces a file beside the results atomically.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let options = OutputOptions { force: true, sync: true, inputs: self.inputs.clone() };
        let output = Output::create(&self.directory.join(name), &options)?;
        output.write_at(content, 0)?;
        output.commit()
    }
}

/// Creates a scratch directory within `parent`.
///
/// # Errors
/// I/O errors.
pub(crate) fn scratch(parent: &Path) -> Result<TempDir> {
    // Checked first, because `tempfile` would report a missing directory in its own words.
    fs::metadata(parent).map_err(Error::io(parent, "make a directory in"))?;
    let made = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(parent);
    made.map_err(|error| std::io::Error::from(error.kind())).map_err(Error::io(parent, "make a directory in"))
}
