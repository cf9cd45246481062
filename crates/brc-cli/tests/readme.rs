//! The readme lists the encodings as they are: its table is made from the list of them.
//!
//! `SNAPSHOTS=overwrite cargo test -p brc-cli --test readme` writes it anew.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_compress::COMPRESSIONS;
use brc_encodings::ENCODINGS;
use std::fmt::Write;

const START: &str = "<!-- encodings: SNAPSHOTS=overwrite cargo test -p brc-cli --test readme -->\n";
const END: &str = "<!-- end of encodings -->\n";

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
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (before, rest) = readme.split_once(START).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("SNAPSHOTS").is_some_and(|what| what == "overwrite") {
        std::fs::write(path, [before, START, &table(), END, after].concat()).unwrap();
    } else {
        assert_eq!(found, table());
    }
}
