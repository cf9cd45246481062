//! What a comparison needs of the world outside. Behind a trait, so that what is measured in which order, and what
//! becomes of a failure, can be tested without running anything.

use super::job::{Found, Job};
use super::results::Sample;
use std::path::Path;

/// Does what takes time.
pub(crate) trait Executor {
    /// Runs a job in a process of its own.
    ///
    /// # Errors
    /// What went wrong, for a report.
    fn run(&mut self, job: &Job, input: &Path, other: &Path) -> Result<Ran, String>;

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
