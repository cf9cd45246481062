//! Runs the real binary in a directory of its own.

#![allow(dead_code, clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory with files, in which `brc` runs.
pub(crate) struct Place(tempfile::TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command `brc` with these arguments, separated by spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        self.command_of(&arguments.split(' ').filter(|argument| !argument.is_empty()).collect::<Vec<_>>())
    }

    /// The command `brc` with these arguments.
    pub(crate) fn command_of(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_brc"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs `brc` with these arguments, separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        Outcome::of(self.command(arguments).output().unwrap())
    }

    /// Runs `brc` with these arguments.
    pub(crate) fn run_of(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command_of(arguments).output().unwrap())
    }

    /// Runs `brc` with that standard input through a pipe.
    pub(crate) fn pipe(&self, arguments: &str, input: &[u8]) -> Outcome {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A run that failed may not read all of it.
            scope.spawn(move || drop(stdin.write_all(input)));
            Outcome::of(child.wait_with_output().unwrap())
        })
    }

    /// Runs a shell script in which `$BRC` is the binary.
    pub(crate) fn shell(&self, script: &str) -> Outcome {
        let mut command = Command::new("sh");
        command.current_dir(self.0.path()).args(["-c", script]).env("BRC", env!("CARGO_BIN_EXE_brc"));
        Outcome::of(command.stdin(Stdio::null()).output().unwrap())
    }
}

impl Outcome {
    fn of(output: Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code(), stdout: output.stdout, stderr }
    }

    /// Standard output of a run that went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Vec<u8> {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    /// [`Outcome::ok`] as a string.
    #[track_caller]
    pub(crate) fn text(self) -> String {
        String::from_utf8(self.ok()).unwrap()
    }

    /// Sees to it that the run failed with that exit code and exactly that message.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, message: &str) {
        assert_eq!((self.code, self.stderr.trim_end()), (Some(code), message));
        assert!(self.stdout.is_empty());
    }

    /// Sees to it that the run failed with that exit code and a message with these words.
    #[track_caller]
    pub(crate) fn fails_with(&self, code: i32, words: &str) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert!(self.stderr.contains(words), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert!(self.stdout.is_empty());
    }
}
