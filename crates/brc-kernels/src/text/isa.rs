//! The steps of reading a tile that depend on the instruction set.

use crate::accumulate::slots::Slot as State;
use crate::interner::{Key, KeyTable, NO_KEY, Slot};

/// The number of rows that are processed together. All arrays have room for whole groups; the entries after the last
/// row repeat it.
pub(super) const GROUP: usize = 16;

/// The offset of the slot that is always free, before all others.
pub(super) const SKIPPED: i32 = -(size_of::<Slot>() as i32);

/// The binary logarithm of the size of a slot in bytes.
pub(super) const SLOT_SHIFT: u32 = size_of::<Slot>().trailing_zeros();

/// The rows of a text.
pub(crate) struct Found {
    /// The number of line feeds, and so of whole rows.
    pub(super) rows: usize,
    /// Whether the rows have one delimiter each, if each of them has any.
    pub(super) one_delimiter_each: bool,
}

/// The operations of an instruction set on the rows of a tile.
///
/// `marks` are two positions per row, in the format of the tile; the entry before the first is readable, too.
///
/// # Safety
/// The functions must only be called if the processor has these instructions, and are inlined into a function that
/// enables them. Pointers are readable or writable for a whole group, and a text for [`MARGIN`](super::MARGIN)
/// additional bytes on both sides.
pub(crate) trait TextIsa: Copy {
    /// The accumulated faults of numbers.
    type Faults: Copy;

    /// The part of a table that is needed to find keys.
    type KeyLookup<'a>: Copy;

    /// Writes the marks of all rows, which may leave those of delimiters to [`TextIsa::numbers`]; `None` if lines are
    /// shorter than any row.
    ///
    /// # Safety
    /// See the trait; there is room for 64 excess entries at `out`.
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<Found>;

    /// # Safety
    /// See the trait.
    unsafe fn no_faults() -> Self::Faults;

    /// # Safety
    /// See the trait.
    unsafe fn is_any(faults: Self::Faults) -> bool;

    /// Writes the numbers of a group of rows, and returns the accumulated faults. Without faults, the marks of
    /// delimiters are right afterwards.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn numbers(
        text: *const u8,
        marks: *mut u16,
        delimiter: u8,
        faults: Self::Faults,
        out: *mut i16,
    ) -> Self::Faults;

    /// Writes the keys of the short names of a group of rows, any keys for other names, and the key that no name has for
    /// rows that are not `here`. Returns a mask of the rows with other names.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn keys(text: *const u8, marks: *const u16, here: u16, out: *mut Key) -> u16;

    /// Writes `first` plus the position of each set bit.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn list(bits: u16, first: u16, out: *mut u16);

    /// The key of a name that is longer than [`SHORT`](crate::interner::SHORT) and at most
    /// [`LONGEST`](crate::interner::LONGEST).
    ///
    /// # Safety
    /// See the trait; the name is part of the text.
    unsafe fn digest(name: &[u8]) -> Key;

    /// Whether two names are equal; both must be longer than [`SHORT`](crate::interner::SHORT), and the second one at
    /// most [`LONGEST`](crate::interner::LONGEST).
    ///
    /// # Safety
    /// See the trait.
    unsafe fn equal(found: &[u8], name: &[u8]) -> bool;

    /// # Safety
    /// See the trait.
    unsafe fn lookup(table: &KeyTable) -> Self::KeyLookup<'_>;

    /// Writes the byte offsets of the slots that may hold the keys of a group of rows, relative to the first slot for
    /// names; [`SKIPPED`] for skipped rows.
    ///
    /// # Safety
    /// See the trait; the table uses the hash of this instruction set.
    unsafe fn slots(keys: *const Key, skipped: u16, lookup: Self::KeyLookup<'_>, out: *mut i32);

    /// Compares the keys of a group of rows with the slots at these offsets: two bits per row, of which any is set if
    /// they differ. With `CODES`, also writes the codes in these slots.
    ///
    /// # Safety
    /// See the trait; there are slots at all offsets from `table`.
    unsafe fn differences<const CODES: bool>(
        keys: *const Key,
        slots: *const i32,
        table: *const u8,
        codes: *mut u32,
    ) -> u32;

    /// Adds each number to the state at its byte offset from `first`.
    ///
    /// # Safety
    /// See the trait; there are states at all offsets, and they are not accessed otherwise.
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State);
}

/// Gives these rows the key that no name has.
///
/// # Safety
/// There is room for a group of keys.
#[inline(always)]
pub(super) unsafe fn without_keys(mut rows: u16, keys: *mut Key) {
    while rows != 0 {
        // SAFETY: promised by the caller.
        unsafe { *keys.add(rows.trailing_zeros() as usize) = NO_KEY };
        rows &= rows - 1;
    }
}

/// Sends these rows to the slot that is always free.
///
/// # Safety
/// There is room for a group of slots.
#[inline(always)]
pub(super) unsafe fn skip(mut rows: u16, slots: *mut i32) {
    while rows != 0 {
        // SAFETY: promised by the caller.
        unsafe { *slots.add(rows.trailing_zeros() as usize) = SKIPPED };
        rows &= rows - 1;
    }
}

/// [`TextIsa::differences`] of a group that has some.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn unequal(keys: *const Key, slots: *const i32, table: *const u8) -> u32 {
    let mut unequal = 0;
    for row in 0..GROUP {
        // SAFETY: promised by the caller.
        unsafe {
            let slot = &*table.offset(*slots.add(row) as isize).cast::<Slot>();
            unequal |= u32::from(*keys.add(row) != slot.key) << (2 * row);
        }
    }
    unequal
}
