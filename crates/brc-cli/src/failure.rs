//! Messages and exit codes of failed runs.

use crate::printable;
use brc_compare::Failure;
use brc_core::{Error, LogicalType, RowFault, UnsupportedReason, calendar};
use brc_encodings::{ENCODINGS, temporary};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::panic::PanicHookInfo;
use std::path::Path;

/// The exit code of a successful run.
pub(crate) const SUCCESS: u8 = 0;

/// Describes an error of the libraries with hints and an exit code.
pub(crate) fn describe(error: &Error) -> Failure {
    Failure { message: error.to_string(), hints: hints(error), code: exit_code(error) }
}

/// Adds the number and position of the failed statement.
pub(crate) fn in_statement(error: Error, number: usize, line: usize, file: Option<&Path>) -> anyhow::Error {
    if is_closed_stdout(&error) {
        return error.into();
    }
    let position = file.map_or(format!("line {line}"), |file| format!("{}, line {line}", file.display()));
    let failure = describe(&error);
    Failure { message: format!("statement {number} ({position}): {}", failure.message), ..failure }.into()
}

fn hints(error: &Error) -> Vec<String> {
    let mut hints = Vec::new();
    if may_be_header(error) {
        hints.push("if line 1 is a header, --header yes leaves it out".to_owned());
    }
    if let Error::BadRow { fault, place, .. } = error {
        hints.extend(hint(fault));
        if matches!(fault, RowFault::Columns { expected, .. } if place.line <= 2 || *expected == 1) {
            hints.push("if the table starts further down, --skip N skips the first N lines".to_owned());
        }
    }
    if matches!(error, Error::Io { path, .. } if *path == temporary::directory()) {
        let option = if temporary::chosen_directory().is_some() { "--temp-dir" } else { "TMPDIR" };
        hints.push(format!("{option} sets the directory for temporary files"));
    }
    if let Error::Memory { .. } = error {
        hints.push("raise the limit with --memory".to_owned());
    }
    if let Error::Overflow { .. } = error {
        hints.push("a sum of floats has no such limit: sum(cast(x as float64))".to_owned());
    }
    if let Error::UnsupportedValue(unsupported_value) = error {
        if let UnsupportedReason::Delimiter(_) = unsupported_value.fault {
            hints.push("--output-delimiter , writes a header, commas and quotes".to_owned());
        }
        if let UnsupportedReason::NotUtf8 = unsupported_value.fault {
            hints.push("--charset converts a text file to UTF-8, as in --charset latin1".to_owned());
        }
        if unsupported_value.fault.is_of_bytes() {
            let able = ENCODINGS.iter().filter(|encoding| encoding.holds_any_bytes());
            let able: Vec<_> = able.map(|encoding| encoding.name()).collect();
            hints.push(format!("encodings that hold any bytes in strings: {}", able.join(", ")));
        }
    }
    hints
}

/// The options that read a table with narrow rows.
const PAD: &str = "--ragged pad fills columns that are missing at the end with nulls";
const FOOTER: &str = "--skip-footer N skips the last N lines";

/// A hint at the option that may help with a bad row.
pub(crate) fn hint(fault: &RowFault) -> Option<String> {
    let hint = match fault {
        RowFault::LikeComment { prefix, .. } => {
            return Some(format!("if lines that begin with '{prefix}' are comments, --comment '{prefix}' skips them"));
        }
        RowFault::Columns { found, expected } if found < expected => {
            let [first, second] = if found * 2 < *expected { [FOOTER, PAD] } else { [PAD, FOOTER] };
            return Some(format!("{first}; {second}; if the delimiter is wrong, set it with --delimiter"));
        }
        RowFault::CutOff { .. } => return Some(format!("the file may be cut off; {PAD}; {FOOTER}")),
        RowFault::Columns { .. } => Some(
            "if a field contains the delimiter, set --quote or --escape; --ragged reject leaves such rows out; \
             --delimiter none reads whole lines",
        ),
        RowFault::UnclosedQuote => Some("the file may be cut off; if quotes are ordinary characters, use --quote none"),
        RowFault::QuotedTooLong(_) => Some("if quotes are ordinary characters, use --quote none"),
        RowFault::TextAfterQuote => Some(
            "if quotes in fields are escaped, set --escape, as in --escape '\\'; if they are ordinary characters, use \
                 --quote none",
        ),
        RowFault::NoObject => Some("each row must be a JSON object; jq -c '{value: .}' wraps other values in objects"),
        RowFault::MalformedValue { text, expected: LogicalType::Timestamp { unit, zone: false } }
            if calendar::parse_timestamp(text.as_bytes(), *unit, true).is_some() =>
        {
            Some("--type 'NAME=timestamp with zone' reads times with a zone")
        }
        RowFault::MalformedValue {
            expected: LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. },
            ..
        } => Some(
            "--date-format and --timestamp-format set the format of dates and times; --type NAME=string keeps a column as \
             text",
        ),
        RowFault::MalformedValue { .. } | RowFault::OutOfRange { .. } => {
            Some("--type NAME=string keeps a column as text")
        }
        _ => None,
    };
    hint.map(str::to_owned)
}

/// Prints an error to standard error, and returns the exit code.
///
/// A closed standard output is not a failure: its reader has what it needs.
pub(crate) fn report(error: &anyhow::Error) -> u8 {
    let known = error.downcast_ref::<Error>();
    if known.is_some_and(is_closed_stdout) {
        return SUCCESS;
    }
    // The message of a library error already includes its cause.
    let failure = match (known, error.downcast_ref::<Failure>()) {
        (Some(error), _) => describe(error),
        (None, Some(failure)) => failure.clone(),
        (None, None) => Failure::new(format!("{error:#}")),
    };
    for line in std::iter::once(&failure.message).chain(&failure.hints) {
        message!("brc: {}", printable::lines(line.as_bytes()));
    }
    failure.code
}

/// Prints the error of one of several files, and returns the exit code of the run so far, and whether any file is
/// corrupt. A corrupt file takes precedence over other errors, then the first error counts.
pub(crate) fn worst(known: Option<(u8, bool)>, error: Error) -> Option<(u8, bool)> {
    let is_corrupt = matches!(error, Error::Corrupt { .. });
    let code = report(&error.into());
    match known {
        Some((_, was_corrupt)) if was_corrupt || !is_corrupt => known,
        _ => Some((code, is_corrupt)),
    }
}

/// The exit code of work on several files, which keeps that of the files so far and fails if standard output does.
pub(crate) fn code_of(work: impl FnOnce(&mut Option<(u8, bool)>) -> brc_core::Result<()>) -> u8 {
    let mut code = None;
    if let Err(error) = work(&mut code) {
        code = worst(code, error);
    }
    code.map_or(SUCCESS, |(code, _)| code)
}

/// Prints a warning about a file that is still read.
pub(crate) fn warn(path: &Path, text: &str) {
    let text = format!("warning: {}: {text}", path.display());
    message!("{}", printable::line(text.as_bytes()));
}

/// Ends the process when memory is exhausted. Printing needs no memory.
pub(crate) fn out_of_memory(bytes: usize) {
    brc_encodings::remove_unfinished();
    message!("brc: out of memory: cannot allocate {bytes} bytes; fewer --threads need less");
    std::process::exit(1);
}

/// Ends the process when a thread panics, because of a bug or because the runtime cannot provide what a thread needs.
/// Unwinding would not always remove unfinished files. Panics that are converted to errors are ignored.
pub(crate) fn panicked(panic: &PanicHookInfo<'_>) {
    if brc_encodings::turns_panics_into_errors() {
        return;
    }
    let payload = panic.payload();
    let message = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let location = panic.location().map(|location| format!(" at {location}")).unwrap_or_default();
    brc_encodings::remove_unfinished();
    message!("brc: internal error{location}: {}", message.unwrap_or("no message"));
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        message!("{backtrace}");
    }
    std::process::exit(1);
}

/// Whether the first line of a text file has words instead of numbers.
fn may_be_header(error: &Error) -> bool {
    matches!(error, Error::BadRow { place, fault: RowFault::MalformedNumber(_), .. } if place.line == 1)
}

pub(crate) fn is_closed_stdout(error: &Error) -> bool {
    matches!(error, Error::Io { path, source, .. }
        if path == Path::new("-") && source.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit code of an error; the help of `brc` lists them.
fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Usage(_) | Error::TypeMismatch { .. } | Error::NoColumns { .. } => 2,
        Error::BadRow { .. } | Error::TooManyRejects { .. } | Error::UnsupportedValue(_) => 3,
        Error::Corrupt { .. } => 4,
        _ => 1,
    }
}
