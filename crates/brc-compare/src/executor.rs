//! What a comparison needs of the world outside. Behind a trait, so that what is measured in which order, and what
//! becomes of a failure, can be tested without running anything.

use super::job::{Found, Job};
use super::results::{FileIdentity, Sample};
use crate::error::Failure;
use std::path::Path;
use std::time::Duration;

/// Does what takes time.
pub(crate) trait Executor {
    /// Runs a job in a process of its own, which is ended if it takes longer than `limit`.
    ///
    /// # Errors
    /// What went wrong, for a report.
    fn run(&mut self, job: &Job, input: &Path, other: &Path, limit: Option<Duration>) -> Result<Ran, Failure>;

    /// The size of a file in bytes.
    ///
    /// # Errors
    /// The system's, for a report.
    fn size(&mut self, file: &Path) -> Result<u64, String>;

    /// Waits until a file is safe on the disk, so that bringing it there disturbs nothing that is timed.
    ///
    /// # Errors
    /// The system's, for a report.
    fn settle(&mut self, file: &Path) -> Result<(), String>;

    /// Removes a file, if it is there.
    fn remove(&mut self, file: &Path);

    /// Makes a directory that is empty.
    ///
    /// # Errors
    /// The system's, for a report.
    fn make_empty(&mut self, directory: &Path) -> Result<(), String>;

    /// Removes a directory with all that is in it, finished or not.
    fn remove_all(&mut self, directory: &Path);

    /// Gives a file the name under which it stays.
    ///
    /// # Errors
    /// The system's, for a report.
    fn keep(&mut self, file: &Path, name: &Path) -> Result<(), String>;

    /// Whether a file of that size is there that was made of this input: it is no older.
    fn is_kept(&self, file: &Path, bytes: u64, input: &FileIdentity) -> bool;

    /// Drops a file from the page cache.
    ///
    /// # Errors
    /// If there is no way to do so here.
    fn drop_from_cache(&mut self, file: &Path) -> Result<(), String>;
}

/// A job that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) sample: Sample,
    pub(crate) found: Found,
}
