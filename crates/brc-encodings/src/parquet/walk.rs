//! Walks over the pages of a column chunk, and finds the position and encoding of their values.

use super::delta_decoder::Deltas;
use super::hybrid::Hybrid;
use super::page::{
    DATA_PAGE_V2, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DICTIONARY_PAGE, PLAIN, PLAIN_DICTIONARY, PageHeader,
    Pages, RLE, RLE_DICTIONARY,
};
use crate::columnar::Fault;
use brc_kernels::cpu::Level;
use brc_kernels::direct::{are_known, translate, translate_codes};

/// A walk over the values of a column chunk, page by page.
pub(super) struct Walk {
    /// Whether rows have definition levels, as in nullable columns.
    has_levels: bool,
    /// The values left in the page.
    left: usize,
    pub(super) values: PageValues,
    has_dictionary: bool,
}

/// How to decode the values left in a page.
pub(super) enum PageValues {
    Codes(Hybrid),
    /// Plain, from this offset of the page's body on.
    Plain(usize),
    Deltas(Deltas),
    /// Strings by their lengths; their bytes continue at this offset of the page's body.
    Lengths(Deltas, usize),
}

/// How a column decodes its dictionary.
pub(super) trait Decode {
    /// Decodes the values of the dictionary.
    fn dictionary(&mut self, body: &[u8], values: usize) -> Result<(), Fault>;
}

impl Walk {
    pub(super) fn new(has_levels: bool) -> Self {
        Self { has_levels, left: 0, values: PageValues::Plain(0), has_dictionary: false }
    }

    /// The number of the next `rows` rows that are in one page; advances to the next page if the current one is
    /// finished.
    pub(super) fn run(&mut self, pages: &mut Pages, rows: usize, column: &mut impl Decode) -> Result<usize, Fault> {
        while self.left == 0 {
            if !self.next_page(pages, column)? {
                return Err(fewer());
            }
        }
        let run = self.left.min(rows);
        self.left -= run;
        Ok(run)
    }

    /// The same for skipped rows; also skips whole pages.
    pub(super) fn skip(
        &mut self,
        pages: &mut Pages,
        rows: usize,
        column: &mut impl Decode,
    ) -> Result<(usize, usize), Fault> {
        let mut left = rows;
        while self.left == 0 && left > 0 {
            left -= self.next_page_or_skip(pages, left, column)?.ok_or_else(fewer)?;
        }
        let run = self.left.min(left);
        self.left -= run;
        Ok((rows - left, run))
    }

    /// Whether all values were read.
    pub(super) fn is_over(&mut self, pages: &mut Pages, column: &mut impl Decode) -> Result<bool, Fault> {
        while self.left == 0 {
            if !self.next_page(pages, column)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_page(&mut self, pages: &mut Pages, column: &mut impl Decode) -> Result<bool, Fault> {
        Ok(self.next_page_or_skip(pages, 0, column)?.is_some())
    }

    /// Advances to the next page, and skips it if it has at most `rows` rows. Returns the number of skipped rows;
    /// `None` after the last page.
    fn next_page_or_skip(
        &mut self,
        pages: &mut Pages,
        rows: usize,
        column: &mut impl Decode,
    ) -> Result<Option<usize>, Fault> {
        let is_skipped = |header: &PageHeader| (1..=rows).contains(&header.values);
        let Some(header) = pages.next_unless_skipped(is_skipped)? else { return Ok(None) };
        if header.kind == DICTIONARY_PAGE {
            let is_plain = matches!(header.encoding, PLAIN | PLAIN_DICTIONARY);
            if std::mem::replace(&mut self.has_dictionary, true) || !is_plain {
                return Err(Fault::corrupt("it has a second dictionary, or one of an unknown encoding"));
            }
            column.dictionary(pages.body(), header.values)?;
            return Ok(Some(0));
        }
        if is_skipped(&header) {
            return Ok(Some(header.values));
        }
        let start = self.check_levels(&header, pages.body())?;
        let body = pages.body().get(start..).unwrap_or_default();
        self.left = header.values;
        self.values = match header.encoding {
            PLAIN => PageValues::Plain(start),
            RLE_DICTIONARY | PLAIN_DICTIONARY => match body.first() {
                _ if !self.has_dictionary => return Err(Fault::corrupt("it has codes, but no dictionary")),
                Some(&width) => PageValues::Codes(Hybrid::new(width.into(), start + 1)?),
                None if self.left == 0 => PageValues::Plain(start),
                None => return Err(Fault::corrupt("a page of codes is empty")),
            },
            DELTA_BINARY_PACKED => PageValues::Deltas(self.deltas(pages.body(), start)?),
            DELTA_LENGTH_BYTE_ARRAY => {
                let lengths = self.deltas(pages.body(), start)?;
                let end = lengths.end(pages.body())?;
                PageValues::Lengths(lengths, end)
            }
            _ => return Err(wrong_encoding()),
        };
        Ok(Some(0))
    }

    /// The differences at an offset of a page, one per value.
    fn deltas(&self, body: &[u8], start: usize) -> Result<Deltas, Fault> {
        let deltas = Deltas::new(body, start)?;
        if deltas.remaining() == self.left { Ok(deltas) } else { Err(fewer()) }
    }

    /// Checks that no row is null, as the footer promises; returns the offset of the values.
    fn check_levels(&self, header: &PageHeader, body: &[u8]) -> Result<usize, Fault> {
        let cut_off = || Fault::corrupt("a page is shorter than its levels");
        let (levels, start) = if header.kind == DATA_PAGE_V2 {
            let [repetition, definition] = header.level_bytes;
            let levels = body.get(repetition..).and_then(|rest| rest.get(..definition)).ok_or_else(cut_off)?;
            (levels, repetition + definition)
        } else if self.has_levels {
            if header.level_encoding != RLE {
                return Err(Fault::unsupported("its definition levels are of a deprecated encoding"));
            }
            let (length, rest) = body.split_first_chunk().ok_or_else(cut_off)?;
            let length = u32::from_le_bytes(*length) as usize;
            (rest.get(..length).ok_or_else(cut_off)?, 4 + length)
        } else {
            (&[][..], 0)
        };
        if header.nulls > 0 || self.has_levels && !Hybrid::new(1, 0)?.all_ones(levels, header.values)? {
            return Err(Fault::corrupt("a page has nulls, of which the footer does not know"));
        }
        Ok(start)
    }
}

pub(super) fn check_codes(codes: &[u32], values: usize) -> Result<(), Fault> {
    if are_known(Level::best(), codes, values) { Ok(()) } else { Err(unknown()) }
}

fn unknown() -> Fault {
    Fault::corrupt("a code is not in its dictionary")
}

fn fewer() -> Fault {
    Fault::corrupt("it has fewer values than the row group has rows")
}

pub(super) fn cut_off() -> Fault {
    Fault::corrupt("a page ends before its last value")
}

/// Appends the values of codes.
pub(super) fn look_up<T: Copy>(codes: &[u32], values: &[T], out: &mut Vec<T>) -> Result<(), Fault> {
    if translate(Level::best(), codes, values, out) { Ok(()) } else { Err(unknown()) }
}

/// [`look_up`] for codes that are translated to other codes.
pub(super) fn look_up_codes(codes: &[u32], others: &[u32], out: &mut Vec<u32>) -> Result<(), Fault> {
    if translate_codes(Level::best(), codes, others, out) { Ok(()) } else { Err(unknown()) }
}

/// The error that a page has an encoding that it must not have.
pub(super) fn wrong_encoding() -> Fault {
    Fault::corrupt("a page has an encoding that the footer does not list")
}
