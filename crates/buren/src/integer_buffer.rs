//! The integers of a column while it is written, in the narrowest of three widths that holds them, because the cost of
//! a pass is proportional to the memory.

use crate::integer_slice::{IntegerSlice, Width, for_widths};
use brc_core::Bitmap;
use brc_kernels::arithmetic::Integer;
use brc_kernels::memory::prefetch;

/// Marks a code without an entry in a translation table.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// A growable array of integers. It keeps the memory of all widths for reuse; one width is current.
#[derive(Debug, Default)]
pub(crate) struct IntegerBuffer {
    width: Width,
    i16: Vec<i16>,
    i32: Vec<i32>,
    i64: Vec<i64>,
}

/// Evaluates an expression with the vector of an [`IntegerBuffer`]'s current width.
macro_rules! for_buffers {
    ($buffer:expr, $values:ident => $body:expr) => {{
        let buffer: &mut crate::integer_buffer::IntegerBuffer = $buffer;
        match buffer.width() {
            crate::integer_slice::Width::Of16 => {
                let $values = buffer.vector::<i16>();
                $body
            }
            crate::integer_slice::Width::Of32 => {
                let $values = buffer.vector::<i32>();
                $body
            }
            crate::integer_slice::Width::Of64 => {
                let $values = buffer.vector::<i64>();
                $body
            }
        }
    }};
}
pub(crate) use for_buffers;

/// An integer type that buffers can hold.
pub(crate) trait Buffered: Integer {
    const WIDTH: Width;

    fn vector(buffer: &mut IntegerBuffer) -> &mut Vec<Self>;

    fn slice(values: &[Self]) -> IntegerSlice<'_>;
}

macro_rules! buffered {
    ($($integer:ident $width:ident $variant:ident)+) => {$(
        impl Buffered for $integer {
            const WIDTH: Width = Width::$width;

            fn vector(buffer: &mut IntegerBuffer) -> &mut Vec<Self> {
                &mut buffer.$integer
            }

            fn slice(values: &[Self]) -> IntegerSlice<'_> {
                IntegerSlice::$variant(values)
            }
        }
    )+};
}

buffered!(i16 Of16 I16 i32 Of32 I32 i64 Of64 I64);

impl IntegerBuffer {
    pub(crate) fn width(&self) -> Width {
        self.width
    }

    /// The vector, whose width must be the current one.
    pub(crate) fn vector<T: Buffered>(&mut self) -> &mut Vec<T> {
        debug_assert_eq!(self.width, T::WIDTH);
        T::vector(self)
    }

    /// Resizes to `rows` values of this width for the caller to overwrite; until then they are unspecified.
    pub(crate) fn room<T: Buffered>(&mut self, rows: usize) -> &mut [T] {
        if self.width != T::WIDTH {
            // Keeping buffers of several widths would add up.
            *self = Self { width: T::WIDTH, ..Self::default() };
        }
        let vector = T::vector(self);
        vector.resize(rows, T::default());
        vector
    }

    pub(crate) fn len(&self) -> usize {
        self.slice().len()
    }

    /// The memory of the values in bytes.
    pub(crate) fn bytes(&self) -> usize {
        for_widths!(self.slice(), values => size_of_val(values))
    }

    pub(crate) fn clear(&mut self) {
        self.width = Width::Of16;
        self.i16.clear();
        self.i32.clear();
        self.i64.clear();
    }

    pub(crate) fn slice(&self) -> IntegerSlice<'_> {
        match self.width {
            Width::Of16 => IntegerSlice::I16(&self.i16),
            Width::Of32 => IntegerSlice::I32(&self.i32),
            Width::Of64 => IntegerSlice::I64(&self.i64),
        }
    }

    /// Appends integers, widening all if necessary. Returns `None` and appends nothing if a value needs more than 64
    /// bits.
    pub(crate) fn extend(&mut self, integers: brc_core::Integers<'_>) -> Option<()> {
        match integers {
            brc_core::Integers::I8(values) => {
                self.append(&values.iter().map(|&value| value.into()).collect::<Vec<i16>>());
            }
            brc_core::Integers::I16(values) => self.append(values),
            brc_core::Integers::I32(values) => self.append(values),
            brc_core::Integers::I64(values) => self.append(values),
            brc_core::Integers::I128(values) => {
                let narrow = values.iter().map(|&value| i64::try_from(value).ok()).collect::<Option<Vec<_>>>()?;
                self.append(&narrow);
            }
        }
        Some(())
    }

    /// Appends the table's entry for each code. Returns false and appends nothing if an entry is missing ([`UNKNOWN`]).
    /// All other entries are at most `largest`, which is below 2³¹.
    pub(crate) fn extend_translated(&mut self, codes: &[u32], table: &[u32], largest: u32) -> bool {
        self.widen(Width::holding(0, largest.into()));
        for_buffers!(self, own => extend_known(own, codes, table, |code| Integer::cut(code.into())))
    }

    /// Like `extend_translated`, appending 0 for nulls, whose codes are ignored.
    pub(crate) fn extend_translated_valid(
        &mut self,
        codes: &[u32],
        validity: Bitmap<'_>,
        table: &[u32],
        largest: u32,
    ) -> bool {
        self.widen(Width::holding(0, largest.into()));
        let (before, mut bits) = (self.len(), 0);
        let known = |(&code, valid): (&u32, bool)| {
            let known = if valid { table[code as usize] } else { 0 };
            bits |= known;
            i64::from(known)
        };
        for_buffers!(self, own => extend(own, codes.iter().zip(validity.iter()).map(known)));
        let are_known = bits >> 31 == 0;
        if !are_known {
            for_buffers!(self, own => own.truncate(before));
        }
        are_known
    }

    /// Appends codes that are at most `largest`.
    pub(crate) fn extend_codes(&mut self, codes: &[u32], largest: u32) {
        self.widen(Width::holding(0, largest.into()));
        for_buffers!(self, own => extend(own, codes.iter().map(|&code| code.into())));
    }

    fn append<T: Integer>(&mut self, values: &[T]) {
        if T::BITS > i16::BITS && self.width < Width::Of64 {
            self.widen(Width::of(values));
        }
        for_buffers!(self, own => extend(own, values.iter().map(|value| value.wide())));
    }

    fn widen(&mut self, width: Width) {
        match (self.width, width) {
            (Width::Of16, Width::Of32) => self.i32.extend(self.i16.drain(..).map(i32::from)),
            (Width::Of16, Width::Of64) => self.i64.extend(self.i16.drain(..).map(i64::from)),
            (Width::Of32, Width::Of64) => self.i64.extend(self.i32.drain(..).map(i64::from)),
            _ => return,
        }
        self.width = width;
    }
}

impl IntegerBuffer {
    /// A buffer of codes that are at most `largest`.
    pub(crate) fn of_codes(codes: impl Iterator<Item = u32>, largest: u32) -> Self {
        let mut buffer = Self { width: Width::holding(0, largest.into()), ..Self::default() };
        for_buffers!(&mut buffer, own => extend(own, codes.map(i64::from)));
        buffer
    }

    /// The table's entry for each code.
    ///
    /// # Panics
    /// If a code is out of bounds.
    pub(crate) fn translated(codes: IntegerSlice<'_>, table: &[u32]) -> Self {
        let largest = table.iter().copied().max().unwrap_or(0);
        let mut buffer = Self { width: Width::holding(0, largest.into()), ..Self::default() };
        for_buffers!(&mut buffer, own => for_widths!(codes, codes => *own = translated(codes, table)));
        buffer
    }

    /// The table's rank for each code, and the number of occurrences of each rank. Ranks are below `runs`.
    ///
    /// # Panics
    /// If a code or a rank is out of bounds.
    pub(crate) fn ranked(codes: IntegerSlice<'_>, table: &[u32], runs: usize) -> (Self, Vec<u32>) {
        let mut buffer = Self { width: Width::holding(0, runs as i64), ..Self::default() };
        let mut counts = vec![0; runs];
        for_buffers!(&mut buffer, own => for_widths!(codes, codes => *own = ranked(codes, table, &mut counts)));
        (buffer, counts)
    }

    /// The values of some rows.
    pub(crate) fn picked(&self, rows: &[u32]) -> Self {
        let mut picked = Self { width: self.width, ..Self::default() };
        match self.slice() {
            IntegerSlice::I16(values) => picked.i16 = at(values, rows),
            IntegerSlice::I32(values) => picked.i32 = at(values, rows),
            IntegerSlice::I64(values) => picked.i64 = at(values, rows),
        }
        picked
    }
}

/// Appends the table's entry for each code. Returns false and appends nothing if an entry is [`UNKNOWN`].
fn extend_known<T: Copy + Default>(own: &mut Vec<T>, codes: &[u32], table: &[u32], cut: impl Fn(u32) -> T) -> bool {
    let (before, mut bits) = (own.len(), 0);
    own.resize(before + codes.len(), T::default());
    for (own, &code) in own[before..].iter_mut().zip(codes) {
        let known = table[code as usize];
        bits |= known;
        *own = cut(known);
    }
    let are_known = bits >> 31 == 0;
    if !are_known {
        own.truncate(before);
    }
    are_known
}

/// The values of some rows.
pub(crate) fn at<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

fn translated<T: Integer>(codes: &[impl Integer], table: &[u32]) -> Vec<T> {
    let narrow: Vec<T> = table.iter().map(|&code| T::cut(code.into())).collect();
    codes.iter().map(|code| narrow[code.wide() as usize]).collect()
}

fn ranked<T: Integer>(codes: &[impl Integer], table: &[u32], counts: &mut [u32]) -> Vec<T> {
    let rank = |code: &_| {
        let rank = table[Integer::wide(*code) as usize];
        counts[rank as usize] += 1;
        T::cut(rank.into())
    };
    codes.iter().map(rank).collect()
}

fn extend<T: Integer>(own: &mut Vec<T>, values: impl Iterator<Item = i64>) {
    own.extend(values.map(T::cut));
}

/// The number of rows of each run, given the run of each row.
pub(crate) fn lengths(codes: &[impl Integer], runs: usize) -> Vec<u32> {
    let mut lengths = vec![0; runs];
    codes.iter().for_each(|code| lengths[code.wide() as usize] += 1);
    lengths
}

/// Moves each value to the next free position of its run.
pub(crate) fn scatter<T: Copy>(values: &[T], codes: &[impl Integer], next: &mut [u32], clustered: &mut [T]) {
    /// The prefetch distance in bytes.
    const LINE: usize = 64;
    for (&value, code) in values.iter().zip(codes) {
        let position = &mut next[code.wide() as usize];
        clustered[*position as usize] = value;
        // Prefetches the next cache line of long runs.
        prefetch(clustered, *position as usize + LINE / size_of::<T>().clamp(1, LINE));
        *position += 1;
    }
}

impl From<Vec<i64>> for IntegerBuffer {
    fn from(values: Vec<i64>) -> Self {
        Self { width: Width::Of64, i64: values, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_keep_their_values_when_widened(batches: Vec<(Vec<i64>, u32)>) {
            let mut all = Vec::new();
            let mut integers = IntegerBuffer::default();
            for (values, shift) in batches {
                let values: Vec<_> = values.iter().map(|value| value >> (shift % 64)).collect();
                integers.extend(brc_core::Integers::I64(&values)).unwrap();
                all.extend(values);
            }
            let (min, max) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
            prop_assert_eq!(integers.width(), Width::holding(min, max));
            let back: Vec<_> = (0..all.len()).map(|row| integers.slice().get(row)).collect();
            prop_assert_eq!(&back, &all);
            prop_assert_eq!(&*integers.slice().wide(), &all);
        }
    }
}
