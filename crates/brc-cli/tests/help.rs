//! Tests help texts against golden files, and generates completions and manual pages.

mod common;

use common::Place;
use snapbox::Data;
use std::path::Path;

const COMMANDS: &[&str] = &[
    "sniff",
    "head",
    "schema",
    "summarize",
    "count",
    "query",
    "convert",
    "cat",
    "sort",
    "tail",
    "sample",
    "inspect",
    "verify",
    "compare",
    "generate",
    "functions",
    "completions",
    "man",
];

/// Set `SNAPSHOTS=overwrite` to accept new help texts.
#[test]
fn help_texts_match_their_files() {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    for command in [""].iter().chain(COMMANDS) {
        let help = place.run(&format!("{command} --help")).text();
        let file = if command.is_empty() { "brc" } else { command };
        let expected = Data::read_from(&folder.join(format!("{file}.txt")), None);
        snapbox::assert_data_eq!(help, expected.raw());
    }
}

#[test]
fn help_texts_have_examples_that_fit_the_screen() {
    let place = Place::new();
    for command in COMMANDS {
        let help = place.run(&format!("{command} --help")).text();
        assert!(help.contains("Examples:\n  brc "), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[test]
fn every_shell_gets_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&format!("completions {shell}")).text();
        assert!(!script.contains("compare-cell"), "{shell}");
        for word in COMMANDS.iter().chain(&["no-statistics", "max-rejects"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(place.run("completions zsh").text().contains("snappy"));
    place.run("completions tcsh").fails_with(2, "tcsh");
}

#[test]
fn every_command_gets_a_manual_page() {
    let place = Place::new();
    place.run("man pages").ok();
    for command in COMMANDS {
        let page = String::from_utf8(place.read(&format!("pages/brc-{command}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("Examples:"), "{command}");
    }
    assert!(place.path("pages/brc.1").exists());
    place.run("man /dev/null/x").fails_with(1, "/dev/null/x: cannot create");
}
