//! What `round`, `floor`, `ceil` and `trunc` have in common: exact numbers stay exact.

use super::{Bound, Mismatch, exact, number};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use crate::values::view::{Rows, View, ViewData};
use brc_core::{Array, LogicalType, Value};
use brc_kernels::arithmetic::{Rounding, round, round_quotients};
use brc_kernels::cpu::Level;
use brc_kernels::direct::bounds;

/// A number rounded to this many decimals.
pub(super) fn bound(arguments: &[Typed], decimals: i64, rounding: Rounding) -> Result<Bound, Mismatch> {
    let logical_type = number(arguments, 0)?;
    let decimals = decimals.clamp(-400, 400);
    let Some(digits) = exact::digits(&arguments[0]) else {
        let decimals = decimals as i32;
        return Ok(Bound::new(logical_type, move |views, rows| {
            let ViewData::Floats(values) = views[0].data else { return rows.floats(|row| views[0].float(row)) };
            let mut values = values.to_vec();
            round(Level::best(), rounding, decimals, logical_type == LogicalType::Float32, &mut values);
            Ok(Array::from(values))
        }));
    };
    let scale = u8::try_from(decimals.max(0)).map_or(digits.scale, |wanted| wanted.min(digits.scale));
    let cut = i64::from(digits.scale) - decimals;
    let output = match digits.is_int64 {
        true => logical_type,
        false => exact::decimal(digits.precision.saturating_add(1), scale),
    };
    if cut <= 0 {
        return Ok(Bound::new(logical_type, move |views, rows| match &views[0].data {
            ViewData::Narrow(values) => Ok(Array::from(values.to_vec())),
            _ => rows.integers(logical_type, |row| Ok(Some(views[0].integer(row)))),
        }));
    }
    // Beyond 38 digits nothing is left of a number.
    let divisor = 10i128.pow(cut.min(38) as u32);
    let back = 10i128.pow((i64::from(scale) - decimals).clamp(0, 38) as u32);
    let exact = Exact { rounding, divisor, back, output };
    Ok(Bound::new(output, move |views, rows| match exact.narrow(&views[0]) {
        Some(values) => Ok(Array::from(values)),
        None => exact.wide(logical_type, &views[0], rows),
    }))
}

/// Rounds exact numbers: `value / divisor` to a whole number, which is multiplied by `back`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exact {
    pub(super) rounding: Rounding,
    pub(super) divisor: i128,
    pub(super) back: i128,
    pub(super) output: LogicalType,
}

impl Exact {
    fn rounded(&self, value: i128) -> Option<i128> {
        let rounded = self.rounding.quotient(value, self.divisor).checked_mul(self.back);
        rounded.filter(|value| self.output.bounds().is_some_and(|(min, max)| (min..=max).contains(value)))
    }

    /// All rows in 64 bits, unless that might not be enough for what lies between the smallest and the largest one.
    pub(super) fn narrow(&self, view: &View<'_>) -> Option<Vec<i64>> {
        let ViewData::Narrow(values) = &view.data else { return None };
        let (divisor, back) = (i64::try_from(self.divisor).ok()?, i64::try_from(self.back).ok()?);
        let level = Level::best();
        if let Some((min, max)) = bounds(level, values) {
            i64::try_from(self.rounded(min.into())?).ok()?;
            i64::try_from(self.rounded(max.into())?).ok()?;
        }
        let mut values = values.to_vec();
        round_quotients(level, self.rounding, divisor, back, &mut values);
        Some(values)
    }

    /// Row by row, of those that count.
    fn wide(&self, from: LogicalType, view: &View<'_>, rows: &Rows<'_>) -> Result<Array, EvalError> {
        let output = self.output;
        rows.integers(output, |row| match self.rounded(view.integer(row)) {
            Some(rounded) => Ok(Some(rounded)),
            None => {
                let value = Value::Integer(view.integer(row)).to_text(from);
                Err(EvalError::Value(format!("{value} rounded is out of range for {output}")))
            }
        })
    }
}
