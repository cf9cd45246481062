//! Keeps results in a directory, so that a run that was interrupted goes on where it was.

use super::results::{FileIdentity, Results, VERSION};
use brc_core::{Error, Result};
use brc_encodings::input::read_full_at;
use brc_encodings::{Output, OutputOptions, document};
use std::fs::{self, File};
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The file of the results.
const NAME: &str = "results.json";

/// A directory of results.
pub(crate) struct Store {
    directory: PathBuf,
}

impl Store {
    /// The directory, made if it is not there.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn new(directory: &Path) -> Result<Self> {
        fs::create_dir_all(directory).map_err(Error::io(directory, "create"))?;
        Ok(Self { directory: directory.to_owned() })
    }

    /// What `wanted` has got so far: itself if there is nothing yet.
    ///
    /// # Errors
    /// If results are there that were measured with anything else than what is wanted, or cannot be read.
    pub(crate) fn resume(&self, wanted: Results) -> Result<Results> {
        let path = self.directory.join(NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(wanted),
            Err(error) => return Err(Error::io(&path, "read")(error)),
        };
        let other = |what: String| Err(Error::Usage(format!("{}: {what} (--force starts anew)", path.display())));
        let found: Results = match document::from_json(&text) {
            Ok(found) => found,
            Err(error) => return other(format!("is not what this version of brc writes: {error}")),
        };
        match difference(&found, &wanted) {
            Some(what) => other(format!("holds results of {what}")),
            None => Ok(found),
        }
    }

    /// Replaces the results as a whole.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn save(&self, results: &Results) -> anyhow::Result<()> {
        self.write(NAME, document::to_json(results)?.as_bytes())
    }

    /// Replaces a file beside the results.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let options = OutputOptions { force: true, sync: true, inputs: Vec::new() };
        let output = Output::create(&self.directory.join(name), &options)?;
        output.write_at(content, 0)?;
        Ok(output.commit()?)
    }
}

/// Why one's samples cannot stand beside the other's.
fn difference(found: &Results, wanted: &Results) -> Option<String> {
    let inputs = |results: &Results| results.tables.iter().map(|table| table.input.clone()).collect::<Vec<_>>();
    if (found.version, &found.program) != (VERSION, &wanted.program) {
        Some("another build of brc".to_owned())
    } else if found.settings != wanted.settings {
        Some(format!("other options: {}", found.command))
    } else if inputs(found) != inputs(wanted) {
        Some("other input files, or they have changed".to_owned())
    } else {
        None
    }
}

impl FileIdentity {
    /// Of a file as it is now; `name` is what it is called in results.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn of(path: &Path, name: &str) -> Result<Self> {
        const PROBE: u64 = 1 << 20;
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let metadata = file.metadata().map_err(Error::io(path, "open"))?;
        let bytes = metadata.len();
        // The same in all processes, as long as they are of the same build.
        let mut hash = std::hash::DefaultHasher::new();
        let mut buffer = vec![0; PROBE.min(bytes) as usize];
        for place in [0, bytes.saturating_sub(PROBE)] {
            let read = read_full_at(&file, &mut buffer, place).map_err(Error::io(path, "read"))?;
            hash.write(&buffer[..read]);
        }
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Ok(Self { path: name.to_owned(), bytes, modified, hash: format!("{:016x}", hash.finish()) })
    }
}
