//! Damaged files yield an error or the correct answer: never a panic, never a wrong answer.

#![allow(clippy::unwrap_used)]

mod common;

use brc_core::predicate::ValueBounds;
use brc_core::{Error, LogicalType, Progress, Result, ScanOptions, Table};
use brc_testing::Cell;
use buren::Verified;
use common::{open, options, random_table, scan, with_dates, write};

/// Every layout, with and without nulls, in two row groups.
fn small_file(compression: &str, key: Option<&str>) -> Vec<u8> {
    let decimal = LogicalType::Decimal { precision: 38, scale: 3 };
    let types = [
        (LogicalType::Int32, 300, 0),
        (LogicalType::Timestamp { unit: brc_core::TimeUnit::Second, zone: true }, 0, 30),
        (decimal, 0, 0),
        (LogicalType::Float64, 300, 20),
        (LogicalType::String, 5, 10),
        (LogicalType::Binary, 2, 0),
        (LogicalType::String, 1 << 40, 20),
        (LogicalType::Bool, 0, 100),
        (LogicalType::Float32, 300, 20),
        (LogicalType::Uuid, 0, 10),
    ];
    write(&with_dates(random_table(&types, 90, 3)), &[70], options(compression, key), 0).unwrap()
}

/// Everything a cautious reader gets from a file: its rows and a verification.
fn answer(bytes: &[u8]) -> Result<(Vec<Vec<Cell>>, Verified)> {
    let reader = open(bytes)?;
    let rows = scan(&reader, &ScanOptions::everything(reader.schema()))?.0.columns;
    reader.describe()?;
    Ok((rows, reader.verify(2, &Progress::default())?))
}

#[test]
fn any_damaged_byte_is_found() {
    for (compression, key) in [("none", None), ("lz4", None), ("none", Some("c4"))] {
        let bytes = small_file(compression, key);
        let sound = answer(&bytes).unwrap();
        assert_eq!(sound.1.bytes, bytes.len() as u64);
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let error = answer(&damaged).unwrap_err();
                assert!(matches!(error, Error::Corrupt { .. } | Error::Unsupported { .. }), "byte {at}: {error}");
            }
        }
    }
}

#[test]
fn any_truncation_is_found() {
    let bytes = small_file("none", None);
    for length in 0..bytes.len() {
        let error = answer(&bytes[..length]).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{length}: {error}");
    }
    let longer = [bytes.as_slice(), b"\n"].concat();
    assert!(matches!(answer(&longer), Err(Error::Corrupt { .. })));
}

#[test]
fn damage_is_located() {
    let mut bytes = small_file("none", None);
    bytes[17] ^= 4;
    let message = answer(&bytes).unwrap_err().to_string();
    assert!(message.starts_with("t.buren: corrupt file: row group 0, column 'c0', "), "{message}");
}

#[test]
fn newer_versions_are_distinguished_from_damage() {
    let mut bytes = small_file("none", None);
    bytes[8] = 2;
    assert!(matches!(answer(&bytes), Err(Error::Corrupt { .. })), "the trailer still says 1");
    let trailer = bytes.len() - 32;
    bytes[trailer + 12] = 2;
    reseal(&mut bytes);
    match answer(&bytes) {
        Err(Error::Unsupported { reason, .. }) => {
            assert_eq!(reason, "buren format version 2; this build reads up to version 1");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a file of a newer version was read"),
    }
}

#[test]
fn an_empty_file_is_no_table() {
    let error = open(b"").err().unwrap();
    assert!(matches!(error, Error::Corrupt { .. }));
}

/// Recomputes the checksums of footer and trailer.
fn reseal(bytes: &mut [u8]) {
    let end = bytes.len() - 32;
    let footer = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
    let checksum = crc_fast::crc32_iscsi(&bytes[end - footer..end]);
    bytes[end + 8..end + 12].copy_from_slice(&checksum.to_le_bytes());
    let checksum = crc_fast::crc32_iscsi(&bytes[end..end + 20]);
    bytes[end + 20..end + 24].copy_from_slice(&checksum.to_le_bytes());
}

/// The peak memory of this process in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmPeak:")).unwrap_or("VmPeak: 0");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// A forged footer has a valid checksum, so only its contents can be detected as invalid.
#[test]
fn forged_footers_are_refused_safely() {
    for compression in ["none", "lz4"] {
        let bytes = small_file(compression, None);
        let end = bytes.len() - 32;
        let footer = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
        let before = peak_memory();
        for word in (end - footer..end).step_by(4) {
            let old = u32::from_le_bytes(bytes[word..word + 4].try_into().unwrap());
            for forged in [0, old ^ 1, old << 1, old.wrapping_add(1), 0x7fff_ffff, u32::MAX, 1 << 26] {
                let mut damaged = bytes.clone();
                damaged[word..word + 4].copy_from_slice(&forged.to_le_bytes());
                reseal(&mut damaged);
                let _ = answer(&damaged);
            }
        }
        let grown = peak_memory() - before;
        assert!(grown < 512 << 10, "{grown} KiB for a file of {} bytes", bytes.len());
    }
}

/// Chunks are checked when their column is used; verification checks all.
#[test]
fn forged_columns_leave_others_readable() {
    for key in [None, Some("c4")] {
        let bytes = small_file("none", key);
        let sound = open(&bytes).unwrap();
        let columns = 0..sound.schema().fields().len();
        let only = |column: usize| ScanOptions { projection: vec![column], ..ScanOptions::everything(sound.schema()) };
        let end = bytes.len() - 32;
        let start = end - sound.describe().unwrap().footer_bytes as usize;
        let mut survived = 0;
        for word in (start..end).step_by(4) {
            let mut forged = bytes.clone();
            forged[word..word + 4].copy_from_slice(&[0xff; 4]);
            reseal(&mut forged);
            let Ok(reader) = open(&forged) else { continue };
            let refused = |column: &usize| reader.scanner(&only(*column)).is_err();
            let refused: Vec<usize> = columns.clone().filter(refused).collect();
            for &column in &refused {
                assert!(matches!(reader.statistics(0, column).values, ValueBounds::Unknown), "word {word}");
                let error = reader.verify(1, &Progress::default()).unwrap_err();
                assert!(matches!(error, Error::Corrupt { .. } | Error::Unsupported { .. }), "word {word}: {error}");
                assert!(reader.describe().is_err(), "word {word}");
            }
            survived += usize::from(refused.len() == 1);
        }
        assert!(survived > 100, "{survived}");
    }
}

/// Queries cannot read the internal columns after the table's own.
#[test]
fn the_order_of_rows_is_no_column() {
    let bytes = small_file("none", Some("c4"));
    let reader = open(&bytes).unwrap();
    let columns = reader.schema().fields().len();
    for column in columns..columns + 2 {
        let options = ScanOptions { projection: vec![column], ..ScanOptions::everything(reader.schema()) };
        assert!(matches!(reader.scanner(&options), Err(Error::Usage(_))));
    }
    assert!(matches!(reader.statistics(0, columns + 1).values, ValueBounds::Unknown));
}

/// Forged blocks have a valid checksum, too. Blocks are contiguous and their checksums are in the footer, so the block
/// of a byte is the range whose checksum is listed there.
#[test]
fn forged_blocks_are_refused_safely() {
    let bytes = small_file("none", None);
    let reader = open(&bytes).unwrap();
    let end = bytes.len() - 32 - reader.describe().unwrap().footer_bytes as usize;
    let (mut blocks, mut unknown_codes) = (0, 0);
    let mut start = 16;
    while start < end {
        let fits = |stop: usize| {
            let checksum = crc_fast::crc32_iscsi(&bytes[start..stop]).to_le_bytes();
            bytes[end..].windows(4).position(|word| word == checksum).map(|word| (stop, end + word))
        };
        // The longest match, because a block may start like a shorter one.
        let (stop, word) = (start + 1..=end).rev().find_map(fits).unwrap();
        for at in start..stop {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let checksum = crc_fast::crc32_iscsi(&damaged[start..stop]);
                damaged[word..word + 4].copy_from_slice(&checksum.to_le_bytes());
                reseal(&mut damaged);
                let is_unknown = |error: &Error| error.to_string().contains("a code is not in the dictionary");
                unknown_codes += usize::from(answer(&damaged).as_ref().err().is_some_and(is_unknown));
            }
        }
        blocks += 1;
        start = stop;
    }
    assert!(unknown_codes > 50, "{unknown_codes}");
    assert_eq!(blocks, reader.verify(1, &Progress::default()).unwrap().blocks);
}
