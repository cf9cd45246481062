//! The numbers of a frame, in lists as narrow as they allow.

use super::encoder::fill;
use crate::table_capnp::column;
use brc_core::Integers;
use std::ops::Range;

/// Collects the numbers of a column.
///
/// Nearly all columns fit 16 bits, and are kept that way, because half the time goes into moving bytes.
#[derive(Default)]
pub(super) struct Numbers {
    narrow: Vec<i16>,
    /// All numbers, if they fit 64 but not 16 bits; otherwise `narrow` has them.
    wide: Vec<i64>,
    /// All numbers, if they exceed 64 bits.
    widest: Vec<i128>,
    least: i64,
    largest: i64,
}

impl Numbers {
    pub(super) fn push(&mut self, values: &Integers<'_>, rows: Range<usize>) {
        if !self.widest.is_empty() {
            return self.widest.extend(rows.map(|row| values.get(row)));
        }
        match values {
            Integers::I16(values) => self.push_narrow(&values[rows]),
            Integers::I32(values) => self.push_wide(&values[rows]),
            Integers::I64(values) => self.push_wide(&values[rows]),
            Integers::I8(values) => self.push_wide(&values[rows]),
            Integers::I128(values) => self.push_widest(&values[rows]),
        }
    }

    fn push_widest(&mut self, values: &[i128]) {
        let fitting: Vec<i64> = values.iter().map_while(|&value| i64::try_from(value).ok()).collect();
        if fitting.len() == values.len() {
            return self.push_wide(&fitting);
        }
        self.widest.extend(self.narrow.drain(..).map(i128::from));
        self.widest.extend(self.wide.drain(..).map(i128::from));
        self.widest.extend(values);
    }

    fn push_narrow(&mut self, values: &[i16]) {
        if !self.wide.is_empty() {
            return self.push_wide(values);
        }
        self.narrow.extend_from_slice(values);
        self.look_at(self.narrow.len() - values.len());
    }

    fn push_wide<T: Copy + Into<i64>>(&mut self, values: &[T]) {
        if self.wide.is_empty() {
            let start = self.narrow.len();
            let mut differences = 0;
            self.narrow.extend(values.iter().map(|&value| {
                let narrow = value.into() as i16;
                differences |= value.into() ^ i64::from(narrow);
                narrow
            }));
            if differences == 0 {
                return self.look_at(start);
            }
            self.wide.extend(self.narrow.drain(..start).map(i64::from));
            self.narrow.clear();
        }
        for &value in values {
            self.widen_range(value.into(), value.into());
        }
        self.wide.extend(values.iter().map(|&value| value.into()));
    }

    /// Updates the bounds with the narrow numbers from `start` on.
    fn look_at(&mut self, start: usize) {
        let range = |(least, largest): (i16, i16), &value: &i16| (value.min(least), value.max(largest));
        let (least, largest) = self.narrow[start..].iter().fold((0, 0), range);
        self.widen_range(least.into(), largest.into());
    }

    fn widen_range(&mut self, least: i64, largest: i64) {
        self.least = self.least.min(least);
        self.largest = self.largest.max(largest);
    }

    /// The bytes of the narrowest integer type that fits all numbers.
    pub(super) fn width(&self) -> usize {
        if !self.widest.is_empty() {
            return 16;
        }
        let holds = |bits: u32| self.least >= -1 << (bits - 1) && self.largest < 1 << (bits - 1);
        [(1, 8), (2, 16), (4, 32)].into_iter().find(|&(_, bits)| holds(bits)).map_or(8, |(bytes, _)| bytes)
    }

    pub(super) fn build(&self, column: column::Builder<'_>) {
        let rows = self.narrow.len().max(self.wide.len()) as u32;
        match self.width() {
            1 => fill(column.init_int8(rows), &self.narrow, |value| value as i8),
            2 => fill(column.init_int16(rows), &self.narrow, |value| value),
            4 => fill(column.init_int32(rows), &self.wide, |value| value as i32),
            8 => fill(column.init_int64(rows), &self.wide, |value| value),
            _ => {
                let (rows, mut column) = (self.widest.len() as u32, column.init_int128());
                fill(column.reborrow().init_low(rows), &self.widest, |value| value as u64);
                fill(column.init_high(rows), &self.widest, |value| (value >> 64) as i64);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.narrow.clear();
        self.wide.clear();
        self.widest.clear();
        (self.least, self.largest) = (0, 0);
    }
}
