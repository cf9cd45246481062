//! The state of all groups after a scan, as plain data that may travel, and how two partials merge.

use crate::keys::encoding::{EncodedKeys, KeyEncoding};
use crate::keys::group_ids::GroupIds;
use crate::keys::group_keys::GroupKeys;
use crate::keys::key_set::KeySet;
use crate::plan::Plan;
use crate::states::counts::Counts;
use crate::states::{Accumulator, State};
use crate::values::cells::{Cells, compare_values};
use crate::values::error::BatchError;
use crate::values::error::EvalError;
use crate::values::error::TOO_LARGE;
use crate::values::selection::Selection;
use brc_core::{Error, LogicalType, Value, interrupt};

type Result<T, E = Error> = std::result::Result<T, E>;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::Range;

/// The groups of one or several scans, each with its keys, its rows and the state of each aggregated column.
///
/// Merging is associative and commutative, but for the order of groups, which is not visible.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Partial {
    /// `None` if all rows are one group.
    keys: Option<GroupKeys>,
    rows: Rows,
    states: Vec<State>,
}

/// How many rows each group has.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Rows {
    /// Those that have values of which this state knows the number.
    pub(crate) state: Option<usize>,
    /// All others.
    pub(crate) others: Counts,
}

impl Partial {
    /// Groups as a scan found them.
    pub(crate) fn new(keys: Option<GroupKeys>, rows: Rows, states: Vec<State>) -> Self {
        let mut partial = Self { keys, rows, states };
        partial.grow();
        partial.states.iter_mut().for_each(State::finish);
        partial
    }

    /// The number of groups, some of which may have no rows.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.keys.as_ref().map_or(1, GroupKeys::len)
    }

    /// The groups that an answer has.
    pub(crate) fn members(&self) -> Vec<u32> {
        (0..self.groups() as u32).filter(|&group| self.has_rows(group as usize)).collect()
    }

    /// The number of groups that have rows.
    pub(crate) fn groups_with_rows(&self) -> u64 {
        match &self.keys {
            // Rows are all that they come from.
            Some(GroupKeys::Encoded(keys)) => keys.len() as u64,
            Some(GroupKeys::Set(_)) | None => (0..self.groups()).filter(|&group| self.has_rows(group)).count() as u64,
        }
    }

    /// The number of keys.
    pub(crate) fn keys(&self) -> usize {
        self.keys.as_ref().map_or(0, GroupKeys::keys)
    }

    /// Takes the groups of another partial of the same plan.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is of another plan.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        let like = |(ours, theirs): (&State, &State)| ours.is_like(theirs);
        let keys_are_like = match (&self.keys, &other.keys) {
            (Some(GroupKeys::Set(ours)), Some(GroupKeys::Set(theirs))) => ours.types() == theirs.types(),
            (None, None) => true,
            (Some(_) | None, _) => false,
        };
        if !keys_are_like
            || self.rows.state != other.rows.state
            || self.states.len() != other.states.len()
            || !self.states.iter().zip(&other.states).all(like)
        {
            return Err(Error::Usage("two partial answers are of different plans".to_owned()));
        }
        if other.groups() == 0 {
            return Ok(());
        }
        if self.groups() == 0 {
            *self = other;
            return Ok(());
        }
        let groups: Vec<u32> = match (&mut self.keys, &other.keys) {
            // Every scanner has the dictionary of the file.
            (Some(GroupKeys::Set(ours)), Some(GroupKeys::Set(theirs))) if !ours.is_same(theirs) => {
                let numbers = ours.merge(theirs);
                interrupt::check()?;
                numbers
            }
            _ => (0..other.groups() as u32).collect(),
        };
        self.grow();
        for (ours, theirs) in self.states.iter_mut().zip(other.states) {
            ours.merge(theirs, &groups);
        }
        self.rows.others.merge(&other.rows.others, &groups);
        Ok(())
    }

    /// Merges the states of some groups of another partial of the same plan into those of `groups`.
    pub(crate) fn merge_members(&mut self, other: &Self, members: &[u32], groups: &[u32]) {
        self.grow();
        for (ours, theirs) in self.states.iter_mut().zip(&other.states) {
            ours.merge(theirs.take(members), groups);
        }
        self.rows.others.merge(&other.rows.others.take(members), groups);
    }

    /// Adds all groups of another partial of the same plan, whose encoded keys are these tuples: this one's are encoded
    /// too.
    pub(crate) fn merge_encoded(&mut self, other: Self, tuples: &[u64]) {
        let Some(GroupKeys::Encoded(keys)) = &mut self.keys else { return };
        let (is_first, mut numbers) = (keys.len() == 0, Vec::new());
        keys.number(tuples, &mut numbers);
        if is_first {
            (self.rows, self.states) = (other.rows, other.states);
            return;
        }
        self.grow();
        for (ours, theirs) in self.states.iter_mut().zip(other.states) {
            ours.merge(theirs, &numbers);
        }
        self.rows.others.merge(&other.rows.others, &numbers);
    }

    /// Merges subgroups: each group of `other`, which has one more key, is merged into the group of its other keys.
    /// `places` are the indices of its states among those of this partial. The state at index `counted` counts the
    /// subgroups whose last key is not null.
    pub(crate) fn merge_subgroups(&mut self, other: &Self, places: &[usize], counted: usize) -> Result<(), BatchError> {
        let members = other.members();
        let mut numbers = Vec::new();
        match &mut self.keys {
            Some(GroupKeys::Set(keys)) => other.number_keys(keys, &members, &mut numbers)?,
            Some(GroupKeys::Encoded(_)) | None => numbers.resize(members.len(), 0),
        }
        self.grow();
        self.states.iter_mut().for_each(State::finish);
        for (state, &place) in other.states.iter().zip(places) {
            self.states[place].merge(state.take(&members), &numbers);
        }
        self.rows.others.merge(&other.rows.others.take(&members), &numbers);
        let last = other.keys() - 1;
        let has_value = members.iter().map(|&group| !other.is_null(last, group as usize));
        let with_value: Vec<u32> =
            numbers.iter().zip(has_value).filter(|(_, has_value)| *has_value).map(|(&number, _)| number).collect();
        match &mut self.states[counted] {
            State::Counts(counts) => counts.add(GroupIds::Rows(&with_value)),
            _ => Err(BatchError("distinct values are counted elsewhere")),
        }
    }

    /// Merges the groups of another partial, whose only key is of this type, each into the group of the keys that
    /// `keys` computes from it.
    pub(crate) fn merge_computed(
        &mut self,
        other: &Self,
        logical_type: LogicalType,
        keys: impl FnOnce(&Cells, usize) -> Result<Vec<Cells>, EvalError>,
    ) -> Result<(), EvalError> {
        let members = other.members();
        let computed = keys(&other.key_of(0, logical_type, &members), members.len())?;
        let Some(GroupKeys::Set(keys)) = &mut self.keys else { return Err(EvalError::Batch("there are no keys")) };
        for (index, cells) in computed.iter().enumerate() {
            keys.take(index, &cells.column(0..members.len(), &mut Vec::new())?, Selection::All)?;
        }
        let mut numbers = Vec::new();
        keys.number(&mut numbers);
        self.grow();
        self.states.iter_mut().for_each(State::finish);
        self.merge_members(other, &members, &numbers);
        Ok(())
    }

    /// The same partial with keys that may travel: not encoded.
    pub(crate) fn decoded(self, plan: &Plan) -> Result<Self, BatchError> {
        if self.encoded_keys().is_none() {
            return Ok(self);
        }
        let members: Vec<u32> = (0..self.groups() as u32).collect();
        let mut keys = KeySet::new(&plan.key_types());
        self.number_keys(&mut keys, &members, &mut Vec::new())?;
        Ok(Self { keys: Some(GroupKeys::Set(keys)), ..self })
    }

    /// Replaces `numbers` by those that the keys of these groups have in a set, as far as it has as many keys; some may
    /// be new.
    fn number_keys(&self, keys: &mut KeySet, members: &[u32], numbers: &mut Vec<u32>) -> Result<(), BatchError> {
        for (key, (logical_type, _)) in keys.types().to_vec().into_iter().enumerate() {
            let (cells, mut offsets) = (self.key_of(key, logical_type, members), Vec::new());
            let column = cells.column(0..members.len(), &mut offsets).map_err(|_| TOO_LARGE)?;
            keys.take(key, &column, Selection::All)?;
        }
        keys.number(numbers);
        Ok(())
    }

    /// The values that these groups have for a key.
    fn key_of(&self, key: usize, logical_type: LogicalType, groups: &[u32]) -> Cells {
        let mut cells = Cells::with_capacity(logical_type, groups.len());
        match self.encoded_keys() {
            // All of them have rows.
            Some(keys) => keys.decode(key, keys.tuples(), &mut cells),
            None => self.push_keys(key, groups.iter().map(|&group| group as usize), &mut cells),
        }
        cells
    }

    fn is_null(&self, key: usize, group: usize) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.is_null(key, group))
    }

    /// These groups only, in their order.
    pub(crate) fn take(&self, groups: &[u32]) -> Self {
        let keys = self.keys.as_ref().map(|keys| keys.pick(groups));
        let rows = Rows { state: self.rows.state, others: self.rows.others.take(groups) };
        Self { keys, rows, states: self.states.iter().map(|state| state.take(groups)).collect() }
    }

    /// The rows of these groups, or one of their states, and its number then. There are no keys.
    pub(crate) fn take_state(&self, state: Option<usize>, groups: &[u32]) -> (Self, Option<usize>) {
        let rows = match state {
            Some(_) => Rows::default(),
            None => Rows { state: self.rows.state.map(|_| 0), others: self.rows.others.take(groups) },
        };
        let taken = state.or(self.rows.state).map(|state| self.states[state].take(groups));
        (Self { keys: None, rows, states: taken.into_iter().collect() }, state.map(|_| 0))
    }

    /// These groups only, in their order and ready to be read.
    pub(crate) fn prepared(&self, groups: &[u32]) -> Self {
        let mut taken = self.take(groups);
        taken.prepare(1);
        taken
    }

    /// All groups in the order of their keys, if those are encoded; else as they are.
    pub(crate) fn in_key_order(self) -> Self {
        match self.encoded_keys().filter(|keys| !keys.are_in_order()).map(EncodedKeys::order) {
            Some(order) => self.prepared(&order),
            None => self,
        }
    }

    /// Makes everything ready to be read.
    pub(crate) fn prepare(&mut self, threads: usize) {
        if let Some(GroupKeys::Encoded(keys)) = &mut self.keys {
            keys.prepare();
        }
        self.states.iter_mut().for_each(|state| state.prepare(threads));
    }

    /// The rows of a group.
    pub(crate) fn rows(&self, group: usize) -> u64 {
        let with_values = self.rows.state.map_or(0, |state| self.states[state].count(group));
        with_values + self.rows.others.get(group)
    }

    /// Appends the rows of groups that lie in sequence.
    pub(crate) fn push_rows(&self, groups: Range<usize>, cells: &mut Cells) {
        let rows = groups.len();
        match self.rows.state {
            None => cells.extend_integers(groups.map(|group| self.rows.others.get(group) as i64)),
            Some(_) => cells.extend_integers(groups.map(|group| self.rows(group) as i64)),
        }
        cells.extend_validity(rows, |_| true, false);
    }

    /// Whether an answer has the group: it has rows, or is the only one there can be.
    pub(crate) fn has_rows(&self, group: usize) -> bool {
        match self.keys {
            // Rows are all that encoded keys come from.
            Some(GroupKeys::Encoded(_)) | None => true,
            Some(GroupKeys::Set(_)) => self.rows(group) > 0,
        }
    }

    pub(crate) fn state(&self, index: usize) -> &State {
        &self.states[index]
    }

    /// The value that a group has for one of the keys; `None` if it is null. Strings may be written to `text`.
    pub(crate) fn key<'a>(&'a self, key: usize, group: usize, text: &'a mut Vec<u8>) -> Option<Value<'a>> {
        self.keys.as_ref()?.value(key, group, text)
    }

    /// The encoded keys of all groups, in sequence, and whether the keys of each fit the encoding; of no keys, none.
    pub(crate) fn encode_keys(&self, encoding: &KeyEncoding) -> (Vec<u64>, Vec<bool>) {
        self.keys.as_ref().map_or((Vec::new(), Vec::new()), |keys| encoding.encode(keys))
    }

    /// Appends the values that groups have for one of the keys.
    pub(crate) fn push_keys(&self, key: usize, groups: impl Iterator<Item = usize> + Clone, cells: &mut Cells) {
        match &self.keys {
            Some(GroupKeys::Set(keys)) => keys.push_values(key, groups, cells),
            Some(GroupKeys::Encoded(_)) | None => {
                let mut text = Vec::new();
                groups.for_each(|group| _ = cells.push(self.key(key, group, &mut text)));
            }
        }
    }

    /// How two groups are ordered by their keys, of which nulls come last. The other is of a partial of the same plan.
    pub(crate) fn compare_keys(&self, group: usize, other: &Self, other_group: usize) -> Ordering {
        if let (Some(ours), Some(theirs)) = (self.encoded_keys(), other.encoded_keys()) {
            return ours.tuple(group).cmp(theirs.tuple(other_group));
        }
        let (mut text, mut other_text) = (Vec::new(), Vec::new());
        let by_key = (0..self.keys()).map(|key| {
            compare_values(self.key(key, group, &mut text), other.key(key, other_group, &mut other_text), false)
        });
        by_key.fold(Ordering::Equal, Ordering::then)
    }

    /// The keys, if they are encoded.
    pub(crate) fn encoded_keys(&self) -> Option<&EncodedKeys> {
        match &self.keys {
            Some(GroupKeys::Encoded(keys)) => Some(keys),
            Some(GroupKeys::Set(_)) | None => None,
        }
    }

    fn grow(&mut self) {
        let groups = self.groups();
        self.states.iter_mut().for_each(|state| state.grow(groups));
        self.rows.others.grow(groups);
    }
}

/// A partial as it arrives from elsewhere.
#[derive(Deserialize)]
struct Unchecked {
    keys: Option<GroupKeys>,
    rows: Rows,
    states: Vec<State>,
}

impl TryFrom<Unchecked> for Partial {
    type Error = &'static str;

    fn try_from(Unchecked { keys, rows, states }: Unchecked) -> Result<Self, Self::Error> {
        let partial = Self { keys, rows, states };
        let groups = partial.groups();
        if partial.states.iter().any(|state| state.len() != groups || !state.is_sound()) {
            return Err("the states are not as many as the groups");
        }
        if partial.rows.others.len() != groups {
            return Err("the rows are not as many as the groups");
        }
        let is_known = |&state: &usize| matches!(partial.states.get(state), Some(State::Integers(_)));
        if !partial.rows.state.as_ref().is_none_or(is_known) {
            return Err("the rows are those of no state");
        }
        Ok(partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::key_set::KeyParts;
    use brc_core::LogicalType;

    fn parts() -> KeyParts {
        KeyParts {
            types: vec![(LogicalType::String, false), (LogicalType::Int8, true)],
            names: vec![Some(vec![b"a".to_vec(), b"b".to_vec()]), None],
            tuples: vec![0, 1 | 7 << 32],
        }
    }

    #[test]
    fn keys_that_arrive_are_checked() {
        let keys = KeySet::try_from(parts()).unwrap();
        assert_eq!(keys.value(0, 1), Some(Value::Bytes(b"b")));
        assert_eq!(keys.value(1, 1), Some(Value::Integer(-121)));
        assert_eq!(KeyParts::from(keys), parts());
        for (spoil, reason) in [
            ((|parts| parts.tuples[1] = 2) as fn(&mut KeyParts), "a code has no name"),
            (|parts| parts.names[1] = Some(Vec::new()), "the keys are of other types"),
            (|parts| parts.names[0] = None, "the keys are of other types"),
            (|parts| parts.names.truncate(1), "the keys are not as many as the groups"),
            (|parts| parts.types.clear(), "there is no key"),
        ] {
            let mut parts = parts();
            spoil(&mut parts);
            assert_eq!(KeySet::try_from(parts).unwrap_err(), reason);
        }
    }

    #[test]
    fn states_that_arrive_are_checked() {
        let unchecked = || {
            let mut rows = Rows::default();
            rows.others.grow(2);
            let mut state = State::Counts(Counts::default());
            state.grow(2);
            Unchecked { keys: Some(GroupKeys::Set(KeySet::try_from(parts()).unwrap())), rows, states: vec![state] }
        };
        assert_eq!(Partial::try_from(unchecked()).unwrap().groups(), 2);
        for (spoil, reason) in [
            ((|it| it.keys = None) as fn(&mut Unchecked), "the states are not as many as the groups"),
            (|it| it.states[0].grow(3), "the states are not as many as the groups"),
            (|it| it.rows = Rows::default(), "the rows are not as many as the groups"),
            (|it| it.rows.state = Some(0), "the rows are those of no state"),
            (|it| it.rows.state = Some(1), "the rows are those of no state"),
        ] {
            let mut it = unchecked();
            spoil(&mut it);
            assert_eq!(Partial::try_from(it).unwrap_err(), reason);
        }
    }
}
