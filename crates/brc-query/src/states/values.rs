//! All values of each group, for what depends on their order.

use super::{Accumulator, GroupIds, TOO_LARGE, Values};
use crate::group::Malformed;
use crate::keys::layout::{float_key, float_of_key};
use brc_core::{LogicalType, PhysicalType, Value, for_integers};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// Fewer values are sorted by one thread.
const FEW: usize = 1 << 14;

/// So many values lie side by side: what is full need not be copied to grow.
const PIECE: usize = 256;

/// The values of each group, in the order in which they came; once they are settled, sorted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum AllValues {
    Integers(Vec<List<i64>>),
    /// Integers of a type that needs more than 64 bits.
    Wide(Vec<List<i128>>),
    /// Floats as their [keys](float_key).
    Floats(Vec<List<u64>>),
}

/// The values of a group.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct List<T> {
    /// What is full, or came from elsewhere.
    before: Vec<Vec<T>>,
    last: Vec<T>,
}

/// Evaluates an expression with the lists, whatever their values.
macro_rules! for_lists {
    ($values:expr, $lists:ident => $body:expr) => {
        match $values {
            AllValues::Integers($lists) => $body,
            AllValues::Wide($lists) => $body,
            AllValues::Floats($lists) => $body,
        }
    };
}

impl AllValues {
    pub(super) fn new(logical_type: LogicalType) -> Self {
        match logical_type.physical() {
            PhysicalType::Floats => Self::Floats(Vec::new()),
            PhysicalType::Integers | PhysicalType::Bytes if logical_type.fits_64_bits() => Self::Integers(Vec::new()),
            PhysicalType::Integers | PhysicalType::Bytes => Self::Wide(Vec::new()),
        }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The value at a place among the sorted values of a group, which `place` finds for their number.
    pub(super) fn ranked(&self, group: usize, place: impl FnOnce(usize) -> usize) -> Option<Value<'_>> {
        Some(match self {
            Self::Integers(lists) => Value::Integer(lists.get(group)?.ranked(place)?.into()),
            Self::Wide(lists) => Value::Integer(lists.get(group)?.ranked(place)?),
            Self::Floats(lists) => Value::Float(float_of_key(lists.get(group)?.ranked(place)?)),
        })
    }

    /// The same as [`Accumulator::merge`], where the other is of no use any more.
    pub(super) fn append(&mut self, other: Self, groups: &[u32]) {
        fn append_all<T: Copy + Ord>(ours: &mut [List<T>], theirs: Vec<List<T>>, groups: &[u32]) {
            theirs.into_iter().zip(groups).for_each(|(list, &group)| ours[group as usize].append(list));
        }
        match (self, other) {
            (Self::Integers(ours), Self::Integers(theirs)) => append_all(ours, theirs, groups),
            (Self::Wide(ours), Self::Wide(theirs)) => append_all(ours, theirs, groups),
            (Self::Floats(ours), Self::Floats(theirs)) => append_all(ours, theirs, groups),
            (Self::Integers(_) | Self::Wide(_) | Self::Floats(_), _) => {}
        }
    }
}

impl<T: Copy + Ord> List<T> {
    #[inline(always)]
    fn push(&mut self, value: T) {
        if self.last.len() == self.last.capacity() {
            self.make_room();
        }
        self.last.push(value);
    }

    #[cold]
    fn make_room(&mut self) {
        match self.last.len() {
            0..PIECE => self.last.reserve_exact((3 * self.last.len()).max(4)),
            _ => self.before.push(std::mem::replace(&mut self.last, Vec::with_capacity(PIECE))),
        }
    }

    fn pieces(&self) -> impl Iterator<Item = &Vec<T>> {
        self.before.iter().chain([&self.last])
    }

    fn len(&self) -> usize {
        self.pieces().map(Vec::len).sum()
    }

    fn append(&mut self, other: Self) {
        self.before.extend(other.before.into_iter().chain([other.last]).filter(|piece| !piece.is_empty()));
    }

    /// Sorts the values; `spare` is memory for that.
    fn sort(&mut self, spare: &mut Vec<T>) {
        if self.before.is_empty() {
            return self.last.sort_unstable();
        }
        spare.clear();
        self.pieces().for_each(|piece| spare.extend_from_slice(piece));
        spare.sort_unstable();
        let mut rest = spare.as_slice();
        for piece in self.before.iter_mut().chain([&mut self.last]) {
            let (sorted, others) = rest.split_at(piece.len());
            piece.copy_from_slice(sorted);
            rest = others;
        }
    }

    /// One of the sorted values.
    fn ranked(&self, place: impl FnOnce(usize) -> usize) -> Option<T> {
        let last = self.len().checked_sub(1)?;
        let mut place = place(last + 1).min(last);
        for piece in self.pieces() {
            match piece.get(place) {
                Some(&value) => return Some(value),
                None => place -= piece.len(),
            }
        }
        None
    }
}

fn push_all<S: Copy, T: Copy + Ord>(
    lists: &mut [List<T>],
    groups: GroupIds<'_>,
    values: &[S],
    value_of: impl Fn(S) -> Result<T, Malformed>,
) -> Result<(), Malformed> {
    groups.each(values.len(), |group, row| {
        lists.get_mut(group).ok_or(UnknownGroup)?.push(value_of(values[row])?);
        Ok(())
    })
}

fn narrow<S: TryInto<i64>>(value: S) -> Result<i64, Malformed> {
    value.try_into().map_err(|_| TOO_LARGE)
}

fn wide<S: Into<i128>>(value: S) -> Result<i128, Malformed> {
    Ok(value.into())
}

/// Sorts the values of each group.
fn sort_lists<T: Copy + Ord + Send>(lists: &mut [List<T>], threads: usize) {
    let values: usize = lists.iter().map(List::len).sum();
    if threads < 2 || lists.len() < 2 || values < FEW {
        let mut spare = Vec::new();
        return lists.iter_mut().for_each(|list| list.sort(&mut spare));
    }
    // Half of the values, as nearly as groups allow.
    let mut before = 0;
    let half = lists.iter().position(|list| {
        before += list.len();
        before >= values / 2
    });
    let (left, right) = lists.split_at_mut(half.map_or(1, |half| (half + 1).min(lists.len() - 1)));
    std::thread::scope(|scope| {
        scope.spawn(|| sort_lists(left, threads / 2));
        sort_lists(right, threads - threads / 2);
    });
}

impl Accumulator for AllValues {
    fn len(&self) -> usize {
        for_lists!(self, lists => lists.len())
    }

    fn grow(&mut self, groups: usize) {
        for_lists!(self, lists => lists.resize_with(groups.max(lists.len()), List::default));
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        match self {
            Self::Floats(lists) => push_all(lists, groups, values.floats()?, |value| Ok(float_key(value))),
            Self::Wide(lists) => for_integers!(values.integers()?, values => {
                push_all(lists, groups, values, wide)
            }),
            Self::Integers(lists) => for_integers!(values.integers()?, values => {
                push_all(lists, groups, values, narrow)
            }),
        }
    }

    fn take(&self, groups: &[u32]) -> Self {
        fn taken<T: Clone>(lists: &[List<T>], groups: &[u32]) -> Vec<List<T>> {
            groups.iter().map(|&group| lists[group as usize].clone()).collect()
        }
        match self {
            Self::Integers(lists) => Self::Integers(taken(lists, groups)),
            Self::Wide(lists) => Self::Wide(taken(lists, groups)),
            Self::Floats(lists) => Self::Floats(taken(lists, groups)),
        }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.append(other.clone(), groups);
    }

    fn settle(&mut self, threads: usize) {
        for_lists!(self, lists => sort_lists(lists, threads));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_sorted_by_any_number_of_threads(
            lengths in prop::collection::vec(prop_oneof![0usize..40, 5000usize..9000], 1..12),
            threads in 1usize..6,
        ) {
            let value = |row: usize| (row as i64).wrapping_mul(0x1e37_79b9_7f4a_7c15);
            let mut states = [AllValues::new(LogicalType::Int64), AllValues::new(LogicalType::Int64)];
            for (half, state) in states.iter_mut().enumerate() {
                state.grow(lengths.len());
                for (group, &length) in lengths.iter().enumerate() {
                    let values: Vec<i64> = (0..length).filter(|row| row % 2 == half).map(value).collect();
                    let run = [brc_core::Run { code: group as u32, rows: values.len() as u32 }];
                    let values = Values::Integers(brc_core::Integers::I64(&values));
                    state.update(Level::best(), GroupIds::Runs(&run), values).unwrap();
                }
            }
            let [mut state, other] = states;
            let all: Vec<u32> = (0..lengths.len() as u32).collect();
            state.merge(&other.take(&all), &all);
            state.settle(threads);
            for (group, &length) in lengths.iter().enumerate() {
                let mut expected: Vec<i64> = (0..length).map(value).collect();
                expected.sort_unstable();
                prop_assert!(length > 0 || state.ranked(group, |_| 0).is_none());
                for (place, value) in expected.into_iter().enumerate().step_by(97) {
                    let found = state.ranked(group, |count| if count == length { place } else { usize::MAX });
                    prop_assert_eq!(found, Some(Value::Integer(value.into())));
                }
            }
        }
    }
}
