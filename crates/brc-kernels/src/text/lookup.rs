//! Finds the slots of keys one after another.

use super::isa::SLOT_SHIFT;
use crate::interner::KeyTable;

/// What is needed of a table to find keys: a copy, which stays in registers while results are written.
#[derive(Clone, Copy)]
pub(crate) struct KeyLookup {
    displacements: *const u32,
    group_shift: u32,
    /// The bits of slot offsets.
    pub(super) mask: u32,
}

impl KeyLookup {
    #[inline(always)]
    pub(super) fn new(table: &KeyTable) -> Self {
        Self {
            displacements: table.displacements.as_ptr(),
            group_shift: 32 - table.displacements.len().trailing_zeros(),
            mask: ((1 << table.bits) - 1) << SLOT_SHIFT,
        }
    }

    /// The offset in bytes, from the first slot for names, of the only slot that may hold a key with this hash.
    ///
    /// # Safety
    /// The table has not changed.
    #[inline(always)]
    pub(super) unsafe fn offset(self, hash: u32) -> i32 {
        // SAFETY: the shift keeps the group's number below the number of groups.
        let displacement = unsafe { *self.displacements.add((hash >> self.group_shift) as usize) };
        let home = hash.wrapping_add((hash >> 16).wrapping_mul(displacement));
        ((home << SLOT_SHIFT) & self.mask) as i32
    }
}
