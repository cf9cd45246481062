//! Translates the columns of the current table to those of the union.

use super::codes::SharedCodes;
use super::columns::Origin;
use super::constants::{Constant, ConstantColumn};
use super::conversion::{Conversion, ConvertedValues, Misfit};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{Batch, Bitmap, Column, Data, Field, Integers, PhysicalType, Run};

/// Translates the columns of the current table to those of the union.
pub(super) struct Translation<'a> {
    /// The position of the current table.
    pub(super) table: usize,
    /// The columns of the projection.
    pub(super) columns: Vec<TranslatedColumn<'a>>,
    /// For each conjunct, the positions of its columns in `columns`.
    pub(super) tested: Vec<Vec<usize>>,
    pub(super) constants: &'a [ConstantColumn],
    pub(super) zeros: Zeros,
}

/// Validity and values of null rows.
#[derive(Default)]
pub(super) struct Zeros {
    bits: Vec<u8>,
    integers: Vec<i8>,
    floats: Vec<f64>,
    codes: Vec<u32>,
}

impl Zeros {
    pub(super) fn make(&mut self, rows: usize) {
        if self.integers.len() < rows {
            self.bits.resize(rows.div_ceil(8), 0);
            self.integers.resize(rows, 0);
            self.floats.resize(rows, 0.0);
            self.codes.resize(rows, 0);
        }
    }
}

/// One column of the projection.
pub(super) struct TranslatedColumn<'a> {
    /// Its position in the schema.
    pub(super) index: usize,
    pub(super) physical: PhysicalType,
    pub(super) origin: Origin,
    /// Its value in the current table, if its origin is a constant.
    constant: Constant<'a>,
    /// Its strings.
    pub(super) shared: SharedCodes,
    /// Its values in the type of the union, if the current table has another type.
    converted: ConvertedValues,
    /// The code of the constant, for each set of a summary.
    codes: Vec<u32>,
    /// The run of its code.
    runs: Vec<Run>,
    /// The constant, for each row of a batch or each set of a summary.
    integers: Vec<i64>,
    /// The sums of the sets.
    sums: Vec<i128>,
}

impl Translation<'_> {
    /// Switches to a table, which has the given number of rows.
    pub(super) fn switch_to(&mut self, table: usize, rows: Option<u64>, origins: impl Iterator<Item = Origin>) {
        self.table = table;
        for (column, origin) in self.columns.iter_mut().zip(origins) {
            column.origin = origin;
            if let Origin::Constant(constant) = origin {
                column.constant = self.constants[constant].of(table);
            }
            column.integers.clear();
            column.shared.switch_table(rows);
        }
    }
}

impl<'c> TranslatedColumn<'c> {
    pub(super) fn new(index: usize, field: &Field, is_alone: bool) -> Self {
        Self {
            index,
            physical: field.logical_type.physical(),
            origin: Origin::Missing,
            constant: Constant::Null,
            shared: SharedCodes::new(is_alone),
            converted: ConvertedValues::default(),
            codes: Vec::new(),
            runs: Vec::new(),
            integers: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Whether its values are those of a column of the current table.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.origin, Origin::Column { .. })
    }

    fn conversion(&self) -> Option<Conversion> {
        if let Origin::Column { conversion, .. } = self.origin { conversion } else { None }
    }

    /// Converts `rows` rows of a column of the current table, if it has another type. `wanted` selects rows.
    ///
    /// # Errors
    /// If a value does not fit the type of the union.
    pub(super) fn convert(&mut self, column: &Column<'_>, rows: usize, wanted: Option<&[u64]>) -> Result<(), Misfit> {
        self.conversion().map_or(Ok(()), |conversion| self.converted.prepare(conversion, column, rows, wanted))
    }

    /// The converted column; `None` if its type is that of the union.
    fn converted_column<'a>(&'a self, column: &Column<'a>, rows: usize, zeros: &'a Zeros) -> Option<Column<'a>> {
        Some(match self.conversion()? {
            Conversion::Nulls => self.nulls(rows, zeros),
            conversion => Column { data: self.converted.as_data(conversion, column.data), ..*column },
        })
    }

    /// The prepared column.
    pub(super) fn as_column<'a>(&'a self, column: &Column<'a>) -> Column<'a> {
        Column { data: self.shared.as_data(column.data), ..*column }
    }

    /// Prepares `rows` rows of a constant.
    pub(super) fn prepare_constant(&mut self, rows: usize) {
        match self.constant {
            Constant::Null => {}
            Constant::Code(code, _) => {
                self.runs.clear();
                self.runs.push(Run { code, rows: rows as u32 });
            }
            Constant::Integer(value) => self.integers.resize(rows.max(self.integers.len()), value),
        }
    }

    /// The prepared rows of a constant.
    fn constant_column<'a>(&'a self, rows: usize, zeros: &'a Zeros) -> Column<'a> {
        match self.constant {
            Constant::Null => self.nulls(rows, zeros),
            Constant::Code(_, dictionary) => Column::runs(&self.runs, dictionary),
            Constant::Integer(_) => Column::integers(Integers::I64(&self.integers[..rows])),
        }
    }

    /// Prepares summary sets of a constant; `rows` has the rows of each set.
    pub(super) fn prepare_sets(&mut self, rows: &[u32]) {
        match self.constant {
            Constant::Null => {}
            Constant::Code(code, _) => {
                self.codes.clear();
                self.codes.resize(rows.len(), code);
            }
            Constant::Integer(value) => {
                self.integers.resize(rows.len().max(self.integers.len()), value);
                self.sums.clear();
                self.sums.extend(rows.iter().map(|&rows| i128::from(value) * i128::from(rows)));
            }
        }
    }

    /// The prepared sets of a constant; `None` for nulls, which have no summaries.
    pub(super) fn constant_sets(&self, sets: usize) -> Option<ColumnSummary<'_>> {
        match self.constant {
            Constant::Null => None,
            Constant::Code(_, dictionary) => Some(ColumnSummary::Codes { codes: &self.codes, dictionary }),
            Constant::Integer(_) => {
                let values = &self.integers[..sets];
                Some(ColumnSummary::Numbers(Numbers { min: values, max: values, sum: Sums::Wide(&self.sums) }))
            }
        }
    }

    /// A column of nulls.
    fn nulls<'a>(&'a self, rows: usize, zeros: &'a Zeros) -> Column<'a> {
        let data = match self.physical {
            PhysicalType::Integers => Data::Integers(Integers::I8(&zeros.integers[..rows])),
            PhysicalType::Floats => Data::Floats(&zeros.floats[..rows]),
            PhysicalType::Bytes => Data::Codes { codes: &zeros.codes[..rows], dictionary: self.shared.dictionary() },
        };
        Column::from(data).with_validity(Some(Bitmap::new(&zeros.bits, 0, rows)))
    }
}

/// The projected columns that are constant in the current table.
pub(super) fn constant<'c, 'a>(
    columns: &'c mut [TranslatedColumn<'a>],
) -> impl Iterator<Item = &'c mut TranslatedColumn<'a>> {
    columns.iter_mut().filter(|column| matches!(column.origin, Origin::Constant(_)))
}

impl Translation<'_> {
    /// The prepared columns at these positions, given a batch of the current table and a function that translates those
    /// of its columns that are not converted.
    pub(super) fn columns_at<'b>(
        &'b self,
        positions: impl Iterator<Item = usize>,
        batch: &Batch<'b>,
        own_column: impl Fn(&'b TranslatedColumn<'_>, &Column<'b>) -> Column<'b>,
    ) -> Vec<Column<'b>> {
        let mut own = batch.columns.iter();
        let translated = positions.filter_map(|position| {
            let column = &self.columns[position];
            match column.origin {
                Origin::Column { .. } => own.next().map(|own| {
                    let converted = column.converted_column(own, batch.rows, &self.zeros);
                    converted.unwrap_or_else(|| own_column(column, own))
                }),
                Origin::Constant(_) => Some(column.constant_column(batch.rows, &self.zeros)),
                Origin::Missing => Some(column.nulls(batch.rows, &self.zeros)),
            }
        });
        translated.collect()
    }
}
