//! A table of keys without collisions.
//!
//! A key's hash chooses a *group*; the group's displacement moves the key to its slot. Whenever a new key falls on a
//! taken slot, its group gets another displacement ("hash, displace, and compress" of Belazzougui, Botelho and
//! Dietzfelbinger, 2009, done one key at a time). So a look-up is one comparison with one slot, no branch depends on
//! which key comes, and the table stays dense enough for the caches nearest to the processor.

use super::hash::{HashKind, Key, NO_KEY};
use crate::accumulate::slots::Slot as State;
use brc_core::Statistics;

/// A place for a key.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Slot {
    pub(crate) key: Key,
    /// What was added to the name's group. Its tag is the name's code.
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
    /// A slot that is always free, where kernels send rows they leave out; then 2^[`KeyTable::bits`] places.
    pub(crate) slots: Vec<Slot>,
    pub(crate) bits: u32,
    /// One for each group; a power of two of them.
    pub(crate) displacements: Vec<u32>,
    /// The displacements once more, if they are few enough for two vector registers.
    pub(crate) few: Option<Box<[u8; KeyTable::FEW_GROUPS]>>,
    /// The places of each group's names, so that a group can be moved.
    groups: Vec<Vec<u32>>,
    names: usize,
    /// There is no larger table for these names.
    is_largest: bool,
    /// How often names that had a slot got another one.
    pub(crate) moves: u64,
}

impl KeyTable {
    pub(crate) const FEW_GROUPS: usize = 128;
    const FEWEST_BITS: u32 = 10;
    /// A larger table would outgrow the caches, and placing a name takes a microsecond. Names for which there is no room
    /// are kept in the other table.
    const MOST_BITS: u32 = 17;
    const MOST_TRIES: u32 = 1 << 12;
    /// So many names at most get no place when the table grows: where the upper half of a hash is 0, or has few bits, its
    /// displacement moves it nowhere, or to few places.
    const MOST_LEFT: usize = 64;

    /// `size` 0 is the smallest table, each further one twice as large.
    pub(super) fn new(hash: HashKind, size: u32) -> Self {
        let bits = Self::FEWEST_BITS + size;
        let few = size == 0;
        let groups = if few { Self::FEW_GROUPS } else { 1 << (bits - 2) };
        Self {
            hash,
            slots: vec![Slot::FREE; (1 << bits) + 1],
            bits,
            displacements: vec![0; groups],
            few: few.then(|| Box::new([0; Self::FEW_GROUPS])),
            groups: vec![Vec::new(); groups],
            names: 0,
            is_largest: bits == Self::MOST_BITS,
            moves: 0,
        }
    }

    /// How many names the table takes before it grows: more in a large one, whose groups have more displacements.
    fn most_names(&self) -> usize {
        let places = 1 << self.bits;
        if self.few.is_some() { places / 2 } else { places / 8 * 5 }
    }

    #[inline]
    fn group(&self, hash: u32) -> usize {
        (hash >> (32 - self.displacements.len().trailing_zeros())) as usize
    }

    /// The slot of a name. Behind the slot that is always free; kernels compute the same.
    #[inline]
    fn home(&self, hash: u32, displacement: u32) -> usize {
        let place = hash.wrapping_add((hash >> 16).wrapping_mul(displacement));
        (place as usize & ((1 << self.bits) - 1)) + 1
    }

    /// The slot in which a key of that hash lies, if it does.
    #[inline]
    pub(super) fn place_of(&self, hash: u32) -> usize {
        self.home(hash, self.displacements[self.group(hash)])
    }

    /// The slot in which a key lies, if it does and the table's hash is [`HashKind::Multiply`].
    #[inline(always)]
    pub(crate) fn place_by_multiplying(&self, key: &Key) -> usize {
        self.place_of(HashKind::Multiply.hash(key))
    }

    /// The slot in which a name lies, if it does.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> Option<usize> {
        let home = self.place_of(self.hash.hash(key));
        (self.slots[home].key == *key).then_some(home)
    }

    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<u32> {
        self.find(key).map(|slot| self.slots[slot].code())
    }

    /// Takes what was added to groups with at least `rows` rows.
    pub(crate) fn take_states(&mut self, rows: u64, mut each: impl FnMut(u32, Statistics)) {
        for slot in self.slots.iter_mut().filter(|slot| !slot.is_free() && slot.state.count() >= rows) {
            each(slot.code(), slot.state.statistics());
            *slot = Slot::new(slot.key, slot.code());
        }
    }

    /// Returns whether a place was found. If the table had to grow, `left` takes the codes of names that have none any more.
    pub(super) fn insert(&mut self, slot: Slot, left: &mut Vec<u32>) -> bool {
        if self.names >= self.most_names() && !self.grow(left) {
            return false;
        }
        // A group of a small table has few displacements to choose from, so a larger table may help.
        self.place(slot) || (self.few.is_some() && self.grow(left) && self.place(slot))
    }

    /// Returns whether there is a larger table. That is found out once: it takes a look at every name.
    fn grow(&mut self, left: &mut Vec<u32>) -> bool {
        if self.is_largest {
            return false;
        }
        for bits in self.bits + 1..=Self::MOST_BITS {
            let (mut larger, mut out) = (Self::new(self.hash, bits - Self::FEWEST_BITS), Vec::new());
            // What was added to a name's group is nowhere else.
            let mut leave = |slot: &Slot| {
                out.push(slot.code());
                slot.state.count() == 0 && out.len() <= Self::MOST_LEFT
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

    /// Finds a displacement by which all names of the slot's group, and this one, have places of their own.
    fn place(&mut self, slot: Slot) -> bool {
        let hash = self.hash.hash(&slot.key);
        let group = self.group(hash);
        let old_homes = std::mem::take(&mut self.groups[group]);
        let members: Vec<Slot> = old_homes.iter().map(|&home| self.slots[home as usize]).chain([slot]).collect();
        let hashes: Vec<u32> = members.iter().map(|member| self.hash.hash(&member.key)).collect();
        // Two names with these bits in common have the same place whatever the displacement.
        let mask = (1u32 << self.bits) - 1;
        let inseparable = |other: &u32| (other ^ hash) & mask == 0 && ((other ^ hash) >> 16) & mask == 0;
        let (_, others) = hashes.split_last().unwrap_or((&hash, &[]));
        if !others.iter().any(inseparable) {
            for &home in &old_homes {
                self.slots[home as usize] = Slot::FREE;
            }
            let current = self.displacements[group];
            let tries = if self.few.is_some() { 1 << u8::BITS } else { Self::MOST_TRIES };
            for displacement in (0..tries).map(|attempt| (current + attempt) % tries) {
                if let Some(homes) = self.homes(&hashes, displacement) {
                    self.names += 1;
                    self.moves += u64::from(displacement != current && !old_homes.is_empty());
                    self.settle(group, displacement, &members, homes);
                    return true;
                }
            }
        }
        let current = self.displacements[group];
        self.settle(group, current, &members[..old_homes.len()], old_homes);
        false
    }

    /// The places of names with these hashes, if they are free and different.
    fn homes(&self, hashes: &[u32], displacement: u32) -> Option<Vec<u32>> {
        let home = |&hash: &u32| self.home(hash, displacement) as u32;
        if !hashes.iter().all(|hash| self.slots[home(hash) as usize].is_free()) {
            return None;
        }
        let homes: Vec<u32> = hashes.iter().map(home).collect();
        let different = homes.iter().enumerate().all(|(index, home)| !homes[..index].contains(home));
        different.then_some(homes)
    }

    fn settle(&mut self, group: usize, displacement: u32, members: &[Slot], homes: Vec<u32>) {
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
