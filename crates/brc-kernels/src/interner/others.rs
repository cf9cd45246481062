//! Codes of names by a hash of all their bytes.

use brc_core::Dictionary;

/// Open addressing over the codes of names, with the hash beside each.
#[derive(Debug, Clone, Default)]
pub(super) struct OtherNames {
    /// A power of two of them, or none.
    slots: Vec<OtherSlot>,
    names: usize,
}

#[derive(Debug, Clone, Copy)]
struct OtherSlot {
    hash: u32,
    /// [`u32::MAX`] if the slot is free: no dictionary gets as far.
    code: u32,
}

impl OtherNames {
    const FREE: OtherSlot = OtherSlot { hash: 0, code: u32::MAX };

    /// The code of a name of that hash, if it is there.
    pub(super) fn get(&self, hash: impl FnOnce() -> u32, name: &[u8], dictionary: &Dictionary) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let hash = hash();
        let mask = self.slots.len() - 1;
        let mut index = hash as usize & mask;
        loop {
            let slot = self.slots[index];
            if slot.code == u32::MAX {
                return None;
            }
            if slot.hash == hash && dictionary.get(slot.code) == name {
                return Some(slot.code);
            }
            index = (index + 1) & mask;
        }
    }

    /// Adds the name of a code, which is not there yet.
    pub(super) fn insert(&mut self, hash: u32, code: u32) {
        if self.names * 2 >= self.slots.len() {
            let larger = vec![Self::FREE; (self.slots.len() * 2).max(256)];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot.code != u32::MAX {
                    self.place(slot);
                }
            }
        }
        self.place(OtherSlot { hash, code });
        self.names += 1;
    }

    /// Takes all names out.
    pub(super) fn clear(&mut self) {
        self.slots.fill(Self::FREE);
        self.names = 0;
    }

    fn place(&mut self, slot: OtherSlot) {
        let mask = self.slots.len() - 1;
        let mut index = slot.hash as usize & mask;
        while self.slots[index].code != u32::MAX {
            index = (index + 1) & mask;
        }
        self.slots[index] = slot;
    }
}
