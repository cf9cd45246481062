//! Where a table comes from, as plain data: another machine opens the same files by it, or says that it has others.

use crate::table::{FileTable, Resources};
use brc_cli::embedding::Files;
use brc_core::{Error, Result, Schema};
use brc_encodings::{FileIdentity, remote};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, absolute};
use std::sync::{Arc, Mutex, PoisonError};

/// Paths and options as `brc query` has them for files. Paths of this machine are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    paths: Vec<String>,
    options: Vec<String>,
}

impl Origin {
    /// # Errors
    /// [`Error::Usage`] if a word is not UTF-8; the system's if it does not know the directory that is worked in.
    pub(crate) fn new(paths: &[&str], options: &[OsString]) -> Result<Self> {
        let whole = |path: &&str| {
            let is_elsewhere = remote::is_in_store(Path::new(path)) || *path == "-";
            let whole =
                if is_elsewhere { path.into() } else { absolute(path).map_err(Error::io(path.as_ref(), "open"))? };
            text(whole.into_os_string())
        };
        let paths = paths.iter().map(whole).collect::<Result<_>>()?;
        Ok(Self { paths, options: options.iter().cloned().map(text).collect::<Result<_>>()? })
    }

    fn files(&self, memory: Option<u64>) -> Result<Files> {
        let limit = memory.into_iter().flat_map(|bytes| ["--memory".to_owned(), bytes.to_string()]);
        let words =
            limit.chain(self.options.iter().cloned()).chain(["--".to_owned()]).chain(self.paths.iter().cloned());
        Files::from_words(&words.map(OsString::from).collect::<Vec<_>>())
    }

    /// Which files the paths stand for.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn identities(&self) -> Result<Vec<FileIdentity>> {
        self.files(None)?.identities()
    }

    /// The table.
    ///
    /// # Errors
    /// If the files cannot be read or are no table.
    pub(crate) fn open(&self, resources: &Resources) -> Result<FileTable> {
        let opened = self.files(resources.memory)?.open()?;
        FileTable::with_progress(opened.into(), resources.threads, resources.progress.clone())
    }
}

fn text(word: OsString) -> Result<String> {
    word.into_string().map_err(|word| Error::Usage(format!("{}: it is not UTF-8", word.display())))
}

/// A table as it travels: where it is, and which one it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentTable {
    origin: Origin,
    strings_as_binary: bool,
    columns: Schema,
    files: Vec<FileIdentity>,
}

impl SentTable {
    /// # Errors
    /// [`Error::Usage`] if the table is not one of files; if they cannot be read.
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

    /// The first of its files, for messages.
    pub(crate) fn path(&self) -> &Path {
        self.files.first().map_or(Path::new("-"), |file| &file.path)
    }

    /// The same table on this machine. Those that were opened last stay open.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if files are missing here or are others; if they cannot be read.
    pub(crate) fn open(&self) -> Result<FileTable> {
        self.check()?;
        let place = place_of(self);
        // Tasks that begin together open it once.
        let mut opened = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = &*opened {
            return Ok(table.clone());
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let table = self.origin.open(&Resources { threads, ..Resources::default() })?;
        let table = table.with_origin(self.origin.clone(), Some(self.files.clone()));
        let table = if self.strings_as_binary { table.with_strings_as_binary() } else { table };
        if *table.columns() != self.columns {
            let (here, there) = (table.columns(), &self.columns);
            return Err(self.another(self.path(), &format!("its columns are {here} here, but {there} there")));
        }
        // They may have been replaced meanwhile.
        self.check()?;
        *opened = Some(table.clone());
        Ok(table)
    }

    /// Whether the files are the same ones.
    fn check(&self) -> Result<()> {
        let here = self.origin.identities()?;
        if here == self.files {
            return Ok(());
        }
        if let Some(more) = here.iter().find(|own| self.files.iter().all(|there| there.path != own.path)) {
            return Err(self.another(&more.path, "it is not one of the files there"));
        }
        if let Some(missing) = self.files.iter().find(|there| here.iter().all(|own| own.path != there.path)) {
            return Err(self.another(&missing.path, "it is not here"));
        }
        match here.iter().zip(&self.files).find(|(own, there)| own != there) {
            Some((own, _)) => Err(self.another(&own.path, "it is another file here")),
            None => Ok(()),
        }
    }

    fn another(&self, path: &Path, reason: &str) -> Error {
        let reason =
            format!("{reason}: these are not the files that the question was asked of, which must be opened again");
        Error::Unsupported { path: path.to_owned(), reason }
    }
}

/// Where a table is kept that is open, or being opened.
type Place = Arc<Mutex<Option<FileTable>>>;

/// Tables that were opened last, the newest one behind all others.
static OPENED: Mutex<VecDeque<(SentTable, Place)>> = Mutex::new(VecDeque::new());

/// Tasks come one by one, and opening a table may mean reading all of a text.
const KEPT: usize = 32;

fn place_of(sent: &SentTable) -> Place {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, place)) = opened.iter().find(|(known, _)| known == sent) {
        return Arc::clone(place);
    }
    if opened.len() == KEPT {
        opened.pop_front();
    }
    opened.push_back((sent.clone(), Place::default()));
    opened[opened.len() - 1].1.clone()
}
