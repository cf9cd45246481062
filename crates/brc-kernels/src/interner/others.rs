//! Looks up codes of names by a hash of all their bytes.

use crate::memory::prefetch;
use brc_core::Dictionary;

/// An open-addressing hash table of codes, with the hash stored beside each.
#[derive(Debug, Clone, Default)]
pub(super) struct OtherNames {
    /// Their number is a power of two, or 0.
    slots: Vec<OtherSlot>,
    names: usize,
}

#[derive(Debug, Clone, Copy)]
struct OtherSlot {
    hash: u32,
    /// [`UNKNOWN`] if the slot is free.
    code: u32,
}

/// No code; dictionaries never become this large.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The number of names that are looked up together.
pub(super) const TOGETHER: usize = 64;

impl OtherNames {
    const MIN_SLOTS: usize = 256;
    const FREE: OtherSlot = OtherSlot { hash: 0, code: UNKNOWN };

    /// The code of a name with this hash, if it is in the table.
    pub(super) fn get(&self, hash: impl FnOnce() -> u32, name: &[u8], dictionary: &Dictionary) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let hash = hash();
        let mask = self.slots.len() - 1;
        let mut index = hash as usize & mask;
        loop {
            let slot = self.slots[index];
            if slot.code == UNKNOWN {
                return None;
            }
            if slot.hash == hash && dictionary.get(slot.code) == name {
                return Some(slot.code);
            }
            index = (index + 1) & mask;
        }
    }

    /// For each of at most [`TOGETHER`] names with these hashes, the code of the first name with the same hash, or
    /// [`UNKNOWN`]. Each lookup has several cache misses, but those of all names overlap.
    pub(super) fn likely(&self, hashes: &[u32], dictionary: &Dictionary) -> [u32; TOGETHER] {
        let mut likely = [UNKNOWN; TOGETHER];
        let Some(mask) = self.slots.len().checked_sub(1) else { return likely };
        hashes.iter().for_each(|&hash| prefetch(&self.slots, hash as usize & mask));
        for (likely, &hash) in likely.iter_mut().zip(hashes) {
            *likely = self.first_of(hash, mask);
        }
        for &code in likely.iter().filter(|code| **code != UNKNOWN) {
            let name = dictionary.get(code);
            prefetch(name, 0);
            prefetch(name, name.len().wrapping_sub(1));
        }
        likely
    }

    /// The code of the first name with this hash.
    #[inline]
    fn first_of(&self, hash: u32, mask: usize) -> u32 {
        let mut index = hash as usize & mask;
        loop {
            let slot = self.slots[index];
            if slot.hash == hash || slot.code == UNKNOWN {
                return slot.code;
            }
            index = (index + 1) & mask;
        }
    }

    /// Reserves room for additional names.
    pub(super) fn reserve(&mut self, names: usize) {
        let slots = ((self.names + names) * 2 + 1).next_power_of_two().max(Self::MIN_SLOTS);
        if names > 0 && slots > self.slots.len() {
            self.resize(slots);
        }
    }

    fn resize(&mut self, slots: usize) {
        for slot in std::mem::replace(&mut self.slots, vec![Self::FREE; slots]) {
            if slot.code != UNKNOWN {
                self.place(slot);
            }
        }
    }

    /// Adds the code of a name that is not in the table yet.
    pub(super) fn insert(&mut self, hash: u32, code: u32) {
        if self.names * 2 >= self.slots.len() {
            self.resize((self.slots.len() * 2).max(Self::MIN_SLOTS));
        }
        self.place(OtherSlot { hash, code });
        self.names += 1;
    }

    /// Removes all names.
    pub(super) fn clear(&mut self) {
        self.slots.fill(Self::FREE);
        self.names = 0;
    }

    fn place(&mut self, slot: OtherSlot) {
        let mask = self.slots.len() - 1;
        let mut index = slot.hash as usize & mask;
        while self.slots[index].code != UNKNOWN {
            index = (index + 1) & mask;
        }
        self.slots[index] = slot;
    }
}
