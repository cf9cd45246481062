//! Tables in memory as the expected contents of files.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod typed;

use brc_core::table::ColumnSummary;
use brc_core::{
    Batch, BatchWriter, Column, Dictionary, Integers, Order, Part, Result, ScanOptions, Scanned, Schema, Sink,
    Statistics, Summary, Table,
};
use buren::{Key, Reader, Writer, WriterOptions};
use std::io::Write;
use std::path::Path;

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Strings.
    Strings(Vec<Vec<u8>>),
    /// Numbers.
    Numbers(Vec<i64>),
}

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// A string.
    Text(Vec<u8>),
    /// A number.
    Number(i64),
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Self::Strings(values) => values.len(),
            Self::Numbers(values) => values.len(),
        }
    }

    pub fn cell(&self, row: usize) -> Cell {
        match self {
            Self::Strings(values) => Cell::Text(values[row].clone()),
            Self::Numbers(values) => Cell::Number(values[row]),
        }
    }
}

/// The rows of some columns.
pub fn rows(columns: &[Data]) -> Vec<Vec<Cell>> {
    (0..columns[0].len()).map(|row| columns.iter().map(|column| column.cell(row)).collect()).collect()
}

/// The schema of some columns, named `a`, `b` …
pub fn schema(columns: &[Data]) -> Schema {
    let column = |(index, data): (usize, &Data)| {
        let name = char::from(b'a' + index as u8);
        match data {
            Data::Strings(_) => format!("{name}:string not null"),
            Data::Numbers(_) => {
                if index == 0 {
                    format!("{name}:int64 not null")
                } else {
                    format!("{name}:decimal({index}) not null")
                }
            }
        }
    };
    Schema::parse(&columns.iter().enumerate().map(column).collect::<Vec<_>>().join(",")).unwrap()
}

/// The same columns as nullable.
pub fn nullable_schema(columns: &[Data]) -> Schema {
    let column = |(index, data): (usize, &Data)| {
        let name = char::from(b'a' + index as u8);
        match data {
            Data::Strings(_) => format!("{name}:string"),
            Data::Numbers(_) => format!("{name}:int64"),
        }
    };
    Schema::parse(&columns.iter().enumerate().map(column).collect::<Vec<_>>().join(",")).unwrap()
}

/// Options with this compression and key.
pub fn options(compression: &str, key: Option<&str>) -> WriterOptions {
    let compression = brc_compress::Compressor::parse(compression).unwrap();
    WriterOptions {
        key: key.map_or(Key::Automatic, |key| Key::Column(key.to_owned())),
        ..WriterOptions::new(compression)
    }
}

/// Writes a file. `parts` are the numbers of rows of all parts but the last. `workers` encoders take turns.
pub fn write(columns: &[Data], parts: &[usize], options: WriterOptions, workers: usize) -> Result<Vec<u8>> {
    write_as(&schema(columns), columns, parts, options, workers)
}

/// Like `write`, with another schema.
pub fn write_as(
    schema: &Schema,
    columns: &[Data],
    parts: &[usize],
    options: WriterOptions,
    workers: usize,
) -> Result<Vec<u8>> {
    let mut writer = Writer::new(schema, options)?;
    let mut encoders: Vec<_> = (0..workers).map(|_| writer.encoder()).collect();
    let mut dictionaries: Vec<Vec<Dictionary>> = vec![vec![Dictionary::new(); columns.len()]; workers];
    let mut file = writer.start();
    let all = columns[0].len();
    let mut start = 0;
    for (index, rows) in parts.iter().copied().chain([usize::MAX]).enumerate() {
        let end = start + rows.min(all - start);
        let worker = index % workers;
        let encoder = &mut encoders[worker];
        encoder.begin(index as u64);
        while start < end {
            let batch_end = end.min(start + 1 + (start * 7) % 1000);
            send_rows(columns, start..batch_end, &mut dictionaries[worker], encoder.as_mut())?;
            start = batch_end;
        }
        let mut part: Part = encoder.finish()?;
        writer.append(&mut part)?;
        file.extend_from_slice(&part.bytes);
    }
    file.extend_from_slice(&writer.finish()?);
    Ok(file)
}

/// Converts some rows to a batch; numbers alternate between the widths that hold them.
fn send_rows(
    columns: &[Data],
    rows: std::ops::Range<usize>,
    dictionaries: &mut [Dictionary],
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut codes = vec![Vec::new(); columns.len()];
    let mut narrow = vec![Vec::new(); columns.len()];
    for (index, column) in columns.iter().enumerate() {
        match column {
            Data::Strings(values) => {
                for value in &values[rows.clone()] {
                    let dictionary = &mut dictionaries[index];
                    let known = dictionary.iter().position(|known| known == value.as_slice());
                    codes[index].push(known.map_or_else(|| dictionary.push(value), |code| code as u32));
                }
            }
            Data::Numbers(values) if rows.start.is_multiple_of(2) => {
                narrow[index] = values[rows.clone()].iter().filter_map(|&value| i16::try_from(value).ok()).collect();
            }
            Data::Numbers(_) => {}
        }
    }
    let batch_columns: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| match column {
            Data::Strings(_) => Column::codes(&codes[index], &dictionaries[index]),
            Data::Numbers(_) if narrow[index].len() == rows.len() => Column::integers(Integers::I16(&narrow[index])),
            Data::Numbers(values) => Column::integers(Integers::I64(&values[rows.clone()])),
        })
        .collect();
    sink.batch(&Batch { rows: rows.len(), columns: &batch_columns })
}

/// Opens a file with these bytes.
pub fn open(bytes: &[u8]) -> Result<Reader> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Reader::open(file, Path::new("t.buren"))
}

/// Collects what a scan delivers.
#[derive(Default)]
pub struct Collected {
    /// The delivered rows.
    pub rows: Vec<Vec<Cell>>,
    /// The delivered summaries, each with its number of rows.
    pub summaries: Vec<(u64, Vec<CellSummary>)>,
    /// The number of delivered batches.
    pub batches: usize,
}

/// A column of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellSummary {
    /// All rows have this value.
    Text(Vec<u8>),
    /// The statistics of the rows.
    Numbers(Statistics),
}

impl Sink for Collected {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let mut columns = Vec::new();
        for column in batch.columns {
            columns.push(match column.data {
                brc_core::Data::Integers(values) => {
                    (0..values.len()).map(|row| Cell::Number(values.get(row) as i64)).collect::<Vec<_>>()
                }
                brc_core::Data::Bytes(strings) => strings.iter().map(|value| Cell::Text(value.to_vec())).collect(),
                _ => {
                    let mut codes = Vec::new();
                    brc_core::batch::codes_of(column, &mut codes);
                    let dictionary = column.dictionary().unwrap();
                    codes.iter().map(|&code| Cell::Text(dictionary.get(code).to_vec())).collect()
                }
            });
        }
        assert!(batch.rows > 0 && columns.iter().all(|column| column.len() == batch.rows));
        self.rows.extend((0..batch.rows).map(|row| columns.iter().map(|column| column[row].clone()).collect()));
        self.batches += 1;
        Ok(())
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        for (set, &rows) in summary.rows.iter().enumerate() {
            let column = |column: &ColumnSummary<'_>| match column {
                ColumnSummary::Codes { codes, dictionary } => CellSummary::Text(dictionary.get(codes[set]).to_vec()),
                ColumnSummary::Numbers(numbers) => {
                    assert_eq!(numbers.sets(), Some(summary.rows.len()));
                    CellSummary::Numbers(numbers.get(set, rows))
                }
            };
            self.summaries.push((rows.into(), summary.columns.iter().map(column).collect()));
        }
        Ok(())
    }
}

/// Scans all row groups with one scanner.
pub fn scan(reader: &Reader, options: &ScanOptions) -> Result<(Collected, Vec<Scanned>)> {
    let mut collected = Collected::default();
    let mut all = Vec::new();
    let mut scanner = reader.scanner(options)?;
    let mut index = 0;
    while let Some(split) = reader.split(index) {
        match scanner.scan(&split, &mut collected) {
            Ok(scanned) => all.push(scanned.unwrap()),
            Err(brc_core::ScanError::Other(error)) => return Err(error),
            Err(other) => panic!("{other:?}"),
        }
        index += 1;
    }
    Ok((collected, all))
}

/// Reads all rows of all columns.
pub fn scan_all(reader: &Reader, order: Order) -> Result<Vec<Vec<Cell>>> {
    let options = ScanOptions { order, ..ScanOptions::everything(reader.schema()) };
    Ok(scan(reader, &options)?.0.rows)
}
