//! Delivers rows as batches, in every layout that a batch may have.

use crate::{Cell, Typed};
use brc_core::{
    Batch, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, Result, Run, Sink,
};
use std::collections::HashMap;
use std::ops::Range;

/// A column with more distinct values than this is delivered only as bytes from then on.
const LARGEST_DICTIONARY: usize = 20_000;

/// The sizes of splits and batches, and the layouts of columns.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// Rows per split, at least one.
    pub split_rows: usize,
    /// Rows per batch, at least one.
    pub batch_rows: usize,
    /// Determines the layout of each column of each batch.
    pub seed: u64,
    /// Whether all batches have the same layout instead: integers of 64 bits where they fit, and strings as codes.
    pub is_uniform: bool,
}

/// The form that selects 64-bit integers, and codes.
const UNIFORM: u8 = 13;

impl Default for Delivery {
    fn default() -> Self {
        Self { split_rows: 1000, batch_rows: 300, seed: 1, is_uniform: false }
    }
}

impl Delivery {
    /// A pseudo-random number below 16 that selects the layout of a column of the batch that begins at `row`.
    fn form(self, row: usize, column: usize) -> u8 {
        if self.is_uniform {
            return UNIFORM;
        }
        let mixed = self.seed ^ (row as u64) << 12 ^ column as u64;
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8
    }

    /// Delivers the projected columns of some rows; new strings are added to the dictionaries.
    pub(crate) fn deliver(
        self,
        table: &Typed,
        rows: Range<usize>,
        projection: &[usize],
        dictionaries: &mut Dictionaries,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let end = rows.end;
        for start in rows.step_by(self.batch_rows) {
            let rows = start..end.min(start.saturating_add(self.batch_rows));
            let mut own = |&column: &usize| {
                let logical_type = table.schema.fields()[column].logical_type;
                let cells = &table.columns[column][rows.clone()];
                OwnedColumn::new(cells, logical_type, self.form(start, column), &mut dictionaries.0[column])
            };
            let owned: Vec<OwnedColumn> = projection.iter().map(&mut own).collect();
            let columns = projection.iter().zip(&owned).map(|(&column, owned)| owned.column(&dictionaries.0[column]));
            let columns: Vec<Column<'_>> = columns.collect();
            sink.batch(&Batch { rows: rows.len(), columns: &columns })?;
        }
        Ok(())
    }
}

/// A dictionary for each column of a table.
pub(crate) struct Dictionaries(Vec<Interner>);

impl Dictionaries {
    pub(crate) fn new(table: &Typed) -> Self {
        Self(table.columns.iter().map(|_| Interner::default()).collect())
    }
}

/// A dictionary with the code of each of its values.
#[derive(Default)]
struct Interner {
    dictionary: Dictionary,
    codes: HashMap<Vec<u8>, u32>,
}

impl Interner {
    fn code(&mut self, value: &[u8]) -> u32 {
        if let Some(&code) = self.codes.get(value) {
            return code;
        }
        let code = self.dictionary.push(value);
        self.codes.insert(value.to_vec(), code);
        code
    }
}

/// A column of a batch. Nulls have arbitrary values.
struct OwnedColumn {
    data: OwnedData,
    validity: BitmapBuffer,
}

enum OwnedData {
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

impl OwnedColumn {
    fn new(cells: &[Cell], logical_type: LogicalType, form: u8, interner: &mut Interner) -> Self {
        let mut validity = BitmapBuffer::default();
        Extend::extend(&mut validity, cells.iter().map(|cell| *cell != Cell::Null));
        let data = match logical_type.physical() {
            PhysicalType::Integers => integers(cells, form),
            PhysicalType::Floats => {
                let float = |cell: &Cell| if let Cell::Float(bits) = cell { f64::from_bits(*bits) } else { 7.5 };
                OwnedData::Floats(cells.iter().map(float).collect())
            }
            PhysicalType::Bytes => strings(cells, form, interner),
        };
        Self { data, validity }
    }

    fn column<'a>(&'a self, Interner { dictionary, .. }: &'a Interner) -> Column<'a> {
        let data = match &self.data {
            OwnedData::Codes(codes) => Data::Codes { codes, dictionary },
            OwnedData::Runs(runs) => Data::Runs { runs, dictionary },
            OwnedData::Bytes(offsets, bytes) => Data::Bytes(ByteStrings::new(offsets, bytes)),
            OwnedData::I8(values) => Data::Integers(Integers::I8(values)),
            OwnedData::I16(values) => Data::Integers(Integers::I16(values)),
            OwnedData::I32(values) => Data::Integers(Integers::I32(values)),
            OwnedData::I64(values) => Data::Integers(Integers::I64(values)),
            OwnedData::I128(values) => Data::Integers(Integers::I128(values)),
            OwnedData::Floats(values) => Data::Floats(values),
        };
        Column::from(data).with_validity(self.validity.bitmap())
    }
}

/// Integers in the narrowest width that holds them, or a wider one.
fn integers(cells: &[Cell], form: u8) -> OwnedData {
    fn narrowed<T: TryFrom<i128>>(all: &[i128]) -> Option<Vec<T>> {
        all.iter().map(|&value| T::try_from(value).ok()).collect()
    }
    let value = |cell: &Cell| if let Cell::Integer(value) = cell { *value } else { 77 };
    let all: Vec<i128> = cells.iter().map(value).collect();
    let form = form % 5;
    let narrow = (form < 1).then(|| narrowed(&all).map(OwnedData::I8)).flatten();
    narrow
        .or_else(|| narrowed(&all).map(OwnedData::I16).filter(|_| form < 2))
        .or_else(|| narrowed(&all).map(OwnedData::I32).filter(|_| form < 3))
        .or_else(|| narrowed(&all).map(OwnedData::I64).filter(|_| form < 4))
        .unwrap_or(OwnedData::I128(all))
}

/// Strings as bytes, codes or runs of codes.
fn strings(cells: &[Cell], form: u8, interner: &mut Interner) -> OwnedData {
    fn text(cell: &Cell) -> &[u8] {
        if let Cell::Bytes(bytes) = cell { bytes } else { b"?" }
    }
    if form.is_multiple_of(3) || interner.dictionary.len() > LARGEST_DICTIONARY {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for cell in cells {
            bytes.extend(text(cell));
            offsets.push(bytes.len() as i32);
        }
        return OwnedData::Bytes(offsets, bytes);
    }
    let codes: Vec<u32> = cells.iter().map(|cell| interner.code(text(cell))).collect();
    if form % 3 == 1 {
        return OwnedData::Codes(codes);
    }
    let runs = codes.chunk_by(|one, other| one == other);
    OwnedData::Runs(runs.map(|run| Run { code: run[0], rows: run.len() as u32 }).collect())
}
