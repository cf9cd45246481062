//! A group-by query is as fast as it finds the group of each row. This folder chooses the cheapest
//! access path from keys to groups:
//!
//! - without keys all rows are one group;
//! - one string key needs no hashing: its codes are the groups, as long as there are codes and no nulls;
//! - keys with few values together index an array;
//! - any other keys are laid out as tuples of words, which a hash table numbers in the order of their appearance.
//!
//! In: the key columns of a batch and a selection. Out: the group of each wanted row (`GroupIds`) and, at the end, the
//! keys of all groups (`GroupKeys`). Aggregates are not known here.
//!
//! Where to look:
//!
//! - the choice of the access path (`Keys`): `mod.rs`
//! - one string key: `strings.rs`, with short strings in `short.rs`
//! - few values: an array in place of a hash table: `direct.rs`, `digits.rs`
//! - tuples of keys and their numbers: `key_set.rs`, `layout.rs`, `index.rs`
//! - the results: `group_ids.rs`, `group_keys.rs`
//! - keys as words that sort as the keys do, for partitions (`KeyEncoding`, `EncodedKeys`): `encoding/`
//! - the names of the access paths, for `explain` (`AccessPath`, `RowsByAccessPath`): `access_path.rs`

pub(crate) mod access_path;
mod digits;
pub(crate) mod direct;
pub(crate) mod encoding;
pub(crate) mod group_ids;
pub(crate) mod group_keys;
pub(crate) mod index;
pub(crate) mod key_set;
pub(crate) mod layout;
mod short;
pub(crate) mod strings;

use crate::keys::access_path::AccessPath;
use crate::keys::encoding::Sample;
use crate::keys::group_ids::GroupIds;
use crate::keys::group_keys::GroupKeys;
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::batch::codes_of;
use brc_core::table::ColumnSummary;
use brc_core::{Batch, Column, Data, Dictionary, LogicalType, PhysicalType, Run, Summary, Value};
use brc_kernels::accumulate::table::{MAX_GROUPS_WITH_NONE, NO_GROUP};
use brc_kernels::cpu::Level;
use brc_kernels::direct::are_known;
use brc_kernels::filter::{blend, compress, compress_runs};
use direct::{Direct, Expected};
use key_set::KeySet;
use strings::Strings;

/// The columns of keys of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbered<'a> {
    keys: &'a [Column<'a>],
    /// For each key whose strings come as bytes, their numbers in a set of tuples.
    numbers: &'a [Vec<u32>],
}

impl<'a> Numbered<'a> {
    /// Columns whose strings have codes, if there are such.
    pub(crate) fn plain(keys: &'a [Column<'a>]) -> Self {
        Self { keys, numbers: &[] }
    }

    fn numbers(self, key: usize) -> &'a [u32] {
        self.numbers.get(key).map_or(&[], Vec::as_slice)
    }

    /// The columns, with numbers in place of strings that come as bytes; their dictionary is `none`.
    fn columns(self, none: &'a Dictionary) -> Vec<Column<'a>> {
        let column = |(index, key): (usize, &Column<'a>)| match key.data {
            Data::Bytes(_) => Column::codes(self.numbers(index), none).with_validity(key.validity),
            Data::Codes { .. } | Data::Runs { .. } | Data::Integers(_) | Data::Floats(_) => *key,
        };
        self.keys.iter().enumerate().map(column).collect()
    }

    /// For each key, whether it has numbers in place of strings.
    fn are_numbers(self) -> impl Iterator<Item = bool> {
        self.keys.iter().map(|key| matches!(key.data, Data::Bytes(_)))
    }

    /// Adds the wanted rows to the next tuples of the set.
    fn take_to(self, set: &mut KeySet, selection: Selection<'_>) -> Result<(), BatchError> {
        let mut keys = self.keys.iter().enumerate();
        keys.try_for_each(|(index, key)| set.take_numbered(index, key, self.numbers(index), selection))
    }
}

/// The keys of a scan: which groups there are.
#[derive(Debug)]
pub(crate) struct Keys {
    kind: Kind,
    /// The numbers of a batch's strings, for each key of which they come as bytes.
    numbers: Vec<Vec<u32>>,
    /// The groups of all rows of a batch.
    all: Vec<u32>,
    /// The groups of a batch's rows or runs.
    rows: Vec<u32>,
    runs: Vec<Run>,
}

#[derive(Debug)]
enum Kind {
    None,
    Strings(StringKey),
    Tuples(Box<KeySet>, Box<Direct>),
}

impl Keys {
    /// Keys are the first columns of each batch, of these types, each with whether it may be null.
    pub(crate) fn new(types: &[(LogicalType, bool)]) -> Self {
        let kind = match types {
            [] => Kind::None,
            [(key, nullable)] if key.physical() == PhysicalType::Bytes => {
                Kind::Strings(StringKey { types: [(*key, *nullable)], ..StringKey::default() })
            }
            _ => Kind::Tuples(Box::new(KeySet::new(types)), Box::default()),
        };
        Self { kind, numbers: vec![Vec::new(); types.len()], all: Vec::new(), rows: Vec::new(), runs: Vec::new() }
    }

    /// The same for a table of which that is known.
    pub(crate) fn expecting(mut self, expected: Expected) -> Self {
        if let Kind::Tuples(_, direct) = &mut self.kind {
            **direct = Direct::expecting(expected);
        }
        self
    }

    /// The groups of the wanted rows of a batch, and how many groups there are with those that are new. If
    /// `others_stay`, rows that are not wanted may be there as well, as many as the batch has, all in their places:
    /// they are of [`NO_GROUP`].
    pub(crate) fn groups_of<'a>(
        &'a mut self,
        level: Level,
        batch: &Batch<'a>,
        selection: Selection<'_>,
        others_stay: bool,
    ) -> Result<(GroupIds<'a>, usize), BatchError> {
        let key = |key: usize| batch.columns.get(key).ok_or(BatchError("a key is not there"));
        match &mut self.kind {
            Kind::None => {
                let rows = u32::try_from(selection.wanted(batch.rows)).map_err(|_| BatchError("it is too large"))?;
                self.runs.clear();
                self.runs.push(Run { code: 0, rows });
                Ok((GroupIds::Runs(&self.runs), 1))
            }
            Kind::Strings(strings) => {
                let found = strings.learn(key(0)?)?;
                let groups = strings.groups();
                let others_stay = others_stay && groups <= MAX_GROUPS_WITH_NONE;
                let all = strings.all_groups(key(0)?.data, found);
                if let GroupIds::Rows(all) = all
                    && groups <= MAX_GROUPS_WITH_NONE
                    && !are_known(level, all, groups)
                {
                    // The largest would be taken for that of no group.
                    return Err(BatchError("a code is not in its dictionary"));
                }
                Ok((wanted(level, all, selection, others_stay, &mut self.rows, &mut self.runs), groups))
            }
            Kind::Tuples(tuples, direct) => {
                let keys = batch.columns.get(..tuples.types().len()).ok_or(BatchError("a key is not there"))?;
                for (index, (key, numbers)) in keys.iter().zip(&mut self.numbers).enumerate() {
                    tuples.number_strings(index, key, numbers)?;
                }
                let numbered = Numbered { keys, numbers: &self.numbers };
                if direct.groups_in(level, numbered, selection, batch.rows, tuples, &mut self.all)? {
                    let (all, others_stay) =
                        (GroupIds::Rows(&self.all), others_stay && tuples.len() <= MAX_GROUPS_WITH_NONE);
                    let ids = wanted(level, all, selection, others_stay, &mut self.rows, &mut self.runs);
                    return Ok((ids, tuples.len()));
                }
                numbered.take_to(tuples, selection)?;
                tuples.number(&mut self.rows);
                Ok((GroupIds::Rows(&self.rows), tuples.len()))
            }
        }
    }

    /// The group of each set of rows of a summary, and how many groups there are with those that are new.
    pub(crate) fn groups_of_summary<'a>(&'a mut self, summary: &Summary<'a>) -> Result<(&'a [u32], usize), BatchError> {
        let key = |key: usize| match summary.columns.get(key) {
            Some(ColumnSummary::Codes { codes, dictionary }) if codes.len() == summary.rows.len() => {
                Ok((*codes, *dictionary))
            }
            _ => Err(BatchError("a summary's key is not of strings, or too short")),
        };
        match &mut self.kind {
            Kind::None => {
                self.rows.clear();
                self.rows.resize(summary.rows.len(), 0);
                Ok((&self.rows, 1))
            }
            Kind::Strings(strings) => {
                let (codes, dictionary) = key(0)?;
                let found = strings.learn(&Column::codes(codes, dictionary))?;
                Ok((if found == Lookup::Codes { codes } else { &strings.all }, strings.groups()))
            }
            Kind::Tuples(tuples, _) => {
                for index in 0..tuples.types().len() {
                    let (codes, dictionary) = key(index)?;
                    tuples.take(index, &Column::codes(codes, dictionary), Selection::All)?;
                }
                tuples.number(&mut self.rows);
                Ok((&self.rows, tuples.len()))
            }
        }
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::None => 1,
            Kind::Strings(strings) => strings.groups(),
            Kind::Tuples(tuples, _) => tuples.len(),
        }
    }

    /// Whether the groups are those of others, in the same order.
    pub(crate) fn are_same(&self, others: &Self) -> bool {
        match (&self.kind, &others.kind) {
            (Kind::None, Kind::None) => true,
            (Kind::Strings(ours), Kind::Strings(theirs)) => {
                ours.null == theirs.null && ours.strings.names == theirs.strings.names
            }
            (Kind::Tuples(ours, _), Kind::Tuples(theirs, _)) => ours.is_same(theirs),
            (Kind::None | Kind::Strings(_) | Kind::Tuples(..), _) => false,
        }
    }

    /// Whether finding the group of a row takes a hash table.
    pub(crate) fn are_hashed(&self) -> bool {
        match &self.kind {
            Kind::None => false,
            Kind::Strings(strings) => strings.hashed && !strings.strings.may_be_direct(),
            Kind::Tuples(_, direct) => direct.is_off(),
        }
    }

    /// How the groups of the last batch were found.
    pub(crate) fn access_path(&self, are_runs: bool) -> AccessPath {
        match &self.kind {
            Kind::None => AccessPath::One,
            Kind::Strings(_) if are_runs => AccessPath::Runs,
            Kind::Strings(strings) if !strings.hashed => AccessPath::Dictionary,
            Kind::Tuples(_, direct) if !direct.is_off() => AccessPath::Direct,
            Kind::Strings(_) | Kind::Tuples(..) => AccessPath::Hash,
        }
    }

    /// All groups; `None` if there are no keys.
    pub(crate) fn finish(self) -> Option<GroupKeys> {
        let keys = match self.kind {
            Kind::None => return None,
            Kind::Strings(key) => KeySet::of_strings(&key.types, key.strings.names, key.null),
            Kind::Tuples(tuples, _) => *tuples,
        };
        Some(GroupKeys::Set(keys))
    }
}

impl Sample for Keys {
    fn groups(&self) -> usize {
        self.len()
    }

    fn value(&self, key: usize, group: usize) -> Option<Value<'_>> {
        match &self.kind {
            Kind::None => None,
            Kind::Strings(strings) => Some(Value::Bytes(strings.strings.names.get(group as u32))),
            Kind::Tuples(tuples, _) => tuples.value(key, group),
        }
    }
}

/// The only key, which is one of strings.
#[derive(Debug)]
struct StringKey {
    types: [(LogicalType, bool); 1],
    strings: Strings,
    /// Whether a hash table was needed for the strings of the last batch.
    hashed: bool,
    /// The group of nulls; none as long as there was no null.
    null: Option<u32>,
    /// The groups of a batch's rows or runs, wanted or not.
    all: Vec<u32>,
    all_runs: Vec<Run>,
}

/// Where the groups of a batch are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// Its codes are the groups.
    Codes,
    /// [`StringKey::all`] has a group for each row.
    Rows,
    /// [`StringKey::all_runs`] has a group for each run.
    Runs,
}

impl Default for StringKey {
    fn default() -> Self {
        let strings = Strings::default();
        Self {
            types: [(LogicalType::String, true)],
            strings,
            hashed: false,
            null: None,
            all: Vec::new(),
            all_runs: Vec::new(),
        }
    }
}

impl StringKey {
    fn groups(&self) -> usize {
        self.strings.names.len()
    }

    /// Learns the strings of a column, and finds its groups.
    fn learn(&mut self, column: &Column<'_>) -> Result<Lookup, BatchError> {
        let Self { strings, null, all, all_runs, hashed, .. } = self;
        *hashed = matches!(column.data, Data::Bytes(_));
        let unknown = BatchError("a code is not in its dictionary");
        let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
        if validity.is_some() && null.is_none() {
            *null = Some(strings.reserve());
        }
        all.clear();
        match (column.data, validity) {
            (Data::Bytes(values), None) => {
                *hashed = strings.number_all(Level::best(), values, all)?;
                return Ok(Lookup::Rows);
            }
            (Data::Bytes(values), Some(_)) => {
                let valid = |row| validity.is_none_or(|validity| validity.get(row));
                let number = |(row, string)| if valid(row) { Some(strings.number(string)) } else { *null };
                all.extend(values.iter().enumerate().filter_map(number));
                return Ok(Lookup::Rows);
            }
            (Data::Runs { runs, dictionary }, None) => {
                let Some(numbers) = strings.learn(dictionary) else { return Ok(Lookup::Codes) };
                all_runs.clear();
                for run in runs {
                    let code = *numbers.get(run.code as usize).ok_or(unknown)?;
                    all_runs.push(Run { code, ..*run });
                }
                return Ok(Lookup::Runs);
            }
            (Data::Codes { dictionary, .. }, None) if strings.learn(dictionary).is_none() => return Ok(Lookup::Codes),
            (Data::Codes { .. } | Data::Runs { .. }, _) => {}
            (Data::Integers(_) | Data::Floats(_), _) => return Err(BatchError("a key is not of strings")),
        }
        codes_of(column, all);
        let numbers = column.dictionary().and_then(|dictionary| strings.learn(dictionary)).unwrap_or(&[]);
        match (validity, *null) {
            (Some(validity), Some(null)) => {
                for (code, valid) in all.iter_mut().zip(validity.iter()) {
                    *code = if valid { *numbers.get(*code as usize).ok_or(unknown)? } else { null };
                }
            }
            _ => {
                for code in all {
                    *code = *numbers.get(*code as usize).ok_or(unknown)?;
                }
            }
        }
        Ok(Lookup::Rows)
    }

    /// The groups of all rows of a column that was learnt.
    fn all_groups<'a>(&'a self, data: Data<'a>, found: Lookup) -> GroupIds<'a> {
        match (found, data) {
            (Lookup::Codes, Data::Codes { codes, .. }) => GroupIds::Rows(codes),
            (Lookup::Codes, Data::Runs { runs, .. }) => GroupIds::Runs(runs),
            (Lookup::Runs, _) => GroupIds::Runs(&self.all_runs),
            (Lookup::Codes | Lookup::Rows, _) => GroupIds::Rows(&self.all),
        }
    }
}

/// The groups of the wanted rows among those of all, each in its place if others stay.
fn wanted<'a>(
    level: Level,
    all: GroupIds<'a>,
    selection: Selection<'_>,
    others_stay: bool,
    rows: &'a mut Vec<u32>,
    kept_runs: &'a mut Vec<Run>,
) -> GroupIds<'a> {
    match (all, selection) {
        (all, Selection::All) => all,
        (GroupIds::Rows(all), Selection::Some(mask, _)) => {
            match others_stay {
                true => blend(level, all, mask, NO_GROUP, rows),
                false => compress(level, all, mask, rows),
            }
            GroupIds::Rows(rows)
        }
        (GroupIds::Runs(all), Selection::Some(mask, _)) => {
            compress_runs(level, all, mask, kept_runs);
            GroupIds::Runs(kept_runs)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{ByteStrings, Integers};
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Rows of two keys: an integer, and the number of a name, which may come as a code or as bytes.
    #[derive(Debug)]
    struct Rows {
        rows: Vec<(i16, u32)>,
        are_bytes: bool,
    }

    fn rows() -> impl Strategy<Value = Rows> {
        (prop::collection::vec((0..5i16, 0..8u32), 1..40), any::<bool>())
            .prop_map(|(rows, are_bytes)| Rows { rows, are_bytes })
    }

    proptest! {
        #[test]
        fn strings_may_come_as_codes_or_as_bytes(batches in prop::collection::vec(rows(), 1..8)) {
            let names: Dictionary = (0..8).map(|name| format!("name {name}")).collect();
            let mut keys = Keys::new(&[(LogicalType::Int16, false), (LogicalType::String, false)]);
            let mut expected = HashMap::new();
            for Rows { rows, are_bytes } in batches {
                let (integers, codes): (Vec<i16>, Vec<u32>) = rows.iter().copied().unzip();
                let bytes: Vec<u8> = codes.iter().flat_map(|&code| names.get(code)).copied().collect();
                let lengths = codes.iter().scan(0, |end, &code| {
                    *end += names.get(code).len() as i32;
                    Some(*end)
                });
                let offsets: Vec<i32> = std::iter::once(0).chain(lengths).collect();
                let strings = match are_bytes {
                    true => Data::Bytes(ByteStrings::new(&offsets, &bytes)).into(),
                    false => Column::codes(&codes, &names),
                };
                let columns = [Column::integers(Integers::I16(&integers)), strings];
                let batch = Batch { rows: rows.len(), columns: &columns };
                let (groups, found) = keys.groups_of(Level::best(), &batch, Selection::All, false).unwrap();
                let GroupIds::Rows(groups) = groups else { panic!("of each row") };
                for (row, &group) in rows.iter().zip(groups) {
                    prop_assert_eq!(*expected.entry(*row).or_insert(group), group);
                }
                prop_assert_eq!(found, expected.len());
            }
        }
    }
}
