//! Golden files with every type, every scheme and every compression, which must stay readable for ever.

#![allow(clippy::unwrap_used)]

mod common;

use brc_core::{Field, LogicalType, Progress, ScanOptions, Schema, Table, TimeUnit};
use brc_testing::{Cell, Typed};
use common::{mix, open, options, random_table, scan, with_dates, write};
use std::collections::BTreeSet;
use std::path::PathBuf;

const ROWS: usize = 2500;
const PARTS: [usize; 1] = [2100];

/// The file with every type and every scheme.
const ALL: &str = "all";

fn path(name: &str, compression: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}-{compression}.buren"))
}

/// The types of the first golden files, in the order of their columns.
fn first_types() -> Vec<LogicalType> {
    let mut types = vec![
        LogicalType::Bool,
        LogicalType::Int8,
        LogicalType::Int16,
        LogicalType::Int32,
        LogicalType::Int64,
        LogicalType::UInt64,
        LogicalType::Decimal { precision: 12, scale: 2 },
        LogicalType::Decimal { precision: 38, scale: 10 },
        LogicalType::Float64,
        LogicalType::Date,
        LogicalType::String,
        LogicalType::Binary,
    ];
    for unit in TimeUnit::ALL {
        types.push(LogicalType::Time { unit });
        types.push(LogicalType::Timestamp { unit, zone: unit == TimeUnit::Millisecond });
    }
    types
}

/// Each type with extreme values and some nulls, and a column for each scheme.
fn table() -> Typed {
    let types: Vec<_> = first_types().into_iter().map(|logical_type| (logical_type, 0, 10)).collect();
    let mut table = random_table(&types, ROWS, 7);
    let mut fields = table.schema.fields().to_vec();
    let mut add = |name: &str, logical_type, cell: &dyn Fn(usize) -> Cell| {
        fields.push(Field::nullable(name, logical_type));
        table.columns.push((0..ROWS).map(cell).collect());
    };
    let random = |row: usize, bits: u32| (mix(3, row) >> (64 - bits)) as i128;
    add("constant", LogicalType::Int64, &|_| Cell::Integer(-5));
    add("progression", LogicalType::Int64, &|row| Cell::Integer(1000 + 7 * row as i128));
    add("plain", LogicalType::Int64, &|row| Cell::Integer(random(row, 64) - (1 << 63)));
    add("packed", LogicalType::Int32, &|row| Cell::Integer(random(row, 11)));
    add("patched", LogicalType::Int64, &|row| Cell::Integer(if row % 200 == 3 { 1 << 50 } else { random(row, 7) }));
    add("runs", LogicalType::Int64, &|row| Cell::Integer(random(row / 40, 30)));
    add("delta", LogicalType::Timestamp { unit: TimeUnit::Millisecond, zone: false }, &|row| {
        Cell::Integer(row as i128 * 100_000 + random(row, 9))
    });
    add("dictionary", LogicalType::Int64, &|row| Cell::Integer(random(row % 7, 60)));
    add("divisor", LogicalType::Int64, &|row| Cell::Integer(3 + 1_000_003 * random(row, 9)));
    add("limbs", LogicalType::Decimal { precision: 38, scale: 2 }, &|row| Cell::Integer(random(row, 64) << 40));
    add("digits of floats", LogicalType::Float64, &|row| Cell::Float((random(row, 20) as f64 / 100.0).to_bits()));
    add("bits of floats", LogicalType::Float64, &|row| Cell::Float((row as f64).sqrt().to_bits()));
    let text = |text: String| Cell::Bytes(text.into_bytes());
    add("one string", LogicalType::String, &|_| text("same".into()));
    add("codes", LogicalType::String, &|row| text(format!("city {}", random(row, 5))));
    add("sequence", LogicalType::String, &|row| text(format!("Customer#{row:09}")));
    add("numbers", LogicalType::String, &|row| text(random(row, 40).to_string()));
    add("addresses", LogicalType::String, &|row| {
        let bytes = (random(row, 32) as u32).to_be_bytes();
        text(bytes.map(|byte| byte.to_string()).join("."))
    });
    add("hexadecimal", LogicalType::String, &|row| text(format!("{:016x}", mix(9, row))));
    add("random bytes", LogicalType::Binary, &|row| Cell::Bytes(mix(8, row).to_le_bytes()[..row % 9].to_vec()));
    add("words", LogicalType::String, &|row| {
        let words = ["quickly ", "final ", "requests ", "deposits ", "furiously ", "ironic ", "packages "];
        text((0..6).map(|word| words[mix(word, row) as usize % words.len()]).collect::<String>() + &row.to_string())
    });
    add("long", LogicalType::String, &|row| text(format!("{}{}", "x".repeat(70 + row % 3), random(row, 20))));
    table.schema = Schema::new(fields).unwrap();
    table
}

/// The pixels of an image, with its metadata.
fn image() -> Typed {
    let text = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let metadata = vec![text("ppm.height", "50"), text("ppm.maximum", "255"), text("ppm.width", "50")];
    let schema = Schema::parse("r:int32 not null,x:int32 not null,y:int32 not null").unwrap().with_metadata(metadata);
    let column = |value: &dyn Fn(usize) -> usize| (0..ROWS).map(|row| Cell::Integer(value(row) as i128)).collect();
    let red = column(&|row| (mix(5, row) % 256) as usize);
    Typed { schema, columns: vec![red, column(&|row| row % 50), column(&|row| row / 50)] }
}

#[test]
fn a_golden_image_is_read_and_written() {
    let (table, bytes) = (image(), std::fs::read(path("image", "none")).unwrap());
    let reader = open(&bytes).unwrap();
    assert_eq!(reader.schema(), &table.schema);
    let (found, _) = scan(&reader, &ScanOptions::everything(&table.schema)).unwrap();
    assert!(found.columns == table.columns);
    let description = reader.describe().unwrap();
    let schemes: Vec<_> = description.columns.iter().map(|column| column.schemes[0].0).collect();
    assert_eq!(schemes, ["packed", "periodic", "periodic"]);
    assert!(
        write(&table, &PARTS, options("none", None), 2).unwrap() == bytes,
        "the writer no longer writes it as it did"
    );
}

/// Dates stored as differences from others.
fn dates() -> Typed {
    with_dates(random_table(&[(LogicalType::Int32, 300, 0)], ROWS, 2))
}

#[test]
fn golden_dates_are_read_and_written() {
    let (table, bytes) = (dates(), std::fs::read(path("dates", "none")).unwrap());
    let reader = open(&bytes).unwrap();
    let (found, _) = scan(&reader, &ScanOptions::everything(&table.schema)).unwrap();
    assert!(found.columns == table.columns);
    let schemes: Vec<_> = reader.describe().unwrap().columns.iter().map(|column| column.schemes[0].0).collect();
    assert_eq!(schemes[1..], ["packed", "difference", "difference"]);
    assert!(
        write(&table, &PARTS, options("none", None), 2).unwrap() == bytes,
        "the writer no longer writes it as it did"
    );
}

/// 32-bit floats, stored as digits and as bits, and UUIDs.
fn narrow() -> Typed {
    let mut table = random_table(
        &[
            (LogicalType::Float32, 300, 5),
            (LogicalType::Float32, 0, 5),
            (LogicalType::Float32, 2, 0),
            (LogicalType::Uuid, 0, 5),
            (LogicalType::Uuid, 2, 0),
        ],
        ROWS,
        2,
    );
    for (row, cell) in table.columns[2].iter_mut().enumerate() {
        *cell = Cell::Float(f64::from((row as f32).sqrt()).to_bits());
    }
    for (row, cell) in table.columns[4].iter_mut().enumerate() {
        *cell = Cell::Integer(i128::from(mix(4, row)) << 64 | i128::from(mix(5, row)));
    }
    table
}

#[test]
fn golden_floats_of_32_bits_and_uuids_are_read_and_written() {
    let (table, bytes) = (narrow(), std::fs::read(path("narrow", "none")).unwrap());
    let reader = open(&bytes).unwrap();
    assert_eq!(reader.schema(), &table.schema);
    let (found, _) = scan(&reader, &ScanOptions::everything(&table.schema)).unwrap();
    assert!(found.columns == table.columns);
    // Half the size of 64-bit floats, and sixteen bytes per UUID.
    let stored = |column: usize| reader.describe().unwrap().columns[column].data.stored_bytes;
    assert!(stored(0) < 2 * ROWS as u64 && stored(2) < 5 * ROWS as u64 && stored(4) < 17 * ROWS as u64);
    assert!(
        write(&table, &PARTS, options("none", None), 2).unwrap() == bytes,
        "the writer no longer writes it as it did"
    );
}

/// Rows clustered by a key with nulls, in one of two row groups.
fn clustered() -> Typed {
    let types = [
        (LogicalType::Int32, 300, 0),
        (LogicalType::String, 1 << 40, 10),
        (LogicalType::Float64, 300, 5),
        (LogicalType::String, 5, 10),
    ];
    let mut table = random_table(&types, ROWS, 2);
    for (row, cell) in table.columns[3].iter_mut().enumerate().skip(PARTS[0]) {
        *cell = Cell::Bytes(row.to_string().into_bytes());
    }
    let keys: Vec<&Cell> = table.columns[3].iter().collect();
    let distance = |row: usize| match keys[row] {
        Cell::Bytes(key) => Cell::Integer(i128::from(key[key.len() - 1]) * 10_000 + (mix(6, row) % 200) as i128),
        _ if row.is_multiple_of(7) => Cell::Null,
        _ => Cell::Integer((mix(6, row) % 200) as i128),
    };
    let distances = (0..ROWS).map(distance).collect();
    let mut fields = table.schema.fields().to_vec();
    fields.push(Field::nullable("distance", LogicalType::Int64));
    table.columns.push(distances);
    table.schema = Schema::new(fields).unwrap();
    table
}

#[test]
fn a_golden_clustered_file_is_read_and_written() {
    let (table, bytes) = (clustered(), std::fs::read(path("clustered", "none")).unwrap());
    let reader = open(&bytes).unwrap();
    let (found, _) = scan(&reader, &ScanOptions::everything(&table.schema)).unwrap();
    assert!(found.columns == table.columns);
    let keys: Vec<_> = reader.describe().unwrap().row_groups.iter().map(|row_group| row_group.key).collect();
    assert_eq!(keys, [Some(3), None]);
    let description = reader.describe().unwrap();
    assert_eq!(description.columns[4].schemes[0], ("in runs", 1));
    assert!(description.row_groups[0].run_index.blocks > 1 && description.row_groups[1].run_index.blocks == 0);
    reader.verify(1, &Progress::default()).unwrap();
    assert!(
        write(&table, &PARTS, options("none", Some("c3")), 2).unwrap() == bytes,
        "the writer no longer writes it as it did"
    );
}

#[test]
fn golden_files_are_read() {
    let table = table();
    for compression in ["none", "zstd"] {
        let reader = open(&std::fs::read(path(ALL, compression)).unwrap()).unwrap();
        assert_eq!(reader.schema(), &table.schema);
        let (found, _) = scan(&reader, &ScanOptions::everything(&table.schema)).unwrap();
        assert!(found.columns == table.columns, "{compression}");
        reader.verify(1, &Progress::default()).unwrap();
    }
}

#[test]
fn golden_files_of_all_compressions_are_read() {
    let table = clustered();
    for compression in brc_compress::COMPRESSIONS.iter().map(|compression| compression.name()) {
        let reader = open(&std::fs::read(path("clustered", compression)).unwrap()).unwrap();
        let (found, _) = scan(&reader, &ScanOptions::everything(&table.schema)).unwrap();
        assert!(found.columns == table.columns, "{compression}");
        reader.verify(1, &Progress::default()).unwrap();
    }
}

#[test]
fn golden_files_have_everything() {
    let description = open(&std::fs::read(path(ALL, "none")).unwrap()).unwrap().describe().unwrap();
    assert_eq!((description.version, description.row_groups.len()), (buren::VERSION, 2));
    let schemes = description.columns.iter().flat_map(|column| column.schemes.iter().map(|(name, _)| *name));
    let expected = [
        "constant",
        "delta",
        "dictionary",
        "divisor",
        "floats",
        "packed",
        "plain",
        "progression",
        "run-length",
        "strings",
        "tokens",
        "two limbs",
    ];
    assert_eq!(schemes.collect::<BTreeSet<_>>(), expected.into_iter().collect());
}

#[test]
fn the_writer_s_bytes_are_pinned() {
    let bytes = write(&table(), &PARTS, options("none", None), 2).unwrap();
    assert!(bytes == std::fs::read(path(ALL, "none")).unwrap(), "the writer no longer writes it as it did");
}

#[test]
#[ignore = "writes the golden files that are missing; those that are there are never replaced"]
fn write_missing_golden_files() {
    for compression in ["none", "zstd"] {
        let path = path(ALL, compression);
        if !path.exists() {
            std::fs::write(path, write(&table(), &PARTS, options(compression, None), 2).unwrap()).unwrap();
        }
    }
    for (name, table, key) in [
        ("dates", dates(), None),
        ("image", image(), None),
        ("clustered", clustered(), Some("c3")),
        ("narrow", narrow(), None),
    ] {
        let compressions = brc_compress::COMPRESSIONS.iter().map(|compression| compression.name());
        for compression in compressions.filter(|compression| *compression == "none" || key.is_some()) {
            if !path(name, compression).exists() {
                let bytes = write(&table, &PARTS, options(compression, key), 2).unwrap();
                std::fs::write(path(name, compression), bytes).unwrap();
            }
        }
    }
}
