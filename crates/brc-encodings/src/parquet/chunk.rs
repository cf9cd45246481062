//! Decodes column chunks window by window. Values that a file keeps as dictionary codes stay codes: each value of a
//! dictionary is looked at once, whatever the number of rows.

use super::hybrid::Hybrid;
use super::page::{DATA_PAGE_V2, DICTIONARY_PAGE, PLAIN, PLAIN_DICTIONARY, PageHeader, Pages, RLE, RLE_DICTIONARY};
use super::string_rows::StringRows;
use super::types::Stored;
use crate::columnar::arrow_columns::ArrowColumn;
use crate::columnar::{Fault, Numbers};
use brc_core::{Dictionary, for_integers};

/// A walk over the values of a column chunk, page by page.
struct Walk {
    /// Whether rows have definition levels, as columns have that may hold nulls.
    has_levels: bool,
    /// Values left in the page.
    left: usize,
    values: Values,
    has_dictionary: bool,
}

/// How the values left in a page are had.
enum Values {
    Codes(Hybrid),
    /// From that byte of the page's body on.
    Plain(usize),
}

/// What a column does with its dictionary.
trait Decode {
    /// Takes the values of the dictionary.
    fn dictionary(&mut self, body: &[u8], values: usize) -> Result<(), Fault>;
}

impl Walk {
    fn new(has_levels: bool) -> Self {
        Self { has_levels, left: 0, values: Values::Plain(0), has_dictionary: false }
    }

    /// How many of `rows` rows lie in one page; it goes on to the next page where one is over.
    fn run(&mut self, pages: &mut Pages, rows: usize, column: &mut impl Decode) -> Result<usize, Fault> {
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
    fn skip(&mut self, pages: &mut Pages, rows: usize, column: &mut impl Decode) -> Result<(usize, usize), Fault> {
        let mut left = rows;
        while self.left == 0 && left > 0 {
            left -= self.next_page_but(pages, left, column)?.ok_or_else(fewer)?;
        }
        let run = self.left.min(left);
        self.left -= run;
        Ok((rows - left, run))
    }

    /// Whether there is no value left.
    fn is_over(&mut self, pages: &mut Pages, column: &mut impl Decode) -> Result<bool, Fault> {
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
            other => {
                return Err(Fault::corrupt(format!("a page is of encoding {other}, which the footer does not tell")));
            }
        };
        Ok(Some(0))
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

/// A column chunk of strings.
pub(super) struct StringChunk {
    walk: Walk,
    dictionary: ChunkDictionary,
    /// Codes in the terms of that dictionary.
    codes: Vec<u32>,
}

/// The dictionary of a column chunk.
struct ChunkDictionary {
    /// How many rows the column chunk has.
    rows: usize,
    /// The code of each value in the scanner's dictionary, where codes pay.
    codes: Vec<u32>,
    /// Else the values.
    values: Option<Dictionary>,
}

/// [`ChunkDictionary`] at work.
struct Interning<'a> {
    dictionary: &'a mut ChunkDictionary,
    arrays: &'a mut ArrowColumn,
}

impl Decode for Interning<'_> {
    fn dictionary(&mut self, mut body: &[u8], values: usize) -> Result<(), Fault> {
        let Self { dictionary, arrays } = self;
        // Each value has a length of four bytes at least.
        let most = values.min(body.len() / 4);
        let mut strings = (0..values).map(|_| plain_string(&mut body));
        if arrays.intern_rows(dictionary.rows) {
            dictionary.codes.reserve(most);
            strings.try_for_each(|string| {
                dictionary.codes.push(arrays.interner.intern(string?));
                Ok(())
            })
        } else {
            let values = dictionary.values.insert(Dictionary::new());
            strings.try_for_each(|string| {
                values.push(string?);
                Ok(())
            })
        }
    }
}

impl StringChunk {
    /// A column chunk of so many rows.
    pub(super) fn new(has_levels: bool, rows: usize) -> Self {
        let dictionary = ChunkDictionary { rows, codes: Vec::new(), values: None };
        Self { walk: Walk::new(has_levels), dictionary, codes: Vec::new() }
    }

    /// Appends the next rows. `arrays` has what codes stand for.
    pub(super) fn fill(
        &mut self,
        pages: &mut Pages,
        mut rows: usize,
        arrays: &mut ArrowColumn,
        out: &mut StringRows,
    ) -> Result<(), Fault> {
        while rows > 0 {
            let run = self.walk.run(pages, rows, &mut Interning { dictionary: &mut self.dictionary, arrays })?;
            let known = arrays.interner.dictionary();
            match &mut self.walk.values {
                Values::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                    let ChunkDictionary { codes, values, .. } = &self.dictionary;
                    check_codes(&self.codes, values.as_ref().map_or(codes.len(), Dictionary::len))?;
                    let of_scanner = self.codes.iter().map(|&code| codes[code as usize]);
                    match values {
                        Some(values) => out.push_all(self.codes.iter().map(|&code| Ok(values.get(code))), known)?,
                        None if out.has_codes() => out.codes.extend(of_scanner),
                        None => out.push_all(of_scanner.map(|code| Ok(known.get(code))), known)?,
                    }
                }
                Values::Plain(at) => {
                    let body = pages.body().get(*at..).unwrap_or_default();
                    let mut rest = body;
                    if out.has_codes() && arrays.intern_rows(run) {
                        for _ in 0..run {
                            out.codes.push(arrays.interner.intern(plain_string(&mut rest)?));
                        }
                    } else {
                        let strings = (0..run).map(|_| plain_string(&mut rest));
                        out.push_all(strings, arrays.interner.dictionary())?;
                    }
                    *at += body.len() - rest.len();
                }
            }
            rows -= run;
        }
        Ok(())
    }

    /// Leaves out the next rows.
    pub(super) fn skip(&mut self, pages: &mut Pages, mut rows: usize, arrays: &mut ArrowColumn) -> Result<(), Fault> {
        while rows > 0 {
            let mut interning = Interning { dictionary: &mut self.dictionary, arrays };
            let (in_pages, run) = self.walk.skip(pages, rows, &mut interning)?;
            match &mut self.walk.values {
                _ if run == 0 => {}
                Values::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                }
                Values::Plain(at) => {
                    let body = pages.body().get(*at..).unwrap_or_default();
                    let mut rest = body;
                    (0..run).try_for_each(|_| plain_string(&mut rest).map(drop))?;
                    *at += body.len() - rest.len();
                }
            }
            rows -= in_pages + run;
        }
        Ok(())
    }

    pub(super) fn is_over(&mut self, pages: &mut Pages, arrays: &mut ArrowColumn) -> Result<bool, Fault> {
        self.walk.is_over(pages, &mut Interning { dictionary: &mut self.dictionary, arrays })
    }
}

fn plain_string<'a>(body: &mut &'a [u8]) -> Result<&'a [u8], Fault> {
    let (length, rest) = body.split_first_chunk().ok_or_else(cut_off)?;
    let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut_off)?;
    *body = rest;
    Ok(value)
}

fn check_codes(codes: &[u32], values: usize) -> Result<(), Fault> {
    match codes.iter().max() {
        Some(&largest) if largest as usize >= values => Err(Fault::corrupt("a code is not in its dictionary")),
        _ => Ok(()),
    }
}

fn fewer() -> Fault {
    Fault::corrupt("it has fewer values than the row group has rows")
}

fn cut_off() -> Fault {
    Fault::corrupt("a page ends before its last value")
}

/// A column chunk of numbers.
pub(super) struct NumberChunk {
    walk: Walk,
    numbers: NumberPages,
    codes: Vec<u32>,
}

struct NumberPages {
    stored: Stored,
    dictionary: Numbers,
}

impl Decode for NumberPages {
    fn dictionary(&mut self, mut body: &[u8], values: usize) -> Result<(), Fault> {
        let mut numbers = Numbers::I64(Vec::new());
        plain_numbers(self.stored, &mut body, values, &mut numbers)?;
        self.dictionary = narrowed(numbers);
        Ok(())
    }
}

impl NumberChunk {
    pub(super) fn new(stored: Stored, has_levels: bool) -> Self {
        let numbers = NumberPages { stored, dictionary: Numbers::I16(Vec::new()) };
        Self { walk: Walk::new(has_levels), numbers, codes: Vec::new() }
    }

    /// Appends the next rows.
    pub(super) fn fill(&mut self, pages: &mut Pages, mut rows: usize, out: &mut Numbers) -> Result<(), Fault> {
        while rows > 0 {
            let run = self.walk.run(pages, rows, &mut self.numbers)?;
            match &mut self.walk.values {
                Values::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                    gather(&self.codes, &self.numbers.dictionary, out)?;
                }
                Values::Plain(at) => {
                    let body = pages.body().get(*at..).unwrap_or_default();
                    let mut rest = body;
                    plain_numbers(self.numbers.stored, &mut rest, run, out)?;
                    *at += body.len() - rest.len();
                }
            }
            rows -= run;
        }
        Ok(())
    }

    /// Leaves out the next rows.
    pub(super) fn skip(&mut self, pages: &mut Pages, mut rows: usize) -> Result<(), Fault> {
        while rows > 0 {
            let (in_pages, run) = self.walk.skip(pages, rows, &mut self.numbers)?;
            match &mut self.walk.values {
                Values::Codes(hybrid) if run > 0 => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                }
                Values::Codes(_) => {}
                // Where the page is shorter than that, whoever reads on finds out.
                Values::Plain(at) => *at = at.saturating_add(run * self.numbers.stored.width()),
            }
            rows -= in_pages + run;
        }
        Ok(())
    }

    pub(super) fn is_over(&mut self, pages: &mut Pages) -> Result<bool, Fault> {
        self.walk.is_over(pages, &mut self.numbers)
    }
}

/// Appends the next numbers as they lie, one after the other.
fn plain_numbers(stored: Stored, body: &mut &[u8], values: usize, out: &mut Numbers) -> Result<(), Fault> {
    let mut take = |width: usize| -> Result<&[u8], Fault> {
        let length = values.checked_mul(width).ok_or_else(cut_off)?;
        let (taken, rest) = body.split_at_checked(length).ok_or_else(cut_off)?;
        *body = rest;
        Ok(taken)
    };
    match stored {
        Stored::Int32 => {
            let words = take(4)?.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |it| i32::from_le_bytes(*it)));
            match out.medium() {
                Some(out) => out.extend(words),
                None => out.wide().ok_or_else(too_wide)?.extend(words.map(i64::from)),
            }
        }
        Stored::Int64 => {
            let words = take(8)?.chunks_exact(8).map(|word| word.first_chunk().map_or(0, |it| i64::from_le_bytes(*it)));
            out.wide().ok_or_else(too_wide)?.extend(words);
        }
        Stored::Bytes => return Err(Fault::corrupt("strings where numbers belong")),
    }
    Ok(())
}

fn too_wide() -> Fault {
    Fault::corrupt("numbers of 64 bits and wider ones")
}

/// The same numbers in the narrowest width that holds all of them.
#[allow(clippy::unnecessary_cast)]
fn narrowed(numbers: Numbers) -> Numbers {
    let Some((min, max)) = numbers.as_values().bounds() else { return numbers };
    let fits = |low: i64, high: i64| i128::from(low) <= min && max <= i128::from(high);
    for_integers!(numbers.as_values(), values => {
        if fits(i16::MIN.into(), i16::MAX.into()) {
            Numbers::I16(values.iter().map(|&value| value as i16).collect())
        } else if fits(i32::MIN.into(), i32::MAX.into()) {
            Numbers::I32(values.iter().map(|&value| value as i32).collect())
        } else {
            numbers
        }
    })
}

/// Appends what codes stand for.
fn gather(codes: &[u32], dictionary: &Numbers, out: &mut Numbers) -> Result<(), Fault> {
    check_codes(codes, dictionary.len())?;
    match dictionary {
        Numbers::I16(values) => {
            if let Some(out) = out.narrow() {
                look_up(codes, values, out);
            } else if let Some(out) = out.medium() {
                look_up(codes, values, out);
            } else {
                look_up(codes, values, out.wide().ok_or_else(too_wide)?);
            }
        }
        Numbers::I32(values) => match out.medium() {
            Some(out) => look_up(codes, values, out),
            None => look_up(codes, values, out.wide().ok_or_else(too_wide)?),
        },
        Numbers::I64(values) => look_up(codes, values, out.wide().ok_or_else(too_wide)?),
        Numbers::I128(_) => return Err(too_wide()),
    }
    Ok(())
}

fn look_up<T: Copy, U: From<T>>(codes: &[u32], values: &[T], out: &mut Vec<U>) {
    out.extend(codes.iter().map(|&code| U::from(values[code as usize])));
}
