//! Decodes column chunks window by window. Values that a file keeps as dictionary codes stay codes: each value of a
//! dictionary is looked at once, whatever the number of rows.

use super::delta;
use super::hybrid::Hybrid;
use super::page::{
    BYTE_STREAM_SPLIT, DATA_PAGE_V2, DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY, DICTIONARY_PAGE,
    PLAIN, PLAIN_DICTIONARY, PageHeader, Pages, RLE, RLE_DICTIONARY,
};
use super::types::Stored;
use crate::columnar::{self, Fault, Numbers, big_endian};
use brc_kernels::interner::Interner;

/// A walk over the values of a column chunk, page by page.
struct Walk {
    /// Whether rows have definition levels, as columns have that may hold NULLs.
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
    /// Already decoded, from that one on.
    Decoded(usize),
}

/// What a column does with parts of its pages.
trait Decode {
    /// Takes the values of the dictionary.
    fn dictionary(&mut self, body: &[u8], values: usize) -> Result<(), Fault>;

    /// Decodes a page that can only be decoded as a whole.
    fn whole_page(&mut self, encoding: i64, body: &[u8], values: usize) -> Result<(), Fault>;
}

impl Walk {
    fn new(has_levels: bool) -> Self {
        Self { has_levels, left: 0, values: Values::Plain(0), has_dictionary: false }
    }

    /// How many of `rows` rows lie in one page; it goes on to the next page where one is over.
    fn run(&mut self, pages: &mut Pages, rows: usize, column: &mut impl Decode) -> Result<usize, Fault> {
        while self.left == 0 {
            if !self.next_page(pages, column)? {
                return Err(Fault::corrupt("it has fewer values than the row group has rows"));
            }
        }
        let run = self.left.min(rows);
        self.left -= run;
        Ok(run)
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
        let Some(header) = pages.next()? else { return Ok(false) };
        if header.kind == DICTIONARY_PAGE {
            let is_plain = matches!(header.encoding, PLAIN | PLAIN_DICTIONARY);
            if std::mem::replace(&mut self.has_dictionary, true) || !is_plain {
                return Err(Fault::corrupt("it has a second dictionary, or one of an unknown encoding"));
            }
            column.dictionary(pages.body(), header.values)?;
            return Ok(true);
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
            DELTA_BINARY_PACKED | DELTA_LENGTH_BYTE_ARRAY | DELTA_BYTE_ARRAY | BYTE_STREAM_SPLIT => {
                if self.left > delta::MOST {
                    return Err(Fault::unsupported(format!("a page has more than {} values", delta::MOST)));
                }
                column.whole_page(header.encoding, body, self.left)?;
                Values::Decoded(0)
            }
            other => return Err(Fault::corrupt(format!("a page is of the unknown encoding {other}"))),
        };
        Ok(true)
    }

    /// Checks that no value is NULL, and tells where the values begin.
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
            return Err(Fault::unsupported(columnar::HAS_NULL));
        }
        Ok(start)
    }
}

/// A column chunk of strings.
pub(super) struct StringChunk {
    walk: Walk,
    codes: StringCodes,
}

/// The codes, in the scanner's dictionary, of what a column chunk keeps as dictionary or page.
#[derive(Default)]
struct StringCodes {
    dictionary: Vec<u32>,
    decoded: Vec<u32>,
}

/// [`StringCodes`] at work.
struct Interning<'a> {
    codes: &'a mut StringCodes,
    interner: &'a mut Interner,
}

impl Decode for Interning<'_> {
    fn dictionary(&mut self, mut body: &[u8], values: usize) -> Result<(), Fault> {
        // Each value has a length of four bytes at least.
        self.codes.dictionary.reserve(values.min(body.len() / 4));
        for _ in 0..values {
            self.codes.dictionary.push(self.interner.intern(plain_string(&mut body)?));
        }
        Ok(())
    }

    fn whole_page(&mut self, encoding: i64, body: &[u8], values: usize) -> Result<(), Fault> {
        let Self { codes: StringCodes { decoded, .. }, interner } = self;
        decoded.clear();
        let each = |value: &[u8]| decoded.push(interner.intern(value));
        match encoding {
            DELTA_LENGTH_BYTE_ARRAY => delta::strings(body, values, each),
            DELTA_BYTE_ARRAY => delta::shared_strings(body, values, each),
            _ => Err(Fault::corrupt("a page of strings is encoded as numbers")),
        }
    }
}

impl StringChunk {
    pub(super) fn new(has_levels: bool) -> Self {
        Self { walk: Walk::new(has_levels), codes: StringCodes::default() }
    }

    /// Appends the codes of the next rows.
    pub(super) fn fill(
        &mut self,
        pages: &mut Pages,
        mut rows: usize,
        interner: &mut Interner,
        out: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        while rows > 0 {
            let run = self.walk.run(pages, rows, &mut Interning { codes: &mut self.codes, interner })?;
            match &mut self.walk.values {
                Values::Codes(hybrid) => {
                    let start = out.len();
                    out.resize(start + run, 0);
                    hybrid.read(pages.body(), &mut out[start..])?;
                    translate(&mut out[start..], &self.codes.dictionary)?;
                }
                Values::Plain(at) => {
                    let body = pages.body().get(*at..).unwrap_or_default();
                    let mut rest = body;
                    for _ in 0..run {
                        out.push(interner.intern(plain_string(&mut rest)?));
                    }
                    *at += body.len() - rest.len();
                }
                Values::Decoded(at) => {
                    out.extend_from_slice(decoded(&self.codes.decoded, at, run)?);
                }
            }
            rows -= run;
        }
        Ok(())
    }

    pub(super) fn is_over(&mut self, pages: &mut Pages, interner: &mut Interner) -> Result<bool, Fault> {
        self.walk.is_over(pages, &mut Interning { codes: &mut self.codes, interner })
    }
}

fn plain_string<'a>(body: &mut &'a [u8]) -> Result<&'a [u8], Fault> {
    let (length, rest) = body.split_first_chunk().ok_or_else(cut_off)?;
    let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut_off)?;
    *body = rest;
    Ok(value)
}

fn translate(codes: &mut [u32], dictionary: &[u32]) -> Result<(), Fault> {
    check_codes(codes, dictionary.len())?;
    for code in codes {
        *code = dictionary[*code as usize];
    }
    Ok(())
}

fn check_codes(codes: &[u32], values: usize) -> Result<(), Fault> {
    match codes.iter().max() {
        Some(&largest) if largest as usize >= values => Err(Fault::corrupt("a code is not in its dictionary")),
        _ => Ok(()),
    }
}

fn decoded<'a, T>(values: &'a [T], at: &mut usize, run: usize) -> Result<&'a [T], Fault> {
    let run = values.get(*at..).and_then(|rest| rest.get(..run)).ok_or_else(cut_off)?;
    *at += run.len();
    Ok(run)
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
    decoded: Vec<i64>,
}

impl Decode for NumberPages {
    fn dictionary(&mut self, mut body: &[u8], values: usize) -> Result<(), Fault> {
        let mut numbers = Numbers::I64(Vec::new());
        plain_numbers(self.stored, &mut body, values, &mut numbers)?;
        self.dictionary = narrowed(numbers);
        Ok(())
    }

    fn whole_page(&mut self, encoding: i64, body: &[u8], values: usize) -> Result<(), Fault> {
        match encoding {
            DELTA_BINARY_PACKED => {
                delta::integers(body, values, &mut self.decoded)?;
            }
            BYTE_STREAM_SPLIT => {
                let mut numbers = Numbers::I64(Vec::new());
                let bytes = joined(body, values, self.stored)?;
                plain_numbers(self.stored, &mut bytes.as_slice(), values, &mut numbers)?;
                self.decoded = std::mem::take(numbers.wide());
                return Ok(());
            }
            _ => return Err(Fault::corrupt("a page of numbers is encoded as strings")),
        }
        for value in &mut self.decoded {
            *value = match self.stored {
                Stored::Int32 => i64::from(*value as i32),
                Stored::Unsigned32 => i64::from(*value as u32),
                Stored::Unsigned64 => unsigned(*value as u64)?,
                Stored::Int64 => *value,
                _ => return Err(Fault::corrupt("a page of bytes is encoded as integers")),
            };
        }
        Ok(())
    }
}

impl NumberChunk {
    pub(super) fn new(stored: Stored, has_levels: bool) -> Self {
        let numbers = NumberPages { stored, dictionary: Numbers::I16(Vec::new()), decoded: Vec::new() };
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
                Values::Decoded(at) => out.wide().extend_from_slice(decoded(&self.numbers.decoded, at, run)?),
            }
            rows -= run;
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
    let too_large = || Fault::unsupported("a number does not fit 64 bits");
    match stored {
        Stored::Int32 => {
            let words = take(4)?.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |it| i32::from_le_bytes(*it)));
            match out.medium() {
                Some(out) => out.extend(words),
                None => out.wide().extend(words.map(i64::from)),
            }
        }
        Stored::Unsigned32 => {
            let words = take(4)?.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |it| u32::from_le_bytes(*it)));
            out.wide().extend(words.map(i64::from));
        }
        Stored::Int64 => {
            let words = take(8)?.chunks_exact(8).map(|word| word.first_chunk().map_or(0, |it| i64::from_le_bytes(*it)));
            out.wide().extend(words);
        }
        Stored::Unsigned64 => {
            for word in take(8)?.chunks_exact(8) {
                out.wide().push(unsigned(word.first_chunk().map_or(0, |it| u64::from_le_bytes(*it)))?);
            }
        }
        Stored::BigEndian(width) => {
            for word in take(width)?.chunks_exact(width) {
                out.wide().push(big_endian(word).ok_or_else(too_large)?);
            }
        }
        Stored::BigEndianBytes => {
            for _ in 0..values {
                out.wide().push(big_endian(plain_string(body)?).ok_or_else(too_large)?);
            }
        }
        Stored::Bytes => return Err(Fault::corrupt("strings where numbers belong")),
    }
    Ok(())
}

fn unsigned(value: u64) -> Result<i64, Fault> {
    i64::try_from(value).map_err(|_| Fault::unsupported(format!("the unsigned number {value} does not fit 64 bits")))
}

/// Values of which the first bytes of all stand together, then the second ones, and so on: as they lie elsewhere.
fn joined(body: &[u8], values: usize, stored: Stored) -> Result<Vec<u8>, Fault> {
    let width = match stored {
        Stored::Int32 | Stored::Unsigned32 => 4,
        Stored::Int64 | Stored::Unsigned64 => 8,
        Stored::BigEndian(width) => width,
        Stored::Bytes | Stored::BigEndianBytes => return Err(Fault::corrupt("strings are encoded as numbers")),
    };
    let length = values.checked_mul(width).filter(|length| *length <= body.len()).ok_or_else(cut_off)?;
    let mut joined = vec![0; length];
    if values > 0 {
        for (place, stream) in body[..length].chunks_exact(values).enumerate() {
            for (value, &byte) in joined.chunks_exact_mut(width).zip(stream) {
                value[place] = byte;
            }
        }
    }
    Ok(joined)
}

/// The same numbers in the narrowest width that holds all of them.
fn narrowed(mut numbers: Numbers) -> Numbers {
    let wide = numbers.wide();
    let fits = |low: i64, high: i64| wide.iter().all(|value| (low..=high).contains(value));
    if fits(i16::MIN.into(), i16::MAX.into()) {
        Numbers::I16(wide.iter().map(|&value| value as i16).collect())
    } else if fits(i32::MIN.into(), i32::MAX.into()) {
        Numbers::I32(wide.iter().map(|&value| value as i32).collect())
    } else {
        numbers
    }
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
                look_up(codes, values, out.wide());
            }
        }
        Numbers::I32(values) => match out.medium() {
            Some(out) => look_up(codes, values, out),
            None => look_up(codes, values, out.wide()),
        },
        Numbers::I64(values) => look_up(codes, values, out.wide()),
    }
    Ok(())
}

fn look_up<T: Copy, U: From<T>>(codes: &[u32], values: &[T], out: &mut Vec<U>) {
    out.extend(codes.iter().map(|&code| U::from(values[code as usize])));
}
