//! Resolves the inputs of a command: paths, globs and directories, opened as one table.

use crate::args::{Files, Opened, Source};
use crate::{globs, printable};
use brc_core::{Error, Result, Table};
use brc_encodings::folders::{self, FilesAsTable, FoundFile};
use brc_encodings::{OpenOptions, remote};
use std::path::{Path, PathBuf};

/// The number of notes that are printed; many files may have the same.
const MAX_NOTES: usize = 10;

/// Resolves paths, URLs, globs and directories to files. The files of a glob are sorted by name and exclude
/// directories; those of a directory are sorted by path and include subdirectories. An existing path is never taken for
/// a glob.
///
/// # Errors
/// [`Error::Usage`] if a glob is malformed or matches no file, a directory has none, or standard input is named twice.
pub(crate) fn expand(inputs: &[PathBuf]) -> Result<Vec<FoundFile>> {
    if inputs.iter().filter(|input| input.as_os_str() == "-").count() > 1 {
        return Err(Error::Usage("-: standard input can be read only once".to_owned()));
    }
    let mut files = Vec::with_capacity(inputs.len());
    for input in inputs {
        if let Some(found) = remote::found(input)? {
            files.extend(found);
            continue;
        }
        if input.is_dir() {
            files.extend(folders::files_of(input)?);
            continue;
        }
        if input.exists() || !globs::is_pattern(input.as_os_str()) {
            files.push(FoundFile::named(input));
            continue;
        }
        let found = globs::matches(input)?;
        if found.is_empty() {
            let reason = "no file matches this pattern";
            return Err(Error::Usage(format!("{}: {reason}", input.display())));
        }
        let directory = globs::directory(input);
        for path in found {
            files.push(FoundFile::below(&directory, path)?);
        }
    }
    Ok(files)
}

/// The paths of the files.
pub(crate) fn paths(files: &[FoundFile]) -> Vec<PathBuf> {
    files.iter().map(|file| file.path.clone()).collect()
}

/// The paths of the files, and of the directories in which they were found.
pub(crate) fn sources(files: &[FoundFile]) -> Vec<PathBuf> {
    let mut directories: Vec<_> = files.iter().filter_map(|file| file.directory.clone()).collect();
    directories.dedup();
    [paths(files), directories].concat()
}

impl Files {
    /// The names of the columns that are added to those of the files.
    ///
    /// # Errors
    /// As for [`folders::columns`].
    pub(crate) fn added_columns(&self, found: &[FoundFile]) -> Result<Vec<String>> {
        let columns = folders::columns(found, self.union_by_name)?;
        let names = columns.iter().map(|column| column.field().name.clone());
        Ok(names.chain(self.file_name.clone()).collect())
    }
}

impl Source {
    /// Opens files as one table, and prints notes about it to standard error.
    ///
    /// # Errors
    /// If one of them cannot be read, or they do not have the same columns.
    pub(crate) fn open_all(&self, found: &[FoundFile], files: &Files, options: &OpenOptions) -> Result<Opened> {
        let opened = self.open_quietly(found, files, options)?;
        print_notes(opened.table.as_ref());
        Ok(opened)
    }

    /// Like [`Source::open_all`], without printing notes.
    ///
    /// # Errors
    /// As for [`Source::open_all`].
    pub(crate) fn open_quietly(&self, found: &[FoundFile], files: &Files, options: &OpenOptions) -> Result<Opened> {
        let as_table = FilesAsTable { by_name: files.union_by_name, file_name: files.file_name.clone() };
        let open = |path: &Path, options: &OpenOptions| {
            let Opened { encoding, table } = self.open(path, options)?;
            Ok((encoding, table))
        };
        let (encodings, table) = as_table.open(found, options, open)?;
        let Some(encoding) = encodings.first().copied() else {
            return Err(Error::Usage("no file is given".to_owned()));
        };
        self.text.check(encodings)?;
        Ok(Opened { encoding, table })
    }
}

/// Prints the notes about an opened table to standard error.
pub(crate) fn print_notes(table: &dyn Table) {
    let notes = table.notes();
    for note in notes.iter().take(MAX_NOTES) {
        message!("note: {}", printable::line(note.as_bytes()));
    }
    if notes.len() > MAX_NOTES {
        message!("note: {} more of this kind; brc sniff shows what was inferred", notes.len() - MAX_NOTES);
    }
}
