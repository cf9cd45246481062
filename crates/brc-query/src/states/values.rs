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
    Integers(Lists<i64>),
    /// Integers of a type that needs more than 64 bits.
    Wide(Lists<i128>),
    /// Floats as their [keys](float_key).
    Floats(Lists<u64>),
}

/// The values of groups, each in pieces.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lists<T> {
    /// The piece of each group that grows: few bytes a group, so that they stay in the cache.
    last: Vec<Vec<T>>,
    /// What is full, or came from elsewhere.
    before: Vec<Vec<Vec<T>>>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { last: Vec::new(), before: Vec::new() }
    }
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
            PhysicalType::Floats => Self::Floats(Lists::default()),
            PhysicalType::Integers | PhysicalType::Bytes if logical_type.fits_64_bits() => {
                Self::Integers(Lists::default())
            }
            PhysicalType::Integers | PhysicalType::Bytes => Self::Wide(Lists::default()),
        }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The value at a place among the sorted values of a group, which `place` finds for their number.
    pub(super) fn ranked(&self, group: usize, place: impl FnOnce(usize) -> usize) -> Option<Value<'_>> {
        Some(match self {
            Self::Integers(lists) => Value::Integer(lists.ranked(group, place)?.into()),
            Self::Wide(lists) => Value::Integer(lists.ranked(group, place)?),
            Self::Floats(lists) => Value::Float(float_of_key(lists.ranked(group, place)?)),
        })
    }

    /// The same as [`Accumulator::merge`], where the other is of no use any more.
    pub(super) fn append(&mut self, other: Self, groups: &[u32]) {
        match (self, other) {
            (Self::Integers(ours), Self::Integers(theirs)) => ours.append(theirs, groups),
            (Self::Wide(ours), Self::Wide(theirs)) => ours.append(theirs, groups),
            (Self::Floats(ours), Self::Floats(theirs)) => ours.append(theirs, groups),
            (Self::Integers(_) | Self::Wide(_) | Self::Floats(_), _) => {}
        }
    }
}

impl<T: Copy + Ord> Lists<T> {
    #[inline(always)]
    fn push(&mut self, group: usize, value: T) -> Result<(), Malformed> {
        let last = self.last.get_mut(group).ok_or(UnknownGroup)?;
        if last.len() == last.capacity() {
            make_room(last, &mut self.before[group]);
        }
        last.push(value);
        Ok(())
    }

    fn grow(&mut self, groups: usize) {
        self.last.resize_with(groups.max(self.last.len()), Vec::new);
        self.before.resize_with(self.last.len(), Vec::new);
    }

    fn take(&self, groups: &[u32]) -> Self {
        let last = groups.iter().map(|&group| self.last[group as usize].clone());
        let before = groups.iter().map(|&group| self.before[group as usize].clone());
        Self { last: last.collect(), before: before.collect() }
    }

    fn append(&mut self, other: Self, groups: &[u32]) {
        for ((last, before), &group) in other.last.into_iter().zip(other.before).zip(groups) {
            let pieces = before.into_iter().chain([last]).filter(|piece| !piece.is_empty());
            self.before[group as usize].extend(pieces);
        }
    }

    /// One of the sorted values of a group.
    fn ranked(&self, group: usize, place: impl FnOnce(usize) -> usize) -> Option<T> {
        let (before, last) = (self.before.get(group)?, self.last.get(group)?);
        let pieces = || before.iter().chain([last]);
        let highest = pieces().map(Vec::len).sum::<usize>().checked_sub(1)?;
        let mut place = place(highest + 1).min(highest);
        for piece in pieces() {
            match piece.get(place) {
                Some(&value) => return Some(value),
                None => place -= piece.len(),
            }
        }
        None
    }

    fn is_sound(&self) -> bool {
        self.last.len() == self.before.len()
    }
}

#[cold]
fn make_room<T>(last: &mut Vec<T>, before: &mut Vec<Vec<T>>) {
    match last.len() {
        0..PIECE => last.reserve_exact((3 * last.len()).max(4)),
        _ => before.push(std::mem::replace(last, Vec::with_capacity(PIECE))),
    }
}

/// Sorts the values of a group; `spare` is memory for that.
fn sort<T: Copy + Ord>(last: &mut [T], before: &mut [Vec<T>], spare: &mut Vec<T>) {
    spare.clear();
    before.iter().for_each(|piece| spare.extend_from_slice(piece));
    spare.extend_from_slice(last);
    spare.sort_unstable();
    let mut rest = spare.as_slice();
    for piece in before.iter_mut().map(Vec::as_mut_slice).chain([last]) {
        let (sorted, others) = rest.split_at(piece.len());
        piece.copy_from_slice(sorted);
        rest = others;
    }
}

fn push_all<S: Copy, T: Copy + Ord>(
    lists: &mut Lists<T>,
    groups: GroupIds<'_>,
    values: &[S],
    value_of: impl Fn(S) -> Result<T, Malformed>,
) -> Result<(), Malformed> {
    groups.each(values.len(), |group, row| lists.push(group, value_of(values[row])?))
}

fn narrow<S: TryInto<i64>>(value: S) -> Result<i64, Malformed> {
    value.try_into().map_err(|_| TOO_LARGE)
}

fn wide<S: Into<i128>>(value: S) -> Result<i128, Malformed> {
    Ok(value.into())
}

/// Sorts the values of each group.
fn sort_all<T: Copy + Ord + Send>(last: &mut [Vec<T>], before: &mut [Vec<Vec<T>>], threads: usize) {
    let of_group = |(last, before): (&Vec<T>, &Vec<Vec<T>>)| last.len() + before.iter().map(Vec::len).sum::<usize>();
    let values: usize = last.iter().zip(before.iter()).map(of_group).sum();
    if threads < 2 || last.len() < 2 || values < FEW {
        let mut spare = Vec::new();
        return last.iter_mut().zip(before).for_each(|(last, before)| sort(last, before, &mut spare));
    }
    // Half of the values, as nearly as groups allow.
    let mut seen = 0;
    let half = last.iter().zip(before.iter()).position(|group| {
        seen += of_group(group);
        seen >= values / 2
    });
    let half = half.map_or(1, |half| (half + 1).min(last.len() - 1));
    let ((last, right_last), (before, right_before)) = (last.split_at_mut(half), before.split_at_mut(half));
    std::thread::scope(|scope| {
        scope.spawn(|| sort_all(last, before, threads / 2));
        sort_all(right_last, right_before, threads - threads / 2);
    });
}

impl Accumulator for AllValues {
    fn len(&self) -> usize {
        for_lists!(self, lists => lists.last.len())
    }

    fn grow(&mut self, groups: usize) {
        for_lists!(self, lists => lists.grow(groups));
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
        match self {
            Self::Integers(lists) => Self::Integers(lists.take(groups)),
            Self::Wide(lists) => Self::Wide(lists.take(groups)),
            Self::Floats(lists) => Self::Floats(lists.take(groups)),
        }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.append(other.clone(), groups);
    }

    fn settle(&mut self, threads: usize) {
        for_lists!(self, lists => sort_all(&mut lists.last, &mut lists.before, threads));
    }

    fn is_sound(&self) -> bool {
        for_lists!(self, lists => lists.is_sound())
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
