//! Turns names into dense codes, about a nanosecond each: every row of a text table needs one.
//!
//! Names of up to [`SHORT`] bytes, which are nearly all, are two machine words. They live in a table without collisions:
//! the low bits of a name's hash choose a *group*, the group's displacement is added to the high bits, and the sum is the
//! name's slot. Whenever a new name falls on a taken slot, its group gets another displacement ("hash, displace, and
//! compress", Belazzougui, Botelho and Dietzfelbinger 2009, done incrementally). So a look-up is one comparison with one
//! slot, the table is dense enough for the first-level cache, and no branch depends on which name comes.
//! Whatever does not fit that scheme goes to a second table that compares with the dictionary.

use brc_core::Dictionary;

/// The longest name that is kept in the table of short names, in bytes.
pub const SHORT: usize = 16;

/// A short name: its first eight bytes, and those behind them; up to eight bytes are in both words. Zero-padded. With
/// the length it tells the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Key {
    pub(crate) first: u64,
    pub(crate) rest: u64,
    pub(crate) length: u32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Slot {
    pub(crate) first: u64,
    pub(crate) rest: u64,
    /// 0 if the slot is free: no name is empty.
    pub(crate) length: u32,
    pub(crate) code: u32,
}

/// Gives each distinct name a code: 0, 1, 2 … in the order in which they first came.
#[derive(Debug, Clone)]
pub struct Interner {
    dictionary: Dictionary,
    pub(crate) short: ShortNames,
    long: LongNames,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// An interner that knows no name.
    #[must_use]
    pub fn new() -> Self {
        Self { dictionary: Dictionary::new(), short: ShortNames::new(10), long: LongNames::default() }
    }

    /// The names so far, by code.
    #[must_use]
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The code of a name; a new one if it was never seen.
    pub fn intern(&mut self, name: &[u8]) -> u32 {
        if (1..=SHORT).contains(&name.len()) {
            let key = Key::new(name);
            if let Some(code) = self.short.get(&key) {
                return code;
            }
            if let Some(code) = self.long.get(name, &self.dictionary) {
                return code;
            }
            let code = self.dictionary.push(name);
            if !self.short.insert(&key, code) {
                self.long.insert(name, code);
            }
            return code;
        }
        self.long.get(name, &self.dictionary).unwrap_or_else(|| {
            let code = self.dictionary.push(name);
            self.long.insert(name, code);
            code
        })
    }
}

impl Key {
    pub(crate) fn new(name: &[u8]) -> Self {
        let word = |bytes: &[u8]| {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(padded)
        };
        let first = word(&name[..name.len().min(8)]);
        let rest = if name.len() > 8 { word(&name[8..]) } else { first };
        Self { first, rest, length: name.len() as u32 }
    }

    #[inline(always)]
    pub(crate) fn hash(first: u64, rest: u64) -> u64 {
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        (first ^ rest.rotate_left(29)).wrapping_mul(SPREAD)
    }
}

/// The table of short names.
#[derive(Debug, Clone)]
pub(crate) struct ShortNames {
    /// 2^bits of them.
    pub(crate) slots: Vec<Slot>,
    /// One displacement for each group of names; half as many groups as slots.
    pub(crate) displacements: Vec<u16>,
    /// The slots have 2^bits places.
    pub(crate) bits: u32,
    names: usize,
    /// The slots of each group's names, so that a group can be moved.
    groups: Vec<Vec<u32>>,
}

impl ShortNames {
    fn new(bits: u32) -> Self {
        let groups = 1 << (bits - 1);
        Self {
            slots: vec![Slot::default(); 1 << bits],
            displacements: vec![0; groups],
            bits,
            names: 0,
            groups: vec![Vec::new(); groups],
        }
    }

    fn group(&self, hash: u64) -> usize {
        (hash >> 16) as usize & (self.displacements.len() - 1)
    }

    fn home(&self, hash: u64, displacement: u16) -> usize {
        ((hash >> (64 - self.bits)) as usize ^ displacement as usize) & (self.slots.len() - 1)
    }

    fn get(&self, key: &Key) -> Option<u32> {
        let hash = Key::hash(key.first, key.rest);
        let slot = &self.slots[self.home(hash, self.displacements[self.group(hash)])];
        (slot.first == key.first && slot.rest == key.rest && slot.length == key.length).then_some(slot.code)
    }

    fn insert(&mut self, key: &Key, code: u32) -> bool {
        if self.names * 2 >= self.slots.len() {
            self.grow();
        }
        self.place(Slot { first: key.first, rest: key.rest, length: key.length, code })
    }

    fn place(&mut self, slot: Slot) -> bool {
        let hash = Key::hash(slot.first, slot.rest);
        let group = self.group(hash);
        let mut members: Vec<Slot> = Vec::new();
        for &place in &self.groups[group] {
            members.push(std::mem::take(&mut self.slots[place as usize]));
        }
        members.push(slot);
        let old = self.displacements[group];
        for attempt in 0..=u16::MAX {
            let displacement = old.wrapping_add(attempt);
            if self.place_group(group, displacement, &members) {
                self.names += 1;
                return true;
            }
            if attempt as usize >= self.slots.len() {
                break;
            }
        }
        members.pop();
        let back = self.place_group(group, old, &members);
        debug_assert!(back);
        false
    }

    fn place_group(&mut self, group: usize, displacement: u16, members: &[Slot]) -> bool {
        let homes: Vec<u32> =
            members.iter().map(|slot| self.home(Key::hash(slot.first, slot.rest), displacement) as u32).collect();
        let free = homes
            .iter()
            .enumerate()
            .all(|(index, &home)| self.slots[home as usize].length == 0 && !homes[..index].contains(&home));
        if free {
            for (slot, &home) in members.iter().zip(&homes) {
                self.slots[home as usize] = *slot;
            }
            self.displacements[group] = displacement;
            self.groups[group] = homes;
        }
        free
    }

    fn grow(&mut self) {
        let old = std::mem::replace(self, Self::new(self.bits + 1));
        for slot in old.slots.into_iter().filter(|slot| slot.length > 0) {
            assert!(self.place(slot));
        }
    }
}

/// All other names: open addressing over their codes, with the hash beside it.
#[derive(Debug, Clone, Default)]
struct LongNames {
    /// A power of two of them, or none.
    slots: Vec<LongSlot>,
    names: usize,
}

#[derive(Debug, Clone, Copy)]
struct LongSlot {
    hash: u32,
    /// [`u32::MAX`] if the slot is free: no dictionary gets as far.
    code: u32,
}

impl LongNames {
    const FREE: LongSlot = LongSlot { hash: 0, code: u32::MAX };

    fn get(&self, name: &[u8], dictionary: &Dictionary) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let hash = hash_long(name);
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

    fn insert(&mut self, name: &[u8], code: u32) {
        if self.names * 2 >= self.slots.len() {
            let larger = vec![Self::FREE; (self.slots.len() * 2).max(256)];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot.code != u32::MAX {
                    self.place(slot);
                }
            }
        }
        self.place(LongSlot { hash: hash_long(name), code });
        self.names += 1;
    }

    fn place(&mut self, slot: LongSlot) {
        let mask = self.slots.len() - 1;
        let mut index = slot.hash as usize & mask;
        while self.slots[index].code != u32::MAX {
            index = (index + 1) & mask;
        }
        self.slots[index] = slot;
    }
}

fn hash_long(name: &[u8]) -> u32 {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(SPREAD);
        product as u64 ^ (product >> 64) as u64
    };
    let mut state = name.len() as u64;
    let mut words = name.chunks_exact(8);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        state = fold(state, u64::from_le_bytes(bytes));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    state = fold(state, u64::from_le_bytes(last));
    (state >> 32) as u32 ^ state as u32
}
