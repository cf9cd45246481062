//! Resolves the tables that statements name: all files of the command line as one, one of them, or files named only in
//! a statement. Each table is opened once.

use super::Args;
use crate::args::Opened;
use crate::inputs::expand;
use crate::temporary_copy::copy;
use brc_core::identifier::in_sql;
use brc_core::{Error, Result};
use brc_encodings::folders::FoundFile;
use brc_query::{Query, TableName};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The names of the table of all command-line files.
const NAMES_OF_ALL: [&str; 4] = ["t", "this", "data", "table"];

/// The number of table names that a message lists.
const MAX_NAMES: usize = 10;

/// The tables of one run.
pub(super) struct Tables<'a> {
    args: &'a Args,
    /// Whether tables are read more than once; streams are then copied.
    is_reread: bool,
    /// The files of the command line, with globs expanded.
    files: Vec<FoundFile>,
    opened: Vec<OpenTable>,
}

/// An open table.
pub(super) struct OpenTable {
    pub(super) files: Vec<FoundFile>,
    pub(super) opened: Opened,
}

impl<'a> Tables<'a> {
    /// Expands the inputs without opening any.
    ///
    /// # Errors
    /// As for [`expand`].
    pub(super) fn new(args: &'a Args, inputs: &[PathBuf], is_reread: bool) -> Result<Self> {
        Ok(Self { args, is_reread, files: expand(inputs)?, opened: Vec::new() })
    }

    /// The table with the given name, or that of the command line.
    ///
    /// # Errors
    /// If there is no such table, or it cannot be read.
    pub(super) fn get(&mut self, name: Option<&TableName>) -> Result<&OpenTable> {
        let files = self.files_of(name)?;
        let index = match self.opened.iter().position(|table| table.files == files) {
            Some(index) => index,
            None => {
                let opened = self.open(&files)?;
                self.opened.push(OpenTable { files, opened });
                self.opened.len() - 1
            }
        };
        Ok(&self.opened[index])
    }

    /// Like [`Tables::get`], for the only table that is needed.
    ///
    /// # Errors
    /// As for [`Tables::get`].
    pub(super) fn into_table(self, name: Option<&TableName>) -> Result<OpenTable> {
        let files = self.files_of(name)?;
        let opened = self.open(&files)?;
        Ok(OpenTable { files, opened })
    }

    fn open(&self, found: &[FoundFile]) -> Result<Opened> {
        let Args { source, files, threads, memory, .. } = self.args;
        let mut opened = source.open_all(found, files, &source.open_options()?)?;
        if self.is_reread && opened.table.bytes().is_none() {
            opened.table = copy(opened.table.as_ref(), &Query::everything(), *threads, memory, source)?;
        }
        Ok(opened)
    }

    /// The names and files of the command-line tables, each once; the first of several has all files.
    pub(super) fn list(&self) -> Vec<(String, String)> {
        let file = |file: &FoundFile| file.path.display().to_string();
        let named = self.files.iter().filter(|file| file.path.as_path() != Path::new("-"));
        let mut tables: Vec<_> = named.map(|named| (in_sql(stem(&named.path)).into_owned(), file(named))).collect();
        let all = self.files.iter().map(file).collect::<Vec<_>>().join(", ");
        if !self.files.is_empty() && tables.iter().all(|(_, files)| *files != all) {
            tables.insert(0, (NAMES_OF_ALL[0].to_owned(), all));
        }
        let mut listed = HashSet::new();
        tables.retain(|table| listed.insert(table.clone()));
        tables
    }

    fn files_of(&self, name: Option<&TableName>) -> Result<Vec<FoundFile>> {
        let Some(table) = name else {
            return match self.files.is_empty() {
                true => {
                    Err(Error::Usage("no file is given; name it before the query or in it: from 'a.csv'".to_owned()))
                }
                false => Ok(self.files.clone()),
            };
        };
        let name = table.name.as_str();
        if self.files.is_empty() {
            return match table.is_quoted || name.contains('.') {
                true => expand(&[PathBuf::from(name)]),
                false => {
                    let message = format!("unknown table '{name}'; name its file in quotes: from '{name}.csv'");
                    Err(table.error(message).into())
                }
            };
        }
        if !table.is_quoted && NAMES_OF_ALL.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(self.files.clone());
        }
        let is_below = |file: &&FoundFile| {
            file.directory.as_ref().is_some_and(|directory| is_called(directory, name, table.is_quoted))
        };
        let below: Vec<FoundFile> = self.files.iter().filter(is_below).cloned().collect();
        if !below.is_empty() {
            return Ok(below);
        }
        let is_it = |file: &&FoundFile| is_called(&file.path, name, table.is_quoted);
        let found: Vec<&FoundFile> = self.files.iter().filter(is_it).collect();
        match found[..] {
            [file] => Ok(vec![file.clone()]),
            [] => Err(table.error(self.unknown(name)).into()),
            [..] => {
                let message = format!("{} files are called '{name}'; name one with its folder, in quotes", found.len());
                Err(table.error(message).into())
            }
        }
    }

    fn unknown(&self, name: &str) -> String {
        let mut names: Vec<String> = self.list().into_iter().map(|(name, _)| name).collect();
        let more = names.len().saturating_sub(MAX_NAMES);
        names.truncate(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("unknown table '{name}' (tables: {}{more})", names.join(", "))
    }
}

/// The name of a file up to its first dot, which is the name of its table.
fn stem(path: &Path) -> &str {
    let name = file_name(path);
    match name.find('.') {
        Some(end) if end > 0 => &name[..end],
        _ => name,
    }
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or("?")
}

/// Whether a name denotes a file: by its path, its file name, or the start of its file name up to a dot. Unquoted names
/// ignore case.
fn is_called(path: &Path, name: &str, is_quoted: bool) -> bool {
    let plain = |path: &Path| path.strip_prefix(".").unwrap_or(path).to_owned();
    if plain(path) == plain(Path::new(name)) {
        return true;
    }
    let file = file_name(path);
    let Some((start, rest)) = file.split_at_checked(name.len()) else { return false };
    let is_it = if is_quoted { start == name } else { start.eq_ignore_ascii_case(name) };
    is_it && !name.is_empty() && (rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_name() {
        for (path, name, is_quoted, expected) in [
            ("flights.csv", "flights", false, true),
            ("flights.csv", "FLIGHTS", false, true),
            ("flights.csv", "FLIGHTS", true, false),
            ("data/flights.csv.gz", "flights", false, true),
            ("data/flights.csv.gz", "flights.csv", false, true),
            ("data/flights.csv.gz", "data/flights.csv.gz", true, true),
            ("./a.csv", "a.csv", true, true),
            ("a.csv", "./a.csv", true, true),
            ("flights.csv", "flight", false, false),
            ("flights.csv", "", true, false),
            ("x/a.csv", "y/a.csv", true, false),
        ] {
            assert_eq!(is_called(Path::new(path), name, is_quoted), expected, "{path} {name}");
        }
        for (path, expected) in [("x/a.csv.gz", "a"), (".hidden", ".hidden"), ("-", "-"), ("a", "a")] {
            assert_eq!(stem(Path::new(path)), expected);
        }
    }
}
