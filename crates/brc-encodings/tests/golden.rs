//! Files of earlier versions stay readable, and damage in them stays detectable.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_core::{Progress, Result};
use brc_encodings::{Input, OpenOptions, Output, OutputOptions, RejectLog, Verified, by_name, convert, for_input};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// Name and content of each file.
fn files() -> Vec<(PathBuf, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("v1")));
    let files: Vec<_> = paths.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect();
    assert_eq!(files.len(), 10);
    files
}

fn from_disk(path: &Path, bytes: &[u8]) -> Result<Input> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Input::from_file(path.to_owned(), file)
}

fn from_pipe(path: &Path, bytes: &[u8]) -> Result<Input> {
    Input::from_stream(path.to_owned(), Box::new(Cursor::new(bytes.to_vec())))
}

fn verify(input: Result<Input>) -> Result<Verified> {
    let input = input?;
    for_input(&input)?.verify(input, &OpenOptions::default(), 1, &Progress::default())
}

#[test]
fn golden_files_are_read() {
    let rows = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/rows.csv")).unwrap();
    let expected = format!("name,tenths,number,long\n{}", rows.replace(';', ","));
    for (path, bytes) in files() {
        let input = from_disk(&path, &bytes).unwrap();
        let table = for_input(&input).unwrap().open(input, &OpenOptions::default()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("rows.csv");
        let csv = brc_encodings::CreateOptions::new(brc_compress::Compressor::none());
        let writer = brc_encodings::writer(by_name("csv").unwrap(), table.schema(), &csv).unwrap();
        let output = Output::create(&text, &OutputOptions::default()).unwrap();
        convert(table.as_ref(), writer, output, RejectLog::none(), 1, &Progress::default()).unwrap();
        assert_eq!(std::fs::read_to_string(&text).unwrap(), expected, "{}", path.display());
    }
}

#[test]
fn damage_in_golden_files_is_detected() {
    let mut unseen = Vec::new();
    for (path, bytes) in files() {
        assert_eq!(
            verify(from_disk(&path, &bytes)).unwrap(),
            Verified { rows: 4, bytes: bytes.len() as u64, remark: None }
        );
        assert_eq!(verify(from_pipe(&path, &bytes)).unwrap().rows, 4);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // Streams are read by different code; one bit of each byte suffices for them.
            let is_unseen = |input| verify(input).is_ok();
            let through_a_pipe = bit % 8 == bit / 8 % 8 && is_unseen(from_pipe(&path, &damaged));
            if is_unseen(from_disk(&path, &damaged)) || through_a_pipe {
                unseen.push(format!("{}: bit {} of byte {}", path.display(), bit % 8, bit / 8));
            }
        }
    }
    assert_eq!(unseen, [""; 0]);
}
