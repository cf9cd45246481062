//! A table of keys without collisions.
//!
//! The hash of a key selects a *group*, whose displacement determines the key's slot. Whenever a new key falls on a
//! slot that is in use, its group gets a different displacement ("hash, displace, and compress" of Belazzougui, Botelho
//! and Dietzfelbinger, 2009, one key at a time). A lookup is one comparison with one slot, no branch depends on the
//! key, and the table stays dense enough for the caches nearest to the processor.

use super::hash::{HashKind, Key, NO_KEY};
use crate::accumulate::slots::Slot as State;
use brc_core::Statistics;

/// A slot for a key.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Slot {
    pub(crate) key: Key,
    /// The state of the name's group. Its tag is the code of the name.
    pub(crate) state: State,
}

impl Slot {
    const FREE: Self = Self { key: NO_KEY, state: State::EMPTY };

    pub(crate) fn new(key: Key, code: u32) -> Self {
        Self { key, state: State::EMPTY.with_tag(code) }
    }

    pub(crate) fn code(&self) -> u32 {
        self.state.tag
    }

    fn is_free(&self) -> bool {
        self.key == NO_KEY
    }
}

/// The table of keys.
#[derive(Debug, Clone)]
pub(crate) struct KeyTable {
    pub(crate) hash: HashKind,
    /// A slot that is always free, to which kernels send skipped rows; then 2^[`KeyTable::bits`] slots.
    pub(crate) slots: Vec<Slot>,
    pub(crate) bits: u32,
    /// One displacement for each group; their number is a power of two.
    pub(crate) displacements: Vec<u32>,
    /// A copy of the displacements, if they are few enough for two vector registers.
    pub(crate) few: Option<Box<[u8; KeyTable::MAX_FEW_GROUPS]>>,
    /// The slots of each group's names, so that a group can be moved.
    groups: Vec<Vec<u32>>,
    names: usize,
    /// Whether no larger table can hold these names.
    is_largest: bool,
    /// The number of times that names were moved to different slots.
    pub(crate) moves: u64,
}

impl KeyTable {
    pub(crate) const MAX_FEW_GROUPS: usize = 128;
    /// The first table is small: a wide table has one for each column, most of which hold few names.
    const FIRST_BITS: u32 = 4;
    /// The table after the first one.
    const SECOND_BITS: u32 = 10;
    /// A larger table would exceed the caches, and placing a name would take a microsecond. Names that do not fit are
    /// kept in the other table.
    const MAX_BITS: u32 = 17;
    const MAX_TRIES: u32 = 1 << 12;
    /// The maximum number of names that lose their slot when the table grows: if the upper half of a hash is 0 or has
    /// few bits, displacements move the name to few slots or none.
    const MAX_LEFT_NAMES: usize = 64;

    /// The first table of an interner.
    pub(super) fn new(hash: HashKind) -> Self {
        Self::with_bits(hash, Self::FIRST_BITS)
    }

    fn with_bits(hash: HashKind, bits: u32) -> Self {
        let few = bits <= Self::SECOND_BITS;
        let groups = if few { Self::MAX_FEW_GROUPS } else { 1 << (bits - 2) };
        Self {
            hash,
            slots: vec![Slot::FREE; (1 << bits) + 1],
            bits,
            displacements: vec![0; groups],
            few: few.then(|| Box::new([0; Self::MAX_FEW_GROUPS])),
            groups: vec![Vec::new(); groups],
            names: 0,
            is_largest: bits == Self::MAX_BITS,
            moves: 0,
        }
    }

    /// The number of names at which the table grows: higher for large tables, whose groups have more displacements.
    fn max_names(&self) -> usize {
        let places = 1 << self.bits;
        if self.few.is_some() { places / 2 } else { places / 8 * 5 }
    }

    #[inline]
    fn group(&self, hash: u32) -> usize {
        (hash >> (32 - self.displacements.len().trailing_zeros())) as usize
    }

    /// The slot of a name, after the slot that is always free. Kernels compute the same.
    #[inline]
    fn home(&self, hash: u32, displacement: u32) -> usize {
        let place = hash.wrapping_add((hash >> 16).wrapping_mul(displacement));
        (place as usize & ((1 << self.bits) - 1)) + 1
    }

    /// The only slot that may hold a key with this hash.
    #[inline]
    pub(super) fn index_of(&self, hash: u32) -> usize {
        self.home(hash, self.displacements[self.group(hash)])
    }

    /// The slot of a name, if it is in the table.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> Option<usize> {
        let home = self.index_of(self.hash.hash(key));
        (self.slots[home].key == *key).then_some(home)
    }

    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<u32> {
        self.find(key).map(|slot| self.slots[slot].code())
    }

    /// Takes the states with at least `rows` rows, and resets them.
    pub(crate) fn take_states(&mut self, rows: u64, mut each: impl FnMut(u32, Statistics)) {
        for slot in self.slots.iter_mut().filter(|slot| !slot.is_free() && slot.state.count() >= rows) {
            each(slot.code(), slot.state.statistics());
            *slot = Slot::new(slot.key, slot.code());
        }
    }

    /// Inserts a key. Returns whether a slot was found. If the table grew, `left` receives the codes of names that lost
    /// their slot.
    pub(super) fn insert(&mut self, slot: Slot, left: &mut Vec<u32>) -> bool {
        if self.names >= self.max_names() && !self.grow(left) {
            return false;
        }
        // A group of a small table has few displacements, so a larger table may help.
        self.place(slot) || (self.few.is_some() && self.grow(left) && self.place(slot))
    }

    /// Returns whether the table grew. Failure is remembered: each attempt visits every name.
    fn grow(&mut self, left: &mut Vec<u32>) -> bool {
        if self.is_largest {
            return false;
        }
        for bits in Self::SECOND_BITS.max(self.bits + 1)..=Self::MAX_BITS {
            let (mut larger, mut out) = (Self::with_bits(self.hash, bits), Vec::new());
            // A state is stored nowhere else, so only names without one may lose their slot.
            let mut leave = |slot: &Slot| {
                out.push(slot.code());
                slot.state.count() == 0 && out.len() <= Self::MAX_LEFT_NAMES
            };
            if self.slots.iter().filter(|slot| !slot.is_free()).all(|slot| larger.place(*slot) || leave(slot)) {
                larger.moves = self.moves + 1;
                *self = larger;
                left.append(&mut out);
                return true;
            }
        }
        self.is_largest = true;
        false
    }

    /// Finds a displacement with which all names of the slot's group, including this one, have distinct free slots.
    fn place(&mut self, slot: Slot) -> bool {
        let hash = self.hash.hash(&slot.key);
        let group = self.group(hash);
        let old_homes = std::mem::take(&mut self.groups[group]);
        let members: Vec<Slot> = old_homes.iter().map(|&home| self.slots[home as usize]).chain([slot]).collect();
        let hashes: Vec<u32> = members.iter().map(|member| self.hash.hash(&member.key)).collect();
        // Two names with these bits in common have the same slot for any displacement.
        let mask = (1u32 << self.bits) - 1;
        let inseparable = |other: &u32| (other ^ hash) & mask == 0 && ((other ^ hash) >> 16) & mask == 0;
        let (_, others) = hashes.split_last().unwrap_or((&hash, &[]));
        if !others.iter().any(inseparable) {
            for &home in &old_homes {
                self.slots[home as usize] = Slot::FREE;
            }
            let current = self.displacements[group];
            let tries = if self.few.is_some() { 1 << u8::BITS } else { Self::MAX_TRIES };
            for displacement in (0..tries).map(|attempt| (current + attempt) % tries) {
                if let Some(homes) = self.homes(&hashes, displacement) {
                    self.names += 1;
                    self.moves += u64::from(displacement != current && !old_homes.is_empty());
                    self.move_group(group, displacement, &members, homes);
                    return true;
                }
            }
        }
        let current = self.displacements[group];
        self.move_group(group, current, &members[..old_homes.len()], old_homes);
        false
    }

    /// The slots of names with these hashes, if they are free and distinct.
    fn homes(&self, hashes: &[u32], displacement: u32) -> Option<Vec<u32>> {
        let home = |&hash: &u32| self.home(hash, displacement) as u32;
        if !hashes.iter().all(|hash| self.slots[home(hash) as usize].is_free()) {
            return None;
        }
        let homes: Vec<u32> = hashes.iter().map(home).collect();
        let different = homes.iter().enumerate().all(|(index, home)| !homes[..index].contains(home));
        different.then_some(homes)
    }

    fn move_group(&mut self, group: usize, displacement: u32, members: &[Slot], homes: Vec<u32>) {
        for (slot, &home) in members.iter().zip(&homes) {
            self.slots[home as usize] = *slot;
        }
        self.displacements[group] = displacement;
        if let Some(few) = &mut self.few {
            few[group] = displacement as u8;
        }
        self.groups[group] = homes;
    }
}
