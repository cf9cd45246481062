//! Turns names into dense codes, about a nanosecond each: every row of a text table needs one.
//!
//! Names of up to [`SHORT`] bytes, which are nearly all, live whole in a table without collisions. A name's hash chooses
//! a *group*; the group's displacement moves the name to its slot. Whenever a new name falls on a taken slot, its group
//! gets another displacement ("hash, displace, and compress" of Belazzougui, Botelho and Dietzfelbinger, 2009, done one
//! name at a time). So a look-up is one comparison with one slot, no branch depends on which name comes, and the table
//! stays dense enough for the caches nearest to the processor. All other names go to a second table that compares with
//! the dictionary.

use crate::cpu::Level;
use brc_core::Dictionary;
use std::ops::Range;

/// The longest name that the table of short names holds, in bytes.
pub const SHORT: usize = 16;

/// What fills a short name up to [`SHORT`] bytes. No name of a text table contains it, so that the padded name and the
/// name tell each other.
pub(crate) const PADDING: u8 = b'\n';

/// A short name, padded: two little-endian words.
pub(crate) type Key = [u64; 2];

/// The key of a free slot: no name at all.
const NO_KEY: Key = [u64::from_le_bytes([PADDING; 8]); 2];

/// Gives each distinct name a code: 0, 1, 2 …
#[derive(Debug, Clone)]
pub struct Interner {
    dictionary: Dictionary,
    pub(crate) short: ShortNames,
    long: LongNames,
}

impl Interner {
    /// An interner that knows no name. Its hash is one that kernels of `level` compute at once.
    #[must_use]
    pub fn new(level: Level) -> Self {
        let hash = HashKind::of(level.min(Level::best()));
        Self { dictionary: Dictionary::new(), short: ShortNames::new(hash, 0), long: LongNames::default() }
    }

    /// The names so far, by code.
    #[must_use]
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The code of a name, if it was seen before.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<u32> {
        let short = key(name).and_then(|key| self.short.get(&key));
        short.or_else(|| self.long.get(name, &self.dictionary))
    }

    /// The code of the first `length` bytes of a text, if they are a name that was seen before. Faster than
    /// [`Interner::get`] where the text goes on behind a short name: nothing depends on its length.
    ///
    /// # Panics
    /// If the text is shorter than that.
    #[inline]
    #[must_use]
    pub fn get_prefix(&self, text: &[u8], length: usize) -> Option<u32> {
        let code = prefix_key(text, length).and_then(|key| self.short.get(&key));
        code.or_else(|| self.get(&text[..length]))
    }

    /// The code of a name; a new one if it was never seen.
    pub fn intern(&mut self, name: &[u8]) -> u32 {
        if let Some(code) = self.get(name) {
            return code;
        }
        let code = self.dictionary.push(name);
        let placed = key(name).is_some_and(|key| self.short.insert(Slot { key, code }));
        if !placed {
            self.long.insert(name, code);
        }
        code
    }
}

impl Interner {
    /// Appends the codes of names that lie somewhere in `bytes`, as [`Interner::intern`] gives them. No step depends on
    /// the length of a short name, and none waits for the name before.
    ///
    /// # Panics
    /// If a name lies elsewhere.
    pub fn intern_all(&mut self, bytes: &[u8], places: &[Range<usize>], codes: &mut Vec<u32>) {
        let mut rest = places;
        codes.reserve(rest.len());
        while !rest.is_empty() {
            let known = self.short.get_all(bytes, rest, codes);
            rest = &rest[known..];
            if let Some((place, behind)) = rest.split_first() {
                codes.push(self.intern(&bytes[place.clone()]));
                rest = behind;
            }
        }
    }
}

impl ShortNames {
    /// Appends the codes of the first names, up to one that is not there. Returns how many there were.
    fn get_all(&self, bytes: &[u8], places: &[Range<usize>], codes: &mut Vec<u32>) -> usize {
        match self.hash {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Aes` is chosen only where the level has AES instructions.
            HashKind::Aes => unsafe { self.get_all_aes(bytes, places, codes) },
            kind => self.get_all_by(|key| kind.hash(key), bytes, places, codes),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "aes")]
    fn get_all_aes(&self, bytes: &[u8], places: &[Range<usize>], codes: &mut Vec<u32>) -> usize {
        // SAFETY: this function has AES instructions.
        self.get_all_by(|key| unsafe { aes::hash(key) }, bytes, places, codes)
    }

    #[inline(always)]
    fn get_all_by(
        &self,
        hash: impl Fn(&Key) -> u32,
        bytes: &[u8],
        places: &[Range<usize>],
        codes: &mut Vec<u32>,
    ) -> usize {
        let before = codes.len();
        let found = places.iter().map_while(|place| {
            let key = front_key(bytes.get(place.start..)?.first_chunk()?, place.len())?;
            let hash = hash(&key);
            let slot = &self.slots[self.home(hash, self.displacements[self.group(hash)])];
            (slot.key == key).then_some(slot.code)
        });
        codes.extend(found);
        codes.len() - before
    }
}

/// The key of the name that the first `length` of some bytes are, if it has one.
#[inline]
fn front_key(bytes: &[u8; SHORT], length: usize) -> Option<Key> {
    const EACH: u128 = u128::from_le_bytes([1; SHORT]);
    const PADDED: u128 = EACH * PADDING as u128;
    const NAMES: [u128; SHORT + 1] = {
        let mut names = [0; SHORT + 1];
        let mut length = 1;
        while length <= SHORT {
            names[length] = u128::MAX >> (8 * (SHORT - length));
            length += 1;
        }
        names
    };
    let name = *NAMES.get(length)?;
    let word = u128::from_le_bytes(*bytes);
    let differences = word ^ PADDED;
    // The lowest of these bits tells of a byte without differences; those above it may be wrong.
    let padding = differences.wrapping_sub(EACH) & !differences & (EACH << 7) & name;
    let padded = word & name | PADDED & !name;
    (padding == 0 && length > 0).then_some([padded as u64, (padded >> 64) as u64])
}

/// The padded form of a name that is short enough, not empty, and free of padding.
pub(crate) fn key(name: &[u8]) -> Option<Key> {
    if name.is_empty() || name.len() > SHORT || name.contains(&PADDING) {
        return None;
    }
    let mut padded = [PADDING; SHORT];
    padded[..name.len()].copy_from_slice(name);
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&padded[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    Some([word(0), word(8)])
}

/// [`key`] of the first `length` bytes of a text that is longer than any short name.
#[inline]
fn prefix_key(text: &[u8], length: usize) -> Option<Key> {
    const PADDED: u128 = u128::from_le_bytes([PADDING; SHORT]);
    const ONES: u128 = u128::from_le_bytes([1; SHORT]);
    let first = u128::from_le_bytes(*text.first_chunk::<SHORT>()?);
    if length == 0 || length > SHORT {
        return None;
    }
    let behind = (u128::MAX << 1) << (8 * length as u32 - 1);
    // Any set bit below `behind` says that the name contains padding, though not always where.
    let differences = first ^ PADDED;
    let paddings = differences.wrapping_sub(ONES) & !differences & (ONES << 7);
    if paddings & !behind != 0 {
        return None;
    }
    let padded = (first & !behind) | (PADDED & behind);
    Some([padded as u64, (padded >> 64) as u64])
}

/// How keys are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HashKind {
    /// Three rounds of AES: 32 well-mixed bits in as many instructions, for four keys at once with AVX-512.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    Aes,
    /// A multiplication, for processors without AES instructions.
    Multiply,
}

impl HashKind {
    fn of(level: Level) -> Self {
        if cfg!(target_arch = "x86_64") && level >= Level::Avx2 { Self::Aes } else { Self::Multiply }
    }

    fn hash(self, key: &Key) -> u32 {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Aes` is chosen only where the level has AES instructions.
            Self::Aes => unsafe { aes::hash(key) },
            #[cfg(not(target_arch = "x86_64"))]
            Self::Aes => unreachable!("AES hashing is chosen on x86-64 only"),
            Self::Multiply => {
                const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
                let fold = |left: u64, right: u64| {
                    let product = u128::from(left) * u128::from(right);
                    product as u64 ^ (product >> 64) as u64
                };
                let mixed = fold(fold(key[0] ^ SPREAD, SPREAD.rotate_left(32)) ^ key[1], SPREAD);
                mixed as u32 ^ (mixed >> 32) as u32
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod aes {
    use super::Key;
    use std::arch::x86_64::{_mm_aesenc_si128, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_set_epi64x};

    /// The round key: digits of π.
    pub(crate) const ROUND: [i64; 2] = [0x1319_8A2E_0370_7344, 0x243F_6A88_85A3_08D3];

    /// With two, a byte of the hash would still depend on four bytes of the key only: names that are numbered would share
    /// hashes by the thousand.
    pub(crate) const ROUNDS: usize = 3;

    /// # Safety
    /// The processor has AES instructions.
    #[target_feature(enable = "aes")]
    pub(super) unsafe fn hash(key: &Key) -> u32 {
        let round = _mm_set_epi64x(ROUND[1], ROUND[0]);
        // SAFETY: a key is sixteen readable bytes.
        let key = unsafe { _mm_loadu_si128(key.as_ptr().cast()) };
        let mut mixed = key;
        for _ in 0..ROUNDS {
            mixed = _mm_aesenc_si128(mixed, round);
        }
        _mm_cvtsi128_si32(mixed) as u32
    }
}

/// A place for a short name.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Slot {
    pub(crate) key: Key,
    pub(crate) code: u32,
}

impl Slot {
    const FREE: Self = Self { key: NO_KEY, code: 0 };

    fn is_free(&self) -> bool {
        self.key == NO_KEY
    }
}

/// The table of short names.
#[derive(Debug, Clone)]
pub(crate) struct ShortNames {
    hash: HashKind,
    /// A slot that is always free, where kernels send rows they leave out; then 2^[`ShortNames::bits`] places.
    pub(crate) slots: Vec<Slot>,
    pub(crate) bits: u32,
    /// One for each group; a power of two of them.
    pub(crate) displacements: Vec<u32>,
    /// The displacements once more, if they are few enough for two vector registers.
    pub(crate) few: Option<Box<[u8; ShortNames::FEW_GROUPS]>>,
    /// The places of each group's names, so that a group can be moved.
    groups: Vec<Vec<u32>>,
    names: usize,
    /// How often names that had a slot got another one.
    pub(crate) moves: u64,
}

impl ShortNames {
    pub(crate) const FEW_GROUPS: usize = 128;
    const FEWEST_BITS: u32 = 10;
    /// The offset of every slot, in bytes, fits 31 bits. Names for which there is no room are kept in the other table.
    const MOST_BITS: u32 = 26;
    const MOST_TRIES: u32 = 1 << 12;

    /// `size` 0 is the smallest table, each further one twice as large.
    fn new(hash: HashKind, size: u32) -> Self {
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

    /// The slot in which a name lies, if it does.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> Option<usize> {
        let hash = self.hash.hash(key);
        let home = self.home(hash, self.displacements[self.group(hash)]);
        (self.slots[home].key == *key).then_some(home)
    }

    #[inline]
    fn get(&self, key: &Key) -> Option<u32> {
        self.find(key).map(|slot| self.slots[slot].code)
    }

    /// Returns whether a place was found.
    fn insert(&mut self, slot: Slot) -> bool {
        if self.names >= self.most_names() && !self.grow() {
            return false;
        }
        // A group of a small table has few displacements to choose from, so a larger table may help.
        self.place(slot) || (self.few.is_some() && self.grow() && self.place(slot))
    }

    /// Returns whether there is a larger table.
    fn grow(&mut self) -> bool {
        for bits in self.bits + 1..=Self::MOST_BITS {
            let mut larger = Self::new(self.hash, bits - Self::FEWEST_BITS);
            if self.slots.iter().filter(|slot| !slot.is_free()).all(|&slot| larger.place(slot)) {
                larger.moves = self.moves + 1;
                *self = larger;
                return true;
            }
        }
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

/// All other names: open addressing over their codes, with the hash beside each.
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
        let hash = hash_bytes(name);
        let mask = self.slots.len() - 1;
        let mut index = hash as usize & mask;
        loop {
            let slot = self.slots[index];
            if slot.code == u32::MAX {
                return None;
            }
            if slot.hash == hash && equal(dictionary.get(slot.code), name) {
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
        self.place(LongSlot { hash: hash_bytes(name), code });
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

/// Mixes the first, middle and last sixteen bytes, which is all of most names: without a loop, of which the end would be
/// hard to predict. What else there is of a longer name is mixed in by a loop.
#[inline]
fn hash_bytes(name: &[u8]) -> u32 {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let fold = |left: u64, right: u64| {
        let product = u128::from(left ^ SPREAD) * u128::from(right ^ SPREAD.rotate_left(32));
        product as u64 ^ (product >> 64) as u64
    };
    let state = if let (Some(first), Some(last)) = (name.first_chunk::<16>(), name.last_chunk::<16>()) {
        let middle = name[name.len() / 2 - 8..].first_chunk::<16>().unwrap_or(first);
        let ends = [first, middle, last].map(|bytes| {
            let word = u128::from_le_bytes(*bytes);
            fold(word as u64, (word >> 64) as u64)
        });
        let ends = fold(ends[0] ^ name.len() as u64, ends[1].rotate_left(21) ^ ends[2].rotate_left(42));
        if name.len() > 48 {
            name.as_chunks::<16>().0.iter().fold(ends, |state, bytes| {
                let word = u128::from_le_bytes(*bytes);
                fold(state ^ word as u64, (word >> 64) as u64)
            })
        } else {
            ends
        }
    } else {
        name.iter().fold(name.len() as u64, |state, &byte| fold(state, byte.into()))
    };
    (state >> 32) as u32 ^ state as u32
}

/// Whether two names of the second table are equal; the usual lengths are compared without a loop.
#[inline]
fn equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match (left.first_chunk::<16>(), right.first_chunk::<16>(), left.last_chunk::<16>(), right.last_chunk::<16>()) {
        (Some(a), Some(b), Some(c), Some(d)) if left.len() <= 32 => a == b && c == d,
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn check(level: Level, names: &[Vec<u8>]) {
        let mut interner = Interner::new(level);
        let mut oracle: HashMap<Vec<u8>, u32> = HashMap::new();
        for name in names.iter().chain(names) {
            let next = oracle.len() as u32;
            let expected = *oracle.entry(name.clone()).or_insert(next);
            assert_eq!(interner.intern(name), expected, "{:?}", name.escape_ascii().to_string());
        }
        assert_eq!(interner.dictionary().len(), oracle.len());
        for (name, &code) in &oracle {
            assert_eq!(interner.dictionary().get(code), name.as_slice());
            assert_eq!(interner.get(name), Some(code));
            for tail in [b"".as_slice(), b"\n", b"any other bytes", &[PADDING; 20]] {
                let text = [name, tail].concat();
                assert_eq!(interner.get_prefix(&text, name.len()), Some(code));
            }
        }
        check_all(level, names);
        assert_eq!(interner.get(b"never seen"), None);
        assert_eq!(interner.get_prefix(b"never seen, and more of it", 10), None);
    }

    /// Names that lie close together, with few bytes behind the last of them.
    fn check_all(level: Level, names: &[Vec<u8>]) {
        let mut interner = Interner::new(level);
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for name in names.iter().chain(names) {
            bytes.push(PADDING);
            places.push(bytes.len()..bytes.len() + name.len());
            bytes.extend_from_slice(name);
        }
        let mut codes = vec![7];
        interner.intern_all(&bytes, &places, &mut codes);
        assert_eq!(codes.len(), places.len() + 1);
        let mut other = Interner::new(level);
        for (place, &code) in places.into_iter().zip(&codes[1..]) {
            assert_eq!(other.intern(&bytes[place]), code);
        }
        assert_eq!(interner.dictionary(), other.dictionary());
    }

    #[test]
    fn many_names_of_all_lengths() {
        let names: Vec<Vec<u8>> =
            (0..50_000u32).map(|i| format!("{i:0width$}", width = 1 + i as usize % 40).into_bytes()).collect();
        for level in Level::available() {
            check(level, &names);
        }
    }

    /// Numbered names share nearly all of their bytes. Whatever the hash makes of that, none may cost much time: this
    /// test would run for minutes.
    #[test]
    fn numbered_names() {
        let forms: [fn(u32) -> String; 6] = [
            |i| format!("n{i}"),
            |i| format!("{i:06}"),
            |i| format!("station-{i:05}"),
            |i| format!("id{i:08}"),
            |i| format!("192.168.{}.{}", i / 250, i % 250),
            |i| format!("https://www.example.com/u/{i:08}/{}", "x".repeat(90)),
        ];
        for form in forms {
            let names: Vec<Vec<u8>> = (0..30_000).map(|i| form(i).into_bytes()).collect();
            for level in Level::available() {
                check(level, &names);
                let mut interner = Interner::new(level);
                for name in &names {
                    interner.intern(name);
                }
                let short = names[0].len() <= SHORT;
                let elsewhere = names.iter().filter(|name| short && interner.short.find(&key(name).unwrap()).is_none());
                let elsewhere = elsewhere.count();
                assert!(elsewhere < 100, "{elsewhere} of the names like {} by {}", form(7), level.name());
            }
        }
    }

    #[test]
    fn names_that_differ_little() {
        let mut names: Vec<Vec<u8>> = (0..=20).map(|length| vec![b'a'; length]).collect();
        names.extend([b"a\0".to_vec(), b"\0".to_vec(), b"\n".to_vec(), b"a\n".to_vec(), b"aaaaaaaaaaaaaaa\0".to_vec()]);
        names.extend((0..=255u8).map(|byte| vec![byte]));
        names.extend((0..=255u8).map(|byte| [b"0123456789abcde".as_slice(), &[byte]].concat()));
        for level in Level::available() {
            check(level, &names);
        }
    }

    proptest! {
        #[test]
        fn any_names(names in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..200)) {
            for level in Level::available() {
                check(level, &names);
            }
        }
    }
}
