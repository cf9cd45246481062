//! Records the compiler, the commit and the crate versions of a build, so that reports can name them.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = env::var("RUSTC").ok().and_then(|rustc| first_line(Command::new(rustc).arg("--version")));
    note("BRC_COMPILER", compiler);
    note("BRC_COMMIT", first_line(Command::new("git").args(["rev-parse", "HEAD"])));
    // The log changes with every commit. Outside a repository there is nothing to watch.
    if let Some(log) = first_line(Command::new("git").args(["rev-parse", "--git-path", "logs/HEAD"]))
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    note("BRC_PROFILE", env::var("PROFILE").ok());
    note("BRC_TARGET", env::var("TARGET").ok());
    let lock = Path::new("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let crates = fs::read_to_string(lock).map(|lock| crates(&lock)).unwrap_or_default();
    if let Some(directory) = env::var_os("OUT_DIR") {
        fs::write(Path::new(&directory).join("crates.txt"), crates)
            .unwrap_or_else(|error| println!("cargo::error={error}"));
    }
}

fn note(name: &str, value: Option<String>) {
    if let Some(value) = value {
        println!("cargo::rustc-env={name}={value}");
    }
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_owned)
}

/// The external crates of a lock file, one line of name and version each.
fn crates(lock: &str) -> String {
    let mut lines = String::new();
    for package in lock.split("[[package]]").filter(|package| package.contains("\nsource = ")) {
        let value =
            |key: &str| package.lines().find_map(|line| line.strip_prefix(key)).map(|rest| rest.trim_matches('"'));
        if let (Some(name), Some(version)) = (value("name = "), value("version = ")) {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{name} {version}");
        }
    }
    lines
}
