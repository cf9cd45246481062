//! The origin of a table as plain data: another machine opens the same files from it, or reports that its files differ.

use crate::table::{FileTable, Resources};
use brc_cli::embedding::Files;
use brc_core::{Error, Result, Schema};
use brc_encodings::{FileIdentity, remote};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, absolute};
use std::sync::Arc;

/// Paths and options of `brc query` for files. Local paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    paths: Vec<String>,
    options: Vec<String>,
}

impl Origin {
    /// # Errors
    /// [`Error::Usage`] if a word is not UTF-8; I/O errors if the working directory is unknown.
    pub(crate) fn new(paths: &[&str], options: &[OsString]) -> Result<Self> {
        let absolute_path = |path: &&str| {
            let is_elsewhere = remote::is_in_store(Path::new(path)) || *path == "-";
            let whole =
                if is_elsewhere { path.into() } else { absolute(path).map_err(Error::io(path.as_ref(), "open"))? };
            text(whole.into_os_string())
        };
        let paths = paths.iter().map(absolute_path).collect::<Result<_>>()?;
        Ok(Self { paths, options: options.iter().cloned().map(text).collect::<Result<_>>()? })
    }

    fn files(&self, memory: Option<u64>) -> Result<Files> {
        let limit = memory.into_iter().flat_map(|bytes| ["--memory".to_owned(), bytes.to_string()]);
        let words =
            limit.chain(self.options.iter().cloned()).chain(["--".to_owned()]).chain(self.paths.iter().cloned());
        Files::from_words(&words.map(OsString::from).collect::<Vec<_>>())
    }

    /// The identities of the files.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn identities(&self) -> Result<Vec<FileIdentity>> {
        self.files(None)?.identities()
    }

    /// Opens the table.
    ///
    /// # Errors
    /// If the files cannot be read or do not form a table.
    pub(crate) fn open(&self, resources: &Resources) -> Result<FileTable> {
        let opened = self.files(resources.memory)?.open()?;
        FileTable::with_progress(opened.into(), resources.threads, resources.progress.clone())
    }
}

fn text(word: OsString) -> Result<String> {
    word.into_string().map_err(|word| Error::Usage(format!("{}: it is not UTF-8", word.display())))
}

/// A reference to a table that is sent to other machines: its origin, and the identities of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileReference {
    origin: Origin,
    strings_as_binary: bool,
    columns: Schema,
    files: Vec<FileIdentity>,
}

impl FileReference {
    /// # Errors
    /// [`Error::Usage`] if the table does not consist of named files; I/O errors.
    pub(crate) fn of(file: &FileTable) -> Result<Self> {
        let Some(origin) = file.origin().filter(|origin| !origin.paths.contains(&"-".to_owned())) else {
            let path = file.table().path().display();
            return Err(Error::Usage(format!("{path}: only tables of files can be read in a cluster")));
        };
        Ok(Self {
            origin: origin.clone(),
            strings_as_binary: file.options().strings_as_binary,
            columns: file.columns().clone(),
            files: file.files_or(|| origin.identities())?.to_vec(),
        })
    }

    /// The path of the first file, for messages.
    pub(crate) fn path(&self) -> &Path {
        self.files.first().map_or(Path::new("-"), |file| &file.path)
    }

    /// Opens the table on this machine. Recently opened tables are cached.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if files are missing here or differ; I/O errors.
    pub(crate) fn open(&self) -> Result<FileTable> {
        self.check()?;
        let entry = cache_entry(self);
        // Tasks that start together open the table once.
        let mut opened = entry.lock();
        if let Some(table) = &*opened {
            return Ok(table.clone());
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let table = self.origin.open(&Resources { threads, ..Resources::default() })?;
        let table = table.with_origin(self.origin.clone(), Some(self.files.clone()));
        let table = if self.strings_as_binary { table.with_strings_as_binary() } else { table };
        if *table.columns() != self.columns {
            let (here, there) = (table.columns(), &self.columns);
            return Err(self.differing(self.path(), &format!("its columns are {here} here, but {there} there")));
        }
        // The files may have been replaced meanwhile.
        self.check()?;
        *opened = Some(table.clone());
        Ok(table)
    }

    /// Checks that the files are the same here.
    fn check(&self) -> Result<()> {
        let here = self.origin.identities()?;
        if here == self.files {
            return Ok(());
        }
        if let Some(more) = here.iter().find(|own| self.files.iter().all(|there| there.path != own.path)) {
            return Err(self.differing(&more.path, "it is not one of the files there"));
        }
        if let Some(missing) = self.files.iter().find(|there| here.iter().all(|own| own.path != there.path)) {
            return Err(self.differing(&missing.path, "it is not here"));
        }
        match here.iter().zip(&self.files).find(|(own, there)| own != there) {
            Some((own, _)) => Err(self.differing(&own.path, "it is another file here")),
            None => Ok(()),
        }
    }

    fn differing(&self, path: &Path, reason: &str) -> Error {
        let reason = format!("{reason}: the files differ from those of the query; open them again");
        Error::Unsupported { path: path.to_owned(), reason }
    }
}

/// A cache entry: a table that is open or being opened.
type CacheEntry = Arc<Mutex<Option<FileTable>>>;

/// Recently opened tables, the newest last.
static OPENED: Mutex<VecDeque<(FileReference, CacheEntry)>> = Mutex::new(VecDeque::new());

/// The number of cached tables. Tasks arrive one by one, and opening a table may mean reading a whole text file.
const MAX_CACHED: usize = 32;

fn cache_entry(reference: &FileReference) -> CacheEntry {
    let mut opened = OPENED.lock();
    if let Some((_, entry)) = opened.iter().find(|(known, _)| known == reference) {
        return Arc::clone(entry);
    }
    if opened.len() == MAX_CACHED {
        opened.pop_front();
    }
    opened.push_back((reference.clone(), CacheEntry::default()));
    opened[opened.len() - 1].1.clone()
}
