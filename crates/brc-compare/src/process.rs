//! Runs each job in a process of its own: the calling program, started again with other arguments.

use super::child;
use super::executor::{Completed, Executor};
use super::job::{Job, JobArguments, Reply};
use super::results::{FileIdentity, Sample};
use crate::error::Failure;
use crate::quantity;
use brc_encodings::document;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How a comparison starts worker processes.
#[derive(Debug, Clone)]
pub struct Host {
    /// The executable to start for each job.
    pub program: PathBuf,
    /// Builds the arguments with which the executable hands a job to [`crate::Worker`] and prints the reply.
    pub arguments: fn(&JobArguments<'_>) -> Vec<OsString>,
    /// Called with the directory of temporary files before any is created, so that the program can remove it when it is
    /// killed.
    pub before_files: fn(&Path),
}

/// The real [`Executor`].
pub(crate) struct Processes<'a> {
    pub(crate) host: &'a Host,
    /// Of each process.
    pub(crate) threads: usize,
    /// Of each process, in bytes.
    pub(crate) memory: Option<u64>,
}

impl Executor for Processes<'_> {
    fn run(&mut self, job: &Job, input: &Path, other: &Path, limit: Option<Duration>) -> Result<Completed, Failure> {
        let job = document::to_json(job).map_err(|error| Failure::new(error.to_string()))?;
        let mut command = Command::new(&self.host.program);
        let (threads, memory) = (self.threads, self.memory);
        command.args((self.host.arguments)(&JobArguments { job: &job, input, other, threads, memory }));
        let start = Instant::now();
        let ended = child::run(&mut command, limit);
        let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let ended = ended.map_err(|error| Failure::new(format!("cannot run a process: {error}")))?;
        let Some(output) = ended else { return Err(too_slow(limit.unwrap_or_default())) };
        let reply = str::from_utf8(&output.stdout).ok().and_then(|text| document::from_json(text).ok());
        match reply {
            Some(Reply::Done(report)) if output.status.success() => {
                let sample = Sample {
                    wall_ns: wall_ns.saturating_sub(report.check_ns),
                    inside_ns: report.inside_ns,
                    cpu_ns: report.cpu_ns,
                    peak_memory: report.peak_memory,
                    fetched_bytes: report.fetched_bytes,
                };
                Ok(Completed { sample, result: report.result })
            }
            Some(Reply::Failed(failure)) => Err(failure),
            _ => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
                // A panic prints its location on the first line and its message on the second.
                let message = lines.iter().take(2).map(|line| format!(": {line}")).collect::<String>();
                Err(Failure::new(format!("its process failed with {}{message}", output.status)))
            }
        }
    }

    fn size(&mut self, file: &Path) -> Result<u64, String> {
        fs::metadata(file).map(|found| found.len()).map_err(|error| format!("{}: {error}", file.display()))
    }

    fn sync(&mut self, file: &Path) -> Result<(), String> {
        let synced = OpenOptions::new().write(true).open(file).and_then(|file| file.sync_all());
        synced.map_err(|error| format!("{}: {error}", file.display()))
    }

    fn remove(&mut self, file: &Path) {
        // The file may be missing. If it cannot be removed, removing its directory fails as well and reports the error.
        let _ = fs::remove_file(file);
    }

    fn make_empty(&mut self, directory: &Path) -> Result<(), String> {
        self.remove_all(directory);
        fs::create_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))
    }

    fn remove_all(&mut self, directory: &Path) {
        let _ = fs::remove_dir_all(directory);
    }

    fn keep(&mut self, file: &Path, name: &Path) -> Result<(), String> {
        fs::rename(file, name).map_err(|error| format!("{}: {error}", name.display()))
    }

    fn is_kept(&self, file: &Path, bytes: u64, input: &FileIdentity) -> bool {
        let found = fs::metadata(file).ok().filter(|found| found.is_file() && found.len() == bytes);
        found.is_some_and(|found| FileIdentity::modified(&found) >= input.modified)
    }

    fn drop_from_cache(&mut self, file: &Path) -> Result<(), String> {
        drop_pages(file).map_err(|error| format!("{}: cannot be dropped from the page cache: {error}", file.display()))
    }
}

/// The failure of a process that exceeded its time limit.
fn too_slow(limit: Duration) -> Failure {
    let limit = quantity::time(limit.as_nanos() as f64);
    Failure::new(format!("stopped after {limit} (--timeout sets the limit)"))
}

/// Drops a file from the page cache. Only pages that are on the disk can be dropped.
#[cfg(target_os = "linux")]
fn drop_pages(file: &Path) -> std::io::Result<()> {
    let file = File::open(file)?;
    // Some read-only file systems report an error here, and have nothing to sync.
    let _ = file.sync_all();
    Ok(rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?)
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(file: &Path) -> std::io::Result<()> {
    File::open(file)?;
    Err(std::io::ErrorKind::Unsupported.into())
}
