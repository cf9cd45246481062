//! From groups to the rows of an answer: which groups it has, in which order, and the values of its columns.

use crate::accumulate::partial::Partial;
use crate::aggregates::{Group, WriteAll};
use crate::evaluate::Columns;
use crate::evaluate::computed::computed;
use crate::finish::order;
use crate::finish::order::{OrderKey, SortedPart};
use crate::functions::typed::{Node, Typed, columns_of};
use crate::keys::encoding::{EncodedKeys, push_tuple};
use crate::plan::{Plan, SortKey};
use crate::runtime::parallel;
use crate::values::cells::Cells;
use crate::values::error::{EvalError, too_large};
use brc_core::{Error, Field, Result, Value};
use std::ops::Range;

/// How many groups are compared with others by one thread.
const RANGE: u32 = 1 << 16;

/// An answer has few of many groups if it has less than one in this many.
const MIN_GROUPS_PER_ROW: u64 = 16;

/// About how many rows of an answer are made at a time.
pub(crate) const BLOCK: usize = 1 << 14;

/// The groups that an answer is made of.
pub(crate) struct Groups<'a> {
    plan: &'a Plan,
    partials: &'a [Partial],
    /// The keys of each partial, if they are encoded.
    encoded: Vec<Option<&'a EncodedKeys>>,
    /// Which state each aggregate is computed from.
    states: Vec<Option<usize>>,
    /// The columns of the aggregates, and those that groups have.
    inputs: Vec<Field>,
    fields: Vec<Field>,
}

/// A group of one of the partials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupRef {
    pub(crate) partial: u32,
    pub(crate) group: u32,
}

/// Some groups.
enum Chosen<'a> {
    /// Groups by reference; with their numbers, and that of the partial, if all are of one partial.
    Places { places: &'a [GroupRef], of_one: Option<(u32, Vec<u32>)>, keys: Option<&'a EncodedKeys>, tuples: Vec<u64> },
    /// Those of a partial that lie in sequence.
    Range(&'a Partial, Range<usize>),
}

impl Chosen<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Places { places, .. } => places.len(),
            Self::Range(_, range) => range.len(),
        }
    }

    /// Their encoded keys in sequence, and whose; if all are encoded.
    fn tuples(&self) -> Option<(&[u64], &EncodedKeys)> {
        match self {
            Self::Places { keys, tuples, .. } => Some((tuples, (*keys)?)),
            Self::Range(partial, range) => {
                let keys = partial.encoded_keys()?;
                Some((&keys.tuples()[range.start * keys.width()..range.end * keys.width()], keys))
            }
        }
    }
}

impl<'a> Groups<'a> {
    pub(crate) fn new(plan: &'a Plan, partials: &'a [Partial]) -> Self {
        let encoded = partials.iter().map(Partial::encoded_keys).collect();
        let states = plan.states_of_outputs();
        Self { plan, partials, encoded, states, inputs: plan.fields(), fields: plan.group_fields() }
    }

    /// The groups of the answer in its order; all of them, if only rows that differ are wanted.
    pub(crate) fn in_order(&self, threads: usize) -> Result<Vec<GroupRef>> {
        let (offset, limit) = if self.plan.distinct { (0, None) } else { (self.plan.offset, self.plan.limit) };
        self.sorted(offset, limit, threads)
    }

    /// The columns of the answer's rows that some groups give.
    pub(crate) fn rows(&self, places: &[GroupRef]) -> Result<Vec<Cells>> {
        match range_of(places) {
            Some((partial, groups)) => self.rows_of(partial, groups),
            None => self.columns(&self.choose(places)),
        }
    }

    /// The same for groups of a partial that lie in sequence.
    pub(crate) fn rows_of(&self, partial: usize, groups: Range<usize>) -> Result<Vec<Cells>> {
        self.columns(&Chosen::Range(&self.partials[partial], groups))
    }

    fn columns(&self, chosen: &Chosen<'_>) -> Result<Vec<Cells>> {
        self.plan.columns.iter().map(|answer| self.cells(&answer.name, &answer.value, chosen)).collect()
    }

    fn choose<'p>(&'p self, places: &'p [GroupRef]) -> Chosen<'p> {
        let width = self.encoded.iter().flatten().next().map_or(0, |keys| keys.width());
        let (mut tuples, mut any) = (Vec::with_capacity(places.len() * width), None);
        let of_one = numbers_of_one(places);
        for place in places {
            let Some(keys) = self.encoded[place.partial as usize] else {
                return Chosen::Places { places, of_one, keys: None, tuples: Vec::new() };
            };
            push_tuple(keys.tuple(place.group as usize), &mut tuples);
            any = Some(keys);
        }
        Chosen::Places { places, of_one, keys: any, tuples }
    }

    /// What some groups have in a column.
    fn column(&self, column: usize, chosen: &Chosen<'_>) -> Result<Cells> {
        let mut cells = Cells::with_capacity(self.fields[column].logical_type, chosen.len());
        let mut text = Vec::new();
        match (column.checked_sub(self.plan.keys.len()), chosen.tuples(), chosen) {
            (Some(output), ..) => self.output(output, chosen, &mut cells)?,
            (None, Some((tuples, keys)), _) => keys.decode(column, tuples, &mut cells),
            (None, None, Chosen::Places { places, of_one, .. }) => match of_one {
                Some((partial, groups)) => {
                    self.partials[*partial as usize].push_keys(
                        column,
                        groups.iter().map(|&it| it as usize),
                        &mut cells,
                    );
                }
                None => {
                    for &GroupRef { partial, group } in *places {
                        cells.push(self.partials[partial as usize].key(column, group as usize, &mut text));
                    }
                }
            },
            (None, None, Chosen::Range(partial, groups)) => partial.push_keys(column, groups.clone(), &mut cells),
        }
        Ok(cells)
    }

    /// Appends the values of an aggregate for some groups.
    fn output(&self, number: usize, chosen: &Chosen<'_>, cells: &mut Cells) -> Result<()> {
        let Field { name, logical_type, .. } = &self.fields[self.plan.keys.len() + number];
        let output = &self.plan.outputs[number];
        let bound = output.bind(&self.inputs).map_err(|needed| Error::Usage(format!("{name} needs {needed}")))?;
        let state = self.states[number];
        let all =
            |write: WriteAll, partial: &Partial, state: Option<usize>, groups: Range<usize>, cells: &mut Cells| {
                match write {
                    WriteAll::Rows => {
                        partial.push_rows(groups, cells);
                        true
                    }
                    WriteAll::State(write) => state.is_some_and(|state| write(partial.state(state), groups, cells)),
                }
            };
        if let Some(write) = bound.all
            && match chosen {
                Chosen::Range(partial, groups) => all(write, partial, state, groups.clone(), cells),
                Chosen::Places { of_one: Some((partial, groups)), .. } => {
                    let (taken, state) = self.partials[*partial as usize].take_state(state, groups);
                    all(write, &taken, state, 0..groups.len(), cells)
                }
                Chosen::Places { of_one: None, .. } => false,
            }
        {
            return Ok(());
        }
        let any = Group::of(output, &self.inputs);
        let mut text = Vec::new();
        let mut push = |partial: &Partial, group: usize| {
            let group = match state {
                Some(state) => any.with_state(group, partial.state(state)),
                None => any.with_rows(partial.rows(group)),
            };
            text.clear();
            let value = match bound.text {
                Some(write) => write(&group, &mut text).map(|()| Value::Bytes(&text)),
                None => (bound.value)(&group),
            };
            match cells.push(value) {
                true => Ok(()),
                false => Err(Error::Overflow { what: name.clone(), expected: *logical_type }),
            }
        };
        match chosen {
            Chosen::Places { places, .. } => {
                places.iter().try_for_each(|it| push(&self.partials[it.partial as usize], it.group as usize))
            }
            Chosen::Range(partial, groups) => groups.clone().try_for_each(|group| push(partial, group)),
        }
    }

    /// The values of an expression for some groups.
    fn cells(&self, name: &str, typed: &Typed, chosen: &Chosen<'_>) -> Result<Cells> {
        if let Node::Column(column) = typed.node {
            return self.column(column, chosen);
        }
        let used = columns_of([typed]);
        let inputs = used.iter().map(|&column| self.column(column, chosen)).collect::<Result<Vec<_>>>()?;
        let fault = |fault: EvalError| match fault {
            EvalError::Value(message) => Error::Expression(format!("{name}: {message}")),
            EvalError::Batch(message) => Error::Expression(format!("{name}: {message}")),
            EvalError::TooLarge(limit) => too_large(limit),
        };
        let columns = Columns { fields: &self.fields, projection: &used, allowance: self.plan.allowance };
        computed(typed, columns, &inputs, chosen.len()).map_err(fault)
    }

    /// All groups that have rows, or those of them that `having` wants, of some that lie in sequence.
    pub(crate) fn wanted(&self, partial: usize, range: Range<u32>) -> Result<Vec<u32>> {
        let groups = &self.partials[partial];
        let groups: Vec<u32> = match groups.encoded_keys() {
            // They are those of rows.
            Some(_) => range.collect(),
            None => range.filter(|&group| groups.has_rows(group as usize)).collect(),
        };
        let Some(having) = &self.plan.having else { return Ok(groups) };
        let holds = self.cells("having", having, &self.choose(&places(partial, &groups)))?;
        let is_wanted = |(place, _): &(usize, &u32)| holds.get(*place) == Some(Value::Integer(1));
        Ok(groups.iter().enumerate().filter(is_wanted).map(|(_, &group)| group).collect())
    }

    /// The [wanted](Groups::wanted) groups, where the answer has far fewer without those that have more than this many
    /// before them by the first column to sort by: so keys, which may be long, are read of few.
    fn first_by_value(&self, partial: usize, range: Range<u32>, most: u64) -> Result<Vec<u32>> {
        let mut groups = self.wanted(partial, range.clone())?;
        let is_key = |key: &SortKey| matches!(key.value.node, Node::Column(column) if column < self.plan.keys.len());
        let Some((first, others)) = self.plan.order_by.split_first() else { return Ok(groups) };
        // What else may be sorted by may be an error, which must not depend on what lies in a range.
        if others.is_empty()
            || !others.iter().all(is_key)
            || most == 0
            || most >= groups.len() as u64 / MIN_GROUPS_PER_ROW
        {
            return Ok(groups);
        }
        let SortKey { value, descending, nulls_first } = first;
        let cells = match groups.len() == range.len() {
            true => {
                let range = range.start as usize..range.end as usize;
                self.cells("order by", value, &Chosen::Range(&self.partials[partial], range))?
            }
            false => self.cells("order by", value, &self.choose(&places(partial, &groups)))?,
        };
        let mut prefixes = Vec::with_capacity(groups.len());
        cells.each_prefix(groups.len(), *descending, *nulls_first, |_, prefix| prefixes.push(prefix));
        let last = last_of_first(most as usize, &prefixes);
        let mut prefixes = prefixes.into_iter();
        groups.retain(|_| prefixes.next().is_some_and(|prefix| prefix <= last));
        Ok(groups)
    }

    /// The groups of the answer, without the first that are left out, and no more than `limit`.
    fn sorted(&self, offset: u64, limit: Option<u64>, threads: usize) -> Result<Vec<GroupRef>> {
        let plan = self.plan;
        let any_encoded = self.encoded.iter().any(Option::is_some);
        let ranges = self.ranges();
        let most = limit.map_or(u64::MAX, |limit| limit.saturating_add(offset));
        let wanted = |part: usize| self.first_by_value(ranges[part].0, ranges[part].1.clone(), most);
        let wanted = parallel::try_map(ranges.len(), threads, wanted)?;
        // Where an answer has few of many groups, hardly any keys are read; else all are, again and again.
        let is_few =
            !plan.order_by.is_empty() && most < wanted.iter().map(Vec::len).sum::<usize>() as u64 / MIN_GROUPS_PER_ROW;
        let part = |part: usize| {
            let ((partial, range), groups) = (&ranges[part], wanted[part].as_slice());
            let partial = *partial;
            let all_are_wanted = groups.len() == range.len();
            let places = if all_are_wanted { Vec::new() } else { places(partial, groups) };
            let by_keys = any_encoded || is_few;
            let chosen = match all_are_wanted {
                true => Chosen::Range(&self.partials[partial], range.start as usize..range.end as usize),
                false => self.choose(&places),
            };
            let mut keys = Vec::new();
            for SortKey { value, descending, nulls_first } in &plan.order_by {
                let cells = self.cells("order by", value, &chosen)?;
                keys.push(OrderKey { cells, descending: *descending, nulls_first: *nulls_first });
            }
            let of_keys = if by_keys { 0..0 } else { 0..plan.keys.len() };
            for key in of_keys {
                let cells = self.column(key, &chosen)?;
                keys.push(OrderKey { cells, descending: false, nulls_first: false });
            }
            let groups = by_keys.then(|| (&self.partials[partial], groups));
            Ok::<_, Error>(SortedPart { rows: wanted[part].len(), keys, groups })
        };
        let parts = parallel::try_map(ranges.len(), threads, part)?;
        let place = |(part, row): (u32, u32)| GroupRef {
            partial: ranges[part as usize].0 as u32,
            group: wanted[part as usize][row as usize],
        };
        Ok(order::sorted(&parts, offset, limit, threads)?.into_iter().map(place).collect())
    }

    /// The groups of all partials, each as its number and some groups, which are few enough for a thread's cache.
    fn ranges(&self) -> Vec<(usize, Range<u32>)> {
        let of_partial = |(partial, groups): (usize, &Partial)| {
            let groups = groups.groups() as u32;
            let starts = (0..groups.max(1)).step_by(RANGE as usize);
            starts.map(move |start| (partial, start..groups.min(start.saturating_add(RANGE))))
        };
        self.partials.iter().enumerate().flat_map(of_partial).collect()
    }
}

/// The largest of the smallest numbers, of which there are this many at least.
fn last_of_first(most: usize, numbers: &[u128]) -> u128 {
    /// So few are not sorted out again and again.
    const MIN_NUMBERS: usize = 256;
    let mut first = Vec::with_capacity(2 * most.max(MIN_NUMBERS));
    let mut last = u128::MAX;
    for &number in numbers {
        if number <= last {
            first.push(number);
        }
        if first.len() == first.capacity() {
            last = *first.select_nth_unstable(most - 1).1;
            first.truncate(most);
        }
    }
    *first.select_nth_unstable(most - 1).1
}

/// The groups of a partial that an answer of few rows may have; `None` if that may be any.
pub(crate) fn foremost(plan: &Plan, partial: &Partial) -> Result<Option<Vec<u32>>> {
    let most = plan.limit.map_or(u64::MAX, |limit| limit.saturating_add(plan.offset));
    // The group of all rows is always there, even if it is not shown.
    if plan.distinct || plan.keys.is_empty() || most >= partial.groups() as u64 {
        return Ok(None);
    }
    let groups = Groups::new(plan, std::slice::from_ref(partial));
    Ok(Some(groups.sorted(0, Some(most), 1)?.iter().map(|place| place.group).collect()))
}

/// The partial of all groups, and their numbers there; `None` if there are several partials, or no groups.
fn numbers_of_one(places: &[GroupRef]) -> Option<(u32, Vec<u32>)> {
    let partial = places.first()?.partial;
    let group = |place: &GroupRef| (place.partial == partial).then_some(place.group);
    Some((partial, places.iter().map(group).collect::<Option<_>>()?))
}

/// The partial of all groups, and the range of their numbers, if these are consecutive; `None` if not, or if there are
/// no groups.
fn range_of(places: &[GroupRef]) -> Option<(usize, Range<usize>)> {
    let &GroupRef { partial, group: first } = places.first()?;
    let are_next = (first..).zip(places).all(|(group, place)| *place == GroupRef { partial, group });
    are_next.then(|| (partial as usize, first as usize..first as usize + places.len()))
}

fn places(partial: usize, groups: &[u32]) -> Vec<GroupRef> {
    groups.iter().map(|&group| GroupRef { partial: partial as u32, group }).collect()
}

/// What rows of an answer that are the same have in common, and no others.
pub(crate) fn kind_of<'a>(plan: &Plan, value: impl Fn(usize) -> Option<Value<'a>>) -> Vec<u8> {
    let mut kind = Vec::new();
    for (column, shown) in plan.columns.iter().enumerate() {
        let mut text = Vec::new();
        let value = value(column);
        kind.push(u8::from(value.is_some()));
        value.into_iter().for_each(|value| value.write(shown.value.logical_type, &mut text));
        kind.extend_from_slice(&(text.len() as u64).to_le_bytes());
        kind.extend_from_slice(&text);
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_last_of_the_first_is_that_of_sorted_ones(
            numbers in prop::collection::vec(prop_oneof![0u128..9, any::<u128>(), Just(u128::MAX)], 1..3000), most in 1usize..3000
        ) {
            let most = most.min(numbers.len());
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            prop_assert_eq!(last_of_first(most, &numbers), sorted[most - 1]);
        }
    }
}
