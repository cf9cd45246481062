//! What an output's path refers to: a file behind links, a standard stream, or one of the inputs, which is refused.

use crate::folders::is_read;
use crate::platform::{self, Identity};
use crate::unfinished::directory;
use brc_core::{Error, Result};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A standard stream of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StandardStream {
    Out,
    Error,
}

impl StandardStream {
    /// The standard stream that a path refers to, if any. Reopening the path would not do: a file would be written from
    /// its start, and a socket cannot be opened.
    pub(super) fn at(path: &Path) -> Option<Self> {
        if path == Path::new("-") {
            return Some(Self::Out);
        }
        // On Linux the second path is a link to the first; other systems have only the second.
        let all = ["/proc/self/fd", "/dev/fd"].map(|directory| fs::canonicalize(directory).ok());
        let is_of_descriptors = |path: &PathBuf| {
            let directory = fs::canonicalize(directory(path)).ok();
            directory.is_some() && all.contains(&directory)
        };
        let descriptor = links(path).find(is_of_descriptors)?;
        match descriptor.file_name()?.as_encoded_bytes() {
            b"1" => Some(Self::Out),
            b"2" => Some(Self::Error),
            _ => None,
        }
    }

    pub(super) fn open(self) -> io::Result<File> {
        match self {
            Self::Out => platform::stdout(),
            Self::Error => platform::stderr(),
        }
    }
}

/// A path and the paths that its symbolic links lead to, in order.
fn links(path: &Path) -> impl Iterator<Item = PathBuf> {
    const LONGEST_CHAIN: usize = 40;
    let next = |path: &PathBuf| Some(directory(path).join(fs::read_link(path).ok()?));
    std::iter::successors(Some(path.to_owned()), next).take(LONGEST_CHAIN)
}

/// The end of a chain of symbolic links, existing or not: the link stays, and the file it points to is replaced.
pub(super) fn follow_links(path: &Path) -> PathBuf {
    links(path).last().unwrap_or_else(|| path.to_owned())
}

/// Whether two targets, existing or not, are the same file.
#[must_use]
pub fn same_target(one: &Path, other: &Path) -> bool {
    let destination = |path| {
        let target = follow_links(path);
        let directory = fs::canonicalize(directory(&target)).ok()?;
        Some((directory, target.file_name()?.to_owned()))
    };
    let identity = |path| identity_of(path, StandardStream::at(path));
    let same = |one: Option<_>, other| one.is_some() && one == other;
    destination(one).is_some_and(|one| destination(other) == Some(one)) || same(identity(one), identity(other))
}

/// The identity of an existing target: of a standard stream, or of the file at a path.
fn identity_of(path: &Path, standard: Option<StandardStream>) -> Option<Identity> {
    match standard {
        Some(standard) => platform::identity(&standard.open().ok()?).ok(),
        None => platform::identity_at(path).ok(),
    }
}

pub(super) fn open_stream(path: &Path, found: &Metadata) -> Result<File> {
    if platform::is_socket(found) {
        return Err(Error::unsupported(path, "is a socket"));
    }
    OpenOptions::new().write(true).open(path).map_err(Error::io(path, "open"))
}

/// Rejects a target that is one of the inputs.
pub(super) fn refuse_inputs(path: &Path, standard: Option<StandardStream>, inputs: &[PathBuf]) -> Result<()> {
    let Some(target) = identity_of(path, standard) else { return Ok(()) };
    let is_target = |input: &PathBuf| {
        let source = match input.as_path() == Path::new("-") {
            true => platform::stdin().and_then(|stdin| platform::identity(&stdin)),
            false => platform::identity_at(input),
        };
        source.is_ok_and(|source| source == target)
    };
    if inputs.iter().any(is_target) { Err(same_file(path)) } else { Ok(()) }
}

/// Rejects a target in or below a directory of inputs, unless its name is one that is skipped there.
pub(crate) fn refuse_among(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    let target = follow_links(path);
    let Ok(place) = fs::canonicalize(directory(&target)) else { return Ok(()) };
    let is_among = |input: &&PathBuf| {
        let top = if input.is_dir() { fs::canonicalize(input).ok() } else { None };
        let below = top.as_ref().and_then(|top| place.strip_prefix(top).ok());
        below.is_some_and(|below| below.iter().chain(target.file_name()).all(is_read))
    };
    match inputs.iter().find(is_among) {
        Some(input) => Err(Error::Usage(format!(
            "{}: it would be one of the inputs next time: write it outside '{}'",
            path.display(),
            input.display()
        ))),
        None => Ok(()),
    }
}

pub(super) fn same_file(path: &Path) -> Error {
    Error::Usage(format!("{}: input and output are the same file", path.display()))
}
