//! The readme tells the truth: its tables of encodings and functions are made from the lists of them, and its examples are
//! run.
//!
//! `SNAPSHOTS=overwrite cargo test -p brc-cli --test readme` writes the tables and the output of the examples anew.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use brc_compress::COMPRESSIONS;
use brc_encodings::ENCODINGS;
use brc_query::{AGGREGATES, FUNCTIONS};
use common::Place;
use std::fmt::Write;
use std::sync::Mutex;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");

/// Held by who reads or writes the readme.
static FILE: Mutex<()> = Mutex::new(());

fn overwrite() -> bool {
    std::env::var_os("SNAPSHOTS").is_some_and(|what| what == "overwrite")
}

/// Sees to it that what the readme has between two marks is what the lists say, or writes it there.
fn check_tables(name: &str, expected: &str) {
    let start = format!("<!-- {name}: SNAPSHOTS=overwrite cargo test -p brc-cli --test readme -->\n");
    let end = format!("<!-- end of {name} -->\n");
    let _file = FILE.lock();
    let readme = std::fs::read_to_string(README).unwrap();
    let (before, rest) = readme.split_once(&start).unwrap();
    let (found, after) = rest.split_once(&end).unwrap();
    if overwrite() {
        std::fs::write(README, [before, &start, expected, &end, after].concat()).unwrap();
    } else {
        assert_eq!(found, expected);
    }
}

#[test]
fn functions_are_listed() {
    let mut table = "| aggregate | what it is |\n|---|---|\n".to_owned();
    for function in AGGREGATES {
        writeln!(table, "| `{}` | {} |", function.usage(), function.about).unwrap();
    }
    table.push_str("\n| function | what it is |\n|---|---|\n");
    for function in FUNCTIONS {
        writeln!(table, "| `{}` | {} |", function.usage, function.about).unwrap();
    }
    check_tables("functions", &table);
}

fn table() -> String {
    let mut table = "| encoding | extensions | what it is | compressed |\n|---|---|---|---|\n".to_owned();
    for encoding in ENCODINGS {
        let extensions: Vec<_> = encoding.extensions().iter().map(|extension| format!("`.{extension}`")).collect();
        let refused: Vec<_> = COMPRESSIONS
            .iter()
            .filter(|compression| encoding.can_compress(**compression).is_err())
            .map(|compression| compression.name())
            .collect();
        let place = if encoding.compresses_blocks() { "blocks" } else { "whole file" };
        let but = if refused.is_empty() { String::new() } else { format!(", not {}", refused.join(", ")) };
        let (name, about) = (encoding.name(), encoding.about());
        writeln!(table, "| {name} | {} | {about} | {place}{but} |", extensions.join(" ")).unwrap();
    }
    table.push_str("\n| compression | extension | levels | what it is |\n|---|---|---|---|\n");
    for compression in COMPRESSIONS {
        let extension = compression.file_format().map(|format| format!("`.{}`", format.extensions()[0]));
        let levels = compression.levels().map(|it| format!("{} to {}, usually {}", it.lowest, it.highest, it.usual));
        let (name, about) = (compression.name(), compression.about());
        let [extension, levels] = [extension, levels].map(Option::unwrap_or_default);
        writeln!(table, "| {name} | {extension} | {levels} | {about} |").unwrap();
    }
    table
}

#[test]
fn encodings_and_compressions_are_listed() {
    check_tables("encodings", &table());
}

/// A command of an example, and the output that is shown for it.
struct Example {
    /// With its prompt and all of its lines.
    typed: String,
    shown: String,
}

impl Example {
    /// The command as a shell takes it.
    fn command(&self) -> &str {
        self.typed.strip_prefix(PROMPT).unwrap()
    }
}

const PROMPT: &str = "$ ";
const CONSOLE: &str = "```console\n";
const END_OF_BLOCK: &str = "```\n";

/// The text before each block of examples with what begins the block, and its examples; then the text behind the last one.
fn examples(readme: &str) -> (Vec<(&str, Vec<Example>)>, &str) {
    let (mut blocks, mut rest) = (Vec::new(), readme);
    while let Some(start) = rest.find(CONSOLE) {
        let (before, block) = rest.split_at(start + CONSOLE.len());
        let (block, after) = block.split_at(block.find(END_OF_BLOCK).unwrap());
        let mut examples: Vec<Example> = Vec::new();
        for line in block.split_inclusive('\n') {
            match examples.last_mut() {
                Some(example) if example.typed.ends_with("\\\n") => example.typed.push_str(line),
                Some(example) if !line.starts_with(PROMPT) => example.shown.push_str(line),
                _ => examples.push(Example { typed: line.to_owned(), shown: String::new() }),
            }
        }
        blocks.push((before, examples));
        rest = after;
    }
    (blocks, rest)
}

/// The output without what differs from run to run: numbers of seconds, milliseconds and megabytes a second.
fn lasting(output: &str) -> String {
    let is_of_the_moment = |unit: &str| matches!(unit.trim_end_matches([',', ')']), "s" | "ms" | "MB/s");
    let without = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.iter().any(|word| is_of_the_moment(word)) {
            return line.to_owned();
        }
        let next = words.iter().skip(1).copied().chain([""]);
        let shown = words.iter().zip(next).map(|(word, next)| if is_of_the_moment(next) { "#" } else { word });
        shown.collect::<Vec<_>>().join(" ")
    };
    output.lines().map(without).collect::<Vec<_>>().join("\n")
}

/// Whoever types the examples one after the other in an empty directory gets what is shown.
#[test]
fn the_examples_can_be_typed_in_order() {
    let _file = FILE.lock();
    let readme = std::fs::read_to_string(README).unwrap();
    let (blocks, after) = examples(&readme);
    assert!(blocks.len() > 5, "the blocks are found");
    let place = Place::new();
    let mut renewed = String::new();
    for (before, examples) in blocks {
        renewed.push_str(before);
        for example in examples {
            let printed =
                place.shell(&format!("exec 2>&1; brc() {{ \"$BRC\" \"$@\"; }}; {}", example.command())).stdout;
            let printed = String::from_utf8(printed).unwrap();
            let same = lasting(&printed) == lasting(&example.shown);
            assert!(same || overwrite(), "{}\nshould print\n{}\nbut prints\n{printed}", example.typed, example.shown);
            renewed.push_str(&example.typed);
            renewed.push_str(if same { &example.shown } else { &printed });
        }
    }
    renewed.push_str(after);
    if overwrite() {
        std::fs::write(README, renewed).unwrap();
    }
}
