//! What differs between sets of instructions when a tile is read.

use crate::accumulate::slots::Slot as State;
use crate::interner::{Key, KeyTable};

/// So many rows are worked on at a time. All arrays have room for whole groups; what is behind the last row is a
/// repetition of it.
pub(super) const GROUP: usize = 16;

/// The offset of the slot that is always free, before all others.
pub(super) const LEFT_OUT: i32 = -(size_of::<super::Slot>() as i32);

/// What a slot takes, in bits of an offset.
pub(super) const SLOT_SHIFT: u32 = size_of::<super::Slot>().trailing_zeros();

/// What a set of instructions does with the rows of a tile.
///
/// `marks` are two positions a row, as the tile keeps them, of which the one before the first is readable, too.
///
/// # Safety
/// All functions are called only where the processor has these instructions, and are inlined into a function that enables them. What is
/// pointed to is readable, or writable, for a whole group, and a text for [`MARGIN`](super::MARGIN) bytes more on both
/// sides.
pub(crate) trait TextIsa: Copy {
    /// What was wrong with numbers so far.
    type Faults: Copy;

    /// How to find keys in a table.
    type Places<'a>: Copy;

    /// Writes the positions of all delimiters and line feeds, each plus 1, and returns how many; nothing if there are more
    /// than 32 in one block of 64 bytes. The last block may reach behind the text.
    ///
    /// # Safety
    /// See the trait; and there is room for 64 more than are meant at `out`.
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<usize>;

    /// # Safety
    /// See the trait.
    unsafe fn no_faults() -> Self::Faults;

    /// # Safety
    /// See the trait.
    unsafe fn is_any(faults: Self::Faults) -> bool;

    /// Writes the numbers of a group of rows, and returns the faults so far.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn numbers(
        text: *const u8,
        marks: *const u16,
        delimiter: u8,
        faults: Self::Faults,
        out: *mut i16,
    ) -> Self::Faults;

    /// Writes the keys of the short names of a group of rows, and the key that no name has for the rows with other names and
    /// those that are not `here`. Returns which have other names.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn keys(text: *const u8, marks: *const u16, here: u16, out: *mut Key) -> u16;

    /// Writes `first` plus the position of each bit that is set.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn list(bits: u16, first: u16, out: *mut u16);

    /// The key of a name that is longer than [`SHORT`](crate::interner::SHORT), but not than
    /// [`LONGEST`](crate::interner::LONGEST).
    ///
    /// # Safety
    /// See the trait; the name is part of the text.
    unsafe fn digest(name: &[u8]) -> Key;

    /// Whether two names are equal; both are longer than [`SHORT`](crate::interner::SHORT), and the second one is not longer
    /// than [`LONGEST`](crate::interner::LONGEST).
    ///
    /// # Safety
    /// See the trait.
    unsafe fn equal(found: &[u8], name: &[u8]) -> bool;

    /// # Safety
    /// See the trait.
    unsafe fn places(table: &KeyTable) -> Self::Places<'_>;

    /// Writes the offsets of the slots in which the keys of a group of rows lie, if they do, from the first that can hold a
    /// name; [`LEFT_OUT`] for those that are left out.
    ///
    /// # Safety
    /// See the trait; the table hashes as the level of these instructions does.
    unsafe fn slots(keys: *const Key, left_out: u16, places: Self::Places<'_>, out: *mut i32);

    /// Where the keys of a group of rows differ from what lies at these offsets: two bits a row, of which any is set. With
    /// `CODES`, writes the codes that lie there.
    ///
    /// # Safety
    /// See the trait; there are slots at all offsets from `table`.
    unsafe fn differences<const CODES: bool>(
        keys: *const Key,
        slots: *const i32,
        table: *const u8,
        codes: *mut u32,
    ) -> u32;

    /// Adds each number to the state at that offset from a first one.
    ///
    /// # Safety
    /// See the trait; there are states at all offsets, and nobody else uses them.
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State);
}
