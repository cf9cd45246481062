//! Which of a dictionary's codes each group has, as long as groups and codes are few: a bit for each pair of both,
//! which is set without a branch, and merged 64 at a time.

use super::GroupIds;
use crate::keys::strings::Strings;
use crate::values::error::BatchError;
use brc_core::Dictionary;
use brc_kernels::accumulate::UnknownGroup;

/// The most words: more do not stay in the cache.
const MAX_WORDS: usize = 1 << 19;

/// The bits of all groups.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeBits {
    strings: Strings,
    /// The words of each group.
    width: usize,
    words: Vec<u64>,
}

impl CodeBits {
    /// The dictionary of the codes.
    pub(super) fn names(&self) -> &Dictionary {
        &self.strings.names
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Makes room for the codes of a dictionary, to which values may have been added since the last time; `false` if
    /// that would be too much.
    pub(super) fn make_room(&mut self, groups: usize, dictionary: &Dictionary) -> bool {
        let has_room = self.widen(groups, dictionary.len());
        if has_room {
            self.strings.learn(dictionary);
        }
        has_room
    }

    fn widen(&mut self, groups: usize, codes: usize) -> bool {
        let old = self.width;
        let groups = groups.max(self.words.len() / old.max(1));
        if codes > old * 64 {
            // Some more, so that not every new value moves all bits.
            self.width = codes.div_ceil(64).next_multiple_of(8).max(old + old / 2);
        }
        let words = groups.checked_mul(self.width).filter(|&words| words <= MAX_WORDS);
        let Some(words) = words else {
            self.width = old;
            return false;
        };
        if self.width > old {
            let narrow = std::mem::replace(&mut self.words, vec![0; words]);
            let rows = self.words.chunks_exact_mut(self.width).zip(narrow.chunks_exact(old.max(1)));
            rows.for_each(|(wide, narrow)| wide[..old].copy_from_slice(narrow));
        }
        self.words.resize(words, 0);
        true
    }

    /// Sets the bits of rows.
    pub(super) fn add(&mut self, groups: GroupIds<'_>, codes: &[u32]) -> Result<(), BatchError> {
        let (width, known) = (self.width, self.names().len());
        groups.each(codes.len(), |group, row| {
            let code = codes[row] as usize;
            if code >= known {
                return Err(BatchError("a code is not in its dictionary"));
            }
            // A code that is known is within the words of a group.
            let word = self.words.get_mut(group * width + code / 64).ok_or(UnknownGroup)?;
            *word |= 1 << (code % 64);
            Ok(())
        })
    }

    /// Sets the bits that groups of another have in those in `groups`; `false` if the
    /// dictionaries differ, or there is no room.
    pub(super) fn merge(&mut self, other: &Self, groups: &[u32]) -> bool {
        if other.is_empty() {
            return true;
        }
        let (ours, theirs) = (self.names(), other.names());
        let known = ours.len().min(theirs.len());
        let are_same = ours == theirs || ours.iter().take(known).eq(theirs.iter().take(known));
        let most = groups.iter().max().map_or(0, |&most| most as usize + 1);
        if !are_same || !self.make_room(most, theirs) {
            return false;
        }
        for (&group, theirs) in groups.iter().zip(other.words.chunks_exact(other.width)) {
            let start = group as usize * self.width;
            let ours = &mut self.words[start..start + self.width];
            // What they have room for and we have not is empty.
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours |= theirs);
        }
        true
    }

    /// Those of these groups, in their order.
    pub(super) fn take(&self, groups: &[u32]) -> Self {
        let of_group = |&group: &u32| self.words.chunks_exact(self.width.max(1)).nth(group as usize);
        let mut words = Vec::new();
        for group in groups {
            match of_group(group) {
                Some(of_group) => words.extend_from_slice(of_group),
                None => words.resize(words.len() + self.width, 0),
            }
        }
        Self { strings: self.strings.clone(), width: self.width, words }
    }

    /// Adds to `counts` how many codes each group has.
    pub(super) fn count(&self, counts: &mut [u64]) {
        for (count, words) in counts.iter_mut().zip(self.words.chunks_exact(self.width.max(1))) {
            *count += words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
    }

    /// All pairs of a group and a code.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, u32)> {
        let of_group = |(group, words)| crate::values::selection::set_rows(words).map(move |code| (group, code as u32));
        self.words.chunks_exact(self.width.max(1)).enumerate().flat_map(of_group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn names(count: usize) -> Dictionary {
        (0..count).map(|name| name.to_string()).collect()
    }

    proptest! {
        #[test]
        fn bits_are_pairs(
            rows in prop::collection::vec((0u32..5, 0u32..3000), 1..300), cut in 0usize..300, size in 1usize..50,
        ) {
            let (one, other) = rows.split_at(cut.min(rows.len()));
            let bits = |rows: &[(u32, u32)]| {
                let mut bits = CodeBits::default();
                let mut known = 0;
                for rows in rows.chunks(size) {
                    known = rows.iter().map(|row| row.1 as usize + 1).max().unwrap_or(0).max(known);
                    assert!(bits.make_room(5, &names(known)));
                    let (groups, codes): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
                    bits.add(GroupIds::Rows(&groups), &codes).unwrap();
                }
                bits
            };
            let mut merged = bits(one);
            prop_assert!(merged.merge(&bits(other).take(&[4, 0, 1]), &[4, 0, 1]));
            prop_assert!(merged.merge(&bits(other).take(&[3, 2]), &[3, 2]));
            let expected: BTreeSet<(usize, u32)> = rows.iter().map(|&(group, code)| (group as usize, code)).collect();
            prop_assert!(merged.pairs().eq(expected.iter().copied()));
            let mut counts = vec![0; 5];
            merged.count(&mut counts);
            let count = |group: usize| expected.iter().filter(|pair| pair.0 == group).count() as u64;
            prop_assert_eq!(counts, (0..5).map(count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn too_many_bits_other_names_and_unknown_codes_are_refused() {
        let mut bits = CodeBits::default();
        assert!(bits.make_room(2, &names(3)));
        assert!(!bits.make_room(MAX_WORDS, &names(3)));
        assert!(bits.add(GroupIds::Rows(&[1]), &[3]).is_err());
        assert!(bits.add(GroupIds::Rows(&[2]), &[0]).is_err());
        bits.add(GroupIds::Rows(&[1]), &[2]).unwrap();
        let mut other = CodeBits::default();
        assert!(other.make_room(1, &["1", "0"].into_iter().collect()));
        other.add(GroupIds::Rows(&[0]), &[0]).unwrap();
        assert!(!bits.merge(&other, &[0]));
        assert!(bits.pairs().eq([(1, 2)]));
    }
}
