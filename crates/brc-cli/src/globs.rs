//! Expands globs as a shell does.
//!
//! Directories are read here, because the `glob` crate cannot read directories with names that are not UTF-8; it only
//! matches names. An invalid byte matches `?`, `*` and any other invalid byte.

use brc_core::{Error, Result};
use brc_encodings::folders::{Tree, entries};
use glob::{MatchOptions, Pattern};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The component that matches any number of directories.
const ANY_DIRECTORIES: &str = "**";

/// Whether a path has glob characters.
pub(crate) fn is_pattern(path: &OsStr) -> bool {
    path.as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte))
}

/// The files that a pattern matches, sorted by name, without directories.
///
/// # Errors
/// [`Error::Usage`] if the pattern is malformed, [`Error::Io`] if a directory cannot be read.
pub(crate) fn matches(pattern: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = vec![PathBuf::new()];
    for component in pattern.components() {
        paths = match component {
            Component::Normal(name) if name == ANY_DIRECTORIES => all_below(paths)?,
            Component::Normal(name) if is_pattern(name) => {
                let malformed =
                    |error: glob::PatternError| Error::Usage(format!("{}: {}", pattern.display(), error.msg));
                let name = Pattern::new(&name.to_string_lossy()).map_err(malformed)?;
                matching(&paths, &name)?
            }
            other => paths.into_iter().map(|path| path.join(other)).collect(),
        };
    }
    // Broken symbolic links are kept, so that opening them reports an error.
    paths.retain(|path| path.symlink_metadata().is_ok() && !path.is_dir());
    paths.sort();
    Ok(paths)
}

/// The leading part of a pattern without glob characters.
pub(crate) fn directory(pattern: &Path) -> PathBuf {
    pattern.components().take_while(|component| !is_pattern(component.as_os_str())).collect()
}

/// The entries of the directories with matching names.
fn matching(directories: &[PathBuf], name: &Pattern) -> Result<Vec<PathBuf>> {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::default() };
    let mut paths = Vec::new();
    for directory in directories {
        let names = entries(directory)?.into_iter().map(|entry| entry.file_name());
        let names = names.filter(|found| name.matches_with(&found.to_string_lossy(), options));
        paths.extend(names.map(|found| directory.join(found)));
    }
    Ok(paths)
}

/// The directories and all below them, without hidden ones.
fn all_below(roots: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    Ok(Tree::below(roots, &|name| !name.as_encoded_bytes().starts_with(b"."))?.directories)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    #[test]
    fn patterns_are_expanded_as_shells_do() {
        let directory = tempfile::tempdir().unwrap();
        let odd = OsStr::from_bytes(b"b\xe9.txt");
        for below in ["x/y/z", "x/.hidden", "w"] {
            fs::create_dir_all(directory.path().join(below)).unwrap();
        }
        for name in ["a.txt", ".a.txt", "c[1].txt", "x/b.txt", "x/y/c.txt", "x/y/z/d.csv", "x/.hidden/e.txt", "w/f.txt"]
        {
            fs::write(directory.path().join(name), "").unwrap();
        }
        fs::write(directory.path().join(odd), "").unwrap();
        symlink("..", directory.path().join("x/up")).unwrap();
        let found = |pattern: &[u8]| -> Vec<PathBuf> {
            let paths = matches(&directory.path().join(OsStr::from_bytes(pattern))).unwrap();
            paths.iter().map(|path| path.strip_prefix(directory.path()).unwrap().to_owned()).collect()
        };
        let odd = Path::new(odd);
        assert_eq!(found(b"*.txt"), [Path::new("a.txt"), odd, Path::new("c[1].txt")]);
        assert_eq!(found(b"b?.txt"), [odd]);
        assert_eq!(found(b"b\xe9*"), [odd]);
        assert_eq!(found(b"[!b]*.txt"), [Path::new("a.txt"), Path::new("c[1].txt")]);
        assert_eq!(found(b"c[[]1].txt"), [Path::new("c[1].txt")]);
        assert_eq!(found(b".*"), [Path::new(".a.txt")]);
        assert_eq!(found(b"*/*.txt"), [Path::new("w/f.txt"), Path::new("x/b.txt")]);
        assert_eq!(found(b"x/up/w/*"), [Path::new("x/up/w/f.txt")]);
        assert_eq!(found(b"x/**/*"), [Path::new("x/b.txt"), Path::new("x/y/c.txt"), Path::new("x/y/z/d.csv")]);
        assert!(found(b"nothing/*").is_empty() && found(b"a.txt/*").is_empty() && found(b"x*").is_empty());
        assert!(matches!(matches(Path::new("[")), Err(Error::Usage(_))));
        assert!(matches!(matches(Path::new("a**/b")), Err(Error::Usage(_))));
    }
}
