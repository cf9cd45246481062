//! Patterns of addresses, and the files of a store that match them.

use crate::address::{Address, Retries, Scheme, is_address};
use crate::failure::Failure;
use crate::runtime::wait;
use crate::usage::count_request;
use brc_core::{Error, Result};
use futures_util::TryStreamExt;
use glob::{MatchOptions, Pattern};
use object_store::path::Path as Key;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The rules of a shell: `*` matches neither `/` nor a leading dot.
const MATCHING: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Whether an address is a pattern of several files, or a directory, which ends with `/`. Web servers cannot list
/// files, and `?` starts the query of their addresses.
#[must_use]
pub fn is_pattern(path: &Path) -> bool {
    is_address(path)
        && Address::parse(path).is_ok_and(|address| {
            let key = address.key.as_ref();
            address.scheme != Scheme::Web && (is_directory(path) || key.contains(['*', '?', '[']))
        })
}

fn is_directory(path: &Path) -> bool {
    path.to_string_lossy().ends_with('/')
}

/// The directory in which a pattern starts to match names.
#[must_use]
pub fn pattern_directory(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    PathBuf::from(match is_directory(path) {
        true => text.trim_end_matches('/'),
        false => fixed_prefix(&text).trim_end_matches('/'),
    })
}

/// The directories of a pattern up to the first component with wildcards.
fn fixed_prefix(pattern: &str) -> &str {
    let first = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    &pattern[..pattern[..first].rfind('/').map_or(0, |at| at + 1)]
}

/// The files that match a pattern of addresses, sorted by name; for a directory all files below it, except names that
/// start with `.` or `_`.
///
/// # Errors
/// [`Error::Usage`] if the pattern is malformed, [`Error::Io`] if the store cannot be listed.
pub fn matches(path: &Path) -> Result<Vec<PathBuf>> {
    let address = Address::parse(path)?;
    let key = address.key.to_string();
    let is_directory = is_directory(path);
    let prefix = if is_directory { key.as_str() } else { fixed_prefix(&key) };
    let malformed = |error: glob::PatternError| Error::Usage(format!("{}: {}", path.display(), error.msg));
    let pattern = if is_directory { None } else { Some(Pattern::new(&key).map_err(malformed)?) };
    let is_wanted = |found: &Key| match &pattern {
        Some(pattern) => pattern.matches_with(found.as_ref(), MATCHING),
        None => below(found.as_ref(), &key).split('/').all(|name| !name.starts_with(['.', '_'])),
    };
    let found = list(&address, Key::parse(prefix).unwrap_or_default())?;
    let mut files: Vec<Key> = without_folders(found).into_iter().filter(is_wanted).collect();
    files.sort();
    Ok(files.iter().map(|key| address.of_key(key)).collect())
}

/// The part of a key after that of its directory.
fn below<'k>(key: &'k str, directory: &str) -> &'k str {
    key.strip_prefix(directory).unwrap_or(key).trim_start_matches('/')
}

/// The keys of objects that are files. Consoles and Hadoop store empty objects with names of folders, whose final slash
/// the library drops.
fn without_folders(objects: Vec<(Key, u64)>) -> Vec<Key> {
    let mut directories = HashSet::new();
    let has_empty = objects.iter().any(|(_, bytes)| *bytes == 0);
    for (key, _) in objects.iter().filter(|_| has_empty) {
        let key = key.as_ref();
        directories.extend(key.match_indices('/').map(|(at, _)| key[..at].to_owned()));
    }
    let is_file = |(key, bytes): &(Key, u64)| {
        let has_extension = key.filename().is_some_and(|name| name.contains('.'));
        *bytes > 0 || has_extension && !directories.contains(key.as_ref())
    };
    objects.into_iter().filter(is_file).map(|(key, _)| key).collect()
}

/// All objects of a bucket whose keys start with these directories, each with its size in bytes.
fn list(address: &Address, prefix: Key) -> Result<Vec<(Key, u64)>> {
    let failed = |error| Error::io(&address.path, "list")(error);
    let store = address.store(Retries::Library)?;
    count_request();
    let found = wait(async move {
        let prefix = (!prefix.as_ref().is_empty()).then_some(prefix);
        store.list(prefix.as_ref()).map_ok(|found| (found.location, found.size)).try_collect::<Vec<_>>().await
    });
    found.map_err(failed)?.map_err(|error| failed(Failure::of(&error, address).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_objects_for_folders_are_no_files() {
        let objects =
            [("t", 0), ("t/k=1", 0), ("t/k=1/a.csv", 5), ("t/k=2", 0), ("t/b.csv", 0), ("t/d.x", 0), ("t/d.x/e", 9)];
        let files = without_folders(objects.into_iter().map(|(key, bytes)| (Key::from(key), bytes)).collect());
        assert_eq!(files, ["t/k=1/a.csv", "t/b.csv", "t/d.x/e"].map(Key::from));
    }

    #[test]
    fn patterns_are_recognised() {
        for pattern in ["s3://b/*.csv", "gs://b/t/year=*/x.buren", "s3://b/t/", "s3://b/[ab].csv", "s3://b/"] {
            assert!(is_pattern(Path::new(pattern)), "{pattern}");
        }
        for file in ["s3://b/t.csv", "https://example.org/a*.csv?x=[1]", "https://example.org/", "*.csv"] {
            assert!(!is_pattern(Path::new(file)), "{file}");
        }
        let directory = |pattern: &str| pattern_directory(Path::new(pattern)).display().to_string();
        assert_eq!(directory("s3://b/t/y=1*/x.csv"), "s3://b/t");
        assert_eq!(directory("s3://b/t/"), "s3://b/t");
        assert_eq!(directory("s3://b/*.csv"), "s3://b");
    }
}
