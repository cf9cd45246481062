//! Tests the README and the manual: tables are generated from the registries, and console examples are run, page by
//! page.
//!
//! `SNAPSHOTS=overwrite cargo test -p brc-cli --test readme` regenerates the tables and the output of the examples.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use brc_compress::COMPRESSIONS;
use brc_encodings::ENCODINGS;
use brc_query::{AGGREGATES, CONSTRUCTS, EXAMPLE_TABLE, FUNCTIONS, Function, OPERATORS};
use common::Place;
use parking_lot::Mutex;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Held while a page is updated.
static FILES: Mutex<()> = Mutex::new(());

fn overwrite() -> bool {
    std::env::var_os("SNAPSHOTS").is_some_and(|what| what == "overwrite")
}

/// The README and all pages of the manual.
fn pages() -> Vec<PathBuf> {
    fn add(directory: &Path, pages: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, pages);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    let mut pages = vec![Path::new(ROOT).join("README.md")];
    add(&Path::new(ROOT).join("docs"), &mut pages);
    pages.sort();
    pages
}

/// Checks or updates the text between two markers; at least one page must have them.
fn check_tables(name: &str, expected: &str) {
    let start = format!("<!-- {name}: SNAPSHOTS=overwrite cargo test -p brc-cli --test readme -->\n");
    let end = format!("<!-- end of {name} -->\n");
    let _files = FILES.lock();
    let mut found_somewhere = false;
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let Some((before, rest)) = page.split_once(&start) else { continue };
        let (found, after) = rest.split_once(&end).unwrap();
        found_somewhere = true;
        if overwrite() {
            fs::write(&path, [before, &start, expected, &end, after].concat()).unwrap();
        } else {
            assert_eq!(found, expected, "{}", path.display());
        }
    }
    assert!(found_somewhere, "no page has the mark of {name}");
}

/// Formats code in a table cell.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

fn function_rows(title: &str, functions: &[&Function]) -> String {
    let mut table = format!("\n| {title} | value | example |\n|---|---|---|\n");
    for function in functions {
        let (expression, value) = function.example;
        let about = function.about.replace('|', "\\|");
        writeln!(table, "| {} | {about} | {} → {} |", code(function.usage), code(expression), code(value)).unwrap();
    }
    table
}

#[test]
fn functions_are_listed() {
    let mut table = "| aggregate | value | example |\n|---|---|---|\n".to_owned();
    for function in AGGREGATES {
        let (expression, value) = function.example;
        let (usage, about) = (function.usage(), function.about);
        writeln!(table, "| {} | {about} | {} → {} |", code(&usage), code(expression), code(value)).unwrap();
    }
    table.push_str(&function_rows("function", FUNCTIONS));
    table.push_str(&function_rows("operator", OPERATORS));
    table.push_str("\n| expression | value | example |\n|---|---|---|\n");
    for construct in CONSTRUCTS {
        let (expression, value) = construct.example;
        let (usage, about) = (construct.usage, construct.about);
        writeln!(table, "| {} | {about} | {} → {} |", code(usage), code(expression), code(value)).unwrap();
    }
    check_tables("functions", &table);
    check_tables("example-table", &format!("```text\n{EXAMPLE_TABLE}```\n"));
}

/// Runs each example of a function over the example table.
#[test]
fn examples_of_functions_give_the_documented_values() {
    let place = Place::new();
    place.write("sales.csv", EXAMPLE_TABLE);
    let aggregates = AGGREGATES.iter().map(|it| it.example);
    let functions = FUNCTIONS.iter().chain(OPERATORS).map(|it| it.example);
    for (expression, value) in aggregates.chain(functions).chain(CONSTRUCTS.iter().map(|it| it.example)) {
        let select = format!("select {expression} as x limit 1");
        let answer = place.run_of(&["query", "sales.csv", &select, "--format", "csv"]).text();
        let printed = answer.strip_prefix("x\n").unwrap().trim_end().trim_matches('"');
        assert_eq!(printed, value, "{expression}");
    }
}

#[test]
fn encodings_and_compressions_are_listed() {
    let mut encodings = "| encoding | extensions | what it is | compressed |\n|---|---|---|---|\n".to_owned();
    for encoding in ENCODINGS {
        let extensions: Vec<_> = encoding.extensions().iter().map(|extension| format!("`.{extension}`")).collect();
        let refused: Vec<_> = COMPRESSIONS
            .iter()
            .filter(|compression| encoding.can_compress(**compression).is_err())
            .map(|compression| compression.name())
            .collect();
        let place = match encoding.compresses_blocks() {
            _ if encoding.is_read_only() => "only read",
            true => "blocks",
            false => "whole file",
        };
        let but = if refused.is_empty() { String::new() } else { format!(", not {}", refused.join(", ")) };
        let (name, about) = (encoding.name(), encoding.about());
        writeln!(encodings, "| {name} | {} | {about} | {place}{but} |", extensions.join(" ")).unwrap();
    }
    check_tables("encodings", &encodings);

    let mut compressions = "| compression | extension | levels | what it is |\n|---|---|---|---|\n".to_owned();
    for compression in COMPRESSIONS {
        let extension = compression.file_format().map(|format| format!("`.{}`", format.extensions()[0]));
        let levels = compression.levels().map(|it| format!("{} to {}, usually {}", it.lowest, it.highest, it.usual));
        let (name, about) = (compression.name(), compression.about());
        let [extension, levels] = [extension, levels].map(Option::unwrap_or_default);
        writeln!(compressions, "| {name} | {extension} | {levels} | {about} |").unwrap();
    }
    check_tables("compressions", &compressions);
}

/// A command and its output.
struct Example {
    /// The command with its prompt, continuation lines and here-document.
    typed: String,
    shown: String,
}

impl Example {
    /// The command as passed to the shell.
    fn command(&self) -> &str {
        self.typed.strip_prefix(PROMPT).unwrap()
    }

    /// Whether the next line belongs to the command.
    fn continues(&self) -> bool {
        let here_document = self.typed.contains("<<'END'") && !self.typed.ends_with("\nEND\n");
        here_document || self.typed.ends_with("\\\n")
    }
}

const PROMPT: &str = "$ ";
const CONSOLE: &str = "```console\n";
const END_OF_BLOCK: &str = "```\n";

/// Splits a page into blocks of examples, each with the text before it, and the text after the last one.
fn examples(page: &str) -> (Vec<(&str, Vec<Example>)>, &str) {
    let (mut blocks, mut rest) = (Vec::new(), page);
    while let Some(start) = rest.find(CONSOLE) {
        let (before, block) = rest.split_at(start + CONSOLE.len());
        let (block, after) = block.split_at(block.find(END_OF_BLOCK).unwrap());
        let mut examples: Vec<Example> = Vec::new();
        for line in block.split_inclusive('\n') {
            match examples.last_mut() {
                Some(example) if example.continues() => example.typed.push_str(line),
                Some(example) if !line.starts_with(PROMPT) => example.shown.push_str(line),
                _ => examples.push(Example { typed: line.to_owned(), shown: String::new() }),
            }
        }
        blocks.push((before, examples));
        rest = after;
    }
    (blocks, rest)
}

/// The output without values that vary between runs: seconds, milliseconds and MB/s.
fn stable(output: &str) -> String {
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

/// Runs the examples of a page in an empty directory, checks their output, and returns the page with the actual output.
fn run_examples(path: &Path, page: &str) -> String {
    let (blocks, after) = examples(page);
    let place = Place::new();
    let mut renewed = String::new();
    for (before, examples) in blocks {
        renewed.push_str(before);
        for example in examples {
            let printed =
                place.shell(&format!("exec 2>&1; brc() {{ \"$BRC\" \"$@\"; }}; {}", example.command())).stdout;
            let printed = String::from_utf8(printed).unwrap();
            let same = stable(&printed) == stable(&example.shown);
            let (path, Example { typed, shown }) = (path.display(), &example);
            assert!(same || overwrite(), "{path}: {typed}\nshould print\n{shown}\nbut prints\n{printed}");
            renewed.push_str(typed);
            renewed.push_str(if same { shown } else { &printed });
        }
    }
    renewed.push_str(after);
    renewed
}

/// The examples of a page can be run in order in an empty directory.
#[test]
fn the_examples_run_in_order() {
    let _files = FILES.lock();
    let mut pages_with_examples = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        if !page.contains(CONSOLE) {
            continue;
        }
        pages_with_examples += 1;
        let renewed = run_examples(&path, &page);
        if overwrite() {
            fs::write(&path, renewed).unwrap();
        }
    }
    assert!(pages_with_examples > 5, "the pages are found");
}

/// The book lists every page, and the README stays one page.
#[test]
fn the_book_has_every_page() {
    let docs = Path::new(ROOT).join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for path in pages() {
        let Ok(name) = path.strip_prefix(&docs) else { continue };
        let link = format!("({})", name.display());
        assert!(name == Path::new("SUMMARY.md") || summary.contains(&link), "SUMMARY.md lacks {link}");
    }
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    assert!(readme.lines().count() <= 200, "the README is longer than a page");
}
