//! Finds the names of a tile in the interner's table.

use super::{Rows, Tile};
use crate::interner::{Interner, KeyTable, LONGEST, PADDING, SHORT, Slot, aes};
use std::arch::x86_64::*;

/// What a slot takes, in bits of an offset.
const SLOT_SHIFT: u32 = size_of::<Slot>().trailing_zeros();
/// The offset of the slot that is always free, before all others.
const LEFT_OUT: i32 = -(size_of::<Slot>() as i32);

/// The same value for each quarter of a group of rows.
macro_rules! four {
    ($part:ident => $value:expr) => {{
        let mut all = [_mm512_setzero_si512(); 4];
        for $part in 0..4 {
            all[$part] = $value;
        }
        all
    }};
}

impl Tile {
    /// Writes the keys of long names, of rows that are listed as such; those that have none are listed as others. Returns
    /// how many of both there are.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,aes,bmi2")]
    #[inline]
    pub(super) unsafe fn digest_names(&mut self, text: &[u8], not_short: usize) -> (usize, usize) {
        let (mut long, mut others) = (0, 0);
        for index in 0..not_short {
            let row = usize::from(self.long[index]);
            let name = Rows { text, marks: &self.marks }.name(row);
            if name.is_empty() || name.len() > LONGEST {
                self.others[others] = row as u16;
                others += 1;
                continue;
            }
            // SAFETY: the name is not longer than that; a key is sixteen bytes.
            unsafe {
                let key = aes::digest_avx512(name.as_ptr(), name.len());
                _mm_storeu_si128((&raw mut self.keys[row]).cast(), key);
            }
            self.left_out[row / 16] &= !(1 << (row % 16));
            self.long[long] = row as u16;
            long += 1;
        }
        (long, others)
    }

    /// Writes the slots in which the keys must lie.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,vaes,aes")]
    #[inline]
    pub(super) unsafe fn find_slots(&mut self, rows: usize, table: &KeyTable) {
        let round = _mm512_broadcast_i32x4(_mm_set_epi64x(aes::ROUND[1], aes::ROUND[0]));
        let mask = _mm512_set1_epi32(((1 << table.bits) - 1) << SLOT_SHIFT);
        let none = _mm512_set1_epi32(LEFT_OUT);
        let group_shift = _mm_cvtsi32_si128(32 - table.displacements.len().trailing_zeros() as i32);
        let mut row = 0;
        // SAFETY: all arrays have room for a whole group. A group's number is below the number of groups, by its shift.
        unsafe {
            let few = table
                .few
                .as_deref()
                .map(|few| (_mm512_loadu_si512(few.as_ptr().cast()), _mm512_loadu_si512(few.as_ptr().add(64).cast())));
            while row < rows {
                let keys = four!(part => _mm512_loadu_si512(self.keys.as_ptr().add(row + 4 * part).cast()));
                let mut mixed = keys;
                for _ in 0..aes::ROUNDS {
                    mixed = four!(part => _mm512_aesenc_epi128(mixed[part], round));
                }
                let first_words = _mm512_loadu_si512(FIRST_WORDS.as_ptr().cast());
                let low = _mm512_permutex2var_epi32(mixed[0], first_words, mixed[1]);
                let high = _mm512_permutex2var_epi32(mixed[2], first_words, mixed[3]);
                let hashes = _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high));
                let groups = _mm512_srl_epi32(hashes, group_shift);
                let displacements = match few {
                    Some((low, high)) => _mm512_maskz_permutex2var_epi8(LOW_BYTES, low, groups, high),
                    None => _mm512_i32gather_epi32::<4>(groups, table.displacements.as_ptr().cast()),
                };
                let moved = _mm512_mullo_epi32(_mm512_srli_epi32::<16>(hashes), displacements);
                let homes = _mm512_slli_epi32::<SLOT_SHIFT>(_mm512_add_epi32(hashes, moved));
                let offsets = _mm512_mask_and_epi32(none, !self.left_out[row / 16], homes, mask);
                _mm512_storeu_si512(self.slots.as_mut_ptr().add(row).cast(), offsets);
                row += 16;
            }
        }
    }

    /// Compares all keys with their slots, takes their codes, gives new names a slot, and returns the rows up to the
    /// first bad name.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    #[inline]
    pub(super) unsafe fn match_names<const CODES: bool>(
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
            let mut unequal = 0u32;
            for part in 0..4 {
                // SAFETY: offsets are those of slots of this table or of a smaller one before, or of the free slot that
                // lies before the first; the arrays have room for whole groups.
                unsafe {
                    let offsets = self.slots.as_ptr().add(row + 4 * part);
                    let name = |at: usize| {
                        let slot = table.offset(*offsets.add(at) as isize).cast::<Slot>();
                        if CODES {
                            *codes.add(row + 4 * part + at) = (*slot).code();
                        }
                        _mm_load_si128(slot.cast())
                    };
                    let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(name(0)), name(1));
                    let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(name(2)), name(3));
                    let found = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
                    let keys = _mm512_loadu_si512(self.keys.as_ptr().add(row + 4 * part).cast());
                    unequal |= u32::from(_mm512_cmpneq_epi64_mask(keys, found)) << (8 * part);
                }
            }
            if unequal == 0 {
                row += 16;
                continue;
            }
            let at = row + (unequal.trailing_zeros() / 2) as usize;
            let name = Rows { text, marks: &self.marks }.name(at);
            if name.contains(&0) {
                rows = at;
                self.left_out_from(rows);
                continue;
            }
            let moves = interner.table.moves;
            interner.intern(name);
            let short = name.len() <= SHORT;
            if let Some(slot) = interner.table.find(&self.keys[at]) {
                self.slots[at] = ((slot - 1) as i32) << SLOT_SHIFT;
            } else {
                self.leave_out(at);
                // Long names are all compared later, when it shows that this one was not found.
                if short {
                    self.others[*others] = at as u16;
                    *others += 1;
                }
            }
            if interner.table.moves != moves {
                // Others have moved: all rows of the tile are compared once more.
                row = 0;
            }
        }
        rows
    }

    /// Makes a row match the slot that is always free.
    fn leave_out(&mut self, row: usize) {
        self.slots[row] = LEFT_OUT;
        self.keys[row] = [u64::from_le_bytes([PADDING; 8]); 2];
    }

    pub(super) fn left_out_from(&mut self, row: usize) {
        for after in row..row.next_multiple_of(16) {
            self.leave_out(after);
        }
    }

    /// Compares long names with those found by their digests, and lists the rows where they differ.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    #[inline]
    pub(super) unsafe fn compare_long(
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
            // SAFETY: the offset is that of a slot; both names are readable and as long as is said, at most `LONGEST`.
            let equal = unsafe {
                let slot = &*table.byte_offset(self.slots[usize::from(row)] as isize);
                let found = interner.dictionary().get(slot.code());
                found.len() == name.len() && aes::equal_avx512(found.as_ptr(), name.as_ptr(), name.len())
            };
            if !equal {
                self.leave_out(row.into());
                self.others[*others] = row;
                *others += 1;
            }
        }
    }

    /// The rows up to the first of the others whose name is bad.
    pub(super) fn good_others(&self, text: &[u8], rows: usize, others: usize) -> usize {
        let rows_at = Rows { text, marks: &self.marks };
        let others = self.others[..others].iter().map(|&row| usize::from(row)).filter(|&row| row < rows);
        let is_bad = |row: &usize| matches!(rows_at.name(*row), name if name.is_empty() || name.contains(&0));
        others.filter(is_bad).min().unwrap_or(rows)
    }

    /// Gives the rows with other names their codes.
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

/// The low byte of each of sixteen words.
const LOW_BYTES: u64 = 0x1111_1111_1111_1111;

/// The first word of each of four names, and of four more in a second register.
static FIRST_WORDS: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0];
