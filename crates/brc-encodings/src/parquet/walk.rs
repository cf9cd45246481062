//! A walk over the pages of a column chunk, to where values lie and how they are encoded.

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
    /// Whether rows have definition levels, as columns have that may hold nulls.
    has_levels: bool,
    /// Values left in the page.
    left: usize,
    pub(super) values: Values,
    has_dictionary: bool,
}

/// How the values left in a page are had.
pub(super) enum Values {
    Codes(Hybrid),
    /// From that byte of the page's body on.
    Plain(usize),
    Deltas(Deltas),
    /// Strings by their lengths; their bytes go on at that one of the page's body.
    Lengths(Deltas, usize),
}

/// What a column does with its dictionary.
pub(super) trait Decode {
    /// Takes the values of the dictionary.
    fn dictionary(&mut self, body: &[u8], values: usize) -> Result<(), Fault>;
}

impl Walk {
    pub(super) fn new(has_levels: bool) -> Self {
        Self { has_levels, left: 0, values: Values::Plain(0), has_dictionary: false }
    }

    /// How many of `rows` rows lie in one page; it goes on to the next page where one is over.
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

    /// The same for rows that are left out, of which it leaves out all that whole pages hold.
    pub(super) fn skip(
        &mut self,
        pages: &mut Pages,
        rows: usize,
        column: &mut impl Decode,
    ) -> Result<(usize, usize), Fault> {
        let mut left = rows;
        while self.left == 0 && left > 0 {
            left -= self.next_page_but(pages, left, column)?.ok_or_else(fewer)?;
        }
        let run = self.left.min(left);
        self.left -= run;
        Ok((rows - left, run))
    }

    /// Whether there is no value left.
    pub(super) fn is_over(&mut self, pages: &mut Pages, column: &mut impl Decode) -> Result<bool, Fault> {
        while self.left == 0 {
            if !self.next_page(pages, column)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_page(&mut self, pages: &mut Pages, column: &mut impl Decode) -> Result<bool, Fault> {
        Ok(self.next_page_but(pages, 0, column)?.is_some())
    }

    /// Goes to the next page, and over it if it has no more than so many rows. Returns how many rows it went over; `None` if
    /// there is no other page.
    fn next_page_but(
        &mut self,
        pages: &mut Pages,
        rows: usize,
        column: &mut impl Decode,
    ) -> Result<Option<usize>, Fault> {
        let is_skipped = |header: &PageHeader| (1..=rows).contains(&header.values);
        let Some(header) = pages.next_but(is_skipped)? else { return Ok(None) };
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
            PLAIN => Values::Plain(start),
            RLE_DICTIONARY | PLAIN_DICTIONARY => match body.first() {
                _ if !self.has_dictionary => return Err(Fault::corrupt("it has codes, but no dictionary")),
                Some(&width) => Values::Codes(Hybrid::new(width.into(), start + 1)?),
                None if self.left == 0 => Values::Plain(start),
                None => return Err(Fault::corrupt("a page of codes is empty")),
            },
            DELTA_BINARY_PACKED => Values::Deltas(self.deltas(pages.body(), start)?),
            DELTA_LENGTH_BYTE_ARRAY => {
                let lengths = self.deltas(pages.body(), start)?;
                let end = lengths.end(pages.body())?;
                Values::Lengths(lengths, end)
            }
            _ => return Err(wrong_encoding()),
        };
        Ok(Some(0))
    }

    /// The differences that begin at a place of a page, of which there are as many as values.
    fn deltas(&self, body: &[u8], start: usize) -> Result<Deltas, Fault> {
        let deltas = Deltas::new(body, start)?;
        if deltas.left() == self.left { Ok(deltas) } else { Err(fewer()) }
    }

    /// Checks that no row is null, as the footer has it, and tells where the values begin.
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

/// Appends what codes stand for.
pub(super) fn look_up<T: Copy>(codes: &[u32], values: &[T], out: &mut Vec<T>) -> Result<(), Fault> {
    if translate(Level::best(), codes, values, out) { Ok(()) } else { Err(unknown()) }
}

/// [`look_up`] of codes that stand for other codes.
pub(super) fn look_up_codes(codes: &[u32], others: &[u32], out: &mut Vec<u32>) -> Result<(), Fault> {
    if translate_codes(Level::best(), codes, others, out) { Ok(()) } else { Err(unknown()) }
}

/// The fault of a page that is encoded as it should not be.
pub(super) fn wrong_encoding() -> Fault {
    Fault::corrupt("a page is of an encoding that the footer does not tell")
}
