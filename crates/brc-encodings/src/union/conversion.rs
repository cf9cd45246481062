//! Converts the values of a column to the type that it has in the union. Every value stays the same.

use super::codes::is_wanted;
use crate::rows::values::float_of;
use brc_core::{Column, Data, Integers, LogicalType, Predicate, calendar, for_integers};

/// How the values of a table's column become values of the union's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// They are the same in memory.
    Unchanged,
    /// Integers are multiplied, as decimals of a smaller scale and times of a coarser unit are.
    Integers {
        factor: i128,
        /// The minimum and maximum of the new type.
        bounds: (i128, i128),
    },
    /// Integers and decimals become floats: they are divided by the number of units in one.
    Floats { units: i64 },
    /// All are null.
    Nulls,
}

impl Conversion {
    /// The conversion from one type to another; `None` if there is none.
    pub(super) fn between(own: LogicalType, common: LogicalType) -> Option<Self> {
        if own == common || (own.is_float() && common.is_float()) {
            return Some(Self::Unchanged);
        }
        let (kind, own_units) = units(own)?;
        if common.is_float() {
            let is_exact = kind == Kind::Number && float_of(own_units).is_some();
            return is_exact.then_some(Self::Floats { units: own_units as i64 });
        }
        let (_, common_units) = units(common).filter(|(other, units)| *other == kind && units % own_units == 0)?;
        Some(match common_units / own_units {
            1 if own.fits_64_bits() || !common.fits_64_bits() => Self::Unchanged,
            factor => Self::Integers { factor, bounds: common.bounds()? },
        })
    }

    /// The condition on the table's column that holds where the union's column is in a range; `None` if there is none.
    pub(super) fn range(self, column: usize, low: i128, high: i128) -> Option<Predicate> {
        match self {
            Self::Unchanged => Some(Predicate::Range { column, low, high }),
            Self::Integers { factor, .. } => {
                let low = low.div_euclid(factor) + i128::from(low.rem_euclid(factor) > 0);
                Some(Predicate::Range { column, low, high: high.div_euclid(factor) })
            }
            Self::Floats { .. } | Self::Nulls => None,
        }
    }
}

/// Types whose values are integers in different units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Time,
    /// Local time without a zone, or a day.
    Timestamp,
    Instant,
}

/// The kind of a type, and the number of its units in one, or in a day; `None` if types of other units do not exist.
fn units(logical_type: LogicalType) -> Option<(Kind, i128)> {
    let day = i128::from(calendar::DAY_SECONDS);
    match logical_type {
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. } => Some((Kind::Number, 10i128.pow(logical_type.scale().into()))),
        LogicalType::Date => Some((Kind::Timestamp, 1)),
        LogicalType::Time { unit } => Some((Kind::Time, day * i128::from(unit.per_second()))),
        LogicalType::Timestamp { unit, zone } => {
            let kind = if zone { Kind::Instant } else { Kind::Timestamp };
            Some((kind, day * i128::from(unit.per_second())))
        }
        LogicalType::Bool
        | LogicalType::Float32
        | LogicalType::Float64
        | LogicalType::String
        | LogicalType::Binary
        | LogicalType::Uuid => None,
    }
}

/// A buffer for the converted values of one column.
#[derive(Debug, Default)]
pub(super) struct ConvertedValues {
    integers: Vec<i64>,
    /// Integers of a type that does not fit 64 bits.
    wide: Vec<i128>,
    floats: Vec<f64>,
}

/// A value is outside of the bounds that its statistics or its type say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Misfit;

impl ConvertedValues {
    /// Converts a column of `rows` rows. `wanted` selects rows; rows outside of it, and nulls, get arbitrary values.
    ///
    /// # Errors
    /// If a value does not fit.
    pub(super) fn prepare(
        &mut self,
        conversion: Conversion,
        column: &Column<'_>,
        rows: usize,
        wanted: Option<&[u64]>,
    ) -> Result<(), Misfit> {
        let has_value = |row: usize| is_wanted(wanted, row) && column.is_valid(row);
        match (conversion, column.data) {
            (Conversion::Unchanged, _) => Ok(()),
            (Conversion::Nulls, data) => {
                // A column that the sink does not read may have no values at all.
                let is_null = is_empty(data) || !(0..rows).any(has_value);
                is_null.then_some(()).ok_or(Misfit)
            }
            (Conversion::Integers { factor, bounds }, Data::Integers(values)) => {
                self.multiply(values, factor, bounds, has_value)
            }
            (Conversion::Floats { units }, Data::Integers(values)) => self.divide(values, units as f64, has_value),
            (
                Conversion::Integers { .. } | Conversion::Floats { .. },
                Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) | Data::Floats(_),
            ) => Err(Misfit),
        }
    }

    /// The prepared values, except for nulls.
    pub(super) fn as_data<'a>(&'a self, conversion: Conversion, data: Data<'a>) -> Data<'a> {
        match conversion {
            Conversion::Unchanged | Conversion::Nulls => data,
            Conversion::Integers { bounds, .. } if is_wide(bounds) => Data::Integers(Integers::I128(&self.wide)),
            Conversion::Integers { .. } => Data::Integers(Integers::I64(&self.integers)),
            Conversion::Floats { .. } => Data::Floats(&self.floats),
        }
    }

    fn multiply(
        &mut self,
        values: Integers<'_>,
        factor: i128,
        (least, most): (i128, i128),
        has_value: impl Fn(usize) -> bool,
    ) -> Result<(), Misfit> {
        let multiplied = |value: i128| value.checked_mul(factor).filter(|value| (least..=most).contains(value));
        let fits = |(min, max)| multiplied(min).is_some() && multiplied(max).is_some();
        let Self { integers, wide, .. } = self;
        integers.clear();
        wide.clear();
        if !values.bounds().is_none_or(fits) {
            for row in 0..values.len() {
                let value = multiplied(values.get(row)).or_else(|| (!has_value(row)).then_some(0)).ok_or(Misfit)?;
                if is_wide((least, most)) { wide.push(value) } else { integers.push(value as i64) }
            }
        } else if is_wide((least, most)) {
            for_integers!(values, values => wide.extend(values.iter().map(|&value| wide_of(value) * factor)));
        } else {
            let factor = factor as i64;
            for_integers!(values, values => integers.extend(values.iter().map(|&value| narrow_of(value) * factor)));
        }
        Ok(())
    }

    fn divide(&mut self, values: Integers<'_>, units: f64, has_value: impl Fn(usize) -> bool) -> Result<(), Misfit> {
        let is_exact = |value: i128| float_of(value).is_some();
        let fits = |(min, max)| is_exact(min) && is_exact(max);
        if !values.bounds().is_none_or(fits)
            && (0..values.len()).any(|row| !is_exact(values.get(row)) && has_value(row))
        {
            return Err(Misfit);
        }
        // The quotient of exact floats is the float nearest to the decimal, which is the one that its text has.
        self.floats.clear();
        let Self { floats, .. } = self;
        for_integers!(values, values => floats.extend(values.iter().map(|&value| narrow_of(value) as f64 / units)));
        Ok(())
    }
}

fn wide_of(value: impl Into<i128>) -> i128 {
    value.into()
}

/// The low 64 bits.
fn narrow_of(value: impl Into<i128>) -> i64 {
    value.into() as i64
}

/// Whether integers within these bounds may not fit 64 bits.
fn is_wide((min, max): (i128, i128)) -> bool {
    i64::try_from(min).is_err() || i64::try_from(max).is_err()
}

fn is_empty(data: Data<'_>) -> bool {
    match data {
        Data::Codes { codes, .. } => codes.is_empty(),
        Data::Runs { runs, .. } => runs.is_empty(),
        Data::Bytes(strings) => strings.is_empty(),
        Data::Integers(values) => values.is_empty(),
        Data::Floats(values) => values.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Bitmap;

    /// A damaged file, or one of another program, may have values outside of its statistics.
    #[test]
    fn values_outside_of_their_bounds_are_errors_unless_no_one_reads_them() {
        let [int64, decimal, wide] = ["int64", "decimal(18,2)", "decimal(38,2)"].map(|text| text.parse().unwrap());
        let between = |own, common| Conversion::between(own, common).unwrap();
        let values = [1, -7, i64::MAX];
        let column = Column::integers(Integers::I64(&values));
        let null = column.with_validity(Some(Bitmap::new(&[0b011], 0, 3)));
        for (conversion, is_error) in [
            (between(int64, decimal), true),
            (between(int64, LogicalType::Float64), true),
            (Conversion::Nulls, true),
            (between(int64, wide), false),
        ] {
            let mut converted = ConvertedValues::default();
            assert_eq!(converted.prepare(conversion, &column, 3, None).is_err(), is_error, "{conversion:?}");
            assert_eq!(converted.prepare(conversion, &column, 3, Some(&[0b100])).is_err(), is_error, "{conversion:?}");
            let is_of_nulls = conversion == Conversion::Nulls;
            for (column, wanted) in [(&column, Some(&[0b011][..])), (&null, None)] {
                assert_eq!(converted.prepare(conversion, column, 3, wanted).is_err(), is_of_nulls);
                match converted.as_data(conversion, column.data) {
                    Data::Integers(values) if !is_of_nulls => assert_eq!([values.get(0), values.get(1)], [100, -700]),
                    Data::Floats(values) => assert_eq!(values[..2], [1.0, -7.0]),
                    _ => assert!(is_of_nulls),
                }
            }
            let unread = Column::integers(Integers::I16(&[]));
            assert_eq!(converted.prepare(conversion, &unread, 3, None), Ok(()));
        }
    }
}
