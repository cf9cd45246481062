//! Runs the binary in a directory of its own.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run that takes longer is considered to hang.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A directory in which `brc` runs.
pub(crate) struct Place(tempfile::TempDir);

/// The outcome of a run.
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
        // Most tests expect no colours.
        command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
        command
    }

    /// Runs `brc` with these arguments, separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        Outcome::of(started(self.command(arguments)))
    }

    /// Runs `brc` with these arguments.
    pub(crate) fn run_of(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(started(self.command_of(arguments)))
    }

    /// Runs `brc` with piped standard input.
    pub(crate) fn pipe(&self, arguments: &str, input: &[u8]) -> Outcome {
        self.piped(self.command(arguments), input)
    }

    fn piped(&self, mut command: Command, input: &[u8]) -> Outcome {
        command.stdin(Stdio::piped());
        let mut child = started(command);
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A failed run may not read all of its input.
            scope.spawn(move || drop(stdin.write_all(input)));
            Outcome::of(child)
        })
    }

    /// Runs `brc` with these arguments and piped standard input.
    pub(crate) fn pipe_of(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        self.piped(self.command_of(arguments), input)
    }

    /// Runs a shell script in which `$BRC` is the path of the binary.
    pub(crate) fn shell(&self, script: &str) -> Outcome {
        let mut command = Command::new("sh");
        command.current_dir(self.0.path()).args(["-c", script]).env("BRC", env!("CARGO_BIN_EXE_brc"));
        command.stdin(Stdio::null());
        Outcome::of(started(command))
    }
}

/// Starts a command in a process group of its own.
fn started(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap()
}

impl Outcome {
    /// Waits for a child process.
    ///
    /// # Panics
    /// If it exceeds [`TIMEOUT`]; it is then killed with its children.
    fn of(mut child: Child) -> Self {
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (stdout, stderr) = std::thread::scope(|scope| {
            let [out, err] = [Box::new(out) as Box<dyn Read + Send>, Box::new(err)].map(|mut stream| {
                scope.spawn(move || {
                    let mut bytes = Vec::new();
                    stream.read_to_end(&mut bytes).unwrap();
                    bytes
                })
            });
            let start = Instant::now();
            while !(out.is_finished() && err.is_finished()) {
                if start.elapsed() > TIMEOUT {
                    let group = rustix::process::Pid::from_child(&child);
                    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
                    panic!("it runs for more than {TIMEOUT:?}");
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            (out.join().unwrap(), err.join().unwrap())
        });
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Self { code: child.wait().unwrap().code(), stdout, stderr }
    }

    /// The standard output of a successful run.
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

    /// Asserts the exit code and the exact message of a failed run.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, message: &str) {
        assert_eq!((self.code, self.stderr.trim_end()), (Some(code), message));
        assert!(self.stdout.is_empty());
    }

    /// Asserts the exit code of a failed run and a part of its message.
    #[track_caller]
    pub(crate) fn fails_with(&self, code: i32, words: &str) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert!(self.stderr.contains(words), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert!(self.stdout.is_empty());
    }
}

/// Whether this process ignores a signal, and so do its children.
pub(crate) fn ignores(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(mask, 16).unwrap() >> (signal - 1) & 1 == 1
}
