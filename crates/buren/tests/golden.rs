//! Files that were written once and are read for ever. A new format version adds files; none is ever replaced.

mod common;

use brc_compress::COMPRESSIONS;
use brc_core::{Order, Progress, Table};
use common::{Data, open, options, rows, scan_all, write};
use std::path::PathBuf;

/// The names of all compressions: each has a file.
fn compressions() -> impl Iterator<Item = &'static str> {
    COMPRESSIONS.iter().map(|compression| compression.name())
}

/// Three row groups: two clustered, by different columns, and one that is not; every scheme occurs.
fn table() -> Vec<Data> {
    let cities = ["Abha", "Zürich", "São Paulo", "Hamburg", "İzmir"];
    let city = |row: usize| match row {
        2600.. => format!("village {row}"),
        _ => cities[row * row % 7 % 5].to_owned(),
    };
    let shop = |row: usize| format!("shop {}", if row < 1300 { row * 31 % 17 } else { row / 900 + row / 2600 * row });
    let count = 2640;
    vec![
        Data::Strings((0..count).map(|row| city(row).into_bytes()).collect()),
        Data::Numbers((0..count).map(|row| (row * row % 7 % 5 * 300 + row * 7919 % 97) as i64 - 999).collect()),
        Data::Strings((0..count).map(|row| shop(row).into_bytes()).collect()),
        Data::Numbers((0..count).map(|row| i64::MIN >> (row % 50) | row as i64).collect()),
        Data::Numbers((0..count).map(|row| (row / 1300) as i64).collect()),
    ]
}

const PARTS: [usize; 2] = [1300, 1300];

fn path(compression: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v1-{compression}.buren"))
}

#[test]
fn golden_files_are_read() {
    let expected = rows(&table());
    for compression in compressions() {
        let reader = open(&std::fs::read(path(compression)).unwrap()).unwrap();
        // No column has nulls, and one has decimals of more digits than decimal(SCALE) says.
        let found = reader.schema().to_string();
        let expected_types = "a:string not null,b:decimal(18,1) not null,c:string not null,d:decimal(19,3) not null,e:decimal(18,4) not null";
        assert_eq!(found, expected_types);
        assert_eq!(scan_all(&reader, Order::Original).unwrap(), expected, "{compression}");
        reader.verify(1, &Progress::default()).unwrap();
    }
}

#[test]
fn golden_files_have_everything() {
    for compression in compressions() {
        let description = open(&std::fs::read(path(compression)).unwrap()).unwrap().describe().unwrap();
        let keys: Vec<_> = description.row_groups.iter().map(|row_group| row_group.key).collect();
        assert_eq!(keys, [Some(0), Some(2), None]);
        for scheme in ["constant", "plain", "packed", "run-packed"] {
            let used = |column: &buren::ColumnDescription| column.schemes.iter().any(|(name, _)| *name == scheme);
            assert!(description.columns.iter().any(used), "{scheme}");
        }
        let compressed: u64 = description.columns.iter().map(|column| column.data.compressed_blocks).sum();
        assert_eq!(compressed > 0, compression != "none");
    }
}

/// What compressors write may change with their versions, so only the uncompressed file is pinned.
#[test]
fn the_writer_s_bytes_are_pinned() {
    let bytes = write(&table(), &PARTS, options("none", None), 2).unwrap();
    assert!(bytes == std::fs::read(path("none")).unwrap(), "the writer no longer writes format version 1 as it did");
}

#[test]
#[ignore = "writes the golden files that are missing; those that are there are never replaced"]
fn write_missing_golden_files() {
    for compression in compressions().filter(|compression| !path(compression).exists()) {
        let bytes = write(&table(), &PARTS, options(compression, None), 2).unwrap();
        std::fs::write(path(compression), bytes).unwrap();
    }
}
