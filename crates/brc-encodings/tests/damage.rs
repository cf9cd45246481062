//! Runs of zeros in a file, as lost sectors leave them, are errors or harmless: they never change rows or types.
#![allow(clippy::unwrap_used)]

use brc_compress::{COMPRESSIONS, Compressor};
use brc_core::{Progress, Result, ScanOptions, Schema};
use brc_encodings::{
    CreateOptions, ENCODINGS, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog, by_name, convert,
};
use brc_testing::{Cell, collect_rows};
use std::io::Cursor;
use std::path::PathBuf;

/// A table as a file, in several parts.
fn file(text: &str, schema: &str, encoding: &dyn Encoding, compression: Compressor) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let (source, target) = (directory.path().join("text.csv"), directory.path().join("target"));
    std::fs::write(&source, text).unwrap();
    let schema = Some(Schema::parse(schema).unwrap());
    let options = OpenOptions { schema, row_group_bytes: Some(1 << 10), ..OpenOptions::default() };
    let table = by_name("csv").unwrap().open(Input::open(&source).unwrap(), &options).unwrap();
    let output = Output::create(&target, &OutputOptions::default()).unwrap();
    let writer = brc_encodings::writer(encoding, table.schema(), &CreateOptions::new(compression)).unwrap();
    convert(table.as_ref(), writer, output, RejectLog::none(), 1, &Progress::default()).unwrap();
    std::fs::read(&target).unwrap()
}

fn read(encoding: &dyn Encoding, bytes: &[u8]) -> Result<(Schema, Vec<Vec<Cell>>)> {
    let input = Input::from_stream(PathBuf::from("test"), Box::new(Cursor::new(bytes.to_vec())))?;
    let table = encoding.open(input, &OpenOptions::default())?;
    let rows = collect_rows(table.as_ref(), &ScanOptions::everything(table.schema()), 1)?;
    Ok((table.schema().clone(), rows))
}

/// Checks a table in every encoding with checksums.
fn check(text: &str, schema: &str) {
    let binary = ENCODINGS.iter().filter(|encoding| !encoding.is_text() && !encoding.is_read_only());
    for encoding in binary.filter(|encoding| encoding.name() != "ppm" && encoding.name() != "json") {
        for compression in COMPRESSIONS.iter().filter(|it| encoding.can_compress(**it).is_ok()) {
            // The rows of avro have checksums if they are compressed.
            let has_rows = encoding.name() != "avro" || !["none", "deflate"].contains(&compression.name());
            if ["none", "zstd"].contains(&compression.name()) {
                check_file(*encoding, &file(text, schema, *encoding, Compressor::of(*compression)), has_rows);
            }
        }
    }
}

fn check_file(encoding: &dyn Encoding, bytes: &[u8], has_rows: bool) {
    let sound = read(encoding, bytes).unwrap();
    for run in [16, 48, 100, 512] {
        for at in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            let end = bytes.len().min(at + run);
            damaged[at..end].fill(0);
            let Ok(found) = read(encoding, &damaged) else { continue };
            let about = format!("{}: {run} zeros at {at} of {}", encoding.name(), bytes.len());
            assert_eq!(found.0, sound.0, "{about}: types");
            assert_eq!(found.1.len(), sound.1.len(), "{about}: rows");
            assert!(!has_rows || found.1 == sound.1, "{about}: values");
        }
    }
}

#[test]
fn lost_sectors_are_errors_or_harmless() {
    let rows = (0..60).map(|row| format!("name {};{}.{};2024-05-06T07:08:{row:02}\n", row % 9, row % 50, row % 10));
    let rows: String = rows.collect();
    check(&rows, "s:string,n:decimal(18,1),at:timestamp(s) not null");
    check("", "s:string,n:decimal(18,1)");
}
