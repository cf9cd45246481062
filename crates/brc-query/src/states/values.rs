//! All values of each group, for what depends on their order.

use super::buckets::Ordinal;
use super::value_lists::Lists;
use super::{Accumulator, GroupIds, Moment, State, StateKind, TOO_LARGE, Values};
use crate::values::error::BatchError;
use crate::values::float_key::{float_key, float_of_key};
use brc_core::{Integers, LogicalType, PhysicalType, Value, for_integers};
use brc_kernels::arithmetic::decimals;
use brc_kernels::cpu::Level;
use brc_kernels::direct::integer_bounds;
use serde::{Deserialize, Serialize};

/// The values of each group, in the order in which they came; once they are prepared, sorted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AllValues {
    kept: Kept,
    /// The type of values of which moments are requested as well.
    with_moments: Option<LogicalType>,
    /// Those are made of the values when all have come: then the ones of a group lie together.
    #[serde(skip)]
    moments: Option<Box<State>>,
}

/// Values are kept in as many bits as they need, whatever their type: half the memory is half the time.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Kept {
    Narrow(Lists<i32>),
    Integers(Lists<i64>),
    Wide(Lists<i128>),
    /// Floats that are decimals of few digits, as this many units; how many digits after the point they have.
    Decimals(Lists<i32>, u8),
    /// Floats as their [keys](float_key).
    Floats(Lists<u64>),
}

/// How values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Narrow,
    Integers,
    Wide,
    Decimals(u8),
    Floats,
}

impl Width {
    /// The least that holds all these integers.
    fn of(level: Level, values: Integers<'_>) -> Self {
        match integer_bounds(level, values) {
            Some((min, max)) if i32::try_from(min).is_ok() && i32::try_from(max).is_ok() => Self::Narrow,
            Some(_) => Self::Integers,
            None if values.is_empty() => Self::Narrow,
            None => Self::Wide,
        }
    }
}

impl Kept {
    fn width(&self) -> Width {
        match self {
            Self::Narrow(_) => Width::Narrow,
            Self::Integers(_) => Width::Integers,
            Self::Wide(_) => Width::Wide,
            Self::Decimals(_, digits) => Width::Decimals(*digits),
            Self::Floats(_) => Width::Floats,
        }
    }

    fn are_floats(&self) -> bool {
        matches!(self, Self::Decimals(..) | Self::Floats(_))
    }

    /// Keeps values so that there is room for others of the same type, if there is none.
    fn widen(&mut self, width: Width) {
        *self = match (&*self, width) {
            (Self::Narrow(lists), Width::Integers) => Self::Integers(lists.map(i64::from)),
            (Self::Narrow(lists), Width::Wide) => Self::Wide(lists.map(i128::from)),
            (Self::Integers(lists), Width::Wide) => Self::Wide(lists.map(i128::from)),
            (Self::Decimals(lists, digits), width) if width != Width::Decimals(*digits) => {
                Self::Floats(lists.map(|units| float_key(decimals::float(*digits, units))))
            }
            _ => return,
        };
    }

    /// Adds floats.
    fn push_floats(&mut self, level: Level, groups: GroupIds<'_>, floats: &[f64]) -> Result<(), BatchError> {
        if let Self::Floats(lists) = self
            && lists.is_empty()
            && let Some(digits) = decimals::digits(level, floats)
        {
            *self = Self::Decimals(lists.map(|_| 0), digits);
        }
        if let Self::Decimals(lists, digits) = self {
            if let Some(units) = decimals::units(level, *digits, floats) {
                return lists.push_all(groups, units.len(), |row| Ok(units[row]));
            }
            self.widen(Width::Floats);
        }
        match self {
            Self::Floats(lists) => lists.push_all(groups, floats.len(), |row| Ok(float_key(floats[row]))),
            Self::Narrow(_) | Self::Integers(_) | Self::Wide(_) | Self::Decimals(..) => Ok(()),
        }
    }
}

/// Evaluates an expression with the lists, whatever their values.
macro_rules! for_lists {
    ($kept:expr, $lists:ident => $body:expr) => {
        match $kept {
            Kept::Narrow($lists) => $body,
            Kept::Integers($lists) => $body,
            Kept::Wide($lists) => $body,
            Kept::Decimals($lists, _) => $body,
            Kept::Floats($lists) => $body,
        }
    };
}

impl AllValues {
    /// Those of a type, of which few ranks will be requested or many.
    pub(super) fn new(logical_type: LogicalType, few_ranks: bool) -> Self {
        let kept = match logical_type.physical() {
            PhysicalType::Floats => Kept::Floats(Lists::new(few_ranks)),
            PhysicalType::Integers | PhysicalType::Bytes => Kept::Narrow(Lists::new(few_ranks)),
        };
        Self { kept, with_moments: None, moments: None }
    }

    /// The same, of which moments are requested as well.
    pub(super) fn with_moments(logical_type: LogicalType) -> Self {
        Self { with_moments: Some(logical_type), ..Self::new(logical_type, true) }
    }

    /// The same as [`Accumulator::merge`], where the other is of no use any more.
    pub(super) fn append(&mut self, mut other: Self, groups: &[u32]) {
        self.kept.widen(other.kept.width());
        other.kept.widen(self.kept.width());
        match (&mut self.kept, other.kept) {
            (Kept::Narrow(ours), Kept::Narrow(theirs)) => ours.append(theirs, groups),
            (Kept::Integers(ours), Kept::Integers(theirs)) => ours.append(theirs, groups),
            (Kept::Wide(ours), Kept::Wide(theirs)) => ours.append(theirs, groups),
            (Kept::Decimals(ours, _), Kept::Decimals(theirs, _)) => ours.append(theirs, groups),
            (Kept::Floats(ours), Kept::Floats(theirs)) => ours.append(theirs, groups),
            (Kept::Narrow(_) | Kept::Integers(_) | Kept::Wide(_) | Kept::Decimals(..) | Kept::Floats(_), _) => {}
        }
    }
}

/// Adds integers that fit into what the lists are of.
fn push_all<S: Copy + TryInto<T>, T: Ordinal>(
    lists: &mut Lists<T>,
    groups: GroupIds<'_>,
    values: &[S],
) -> Result<(), BatchError> {
    lists.push_all(groups, values.len(), |row| values[row].try_into().map_err(|_| TOO_LARGE))
}

/// Adds values of runs of groups to their moments.
fn add_moments(moments: &mut State, groups: GroupIds<'_>, values: Values<'_>) {
    let added = moments.add(Level::best(), groups, &[values]);
    debug_assert!(added.is_ok(), "all groups are there, and values of the right type");
}

impl Accumulator for AllValues {
    fn len(&self) -> usize {
        for_lists!(&self.kept, lists => lists.len())
    }

    fn grow(&mut self, groups: usize) {
        for_lists!(&mut self.kept, lists => lists.grow(groups));
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        if self.kept.are_floats() {
            return self.kept.push_floats(level, groups, values.floats()?);
        }
        let integers = values.integers()?;
        self.kept.widen(Width::of(level, integers));
        match &mut self.kept {
            Kept::Narrow(lists) => for_integers!(integers, values => push_all(lists, groups, values)),
            Kept::Integers(lists) => for_integers!(integers, values => push_all(lists, groups, values)),
            Kept::Wide(lists) => for_integers!(integers, values => push_all(lists, groups, values)),
            Kept::Decimals(..) | Kept::Floats(_) => Ok(()),
        }
    }

    fn take(&self, groups: &[u32]) -> Self {
        let kept = match &self.kept {
            Kept::Narrow(lists) => Kept::Narrow(lists.take(groups)),
            Kept::Integers(lists) => Kept::Integers(lists.take(groups)),
            Kept::Wide(lists) => Kept::Wide(lists.take(groups)),
            Kept::Decimals(lists, digits) => Kept::Decimals(lists.take(groups), *digits),
            Kept::Floats(lists) => Kept::Floats(lists.take(groups)),
        };
        Self { kept, with_moments: self.with_moments, moments: None }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.append(other.clone(), groups);
    }

    fn finish(&mut self) {
        for_lists!(&mut self.kept, lists => lists.finish());
    }

    fn prepare(&mut self, threads: usize) {
        let moments = self.with_moments.map(|logical_type| State::of_type(StateKind::Moments, logical_type));
        let moments = match &mut self.kept {
            Kept::Narrow(lists) => lists.prepare(threads, moments, |moments, groups, values| {
                add_moments(moments, groups, Values::Integers(Integers::I32(values)));
            }),
            Kept::Integers(lists) => lists.prepare(threads, moments, |moments, groups, values| {
                add_moments(moments, groups, Values::Integers(Integers::I64(values)));
            }),
            Kept::Wide(lists) => lists.prepare(threads, moments, |moments, groups, values| {
                add_moments(moments, groups, Values::Integers(Integers::I128(values)));
            }),
            Kept::Decimals(lists, digits) => lists.prepare(threads, moments, |moments, groups, units| {
                add_moments(moments, groups, Values::Floats(&decimals::floats(Level::best(), *digits, units)));
            }),
            Kept::Floats(lists) => lists.prepare(threads, moments, |moments, groups, keys| {
                let floats: Vec<f64> = keys.iter().map(|&key| float_of_key(key)).collect();
                add_moments(moments, groups, Values::Floats(&floats));
            }),
        };
        self.moments = moments.map(Box::new);
    }

    fn is_sound(&self) -> bool {
        let has_power = !matches!(self.kept, Kept::Decimals(_, digits) if digits > decimals::MAX_DIGITS);
        has_power && for_lists!(&self.kept, lists => lists.is_sound())
    }

    fn is_like(&self, other: &Self) -> bool {
        self.kept.are_floats() == other.kept.are_floats() && self.with_moments == other.with_moments
    }

    fn count(&self, group: usize) -> u64 {
        for_lists!(&self.kept, lists => lists.count(group)) as u64
    }

    fn ranked<const PLACES: usize>(
        &self,
        group: usize,
        places: impl FnOnce(usize) -> [usize; PLACES],
    ) -> Option<[Value<'_>; PLACES]> {
        Some(match &self.kept {
            Kept::Narrow(lists) => lists.ranked(group, places)?.map(|value| Value::Integer(value.into())),
            Kept::Integers(lists) => lists.ranked(group, places)?.map(|value| Value::Integer(value.into())),
            Kept::Wide(lists) => lists.ranked(group, places)?.map(Value::Integer),
            Kept::Decimals(lists, digits) => {
                lists.ranked(group, places)?.map(|units| Value::Float(decimals::float(*digits, units)))
            }
            Kept::Floats(lists) => lists.ranked(group, places)?.map(|key| Value::Float(float_of_key(key))),
        })
    }

    fn moment(&self, group: usize) -> Option<Moment> {
        self.moments.as_ref()?.moment(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_sorted_by_any_number_of_threads(
            lengths in prop::collection::vec(prop_oneof![8 => 0usize..40, 4 => 5000usize..9000, 1 => 130_000usize..140_000], 1..12),
            threads in 1usize..6,
            few_ranks: bool,
            shift in 0u32..64,
        ) {
            let value = |row: usize| (row as i64).wrapping_mul(0x1e37_79b9_7f4a_7c15) >> shift;
            let mut states = [(); 2].map(|()| AllValues::new(LogicalType::Int64, few_ranks));
            for (half, state) in states.iter_mut().enumerate() {
                state.grow(lengths.len());
                for (group, &length) in lengths.iter().enumerate() {
                    let values: Vec<i64> = (0..length).filter(|row| row % 2 == half).map(value).collect();
                    let run = [brc_core::Run { code: group as u32, rows: values.len() as u32 }];
                    let values = Values::Integers(Integers::I64(&values));
                    state.update(Level::best(), GroupIds::Runs(&run), values).unwrap();
                }
            }
            let [mut state, other] = states;
            let all: Vec<u32> = (0..lengths.len() as u32).collect();
            state.merge(&other.take(&all), &all);
            state.prepare(threads);
            for (group, &length) in lengths.iter().enumerate() {
                let mut expected: Vec<i64> = (0..length).map(value).collect();
                expected.sort_unstable();
                prop_assert!(length > 0 || state.ranked(group, |_| [0]).is_none());
                let step = if length < 100_000 { 97 } else { 9973 };
                for (place, &value) in expected.iter().enumerate().step_by(step) {
                    let places = [place / 3, place.saturating_sub(1), place, place];
                    let found = state.ranked(group, |count| if count == length { places } else { [usize::MAX; 4] });
                    prop_assert_eq!(found, Some(places.map(|place| Value::Integer(expected[place].into()))));
                    let found = state.ranked(group, |_| [place]);
                    prop_assert_eq!(found, Some([Value::Integer(value.into())]));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn floats_are_kept_as_they_are(
            batches in prop::collection::vec(
                prop::collection::vec((0u32..3, prop_oneof![
                    30 => (-9_999i32..9_999).prop_map(|units| f64::from(units) / 100.0),
                    1 => Just(0.1 + 0.2),
                    1 => Just(-0.0),
                    1 => any::<f64>(),
                ]), 0..40),
                1..8,
            ),
            few_ranks: bool,
        ) {
            let mut all = AllValues::new(LogicalType::Float64, few_ranks);
            all.grow(3);
            for batch in &batches {
                let (groups, floats): (Vec<u32>, Vec<f64>) = batch.iter().copied().unzip();
                let mut state = AllValues::new(LogicalType::Float64, few_ranks);
                state.grow(3);
                state.update(Level::best(), GroupIds::Rows(&groups), Values::Floats(&floats)).unwrap();
                // Once each after another, and once in a state of its own.
                all.update(Level::best(), GroupIds::Rows(&groups), Values::Floats(&floats)).unwrap();
                state.finish();
                prop_assert!(state.is_sound() && all.is_like(&state));
                all.append(state, &[0, 1, 2]);
            }
            all.prepare(1);
            for group in 0..3 {
                let rows = batches.iter().flatten().filter(|row| row.0 == group).flat_map(|row| [row.1; 2]);
                let mut expected: Vec<u64> = rows.map(float_key).collect();
                expected.sort_unstable();
                for (place, &key) in expected.iter().enumerate() {
                    let found = all.ranked(group as usize, |_| [place]);
                    let same = |value: &Value<'_>| matches!(value, Value::Float(value) if float_key(*value) == key);
                    prop_assert!(matches!(&found, Some([value]) if same(value)), "{:?} is not {}", found, float_of_key(key));
                }
            }
        }

        #[test]
        fn moments_are_those_of_all_values(
            rows in prop::collection::vec((0u32..40, -1000i64..1000), 0..9000),
            cut in 0usize..9000,
            threads in 1usize..4,
            times in 1usize..5,
        ) {
            let rows = rows.repeat(times);
            for logical_type in [LogicalType::Int64, LogicalType::Float64] {
                let add = |state: &mut State, rows: &[(u32, i64)]| {
                    state.grow(40);
                    let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
                    let integers: Vec<i64> = rows.iter().map(|row| row.1).collect();
                    let floats: Vec<f64> = integers.iter().map(|&value| value as f64 / 7.0).collect();
                    let values = match logical_type {
                        LogicalType::Int64 => Values::Integers(Integers::I64(&integers)),
                        _ => Values::Floats(&floats),
                    };
                    state.add(Level::best(), GroupIds::Rows(&groups), &[values]).unwrap();
                    state.finish();
                };
                let state = |kind| State::of_type(kind, logical_type);
                let (mut all, mut part, mut expected) =
                    (state(StateKind::ValuesAndMoments), state(StateKind::ValuesAndMoments), state(StateKind::Moments));
                let (one, other) = rows.split_at(cut.min(rows.len()));
                add(&mut all, one);
                add(&mut part, other);
                add(&mut expected, &rows);
                all.merge(part, &(0..40).collect::<Vec<_>>());
                // Once more changes nothing.
                all.prepare(threads);
                all.prepare(threads);
                for group in 0..40 {
                    let moment = |state: &State| {
                        state.moment(group).map(|it| (it.count, it.sum << it.exponent, it.squares << (2 * it.exponent)))
                    };
                    prop_assert_eq!(moment(&all), moment(&expected));
                    prop_assert_eq!(all.count(group) as usize, rows.iter().filter(|row| row.0 as usize == group).count());
                }
            }
        }
    }
}
