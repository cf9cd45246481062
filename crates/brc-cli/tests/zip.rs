//! Tests of zip archives: an archive with one file is read as that file; others give advice.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const QUERY: &str = "select sum(b), count(*)";
const ANSWER: &str = "sum(b),count(*)\n1249975000,50000\n";

/// A text longer than the bytes used to detect the format.
fn text() -> Vec<u8> {
    let rows = (0..50_000).map(|number| format!("name {},{number}\n", number % 7));
    ["a,b\n".to_owned()].into_iter().chain(rows).collect::<String>().into_bytes()
}

fn archive(members: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        match name.strip_suffix('/') {
            Some(directory) => writer.add_directory(directory, options).unwrap(),
            None => {
                writer.start_file(*name, options).unwrap();
                writer.write_all(content).unwrap();
            }
        }
    }
    writer.finish().unwrap().into_inner()
}

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

#[test]
fn the_only_file_of_an_archive_is_a_table() {
    let place = Place::new();
    let text = text();
    let with_more: [(&str, &[u8]); 3] = [("d/", b""), ("__MACOSX/d/._t.csv", b"\0"), ("d/t.csv", &text)];
    let archives = [
        archive(&[("t.csv", &text)], deflated()),
        archive(&[("t.csv", &text)], stored()),
        archive(&[("t.csv", &text)], deflated().large_file(true)),
        archive(&with_more, deflated()),
    ];
    for (index, bytes) in archives.iter().enumerate() {
        for name in ["t.zip", "t.csv.zip", "t.CSV.ZIP", "t"] {
            place.write(name, bytes);
            let answer = place.run_of(&["query", name, QUERY, "--format", "csv"]).text();
            assert_eq!(answer, ANSWER, "{index}: {name}");
        }
        let answer = place.pipe_of(&["query", "-", QUERY, "--format", "csv"], bytes).text();
        assert_eq!(answer, ANSWER, "{index}");
        place.run("convert t.zip t.buren --force").ok();
        assert_eq!(place.run("cat t.buren").ok(), text);
        place.run("verify t.zip").ok();
    }
    assert!(place.run("sniff t.zip").text().contains("compression          zip"));
    place.write("j.zip", archive(&[("j.json", b"{\"a\":1}\n{\"a\":2}\n")], deflated()));
    assert_eq!(place.run("cat j.zip").text(), "a\n1\n2\n");
}

#[test]
fn archives_of_several_files_or_none_list_them() {
    let place = Place::new();
    let names: Vec<_> = (0..12).map(|number| format!("f{number}.csv")).collect();
    let members: Vec<_> = names.iter().map(|name| (name.as_str(), b"a\n1\n".as_slice())).collect();
    place.write("t.zip", archive(&members, deflated()));
    for command in ["query", "sniff", "verify", "inspect"] {
        let outcome = place.run(&format!("{command} t.zip"));
        outcome.fails_with(1, "t.zip: is a zip archive of 12 files (f0.csv, f1.csv,");
        outcome.fails_with(1, "f9.csv and 2 more), of which only one can be read: unzip -p t.zip NAME | brc query - …");
    }
    place.write("t.zip", archive(&members[..2], deflated()));
    place.run("query t.zip").fails_with(1, "of 2 files (f0.csv, f1.csv), of which");
    place.write("t.zip", archive(&[("d/", b"")], deflated()));
    place.run("query t.zip").fails_with(1, "t.zip: is a zip archive without files");
    place.write("t.zip", archive(&[], deflated()));
    place.run("query t.zip").fails_with(1, "t.zip: is a zip archive without files");
}

#[test]
fn unsupported_members_are_refused_with_advice() {
    let place = Place::new();
    let sound = archive(&[("t.csv", b"a\n1\n")], deflated());
    let directory = sound.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let changed = |at: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[directory + at] = byte;
        bytes
    };
    place.write("t.zip", changed(8, 1));
    place
        .run("query t.zip")
        .fails_with(1, "its file 't.csv' is encrypted: decrypt it first, with unzip -P PASSWORD -p");
    place.write("t.zip", changed(10, 12));
    place.run("query t.zip").fails_with(1, "which is not supported: decompress it first, with 7z x -so");
}

#[test]
fn a_damaged_archive_is_corrupt() {
    let place = Place::new();
    let text = text();
    for options in [deflated(), stored()] {
        let sound = archive(&[("t.csv", &text)], options);
        let directory = sound.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        for length in [20, 100, directory, directory + 20, sound.len() - 1] {
            place.write("t.zip", &sound[..length]);
            place.run_of(&["query", "t.zip", QUERY]).fails_with(4, "corrupt file: zip archive");
        }
        for at in (60..directory).step_by(directory / 8) {
            let mut bytes = sound.clone();
            bytes[at] ^= 4;
            place.write("t.zip", bytes);
            place.run_of(&["query", "t.zip", QUERY]).fails_with(4, "corrupt file");
        }
    }
    place.write("t.zip", b"a,b\n1,2\n");
    place.run("query t.zip").fails_with(1, "its extension says zip, but it looks like text");
}
