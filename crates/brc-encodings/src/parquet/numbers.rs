//! Decodes column chunks of integers, one window at a time.

use super::page::Pages;
use super::types::Stored;
use super::walk::{Decode, PageValues, Walk, cut_off, look_up, wrong_encoding};
use crate::columnar::{Fault, WINDOW};
use brc_core::{IntegerBuffer, for_integers};
use std::mem::discriminant;

/// A column chunk of numbers.
pub(super) struct NumberChunk {
    walk: Walk,
    numbers: NumberPages,
    codes: Vec<u32>,
}

struct NumberPages {
    stored: Stored,
    /// An empty buffer of the width of prefix sums.
    sums: IntegerBuffer,
    dictionary: IntegerBuffer,
}

impl Decode for NumberPages {
    fn dictionary(&mut self, mut body: &[u8], values: usize) -> Result<(), Fault> {
        let mut numbers = IntegerBuffer::I64(Vec::new());
        plain_numbers(self.stored, &mut body, values, &mut numbers)?;
        self.dictionary = narrowed(numbers);
        Ok(())
    }
}

impl NumberChunk {
    /// A chunk of integers; `are_narrow` if all are known to fit 32 bits.
    pub(super) fn new(stored: Stored, are_narrow: bool, has_levels: bool) -> Self {
        let is_narrow = are_narrow || stored == Stored::Int32;
        let sums = if is_narrow { IntegerBuffer::I32(Vec::new()) } else { IntegerBuffer::I64(Vec::new()) };
        let numbers = NumberPages { stored, sums, dictionary: IntegerBuffer::I16(Vec::new()) };
        Self { walk: Walk::new(has_levels), numbers, codes: Vec::new() }
    }

    /// Appends the next rows.
    pub(super) fn fill(&mut self, pages: &mut Pages, mut rows: usize, out: &mut IntegerBuffer) -> Result<(), Fault> {
        while rows > 0 {
            let run = self.walk.run(pages, rows, &mut self.numbers)?;
            match &mut self.walk.values {
                PageValues::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                    gather(&self.codes, &self.numbers.dictionary, out)?;
                }
                PageValues::Plain(at) => {
                    let body = pages.body().get(*at..).unwrap_or_default();
                    let mut rest = body;
                    plain_numbers(self.numbers.stored, &mut rest, run, out)?;
                    *at += body.len() - rest.len();
                }
                PageValues::Deltas(deltas) => append(&self.numbers.sums, out, |out| match out {
                    IntegerBuffer::I32(out) => deltas.read(pages.body(), run, out),
                    IntegerBuffer::I64(out) => deltas.read(pages.body(), run, out),
                    _ => Err(too_wide()),
                })?,
                PageValues::Lengths(..) => return Err(wrong_encoding()),
            }
            rows -= run;
        }
        Ok(())
    }

    /// Skips the next rows.
    pub(super) fn skip(&mut self, pages: &mut Pages, mut rows: usize) -> Result<(), Fault> {
        while rows > 0 {
            let (in_pages, run) = self.walk.skip(pages, rows, &mut self.numbers)?;
            match &mut self.walk.values {
                PageValues::Codes(hybrid) if run > 0 => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                }
                PageValues::Codes(_) => {}
                // If the page is shorter, the next read reports it.
                PageValues::Plain(at) => *at = at.saturating_add(run * self.numbers.stored.width()),
                PageValues::Deltas(deltas) => {
                    let mut left = Vec::<i64>::new();
                    for start in (0..run).step_by(WINDOW) {
                        left.clear();
                        deltas.read(pages.body(), WINDOW.min(run - start), &mut left)?;
                    }
                }
                PageValues::Lengths(..) => return Err(wrong_encoding()),
            }
            rows -= in_pages + run;
        }
        Ok(())
    }

    pub(super) fn is_over(&mut self, pages: &mut Pages) -> Result<bool, Fault> {
        self.walk.is_over(pages, &mut self.numbers)
    }
}

/// Appends the next plain integers.
fn plain_numbers(stored: Stored, body: &mut &[u8], values: usize, out: &mut IntegerBuffer) -> Result<(), Fault> {
    let mut take = |width: usize| -> Result<&[u8], Fault> {
        let length = values.checked_mul(width).ok_or_else(cut_off)?;
        let (taken, rest) = body.split_at_checked(length).ok_or_else(cut_off)?;
        *body = rest;
        Ok(taken)
    };
    match stored {
        Stored::Int32 => {
            let words = take(4)?.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |it| i32::from_le_bytes(*it)));
            append(&IntegerBuffer::I32(Vec::new()), out, |out| {
                let IntegerBuffer::I32(out) = out else { return Err(too_wide()) };
                out.extend(words);
                Ok(())
            })?;
        }
        Stored::Int64 => {
            let words = take(8)?.chunks_exact(8).map(|word| word.first_chunk().map_or(0, |it| i64::from_le_bytes(*it)));
            append(&IntegerBuffer::I64(Vec::new()), out, |out| {
                let IntegerBuffer::I64(out) = out else { return Err(too_wide()) };
                out.extend(words);
                Ok(())
            })?;
        }
        Stored::Bytes | Stored::Float32 | Stored::Float64 => {
            return Err(Fault::corrupt("other values where integers belong"));
        }
    }
    Ok(())
}

fn too_wide() -> Fault {
    Fault::corrupt("numbers of 64 bits and wider ones")
}

/// The same integers in the narrowest width that fits all of them.
#[allow(clippy::unnecessary_cast)]
fn narrowed(numbers: IntegerBuffer) -> IntegerBuffer {
    let Some((min, max)) = numbers.as_integers().bounds() else { return numbers };
    let fits = |low: i64, high: i64| i128::from(low) <= min && max <= i128::from(high);
    for_integers!(numbers.as_integers(), values => {
        if fits(i16::MIN.into(), i16::MAX.into()) {
            IntegerBuffer::I16(values.iter().map(|&value| value as i16).collect())
        } else if fits(i32::MIN.into(), i32::MAX.into()) {
            IntegerBuffer::I32(values.iter().map(|&value| value as i32).collect())
        } else {
            numbers
        }
    })
}

/// Appends integers of the width of `like`; `out` may have a different width.
fn append(
    like: &IntegerBuffer,
    out: &mut IntegerBuffer,
    come: impl FnOnce(&mut IntegerBuffer) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if out.is_empty() && discriminant(out) != discriminant(like) {
        *out = like.of_same_width();
    }
    if discriminant(out) == discriminant(like) {
        return come(out);
    }
    let mut found = like.of_same_width();
    come(&mut found)?;
    out.extend(found.as_integers());
    Ok(())
}

/// Appends the values of codes.
fn gather(codes: &[u32], dictionary: &IntegerBuffer, out: &mut IntegerBuffer) -> Result<(), Fault> {
    append(dictionary, out, |out| match (dictionary, out) {
        (IntegerBuffer::I16(values), IntegerBuffer::I16(out)) => look_up(codes, values, out),
        (IntegerBuffer::I32(values), IntegerBuffer::I32(out)) => look_up(codes, values, out),
        (IntegerBuffer::I64(values), IntegerBuffer::I64(out)) => look_up(codes, values, out),
        _ => Err(too_wide()),
    })
}
