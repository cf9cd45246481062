//! What a failed run says, and the exit code it ends with.

use brc_core::{Error, HoldFault, RowFault};
use brc_encodings::ENCODINGS;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Tells what went wrong on standard error.
///
/// A closed standard output is no failure: whoever read it had enough.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let known = error.downcast_ref::<Error>();
    if known.is_some_and(is_closed_stdout) {
        return ExitCode::SUCCESS;
    }
    // An error of the libraries already tells its cause.
    match known {
        Some(error) => eprintln!("brc: {error}"),
        None => eprintln!("brc: {error:#}"),
    }
    if known.is_some_and(may_be_header) {
        eprintln!("brc: if line 1 is a header, leave it out: tail -n +2 FILE | brc convert - OUT");
    }
    if let Some(Error::Unholdable(unholdable)) = known {
        if let HoldFault::Separator(_) = unholdable.fault {
            eprintln!("brc: --separator picks another separator");
        }
        if unholdable.fault.is_of_bytes() {
            let able = ENCODINGS.iter().filter(|encoding| encoding.holds_any_bytes());
            let able: Vec<_> = able.map(|encoding| encoding.name()).collect();
            eprintln!("brc: encodings that hold strings of any bytes: {}", able.join(", "));
        }
    }
    ExitCode::from(known.map_or(1, exit_code))
}

/// Whether the first line of a text has words where numbers should be.
fn may_be_header(error: &Error) -> bool {
    matches!(error, Error::BadRow { place, fault: RowFault::MalformedNumber(_), .. } if place.line == 1)
}

fn is_closed_stdout(error: &Error) -> bool {
    matches!(error, Error::Io { path, source, .. }
        if path == Path::new("-") && source.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit code for an error; the help text of `brc` lists them.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Usage(_) => 2,
        Error::BadRow { .. } | Error::TooManyRejects { .. } | Error::Unholdable(_) => 3,
        Error::Corrupt { .. } => 4,
        _ => 1,
    }
}
