//! A test suite for every encoding with every compression: tables round-trip, queries give the same result, and damage
//! is detected.
//!
//! Encodings and compressions come from their registries, so a new one is tested automatically.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

mod cell;
mod tables;
mod typed;

use brc_core::Error;
use cell::{Cell, cells, options};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tables::{Source, tables};

/// Runs `check` for every cell, on all processors.
fn every_cell(check: impl Fn(&Cell) + Sync) {
    let cells = cells();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(cell) = cells.get(next.fetch_add(1, Relaxed)) {
                    check(cell);
                }
            });
        }
    });
}

#[test]
fn there_are_cells() {
    let cells = cells();
    for compression in brc_compress::COMPRESSIONS {
        assert!(cells.iter().any(|cell| cell.compression.compression.name() == compression.name()));
    }
    for encoding in cell::encodings() {
        let with_it = cells.iter().filter(|cell| cell.encoding.name() == encoding.name());
        assert!(with_it.count() >= 3, "{} is hardly ever compressed", encoding.name());
    }
}

#[test]
fn tables_round_trip() {
    let tables = tables();
    every_cell(|cell| {
        for source in &tables {
            let file = cell.encode(source, 1);
            let other = cell.encode(source, 3);
            assert_eq!(file.bytes(), other.bytes(), "{cell}, {}: the bytes depend on the threads", source.name);
            assert_eq!(file.schema(source), source.schema, "{cell}, {}", source.name);
            for rows in [file.rows(source, 1), file.rows(source, 3), file.rows_of_stream(source, 2)] {
                assert!(rows.unwrap() == source.rows(), "{cell}, {}: the rows differ", source.name);
            }
            let text = cell::File::new("text.csv".into(), file.to_text(source));
            assert!(text.rows(source, 2).unwrap() == source.rows(), "{cell}, {}: the text differs", source.name);
            assert_eq!(
                file.verify(&options(&source.schema, None)).unwrap(),
                source.rows().len() as u64,
                "{cell}, {}",
                source.name
            );
        }
    });
}

#[test]
fn every_cell_gives_the_same_results() {
    let tables = tables();
    every_cell(|cell| {
        for source in &tables {
            let file = cell.encode(source, 2);
            for query in &source.queries {
                let expected = source.answer(query);
                for threads in [1, 3] {
                    let answer = file.answer(source, query, threads);
                    assert_eq!(answer.as_ref(), Ok(&expected), "{cell}, {}: {query:?}", source.name);
                }
            }
        }
    });
}

#[test]
fn any_cell_converts_to_any_other() {
    let source = &tables::several_columns();
    let cells = cells();
    // A ring through all cells in both directions reads and writes each one.
    let mut file = cells[0].encode(source, 2);
    for cell in cells.iter().skip(1).chain(&cells[..1]) {
        file = cell.encode_file(&file, source, 2);
    }
    // Row groups depend on the size of the input, so the bytes may differ from those of the first file.
    assert!(file.rows(source, 1).unwrap() == source.rows());
}

/// A damaged file gives an error or the same rows, never other rows, a panic or excessive memory use.
///
/// The only exception is plain text, which has no checksum: a changed digit gives a different number.
#[test]
fn damage_is_detected() {
    let source = &tables::small();
    every_cell(|cell| {
        let file = cell.encode(source, 1);
        let sound = file.bytes();
        for at in 0..sound.len() {
            let mut bytes = sound.to_vec();
            bytes[at] ^= 1 << (at % 8);
            assert_detected(cell, source, &bytes, &format!("bit {} of byte {at} flipped", at % 8));
            assert_detected(cell, source, &sound[..at], &format!("cut off at byte {at}"));
        }
        let mut longer = sound.to_vec();
        longer.extend_from_slice(b"more");
        assert_detected(cell, source, &longer, "something appended");
    });
}

/// `verify` finds every flipped bit, whether or not a row depends on it.
///
/// Exceptions are text, which has no checksums, and files compressed as a whole: the gzip header, for example, has a
/// time and a system id that may be anything.
#[test]
fn verify_checks_every_bit() {
    let sources = [tables::small(), tables::ends_of_the_ranges(), tables::empty()];
    let undetected = |cell: &Cell, source: &Source| {
        let sound = cell.encode(source, 1).bytes().to_vec();
        let mut undetected = Vec::new();
        for bit in 0..sound.len() * 8 {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if cell.file_of(&bytes).verify(&options(&source.schema, None)).is_ok() {
                undetected.push((bit / 8, bit % 8));
            }
        }
        undetected
    };
    every_cell(|cell| {
        if cell.compression.is_none() && cell.encoding.detects_damage() {
            for source in &sources {
                assert_eq!(undetected(cell, source), [], "{cell}, {}: not detected", source.name);
            }
        }
    });
}

fn assert_detected(cell: &Cell, source: &Source, bytes: &[u8], damage: &str) {
    let plain_text = cell.is_plain_text();
    match cell.file_of(bytes).rows(source, 1) {
        Ok(rows) => assert!(plain_text || rows == source.rows(), "{cell}: {damage}: other rows, and no error"),
        Err(Error::Io { source: error, .. }) => panic!("{cell}: {damage}: taken for an error of the system: {error}"),
        Err(_) => {}
    }
}
