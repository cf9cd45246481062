//! Decodes column chunks of strings, one window at a time. Dictionary codes stay codes: each dictionary value is
//! converted once, whatever the number of rows. Other strings are borrowed from the page if it has all rows of the
//! window.

use super::delta_decoder::Deltas;
use super::page::Pages;
use super::string_rows::StringRows;
use super::walk::{Decode, PageValues, Walk, check_codes, cut_off, look_up_codes, wrong_encoding};
use crate::columnar::arrow_columns::ArrowColumn;
use crate::columnar::{Fault, WINDOW};
use brc_core::{ByteStrings, Column, Data, Dictionary};
use brc_kernels::arithmetic::running_sums;
use brc_kernels::cpu::Level;
use std::ops::Range;

/// A column chunk of strings.
pub(super) struct StringChunk {
    walk: Walk,
    dictionary: ChunkDictionary,
    /// Codes of the scanner's dictionary.
    codes: Vec<u32>,
    /// The offsets of the strings in the page, and their end.
    offsets: Vec<i32>,
}

/// The dictionary of a column chunk.
struct ChunkDictionary {
    /// The number of rows of the column chunk.
    rows: usize,
    /// The code of each value in the scanner's dictionary, if the rows become codes.
    codes: Vec<u32>,
    /// Otherwise the values.
    values: Option<Dictionary>,
}

/// Decodes with a [`ChunkDictionary`].
struct Interning<'a> {
    dictionary: &'a mut ChunkDictionary,
    arrays: &'a mut ArrowColumn,
}

impl Decode for Interning<'_> {
    fn dictionary(&mut self, body: &[u8], values: usize) -> Result<(), Fault> {
        let Self { dictionary, arrays } = self;
        let ranges = plain_ranges(body, &mut 0, values)?;
        if arrays.intern_rows(dictionary.rows) {
            arrays.interner.intern_all(body, &ranges, &mut dictionary.codes);
        } else {
            let values = dictionary.values.insert(Dictionary::new());
            for range in ranges {
                values.push(&body[range]);
            }
        }
        Ok(())
    }
}

impl StringChunk {
    /// A column chunk of `rows` rows.
    pub(super) fn new(has_levels: bool, rows: usize) -> Self {
        let dictionary = ChunkDictionary { rows, codes: Vec::new(), values: None };
        Self { walk: Walk::new(has_levels), dictionary, codes: Vec::new(), offsets: Vec::new() }
    }

    /// Appends the next rows. `arrays` has the dictionary of codes.
    pub(super) fn fill(
        &mut self,
        pages: &mut Pages,
        window: usize,
        arrays: &mut ArrowColumn,
        out: &mut StringRows,
    ) -> Result<(), Fault> {
        let mut rows = window;
        while rows > 0 {
            let run = self.walk.run(pages, rows, &mut Interning { dictionary: &mut self.dictionary, arrays })?;
            let known = arrays.interner.dictionary();
            match &mut self.walk.values {
                PageValues::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                    let ChunkDictionary { codes, values, .. } = &self.dictionary;
                    match values {
                        Some(values) => {
                            check_codes(&self.codes, values.len())?;
                            out.push_all(self.codes.iter().map(|&code| values.get(code)), known)?;
                        }
                        None if out.has_codes() => look_up_codes(&self.codes, codes, &mut out.codes)?,
                        None => {
                            check_codes(&self.codes, codes.len())?;
                            let of_scanner = self.codes.iter().map(|&code| codes[code as usize]);
                            out.push_all(of_scanner.map(|code| known.get(code)), known)?;
                        }
                    }
                }
                PageValues::Plain(at) => {
                    let (body, ranges) = (pages.body(), plain_ranges(pages.body(), at, run)?);
                    if out.has_codes() && arrays.intern_rows(run) {
                        arrays.interner.intern_all(body, &ranges, &mut out.codes);
                    } else {
                        out.push_all(ranges.into_iter().map(|range| &body[range]), arrays.interner.dictionary())?;
                    }
                }
                PageValues::Lengths(lengths, at) => {
                    locate(lengths, at, run, pages.body(), &mut self.offsets)?;
                    let strings = ByteStrings::new(&self.offsets, pages.body());
                    if out.has_codes() && arrays.intern_rows(run) {
                        out.codes.extend(strings.iter().map(|string| arrays.interner.intern(string)));
                    } else if run == window {
                        out.are_lent = true;
                    } else {
                        out.push_all(strings.iter(), arrays.interner.dictionary())?;
                    }
                }
                PageValues::Deltas(_) => return Err(wrong_encoding()),
            }
            rows -= run;
        }
        Ok(())
    }

    /// Skips the next rows.
    pub(super) fn skip(&mut self, pages: &mut Pages, mut rows: usize, arrays: &mut ArrowColumn) -> Result<(), Fault> {
        while rows > 0 {
            let mut interning = Interning { dictionary: &mut self.dictionary, arrays };
            let (in_pages, run) = self.walk.skip(pages, rows, &mut interning)?;
            match &mut self.walk.values {
                _ if run == 0 => {}
                PageValues::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                }
                PageValues::Plain(at) => (0..run).try_for_each(|_| plain_range(pages.body(), at).map(drop))?,
                PageValues::Lengths(lengths, at) => {
                    for start in (0..run).step_by(WINDOW) {
                        locate(lengths, at, WINDOW.min(run - start), pages.body(), &mut self.offsets)?;
                    }
                }
                PageValues::Deltas(_) => return Err(wrong_encoding()),
            }
            rows -= in_pages + run;
        }
        Ok(())
    }

    /// The rows of the window. `arrays` has the dictionary of codes.
    pub(super) fn as_column<'a>(
        &'a self,
        pages: &'a Pages,
        arrays: &'a ArrowColumn,
        rows: &'a StringRows,
    ) -> Column<'a> {
        match rows.are_lent {
            true => Data::Bytes(ByteStrings::new(&self.offsets, pages.body())).into(),
            false => rows.as_column(arrays.interner.dictionary()),
        }
    }

    pub(super) fn is_over(&mut self, pages: &mut Pages, arrays: &mut ArrowColumn) -> Result<bool, Fault> {
        self.walk.is_over(pages, &mut Interning { dictionary: &mut self.dictionary, arrays })
    }
}

/// The locations of the next strings in a page.
fn locate(
    lengths: &mut Deltas,
    at: &mut usize,
    strings: usize,
    body: &[u8],
    offsets: &mut Vec<i32>,
) -> Result<(), Fault> {
    let too_long = |_| Fault::unsupported("a page has 2 GiB");
    let start = i32::try_from(*at).map_err(too_long)?;
    offsets.clear();
    offsets.push(start);
    lengths.read(body, strings, offsets)?;
    let lengths = &mut offsets[1..];
    let length: i64 = lengths.iter().map(|&length| i64::from(length)).sum();
    let end = usize::try_from(length).ok().map(|length| *at + length).filter(|&end| end <= body.len());
    *at = end.filter(|_| lengths.iter().all(|&length| length >= 0)).ok_or_else(cut_off)?;
    i32::try_from(*at).map_err(too_long)?;
    running_sums(Level::best(), start, lengths);
    Ok(())
}

/// The locations of the next plain strings in a page, from an offset on; each follows its length.
fn plain_ranges(body: &[u8], at: &mut usize, strings: usize) -> Result<Vec<Range<usize>>, Fault> {
    // Each string takes at least the four bytes of its length.
    let mut ranges = Vec::with_capacity(strings.min(body.len() / 4));
    for _ in 0..strings {
        ranges.push(plain_range(body, at)?);
    }
    Ok(ranges)
}

fn plain_range(body: &[u8], at: &mut usize) -> Result<Range<usize>, Fault> {
    let rest = body.get(*at..).ok_or_else(cut_off)?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > rest.len() {
        return Err(cut_off());
    }
    let start = *at + size_of::<u32>();
    *at = start + length;
    Ok(start..*at)
}
