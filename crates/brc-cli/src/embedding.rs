//! The interface for other programs: options, opening and converting files, and failures, as on the command line. Only
//! [`OpenQuery`] and [`message`] print, and nothing here changes signal handlers.
//!
//! Options are passed as shell words, so that they mean the same everywhere and are checked in one place.

use crate::args::{MemoryArgs, Opened, Threads};
use crate::commands::convert::{self, Conversion};
use crate::commands::head::first_rows;
use crate::commands::sniff::{Detected, option};
use crate::row_args::TableArgs;
use crate::temporary_copy::copy_quietly;
use crate::{describe, failure, render};
use brc_compare::Failure;
use brc_core::{Error, Progress, Result, Table};
use brc_encodings::folders::FoundFile;
use brc_encodings::{Converted, FileIdentity, Input, Verified};
use brc_query::{Answer, Memory, Plan, Query};
use clap::Parser;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

pub use crate::commands::query::{OpenQuery, QueryCommand};
pub use crate::editor::{Editor, Typed, Words};
pub use crate::progress::Shown;
pub use crate::stderr::line as message;

/// The message, hints and exit code of an error.
#[must_use]
pub fn failure(error: &Error) -> Failure {
    failure::describe(error)
}

/// The files of one table, and how to read them.
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
    /// Parses paths, globs, directories and options.
    ///
    /// # Errors
    /// [`Error::Usage`] if they are invalid.
    pub fn from_words(words: &[OsString]) -> Result<Self> {
        parsed(words)
    }

    /// Opens the files as one table that can be scanned many times; streams are copied to a temporary file.
    ///
    /// # Errors
    /// If they cannot be read, or do not have the same columns.
    pub fn open(&self) -> Result<Box<dyn Table>> {
        let table = self.table.open_quietly(&self.found()?)?.table;
        if table.bytes().is_some() {
            return Ok(table);
        }
        let (everything, progress) = (Query::everything(), Progress::default());
        copy_quietly(table.as_ref(), &everything, self.threads, &self.memory, &self.table.source, &progress)
    }

    /// Opens an unnamed file with the same options; `name` is used in messages.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open_file(&self, name: &Path, file: File) -> Result<Box<dyn Table>> {
        self.open_with(Input::from_file(name.to_owned(), file)?)
    }

    fn open_with(&self, input: Input) -> Result<Box<dyn Table>> {
        let source = &self.table.source;
        let Opened { encoding, table } = source.open_input(input, &source.open_options()?)?;
        source.text.check([encoding])?;
        Ok(table)
    }

    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// The memory of a query.
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.memory.memory()
    }

    /// Verifies each file. Returns their paths and results.
    ///
    /// # Errors
    /// The first error found.
    pub fn verify(&self, progress: &Progress) -> Result<Vec<(PathBuf, Verified)>> {
        let source = &self.table.source;
        let verify = |FoundFile { path, .. }: FoundFile| {
            let (encoding, input) = source.input(&path)?;
            let verified = encoding.verify(input, &source.open_options()?, self.threads(), progress)?;
            Ok((path, verified))
        };
        self.found()?.into_iter().map(verify).collect()
    }

    /// Describes how each file is stored, as JSON, in the order of their paths.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn describe(&self) -> Result<Vec<(PathBuf, String)>> {
        let source = &self.table.source;
        let describe = |FoundFile { path, .. }: FoundFile| {
            let (encoding, input) = source.input(&path)?;
            Ok((path, describe::json(&encoding.describe(input, &source.open_options()?)?)))
        };
        self.found()?.into_iter().map(describe).collect()
    }

    /// The identities of the files.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn identities(&self) -> Result<Vec<FileIdentity>> {
        self.found()?.into_iter().map(|file| FileIdentity::of(&file.path)).collect()
    }

    /// Detects the format of the first file, and opens all as one table. A single file is opened only once.
    ///
    /// # Errors
    /// If they cannot be read, or do not have the same columns.
    pub fn sniff(&self) -> Result<(FileFormat, Box<dyn Table>)> {
        let found = self.found()?;
        let first = found.first().ok_or_else(|| Error::Usage("no file is given".to_owned()))?;
        let input = Input::open(&first.path)?;
        if found.len() == 1 && first.directory.is_none() {
            return self.sniff_input(input);
        }
        let (format, _) = self.detect(input)?;
        Ok((format, self.table.open_quietly(&found)?.table))
    }

    /// Like [`Files::sniff`], for an unnamed file.
    ///
    /// # Errors
    /// As for [`Files::sniff`].
    pub fn sniff_file(&self, name: &Path, file: File) -> Result<(FileFormat, Box<dyn Table>)> {
        self.sniff_input(Input::from_file(name.to_owned(), file)?)
    }

    fn sniff_input(&self, input: Input) -> Result<(FileFormat, Box<dyn Table>)> {
        let (format, input) = self.detect(input)?;
        Ok((format, self.open_with(input)?))
    }

    fn detect(&self, input: Input) -> Result<(FileFormat, Input)> {
        let source = &self.table.source;
        let (detected, input) = Detected::of(input, source.from, &source.open_options()?)?;
        let parts = detected.sniffed.iter().flat_map(|sniffed| &sniffed.findings);
        let parts = parts.map(|finding| DialectPart {
            part: finding.part.to_string(),
            value: finding.value.clone(),
            evidence: finding.evidence.clone(),
            option: option(finding.part),
        });
        let format = FileFormat {
            encoding: detected.encoding.name(),
            compression: detected.compression,
            parts: parts.collect(),
            advice: detected.sniffed.iter().flat_map(|sniffed| sniffed.advice.iter().cloned()).collect(),
        };
        Ok((format, input))
    }

    fn found(&self) -> Result<Vec<FoundFile>> {
        self.table.found()
    }
}

/// The command-line word of an option that another language gives as true or false; `None` if it is to be left out.
#[must_use]
pub fn word_of_bool(option: &str, is_true: bool) -> Option<String> {
    /// Options with the values yes and no; leaving them out detects the value.
    const YES_OR_NO: [&str; 3] = ["brackets", "header", "trim"];
    /// Options with the value none.
    const OPTIONAL: [&str; 3] = ["quote", "escape", "comment"];
    match is_true {
        _ if YES_OR_NO.contains(&option) => Some(format!("--{option}={}", if is_true { "yes" } else { "no" })),
        false if OPTIONAL.contains(&option) => Some(format!("--{option}=none")),
        true => Some(format!("--{option}")),
        false => None,
    }
}

/// The detected format of a file.
#[derive(Debug, Clone)]
pub struct FileFormat {
    /// The name of the encoding.
    pub encoding: &'static str,
    /// The compression of the whole file, or `none`.
    pub compression: &'static str,
    /// The dialect of a text file.
    pub parts: Vec<DialectPart>,
    /// Suggestions for the user.
    pub advice: Vec<String>,
}

/// A detected part of the dialect.
#[derive(Debug, Clone)]
pub struct DialectPart {
    /// The name of the part.
    pub part: String,
    /// Its value.
    pub value: String,
    /// The evidence for the value.
    pub evidence: String,
    /// The option that overrides it.
    pub option: &'static str,
}

/// The first rows of a table, formatted by [`shown`].
///
/// # Errors
/// Errors of the scan before enough rows are read.
pub fn preview(table: &dyn Table, rows: u64) -> Result<String> {
    let (plan, rows) = first_rows(table, rows)?;
    shown(&plan, &rows)
}

/// A result in the table format of `brc query`, without colours; without a terminal it is limited to a default width.
///
/// # Errors
/// If it cannot be formatted.
pub fn shown(plan: &Plan, answer: &Answer) -> Result<String> {
    let mut text = Vec::new();
    render::render(render::narrow_table(), plan, answer, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The arguments of a conversion.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
#[group(skip)]
pub struct Convert {
    #[command(flatten)]
    args: convert::Args,
}

/// What to convert instead of the named inputs.
pub enum ConversionInput {
    /// Convert the named inputs.
    Named,
    /// A table.
    Table(Box<dyn Table>),
    /// A file with the name used in messages.
    File(PathBuf, File),
}

/// The outcome of a conversion.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The numbers of rows and bytes.
    pub converted: Converted,
    /// The columns with values that are written differently, and how many.
    pub altered: Vec<(String, u64)>,
    /// Other notes, one sentence each.
    pub notes: Vec<String>,
}

impl Convert {
    /// Parses inputs, an output and options.
    ///
    /// # Errors
    /// [`Error::Usage`] if they are invalid.
    pub fn from_words(words: &[OsString]) -> Result<Self> {
        let own: Self = parsed(words)?;
        match own.args.partition_by {
            Some(_) => Err(Error::Usage("--partition-by: only the program brc writes partitions".to_owned())),
            None => Ok(own),
        }
    }

    /// Converts the named inputs, or `given` instead.
    ///
    /// # Errors
    /// The first error that occurs.
    pub fn run(&self, given: ConversionInput, progress: &Progress) -> Result<Ledger> {
        let conversion = match given {
            ConversionInput::Named => Conversion::begin(&self.args)?,
            ConversionInput::Table(table) => Conversion::of_table(&self.args, table)?,
            ConversionInput::File(name, file) => Conversion::of_input(&self.args, Input::from_file(name, file)?)?,
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
