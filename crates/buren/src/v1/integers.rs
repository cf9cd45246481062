//! Columns of integers in memory, in the narrowest of three widths that holds them.

use brc_core::Statistics;
use brc_kernels::accumulate::{statistics_i16, statistics_i32, statistics_i64};
use brc_kernels::cpu::Level;

/// Evaluates an expression with the slice of a [`Values`], whatever its width.
macro_rules! for_values {
    ($values:expr, $slice:ident => $body:expr) => {
        match $values {
            crate::v1::integers::Values::I16($slice) => $body,
            crate::v1::integers::Values::I32($slice) => $body,
            crate::v1::integers::Values::I64($slice) => $body,
        }
    };
}
pub(crate) use for_values;

/// The width in which values are kept and delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Kind {
    #[default]
    I16,
    I32,
    I64,
}

impl Kind {
    /// The narrowest that holds both.
    pub(crate) fn holding(min: i64, max: i64) -> Self {
        if i16::try_from(min).is_ok() && i16::try_from(max).is_ok() {
            Self::I16
        } else if i32::try_from(min).is_ok() && i32::try_from(max).is_ok() {
            Self::I32
        } else {
            Self::I64
        }
    }
}

/// The integers of a column in the narrowest of the three widths that holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values<'a> {
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
}

impl Values<'_> {
    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        for_values!(self, values => values.len())
    }

    /// What is known of them.
    pub(crate) fn statistics(&self) -> Statistics {
        match self {
            Self::I16(values) => statistics_i16(Level::best(), values),
            Self::I32(values) => statistics_i32(Level::best(), values),
            Self::I64(values) => statistics_i64(Level::best(), values),
        }
    }

    /// One value.
    ///
    /// # Panics
    /// If `row` is not below [`Values::len`].
    #[cfg(test)]
    pub(crate) fn get(&self, row: usize) -> i64 {
        for_values!(self, values => wide(values[row]))
    }
}

impl<'a> From<Values<'a>> for brc_core::Integers<'a> {
    fn from(values: Values<'a>) -> Self {
        match values {
            Values::I16(values) => Self::I16(values),
            Values::I32(values) => Self::I32(values),
            Values::I64(values) => Self::I64(values),
        }
    }
}

/// In a table of codes: not there.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Like [`Values`], to be written.
#[derive(Debug)]
pub(crate) enum ValuesMut<'a> {
    I16(&'a mut [i16]),
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
}

impl ValuesMut<'_> {
    /// For how many there is room.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }
}

/// A growing column of integers. All three buffers are kept for the next use; one of them is in use.
#[derive(Debug, Default)]
pub(crate) struct Integers {
    kind: Kind,
    i16: Vec<i16>,
    i32: Vec<i32>,
    i64: Vec<i64>,
}

impl Integers {
    pub(crate) fn clear(&mut self) {
        self.kind = Kind::I16;
        self.i16.clear();
        self.i32.clear();
        self.i64.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.values().len()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn values(&self) -> Values<'_> {
        match self.kind {
            Kind::I16 => Values::I16(&self.i16),
            Kind::I32 => Values::I32(&self.i32),
            Kind::I64 => Values::I64(&self.i64),
        }
    }

    /// Appends values; all become wider if one of them needs it.
    #[allow(clippy::unnecessary_cast, reason = "one text for three types")]
    pub(crate) fn extend(&mut self, values: Values<'_>) {
        let needed = match values {
            Values::I16(_) => Kind::I16,
            Values::I32(values) => needed_by(values),
            Values::I64(values) => needed_by(values),
        };
        self.widen(needed);
        for_values!(values, values => match self.kind {
            Kind::I16 => self.i16.extend(values.iter().map(|&value| value as i16)),
            Kind::I32 => self.i32.extend(values.iter().map(|&value| value as i32)),
            Kind::I64 => self.i64.extend(values.iter().map(|&value| wide(value))),
        });
    }

    /// Appends integers of any width; `None`, and nothing is appended, if one does not fit 64 bits.
    pub(crate) fn extend_any(&mut self, integers: brc_core::Integers<'_>) -> Option<()> {
        match integers {
            brc_core::Integers::I8(values) => {
                self.extend(Values::I16(&values.iter().map(|&value| value.into()).collect::<Vec<_>>()));
            }
            brc_core::Integers::I16(values) => self.extend(Values::I16(values)),
            brc_core::Integers::I32(values) => self.extend(Values::I32(values)),
            brc_core::Integers::I64(values) => self.extend(Values::I64(values)),
            brc_core::Integers::I128(values) => {
                let narrow = values.iter().map(|&value| i64::try_from(value).ok()).collect::<Option<Vec<_>>>()?;
                self.extend(Values::I64(&narrow));
            }
        }
        Some(())
    }

    /// Replaces all values.
    pub(crate) fn assign(&mut self, values: Values<'_>) {
        self.clear();
        self.extend(values);
    }

    /// Appends `table[code]` for each code, unless one of them is [`UNKNOWN`]: then nothing, and false is returned.
    /// What is known in the table is at most `largest`, and below 2³¹.
    pub(crate) fn extend_translated(&mut self, codes: &[u32], table: &[u32], largest: u32) -> bool {
        self.widen(Kind::holding(0, i64::from(largest)));
        match self.kind {
            Kind::I16 => translate(&mut self.i16, codes, table, |code| code as i16),
            Kind::I32 => translate(&mut self.i32, codes, table, |code| code as i32),
            Kind::I64 => translate(&mut self.i64, codes, table, i64::from),
        }
    }

    fn widen(&mut self, kind: Kind) {
        match (self.kind, kind) {
            (Kind::I16, Kind::I32) => self.i32.extend(self.i16.drain(..).map(i32::from)),
            (Kind::I16, Kind::I64) => self.i64.extend(self.i16.drain(..).map(i64::from)),
            (Kind::I32, Kind::I64) => self.i64.extend(self.i32.drain(..).map(i64::from)),
            _ => return,
        }
        self.kind = kind;
    }

    /// Makes room for `rows` values of that width, to be overwritten: what they are before is not said.
    pub(crate) fn overwrite(&mut self, kind: Kind, rows: usize) -> ValuesMut<'_> {
        self.kind = kind;
        match kind {
            Kind::I16 => ValuesMut::I16(resized(&mut self.i16, rows)),
            Kind::I32 => ValuesMut::I32(resized(&mut self.i32, rows)),
            Kind::I64 => ValuesMut::I64(resized(&mut self.i64, rows)),
        }
    }
}

/// An integer of any width as one of 64 bits.
pub(crate) fn wide<T: Into<i64>>(value: T) -> i64 {
    value.into()
}

fn resized<T: Copy + Default>(buffer: &mut Vec<T>, rows: usize) -> &mut [T] {
    buffer.resize(rows, T::default());
    buffer
}

fn needed_by<T: Copy + Into<i64>>(values: &[T]) -> Kind {
    // Written so that it vectorises: no early end.
    let all = |fits: fn(i64) -> bool| values.iter().fold(true, |all, &value| all & fits(value.into()));
    if all(|value| value == i64::from(value as i16)) {
        Kind::I16
    } else if all(|value| value == i64::from(value as i32)) {
        Kind::I32
    } else {
        Kind::I64
    }
}

/// Appends `table[code]` for each code, unless one of them is [`UNKNOWN`].
fn translate<T>(out: &mut Vec<T>, codes: &[u32], table: &[u32], cut: impl Fn(u32) -> T) -> bool {
    let before = out.len();
    let mut bits = 0;
    out.extend(codes.iter().map(|&code| {
        let translated = table[code as usize];
        bits |= translated;
        cut(translated)
    }));
    let all_known = bits >> 31 == 0;
    if !all_known {
        out.truncate(before);
    }
    all_known
}

/// A part of some values.
pub(crate) fn slice(values: Values<'_>, range: std::ops::Range<usize>) -> Values<'_> {
    match values {
        Values::I16(values) => Values::I16(&values[range]),
        Values::I32(values) => Values::I32(&values[range]),
        Values::I64(values) => Values::I64(&values[range]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_survive_widening(batches: Vec<(Vec<i64>, u32)>) {
            let mut all = Vec::new();
            let mut integers = Integers::default();
            for (values, shift) in batches {
                let values: Vec<_> = values.iter().map(|value| value >> (shift % 64)).collect();
                integers.extend(Values::I64(&values));
                all.extend(values);
            }
            let kind = Kind::holding(all.iter().copied().min().unwrap_or(0), all.iter().copied().max().unwrap_or(0));
            prop_assert_eq!(integers.kind(), kind);
            let back: Vec<_> = (0..integers.len()).map(|row| integers.values().get(row)).collect();
            prop_assert_eq!(back, all);
        }
    }
}
