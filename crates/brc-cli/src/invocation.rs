//! How the program was called, and how it is called once more.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// How the program was called.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// The executable that is to be run for a process of its own; that of this process if `None`.
    pub executable: Option<PathBuf>,
    /// The arguments which that takes before those of the program.
    pub before_arguments: Vec<OsString>,
}

impl Invocation {
    /// The arguments of this process, whose executable is the program.
    #[must_use]
    pub fn of_this_process() -> Self {
        let arguments = std::env::args_os().skip(1).collect();
        Self { arguments, executable: None, before_arguments: Vec::new() }
    }
}

static THIS: OnceLock<Invocation> = OnceLock::new();

/// Tells how the program was called. Only the first call counts.
pub(crate) fn is(invocation: Invocation) {
    // A process is called but once.
    let _ = THIS.set(invocation);
}

/// The executable that is run for a process of its own.
///
/// # Errors
/// The system's, if it does not know the one of this process.
pub(crate) fn executable() -> std::io::Result<PathBuf> {
    let known = THIS.get().and_then(|invocation| invocation.executable.clone());
    known.map_or_else(std::env::current_exe, Ok)
}

/// The arguments of that process which come before those of the program.
pub(crate) fn before_arguments() -> Vec<OsString> {
    THIS.get().map(|invocation| invocation.before_arguments.clone()).unwrap_or_default()
}

/// How the program was called, as a shell would take it.
pub(crate) fn command_line() -> String {
    let arguments = THIS.get().map(|invocation| invocation.arguments.as_slice()).unwrap_or_default();
    let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let words = std::iter::once("brc").chain(arguments.iter().map(String::as_str));
    // Only a NUL byte cannot be quoted; no argument has one.
    shlex::try_join(words).unwrap_or_default()
}
