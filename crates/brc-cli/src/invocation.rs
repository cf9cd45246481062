//! Remembers how the program was called, to start it again for worker processes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// How the program was called.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The arguments without the program name.
    pub arguments: Vec<OsString>,
    /// The executable for worker processes; that of this process if `None`.
    pub executable: Option<PathBuf>,
    /// Arguments of the executable that precede those of the program.
    pub before_arguments: Vec<OsString>,
}

impl Invocation {
    /// The invocation of this process, whose executable is the program.
    #[must_use]
    pub fn of_this_process() -> Self {
        let arguments = std::env::args_os().skip(1).collect();
        Self { arguments, executable: None, before_arguments: Vec::new() }
    }
}

static THIS: OnceLock<Invocation> = OnceLock::new();

/// Stores the invocation. Only the first call has an effect.
pub(crate) fn set(invocation: Invocation) {
    // It is called once per process.
    let _ = THIS.set(invocation);
}

/// The executable for worker processes.
///
/// # Errors
/// If the system does not know the executable of this process.
pub(crate) fn executable() -> std::io::Result<PathBuf> {
    let known = THIS.get().and_then(|invocation| invocation.executable.clone());
    known.map_or_else(std::env::current_exe, Ok)
}

/// The arguments of worker processes that precede those of the program.
pub(crate) fn before_arguments() -> Vec<OsString> {
    THIS.get().map(|invocation| invocation.before_arguments.clone()).unwrap_or_default()
}

/// The command line, quoted for a shell.
pub(crate) fn command_line() -> String {
    let arguments = THIS.get().map(|invocation| invocation.arguments.as_slice()).unwrap_or_default();
    let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let words = std::iter::once("brc").chain(arguments.iter().map(String::as_str));
    // Only a NUL byte cannot be quoted; no argument has one.
    shlex::try_join(words).unwrap_or_default()
}
