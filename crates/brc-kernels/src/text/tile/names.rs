//! Looks up the names of a tile in the interner's table.

use super::{Rows, Tile};
use crate::interner::{Interner, KeyTable, LONGEST, NO_KEY, SHORT};
use crate::text::isa::{GROUP, SKIPPED, SLOT_SHIFT, TextIsa};

impl Tile {
    /// Writes the keys of all short names, and lists the rows with other names as long. Returns the number of these.
    ///
    /// # Safety
    /// The processor has the instructions. The marks are padded to a whole group, and the text is followed by a margin.
    #[inline(always)]
    pub(super) unsafe fn take_keys<I: TextIsa>(&mut self, text: *const u8, rows: usize) -> usize {
        let mut others = 0;
        // SAFETY: promised by the caller; there is room for the keys of whole groups, and for listing a whole group
        // after every row.
        unsafe {
            let marks = self.marks.as_ptr().add(Self::FIRST);
            for row in (0..rows).step_by(GROUP) {
                let here = if rows - row >= GROUP { !0u16 } else { (1 << (rows - row)) - 1 };
                let other = I::keys(text, marks.add(2 * row), here, self.keys.as_mut_ptr().add(row));
                self.skipped[row / GROUP] = other | !here;
                I::list(other & here, row as u16, self.long.as_mut_ptr().add(others));
                others += (other & here).count_ones() as usize;
            }
        }
        others
    }

    /// Writes the keys of long names, for the rows that are listed as such; rows whose names have no key are listed as
    /// others instead. Returns the numbers of both.
    ///
    /// # Safety
    /// The processor has the instructions; the text is followed by a margin.
    #[inline(always)]
    pub(super) unsafe fn digest_names<I: TextIsa>(&mut self, text: &[u8], not_short: usize) -> (usize, usize) {
        let (mut long, mut others) = (0, 0);
        for index in 0..not_short {
            let row = usize::from(self.long[index]);
            let name = Rows { text, marks: &self.marks }.name(row);
            if name.is_empty() || name.len() > LONGEST {
                self.keys[row] = NO_KEY;
                self.others[others] = row as u16;
                others += 1;
                continue;
            }
            // SAFETY: promised by the caller; the length is in range, because shorter names are their own keys.
            self.keys[row] = unsafe { I::digest(name) };
            self.skipped[row / GROUP] &= !(1 << (row % GROUP));
            self.long[long] = row as u16;
            long += 1;
        }
        (long, others)
    }

    /// Writes the slots that may hold the keys.
    ///
    /// # Safety
    /// The processor has the instructions, and the table uses their hash.
    #[inline(always)]
    pub(super) unsafe fn find_slots<I: TextIsa>(&mut self, rows: usize, table: &KeyTable) {
        // SAFETY: promised by the caller; all arrays have room for a whole group.
        unsafe {
            let lookup = I::lookup(table);
            for row in (0..rows).step_by(GROUP) {
                let (keys, slots) = (self.keys.as_ptr().add(row), self.slots.as_mut_ptr().add(row));
                I::slots(keys, self.skipped[row / GROUP], lookup, slots);
            }
        }
    }

    /// Compares all keys with their slots, writes the codes, and inserts new names. Returns the number of rows before
    /// the first bad name.
    ///
    /// # Safety
    /// The processor has the instructions. With `CODES`, there is room for the codes of whole groups.
    #[inline(always)]
    pub(super) unsafe fn match_names<I: TextIsa, const CODES: bool>(
        &mut self,
        text: &[u8],
        mut rows: usize,
        interner: &mut Interner,
        others: &mut usize,
        codes: *mut u32,
    ) -> usize {
        let mut row = 0;
        while row < rows {
            let table = interner.table.slots[1..].as_ptr().cast::<u8>();
            // SAFETY: the offsets are those of slots of this table or of a smaller previous one, or of the free slot
            // before the first; the arrays have room for whole groups.
            let unequal = unsafe {
                let (keys, slots) = (self.keys.as_ptr().add(row), self.slots.as_ptr().add(row));
                I::differences::<CODES>(keys, slots, table, codes.wrapping_add(row))
            };
            if unequal == 0 {
                row += GROUP;
                continue;
            }
            let at = row + (unequal.trailing_zeros() / 2) as usize;
            let name = Rows { text, marks: &self.marks }.name(at);
            if name.contains(&0) {
                rows = at;
                self.skip_from(rows);
                continue;
            }
            let moves = interner.table.moves;
            interner.intern(name);
            let short = name.len() <= SHORT;
            if let Some(slot) = interner.table.find(&self.keys[at]) {
                self.slots[at] = ((slot - 1) as i32) << SLOT_SHIFT;
            } else {
                self.skip(at);
                // Long names are compared later, which reveals that this one was not found.
                if short {
                    self.others[*others] = at as u16;
                    *others += 1;
                }
            }
            if interner.table.moves != moves {
                // Other names have moved: compare all rows of the tile again.
                row = 0;
            }
        }
        rows
    }

    /// Makes a row match the slot that is always free.
    fn skip(&mut self, row: usize) {
        self.slots[row] = SKIPPED;
        self.keys[row] = NO_KEY;
    }

    pub(super) fn skip_from(&mut self, row: usize) {
        for after in row..row.next_multiple_of(GROUP) {
            self.skip(after);
        }
    }

    /// Compares long names with those found by their digests, and lists the rows that differ as others.
    ///
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub(super) unsafe fn compare_long<I: TextIsa>(
        &mut self,
        text: &[u8],
        rows: usize,
        long: usize,
        interner: &Interner,
        others: &mut usize,
    ) {
        let table = interner.table.slots[1..].as_ptr();
        for index in 0..long {
            let row = self.long[index];
            if usize::from(row) >= rows {
                break;
            }
            let name = Rows { text, marks: &self.marks }.name(row.into());
            // A name without a slot would be compared with code 0, which the free slot has.
            // SAFETY: the offset is that of a slot; rows in this list have long names, and so do the slots with their
            // keys.
            let equal = self.slots[usize::from(row)] != SKIPPED
                && unsafe {
                    let slot = &*table.byte_offset(self.slots[usize::from(row)] as isize);
                    let found = interner.dictionary().get(slot.code());
                    I::equal(found, name)
                };
            if !equal {
                self.skip(row.into());
                self.others[*others] = row;
                *others += 1;
            }
        }
    }

    /// The number of rows before the first of the others with a bad name.
    pub(super) fn good_others(&self, text: &[u8], rows: usize, others: usize) -> usize {
        let rows_at = Rows { text, marks: &self.marks };
        let others = self.others[..others].iter().map(|&row| usize::from(row)).filter(|&row| row < rows);
        let is_bad = |row: &usize| matches!(rows_at.name(*row), name if name.is_empty() || name.contains(&0));
        others.filter(is_bad).min().unwrap_or(rows)
    }

    /// Interns the names of the rows that are listed as others.
    #[inline]
    pub(super) unsafe fn name_others(
        &self,
        text: &[u8],
        rows: usize,
        others: usize,
        interner: &mut Interner,
        codes: *mut u32,
    ) {
        for row in self.others[..others].iter().map(|&row| usize::from(row)).filter(|&row| row < rows) {
            let code = interner.intern(Rows { text, marks: &self.marks }.name(row));
            // SAFETY: there is room for a code for each of the tile's rows.
            unsafe { *codes.add(row) = code };
        }
    }
}
