//! Starts clusters of processes, and kills processes that do not end by themselves.

#![allow(dead_code)]

use std::ffi::OsStr;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// The time after which a process is considered to hang.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The outcome of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// A running process.
pub(crate) struct Running {
    child: Child,
    out: JoinHandle<Vec<u8>>,
    err: JoinHandle<String>,
    /// Receives a message when the other processes are connected.
    connected: Receiver<()>,
}

/// The program `brc`.
pub(crate) fn brc(directory: &Path, words: &[&str]) -> Ended {
    let program = Path::new(env!("CARGO_BIN_EXE_brc-timely")).with_file_name("examples").join("brc");
    assert!(program.exists(), "cargo test builds the examples, if it is not asked for some targets only");
    start(&program, directory, words).wait()
}

/// The program under test.
pub(crate) fn brc_timely(directory: &Path, words: &[&str]) -> Ended {
    start(env!("CARGO_BIN_EXE_brc-timely").as_ref(), directory, words).wait()
}

/// A cluster with free ports.
pub(crate) struct Cluster {
    pub(crate) ports: Vec<u16>,
    hosts: tempfile::NamedTempFile,
}

impl Cluster {
    pub(crate) fn new(processes: usize) -> Self {
        let ports: Vec<u16> = (0..processes).map(|_| free_port()).collect();
        let hosts = tempfile::NamedTempFile::new().unwrap();
        let lines: String = ports.iter().map(|port| format!("127.0.0.1:{port}\n")).collect();
        std::fs::write(hosts.path(), lines).unwrap();
        Self { ports, hosts }
    }

    /// Starts one of the processes.
    pub(crate) fn start(&self, process: usize, directory: &Path, words: &[&str]) -> Running {
        let (processes, process) = (self.ports.len().to_string(), process.to_string());
        let own = ["-n", &processes, "-p", &process, "-h", self.hosts.path().to_str().unwrap()];
        let words: Vec<&str> = ["query"].iter().chain(words).chain(&own).copied().collect();
        start(env!("CARGO_BIN_EXE_brc-timely").as_ref(), directory, &words)
    }

    /// Runs all processes with the given number of workers each.
    pub(crate) fn run(&self, directory: &Path, workers: usize, words: &[&str]) -> Vec<Ended> {
        let workers = workers.to_string();
        let words = [words, &["-w", &workers]].concat();
        let running: Vec<Running> =
            (0..self.ports.len()).rev().map(|process| self.start(process, directory, &words)).collect();
        let mut ended: Vec<Ended> = running.into_iter().map(Running::wait).collect();
        ended.reverse();
        ended
    }

    /// The name of a process in messages.
    pub(crate) fn name(&self, process: usize) -> String {
        format!("process {process} (127.0.0.1:{})", self.ports[process])
    }
}

/// A free port outside the range of ephemeral ports.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = (std::process::id() % 200) as u16 * 100 + 10_000;
    loop {
        let port = start.wrapping_add(NEXT.fetch_add(1, Relaxed) % 2_000);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn start(program: &Path, directory: &Path, words: &[impl AsRef<OsStr>]) -> Running {
    let mut child = Command::new(program)
        .args(words)
        .current_dir(directory)
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (sender, connected) = channel();
    let out = spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).unwrap();
        bytes
    });
    let err = spawn(move || {
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let count = err.read(&mut buffer).unwrap();
            if count == 0 {
                return String::from_utf8(text).unwrap();
            }
            text.extend_from_slice(&buffer[..count]);
            if String::from_utf8_lossy(&text).contains("processes are connected") {
                let _ = sender.send(());
            }
        }
    });
    Running { child, out, err, connected }
}

impl Running {
    /// Waits until the process is connected to the others.
    pub(crate) fn wait_for_others(&self) {
        self.connected.recv_timeout(TIMEOUT).unwrap();
    }

    /// Sends a signal to the process.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the process to end.
    pub(crate) fn wait(mut self) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break Some(status);
            }
            if start.elapsed() > TIMEOUT {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                break None;
            }
            sleep(Duration::from_millis(5));
        };
        let (out, err) = (self.out.join().unwrap(), self.err.join().unwrap());
        let status = status.unwrap_or_else(|| panic!("it did not end: {err}"));
        Ended { code: status.code(), out, err }
    }
}

/// A table with all kinds of columns in several encodings, and the command-line arguments that name its files.
pub(crate) struct Tables {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) files: Vec<Vec<&'static str>>,
}

/// CSV rows: an integer id, a few strings with nulls, more strings, a small and a large integer, a decimal, a float and
/// a date.
pub(crate) fn rows(count: u64) -> String {
    let mut text = "id,k,s,n,v,f,d\n".to_owned();
    let mut state = 88_172_645_463_325_252u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for row in 0..count {
        let key = match random(12) {
            0 => String::new(),
            key => format!("key {key}"),
        };
        let (string, small) = (random(count / 4 + 1), random(10));
        let small = if small == 0 { String::new() } else { small.to_string() };
        let (value, exponent) = (random(2_000_000) as i64 - 1_000_000, random(30) as i32 - 15);
        let float = (random(1000) as f64 - 500.0) * 10f64.powi(exponent);
        let (month, day) = (random(12) + 1, random(28) + 1);
        let id = row * 7919 % (count + 1);
        let decimal = format!("{}.{:02}", value / 100, value.unsigned_abs() % 100);
        text += &format!("{id},{key},\"s, {string}\",{small},{decimal},{float:e},2024-{month:02}-{day:02}\n");
    }
    text
}

impl Tables {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let text = rows(8000);
        std::fs::write(path.join("all.csv"), &text).unwrap();
        let (header, rest) = text.split_once('\n').unwrap();
        let lines: Vec<&str> = rest.lines().collect();
        for (part, lines) in lines.chunks(lines.len() / 7 + 1).enumerate() {
            std::fs::write(path.join(format!("part-{part}.csv")), format!("{header}\n{}\n", lines.join("\n"))).unwrap();
        }
        let convert = |from: &str, to: &str, options: &[&str]| {
            let ended = brc(path, &[&["convert", from, to], options].concat());
            assert_eq!(ended.code, Some(0), "{}", ended.err);
        };
        convert("all.csv", "all.csv.gz", &[]);
        convert("all.csv", "clustered.buren", &["--key", "k", "--row-group", "64k"]);
        convert("all.csv", "plain.buren", &["--key", "none", "--row-group", "64k"]);
        convert("all.csv", "all.parquet", &["--row-group", "64k"]);
        convert("part-3.csv", "third.jsonl", &[]);
        let files = vec![
            vec!["all.csv"],
            vec!["part-*.csv"],
            vec!["all.csv.gz"],
            vec!["part-0.csv", "all.csv.gz", "part-1.csv"],
            vec!["clustered.buren"],
            vec!["plain.buren"],
            vec!["all.parquet"],
            vec!["third.jsonl", "plain.buren", "part-5.csv"],
        ];
        Self { directory, files }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().to_owned()
    }
}
