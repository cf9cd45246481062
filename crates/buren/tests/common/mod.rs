//! Random tables, and files of them in memory.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use brc_core::{
    BatchWriter, Field, LogicalType, PartEncoder, Predicate, PruneResult, Result, ScanOptions, Scanned, Schema, float32,
};
use brc_testing::{BatchSource, Cell, Collector, Delivery, Typed, collect};
use buren::{Key, Reader, Writer, WriterOptions};
use std::io::Write;
use std::ops::Range;
use std::path::Path;

pub fn mix(seed: u64, row: usize) -> u64 {
    let mixed = (seed ^ row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A value of a type; `spread` is the number of different values, 0 for extremes.
fn cell(logical_type: LogicalType, spread: u64, seed: u64, row: usize) -> Cell {
    let random = mix(seed, row) >> 8;
    match logical_type.bounds() {
        Some((min, max)) => Cell::Integer(match spread {
            0 => [min, max, 0, min / 3, max / 7][random as usize % 5],
            1 => 1.clamp(min, max),
            2 => (row as i128 * 3).clamp(min, max),
            spread => (i128::from(random % spread) - i128::from(spread / 2)).clamp(min, max),
        }),
        None if logical_type == LogicalType::Float32 => {
            let value = match spread {
                0 => [f32::NAN, -f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MIN, f32::MIN_POSITIVE]
                    [random as usize % 8],
                1 => 1.1,
                spread => (random % spread) as f32 / 100.0,
            };
            let odd = if spread == 0 { random as u32 / 8 % 2 } else { 0 };
            Cell::Float(float32::widen(f32::from_bits(value.to_bits().wrapping_add(odd))).to_bits())
        }
        None if logical_type == LogicalType::Float64 => Cell::Float(match spread {
            0 => [f64::NAN, -f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN, f64::MIN_POSITIVE]
                [random as usize % 8]
                .to_bits()
                .wrapping_add(random / 8 % 2),
            1 => 1.5f64.to_bits(),
            spread => ((random % spread) as f64 / 100.0).to_bits(),
        }),
        None => Cell::Bytes(match spread {
            0 => [&b""[..], b"\0", b"\xff\xfe", &[0xff; 100], &[b'x'; 300], b"a;\"\r\n"][random as usize % 6].to_vec(),
            1 => b"same".to_vec(),
            2 => row.to_string().into_bytes(),
            spread => format!("http://example.org/{}/{}", random % spread, random % spread % 7).into_bytes(),
        }),
    }
}

/// A table of these types; each column has the given percentage of nulls.
pub fn random_table(types: &[(LogicalType, u64, u64)], rows: usize, seed: u64) -> Typed {
    let fields = types.iter().enumerate().map(|(index, (logical_type, _, nulls))| Field {
        name: format!("c{index}"),
        logical_type: *logical_type,
        nullable: *nulls > 0,
    });
    let column = |(index, (logical_type, spread, nulls)): (usize, &(LogicalType, u64, u64))| {
        let seed = seed.wrapping_add(index as u64 * 77);
        let value = |row| match mix(seed ^ 0x5555, row) % 100 < *nulls {
            true => Cell::Null,
            false => cell(*logical_type, *spread, seed, row),
        };
        (0..rows).map(value).collect()
    };
    let schema = Schema::new(fields.collect()).unwrap();
    Typed { schema, columns: types.iter().enumerate().map(column).collect() }
}

/// Adds the dates of three consecutive events some days apart; the last may not have happened yet.
pub fn with_dates(mut table: Typed) -> Typed {
    let rows = table.rows();
    let mut fields = table.schema.fields().to_vec();
    let days = |seed: u64, row: usize, most: u64| Cell::Integer((mix(11, row) % 2500 + mix(seed, row) % most).into());
    for (name, seed, most) in [("ordered", 0, 1), ("sent", 12, 20), ("arrived", 13, 30)] {
        let is_null = |row: usize| seed == 13 && row.is_multiple_of(9);
        fields.push(Field { nullable: seed == 13, ..Field::required(name, LogicalType::Date) });
        table
            .columns
            .push((0..rows).map(|row| if is_null(row) { Cell::Null } else { days(seed, row, most) }).collect());
    }
    table.schema = Schema::new(fields).unwrap();
    table
}

/// Options with this compression and key.
pub fn options(compression: &str, key: Option<&str>) -> WriterOptions {
    let compression = brc_compress::Compressor::parse(compression).unwrap();
    WriterOptions {
        key: key.map_or(Key::Automatic, |key| Key::Column(key.to_owned())),
        ..WriterOptions::new(compression)
    }
}

/// A source of batches whose layouts depend on `cut`.
pub fn source(table: &Typed, cut: usize) -> BatchSource<'_> {
    let delivery = Delivery { batch_rows: usize::MAX, seed: cut as u64, wild_nulls: true, ..Delivery::default() };
    BatchSource::new(table, delivery)
}

/// Passes rows to an encoder in batches whose sizes depend on `cut`.
pub fn encode(
    source: &mut BatchSource<'_>,
    rows: Range<usize>,
    cut: usize,
    encoder: &mut dyn PartEncoder,
) -> Result<()> {
    let mut start = rows.start;
    while start < rows.end {
        let end = rows.end.min(start + 1 + (start * 7 + cut) % 1000);
        source.give(start..end, encoder)?;
        start = end;
    }
    Ok(())
}

/// Writes a file. `parts` are the numbers of rows of all parts but the last.
pub fn write(table: &Typed, parts: &[usize], options: WriterOptions, cut: usize) -> Result<Vec<u8>> {
    write_by(table, parts, options, cut, 1)
}

/// Like `write`, with several encoders that take turns. Parts have dictionaries of their own if `cut` is odd.
pub fn write_by(table: &Typed, parts: &[usize], options: WriterOptions, cut: usize, workers: usize) -> Result<Vec<u8>> {
    let mut writer = Writer::new(&table.schema, options)?;
    let mut encoders: Vec<_> = (0..workers).map(|_| (writer.encoder(), source(table, cut))).collect();
    let mut file = writer.start();
    let mut start = 0;
    for (index, rows) in parts.iter().copied().chain([usize::MAX]).enumerate() {
        let end = start + rows.min(table.rows() - start);
        let (encoder, batches) = &mut encoders[index % workers];
        if !cut.is_multiple_of(2) {
            *batches = source(table, cut);
        }
        encoder.begin(index as u64);
        encode(batches, start..end, cut, encoder.as_mut())?;
        let mut part = encoder.finish()?;
        writer.append(&mut part)?;
        file.extend_from_slice(&part.bytes);
        start = end;
    }
    file.extend_from_slice(&writer.finish()?);
    Ok(file)
}

/// Opens a file with these bytes.
pub fn open(bytes: &[u8]) -> Result<Reader> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Reader::open(file, Path::new("t.buren"))
}

/// Scans all row groups with one scanner.
pub fn scan(reader: &Reader, options: &ScanOptions) -> Result<(Collector, Vec<Scanned>)> {
    let mut collected = Collector::new(options.projection.len());
    let mut all = Vec::new();
    for (rows, scanned) in collect(reader, options, 1)? {
        collected.append(rows);
        all.push(scanned);
    }
    assert!(collected.batches.iter().all(|rows| (1..=4096).contains(rows)), "{:?}", collected.batches);
    Ok((collected, all))
}

/// The rows of some columns.
pub fn rows(columns: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
}

/// The rows that match the predicate.
pub fn matching(columns: &[Vec<Cell>], predicate: &Predicate) -> Vec<Vec<Cell>> {
    rows(columns).into_iter().filter(|row| holds(predicate, row)).collect()
}

pub fn holds(predicate: &Predicate, row: &[Cell]) -> bool {
    predicate.decide(&|column: usize| row[column].statistics()) == PruneResult::Always
}
