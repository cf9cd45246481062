//! Damaged files end with an error or give the same answer: never a panic, never another answer.

#![allow(clippy::unwrap_used)]

mod common;

use brc_core::{Error, Order, Progress, Result};
use buren::Verified;
use common::{Cell, Data, open, options, scan_all, write};

/// A small file with all there is: two row groups, one clustered and one not, and several schemes.
fn small_table() -> Vec<Data> {
    let rows = 0..90;
    vec![
        Data::Strings(
            rows.clone().map(|row| format!("k{}", if row < 70 { row % 3 } else { row }).into_bytes()).collect(),
        ),
        Data::Numbers(rows.clone().map(|row| row * 7919 % 2003 - 999).collect()),
        Data::Strings(rows.clone().map(|row| format!("v{}", row * row % 11).into_bytes()).collect()),
        Data::Numbers(rows.map(|_| 4).collect()),
    ]
}

fn small_file(compression: &str) -> Vec<u8> {
    write(&small_table(), &[70], options(compression, None), 1).unwrap()
}

/// What a careful user can learn from a file: its rows in both orders, and that it is sound.
type Answer = (Vec<Vec<Cell>>, Vec<Vec<Cell>>, Verified);

fn answer(bytes: &[u8]) -> Result<Answer> {
    let reader = open(bytes)?;
    let rows = (scan_all(&reader, Order::Original)?, scan_all(&reader, Order::Any)?);
    reader.describe()?;
    Ok((rows.0, rows.1, reader.verify(2, &Progress::default())?))
}

#[test]
fn any_damaged_byte_is_found() {
    for compression in ["none", "snappy", "lz4"] {
        let bytes = small_file(compression);
        let sound = answer(&bytes).unwrap();
        assert_eq!(sound.2.bytes, bytes.len() as u64);
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff, 0x10] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                if let Ok(found) = answer(&damaged) {
                    assert_eq!(found, sound, "{compression}: byte {at} flipped by {flip:#x}");
                }
                let error = open(&damaged).and_then(|reader| reader.verify(1, &Progress::default())).unwrap_err();
                assert!(matches!(error, Error::Corrupt { .. } | Error::Unsupported { .. }), "{error}");
            }
        }
    }
}

#[test]
fn any_truncation_is_found() {
    let bytes = small_file("none");
    for length in 0..bytes.len() {
        let error = answer(&bytes[..length]).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{length}: {error}");
    }
    let longer = [bytes.as_slice(), b"\n"].concat();
    assert!(matches!(answer(&longer), Err(Error::Corrupt { .. })));
}

#[test]
fn damage_is_named() {
    let bytes = small_file("none");
    let message = |at: usize| {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        answer(&damaged).unwrap_err().to_string()
    };
    let mismatch = "the checksum does not match";
    assert_eq!(message(16), format!("t.buren: corrupt file: row group 0, column 'a', block 0: {mismatch}"));
    assert_eq!(message(bytes.len() - 33), format!("t.buren: corrupt file: footer: {mismatch}"));
    assert!(message(bytes.len() - 1).starts_with("t.buren: corrupt file: trailer: missing or damaged"));
    assert!(message(1).starts_with("t.buren: corrupt file: header: this is not a buren file"));
}

#[test]
fn newer_versions_are_told_apart_from_damage() {
    let mut bytes = small_file("none");
    bytes[8] = 3;
    assert!(matches!(answer(&bytes), Err(Error::Corrupt { .. })), "the trailer still says 1");
    let trailer = bytes.len() - 32;
    bytes[trailer + 12] = 3;
    reseal(&mut bytes);
    match answer(&bytes) {
        Err(Error::Unsupported { reason, .. }) => {
            assert_eq!(reason, "buren format version 3; this build reads up to version 2");
        }
        other => panic!("{other:?}"),
    }
}

/// Makes the checksums of footer and trailer right again.
fn reseal(bytes: &mut [u8]) {
    let end = bytes.len() - 32;
    let footer = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
    let checksum = crc_fast::crc32_iscsi(&bytes[end - footer..end]);
    bytes[end + 8..end + 12].copy_from_slice(&checksum.to_le_bytes());
    let checksum = crc_fast::crc32_iscsi(&bytes[end..end + 20]);
    bytes[end + 20..end + 24].copy_from_slice(&checksum.to_le_bytes());
}

/// The most memory, in KiB, that this process has ever asked for.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmPeak:")).unwrap_or("VmPeak: 0");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// A forged footer has the right checksum, so only its contents can give it away. Whatever they are, there is no panic
/// and no allocation out of proportion.
#[test]
fn forged_footers_are_survived() {
    for compression in ["none", "lz4"] {
        let bytes = small_file(compression);
        let end = bytes.len() - 32;
        let footer = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
        let before = peak_memory();
        for word in (end - footer..end).step_by(4) {
            let old = u32::from_le_bytes(bytes[word..word + 4].try_into().unwrap());
            for forged in
                [0, 1, old ^ 1, old << 1, old.wrapping_add(1), old.wrapping_sub(1), 0x7fff_ffff, u32::MAX, 1 << 26]
            {
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

/// A forged block has the right checksum, too. Blocks lie one behind the other and their checksums stand in the footer,
/// so the block of a byte is found by the checksum that fits the bytes around it.
#[test]
fn forged_blocks_are_survived() {
    let bytes = small_file("none");
    let reader = open(&bytes).unwrap();
    let end = bytes.len() - 32 - reader.describe().unwrap().footer_bytes as usize;
    let mut blocks = 0;
    let mut start = 16;
    while start < end {
        let fits = |stop: &usize| {
            let checksum = crc_fast::crc32_iscsi(&bytes[start..*stop]).to_le_bytes();
            bytes[end..].windows(4).position(|word| word == checksum).map(|word| (*stop, end + word))
        };
        let (stop, word) = (start + 1..=end).collect::<Vec<_>>().iter().find_map(fits).unwrap();
        for at in start..stop {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let checksum = crc_fast::crc32_iscsi(&damaged[start..stop]);
                damaged[word..word + 4].copy_from_slice(&checksum.to_le_bytes());
                reseal(&mut damaged);
                let _ = answer(&damaged);
            }
        }
        blocks += 1;
        start = stop;
    }
    assert_eq!(blocks, reader.verify(1, &Progress::default()).unwrap().blocks);
}

#[test]
fn an_empty_file_is_no_table() {
    let error = open(b"").err().unwrap();
    assert!(matches!(error, Error::Corrupt { .. }));
}
