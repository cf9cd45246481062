//! Compression ids are the same in the code, in the specification and in the footer's schema, because readers in other
//! languages rely on the last two.

#![allow(clippy::unwrap_used)]

use brc_compress::COMPRESSIONS;
use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The id and name of each compression.
fn expected() -> Vec<(u8, String)> {
    COMPRESSIONS.iter().map(|compression| (compression.id(), compression.name().to_owned())).collect()
}

#[test]
fn the_specification_lists_all_compressions() {
    let specification = read("SPEC.md");
    let (_, table) = specification.split_once("| id | name | a compressed block |\n|---|---|---|\n").unwrap();
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0].parse().unwrap(), cells[1].to_owned())
    };
    let listed: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).map(row).collect();
    assert_eq!(listed, expected());
}

#[test]
fn the_schema_lists_all_compressions() {
    let schema = read("../../schemas/buren.capnp");
    let (_, list) = schema.split_once("# What compressed blocks are compressed with: ").unwrap();
    let (list, _) = list.split_once(".\n").unwrap();
    let item = |item: &str| {
        let (id, name) = item.split_once(' ').unwrap();
        (id.parse().unwrap(), name.to_owned())
    };
    assert_eq!(list.split(", ").map(item).collect::<Vec<_>>(), expected());
}
