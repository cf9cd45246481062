//! Processes some hundred rows at once: a *tile* of text passes through a few short loops, each over all of its rows.
//!
//! 1. find the delimiters and line ends, as positions;
//! 2. parse the numbers, and check all of their bytes;
//! 3. convert the names to keys, hash these, and compute their slots;
//! 4. compare the keys with their slots, and take the codes from there, or add the numbers to the states there.
//!
//! Short loops with few dependencies keep the processor's out-of-order window full; no branch depends on the contents
//! of a usual row. Longer names, whose keys are digests, are processed in separate loops in between. Rows whose names
//! have no key are skipped by directing them to a slot that is always free, and processed at the end.

use super::isa::{Found, GROUP, TextIsa};
use super::{Progress, RowReader, Window, plain};
use crate::accumulate::GroupStatistics;
use crate::cpu::Level;
use crate::interner::{Interner, Key};
use crate::isa::{Isa, Work, run_with};

/// The size of a tile of text in bytes. Its rows and the table of names together should fit in the L1 cache.
const TILE: usize = 4096;
/// More pairs of positions than a tile can have, with room for a whole register after them.
const PAIRS: usize = TILE / 2 + 64;
const _: () = assert!(RowReader::MAX_ROWS >= TILE / 6, "a plain row has at least six bytes");

mod names;

/// The buffers of a tile.
#[repr(C, align(64))]
pub(super) struct Tile {
    /// From [`Tile::FIRST`] on, for each row: the position of its delimiter plus 1, and of its line feed plus 1; 0
    /// before the first row. A row therefore starts at the value of the entry before its own.
    marks: [u16; Self::FIRST + 2 * PAIRS],
    /// The keys of the names.
    keys: [Key; PAIRS],
    /// The offsets of their slots, in bytes from the first slot for names.
    slots: [i32; PAIRS],
    /// For each group, a mask of skipped rows, which have a name without a key or do not exist.
    skipped: [u16; PAIRS / GROUP + 1],
    /// The rows with names whose key is a digest.
    long: [u16; PAIRS],
    /// The rows with names that have no key, or no slot in the table.
    others: [u16; PAIRS],
    /// The numbers, if the caller does not request them.
    values: [i16; PAIRS],
}

/// The positions of a tile's rows.
#[derive(Clone, Copy)]
struct Rows<'a> {
    text: &'a [u8],
    marks: &'a [u16],
}

impl<'a> Rows<'a> {
    #[inline(always)]
    fn start(&self, row: usize) -> usize {
        usize::from(self.marks[Tile::FIRST + 2 * row - 1])
    }

    #[inline(always)]
    fn delimiter(&self, row: usize) -> usize {
        usize::from(self.marks[Tile::FIRST + 2 * row]) - 1
    }

    #[inline(always)]
    fn name(&self, row: usize) -> &'a [u8] {
        &self.text[self.start(row)..self.delimiter(row)]
    }
}

impl Tile {
    /// Aligns the marks of the first row to a cache line.
    const FIRST: usize = 32;

    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            marks: [0; Self::FIRST + 2 * PAIRS],
            keys: [[0; 2]; PAIRS],
            slots: [0; PAIRS],
            skipped: [0; PAIRS / GROUP + 1],
            long: [0; PAIRS],
            others: [0; PAIRS],
            values: [0; PAIRS],
        })
    }

    /// [`RowReader::read`]; `None` if the first row is longer than a tile. The interner must use the hash of the level.
    pub(super) fn read(
        &mut self,
        level: Level,
        window: Window<'_>,
        delimiter: u8,
        interner: &mut Interner,
        codes: &mut Vec<u32>,
        values: &mut Vec<i16>,
    ) -> Option<Progress> {
        run_with(level, Read { tile: self, window, delimiter, interner, codes, values })
    }

    /// [`RowReader::fold`], likewise.
    pub(super) fn fold(
        &mut self,
        level: Level,
        window: Window<'_>,
        delimiter: u8,
        interner: &mut Interner,
        aside: &mut GroupStatistics,
    ) -> Option<Progress> {
        let (progress, others) = run_with(level, Fold { tile: self, window, delimiter, interner })?;
        for &row in self.others[..others].iter().filter(|&&row| usize::from(row) < progress.rows) {
            let row = usize::from(row);
            let code = interner.intern(Rows { text: window.text(), marks: &self.marks }.name(row));
            aside.grow(interner.dictionary().len());
            let value = [i64::from(self.values[row])].into_iter().collect();
            aside.add(code, &value).unwrap_or_else(|_| unreachable!("it has grown to have this group"));
        }
        Some(progress)
    }

    /// Reads the rows of a tile. Returns the progress, and the number of rows that are listed in `others`. Without
    /// `CODES`, no codes are written.
    ///
    /// # Safety
    /// The processor has the instructions of `I`, and the interner uses their hash. There is room for the rows of a
    /// tile at `values`, and with `CODES` at `codes`.
    #[inline(always)]
    unsafe fn read_tile<I: TextIsa, const CODES: bool>(
        &mut self,
        window: Window<'_>,
        delimiter: u8,
        interner: &mut Interner,
        codes: *mut u32,
        values: *mut i16,
    ) -> Option<(Progress, usize)> {
        let text = window.text();
        let text = &text[..text.len().min(TILE)];
        // SAFETY: for this whole block: the caller promises the instructions. A window has readable margins of a whole
        // register on both sides. The loops below stay within the tile's rows, rounded up to whole groups, for which
        // all arrays have room.
        unsafe {
            let Found { rows, one_delimiter_each } = self.find_marks::<I>(text, delimiter)?;
            let mut count = rows;
            let are_numbers = self.parse_numbers::<I>(text.as_ptr(), delimiter, rows, values);
            // The first row may be so short that the delimiter that was found is one before the text.
            let is_in_text = (1..self.marks[Self::FIRST + 1]).contains(&self.marks[Self::FIRST]);
            if !are_numbers || !one_delimiter_each || !is_in_text {
                count = self.plain_rows(text, delimiter, rows);
            }
            let not_short = self.take_keys::<I>(text.as_ptr(), count);
            let (long, mut others) = self.digest_names::<I>(text, not_short);
            self.find_slots::<I>(count, &interner.table);
            count = self.match_names::<I, CODES>(text, count, interner, &mut others, codes);
            self.compare_long::<I>(text, count, long, interner, &mut others);
            count = self.good_others(text, count, others);
            if CODES {
                self.name_others(text, count, others, interner, codes);
            }
            let bytes = if count == 0 { 0 } else { usize::from(self.marks[Self::FIRST + 2 * count - 1]) };
            Some((Progress { rows: count, bytes }, others))
        }
    }

    /// Writes the marks of the rows, except perhaps those of delimiters; `None` if there are no rows.
    ///
    /// # Safety
    /// The processor has the instructions; whole blocks of the text are readable.
    #[inline(always)]
    unsafe fn find_marks<I: TextIsa>(&mut self, text: &[u8], delimiter: u8) -> Option<Found> {
        // SAFETY: at most one mark is written per byte of a tile, and a register at a time, for which the array has room.
        let found = unsafe { I::marks(text, delimiter, self.marks.as_mut_ptr().add(Self::FIRST))? };
        self.fill_group(found.rows);
        (found.rows > 0).then_some(found)
    }

    /// Pads the last group of rows by repeating the last row.
    #[inline(always)]
    fn fill_group(&mut self, rows: usize) {
        let (before, after) = self.marks[Self::FIRST - 2..].split_at_mut(2 * rows + 2);
        let filler = [before[2 * rows].max(1), before[2 * rows + 1].max(1)];
        for pair in after[..2 * GROUP].as_chunks_mut::<2>().0 {
            *pair = filler;
        }
    }

    /// Writes the numbers. Returns whether every row is `name;number` with a plain number; the names are not checked.
    ///
    /// # Safety
    /// The processor has the instructions. The marks are filled up to a whole group; `numbers` has room for one, and
    /// the text a margin before it.
    #[inline(always)]
    unsafe fn parse_numbers<I: TextIsa>(
        &mut self,
        text: *const u8,
        delimiter: u8,
        rows: usize,
        numbers: *mut i16,
    ) -> bool {
        // SAFETY: promised by the caller; a word starts at most eight bytes before the text, within its margin.
        unsafe {
            let marks = self.marks.as_mut_ptr().add(Self::FIRST);
            let mut faults = I::no_faults();
            for row in (0..rows).step_by(GROUP) {
                faults = I::numbers(text, marks.add(2 * row), delimiter, faults, numbers.add(row));
            }
            !I::is_any(faults)
        }
    }

    /// The number of plain rows at the start of the text, whose marks are all written.
    #[cold]
    fn plain_rows(&mut self, text: &[u8], delimiter: u8, most: usize) -> usize {
        let (mut rows, mut start) = (0, 0);
        while rows < most
            && let Some(row) = plain::first_row(&text[start..], delimiter)
        {
            self.marks[Self::FIRST + 2 * rows] = (start + row.name + 1) as u16;
            start += row.bytes;
            self.marks[Self::FIRST + 2 * rows + 1] = start as u16;
            rows += 1;
        }
        self.fill_group(rows);
        rows
    }
}

/// [`Tile::read`].
struct Read<'a, 'w> {
    tile: &'a mut Tile,
    window: Window<'w>,
    delimiter: u8,
    interner: &'a mut Interner,
    codes: &'a mut Vec<u32>,
    values: &'a mut Vec<i16>,
}

impl Work for Read<'_, '_> {
    type Output = Option<Progress>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<Progress> {
        let Self { tile, window, delimiter, interner, codes, values } = self;
        codes.reserve(PAIRS);
        values.reserve(PAIRS);
        // SAFETY: the caller promises the instructions. Both vectors have room for the rows of a tile, rounded up to
        // whole groups; `read_tile` writes as many codes and values as it returns rows.
        unsafe {
            let (to_codes, to_values) = (codes.as_mut_ptr().add(codes.len()), values.as_mut_ptr().add(values.len()));
            let (progress, _) = tile.read_tile::<I, true>(window, delimiter, interner, to_codes, to_values)?;
            codes.set_len(codes.len() + progress.rows);
            values.set_len(values.len() + progress.rows);
            Some(progress)
        }
    }
}

/// The part of [`Tile::fold`] that processes all rows at once.
struct Fold<'a, 'w> {
    tile: &'a mut Tile,
    window: Window<'w>,
    delimiter: u8,
    interner: &'a mut Interner,
}

impl Work for Fold<'_, '_> {
    type Output = Option<(Progress, usize)>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<(Progress, usize)> {
        let Self { tile, window, delimiter, interner } = self;
        let values = tile.values.as_mut_ptr();
        // SAFETY: the caller promises the instructions; without codes, none are written.
        let (progress, others) =
            unsafe { tile.read_tile::<I, false>(window, delimiter, interner, std::ptr::null_mut(), values)? };
        // Also the rows after the last good one, up to a whole group.
        tile.skip_from(progress.rows);
        // SAFETY: the names of all rows were found in their slots, except for skipped rows, which go to the slot that
        // is always free. There is room for values and slots up to whole groups.
        unsafe {
            let first = &raw mut interner.table.slots[1..][0].state;
            I::add(values, tile.slots.as_ptr(), progress.rows, first);
        }
        Some((progress, others))
    }
}
