//! Parses the fields of a column, many at once: numbers and dates in their usual text form.
//!
//! A field is loaded as the sixteen bytes *before its end*, so that digits of the same weight are at the same position
//! for any length; the bytes before the field are shifted out. No step depends on the number of digits.
//!
//! Fields that a kernel rejects are *odd*: they are left to the caller, who knows all text forms of a value.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod words;

use crate::cpu::{Kernel, Level, run_at};
use crate::structure::FieldEnd;
use brc_core::decimal::POWERS;
use std::ops::Range;

/// The fields of one column in a range of rows, without surrounding blanks to be ignored.
#[derive(Debug, Clone, Copy)]
pub struct FieldColumn<'a> {
    /// The text that all offsets refer to.
    pub text: &'a [u8],
    /// The start offset of each row.
    pub starts: &'a [u32],
    /// The ends of all fields, row by row.
    pub ends: &'a [FieldEnd],
    /// The number of fields per row.
    pub columns: usize,
    /// The index of the column.
    pub column: usize,
    /// Whether a CR at the end of a field belongs to the line end.
    pub may_return: bool,
    /// The quote, if the text between a pair of them around a field is the value.
    pub quote: Option<u8>,
}

/// The numbers of digits of parsed floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatShapes {
    /// The maximum number of digits before the point, without leading zeros, and after it.
    pub most: [u8; 2],
    /// The minimum number of digits after the point.
    pub least_decimals: u8,
}

impl FloatShapes {
    /// The shape of no floats.
    pub const NONE: Self = Self { most: [0; 2], least_decimals: u8::MAX };
}

/// The result of parsing the fields of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The rows whose fields were not parsed, in ascending order.
    pub odd: Vec<u32>,
    /// The number of parsed fields that would be written differently.
    pub altered: u64,
}

impl FieldColumn<'_> {
    /// Appends an integer for each row: up to 16 digits without leading zeros, or a minus and up to 15.
    ///
    /// # Panics
    /// If a field is not within the text.
    pub fn integers(&self, level: Level, out: &mut Vec<i64>) -> Parsed {
        #[cfg(target_arch = "x86_64")]
        match level.min(Level::best()) {
            // SAFETY: the best level has these instructions.
            Level::Avx512 => return unsafe { avx512::integers(self, out) },
            // SAFETY: likewise.
            Level::Avx2 => return unsafe { avx2::integers(self, out) },
            Level::Neon | Level::Portable => {}
        }
        self.parse(level, out, &mut words::Integers)
    }

    /// Appends a decimal with `scale` decimals for each row: of at most 16 bytes, with a magnitude below `10^digits`.
    /// Fields with fewer decimals would be written differently; with `exact` they are odd.
    ///
    /// # Panics
    /// If a field is not within the text, or `digits` is above 18.
    pub fn decimals(&self, level: Level, scale: u8, digits: u8, exact: bool, out: &mut Vec<i64>) -> Parsed {
        assert!(digits <= 18, "decimals of 64 bits");
        #[cfg(target_arch = "x86_64")]
        if scale <= digits {
            match level.min(Level::best()) {
                // SAFETY: the best level has these instructions.
                Level::Avx512 => return unsafe { avx512::decimals(self, scale, digits, exact, out) },
                // SAFETY: likewise.
                Level::Avx2 => return unsafe { avx2::decimals(self, scale, digits, exact, out) },
                Level::Neon | Level::Portable => {}
            }
        }
        let most = POWERS[usize::from(digits)];
        self.parse(level, out, &mut words::Decimals { scale: scale.into(), most, exact })
    }

    /// Appends a float for each row: of at most 15 digits and without exponent. Floats without decimals, or with a
    /// trailing zero after the first decimal, would be written differently; with `exact` they are odd.
    ///
    /// # Panics
    /// If a field is not within the text.
    pub fn floats(&self, level: Level, exact: bool, out: &mut Vec<f64>, shapes: &mut FloatShapes) -> Parsed {
        *shapes = FloatShapes::NONE;
        #[cfg(target_arch = "x86_64")]
        match level.min(Level::best()) {
            // SAFETY: the best level has these instructions.
            Level::Avx512 => return unsafe { avx512::floats(self, exact, out, shapes) },
            // SAFETY: likewise.
            Level::Avx2 => return unsafe { avx2::floats(self, exact, out, shapes) },
            Level::Neon | Level::Portable => {}
        }
        let mut parser = words::Floats { exact, shapes: FloatShapes::NONE };
        let parsed = self.parse(level, out, &mut parser);
        *shapes = parser.shapes;
        parsed
    }

    /// Appends the days since 1970-01-01 for each row, for dates such as `1969-12-31`; 29 February is odd.
    ///
    /// # Panics
    /// If a field is not within the text.
    pub fn dates(&self, level: Level, out: &mut Vec<i64>) -> Parsed {
        #[cfg(target_arch = "x86_64")]
        match level.min(Level::best()) {
            // SAFETY: the best level has these instructions.
            Level::Avx512 => return unsafe { avx512::dates(self, out) },
            // SAFETY: likewise.
            Level::Avx2 => return unsafe { avx2::dates(self, out) },
            Level::Neon | Level::Portable => {}
        }
        self.parse(level, out, &mut words::Dates)
    }

    /// Replaces `ranges` by the range in the text of the string of each row. Empty fields and quoted fields that
    /// contain a quote are odd.
    ///
    /// # Panics
    /// If a field is not within the text.
    pub fn strings(&self, level: Level, ranges: &mut Vec<Range<usize>>) -> Vec<u32> {
        #[cfg(target_arch = "x86_64")]
        match level.min(Level::best()) {
            // SAFETY: the best level has these instructions.
            Level::Avx512 => return unsafe { avx512::strings(self, ranges) },
            // SAFETY: likewise.
            Level::Avx2 => return unsafe { avx2::strings(self, ranges) },
            Level::Neon | Level::Portable => {}
        }
        run_at(level, Strings { column: self, ranges })
    }

    fn parse<P: words::Parse>(&self, level: Level, out: &mut Vec<P::Value>, parser: &mut P) -> Parsed {
        run_at(level, words::Each { column: self, out, parser })
    }

    #[inline(always)]
    fn strings_by(&self, contains: impl Fn(Range<usize>, u8) -> bool, ranges: &mut Vec<Range<usize>>) -> Vec<u32> {
        ranges.clear();
        ranges.resize(self.starts.len(), 0..0);
        let quote = self.quote.unwrap_or_default();
        let mut odd = Vec::new();
        for (row, range) in ranges.iter_mut().enumerate() {
            let (start, end) = self.range(row);
            let is_quoted = self.ends[row * self.columns + self.column].is_quoted();
            if start == end || is_quoted && contains(start..end, quote) {
                odd.push(row as u32);
            }
            *range = start..end;
        }
        odd
    }

    /// The start and end of the field of a row, without quotes and CR; empty if the field needs unquoting.
    #[inline(always)]
    fn range(&self, row: usize) -> (usize, usize) {
        let at = row * self.columns + self.column;
        let mut start = if self.column == 0 { self.starts[row] as usize } else { self.ends[at - 1].offset() + 1 };
        let field_end = self.ends[at];
        let mut end = field_end.offset();
        if self.may_return && end < self.text.len() && end > start && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        if field_end.is_quoted() {
            let is_quote = |at: usize| Some(self.text[at]) == self.quote;
            if end >= start + 2 && is_quote(start) && is_quote(end - 1) {
                (start, end) = (start + 1, end - 1);
            } else {
                end = start;
            }
        }
        (start, end)
    }
}

/// [`FieldColumn::strings`].
struct Strings<'a, 't> {
    column: &'a FieldColumn<'t>,
    ranges: &'a mut Vec<Range<usize>>,
}

impl Kernel for Strings<'_, '_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run(self) -> Vec<u32> {
        // Without early exit, so that it vectorises.
        let contains = |range: Range<usize>, byte: u8| {
            self.column.text[range].iter().fold(false, |found, other| found | (*other == byte))
        };
        self.column.strings_by(contains, self.ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{Cursor, LineEnd, Syntax, scan};
    use proptest::prelude::*;

    /// Calls `check` with a column of these fields, with and without a preceding column.
    fn check(fields: &[String], check: impl Fn(&FieldColumn<'_>)) {
        for (before, quote) in [("", ""), ("a longer field than sixteen bytes,", ""), ("1,", "\"")] {
            let text: String = fields.iter().map(|field| format!("{before}{quote}{field}{quote}\n")).collect();
            let syntax = Syntax::new(b',', LineEnd::Lf).unwrap().with_quote(b'"').unwrap();
            let (mut ends, mut cursor) = (Vec::new(), Cursor::START);
            scan(Level::best(), &syntax, text.as_bytes(), &mut cursor, text.len(), &mut ends).unwrap();
            let columns = 1 + usize::from(!before.is_empty());
            let row_ends = ends.iter().filter(|end| end.is_row_end()).map(|end| end.offset() as u32 + 1);
            let starts: Vec<u32> = std::iter::once(0).chain(row_ends).take(fields.len()).collect();
            let (may_return, quote) = (false, Some(b'"'));
            let text = text.as_bytes();
            check(&FieldColumn { text, starts: &starts, ends: &ends, columns, column: columns - 1, may_return, quote });
        }
    }

    fn is_integer(text: &str) -> bool {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_plain = digits == "0" && digits == text || !digits.starts_with('0');
        (1..=16).contains(&text.len()) && !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) && is_plain
    }

    /// The digits, the number of decimals, and the number of digits before the point.
    fn number(text: &str) -> Option<(i64, usize, usize)> {
        let (whole, decimals) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
        let digits = format!("{whole}{}", decimals.unwrap_or(""));
        let is_whole = is_integer(whole) || whole == "-0";
        let value: i64 = digits.parse().ok()?;
        let is_number = is_whole && text.len() <= 16 && !digits.contains('+') && decimals != Some("");
        let is_number = is_number && (value != 0 || !text.starts_with('-'));
        is_number.then_some((value, decimals.unwrap_or("").len(), whole.trim_start_matches('-').len()))
    }

    fn fields() -> impl Strategy<Value = Vec<String>> {
        let field = prop_oneof![
            4 => "-?[1-9][0-9]{0,16}",
            4 => "-?(0|[1-9][0-9]{0,9})\\.[0-9]{1,9}",
            1 => "-?0{0,2}\\.?0{0,7}[0-9]{0,3}",
            1 => "[-0-9./:a+]{0,18}",
            3 => "(19|20|00)[0-9]{2}-(0[0-9]|1[0-3])-([0-2][0-9]|3[0-2])",
            1 => "[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}",
        ];
        let same = (field.clone(), 1usize..40).prop_map(|(field, times)| vec![field; times]);
        prop_oneof![prop::collection::vec(field, 1..300), same]
    }

    proptest! {
        #[test]
        fn parsing_agrees_with_the_definition(fields in fields(), scale in 0u8..8, digits in 8u8..=18, exact: bool) {
            for level in Level::available() {
                let is_odd = |parsed: &Parsed, row: usize| parsed.odd.binary_search(&(row as u32)).is_ok();
                check(&fields, |column| {
                    let mut out = vec![7];
                    let parsed = column.integers(level, &mut out);
                    assert_eq!(out.len(), fields.len() + 1);
                    for (row, field) in fields.iter().enumerate() {
                        assert_eq!(is_odd(&parsed, row), !is_integer(field), "{field}");
                        assert!(is_odd(&parsed, row) || out[row + 1] == field.parse::<i64>().unwrap(), "{field}");
                    }
                });
                check(&fields, |column| {
                    let mut out = vec![7];
                    let parsed = column.decimals(level, scale, digits, exact, &mut out);
                    let mut altered = 0;
                    for (row, field) in fields.iter().enumerate() {
                        let expected = number(field).and_then(|(value, decimals, whole)| {
                            let missing = usize::from(scale).checked_sub(decimals)?;
                            let value = value.checked_mul(10i64.pow(missing as u32))?;
                            let fits = value.abs() < 10i64.pow(digits.into()) && whole + usize::from(scale) <= 18;
                            (fits && !(exact && missing > 0)).then_some((value, missing > 0))
                        });
                        assert_eq!(is_odd(&parsed, row), expected.is_none(), "{field} with {scale} of {digits}");
                        if let Some((value, is_altered)) = expected {
                            assert_eq!(out[row + 1], value, "{field} with {scale} of {digits}");
                            altered += u64::from(is_altered);
                        }
                    }
                    assert_eq!(parsed.altered, altered);
                });
                check(&fields, |column| {
                    let (mut out, mut shapes) = (vec![7.0], FloatShapes::NONE);
                    let parsed = column.floats(level, exact, &mut out, &mut shapes);
                    let (mut altered, mut expected_shapes) = (0, FloatShapes::NONE);
                    for (row, field) in fields.iter().enumerate() {
                        let expected = number(field).and_then(|(digits, decimals, whole)| {
                            let value: f64 = field.parse().unwrap();
                            let small = digits != 0 && value.abs() < 1e-4;
                            let is_altered = decimals == 0 || decimals > 1 && field.ends_with('0');
                            let fits = whole + decimals <= 15 && !small && !(exact && is_altered);
                            fits.then_some((value, is_altered, whole, decimals))
                        });
                        assert_eq!(is_odd(&parsed, row), expected.is_none(), "{field}");
                        if let Some((value, is_altered, whole, decimals)) = expected {
                            assert_eq!(out[row + 1].to_bits(), value.to_bits(), "{field}");
                            altered += u64::from(is_altered);
                            let whole = if value.abs() < 1.0 { 0 } else { whole as u8 };
                            let [most_whole, most_decimals] = expected_shapes.most;
                            expected_shapes.most = [most_whole.max(whole), most_decimals.max(decimals as u8)];
                            expected_shapes.least_decimals = expected_shapes.least_decimals.min(decimals as u8);
                        }
                    }
                    assert_eq!(parsed.altered, altered);
                    assert_eq!(shapes, expected_shapes);
                });
                check(&fields, |column| {
                    let mut ranges = Vec::new();
                    let odd = column.strings(level, &mut ranges);
                    assert_eq!(ranges.len(), fields.len());
                    for (row, (field, range)) in (0..).zip(fields.iter().zip(ranges)) {
                        assert_eq!(odd.binary_search(&row).is_ok(), field.is_empty(), "{field}");
                        assert_eq!(&column.text[range], field.as_bytes());
                    }
                });
                check(&fields, |column| {
                    let mut out = vec![7];
                    let parsed = column.dates(level, &mut out);
                    for (row, field) in fields.iter().enumerate() {
                        let expected = day(field).filter(|_| !field.ends_with("-02-29"));
                        assert_eq!(is_odd(&parsed, row), expected.is_none(), "{field}");
                        assert!(expected.is_none_or(|days| out[row + 1] == days), "{field}: {}", out[row + 1]);
                    }
                });
            }
        }
    }

    #[test]
    fn quotes_in_quotes_are_odd() {
        let inner =
            |length: usize| (0..length).map(move |at| format!("{}\"\"{}", "a".repeat(at), "b".repeat(length - at)));
        let fields: Vec<String> = [0, 1, 5, 64, 70, 130].into_iter().flat_map(inner).collect();
        for level in Level::available() {
            let text: String =
                fields.iter().map(|field| format!("\"{field}\"\n\"{}\"\n", "c".repeat(field.len()))).collect();
            let syntax = Syntax::new(b',', LineEnd::Lf).unwrap().with_quote(b'"').unwrap();
            let (mut ends, mut cursor) = (Vec::new(), Cursor::START);
            scan(level, &syntax, text.as_bytes(), &mut cursor, text.len(), &mut ends).unwrap();
            let starts: Vec<u32> =
                std::iter::once(0).chain(ends.iter().map(|end| end.offset() as u32 + 1)).take(ends.len()).collect();
            let (may_return, quote, columns, column) = (false, Some(b'"'), 1, 0);
            let text = text.as_bytes();
            let column = FieldColumn { text, starts: &starts, ends: &ends, columns, column, may_return, quote };
            let odd = column.strings(level, &mut Vec::new());
            assert_eq!(odd, (0..fields.len() as u32).map(|field| 2 * field).collect::<Vec<_>>());
        }
    }

    fn day(text: &str) -> Option<i64> {
        let bytes = text.as_bytes();
        let is_date = bytes.len() == 10
            && (0..10).all(|at| if at == 4 || at == 7 { bytes[at] == b'-' } else { bytes[at].is_ascii_digit() });
        let part = |range: Range<usize>| text[range].parse::<u32>().unwrap();
        let year = is_date.then(|| i64::from(part(0..4))).filter(|year| *year > 0)?;
        brc_core::calendar::days_of(year, part(5..7), part(8..10))
    }
}
