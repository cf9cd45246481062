//! Shared test code of text encodings: reads tables back, and computes the expected results.

#![allow(clippy::unwrap_used)]

use super::{BadRow, strip_carriage_return};
use crate::encoding::{Encoding, OpenOptions};
use crate::input::{Input, Source};
use brc_core::{ScanOptions, Schema, Table};
use brc_testing::{Cell, collect};
use std::io::{Read, Write};
use std::path::PathBuf;

/// Rows as text.
pub(crate) type Rows = Vec<Vec<String>>;

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Bytes(text) => text.escape_ascii().to_string(),
        Cell::Integer(_) | Cell::Float(_) => cell.to_string(),
    }
}

/// A reader that returns a few bytes at a time, as a pipe may.
struct SlowReader(Vec<u8>, usize);

impl Read for SlowReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0.drain(..count);
        Ok(count)
    }
}

pub(crate) fn file(text: &[u8]) -> Input {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text).unwrap();
    Input::from_file(PathBuf::from("test"), file).unwrap()
}

/// A stream that returns `portion` bytes at a time.
pub(crate) fn stream(text: &[u8], portion: usize) -> Input {
    let drip = SlowReader(text.to_vec(), portion);
    Input {
        path: PathBuf::from("-"),
        prefix: Vec::new(),
        is_whole: false,
        source: Source::Stream(Box::new(drip)),
        compression: None,
    }
}

/// A stream whose first bytes were sniffed.
pub(crate) fn pipe(text: &[u8], portion: usize) -> Input {
    Input::from_stream(PathBuf::from("-"), Box::new(SlowReader(text.to_vec(), portion))).unwrap()
}

/// All rows in order, and line, byte and text of the rejects.
pub(crate) type Outcome = Result<(Rows, Vec<(u64, u64, Vec<u8>)>), String>;

pub(crate) fn read(encoding: &dyn Encoding, input: Input, options: &OpenOptions, threads: usize) -> Outcome {
    let table = encoding.open(input, options).map_err(|error| error.to_string())?;
    read_table(table.as_ref(), threads)
}

/// The same for an open table.
pub(crate) fn read_table(table: &dyn Table, threads: usize) -> Outcome {
    let inferred = table.inferred();
    let everything = ScanOptions::everything(inferred.as_deref().unwrap_or(table.schema()));
    let splits = collect(table, &everything, threads).map_err(|error| error.to_string())?;
    let (mut rows, mut rejects, mut lines) = (Vec::new(), Vec::new(), table.header_lines());
    for (split_rows, scanned) in splits {
        rows.extend(split_rows.into_rows().iter().map(|row| row.iter().map(shown).collect::<Vec<_>>()));
        let position =
            |reject: brc_core::Reject<'_>| (lines + reject.line_in_split + 1, reject.byte, reject.text.to_vec());
        rejects.extend(scanned.rejects.iter().map(position));
        lines += scanned.all_lines();
    }
    Ok((rows, rejects))
}

/// The same by the definition of a line.
pub(crate) fn oracle(text: &[u8], keep_rejects: bool, parse: Parse) -> Outcome {
    let (mut rows, mut rejects, mut byte) = (Vec::new(), Vec::new(), 0);
    for (index, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let position = (index as u64 + 1, byte);
        byte += line.len() as u64;
        let line = line.strip_suffix(b"\n").map_or(line, strip_carriage_return);
        match parse(line) {
            // An empty line is not a row.
            Ok(row) if row.is_empty() => {}
            Ok(row) => rows.push(row),
            Err(_) if keep_rejects => rejects.push((position.0, position.1, line.to_vec())),
            Err(bad) => return Err(format!("line {}, byte {}: {}", position.0, position.1, bad.fault)),
        }
    }
    Ok((rows, rejects))
}

/// Parses a line into its values.
pub(crate) type Parse = fn(&[u8]) -> Result<Vec<String>, BadRow>;

pub(crate) fn options(schema: &Schema, split_bytes: u64, keep_rejects: bool) -> OpenOptions {
    OpenOptions {
        row_group_bytes: Some(split_bytes),
        keep_rejects,
        schema: Some(schema.clone()),
        ..OpenOptions::default()
    }
}

pub(crate) fn same(found: Outcome, expected: &Outcome, context: &str) {
    match (found, expected) {
        (Err(found), Err(expected)) => {
            // The message also names the column.
            let parts: Vec<_> = expected.splitn(3, ": ").collect();
            assert!(parts.iter().all(|part| found.contains(part)), "{context}: {found} is not {expected}");
        }
        (found, expected) => assert_eq!(&found, expected, "{context}"),
    }
}

/// Checks every split size, from files and streams, against the definition.
pub(crate) fn sweep(
    encoding: &dyn Encoding,
    schema: &Schema,
    parse: Parse,
    text: &[u8],
    keep_rejects: bool,
    sizes: impl Iterator<Item = u64>,
) {
    let expected = oracle(text, keep_rejects, parse);
    for size in sizes {
        let options = options(schema, size, keep_rejects);
        let context = || format!("splits of {size} of {:?}", text.escape_ascii().to_string());
        same(read(encoding, file(text), &options, 1), &expected, &context());
        same(read(encoding, stream(text, 1 + size as usize % 7), &options, 1), &expected, &context());
    }
}
