//! Which file it is that a path stands for, so that another machine can tell whether it sees the same one.

use crate::frames::checksum;
use crate::remote;
use brc_core::{Error, ReadAt, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};

/// How many of the last bytes tell files apart: the footer of a buren file ends there, which has checksums of all of it.
const END: u64 = 64 << 10;

/// What tells a file from others. Plain data: it may travel to another process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Where it is.
    pub path: PathBuf,
    /// How long it is, in bytes; `None` in a store that does not tell.
    length: Option<u64>,
    /// The checksum of its last bytes.
    end: u32,
}

impl FileIdentity {
    /// Looks at the end of a file, also in a store.
    ///
    /// # Errors
    /// If it cannot be opened or read.
    pub fn of(path: &Path) -> Result<Self> {
        if remote::is_in_store(path) {
            return match remote::object(path)? {
                Some(object) => Self::of_bytes(path, &*object),
                // It is only read as a whole, and is not for that.
                None => Ok(Self { path: path.to_owned(), length: None, end: 0 }),
            };
        }
        Self::of_bytes(path, &File::open(path).map_err(Error::io(path, "open"))?)
    }

    fn of_bytes(path: &Path, file: &dyn ReadAt) -> Result<Self> {
        let length = file.length().map_err(Error::io(path, "read"))?;
        let from = length.saturating_sub(END);
        let mut last = vec![0; (length - from) as usize];
        file.read_exact_at(&mut last, from).map_err(Error::io(path, "read"))?;
        Ok(Self { path: path.to_owned(), length: Some(length), end: checksum(&last) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_differ_by_their_lengths_and_ends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.csv");
        let identity = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            FileIdentity::of(&path).unwrap()
        };
        let long = vec![7; 100_000];
        let first = identity(&long);
        assert_eq!(first, identity(&long));
        assert_ne!(first, identity(&long[1..]));
        assert_ne!(first, identity(&[&long[1..], &[8]].concat()));
        assert_eq!(identity(b""), identity(b""));
        assert!(FileIdentity::of(&directory.path().join("none")).is_err());
    }
}
