//! The values of keys as digits of a mixed-radix number, and the ranges of values that determine the radices.

use brc_core::batch::codes_of;
use brc_core::{Bitmap, Column, Data, Integers};
use brc_kernels::cpu::Level;
use brc_kernels::direct::{add_digits, bounds, set_digits};

/// The values of a key where they do not lie in the batch as they are needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Digits {
    codes: Vec<u32>,
    integers: Vec<i64>,
}

/// The values of a key. Nulls have been replaced.
#[derive(Clone, Copy)]
pub(super) enum Digit<'a> {
    Codes(&'a [u32]),
    Integers(Integers<'a>),
}

/// The values that a key may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    low: i64,
    /// One more than the distance to the largest; 0 if there is no value yet.
    size: u64,
    /// It may be null.
    nullable: bool,
}

impl Default for Range {
    fn default() -> Self {
        Self { low: 0, size: 0, nullable: true }
    }
}

impl Digits {
    /// Takes the values of a key, those of rows that are null replaced by one that is not; `None` if they are no
    /// digits.
    pub(super) fn take<'a>(&'a mut self, key: &Column<'a>, validity: Option<Bitmap<'_>>) -> Option<Digit<'a>> {
        self.codes.clear();
        self.integers.clear();
        match (key.data, validity) {
            (Data::Floats(_) | Data::Bytes(_) | Data::Integers(Integers::I128(_)), _) => return None,
            (Data::Runs { .. }, None) => drop(codes_of(key, &mut self.codes)),
            (Data::Codes { .. } | Data::Integers(_), None) => {}
            (Data::Codes { .. } | Data::Runs { .. }, Some(_)) => {
                codes_of(key, &mut self.codes);
                self.integers.extend(self.codes.iter().map(|&code| i64::from(code)));
            }
            (Data::Integers(values), Some(_)) => {
                self.integers.extend((0..values.len()).map(|row| values.get(row) as i64));
            }
        }
        if let Some(validity) = validity {
            let some = validity.iter().zip(&self.integers).find_map(|(valid, &value)| valid.then_some(value))?;
            let pairs = self.integers.iter_mut().zip(validity.iter());
            pairs.filter(|(_, valid)| !valid).for_each(|(value, _)| *value = some);
        }
        Some(self.of(key))
    }

    pub(super) fn set_nulls(&mut self, key: &Column<'_>, null: i64) {
        if let Some(validity) = key.validity.filter(|_| !self.integers.is_empty()) {
            let pairs = self.integers.iter_mut().zip(validity.iter());
            pairs.filter(|(_, valid)| !valid).for_each(|(value, _)| *value = null);
        }
    }

    pub(super) fn of<'a>(&'a self, key: &Column<'a>) -> Digit<'a> {
        match self.integers.is_empty() {
            true => Digit::of(key).unwrap_or(Digit::Codes(&self.codes)),
            false => Digit::Integers(Integers::I64(&self.integers)),
        }
    }
}

/// Evaluates an expression with the values of a key, of which those of 128 bits are left out.
macro_rules! for_digits {
    ($digit:expr, $values:ident => $body:expr, $wide:expr) => {
        match $digit {
            Digit::Codes($values) => $body,
            Digit::Integers(Integers::I8($values)) => $body,
            Digit::Integers(Integers::I16($values)) => $body,
            Digit::Integers(Integers::I32($values)) => $body,
            Digit::Integers(Integers::I64($values)) => $body,
            Digit::Integers(Integers::I128(_)) => $wide,
        }
    };
}

impl<'a> Digit<'a> {
    /// The values of a key as they lie in a batch; `None` if they do not lie there as they are needed.
    pub(super) fn of(key: &Column<'a>) -> Option<Self> {
        match key.data {
            Data::Codes { codes, .. } => Some(Self::Codes(codes)),
            Data::Integers(values) => Some(Self::Integers(values)),
            Data::Runs { .. } | Data::Floats(_) | Data::Bytes(_) => None,
        }
    }

    pub(super) fn bounds(self, level: Level) -> Option<(i64, i64)> {
        for_digits!(self, values => bounds(level, values), None)
    }

    /// Makes the digits of the first key the slots, or adds those of a further key to them. Returns the bounds of the
    /// values.
    pub(super) fn add_to(
        self,
        level: Level,
        slots: &mut Vec<u32>,
        range: &Range,
        is_first: bool,
    ) -> Option<(i64, i64)> {
        let (radix, first) = (range.radix() as u32, range.first());
        if is_first {
            for_digits!(self, values => set_digits(level, slots, values, first), None)
        } else {
            for_digits!(self, values => add_digits(level, slots, radix, values, first), None)
        }
    }
}

/// How many integers there are from one to another, or 2⁶⁴ - 1 if they are more; 0 if there are none.
fn width(low: i64, high: i64) -> u64 {
    u64::try_from(i128::from(high) - i128::from(low) + 1).unwrap_or(if low > high { 0 } else { u64::MAX })
}

impl Range {
    /// From a smallest value to a largest, if they are known.
    pub(super) fn of(known: Option<(i64, i64)>, nullable: bool) -> Self {
        let (low, size) = known.map_or((0, 0), |(low, high)| (low, width(low, high)));
        Self { low, size, nullable }
    }

    /// Whether values between these are in it.
    pub(super) fn holds(&self, low: i64, high: i64) -> bool {
        let end = i128::from(self.low) + i128::from(self.size);
        self.size > 0 && self.low <= low && i128::from(high) < end
    }

    /// Becomes wide enough, and a little wider if it had to grow, so that it does not grow with every batch. Returns
    /// whether it grew.
    pub(super) fn cover(&mut self, low: i64, high: i64) -> bool {
        if self.holds(low, high) {
            return false;
        }
        let (low, high) = (i128::from(low), i128::from(high));
        let (old_low, end) = (i128::from(self.low), i128::from(self.low) + i128::from(self.size));
        let (old_low, old_high) = if self.size == 0 { (low, high) } else { (old_low, end - 1) };
        let (new_low, new_high) = (low.min(old_low), high.max(old_high));
        let slack = if self.size == 0 { 0 } else { (new_high - new_low) / 2 };
        let low = if new_low < old_low { (new_low - slack).max(i64::MIN.into()) } else { new_low };
        let high = if new_high > old_high { (new_high + slack).min(i64::MAX.into()) } else { new_high };
        (self.low, self.size) = (low as i64, width(low as i64, high as i64));
        true
    }

    /// Holds null from now on, if there are nulls. Returns whether it did not before.
    pub(super) fn cover_nulls(&mut self, nulls: bool) -> bool {
        let grows = nulls && !self.nullable;
        self.nullable |= nulls;
        grows
    }

    /// Becomes a little wider, as values of which few have been seen may lie beyond them.
    pub(super) fn widen(&mut self) {
        let slack = (self.size / 8) as i64;
        let high = self.low.wrapping_add(self.size as i64).wrapping_sub(1).saturating_add(slack);
        self.low = self.low.saturating_sub(slack);
        self.size = width(self.low, high);
    }

    /// The value of digit 0: the smallest, or, if there are nulls, the value below it modulo 2⁶⁴, which represents
    /// null.
    pub(super) fn first(&self) -> i64 {
        self.low.wrapping_sub(self.nullable.into())
    }

    /// How many digits there are: one for each value, and the first for null.
    pub(super) fn radix(&self) -> u64 {
        self.size.saturating_add(self.nullable.into())
    }

    /// The smallest and the largest value.
    pub(crate) fn bounds(&self) -> (i128, i128) {
        (self.low.into(), i128::from(self.low) + i128::from(self.size) - 1)
    }

    /// The values of all digits, `None` being null.
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<i64>> {
        let null = self.nullable.then_some(None);
        { null }.into_iter().chain((0..self.size).map(|distance| Some(self.low.wrapping_add(distance as i64))))
    }
}
