//! Rows written by other programs with other libraries; see `fixtures/make-rows.py`.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

use brc_core::{ScanOptions, Schema};
use brc_encodings::{Input, OpenOptions};
use brc_testing::{Cell, collect_rows};
use std::path::Path;

type Rows = Vec<Vec<Cell>>;

fn read(name: &str) -> Result<Rows, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let read = || {
        let input = Input::open(&path)?;
        let encoding = brc_encodings::for_input(&input)?;
        let schema = Some(Schema::parse("name:string not null,n:int not null").unwrap());
        let table = encoding.open(input, &OpenOptions { schema, ..OpenOptions::default() })?;
        collect_rows(table.as_ref(), &ScanOptions::everything(table.schema()), 1)
    };
    read().map_err(|error: brc_core::Error| error.to_string())
}

fn expected() -> Rows {
    let names = [b"Abha", "São Paulo".as_bytes(), b"", &[b'n'; 300], b"\xff\x00", b"sixteen bytes it"];
    let mut numbers = vec![0, 1, -1, 23, 24, -32, -33, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769];
    numbers.extend([65535, 65536, i32::MAX.into(), 1 << 31, i32::MIN.into(), -(1 << 31) - 1, u32::MAX.into(), 1 << 32]);
    numbers.extend([i64::MAX, i64::MIN]);
    let row = |(row, number): (usize, i64)| vec![names[row % names.len()].into(), number.into()];
    numbers.into_iter().enumerate().map(row).collect()
}

#[test]
fn rows_are_read() {
    for name in ["rows.msgpack", "bin.msgpack", "rows.cbor", "indefinite.cbor", "rows.pb"] {
        assert!(read(name).unwrap() == expected(), "{name}");
    }
}

#[test]
fn errors_name_what_is_not_a_row() {
    for (name, message) in [
        ("maps.msgpack", "row 1, byte 0: a map where a row should be; brc reads a sequence of rows, each an array of"),
        ("floats.msgpack", "row 1, byte 0, column 'n': a float in a column of numbers, which are integers"),
        ("more.pb", "corrupt file: byte 0: field 3 is not of the table, or not in the order of the columns"),
    ] {
        let error = read(name).unwrap_err();
        assert!(error.contains(&format!("{name}: {message}")), "{error}");
    }
}
