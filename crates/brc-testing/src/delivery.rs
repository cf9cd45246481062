//! Delivers rows as batches, in every layout that a batch may have.

use crate::{Cell, Typed};
use brc_core::{
    Array, ArrayData, Batch, BitmapBuffer, Column, Conjunct, Dictionary, IntegerBuffer, LogicalType, PhysicalType,
    Result, Run, Sink, StringBuffer,
};
use std::collections::HashMap;
use std::ops::Range;

/// A column with more distinct values than this is delivered only as bytes from then on.
const LARGEST_DICTIONARY: usize = 20_000;

/// The sizes of splits and batches, the layouts of columns, and what a table can do besides delivering rows.
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
    /// Whether a scan sorts the rows of each split by their strings, unless it must keep their order, and delivers
    /// strings as runs.
    pub in_runs: bool,
    /// Whether row counts and statistics of splits are known before a scan, which delivers summaries if it may.
    pub has_statistics: bool,
    /// Whether all strings have codes from the start, and sinks test conjuncts before they receive rows.
    pub tests_rows: bool,
    /// Whether null rows have extreme values instead of ordinary ones.
    pub wild_nulls: bool,
}

/// The form that selects 64-bit integers, and codes.
const UNIFORM: u8 = 13;

/// The form that selects runs.
const RUNS: u8 = 2;

impl Default for Delivery {
    fn default() -> Self {
        Self {
            split_rows: 1000,
            batch_rows: 300,
            seed: 1,
            is_uniform: false,
            in_runs: false,
            has_statistics: false,
            tests_rows: false,
            wild_nulls: false,
        }
    }
}

impl Delivery {
    /// A pseudo-random number below 16 that selects the layout of a column of the batch that begins at `row`.
    fn form(self, row: usize, column: usize, physical: PhysicalType) -> u8 {
        if self.in_runs && physical == PhysicalType::Bytes {
            return RUNS;
        }
        if self.is_uniform {
            return UNIFORM;
        }
        let mixed = self.seed ^ (row as u64) << 12 ^ column as u64;
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8
    }
}

/// Delivers the rows of a table to a sink, such as an encoder. Strings keep their codes from batch to batch.
pub struct BatchSource<'a> {
    pub(crate) table: &'a Typed,
    pub(crate) delivery: Delivery,
    interners: Vec<Interner>,
}

impl<'a> BatchSource<'a> {
    /// A source of the rows of a table, delivered as described.
    #[must_use]
    pub fn new(table: &'a Typed, delivery: Delivery) -> Self {
        let interner = |cells: &Vec<Cell>| {
            let mut interner = Interner::default();
            if delivery.tests_rows {
                cells.iter().for_each(|cell| _ = interner.code(cell));
            }
            interner
        };
        Self { table, delivery, interners: table.columns.iter().map(interner).collect() }
    }

    /// Delivers all columns of some rows.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn give(&mut self, rows: Range<usize>, sink: &mut dyn Sink) -> Result<()> {
        let everything: Vec<usize> = (0..self.table.columns.len()).collect();
        let rows: Vec<usize> = rows.collect();
        rows.chunks(self.delivery.batch_rows).try_for_each(|rows| self.batch(rows, &everything, &[], sink))
    }

    /// Delivers the projected columns of some rows as one batch, after the tests of all conjuncts; new strings are added
    /// to the dictionaries.
    pub(crate) fn batch(
        &mut self,
        rows: &[usize],
        projection: &[usize],
        conjuncts: &[Conjunct],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let mut own = |&column: &usize| {
            let logical_type = self.table.schema.fields()[column].logical_type;
            let cells: Vec<&Cell> = rows.iter().map(|&row| &self.table.columns[column][row]).collect();
            let form = self.delivery.form(rows[0], column, logical_type.physical());
            array(&cells, logical_type, form, self.delivery.wild_nulls, &mut self.interners[column])
        };
        let arrays: Vec<Array> = projection.iter().map(&mut own).collect();
        let columns: Vec<Column<'_>> = arrays.iter().map(Array::column).collect();
        give_tested(&Batch { rows: rows.len(), columns: &columns }, projection, conjuncts, sink)
    }

    /// The code of a string of a column.
    pub(crate) fn code(&mut self, column: usize, cell: &Cell) -> u32 {
        self.interners[column].code(cell)
    }

    pub(crate) fn dictionary(&self, column: usize) -> &Dictionary {
        &self.interners[column].dictionary
    }
}

/// Delivers the rows of a batch that satisfy all conjuncts; all of its rows, untested, if there are none.
fn give_tested(batch: &Batch<'_>, projection: &[usize], conjuncts: &[Conjunct], sink: &mut dyn Sink) -> Result<()> {
    if conjuncts.is_empty() {
        return sink.batch(batch);
    }
    let mut rows = vec![u64::MAX; batch.rows.div_ceil(64)];
    if !batch.rows.is_multiple_of(64) {
        *rows.last_mut().unwrap() >>= 64 - batch.rows % 64;
    }
    let mut left = batch.rows;
    for (index, conjunct) in conjuncts.iter().enumerate() {
        let position = |column: &usize| projection.iter().position(|projected| projected == column).unwrap();
        let columns: Vec<_> = conjunct.columns.iter().map(|column| batch.columns[position(column)]).collect();
        left = sink.test(index, &Batch { rows: batch.rows, columns: &columns }, &mut rows)?;
        assert_eq!(left, rows.iter().map(|word| word.count_ones() as usize).sum());
        if left == 0 {
            return Ok(());
        }
    }
    sink.tested(batch, (left < batch.rows).then_some(&rows))
}

/// A dictionary with the code of each of its values.
#[derive(Default)]
struct Interner {
    dictionary: Dictionary,
    codes: HashMap<Vec<u8>, u32>,
}

impl Interner {
    /// The code of a string. Nulls have code 0, even if there are no strings.
    fn code(&mut self, cell: &Cell) -> u32 {
        let Cell::Bytes(value) = cell else { return 0 };
        if let Some(&code) = self.codes.get(value) {
            return code;
        }
        let code = self.dictionary.push(value);
        self.codes.insert(value.clone(), code);
        code
    }
}

/// The rows of a column. Nulls have arbitrary values.
fn array(cells: &[&Cell], logical_type: LogicalType, form: u8, wild_nulls: bool, interner: &mut Interner) -> Array {
    let mut validity = BitmapBuffer::default();
    Extend::extend(&mut validity, cells.iter().map(|cell| **cell != Cell::Null));
    let data = match logical_type.physical() {
        PhysicalType::Integers => {
            let is_wide = logical_type.bounds().is_none_or(|(_, max)| max > i64::MAX.into());
            let wild = if is_wide { i128::MIN / 3 } else { (i64::MIN / 3).into() };
            integers(cells, form, if wild_nulls { wild } else { 77 }).into()
        }
        PhysicalType::Floats => {
            let null = if wild_nulls { f64::NAN } else { 7.5 };
            let float = |cell: &&Cell| if let Cell::Float(bits) = cell { f64::from_bits(*bits) } else { null };
            cells.iter().map(float).collect::<Vec<_>>().into()
        }
        PhysicalType::Bytes => strings(cells, form, interner),
    };
    Array { data, validity }
}

/// Integers in the narrowest width that holds them, or a wider one.
fn integers(cells: &[&Cell], form: u8, null: i128) -> IntegerBuffer {
    fn narrowed<T: TryFrom<i128>>(cells: &[&Cell], null: i128) -> Option<Vec<T>> {
        // The most significant bits of a null's value that fit.
        let any = || (0..128).find_map(|shift| T::try_from(null >> shift).ok());
        let value = |cell: &&Cell| if let Cell::Integer(value) = cell { T::try_from(*value).ok() } else { any() };
        cells.iter().map(value).collect()
    }
    let form = form % 5;
    let narrow = (form < 1).then(|| narrowed(cells, null).map(IntegerBuffer::I8)).flatten();
    narrow
        .or_else(|| narrowed(cells, null).map(IntegerBuffer::I16).filter(|_| form < 2))
        .or_else(|| narrowed(cells, null).map(IntegerBuffer::I32).filter(|_| form < 3))
        .or_else(|| narrowed(cells, null).map(IntegerBuffer::I64).filter(|_| form < 4))
        .unwrap_or_else(|| IntegerBuffer::I128(narrowed(cells, null).unwrap()))
}

/// Strings as bytes, codes or runs of codes.
fn strings(cells: &[&Cell], form: u8, interner: &mut Interner) -> ArrayData {
    if form.is_multiple_of(3) || interner.dictionary.len() > LARGEST_DICTIONARY {
        let mut strings = StringBuffer::default();
        for cell in cells {
            strings.push(if let Cell::Bytes(value) = cell { value } else { b"?" }).unwrap();
        }
        return strings.into();
    }
    let codes: Vec<u32> = cells.iter().map(|cell| interner.code(cell)).collect();
    let dictionary = interner.dictionary.clone();
    if form % 3 == 1 {
        return ArrayData::Codes { codes, dictionary };
    }
    let runs = codes.chunk_by(|one, other| one == other);
    ArrayData::Runs { runs: runs.map(|run| Run { code: run[0], rows: run.len() as u32 }).collect(), dictionary }
}
