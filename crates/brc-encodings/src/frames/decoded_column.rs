//! Collects the values of one column, decoded row by row, until they are delivered.

use crate::narrow::Narrow;
use brc_core::{BitmapBuffer, Column, Data, Field, Integers, LogicalType, PhysicalType, StringBuffer};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;

/// A column that is being filled.
pub(crate) struct DecodedColumn {
    pub(crate) logical_type: LogicalType,
    pub(crate) nullable: bool,
    /// The validity of the rows, if the column is nullable.
    pub(crate) validity: BitmapBuffer,
    pub(crate) values: DecodedValues,
}

/// Its values; nulls have arbitrary ones.
pub(crate) enum DecodedValues {
    /// Strings are first located and then looked up, a batch at a time: so decoding does not wait for lookups, and a
    /// mispredicted branch while decoding does not discard them.
    Strings {
        ranges: Vec<Range<usize>>,
        interner: Box<Interner>,
        codes: Vec<u32>,
        /// The number of rows looked up.
        looked_up: u64,
        /// The strings, where they hardly repeat, so that lookups do not pay.
        plain: StringBuffer,
    },
    /// Numbers of types for which [`has_any_64_bits`] holds.
    Numbers {
        numbers: Vec<i64>,
        narrow: Narrow,
        scale: u8,
    },
    /// Other types that fit 64 bits.
    Integers {
        integers: Vec<i64>,
        narrow: Narrow,
    },
    /// Integers of 128 bits.
    Wide {
        integers: Vec<i128>,
        narrow: Narrow,
        fitting: Vec<i64>,
    },
    Floats(Vec<f64>),
    /// A column outside the projection: checked, not kept.
    Skipped,
}

/// Whether every 64-bit integer is a valid value of the type. This includes decimals whose digits are sure to fit
/// 64 bits: version 1 stores no precision, and its decimals may have one digit more.
pub(crate) fn has_any_64_bits(logical_type: LogicalType) -> bool {
    logical_type.is_64_bit_number()
}

impl DecodedValues {
    fn new(logical_type: LogicalType) -> Self {
        let narrow = Narrow::default();
        match logical_type.physical() {
            PhysicalType::Integers if has_any_64_bits(logical_type) => {
                Self::Numbers { numbers: Vec::new(), narrow, scale: logical_type.scale() }
            }
            PhysicalType::Integers if logical_type.fits_64_bits() => Self::Integers { integers: Vec::new(), narrow },
            PhysicalType::Integers => Self::Wide { integers: Vec::new(), narrow, fitting: Vec::new() },
            PhysicalType::Floats => Self::Floats(Vec::new()),
            PhysicalType::Bytes => {
                let interner = Box::new(Interner::new(Level::best()));
                Self::Strings {
                    ranges: Vec::new(),
                    interner,
                    codes: Vec::new(),
                    looked_up: 0,
                    plain: StringBuffer::default(),
                }
            }
        }
    }
}

impl DecodedColumn {
    /// An empty column.
    pub(crate) fn new(field: &Field, wanted: bool) -> Self {
        let &Field { logical_type, nullable, .. } = field;
        let values = if wanted { DecodedValues::new(logical_type) } else { DecodedValues::Skipped };
        Self { logical_type, nullable, validity: BitmapBuffer::default(), values }
    }

    /// Appends a null.
    pub(crate) fn push_null(&mut self) {
        match &mut self.values {
            // Repeats the previous string, if there is one.
            DecodedValues::Strings { ranges, .. } => ranges.push(ranges.last().cloned().unwrap_or(0..0)),
            DecodedValues::Numbers { numbers: integers, .. } | DecodedValues::Integers { integers, .. } => {
                integers.push(0);
            }
            DecodedValues::Wide { integers, .. } => integers.push(0),
            DecodedValues::Floats(floats) => floats.push(0.0),
            DecodedValues::Skipped => {}
        }
        self.validity.push(false);
    }

    /// The rows, whose strings are in `bytes`; no rows for a skipped column.
    pub(crate) fn as_column(&mut self, bytes: &[u8]) -> Column<'_> {
        let data = match &mut self.values {
            DecodedValues::Strings { ranges, interner, codes, looked_up, plain } => {
                plain.clear();
                let mut all = ranges.iter().map(|range| &bytes[range.clone()]);
                if !interner.pays(*looked_up) && all.try_for_each(|string| plain.push(string)).is_ok() {
                    Data::Bytes(plain.as_strings())
                } else {
                    *looked_up += ranges.len() as u64;
                    codes.clear();
                    interner.intern_all(bytes, ranges, codes);
                    Data::Codes { codes, dictionary: interner.dictionary() }
                }
            }
            DecodedValues::Numbers { numbers: integers, narrow, .. } | DecodedValues::Integers { integers, narrow } => {
                Data::Integers(narrow.narrowed(integers))
            }
            DecodedValues::Wide { integers, narrow, fitting } => {
                fitting.clear();
                fitting.extend(integers.iter().map_while(|&integer| i64::try_from(integer).ok()));
                let all_fit = fitting.len() == integers.len();
                Data::Integers(if all_fit { narrow.narrowed(fitting) } else { Integers::I128(integers) })
            }
            DecodedValues::Floats(floats) => Data::Floats(floats),
            DecodedValues::Skipped => return Column::integers(Integers::I64(&[])),
        };
        Column { data, validity: self.validity.bitmap() }
    }

    /// Forgets the rows; codes keep their meaning.
    pub(crate) fn clear(&mut self) {
        self.validity.clear();
        match &mut self.values {
            DecodedValues::Strings { ranges, .. } => ranges.clear(),
            DecodedValues::Numbers { numbers: integers, .. } | DecodedValues::Integers { integers, .. } => {
                integers.clear();
            }
            DecodedValues::Wide { integers, .. } => integers.clear(),
            DecodedValues::Floats(floats) => floats.clear(),
            DecodedValues::Skipped => {}
        }
    }
}
