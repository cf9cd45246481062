//! Some hundred rows at once with AVX-512: a *tile* of text goes through a few short loops, each over all its rows.
//!
//! 1. find the delimiters and line ends, as positions;
//! 2. parse the numbers, sixteen rows in a register, and check every byte of them;
//! 3. turn the names into keys, hash these, and compute the slots in which they must lie;
//! 4. compare the keys with their slots, and take the codes from there, or add the numbers to what lies there.
//!
//! Short loops with little to wait for in each keep the processor's window full; no branch depends on what a usual row
//! holds. Longer names, of which the keys are digests, get loops of their own in between. Rows whose names have no key are
//! left out by sending them to a slot that is always free, and done at the end.

use super::{Progress, RowReader, Window, plain};
use crate::accumulate::{GroupStatistics, slots::x86 as add};
use crate::cpu::PLACES;
use crate::interner::{Interner, Key};
use std::arch::x86_64::*;

/// How much text is a tile, in bytes. Its rows and the table of names together should fit the first-level cache.
const TILE: usize = 4096;
/// More pairs of positions than a tile can have, and room for a whole register behind them.
const PAIRS: usize = TILE / 2 + 64;
const _: () = assert!(RowReader::MOST_ROWS >= TILE / 6, "a plain row has at least six bytes");

mod names;
mod rows;

/// The working memory of a tile.
#[repr(C, align(64))]
pub(super) struct Tile {
    /// From [`Tile::FIRST`] on, for each row: one more than the position of its delimiter, and of its line feed; before
    /// the first row a 0. So a row starts where the entry before its own says.
    marks: [u16; Self::FIRST + 2 * PAIRS],
    /// The keys of the names.
    keys: [Key; PAIRS],
    /// The offsets of their slots, in bytes from the first that can hold a name.
    slots: [i32; PAIRS],
    /// For each sixteen rows: which are left out, because the name has no key or there is no such row.
    left_out: [u16; PAIRS / 16 + 1],
    /// The rows with names that are not short but have a key, which is a digest.
    long: [u16; PAIRS],
    /// The rows with names that have no key, or none in the table.
    others: [u16; PAIRS],
    /// The numbers, where nobody else wants them.
    values: [i16; PAIRS],
}

/// The positions of a tile's rows.
#[derive(Clone, Copy)]
struct Rows<'a> {
    text: &'a [u8],
    marks: &'a [u16],
}

impl<'a> Rows<'a> {
    fn start(&self, row: usize) -> usize {
        usize::from(self.marks[Tile::FIRST + 2 * row - 1])
    }

    fn delimiter(&self, row: usize) -> usize {
        usize::from(self.marks[Tile::FIRST + 2 * row]) - 1
    }

    fn name(&self, row: usize) -> &'a [u8] {
        &self.text[self.start(row)..self.delimiter(row)]
    }
}

impl Tile {
    /// So that the marks of the first row lie at the start of a cache line.
    const FIRST: usize = 32;

    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            marks: [0; Self::FIRST + 2 * PAIRS],
            keys: [[0; 2]; PAIRS],
            slots: [0; PAIRS],
            left_out: [0; PAIRS / 16 + 1],
            long: [0; PAIRS],
            others: [0; PAIRS],
            values: [0; PAIRS],
        })
    }

    /// [`RowReader::read`]; nothing if the first row is longer than a tile. Called only where
    /// [`crate::cpu::Level::Avx512`] is available.
    pub(super) fn read(
        &mut self,
        window: Window<'_>,
        delimiter: u8,
        interner: &mut Interner,
        codes: &mut Vec<u32>,
        values: &mut Vec<i16>,
    ) -> Option<Progress> {
        codes.reserve(PAIRS);
        values.reserve(PAIRS);
        // SAFETY: the processor has AVX-512 (see above). A window has readable margins of a whole register on both
        // sides. Both vectors have room for the rows of a tile, rounded up to whole registers; `read_tile` writes as many
        // codes and values as it says.
        unsafe {
            let (to_codes, to_values) = (codes.as_mut_ptr().add(codes.len()), values.as_mut_ptr().add(values.len()));
            let (progress, _) = self.read_tile::<true>(window, delimiter, interner, to_codes, to_values)?;
            codes.set_len(codes.len() + progress.rows);
            values.set_len(values.len() + progress.rows);
            Some(progress)
        }
    }

    /// [`RowReader::fold`], likewise.
    pub(super) fn fold(
        &mut self,
        window: Window<'_>,
        delimiter: u8,
        interner: &mut Interner,
        aside: &mut GroupStatistics,
    ) -> Option<Progress> {
        let values = self.values.as_mut_ptr();
        // SAFETY: as for `read`; without codes, none are written.
        let (progress, others) =
            unsafe { self.read_tile::<false>(window, delimiter, interner, std::ptr::null_mut(), values)? };
        // The rows behind the last good one, up to a whole register.
        self.left_out_from(progress.rows);
        // SAFETY: all names were found in their slots, but those that are left out: they go to the slot that is always
        // free. There is room for values and slots up to whole groups.
        unsafe {
            let first = &raw mut interner.table.slots[1..][0].state;
            add::rows_at(values, self.slots.as_ptr(), progress.rows, first);
        }
        for &row in self.others[..others].iter().filter(|&&row| usize::from(row) < progress.rows) {
            let row = usize::from(row);
            let code = interner.intern(Rows { text: window.text(), marks: &self.marks }.name(row));
            aside.grow(interner.dictionary().len());
            let value = [i64::from(self.values[row])].into_iter().collect();
            aside.add(code, &value).unwrap_or_else(|_| unreachable!("it has grown to have this group"));
        }
        Some(progress)
    }

    /// Reads the rows of a tile, and returns also how many of them are listed as others. Without `CODES` it does not
    /// write their codes, nor those of any row.
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,vaes")]
    #[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,aes")]
    unsafe fn read_tile<const CODES: bool>(
        &mut self,
        window: Window<'_>,
        delimiter: u8,
        interner: &mut Interner,
        codes: *mut u32,
        values: *mut i16,
    ) -> Option<(Progress, usize)> {
        let text = window.text();
        let text = &text[..text.len().min(TILE)];
        // SAFETY: for all of this block: as in `read`; the loops below stay inside the tile's rows, rounded up to
        // whole registers, for which all arrays have room.
        unsafe {
            let mut count = self.find_marks(text, delimiter);
            if count == 0 {
                return None;
            }
            if !self.parse_numbers(text.as_ptr(), delimiter, count, values) {
                count = self.plain_rows(text, delimiter, count);
            }
            let not_short = self.take_keys(text.as_ptr(), count);
            let (long, mut others) = self.digest_names(text, not_short);
            self.find_slots(count, &interner.table);
            count = self.match_names::<CODES>(text, count, interner, &mut others, codes);
            self.compare_long(text, count, long, interner, &mut others);
            count = self.good_others(text, count, others);
            if CODES {
                self.name_others(text, count, others, interner, codes);
            }
            let bytes = if count == 0 { 0 } else { usize::from(self.marks[Self::FIRST + 2 * count - 1]) };
            Some((Progress { rows: count, bytes }, others))
        }
    }

    /// Writes the marks and returns how many rows there are; 0 also if marks lie too close for rows.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    #[inline]
    unsafe fn find_marks(&mut self, text: &[u8], delimiter: u8) -> usize {
        let first = self.marks.as_mut_ptr();
        // SAFETY: a block is read up to 63 bytes behind the text, inside its margin. At most one mark is written for
        // each byte of a tile, and 32 at a time: the array has room for as many.
        unsafe {
            let first = first.add(Self::FIRST);
            let delimiters = _mm512_set1_epi8(delimiter as i8);
            let line_feeds = _mm512_set1_epi8(b'\n' as i8);
            let places = _mm512_loadu_si512(PLACES.as_ptr().cast());
            let mut base = _mm256_set1_epi16(1);
            let mut next = first;
            let mut at = 0;
            while at < text.len() {
                let bytes = _mm512_loadu_si512(text.as_ptr().add(at).cast());
                let is_separator = _mm512_cmpeq_epi8_mask(bytes, delimiters);
                let marks = _kor_mask64(is_separator, _mm512_cmpeq_epi8_mask(bytes, line_feeds));
                let packed = _mm512_maskz_compress_epi8(marks, places);
                let positions = _mm256_add_epi16(_mm256_cvtepu8_epi16(_mm512_castsi512_si128(packed)), base);
                _mm256_storeu_si256(next.cast(), positions);
                let count = marks.count_ones() as usize;
                if count > 16 {
                    if count > 32 {
                        return 0;
                    }
                    let more = _mm512_extracti32x4_epi32::<1>(packed);
                    let positions = _mm256_add_epi16(_mm256_cvtepu8_epi16(more), base);
                    _mm256_storeu_si256(next.add(16).cast(), positions);
                }
                base = _mm256_add_epi16(base, _mm256_set1_epi16(64));
                next = next.add(count);
                at += 64;
            }
            // The last block may have reached behind the text.
            while next > first && usize::from(*next.sub(1)) > text.len() {
                next = next.sub(1);
            }
            let rows = next.offset_from(first) as usize / 2;
            // The last group of rows is filled up with repetitions of the last row.
            let filler = if rows == 0 { [1, 1] } else { [*first.add(2 * rows - 2), *first.add(2 * rows - 1)] };
            for row in rows..rows + 16 {
                *first.add(2 * row) = filler[0];
                *first.add(2 * row + 1) = filler[1];
            }
            rows
        }
    }

    /// How many rows at the start of the text are plain.
    #[cold]
    fn plain_rows(&self, text: &[u8], delimiter: u8, rows: usize) -> usize {
        let rows_at = Rows { text, marks: &self.marks };
        let plain = |row: &usize| {
            let start = rows_at.start(*row);
            let whole = plain::row(&text[start..], rows_at.delimiter(*row) - start);
            text[rows_at.delimiter(*row)] == delimiter
                && whole.is_some_and(|plain| start + plain.bytes == usize::from(self.marks[Self::FIRST + 2 * row + 1]))
        };
        (0..rows).take_while(plain).count()
    }
}
