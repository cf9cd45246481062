//! The state of all groups after a scan, as plain data that may travel, and how two become one.

use crate::index::{NameIndex, TupleIndex};
use brc_core::{Dictionary, Error, Result, Statistics};
use serde::{Deserialize, Serialize, Serializer};

/// The groups of one or several scans, each with its key values, its rows and the statistics of each aggregated column.
///
/// Merging is associative and commutative, but for the order in which the groups lie, which nobody sees.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Partial {
    /// The distinct strings of each key that is one.
    #[serde(serialize_with = "serialize_names")]
    names: Vec<Option<Dictionary>>,
    /// One word for each key, group after group: a code, or the bits of a number.
    tuples: Vec<u64>,
    /// The rows of each group.
    counts: Vec<u64>,
    /// For each aggregated column, the statistics of each group.
    statistics: Vec<Vec<Statistics>>,
    /// What finds groups when merging; made when it is first needed.
    #[serde(skip)]
    index: Option<Box<Index>>,
}

/// A key value of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key<'a> {
    Text(&'a [u8]),
    Number(i64),
}

#[derive(Debug, Clone)]
struct Index {
    names: Vec<Option<NameIndex>>,
    groups: TupleIndex,
}

impl Index {
    fn of(partial: &Partial) -> Self {
        let names = partial.names.iter().map(|names| names.as_ref().map(NameIndex::of)).collect();
        let groups = match partial.names.len() {
            0 => TupleIndex::default(),
            width => TupleIndex::of(&partial.tuples, width),
        };
        Self { names, groups }
    }
}

impl Partial {
    /// No groups. `is_text` tells which keys are strings.
    pub(crate) fn new(is_text: impl Iterator<Item = bool>, columns: usize) -> Self {
        let names = is_text.map(|is_text| is_text.then(Dictionary::new)).collect();
        Self { names, tuples: Vec::new(), counts: Vec::new(), statistics: vec![Vec::new(); columns], index: None }
    }

    /// Some groups; those without rows are left out.
    pub(crate) fn of_groups(
        names: Vec<Option<Dictionary>>,
        tuples: Vec<u64>,
        counts: Vec<u64>,
        statistics: Vec<Vec<Statistics>>,
    ) -> Self {
        let mut partial = Self { names, tuples, counts, statistics, index: None };
        if partial.counts.contains(&0) {
            partial.leave_out_empty();
        }
        partial
    }

    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.counts.len()
    }

    /// Takes the groups of another partial of the same plan.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is of another plan.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        let is_text = |names: &[Option<Dictionary>]| names.iter().map(Option::is_some).collect::<Vec<_>>();
        if is_text(&self.names) != is_text(&other.names) || self.statistics.len() != other.statistics.len() {
            return Err(Error::Usage("two partial answers are of different plans".to_owned()));
        }
        if self.counts.is_empty() {
            *self = other;
        } else if self.tuples == other.tuples && self.names == other.names {
            // The same groups in the same order: every scanner has the dictionary of the file.
            for group in 0..other.groups() {
                self.add(group, &other, group);
            }
        } else {
            self.merge_by_key(&other);
        }
        Ok(())
    }

    /// The rows of a group.
    pub(crate) fn count(&self, group: u32) -> u64 {
        self.counts[group as usize]
    }

    /// The statistics of a group's values of one of the aggregated columns.
    pub(crate) fn statistics(&self, column: usize, group: u32) -> &Statistics {
        &self.statistics[column][group as usize]
    }

    /// The value that a group has for one of the keys.
    pub(crate) fn key(&self, key: usize, group: u32) -> Key<'_> {
        let word = self.tuples[group as usize * self.names.len() + key];
        match &self.names[key] {
            Some(names) => Key::Text(names.get(word as u32)),
            None => Key::Number(word as i64),
        }
    }

    /// Adds a group without rows, if there is no group and all rows are one.
    pub(crate) fn ensure_the_only_group(&mut self) {
        if self.names.is_empty() && self.counts.is_empty() {
            self.counts.push(0);
            self.statistics.iter_mut().for_each(|column| column.push(Statistics::EMPTY));
        }
    }

    fn merge_by_key(&mut self, other: &Self) {
        let mut index = self.index.take().unwrap_or_else(|| Box::new(Index::of(self)));
        let codes = self.codes_of_names(&mut index, other);
        let width = self.names.len();
        let mut tuple = vec![0; width];
        for group in 0..other.groups() {
            for ((word, theirs), codes) in tuple.iter_mut().zip(&other.tuples[group * width..]).zip(&codes) {
                *word = codes.as_ref().map_or(*theirs, |codes| codes[*theirs as usize].into());
            }
            let found = if width == 0 { 0 } else { index.groups.number(&tuple, &mut self.tuples) as usize };
            if found == self.counts.len() {
                self.counts.push(0);
                self.statistics.iter_mut().for_each(|column| column.push(Statistics::EMPTY));
            }
            self.add(found, other, group);
        }
        self.index = Some(index);
    }

    /// For each key that is a string, our codes of the other's names, which are added where they are new.
    fn codes_of_names(&mut self, index: &mut Index, other: &Self) -> Vec<Option<Vec<u32>>> {
        let keys = self.names.iter_mut().zip(&mut index.names).zip(&other.names);
        let codes = keys.map(|(ours, theirs)| match (ours, theirs) {
            ((Some(ours), Some(index)), Some(theirs)) => {
                Some(theirs.iter().map(|name| index.code(name, ours)).collect())
            }
            _ => None,
        });
        codes.collect()
    }

    fn add(&mut self, group: usize, other: &Self, theirs: usize) {
        self.counts[group] += other.counts[theirs];
        for (column, other) in self.statistics.iter_mut().zip(&other.statistics) {
            column[group].merge(&other[theirs]);
        }
    }

    fn leave_out_empty(&mut self) {
        let kept: Vec<bool> = self.counts.iter().map(|&count| count > 0).collect();
        retain(&mut self.counts, &kept);
        self.statistics.iter_mut().for_each(|column| retain(column, &kept));
        if let [Some(names)] = &mut self.names[..] {
            // The names of a single string key are its groups, in order.
            *names = names.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(name, _)| name).collect();
            self.tuples = (0..names.len() as u64).collect();
        } else {
            let width = self.names.len();
            retain(
                &mut self.tuples,
                &kept.iter().flat_map(|&kept| std::iter::repeat_n(kept, width)).collect::<Vec<_>>(),
            );
        }
    }
}

fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or(false));
}

fn serialize_names<S: Serializer>(names: &[Option<Dictionary>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(names.iter().map(|names| names.as_ref().map(|names| names.iter().collect::<Vec<_>>())))
}

/// A partial as it arrives from elsewhere.
#[derive(Deserialize)]
struct Unchecked {
    names: Vec<Option<Vec<Vec<u8>>>>,
    tuples: Vec<u64>,
    counts: Vec<u64>,
    statistics: Vec<Vec<Statistics>>,
}

impl TryFrom<Unchecked> for Partial {
    type Error = &'static str;

    fn try_from(found: Unchecked) -> Result<Self, Self::Error> {
        let (groups, width) = (found.counts.len(), found.names.len());
        if found.tuples.len() != groups * width || (width == 0 && groups > 1) {
            return Err("the keys are not as many as the groups");
        }
        if found.statistics.iter().any(|column| column.len() != groups) {
            return Err("the statistics are not as many as the groups");
        }
        let known = |(index, word): (usize, &u64)| {
            found.names[index % width].as_ref().is_none_or(|names| *word < names.len() as u64)
        };
        if !found.tuples.iter().enumerate().all(known) {
            return Err("a code has no name");
        }
        let names = found.names.into_iter().map(|names| names.map(|names| names.into_iter().collect())).collect();
        Ok(Self { names, tuples: found.tuples, counts: found.counts, statistics: found.statistics, index: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unchecked() -> Unchecked {
        Unchecked {
            names: vec![Some(vec![b"a".to_vec(), b"b".to_vec()]), None],
            tuples: vec![0, 7, 1, u64::MAX],
            counts: vec![1, 2],
            statistics: vec![vec![Statistics::EMPTY; 2]],
        }
    }

    #[test]
    fn what_arrives_is_checked() {
        let partial = Partial::try_from(unchecked()).unwrap();
        assert_eq!(partial.groups(), 2);
        assert_eq!((partial.key(0, 1), partial.key(1, 1)), (Key::Text(b"b"), Key::Number(-1)));
        for (spoil, reason) in [
            ((|partial| partial.tuples[2] = 2) as fn(&mut Unchecked), "a code has no name"),
            (|partial| partial.names[1] = Some(Vec::new()), "a code has no name"),
            (|partial| partial.tuples.truncate(3), "the keys are not as many as the groups"),
            (|partial| partial.names.clear(), "the keys are not as many as the groups"),
            (|partial| partial.counts.push(1), "the keys are not as many as the groups"),
            (|partial| partial.statistics[0].truncate(1), "the statistics are not as many as the groups"),
            (
                |partial| {
                    partial.names.clear();
                    partial.tuples.clear();
                },
                "the keys are not as many as the groups",
            ),
        ] {
            let mut partial = unchecked();
            spoil(&mut partial);
            assert_eq!(Partial::try_from(partial).unwrap_err(), reason);
        }
    }

    #[test]
    fn groups_without_rows_are_left_out() {
        let names: Dictionary = ["a", "b", "c"].into_iter().collect();
        let statistics = (1..=3).map(|value| [value].into_iter().collect()).collect();
        let partial = Partial::of_groups(vec![Some(names)], vec![0, 1, 2], vec![1, 0, 1], vec![statistics]);
        assert_eq!(partial.groups(), 2);
        assert_eq!([partial.key(0, 0), partial.key(0, 1)], [Key::Text(b"a"), Key::Text(b"c")]);
        assert_eq!(partial.statistics(0, 1).sum, 3);
    }
}
