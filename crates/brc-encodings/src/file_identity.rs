//! The identity of a file, so that another machine can check that it sees the same one.

use crate::frames::checksum;
use crate::{platform, registry, remote};
use brc_core::{Error, ReadAt, Result};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

/// The bytes read at once, and the bytes compared at the end of a file whose footer checksums all of it.
const BLOCK: u64 = 64 << 10;

/// Distinguishes a file from others. Plain data: it may travel to another process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes; `None` in a store that does not report it.
    length: Option<u64>,
    /// A checksum: of the end of a buren file, which checksums all the rest, and of a file in a store; otherwise of all
    /// bytes.
    checksum: u32,
}

impl FileIdentity {
    /// Identifies a file, also in a store. A file without its own checksums is read once.
    ///
    /// # Errors
    /// If it cannot be opened or read.
    pub fn of(path: &Path) -> Result<Self> {
        if remote::is_in_store(path) {
            return match remote::object(path)? {
                Some(object) => Self::of_end(path, &*object),
                // The file can only be read as a whole, which would cost too much here.
                None => Ok(Self { path: path.to_owned(), length: None, checksum: 0 }),
            };
        }
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        if registry::by_extension(path).is_some_and(|encoding| encoding.name() == "buren") {
            return Self::of_end(path, &file);
        }
        let metadata = file.metadata().map_err(Error::io(path, "read"))?;
        let state = State::of(path, &file, &metadata);
        let known = KNOWN.lock().get(&state).copied();
        if let Some(checksum) = known {
            return Ok(Self { path: path.to_owned(), length: Some(metadata.len()), checksum });
        }
        let (length, checksum) = checksum_from(path, &file, 0)?;
        let mut known = KNOWN.lock();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(state, checksum);
        Ok(Self { path: path.to_owned(), length: Some(length), checksum })
    }

    fn of_end(path: &Path, file: &dyn ReadAt) -> Result<Self> {
        let length = file.length().map_err(Error::io(path, "read"))?;
        let (_, checksum) = checksum_from(path, file, length.saturating_sub(BLOCK))?;
        Ok(Self { path: path.to_owned(), length: Some(length), checksum })
    }
}

/// The end of the bytes, and the checksum of those from an offset on.
fn checksum_from(path: &Path, file: &dyn ReadAt, mut offset: u64) -> Result<(u64, u32)> {
    // Each checksum is an input of the next one.
    let mut block = vec![0; BLOCK as usize + 4];
    loop {
        let read = file.read_full_at(&mut block[4..], offset).map_err(Error::io(path, "read"))?;
        offset += read as u64;
        let sum = checksum(&block[..4 + read]);
        if read < BLOCK as usize {
            return Ok((offset, sum));
        }
        block[..4].copy_from_slice(&sum.to_le_bytes());
    }
}

/// The state of a local file when it was identified: it is not read again while the state is the same.
#[derive(PartialEq, Eq, Hash)]
struct State {
    path: PathBuf,
    file: Option<platform::Identity>,
    length: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(path: &Path, file: &File, metadata: &Metadata) -> Self {
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        Self { path: path.to_owned(), file: platform::identity(file).ok(), length, modified }
    }
}

/// The checksums of files already read.
static KNOWN: LazyLock<Mutex<HashMap<State, u32>>> = LazyLock::new(Mutex::default);

/// The maximum number of remembered files.
const MAX_KNOWN: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_differ_by_their_lengths_and_contents() {
        let directory = tempfile::tempdir().unwrap();
        let mut files = 0;
        let mut identity = |extension: &str, content: &[u8]| {
            files += 1;
            let path = directory.path().join(format!("{files}.{extension}"));
            std::fs::write(&path, content).unwrap();
            let identity = FileIdentity::of(&path).unwrap();
            assert_eq!(identity, FileIdentity::of(&path).unwrap());
            (identity.length, identity.checksum)
        };
        let long = vec![7; 200_000];
        let changed = |offset: usize| {
            let mut changed = long.clone();
            changed[offset] ^= 1;
            changed
        };
        for extension in ["csv", "buren"] {
            let first = identity(extension, &long);
            assert_eq!(first, identity(extension, &long));
            assert_ne!(first, identity(extension, &long[1..]));
            assert_ne!(first, identity(extension, &changed(199_999)));
            assert_eq!(identity(extension, b""), identity(extension, b""));
        }
        for offset in [0, 65_535, 65_536, 100_000] {
            assert_ne!(identity("csv", &long), identity("csv", &changed(offset)), "{offset}");
        }
        assert!(FileIdentity::of(&directory.path().join("none")).is_err());
    }
}
