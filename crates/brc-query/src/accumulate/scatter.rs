//! Cuts a partial by key hash, so that several processes can each merge a share of many groups.

use crate::accumulate::partial::Partial;
use crate::values::split_mix::mixed;
use brc_core::Value;

/// The word that is hashed for a null.
const NULL: u64 = 0x6a09_e667_f3bc_c908;

impl Partial {
    /// Distributes the groups over `partitions` partitions by a hash of their keys. Returns the partitions that have
    /// groups, each with its number.
    ///
    /// The partition of a group depends on nothing but the values of its keys and the salt, so all processes agree on
    /// it. The salt keeps the groups of a partition from lying side by side in a hash table.
    #[must_use]
    pub fn scatter(self, partitions: usize, salt: u64) -> Vec<(usize, Self)> {
        let groups = self.members();
        let hashes = self.hashes(&groups, salt);
        let partitions = partitions.max(1);
        let mut members = vec![Vec::new(); partitions];
        for (&group, hash) in groups.iter().zip(hashes) {
            members[((u128::from(hash) * partitions as u128) >> 64) as usize].push(group);
        }
        let filled = members.into_iter().enumerate().filter(|(_, members)| !members.is_empty());
        match self.keys() {
            // The only group is there even if it has no rows.
            0 => filled.map(|(partition, _)| partition).zip([self]).collect(),
            _ => filled.map(|(partition, members)| (partition, self.take(&members))).collect(),
        }
    }

    /// The groups in partials of this many groups at most, in their order.
    #[must_use]
    pub fn chunks(self, groups: usize) -> Vec<Self> {
        let members: Vec<u32> = (0..self.groups() as u32).collect();
        match members.len() <= groups.max(1) {
            true => vec![self],
            false => members.chunks(groups.max(1)).map(|members| self.take(members)).collect(),
        }
    }

    /// A hash of the keys of each of these groups.
    fn hashes(&self, groups: &[u32], salt: u64) -> Vec<u64> {
        let (mut hashes, mut text) = (vec![add_word(salt, 0); groups.len()], Vec::new());
        for key in 0..self.keys() {
            for (hash, &group) in hashes.iter_mut().zip(groups) {
                *hash = match self.key(key, group as usize, &mut text) {
                    None => add_word(*hash, NULL),
                    Some(Value::Integer(value)) => add_word(add_word(*hash, value as u64), (value >> 64) as u64),
                    Some(Value::Float(value)) => add_word(*hash, value.to_bits()),
                    Some(Value::Bytes(bytes)) => hash_of(bytes, *hash),
                };
            }
        }
        hashes
    }
}

/// A hash of a string and of what came before it.
fn hash_of(bytes: &[u8], hash: u64) -> u64 {
    let words = bytes.chunks(8).map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    words.fold(add_word(hash, bytes.len() as u64), add_word)
}

/// A hash with one more word.
fn add_word(hash: u64, word: u64) -> u64 {
    mixed(hash ^ word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Other versions of brc must put groups into the same partitions, whatever machine they run on.
    #[test]
    fn hashes_stay_what_they_are() {
        assert_eq!(add_word(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(hash_of(b"", 7), add_word(7, 0));
        assert_eq!(hash_of(b"abcdefgh\x01", 7), add_word(add_word(add_word(7, 9), 0x6867_6665_6463_6261), 1));
    }

    #[test]
    fn strings_that_differ_have_other_hashes() {
        let strings = ["", "\0", "\0\0", "a", "a\0", "b", "abcdefgh", "abcdefgh\0", "abcdefghi"];
        let hashes: HashSet<u64> = strings.iter().map(|string| hash_of(string.as_bytes(), 1)).collect();
        assert_eq!(hashes.len(), strings.len());
    }
}
