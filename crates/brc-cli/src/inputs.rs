//! The files that a command reads: paths, globs and directories, one table or several that become one.

use crate::args::{Files, Opened, Source};
use crate::{globs, printable};
use brc_core::{Error, Result, Table};
use brc_encodings::folders::{self, FilesAsTable, FoundFile};
use brc_encodings::{OpenOptions, remote};
use std::path::{Path, PathBuf};

/// How many notes are printed: many files may have the same.
const MAX_NOTES: usize = 10;

/// The files that these paths, addresses, globs and directories name: those of a glob sorted by name, without directories; those of a
/// directory sorted by path, with all below it. A path that exists is no glob, whatever characters it has.
///
/// # Errors
/// [`Error::Usage`] if a glob is malformed or matches no file, or a directory has none.
pub(crate) fn expand(inputs: &[PathBuf]) -> Result<Vec<FoundFile>> {
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

/// Where the files are.
pub(crate) fn paths(files: &[FoundFile]) -> Vec<PathBuf> {
    files.iter().map(|file| file.path.clone()).collect()
}

impl Files {
    /// The names of the columns that these files do not have themselves.
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
    /// Opens files as one table, and says on standard error what there is to know about that.
    ///
    /// # Errors
    /// If one of them cannot be read, or they do not have the same columns.
    pub(crate) fn open_all(&self, found: &[FoundFile], files: &Files, options: &OpenOptions) -> Result<Opened> {
        let opened = self.open_quietly(found, files, options)?;
        tell_notes(opened.table.as_ref());
        Ok(opened)
    }

    /// The same, and says nothing.
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

/// Says on standard error what a user should know about how a table was opened.
pub(crate) fn tell_notes(table: &dyn Table) {
    let notes = table.notes();
    for note in notes.iter().take(MAX_NOTES) {
        message!("note: {}", printable::line(note.as_bytes()));
    }
    if notes.len() > MAX_NOTES {
        message!("note: {} more of this kind; brc sniff shows what was inferred", notes.len() - MAX_NOTES);
    }
}
