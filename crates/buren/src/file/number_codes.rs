//! Codes of fixed-width numeric strings. If the file has few different numbers compared with rows, all get a code in
//! advance, so that rows need neither be expanded to strings nor hashed.

use super::bounds::Bounds;
use super::footer::Chunk;
use super::scan_dictionary::{CodeMap, ScanDictionary};
use crate::strings::NumberFormat;
use brc_core::Dictionary;

/// The maximum number of codes.
const MAX_CODES: i64 = 1 << 20;

/// The minimum number of rows per code for which codes pay.
const MIN_ROWS_PER_CODE: i64 = 32;

/// The codes of all numbers between the minimum and the maximum of a file.
pub(super) struct NumberCodes {
    format: NumberFormat,
    low: i64,
    /// The scanner's code of each number.
    pub(super) codes: CodeMap,
}

impl NumberCodes {
    /// Assigns codes to all numbers of a column with these chunks. `None` if this does not pay for `rows` rows.
    pub(super) fn new(
        format: &NumberFormat,
        chunks: &[Chunk],
        rows: usize,
        values: &mut ScanDictionary,
    ) -> Option<Self> {
        if !format.is_ordered() {
            // The bounds of strings are not those of the numbers.
            return None;
        }
        let mut bounds = chunks.iter().filter_map(|chunk| chunk.bounds.as_ref());
        let first = bounds.next()?.clone();
        let Bounds::Strings { min, max } = bounds.try_fold(first, |all, bounds| all.merge(bounds))? else {
            return None;
        };
        let (low, high) = (format.number(&min)?, format.number(&max)?);
        let count = high.checked_sub(low)?.checked_add(1).filter(|count| (1..=MAX_CODES).contains(count))?;
        if count.checked_mul(MIN_ROWS_PER_CODE)? > rows as i64 {
            return None;
        }
        let numbers = dictionary_of(format, low, count as usize);
        let codes = if values.dictionary().is_empty() {
            values.start_with_numbers(numbers);
            (0..count as u32).collect()
        } else {
            let interner = values.interner();
            numbers.iter().map(|number| interner.intern(number).0).collect()
        };
        Some(Self { format: format.clone(), low, codes })
    }

    /// Whether these are codes of numbers in this format.
    pub(super) fn have_format(&self, format: &NumberFormat) -> bool {
        self.format == *format
    }

    /// Replaces `offsets` with the offset of each number from the minimum; out-of-range numbers become negative or too
    /// large.
    pub(super) fn offsets(&self, numbers: &[i64], offsets: &mut Vec<i32>) {
        offsets.clear();
        let offset = |&number: &i64| (number.wrapping_sub(self.low) as u64).min(u32::MAX.into()) as i32;
        offsets.extend(numbers.iter().map(offset));
    }
}

/// The strings of `count` consecutive numbers.
fn dictionary_of(format: &NumberFormat, first: i64, count: usize) -> Dictionary {
    let mut text = Vec::new();
    format.write(first, &mut text);
    let mut numbers = Dictionary::new();
    numbers.reserve(count, count * text.len());
    for _ in 0..count {
        numbers.push(&text);
        format.increment(&mut text);
    }
    numbers.complete()
}
