//! Rows that other programs wrote with other libraries. `fixtures/make-rows.py` tells how.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

use brc_core::{
    Batch, Data, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Summary, Worker, batch, scan,
};
use brc_encodings::{Input, OpenOptions};
use std::path::Path;
use std::sync::Mutex;

type Rows = Vec<(Vec<u8>, i64)>;

struct Gather<'a>(&'a Mutex<Rows>);

impl Worker for Gather<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }
}

impl Sink for Gather<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let [names, numbers] = batch.columns else { panic!("not the columns of the schema") };
        let Data::Integers(numbers) = numbers.data else { panic!("not numbers") };
        let mut codes = Vec::new();
        assert!(batch::codes_of(names, &mut codes));
        let name = |code: &u32| names.dictionary().unwrap().get(*code).to_vec();
        let rows = codes.iter().map(name).zip((0..numbers.len()).map(|row| numbers.get(row) as i64));
        self.0.lock().unwrap().extend(rows);
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        panic!("nobody allowed statistics")
    }
}

fn read(name: &str) -> Result<Rows, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let read = || {
        let input = Input::open(&path)?;
        let encoding = brc_encodings::for_input(&input)?;
        let schema = Some(Schema::parse("name:string not null,n:int not null").unwrap());
        let table = encoding.open(input, &OpenOptions { schema, ..OpenOptions::default() })?;
        let rows = Mutex::default();
        let everything = ScanOptions::everything(table.schema());
        scan(table.as_ref(), &everything, 1, &Progress::default(), || Gather(&rows))?;
        Ok(rows.into_inner().unwrap())
    };
    read().map_err(|error: brc_core::Error| error.to_string())
}

fn expected() -> Rows {
    let names = [b"Abha", "São Paulo".as_bytes(), b"", &[b'n'; 300], b"\xff\x00", b"sixteen bytes it"];
    let mut numbers = vec![0, 1, -1, 23, 24, -32, -33, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769];
    numbers.extend([65535, 65536, i32::MAX.into(), 1 << 31, i32::MIN.into(), -(1 << 31) - 1, u32::MAX.into(), 1 << 32]);
    numbers.extend([i64::MAX, i64::MIN]);
    numbers.into_iter().enumerate().map(|(row, number)| (names[row % names.len()].to_vec(), number)).collect()
}

#[test]
fn rows_are_read() {
    for name in ["rows.msgpack", "bin.msgpack", "rows.cbor", "indefinite.cbor", "rows.pb"] {
        assert!(read(name).unwrap() == expected(), "{name}");
    }
}

#[test]
fn what_is_no_row_of_the_table_is_named() {
    for (name, message) in [
        ("maps.msgpack", "row 1, byte 0: a map where a row should be; brc reads a sequence of rows, each an array of"),
        ("floats.msgpack", "row 1, byte 0, column 'n': a float in a column of numbers, which are integers"),
        ("more.pb", "corrupt file: byte 0: field 3 is not of the table, or not in the order of the columns"),
    ] {
        let error = read(name).unwrap_err();
        assert!(error.contains(&format!("{name}: {message}")), "{error}");
    }
}
