//! Tables with nulls of any types, in memory.

use brc_core::predicate::{Known, KnownValues, float_order};
use brc_core::{
    Batch, BatchWriter, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Field, Integers, LogicalType, PartEncoder,
    PhysicalType, Predicate, Result, ScanOptions, Scanned, Schema, Sink, Summary, Table, TimeUnit, Value, Verdict,
    float32,
};
use buren::{Reader, Writer, WriterOptions};
use std::ops::Range;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Null,
    Integer(i128),
    /// The bits of a float.
    Float(u64),
    Bytes(Vec<u8>),
}

impl Cell {
    pub fn of(value: Option<Value<'_>>) -> Self {
        match value {
            None => Self::Null,
            Some(Value::Integer(value)) => Self::Integer(value),
            Some(Value::Float(value)) => Self::Float(value.to_bits()),
            Some(Value::Bytes(value)) => Self::Bytes(value.to_vec()),
        }
    }
}

/// A table, column by column.
#[derive(Debug, Clone)]
pub struct Typed {
    pub schema: Schema,
    pub columns: Vec<Vec<Cell>>,
}

/// Every type.
pub fn all_types() -> Vec<LogicalType> {
    let mut types = vec![
        LogicalType::Bool,
        LogicalType::Int8,
        LogicalType::Int16,
        LogicalType::Int32,
        LogicalType::Int64,
        LogicalType::UInt64,
        LogicalType::Decimal { precision: 12, scale: 2 },
        LogicalType::Decimal { precision: 38, scale: 10 },
        LogicalType::Float32,
        LogicalType::Float64,
        LogicalType::Date,
        LogicalType::String,
        LogicalType::Binary,
        LogicalType::Uuid,
    ];
    for unit in TimeUnit::ALL {
        types.push(LogicalType::Time { unit });
        types.push(LogicalType::Timestamp { unit, zone: unit == TimeUnit::Millisecond });
    }
    types
}

pub fn mix(seed: u64, row: usize) -> u64 {
    let mixed = (seed ^ row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A value of a type; `spread` is the number of different values, 0 for extremes.
pub fn cell(logical_type: LogicalType, spread: u64, seed: u64, row: usize) -> Cell {
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

impl Typed {
    /// A table of these types; each column has the given percentage of nulls.
    pub fn new(types: &[(LogicalType, u64, u64)], rows: usize, seed: u64) -> Self {
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
        Self { schema, columns: types.iter().enumerate().map(column).collect() }
    }

    /// Adds the dates of three consecutive events some days apart; the last may not have happened yet.
    pub fn with_dates(mut self) -> Self {
        let rows = self.columns.first().map_or(0, Vec::len);
        let mut fields = self.schema.fields().to_vec();
        let days =
            |seed: u64, row: usize, most: u64| Cell::Integer((mix(11, row) % 2500 + mix(seed, row) % most).into());
        for (name, seed, most) in [("ordered", 0, 1), ("sent", 12, 20), ("arrived", 13, 30)] {
            let is_null = |row: usize| seed == 13 && row.is_multiple_of(9);
            fields.push(Field { nullable: seed == 13, ..Field::required(name, LogicalType::Date) });
            self.columns
                .push((0..rows).map(|row| if is_null(row) { Cell::Null } else { days(seed, row, most) }).collect());
        }
        self.schema = Schema::new(fields).unwrap();
        self
    }

    pub fn physical(&self) -> Vec<PhysicalType> {
        self.schema.fields().iter().map(|field| field.logical_type.physical()).collect()
    }

    pub fn rows(&self) -> usize {
        self.columns[0].len()
    }
}

#[derive(Default)]
struct BatchBuffers {
    validity: BitmapBuffer,
    narrow: Vec<i16>,
    long: Vec<i64>,
    wide: Vec<i128>,
    floats: Vec<f64>,
    codes: Vec<u32>,
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

/// Converts rows of columns of these types to a batch: integers in any width, strings as codes or bytes.
fn send_rows(
    schema: &[PhysicalType],
    columns: &[Vec<Cell>],
    rows: Range<usize>,
    dictionaries: &mut [Dictionary],
    sink: &mut dyn Sink,
) -> Result<()> {
    let buffers: Vec<BatchBuffers> = columns
        .iter()
        .zip(dictionaries.iter_mut())
        .map(|(column, dictionary)| {
            let mut buffers = BatchBuffers { offsets: vec![0], ..BatchBuffers::default() };
            for cell in &column[rows.clone()] {
                buffers.validity.push(*cell != Cell::Null);
                match cell {
                    Cell::Integer(value) => {
                        buffers.wide.push(*value);
                        buffers.long.extend(i64::try_from(*value));
                        buffers.narrow.extend(i16::try_from(*value));
                    }
                    Cell::Float(bits) => buffers.floats.push(f64::from_bits(*bits)),
                    Cell::Bytes(value) => {
                        let known = dictionary.iter().position(|known| known == value.as_slice());
                        buffers.codes.push(known.map_or_else(|| dictionary.push(value), |code| code as u32));
                        buffers.bytes.extend_from_slice(value);
                    }
                    // Nulls have an arbitrary value.
                    Cell::Null => {
                        let any = buffers.wide.len() as i64 * 1_000_003;
                        buffers.wide.push(i128::from(any) << 60);
                        buffers.long.push(any);
                        buffers.narrow.push(any as i16);
                        buffers.floats.push(f64::NAN);
                        buffers.codes.push(0);
                        buffers.bytes.extend_from_slice(b"?");
                    }
                }
                buffers.offsets.push(buffers.bytes.len() as i32);
            }
            buffers
        })
        .collect();
    let count = rows.len();
    let buffers: Vec<_> = buffers
        .iter()
        .zip(schema)
        .zip(dictionaries.iter())
        .map(|((buffers, physical), dictionary)| {
            let data = match physical {
                PhysicalType::Floats => Data::Floats(&buffers.floats),
                PhysicalType::Bytes if rows.start.is_multiple_of(2) && !dictionary.is_empty() => {
                    Data::Codes { codes: &buffers.codes, dictionary }
                }
                PhysicalType::Bytes => Data::Bytes(ByteStrings::new(&buffers.offsets, &buffers.bytes)),
                _ if buffers.narrow.len() == count => Data::Integers(Integers::I16(&buffers.narrow)),
                _ if buffers.long.len() == count && rows.start.is_multiple_of(3) => {
                    Data::Integers(Integers::I64(&buffers.long))
                }
                _ => Data::Integers(Integers::I128(&buffers.wide)),
            };
            Column::from(data).with_validity(buffers.validity.bitmap())
        })
        .collect();
    sink.batch(&Batch { rows: count, columns: &buffers })
}

/// Passes rows to an encoder in batches of various sizes.
pub fn encode(
    schema: &[PhysicalType],
    columns: &[Vec<Cell>],
    rows: Range<usize>,
    cut: usize,
    encoder: &mut dyn PartEncoder,
) -> Result<()> {
    let mut dictionaries = vec![Dictionary::new(); columns.len()];
    let mut start = rows.start;
    while start < rows.end {
        let end = rows.end.min(start + 1 + (start * 7 + cut) % 1000);
        send_rows(schema, columns, start..end, &mut dictionaries, encoder)?;
        start = end;
    }
    Ok(())
}

/// Writes a file. `parts` are the numbers of rows of all parts but the last.
pub fn write(table: &Typed, parts: &[usize], options: WriterOptions, cut: usize) -> Result<Vec<u8>> {
    let mut writer = Writer::new(&table.schema, options)?;
    let mut file = writer.start();
    let mut encoder = writer.encoder();
    let mut start = 0;
    for rows in parts.iter().copied().chain([usize::MAX]) {
        let end = start + rows.min(table.rows() - start);
        encode(&table.physical(), &table.columns, start..end, cut, encoder.as_mut())?;
        let mut part = encoder.finish()?;
        writer.append(&mut part)?;
        file.extend_from_slice(&part.bytes);
        start = end;
    }
    file.extend_from_slice(&writer.finish()?);
    Ok(file)
}

/// Collects rows, column by column, and summaries.
#[derive(Default)]
pub struct Collected {
    pub columns: Vec<Vec<Cell>>,
    /// The number of rows that were delivered as counts of values; these rows are repeated in `rows`.
    pub weighted: u64,
    pub summarised: u64,
}

impl Sink for Collected {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        assert!(batch.rows > 0 && batch.rows <= 4096);
        self.columns.resize(batch.columns.len(), Vec::new());
        for (cells, column) in self.columns.iter_mut().zip(batch.columns) {
            cells.extend((0..batch.rows).map(|row| Cell::of(Value::of_row(column, row))));
        }
        Ok(())
    }

    fn weighted(&mut self, batch: &Batch<'_>, weights: &[u32]) -> Result<()> {
        assert!(batch.rows > 0 && batch.rows <= 4096 && batch.rows == weights.len());
        self.columns.resize(batch.columns.len(), Vec::new());
        for (row, &weight) in weights.iter().enumerate() {
            assert!(weight > 0);
            self.weighted += u64::from(weight);
            for (cells, column) in self.columns.iter_mut().zip(batch.columns) {
                cells.extend(vec![Cell::of(Value::of_row(column, row)); weight as usize]);
            }
        }
        Ok(())
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        self.summarised += summary.rows.iter().map(|&rows| u64::from(rows)).sum::<u64>();
        Ok(())
    }
}

/// Scans all row groups with one scanner.
pub fn scan(reader: &Reader, options: &ScanOptions) -> Result<(Collected, Vec<Scanned>)> {
    let mut collected = Collected::default();
    let mut all = Vec::new();
    let mut scanner = reader.scanner(options)?;
    for index in 0.. {
        let Some(split) = reader.split(index) else { break };
        match scanner.scan(&split, &mut collected) {
            Ok(scanned) => all.push(scanned.unwrap()),
            Err(brc_core::ScanError::Other(error)) => return Err(error),
            Err(other) => panic!("{other:?}"),
        }
    }
    Ok((collected, all))
}

/// The rows that match the predicate.
pub fn matching(columns: &[Vec<Cell>], predicate: &Predicate) -> Vec<Vec<Cell>> {
    let rows = columns.first().map_or(0, Vec::len);
    let row = |row: usize| columns.iter().map(|column| column[row].clone()).collect::<Vec<_>>();
    (0..rows).map(row).filter(|row| predicate.decide(&|column| known(&row[column])) == Verdict::Always).collect()
}

/// The statistics of a row with that cell.
pub fn known(cell: &Cell) -> Known<'_> {
    let number = |value: i128| KnownValues::Numbers { min: value, max: value };
    let values = match cell {
        Cell::Null => KnownValues::None,
        Cell::Integer(value) => number(*value),
        Cell::Float(bits) => number(float_order(f64::from_bits(*bits)).into()),
        Cell::Bytes(value) => KnownValues::Strings { min: value, max: value },
    };
    Known { values, nulls: *cell == Cell::Null }
}
