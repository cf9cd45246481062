//! Scans the numbers of a text image.
//!
//! A split is a range of bytes; the numbers that begin in it belong to it, and the pixels whose first number does.
//! Which pixels these are is known when all earlier splits were read: see [`super::chain`].

use super::chain::SplitStart;
use super::header::{is_token, is_white};
use super::pixels::{Pixels, Samples};
use super::table::PpmTable;
use super::text::{LONGEST_WORD, Portion, Text};
use crate::delivery::Delivery;
use brc_core::{
    Error, ReadAt, Result, RowFault, RowLocation, ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Table,
};
use brc_kernels::cpu::Level;
use brc_kernels::samples;
use memchr::{memchr_iter, memchr2};
use std::ops::Range;
use std::time::Instant;

/// The number of bytes parsed one by one after the kernel stopped.
const STEP: usize = 64;

/// The number of bytes first read after a split to complete its last pixel.
const LOOK_AHEAD: u64 = 256;

pub(super) struct AsciiScanner<'t> {
    table: &'t PpmTable,
    options: ScanOptions,
    numbers: NumberReader<'t>,
    pixels: Pixels,
}

/// An invalid number, and its offset in the file.
type Fault = (u64, RowFault);

/// Parses numbers.
struct NumberReader<'t> {
    text: Text<'t>,
    level: Level,
    maximum: u16,
    /// The parsed numbers.
    found: Vec<u16>,
    /// The maximum number of numbers, if the first excess one is to be found.
    most: Option<usize>,
}

impl NumberReader<'_> {
    /// Replaces the parsed numbers by those that begin in a range of bytes. If `check_previous` is set, the byte before
    /// the range is checked for the start of a number. Returns whether the range ends within a comment.
    fn read(&mut self, bytes: Range<u64>, check_previous: bool, mut in_comment: bool) -> Result<Result<bool, Fault>> {
        self.found.clear();
        // The previous byte shows whether the first bytes belong to an earlier number.
        self.text.start(bytes.start - u64::from(check_previous)..bytes.end);
        let mut is_first = check_previous;
        loop {
            let portion = match self.text.next()? {
                Ok(Some(portion)) => portion,
                Ok(None) => return Ok(Ok(in_comment)),
                Err(byte) => return Ok(Err((byte, RowFault::NumberTooLong(LONGEST_WORD)))),
            };
            let text = portion.window.text();
            let skipped = match is_first {
                true if !in_comment && is_token(text[0]) => text.iter().take_while(|&&byte| is_token(byte)).count(),
                true => 1,
                false => 0,
            };
            is_first = false;
            let Self { level, maximum, found, most, .. } = self;
            let rules = Rules { level: *level, maximum: *maximum, most: *most };
            match rules.take(&portion, skipped, in_comment, found) {
                Ok(within) => in_comment = within,
                Err((at, fault)) => return Ok(Err((portion.byte + at as u64, fault))),
            }
        }
    }
}

struct Rules {
    level: Level,
    maximum: u16,
    most: Option<usize>,
}

impl Rules {
    /// Appends the numbers of a portion, from a byte on. Returns whether the split's part of it ends within a comment.
    fn take(
        &self,
        portion: &Portion<'_>,
        mut at: usize,
        mut in_comment: bool,
        found: &mut Vec<u16>,
    ) -> Result<bool, (usize, RowFault)> {
        let text = portion.window.text();
        loop {
            if in_comment {
                match memchr2(b'\n', b'\r', &text[at..]).map(|end| at + end + 1) {
                    Some(end) if end <= portion.own => at = end,
                    _ => return Ok(true),
                }
            }
            if self.most.is_none() {
                let mut window = portion.window;
                window.advance(at);
                at += samples::read(self.level, window, self.maximum, found);
            }
            in_comment = self.step(text, &mut at, found)?;
            if in_comment && at >= portion.own {
                // It begins in the next split.
                return Ok(false);
            }
            if at >= text.len() {
                return Ok(in_comment);
            }
        }
    }

    /// Parses some numbers one by one; returns whether a comment begins at the byte where it stopped.
    fn step(&self, text: &[u8], at: &mut usize, found: &mut Vec<u16>) -> Result<bool, (usize, RowFault)> {
        let end = text.len().min(*at + STEP);
        while *at < end {
            match text[*at] {
                b'#' => return Ok(true),
                byte if is_white(byte) => *at += 1,
                _ => {
                    let length = text[*at..].iter().take_while(|&&byte| is_token(byte)).count();
                    let number = self.number(&text[*at..][..length], found.len()).map_err(|fault| (*at, fault))?;
                    found.push(number);
                    *at += length;
                }
            }
        }
        Ok(false)
    }

    fn number(&self, token: &[u8], before: usize) -> Result<u16, RowFault> {
        let text = || RowFault::quote(token);
        if let Some(expected) = self.most.filter(|most| before >= *most) {
            return Err(RowFault::TooManyNumbers { text: text(), expected: expected as u64 });
        }
        if !token.iter().all(u8::is_ascii_digit) {
            return Err(RowFault::MalformedNumber(text()));
        }
        let add = |number: u64, digit: &u8| number.saturating_mul(10).saturating_add((digit - b'0').into());
        let number = u16::try_from(token.iter().fold(0, add)).ok().filter(|number| *number <= self.maximum);
        number.ok_or_else(|| RowFault::AboveMaximum { text: text(), maximum: self.maximum })
    }
}

impl<'t> AsciiScanner<'t> {
    pub(super) fn new(table: &'t PpmTable, options: &ScanOptions) -> Self {
        let text = Text::new(&table.file, &table.path, table.length);
        let maximum = table.image.maximum;
        let numbers = NumberReader { text, level: Level::best(), maximum, found: Vec::new(), most: None };
        Self { table, options: options.clone(), numbers, pixels: Pixels::new(table.image, options) }
    }

    /// The number of numbers in the image.
    fn expected(&self) -> u64 {
        // Files are shorter than that, so saturation does not matter.
        self.table.image.pixels().saturating_mul(3)
    }

    /// Parses the numbers that begin in a range of bytes of the file.
    fn read(&mut self, bytes: Range<u64>, in_comment: bool) -> Result<Result<bool, Fault>> {
        let check_previous = bytes.start > self.table.raster;
        self.numbers.read(bytes, check_previous, in_comment)
    }

    /// Parses the numbers of a split, and determines its start and the next split's.
    fn read_split(&mut self, split: &Split) -> Result<(SplitStart, SplitStart)> {
        let table = self.table;
        let claim = table.chain.claim(split.index);
        let bytes = split.start..split.end;
        let mut outcome = self.read(bytes.clone(), false)?;
        let mut is_read = true;
        let start = table.chain.start_of(split.index, |other, start| {
            is_read = false;
            let other = table.split(other).ok_or_else(|| Error::Usage(format!("there is no split {other}")))?;
            let outcome = self.read(other.start..other.end, start.in_comment)?;
            self.end_of(&other, start, outcome)
        })?;
        if start.in_comment || !is_read {
            outcome = self.read(bytes, start.in_comment)?;
        }
        let end = self.end_of(split, start, outcome)?;
        claim.ends(end);
        Ok((start, end))
    }

    /// The start of the next split, given the outcome of parsing this one.
    fn end_of(&mut self, split: &Split, start: SplitStart, outcome: Result<bool, Fault>) -> Result<SplitStart> {
        let (numbers, expected) = (start.numbers + self.numbers.found.len() as u64, self.expected());
        if numbers > expected || (numbers == expected && outcome.is_err()) {
            return Err(self.too_many(split, start)?);
        }
        match outcome {
            Err(fault) => Err(self.bad(fault, Some(numbers))?),
            Ok(_) if split.end >= self.table.length && numbers < expected => {
                Err(self.bad((self.table.length, RowFault::TooFewNumbers { found: numbers, expected }), None)?)
            }
            Ok(in_comment) => Ok(SplitStart { numbers, in_comment }),
        }
    }

    /// The error that a split has more numbers than the image.
    fn too_many(&mut self, split: &Split, start: SplitStart) -> Result<Error> {
        let expected = self.expected();
        self.numbers.most = usize::try_from(expected - start.numbers).ok();
        let outcome = self.read(split.start..split.end, start.in_comment);
        self.numbers.most = None;
        let (byte, text) = match outcome? {
            Err((byte, RowFault::TooManyNumbers { text, .. })) => (byte, text),
            Err((byte, _)) => (byte, String::new()),
            Ok(_) => (split.end, String::new()),
        };
        self.bad((byte, RowFault::TooManyNumbers { text, expected }), None)
    }

    /// The error at an offset of the file; `numbers_before` counts the numbers before it, if it is one.
    fn bad(&self, (byte, fault): Fault, numbers_before: Option<u64>) -> Result<Error> {
        let fields = self.table.schema().fields();
        let column = numbers_before.map(|numbers| fields[(numbers % 3) as usize].name.clone());
        let place = RowLocation { line: self.line(byte)?, byte, column };
        Ok(Error::BadRow { path: self.table.path.clone(), place, fault })
    }

    /// The line of a byte, from 1.
    fn line(&self, byte: u64) -> Result<u64> {
        let (mut line, mut at, mut buffer) = (1, 0, vec![0; STEP << 10]);
        while at < byte {
            let wanted = buffer.len().min(usize::try_from(byte - at).unwrap_or(usize::MAX));
            let read = self.table.file.read_full_at(&mut buffer[..wanted], at);
            let read = read.map_err(Error::io(&self.table.path, "read"))?;
            line += memchr_iter(b'\n', &buffer[..read]).count() as u64;
            if read < wanted {
                break;
            }
            at += read as u64;
        }
        Ok(line)
    }

    /// Parses `missing` further numbers after a split, to complete its last pixel.
    fn complete(&mut self, split: &Split, end: SplitStart, missing: usize) -> Result<()> {
        let own = std::mem::take(&mut self.numbers.found);
        let mut ahead = LOOK_AHEAD;
        loop {
            let until = split.end.saturating_add(ahead).min(self.table.length);
            let outcome = self.read(split.end..until, end.in_comment)?;
            let found = self.numbers.found.len();
            if found < missing {
                let numbers = end.numbers + found as u64;
                match outcome {
                    Err(fault) => return Err(self.bad(fault, Some(numbers))?),
                    Ok(_) if until == self.table.length => {
                        let fault = RowFault::TooFewNumbers { found: numbers, expected: self.expected() };
                        return Err(self.bad((until, fault), None)?);
                    }
                    Ok(_) => ahead = ahead.saturating_mul(16),
                }
                continue;
            }
            let more = std::mem::replace(&mut self.numbers.found, own);
            self.numbers.found.extend_from_slice(&more[..missing]);
            return Ok(());
        }
    }
}

impl Scanner for AsciiScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let before = Instant::now();
        let options = self.options.clone();
        let mut delivery = Delivery::new(&options, sink);
        let (start, end) = self.read_split(split)?;
        let pixels = start.numbers.div_ceil(3)..end.numbers.div_ceil(3);
        if !pixels.is_empty() {
            // The numbers of a pixel that starts before the split are skipped; the rest of the last pixel is after the
            // split.
            let skipped = (pixels.start * 3 - start.numbers) as usize;
            let missing = (pixels.end * 3 - end.numbers) as usize;
            if missing > 0 {
                self.complete(split, end, missing)?;
            }
            let samples = Samples::Words(&self.numbers.found[skipped..]);
            self.pixels.deliver(samples, pixels.start, &mut delivery)?;
        }
        let cost = std::mem::take(&mut self.numbers.text.cost);
        let decode_time = before.elapsed().saturating_sub(cost.read_time + delivery.sink_time);
        let (bytes, read_time) = (cost.bytes, cost.read_time);
        Ok(Some(Scanned { rows: delivery.rows, bytes, read_time, decode_time, ..Scanned::default() }))
    }
}
