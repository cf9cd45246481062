//! Directories of files as tables in the Hive layout: `sales/year=2024/month=01/part-0.parquet`. The values in the
//! directory names apply to all rows of a file.

use crate::csv::{Headers, Inference};
use crate::encoding::{Encoding, OpenOptions};
use crate::hive;
use crate::union::{ConstantColumn, Union, UnionOptions};
use brc_core::calendar::parse_date;
use brc_core::{Error, LogicalType, Result, Table, current_schema, interrupt};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::DirEntry;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// A file to read, and the column values from its directory names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path.
    pub path: PathBuf,
    /// The directory that the user named.
    pub directory: Option<PathBuf>,
    folders: Vec<Folder>,
}

/// The column and value of a directory `name=value`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Folder {
    name: String,
    /// `None` is null.
    value: Option<Vec<u8>>,
}

impl FoundFile {
    /// A file named by the user: its directories add no columns.
    #[must_use]
    pub fn named(path: &Path) -> Self {
        Self { path: path.to_owned(), directory: None, folders: Vec::new() }
    }

    /// A file found in or below the given directory.
    ///
    /// # Errors
    /// [`Error::Usage`] if two of its directories name the same column.
    pub fn below(directory: &Path, path: PathBuf) -> Result<Self> {
        let below = path.strip_prefix(directory).unwrap_or(&path);
        let mut folders: Vec<Folder> = Vec::new();
        for component in below.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(name) = component else { continue };
            let Some(folder) = Folder::of(name) else { continue };
            if folders.iter().any(|known| known.name == folder.name) {
                return Err(Error::Usage(format!("{}: two folders are named '{}='", path.display(), folder.name)));
            }
            folders.push(folder);
        }
        Ok(Self { path, directory: None, folders })
    }

    fn value(&self, name: &str) -> Option<&Folder> {
        self.folders.iter().find(|folder| folder.name == name)
    }
}

impl Folder {
    fn of(name: &OsStr) -> Option<Self> {
        let (name, value) = hive::column_of_folder(name)?;
        Some(Self { name, value })
    }
}

/// Whether files and directories of this name are read in a directory: those that begin with `.` or `_` are skipped.
pub(crate) fn is_read(name: &OsStr) -> bool {
    !matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_'))
}

/// The files in and below a directory, sorted by path. Names that begin with `.` or `_` are skipped.
///
/// # Errors
/// [`Error::Usage`] if there is no file, [`Error::Io`] if a directory cannot be read.
pub fn files_of(directory: &Path) -> Result<Vec<FoundFile>> {
    let files = Tree::below(vec![directory.to_owned()], &is_read)?.into_files();
    if files.is_empty() {
        let reason = "is a directory without files (names that begin with . or _ are ignored)";
        return Err(Error::Usage(format!("{}: {reason}", directory.display())));
    }
    let found = |path| Ok(FoundFile { directory: Some(directory.to_owned()), ..FoundFile::below(directory, path)? });
    files.into_iter().map(found).collect()
}

/// Directories and what is below them, each once: a symbolic link is followed unless what it leads to is in the tree by
/// another path, or contains the link.
#[derive(Default)]
pub struct Tree {
    /// All directories, with the first ones.
    pub directories: Vec<PathBuf>,
    /// The files in them, without pipes, sockets and devices: these are no tables, and reading one may wait for ever.
    files: Vec<PathBuf>,
    /// Links to directories that are still to be followed.
    links: VecDeque<PathBuf>,
    /// Links to files.
    linked_files: Vec<PathBuf>,
}

impl Tree {
    /// The tree of these directories and of all below them whose names are wanted.
    ///
    /// # Errors
    /// [`Error::Io`] if a directory cannot be read.
    pub fn below(roots: Vec<PathBuf>, is_wanted: &dyn Fn(&OsStr) -> bool) -> Result<Self> {
        let mut tree = Self::default();
        tree.walk(roots, is_wanted, |_| true)?;
        if !tree.links.is_empty() {
            tree.follow_links(is_wanted)?;
        }
        Ok(tree)
    }

    fn follow_links(&mut self, is_wanted: &dyn Fn(&OsStr) -> bool) -> Result<()> {
        let places = self.directories.iter().filter_map(|path| in_place(path).canonicalize().ok());
        let mut entered: HashSet<PathBuf> = places.collect();
        while let Some(link) = self.links.pop_front() {
            let place = in_place(link.parent().unwrap_or(&link)).canonicalize();
            let (Ok(target), Ok(place)) = (link.canonicalize(), place) else { continue };
            if !place.starts_with(&target) {
                let is_new = |path: &Path| path.canonicalize().is_ok_and(|path| entered.insert(path));
                self.walk(vec![link], is_wanted, is_new)?;
            }
        }
        Ok(())
    }

    /// The files, sorted, with the links that lead to other ones; or to the same, but from folders of other values.
    fn into_files(self) -> Vec<PathBuf> {
        let Self { mut files, mut linked_files, .. } = self;
        if !linked_files.is_empty() {
            let identity = |path: &PathBuf| {
                let parts = path.parent().into_iter().flat_map(Path::components);
                let folders: Vec<Folder> = parts.filter_map(|part| Folder::of(part.as_os_str())).collect();
                path.canonicalize().ok().map(|target| (target, folders))
            };
            let mut known: HashSet<_> = files.iter().filter_map(identity).collect();
            linked_files.sort();
            // Opening a broken link reports an error.
            files.extend(linked_files.into_iter().filter(|link| identity(link).is_none_or(|it| known.insert(it))));
        }
        files.sort();
        files
    }

    /// Adds directories and those below them, if they are new.
    fn walk(
        &mut self,
        mut directories: Vec<PathBuf>,
        is_wanted: &dyn Fn(&OsStr) -> bool,
        mut is_new: impl FnMut(&Path) -> bool,
    ) -> Result<()> {
        while let Some(directory) = directories.pop() {
            if !is_new(&directory) {
                continue;
            }
            for entry in entries(&directory)?.into_iter().filter(|entry| is_wanted(&entry.file_name())) {
                let Ok(kind) = entry.file_type() else { continue };
                let path = directory.join(entry.file_name());
                let target = if kind.is_symlink() { path.metadata().ok().map(|it| it.file_type()) } else { Some(kind) };
                match target {
                    Some(target) if target.is_dir() && kind.is_symlink() => self.links.push_back(path),
                    Some(target) if target.is_dir() => directories.push(path),
                    Some(target) if !target.is_file() => {}
                    _ if kind.is_symlink() => self.linked_files.push(path),
                    Some(_) | None => self.files.push(path),
                }
            }
            self.directories.push(directory);
        }
        Ok(())
    }
}

/// The path of a directory for the system, which has no empty one.
fn in_place(directory: &Path) -> &Path {
    if directory == Path::new("") { Path::new(".") } else { directory }
}

/// The entries of a directory, sorted by name; none if it is no directory.
///
/// # Errors
/// [`Error::Io`] if it cannot be read.
pub fn entries(directory: &Path) -> Result<Vec<DirEntry>> {
    let path = in_place(directory);
    match std::fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(mut entries) => {
            entries.sort_by_key(DirEntry::file_name);
            Ok(entries)
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(Error::io(path, "list")(error)),
    }
}

/// The columns from the directory names, in nesting order.
///
/// # Errors
/// [`Error::Usage`] if a file lacks a directory level that others have, unless `may_lack` makes it null there.
pub fn columns(files: &[FoundFile], may_lack: bool) -> Result<Vec<ConstantColumn>> {
    let mut names: Vec<(&str, &Path)> = Vec::new();
    for file in files {
        for folder in &file.folders {
            if !names.iter().any(|(name, _)| *name == folder.name) {
                names.push((&folder.name, &file.path));
            }
        }
    }
    let column = |(name, first): (&str, &Path)| {
        let lacks = files.iter().find(|file| file.value(name).is_none());
        if let Some(file) = lacks.filter(|_| !may_lack) {
            let (path, first) = (file.path.display(), first.display());
            let hint = "--union-by-name makes it null there";
            return Err(Error::Usage(format!("{path}: is in no folder '{name}=…', but {first} is; {hint}")));
        }
        let values = files.iter().map(|file| file.value(name).and_then(|folder| folder.value.as_deref()));
        Ok(column(name, &values.collect::<Vec<_>>()))
    };
    names.into_iter().map(column).collect()
}

/// How several files become one table.
#[derive(Debug, Clone, Default)]
pub struct FilesAsTable {
    /// See [`UnionOptions::by_name`].
    pub by_name: bool,
    /// See [`UnionOptions::file_name`].
    pub file_name: Option<String>,
}

/// An encoding and the opened table.
type Opened<E> = (E, Box<dyn Table>);

impl FilesAsTable {
    /// Opens files as one table, each with `open`, and returns the encoding of each.
    ///
    /// # Errors
    /// If one of them cannot be read, or they do not have the same columns.
    pub fn open(
        &self,
        found: &[FoundFile],
        options: &OpenOptions,
        open: impl Fn(&Path, &OpenOptions) -> Result<Opened<&'static dyn Encoding>>,
    ) -> Result<Opened<Vec<&'static dyn Encoding>>> {
        let is_one = found.len() == 1 && self.file_name.is_none() && columns(found, self.by_name)?.is_empty();
        let inference = (!is_one).then(Inference::default);
        let headers = (!is_one).then(Headers::default);
        let forms = || inference.as_ref().map(Inference::forms);
        let options = &OpenOptions { inference: inference.clone(), headers: headers.clone(), ..options.clone() };
        let open_one = |file: &FoundFile| {
            interrupt::check()?;
            Ok((open(&file.path, options)?, forms()))
        };
        let (found, mut opened) = with_columns(found, open_one, |file, (first, _)| {
            let names = current_schema(first.1.as_ref()).fields().iter().map(|field| field.name.clone()).collect();
            Ok((open(&file.path, &OpenOptions { names_of_others: names, ..options.clone() })?, forms()))
        })?;
        let constants = columns(&found, self.by_name)?;
        let outdated = headers.map_or_else(Vec::new, |headers| headers.outdated());
        let forms = forms();
        for (file, (opened, known)) in found.iter().zip(&mut opened) {
            // A stream cannot be opened again.
            if (outdated.contains(&file.path) || *known != forms) && file.path.is_file() {
                *opened = open(&file.path, options)?;
            }
        }
        let (encodings, mut tables): (Vec<_>, Vec<_>) = opened.into_iter().map(|(opened, _)| opened).unzip();
        if is_one && let Some(table) = tables.pop() {
            return Ok((encodings, table));
        }
        let options = UnionOptions { by_name: self.by_name, constants, file_name: self.file_name.clone() };
        Ok((encodings, Box::new(Union::new(tables, options)?)))
    }
}

/// The files that have rows or say which columns they have, each opened. A file whose rows name no columns is opened
/// with `open_like`, which is passed the first one that names its columns.
///
/// # Errors
/// If one of them cannot be read, or none has columns.
fn with_columns<T>(
    files: &[FoundFile],
    open: impl Fn(&FoundFile) -> Result<T>,
    open_like: impl Fn(&FoundFile, &T) -> Result<T>,
) -> Result<(Vec<FoundFile>, Vec<T>)> {
    let (mut opened, mut unnamed, mut empty) = (Vec::with_capacity(files.len()), Vec::new(), None);
    for (at, file) in files.iter().enumerate() {
        match open(file) {
            Ok(one) => opened.push((at, one)),
            // A stream cannot be opened again.
            Err(error @ Error::NoColumns { has_rows: true, .. }) if !file.path.is_file() => return Err(error),
            Err(error @ Error::NoColumns { has_rows, .. }) => {
                unnamed.extend(has_rows.then_some(at));
                empty = empty.or(Some(error));
            }
            Err(error) => return Err(error),
        }
    }
    let Some((_, first)) = opened.first() else { return Err(empty.unwrap_or_else(no_file)) };
    let others = unnamed.into_iter().map(|at| Ok((at, open_like(&files[at], first)?))).collect::<Result<Vec<_>>>()?;
    opened.extend(others);
    opened.sort_by_key(|(at, _)| *at);
    Ok(opened.into_iter().map(|(at, one)| (files[at].clone(), one)).unzip())
}

fn no_file() -> Error {
    Error::Usage("no file is given".to_owned())
}

/// A column of the narrowest type that fits these values: int64, date or string.
fn column(name: &str, values: &[Option<&[u8]>]) -> ConstantColumn {
    let has_values = values.iter().any(Option::is_some);
    let all = |parse: fn(&[u8]) -> Option<i64>| {
        let parsed = values.iter().map(|value| value.map_or(Some(None), |value| parse(value).map(Some)));
        parsed.collect::<Option<Vec<_>>>().filter(|_| has_values)
    };
    if let Some(integers) = all(integer) {
        return ConstantColumn::integers(name, LogicalType::Int64, integers);
    }
    match all(parse_date) {
        Some(dates) => ConstantColumn::integers(name, LogicalType::Date, dates),
        None => ConstantColumn::strings(name, values.iter().copied()),
    }
}

/// An integer as written. Two-digit ones may have a leading zero, as months, days and hours do. Longer ones with
/// leading zeros are identifiers, such as postal codes, and stay strings.
fn integer(text: &[u8]) -> Option<i64> {
    let number: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let is_plain = number.to_string().as_bytes() == text;
    (is_plain || matches!(text, [b'0', b'0'..=b'9'])).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> FoundFile {
        FoundFile::below(Path::new("out"), Path::new("out").join(path)).unwrap()
    }

    #[test]
    fn folders_name_columns_and_values() {
        let file = found("year=2024/plain/city=%C3%85l%20%zz/n=__HIVE_DEFAULT_PARTITION__/=x/a=b.csv");
        let folders: Vec<_> = file.folders.iter().map(|it| (it.name.as_str(), it.value.as_deref())).collect();
        assert_eq!(folders, [("year", Some(&b"2024"[..])), ("city", Some("Ål %zz".as_bytes())), ("n", None)]);
        let twice = FoundFile::below(Path::new("out"), "out/a=1/a=2/x.csv".into()).unwrap_err();
        assert_eq!(twice.to_string(), "out/a=1/a=2/x.csv: two folders are named 'a='");
        assert!(FoundFile::named(Path::new("year=2024/x.csv")).folders.is_empty());
    }

    #[test]
    fn types_hold_all_values() {
        for (values, expected) in [
            (&["2023", "2024"][..], "int64"),
            (&["01", "12"], "int64"),
            (&["-5", "0"], "int64"),
            (&["0123", "4567"], "string"),
            (&["+5"], "string"),
            (&["99999999999999999999"], "string"),
            (&["2024-01-01", "2024-02-29"], "date"),
            (&["2024-01-01", "2024-02-30"], "string"),
            (&["2024", "2024-01-01"], "string"),
            (&["true", ""], "string"),
        ] {
            let mut values: Vec<_> = values.iter().map(|value| Some(value.as_bytes())).collect();
            assert_eq!(column("x", &values).field().logical_type.to_string(), expected, "{values:?}");
            assert!(!column("x", &values).field().nullable);
            values.push(None);
            let field = column("x", &values).field().clone();
            assert!(field.logical_type.to_string() == expected && field.nullable, "{values:?}");
        }
        assert_eq!(column("x", &[None]).field().logical_type, LogicalType::String);
    }
}
