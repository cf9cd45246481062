//! The interface of a comparison to processes and files. It is a trait, so that the order of measurements and the
//! handling of failures can be tested without running anything.

use super::job::{Job, JobResult};
use super::results::{FileIdentity, Sample};
use crate::error::Failure;
use std::path::Path;
use std::time::Duration;

/// Runs jobs and manages their files.
pub(crate) trait Executor {
    /// Runs a job in a process of its own, which is killed after `limit`.
    ///
    /// # Errors
    /// The failure of the job or of its process.
    fn run(&mut self, job: &Job, input: &Path, other: &Path, limit: Option<Duration>) -> Result<Completed, Failure>;

    /// The size of a file in bytes.
    ///
    /// # Errors
    /// The I/O error as text.
    fn size(&mut self, file: &Path) -> Result<u64, String>;

    /// Syncs a file to the disk, so that writing it back does not disturb later timings.
    ///
    /// # Errors
    /// The I/O error as text.
    fn sync(&mut self, file: &Path) -> Result<(), String>;

    /// Removes a file, if it is there.
    fn remove(&mut self, file: &Path);

    /// Creates an empty directory, replacing an old one.
    ///
    /// # Errors
    /// The I/O error as text.
    fn make_empty(&mut self, directory: &Path) -> Result<(), String>;

    /// Removes a directory with its content.
    fn remove_all(&mut self, directory: &Path);

    /// Moves a file to its final name.
    ///
    /// # Errors
    /// The I/O error as text.
    fn keep(&mut self, file: &Path, name: &Path) -> Result<(), String>;

    /// Whether a file of that size exists and is no older than the input.
    fn is_kept(&self, file: &Path, bytes: u64, input: &FileIdentity) -> bool;

    /// Drops a file from the page cache.
    ///
    /// # Errors
    /// If the system does not support it.
    fn drop_from_cache(&mut self, file: &Path) -> Result<(), String>;
}

/// The outcome of a job, with the resources it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completed {
    pub(crate) sample: Sample,
    pub(crate) result: JobResult,
}
