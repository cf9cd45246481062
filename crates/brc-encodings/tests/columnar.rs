//! Parquet and arrow: files of `brc` are read back unchanged, files of other programs are read, and damage is an error.
#![allow(clippy::unwrap_used, clippy::panic)]

use brc_compress::{COMPRESSIONS, Compressor};
use brc_core::{
    Batch, BatchWriter, Column, Comparison, Data, Dictionary, Error, Field, Integers, Order, Predicate, Progress,
    Result, Run, ScanOptions, Schema, Table,
};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog, by_name, convert};
use brc_testing::{Cell, collect, collect_rows};
use proptest::prelude::*;
use std::io::Cursor;
use std::path::{Path, PathBuf};

const ENCODINGS: [&str; 2] = ["parquet", "arrow"];

/// Every encoding under test with every compression that it supports.
fn all() -> Vec<(&'static dyn Encoding, Compressor)> {
    let encodings = ENCODINGS.map(|name| by_name(name).unwrap());
    let with = |encoding: &'static dyn Encoding| {
        let fits = COMPRESSIONS.iter().filter(move |it| encoding.can_compress(**it).is_ok());
        fits.map(move |compression| (encoding, Compressor::of(*compression)))
    };
    encodings.into_iter().flat_map(with).collect()
}

fn options(compression: Compressor) -> CreateOptions {
    CreateOptions::new(compression)
}

fn open(encoding: &dyn Encoding, bytes: &[u8], schema: Option<Schema>, split_bytes: u64) -> Result<Box<dyn Table>> {
    let input = Input::from_stream(PathBuf::from("test"), Box::new(Cursor::new(bytes.to_vec())))?;
    encoding.open(input, &OpenOptions { schema, row_group_bytes: Some(split_bytes), ..OpenOptions::default() })
}

/// The bytes of a table converted with the given number of threads.
fn converted(table: &dyn Table, to: &dyn Encoding, compression: Compressor, threads: usize) -> Result<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("target");
    let output = Output::create(&path, &OutputOptions::default())?;
    let writer = to.create(table.schema(), &options(compression))?;
    convert(table, writer, output, RejectLog::none(), threads, &Progress::default())?;
    Ok(std::fs::read(&path).unwrap())
}

/// Rows as text, line by line.
fn as_text(encoding: &dyn Encoding, bytes: &[u8]) -> Result<String> {
    let table = open(encoding, bytes, None, 1)?;
    let schema = table.schema();
    let text = |(cell, field): (&Cell, &Field)| cell.to_text(field.logical_type);
    let line = |row: &Vec<Cell>| row.iter().zip(schema.fields()).map(text).collect::<Vec<_>>().join(";") + "\n";
    Ok(collect_rows(table.as_ref(), &ScanOptions::everything(schema), 1)?.iter().map(line).collect())
}

/// A text as a file, converted in splits of the given size.
fn from_text(
    text: &str,
    schema: &str,
    to: &dyn Encoding,
    compression: Compressor,
    split: u64,
    threads: usize,
) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("text.csv");
    std::fs::write(&path, text).unwrap();
    let schema = Some(Schema::parse(schema).unwrap());
    let options = OpenOptions { schema, row_group_bytes: Some(split), ..OpenOptions::default() };
    let table = by_name("csv").unwrap().open(Input::open(&path).unwrap(), &options).unwrap();
    converted(table.as_ref(), to, compression, threads).unwrap()
}

fn round_trip(text: &str, schema: &str) {
    for (encoding, compression) in all() {
        let about = format!("{} {compression}", encoding.name());
        let bytes = from_text(text, schema, encoding, compression, 1 << 12, 1);
        assert_eq!(from_text(text, schema, encoding, compression, 1 << 12, 3), bytes, "{about}: threads");
        let table = open(encoding, &bytes, None, 1).unwrap();
        assert!(table.schema().is_like(&Schema::parse(schema).unwrap()), "{about} {}", table.schema());
        assert_eq!(table.rows(), Some(text.lines().count() as u64), "{about}");
        assert!(as_text(encoding, &bytes).unwrap() == text, "{about}: other rows came back");
        let input = Input::from_stream(PathBuf::from("test"), Box::new(Cursor::new(bytes.clone()))).unwrap();
        let verified = encoding.verify(input, &OpenOptions::default(), 2, &Progress::default()).unwrap();
        assert_eq!((Some(verified.rows), verified.bytes), (table.rows(), bytes.len() as u64), "{about}");
    }
}

#[test]
fn tables_of_all_kinds_round_trip() {
    const ONE_BRC: &str = "station:string not null,temperature:decimal(18,1) not null";
    round_trip("", ONE_BRC);
    round_trip("Abha;-1.5\n", ONE_BRC);
    round_trip(&"Abha;12.3\n".repeat(9_000), ONE_BRC);
    let many = |row: u64| format!("name {};{}.{}\n", row * 7919 % 10_000, row * 31 % 200, row % 10);
    round_trip(&(0..30_000).map(many).collect::<String>(), ONE_BRC);
    let long = |row: usize| format!("{}{row};0.0\n", "é".repeat(50));
    round_trip(&(0..300).map(long).collect::<String>(), ONE_BRC);
    let extremes = [i64::MIN, i64::MAX, 0, -1, 1];
    let ends = |row: usize| format!("{};{}\n", extremes[row % 5], extremes[row * 3 % 5]);
    round_trip(&(0..100).map(ends).collect::<String>(), "a:int64 not null,b:int64 not null");
    let digits = |row: usize| format!("{}99999999999999999.{}\n", ["", "-"][row % 2], row % 10);
    round_trip(&(0..100).map(digits).collect::<String>(), "x:decimal(18,1) not null");
    let large = |row: i64| format!("{}\n", (row * 2_654_435_761) << 20);
    round_trip(&(0..9_000).map(large).collect::<String>(), "hardly_equal:int64 not null");
    let mixed = |row: usize| format!("{0};{1}.00;b{0};-0.{2}00000000000000001\n", row % 3, row, row % 9 + 1);
    round_trip(
        &(0..5_000).map(mixed).collect::<String>(),
        "a:string not null,b:decimal(18,2) not null,c:string not null,d:decimal(18,18) not null",
    );
}

#[test]
fn numbers_beyond_eighteen_digits() {
    let text = "922337203685477580.7\n-922337203685477580.8\n";
    round_trip(text, "x:decimal(19,1) not null");
}

/// Rows as text, and the number of skipped and read rows.
#[derive(Default)]
struct Rows {
    rows: Vec<Vec<String>>,
    skipped: u64,
    bytes: u64,
}

fn rows(table: &dyn Table, options: &ScanOptions) -> Result<Rows> {
    let mut all = Rows::default();
    for (rows, scanned) in collect(table, options, 1)? {
        all.rows.extend(rows.into_rows().iter().map(|row| row.iter().map(Cell::to_string).collect()));
        all.skipped += scanned.skipped_rows;
        all.bytes += scanned.bytes;
    }
    Ok(all)
}

#[test]
fn only_projected_columns_are_read() {
    let text: String = (0..5_000).map(|row| format!("n{};{row};{}\n", row % 50, row * 3)).collect();
    for (encoding, compression) in all() {
        let bytes = from_text(&text, "a:string,b:int,c:int", encoding, compression, 1 << 14, 1);
        let table = open(encoding, &bytes, None, 1).unwrap();
        let everything = rows(table.as_ref(), &ScanOptions::everything(table.schema())).unwrap();
        let projection = vec![2, 0];
        let some = ScanOptions { projection, ..ScanOptions::everything(table.schema()) };
        let some = rows(table.as_ref(), &some).unwrap();
        assert!(some.bytes < everything.bytes);
        for (row, whole) in some.rows.iter().zip(&everything.rows) {
            assert_eq!(row, &[whole[2].clone(), whole[0].clone()]);
        }
        assert_eq!(some.rows.len(), 5_000);
        let none = ScanOptions { projection: vec![], ..ScanOptions::everything(table.schema()) };
        let none = rows(table.as_ref(), &none).unwrap();
        assert_eq!((none.rows.len(), none.bytes), (5_000, 0));
    }
}

#[test]
fn rows_that_cannot_match_are_skipped() {
    let text: String = (0..4_000).map(|row| format!("{};{row}\n", ["a", "b"][row / 2_000])).collect();
    for (encoding, compression) in all() {
        let bytes = from_text(&text, "key:string,number:int", encoding, compression, 1 << 10, 1);
        let table = open(encoding, &bytes, None, 1).unwrap();
        let with = |predicate| {
            let everything = ScanOptions::everything(table.schema());
            let options = ScanOptions { predicate: Some(predicate), order: Order::Any, ..everything };
            let rows = rows(table.as_ref(), &options).unwrap();
            assert_eq!(rows.skipped + rows.rows.len() as u64, 4_000);
            rows
        };
        let few = with(Predicate::Range { column: 1, low: 3_990, high: 5_000 });
        assert!(few.skipped > 3_000 && few.rows.iter().filter(|row| row[1].as_str() >= "3990").count() == 10);
        let none = with(Predicate::Range { column: 1, low: 4_000, high: i64::MAX.into() });
        assert_eq!((none.skipped, none.bytes), (4_000, 0));
        let half = with(Predicate::Compare { column: 0, comparison: Comparison::Equal, value: b"b".to_vec() });
        assert_eq!(half.rows.iter().filter(|row| row[0] == "b").count(), 2_000);
        // Arrow has statistics of numbers only.
        assert!(encoding.name() == "arrow" || half.skipped > 1_500);
    }
}

fn written(writer: &mut dyn BatchWriter, batches: &[Batch<'_>]) -> Result<Vec<u8>> {
    let mut encoder = writer.encoder();
    let mut file = writer.start();
    for batch in batches {
        encoder.batch(batch)?;
        let mut part = encoder.finish()?;
        writer.append(&mut part)?;
        file.extend_from_slice(&part.bytes);
    }
    file.extend_from_slice(&writer.finish()?);
    Ok(file)
}

#[test]
fn runs_empty_strings_and_narrow_numbers_are_written() {
    let dictionary: Dictionary = ["b", "", "a"].into_iter().collect();
    let runs = [Run { code: 2, rows: 3 }, Run { code: 1, rows: 2 }];
    let codes = [1, 0, 1, 2, 0];
    let columns = |values| [Column::runs(&runs, &dictionary), Column::integers(values)];
    let (first, second) = (columns(Integers::I16(&[1, 2, 3, 4, 5])), columns(Integers::I32(&[-1, -2, -3, -4, 70_000])));
    let third = [Column::codes(&codes, &dictionary), Column::integers(Integers::I64(&[0, 0, 0, 0, 9]))];
    let batches = [&first, &second, &third].map(|columns| Batch { rows: 5, columns });
    for (encoding, compression) in all() {
        let mut writer = encoder_for(encoding, compression, "s:string,n:int");
        let file = written(writer.as_mut(), &batches).unwrap();
        let table = open(encoding, &file, None, 1).unwrap();
        let found = rows(table.as_ref(), &ScanOptions::everything(table.schema())).unwrap().rows;
        let found: Vec<_> = found.iter().map(|row| format!("{}{}", row[0], row[1])).collect();
        let expected = ["a1", "a2", "a3", "4", "5", "a-1", "a-2", "a-3", "-4", "70000", "0", "b0", "0", "a0", "b9"];
        assert_eq!(found, expected, "{}", encoding.name());
    }
}

fn encoder_for(encoding: &dyn Encoding, compression: Compressor, schema: &str) -> Box<dyn BatchWriter> {
    encoding.create(&Schema::parse(schema).unwrap(), &options(compression)).unwrap()
}

#[test]
fn unsupported_values_are_rejected() {
    let dictionary: Dictionary = [&b"\xff"[..]].into_iter().collect();
    let columns = [Column::codes(&[0], &dictionary)];
    for (encoding, compression) in all() {
        let mut writer = encoder_for(encoding, compression, "s:string");
        let refused = written(writer.as_mut(), &[Batch { rows: 1, columns: &columns }]).unwrap_err();
        let name = encoding.name();
        let reason = format!(": row 1, column 's': {name} cannot hold '\\xff', which is not UTF-8");
        assert!(matches!(&refused, Error::UnsupportedValue(_)) && refused.to_string() == reason, "{refused}");
        let mut writer = encoder_for(encoding, compression, "n:int");
        assert!(matches!(written(writer.as_mut(), &[Batch { rows: 1, columns: &columns }]), Err(Error::Usage(_))));
    }
    for (name, refused) in [("parquet", &["zlib"][..]), ("arrow", &["snappy", "gzip", "zlib"])] {
        let encoding = by_name(name).unwrap();
        for compression in COMPRESSIONS.iter().filter(|it| refused.contains(&it.name())) {
            let reason = encoding.can_compress(*compression).unwrap_err();
            assert_eq!(reason, format!("{name} does not support {}", compression.name()));
            let schema = Schema::one_brc();
            assert!(encoding.create(&schema, &options(Compressor::of(*compression))).is_err());
        }
    }
}

fn fixtures(extension: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    files.sort();
    files
}

#[test]
fn files_of_other_programs_are_read() {
    for encoding in ENCODINGS {
        let mut read = 0;
        for path in fixtures(encoding) {
            let bytes = std::fs::read(&path).unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if ["odd", "nested"].contains(&name.trim_end_matches("_arrow")) {
                // These have columns of lists, which other cases do not read.
                continue;
            }
            let found = as_text(by_name(encoding).unwrap(), &bytes);
            let expected = std::fs::read_to_string(path.with_extension("csv")).unwrap();
            let unknown =
                ["gzip", "zstd"].into_iter().find(|it| name.contains(it) && brc_compress::by_name(it).is_none());
            match unknown {
                Some(compression) => {
                    let reason = found.unwrap_err().to_string().to_lowercase();
                    assert!(reason.contains(compression), "{reason}");
                }
                None => {
                    assert_eq!(found.unwrap(), expected, "{name}");
                    read += 1;
                }
            }
        }
        assert!(read >= 6, "only {read} files of {encoding}");
    }
}

#[test]
fn unprojected_columns_are_ignored() {
    for (encoding, name) in ENCODINGS.into_iter().zip(["odd.parquet", "odd_arrow.arrow"]) {
        let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap();
        let table = open(by_name(encoding).unwrap(), &bytes, None, 1).unwrap();
        let schema = table.schema();
        let column = |name: &str| schema.index_of(name).unwrap();
        let types = ["name", "some", "n", "ts", "f", "nul", "view", "d", "b"];
        let types = types.map(|name| schema.fields()[column(name)].logical_type.to_string());
        let expected = ["string", "int64", "int64", "timestamp", "float64", "string", "binary", "date", "bool"];
        assert_eq!(types, expected, "{name}");
        let unsupported_columns: Vec<_> = schema.unsupported_columns().iter().map(ToString::to_string).collect();
        let expected = [("tags", "a list"), ("st", "a struct"), ("m", "a map"), ("lv", "a list")];
        let expected = expected.map(|(name, kind)| format!("column '{name}' is {kind}, which brc does not read"));
        // The Parquet file has no lists of views.
        assert_eq!(unsupported_columns, expected[..unsupported_columns.len()], "{name}");
        assert!(unsupported_columns.len() >= 3, "{name}");
        let with =
            |projection| rows(table.as_ref(), &ScanOptions { projection, ..ScanOptions::everything(table.schema()) });
        let found = with(vec![column("name"), column("n")]).unwrap();
        let found = found.rows.iter().map(|row| row.join("")).collect::<Vec<_>>();
        assert_eq!(found, ["a1", "b2", "a3", "b4", "a5"], "{name}");
        let everything = by_name(encoding).unwrap().verify(
            Input::from_stream(PathBuf::from("test"), Box::new(Cursor::new(bytes.clone()))).unwrap(),
            &OpenOptions::default(),
            1,
            &Progress::default(),
        );
        let refused = everything.unwrap_err().to_string();
        assert!(refused.contains("column 'tags' is a list") && refused.contains("leave it out"), "{refused}");
    }
}

/// The columns and rows read from a damaged file, or nothing.
fn read_damaged(encoding: &dyn Encoding, bytes: &[u8]) -> Option<(Schema, Vec<Vec<String>>)> {
    let table = open(encoding, bytes, None, 1).ok()?;
    let found = rows(table.as_ref(), &ScanOptions::everything(table.schema())).ok()?;
    Some((table.schema().clone(), found.rows))
}

#[test]
fn damage_is_an_error_or_harmless() {
    let text: String = (0..90).map(|row| format!("name {};{}.{}\n", row % 9, row % 50, row % 10)).collect();
    for (encoding, compression) in all() {
        let bytes = from_text(&text, "s:string,n:decimal(1)", encoding, compression, 1 << 10, 1);
        let sound = read_damaged(encoding, &bytes);
        assert!(sound.is_some());
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff, bytes[at]] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let found = read_damaged(encoding, &damaged);
                let about = format!("{} {compression}: byte {at} ^ {flip}", encoding.name());
                assert!(found.is_none() || found == sound, "{about}: another answer");
            }
        }
        for end in 0..bytes.len() {
            assert!(read_damaged(encoding, &bytes[..end]).is_none(), "{}: cut off at {end}", encoding.name());
        }
    }
}

#[test]
fn damage_to_files_of_other_programs_never_panics() {
    for encoding in ENCODINGS {
        let encoding = by_name(encoding).unwrap();
        for path in fixtures(encoding.name()) {
            let bytes = std::fs::read(&path).unwrap();
            for at in (0..bytes.len()).step_by(1 + bytes.len() / 250) {
                for flip in [1, 0x40, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= flip;
                    let _ = read_damaged(encoding, &damaged);
                }
                assert!(read_damaged(encoding, &bytes[..at]).is_none(), "{} cut off at {at}", path.display());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_round_trip(
        rows in prop::collection::vec(("[a-zà-ü]{1,6}", any::<i64>(), -99_999i64..99_999), 0..400),
        parts in 1usize..5,
    ) {
        let dictionary: Dictionary = rows.iter().map(|row| &row.0).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let code = |name: &String| dictionary.iter().position(|value| value == name.as_bytes()).unwrap() as u32;
        let codes: Vec<_> = rows.iter().map(|row| code(&row.0)).collect();
        let wide: Vec<_> = rows.iter().map(|row| row.1).collect();
        let narrow: Vec<_> = rows.iter().map(|row| row.2 as i32).collect();
        let size = (rows.len() / parts).max(1);
        let columns: Vec<_> = codes.chunks(size).zip(wide.chunks(size)).zip(narrow.chunks(size)).map(|((codes, wide), narrow)| {
            [
                Column::codes(codes, &dictionary),
                Column::integers(Integers::I64(wide)),
                Column::integers(Integers::I32(narrow)),
            ]
        }).collect();
        let rows_of = |columns: &[Column<'_>; 3]| if let Data::Codes { codes, .. } = columns[0].data { codes.len() } else { 0 };
        let batches: Vec<_> = columns.iter().map(|columns| Batch { rows: rows_of(columns), columns }).collect();
        for (encoding, compression) in all() {
            let mut writer = encoder_for(encoding, compression, "s:string,w:int,n:decimal(3)");
            let file = written(writer.as_mut(), &batches).unwrap();
            let table = open(encoding, &file, None, 1).unwrap();
            let found = rows_in(table.as_ref());
            let expected: Vec<_> = rows.iter().map(|row| vec![row.0.clone(), row.1.to_string(), row.2.to_string()]).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn any_bytes_are_rejected(bytes: Vec<u8>, length in 0u32..300) {
        for (name, start, end) in [("parquet", "PAR1", "PAR1"), ("arrow", "ARROW1\0\0", "ARROW1")] {
            let mut file = start.as_bytes().to_vec();
            file.extend_from_slice(&bytes);
            file.extend_from_slice(&length.to_le_bytes());
            file.extend_from_slice(end.as_bytes());
            let _ = read_damaged(by_name(name).unwrap(), &file);
        }
    }
}

fn rows_in(table: &dyn Table) -> Vec<Vec<String>> {
    rows(table, &ScanOptions::everything(table.schema())).unwrap().rows
}
