//! How rows lie in memory when they are delivered: in every form that a batch may have.

use crate::{Cell, Typed};
use brc_core::{
    Batch, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, Result, Run, Sink,
};
use std::ops::Range;

/// Columns of more distinct values come as bytes alone: looking them up here is slow.
const LARGEST_DICTIONARY: usize = 200;

/// In what portions and forms rows are delivered.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// Rows of a split, at least one.
    pub split_rows: usize,
    /// Rows of a batch, at least one.
    pub batch_rows: usize,
    /// What decides the form of each column of each batch.
    pub seed: u64,
}

impl Default for Delivery {
    fn default() -> Self {
        Self { split_rows: 1000, batch_rows: 300, seed: 1 }
    }
}

impl Delivery {
    /// A number below 16 for a column of the batch that begins with a row.
    fn form(self, row: usize, column: usize) -> u8 {
        let mixed = self.seed ^ (row as u64) << 12 ^ column as u64;
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8
    }

    /// Gives the columns of a projection of some rows to a sink; a dictionary for each column of the table grows with it.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn give(
        self,
        table: &Typed,
        rows: Range<usize>,
        projection: &[usize],
        dictionaries: &mut [Dictionary],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let end = rows.end;
        for start in rows.step_by(self.batch_rows) {
            let rows = start..end.min(start + self.batch_rows);
            let mut lend = |column: usize| {
                let logical_type = table.schema.fields()[column].logical_type;
                let cells = &table.columns[column][rows.clone()];
                Lent::new(cells, logical_type, self.form(start, column), &mut dictionaries[column])
            };
            let lent: Vec<Lent> = projection.iter().map(|&column| lend(column)).collect();
            let columns = projection.iter().zip(&lent).map(|(&column, lent)| lent.column(&dictionaries[column]));
            let columns: Vec<Column<'_>> = columns.collect();
            sink.batch(&Batch { rows: rows.len(), columns: &columns })?;
        }
        Ok(())
    }
}

/// A column of a batch. Where a row is null, there is some value that means nothing.
struct Lent {
    data: LentData,
    validity: BitmapBuffer,
}

enum LentData {
    Codes(Vec<u32>),
    Runs(Vec<Run>),
    Bytes(Vec<i32>, Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    Floats(Vec<f64>),
}

impl Lent {
    fn new(cells: &[Cell], logical_type: LogicalType, form: u8, dictionary: &mut Dictionary) -> Self {
        let mut validity = BitmapBuffer::default();
        Extend::extend(&mut validity, cells.iter().map(|cell| *cell != Cell::Null));
        let data = match logical_type.physical() {
            PhysicalType::Integers => integers(cells, form),
            PhysicalType::Floats => {
                let float = |cell: &Cell| if let Cell::Float(bits) = cell { f64::from_bits(*bits) } else { 7.5 };
                LentData::Floats(cells.iter().map(float).collect())
            }
            PhysicalType::Bytes => strings(cells, form, dictionary),
        };
        Self { data, validity }
    }

    fn column<'a>(&'a self, dictionary: &'a Dictionary) -> Column<'a> {
        let data = match &self.data {
            LentData::Codes(codes) => Data::Codes { codes, dictionary },
            LentData::Runs(runs) => Data::Runs { runs, dictionary },
            LentData::Bytes(offsets, bytes) => Data::Bytes(ByteStrings::new(offsets, bytes)),
            LentData::I8(values) => Data::Integers(Integers::I8(values)),
            LentData::I16(values) => Data::Integers(Integers::I16(values)),
            LentData::I32(values) => Data::Integers(Integers::I32(values)),
            LentData::I64(values) => Data::Integers(Integers::I64(values)),
            LentData::I128(values) => Data::Integers(Integers::I128(values)),
            LentData::Floats(values) => Data::Floats(values),
        };
        Column::from(data).with_validity(self.validity.bitmap())
    }
}

/// Integers in the narrowest width that holds them, or a wider one.
fn integers(cells: &[Cell], form: u8) -> LentData {
    fn narrowed<T: TryFrom<i128>>(all: &[i128]) -> Option<Vec<T>> {
        all.iter().map(|&value| T::try_from(value).ok()).collect()
    }
    let value = |cell: &Cell| if let Cell::Integer(value) = cell { *value } else { 77 };
    let all: Vec<i128> = cells.iter().map(value).collect();
    let form = form % 5;
    let narrow = (form < 1).then(|| narrowed(&all).map(LentData::I8)).flatten();
    narrow
        .or_else(|| narrowed(&all).map(LentData::I16).filter(|_| form < 2))
        .or_else(|| narrowed(&all).map(LentData::I32).filter(|_| form < 3))
        .or_else(|| narrowed(&all).map(LentData::I64).filter(|_| form < 4))
        .unwrap_or(LentData::I128(all))
}

/// Strings as bytes, codes or runs of codes.
fn strings(cells: &[Cell], form: u8, dictionary: &mut Dictionary) -> LentData {
    let text = |cell: &'_ Cell| if let Cell::Bytes(bytes) = cell { bytes.clone() } else { b"?".to_vec() };
    if form.is_multiple_of(3) || dictionary.len() > LARGEST_DICTIONARY {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for cell in cells {
            bytes.extend(text(cell));
            offsets.push(bytes.len() as i32);
        }
        return LentData::Bytes(offsets, bytes);
    }
    let code = |cell: &Cell| {
        let text = text(cell);
        let known = dictionary.iter().position(|known| known == text);
        known.map_or_else(|| dictionary.push(&text), |code| code as u32)
    };
    let codes: Vec<u32> = cells.iter().map(code).collect();
    if form % 3 == 1 {
        return LentData::Codes(codes);
    }
    let runs = codes.chunk_by(|one, other| one == other);
    LentData::Runs(runs.map(|run| Run { code: run[0], rows: run.len() as u32 }).collect())
}
