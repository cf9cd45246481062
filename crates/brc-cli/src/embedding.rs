//! What other programs share with the command line: its options, how it opens files and converts them, and what it says of
//! failures. Nothing here but [`OpenQuery`] prints, or changes what the process does with signals.
//!
//! Options are words as a shell would pass them, so that they mean the same everywhere and are checked in one place.

use crate::args::{MemoryArgs, Opened, Threads};
use crate::commands::convert::{self, Conversion};
use crate::commands::head::first_rows;
use crate::commands::sniff::{Looked, option};
use crate::row_args::TableArgs;
use crate::temporary_copy::copy_unseen;
use crate::{describe, failure, render};
use brc_compare::Failure;
use brc_core::{Error, Progress, Result, Table};
use brc_encodings::folders::FoundFile;
use brc_encodings::{Converted, FileIdentity, Input, Verified};
use brc_query::{Memory, Plan, Query, QueryResult};
use clap::Parser;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

pub use crate::commands::query::{OpenQuery, QueryCommand};
pub use crate::editor::{Editor, Typed, Words};
pub use crate::progress::Shown;

/// The message, the hints and the exit code of a failure.
#[must_use]
pub fn failure(error: &Error) -> Failure {
    failure::describe(error)
}

/// Files that are one table, and how they are read.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
#[group(skip)]
pub struct Files {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Files {
    /// Reads paths, globs, directories and options.
    ///
    /// # Errors
    /// [`Error::Usage`] if they are none.
    pub fn from_words(words: &[OsString]) -> Result<Self> {
        parsed(words)
    }

    /// Opens them as one table, which can be scanned many times: what can be read only once is copied to a temporary file.
    ///
    /// # Errors
    /// If they cannot be read, or do not have the same columns.
    pub fn open(&self) -> Result<Box<dyn Table>> {
        let table = self.table.open_quietly(&self.found()?)?.table;
        if table.bytes().is_some() {
            return Ok(table);
        }
        let (everything, progress) = (Query::everything(), Progress::default());
        copy_unseen(table.as_ref(), &everything, self.threads, &self.memory, &self.table.source, &progress)
    }

    /// Opens a file that has no name of its own with the same options, under that name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open_file(&self, name: &Path, file: File) -> Result<Box<dyn Table>> {
        let input = Input::from_file(name.to_owned(), file)?;
        let source = &self.table.source;
        let Opened { encoding, table } = source.open_input(input, &source.open_options())?;
        source.text.check([encoding])?;
        Ok(table)
    }

    /// How many threads read them.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// How much memory a question may take.
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.memory.memory()
    }

    /// Checks each of them. Returns their paths, and what was verified.
    ///
    /// # Errors
    /// The first thing that is wrong with one.
    pub fn verify(&self, progress: &Progress) -> Result<Vec<(PathBuf, Verified)>> {
        let source = &self.table.source;
        let verify = |FoundFile { path, .. }: FoundFile| {
            let (encoding, input) = source.input(&path)?;
            let verified = encoding.verify(input, &source.open_options(), self.threads(), progress)?;
            Ok((path, verified))
        };
        self.found()?.into_iter().map(verify).collect()
    }

    /// What each of them is made of, as JSON, in the order of their paths.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn describe(&self) -> Result<Vec<(PathBuf, String)>> {
        let source = &self.table.source;
        let describe = |FoundFile { path, .. }: FoundFile| {
            let (encoding, input) = source.input(&path)?;
            Ok((path, describe::json(&encoding.describe(input, &source.open_options())?)))
        };
        self.found()?.into_iter().map(describe).collect()
    }

    /// Which files they are.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn identities(&self) -> Result<Vec<FileIdentity>> {
        self.found()?.into_iter().map(|file| FileIdentity::of(&file.path)).collect()
    }

    /// How the first of them is written.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn sniff(&self) -> Result<Found> {
        let found = self.found()?;
        let first = found.first().ok_or_else(|| Error::Usage("no file is given".to_owned()))?;
        self.look_at(Input::open(&first.path)?)
    }

    /// The same for a file that has no name of its own.
    ///
    /// # Errors
    /// As for [`Files::sniff`].
    pub fn sniff_file(&self, name: &Path, file: File) -> Result<Found> {
        self.look_at(Input::from_file(name.to_owned(), file)?)
    }

    fn look_at(&self, input: Input) -> Result<Found> {
        let options = self.table.source.open_options();
        let (looked, _) = Looked::of(input, &options)?;
        let parts = looked.sniffed.iter().flat_map(|sniffed| &sniffed.findings);
        let parts = parts.map(|finding| FoundPart {
            part: finding.part.to_string(),
            value: finding.value.clone(),
            evidence: finding.evidence.clone(),
            option: option(finding.part),
        });
        Ok(Found {
            encoding: looked.encoding.name(),
            compression: looked.compression,
            parts: parts.collect(),
            advice: looked.sniffed.iter().flat_map(|sniffed| sniffed.advice.iter().cloned()).collect(),
        })
    }

    fn found(&self) -> Result<Vec<FoundFile>> {
        self.table.found()
    }
}

/// How a file is written.
#[derive(Debug, Clone)]
pub struct Found {
    /// The encoding's name.
    pub encoding: &'static str,
    /// The name of the compression of the whole file, or none.
    pub compression: &'static str,
    /// The dialect of a text.
    pub parts: Vec<FoundPart>,
    /// What may be done about it.
    pub advice: Vec<String>,
}

/// A part of the dialect of a text.
#[derive(Debug, Clone)]
pub struct FoundPart {
    /// Which part.
    pub part: String,
    /// What it is.
    pub value: String,
    /// What speaks for that.
    pub evidence: String,
    /// The option that overrides it.
    pub option: &'static str,
}

/// The first rows of a table, as [`shown`] shows them.
///
/// # Errors
/// Those of the scan, unless there are enough rows before.
pub fn preview(table: &dyn Table, rows: u64) -> Result<String> {
    let (plan, rows) = first_rows(table, rows)?;
    shown(&plan, &rows)
}

/// An answer as `brc query` shows it, without colours, and no wider than a terminal usually is where there is none.
///
/// # Errors
/// If it cannot be shown.
pub fn shown(plan: &Plan, answer: &QueryResult) -> Result<String> {
    let mut text = Vec::new();
    render::render(render::narrow_table(), plan, answer, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A conversion: what is read, and what is written.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
#[group(skip)]
pub struct Convert {
    #[command(flatten)]
    args: convert::Args,
}

/// What is converted in place of the inputs that are named.
pub enum Given {
    /// Those that are named.
    Nothing,
    /// A table.
    Table(Box<dyn Table>),
    /// A file, under that name.
    File(PathBuf, File),
}

/// What a conversion did.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// What became of the rows.
    pub converted: Converted,
    /// How many values of each column are written differently, where there are any.
    pub altered: Vec<(String, u64)>,
    /// What there is to say besides, a sentence each.
    pub notes: Vec<String>,
}

impl Convert {
    /// Reads inputs, an output, and options.
    ///
    /// # Errors
    /// [`Error::Usage`] if they are none.
    pub fn from_words(words: &[OsString]) -> Result<Self> {
        let own: Self = parsed(words)?;
        match own.args.partition_by {
            Some(_) => Err(Error::Usage("--partition-by: only the program brc writes partitions".to_owned())),
            None => Ok(own),
        }
    }

    /// Converts the inputs, or what is given in place of them.
    ///
    /// # Errors
    /// The first thing that goes wrong.
    pub fn run(&self, given: Given, progress: &Progress) -> Result<Ledger> {
        let conversion = match given {
            Given::Nothing => Conversion::begin(&self.args)?,
            Given::Table(table) => Conversion::of_table(&self.args, table)?,
            Given::File(name, file) => Conversion::of_input(&self.args, Input::from_file(name, file)?)?,
        };
        let converted = conversion.run(progress)?;
        let table = conversion.table();
        let names = table.schema().fields().iter().map(|field| field.name.clone());
        let altered = names.zip(table.changes()).filter(|(_, changes)| changes.altered > 0);
        Ok(Ledger {
            altered: altered.map(|(name, changes)| (name, changes.altered)).collect(),
            notes: convert::notes(&converted, table),
            converted,
        })
    }
}

fn parsed<T: Parser>(words: &[OsString]) -> Result<T> {
    T::try_parse_from(words).map_err(|error| {
        let error = error.to_string();
        let message = error
            .lines()
            .take_while(|line| !line.starts_with("Usage:"))
            .filter(|line| !line.trim().is_empty() && !line.contains(" as a value, use '-- "));
        let lines: Vec<&str> = message.map(|line| line.trim().trim_start_matches("error: ")).collect();
        Error::Usage(lines.join("; "))
    })
}
