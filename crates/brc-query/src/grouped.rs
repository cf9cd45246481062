//! From groups to the rows of an answer: which of them it has, in which order, and what its columns come to.

use crate::aggregates::Group;
use crate::cells::Cells;
use crate::computed::computed;
use crate::evaluate::Columns;
use crate::node::{Node, Typed};
use crate::order::{self, OrderKey, SortedPart};
use crate::packed_order::PackedOrder;
use crate::parallel;
use crate::partial::Partial;
use crate::partitions::packing::{PackedKeys, push_tuple};
use crate::plan::{Plan, SortKey};
use crate::vector::Fault;
use brc_core::{Error, Field, Result, Value};
use std::borrow::Cow;
use std::ops::Range;

/// How many groups are compared with others by one thread.
const RANGE: u32 = 1 << 16;

/// Few of many groups are fewer than one of so many.
const FEW: u64 = 16;

/// About how many rows of an answer are made at a time.
pub(crate) const BLOCK: usize = 1 << 14;

/// The groups that an answer is made of.
pub(crate) struct Groups<'a> {
    plan: &'a Plan,
    partials: &'a [Partial],
    /// The keys of each partial, if they are packed.
    packed: Vec<Option<&'a PackedKeys>>,
    /// The columns of the aggregates, and those that groups have.
    inputs: Vec<Field>,
    fields: Vec<Field>,
}

/// A group of one of the partials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) partial: u32,
    pub(crate) group: u32,
}

/// Some groups of an answer, one behind the other.
pub(crate) struct Block<'a> {
    pub(crate) places: Cow<'a, [Place]>,
    /// Their order, unless they are in order.
    pub(crate) order: Option<Vec<u32>>,
}

/// Some groups.
struct Chosen<'a> {
    places: &'a [Place],
    /// Their packed keys one behind the other, and whose; if all are packed.
    tuples: Option<(Vec<u64>, &'a PackedKeys)>,
}

/// The groups of an answer, in its order.
#[derive(Debug)]
pub(crate) enum Sorted {
    Places(Vec<Place>),
    Packed(PackedOrder),
}

impl Sorted {
    /// In how many blocks they come.
    pub(crate) fn blocks(&self) -> usize {
        match self {
            Self::Places(places) => places.len().div_ceil(BLOCK),
            Self::Packed(order) => order.blocks(),
        }
    }

    /// How many rows a block has.
    pub(crate) fn rows(&self, number: usize) -> usize {
        match self {
            Self::Places(places) => places.len().min((number + 1) * BLOCK) - number * BLOCK,
            Self::Packed(order) => order.rows(number),
        }
    }

    fn block(&self, partials: &[Partial], number: usize) -> Block<'_> {
        match self {
            Self::Places(places) => {
                let places = &places[number * BLOCK..places.len().min((number + 1) * BLOCK)];
                Block { places: Cow::Borrowed(places), order: None }
            }
            Self::Packed(order) => order.block(partials, number),
        }
    }
}

impl<'a> Groups<'a> {
    pub(crate) fn new(plan: &'a Plan, partials: &'a [Partial]) -> Self {
        let packed = partials.iter().map(Partial::packed_keys).collect();
        Self { plan, partials, packed, inputs: plan.fields(), fields: plan.group_fields() }
    }

    /// The groups of the answer in its order; all of them, if only rows that differ are wanted.
    pub(crate) fn in_order(&self, threads: usize) -> Result<Sorted> {
        let (offset, limit) = if self.plan.distinct { (0, None) } else { (self.plan.offset, self.plan.limit) };
        self.sorted(offset, limit, threads)
    }

    /// Some rows of the answer: how many those are, and their columns.
    pub(crate) fn block(&self, sorted: &Sorted, number: usize) -> Result<(usize, Vec<Cells>)> {
        let Block { places, order } = sorted.block(self.partials, number);
        let chosen = self.choose(&places);
        let Some(order) = order else {
            let cells = self.plan.columns.iter().map(|answer| self.cells(&answer.name, &answer.value, &chosen));
            return Ok((places.len(), cells.collect::<Result<Vec<_>>>()?));
        };
        // Keys are at hand in any order; what aggregates have kept is read as it lies.
        let ordered: Vec<Place> = order.iter().map(|&row| places[row as usize]).collect();
        let ordered = Chosen { places: &ordered, tuples: chosen.tuples.as_ref().map(|keys| in_order(keys, &order)) };
        let cells = self.plan.columns.iter().map(|answer| match answer.value.node {
            Node::Column(key) if key < self.plan.keys.len() => self.column(key, &ordered),
            _ => Ok(self.cells(&answer.name, &answer.value, &chosen)?.take(&order)),
        });
        Ok((places.len(), cells.collect::<Result<Vec<_>>>()?))
    }

    fn choose<'p>(&'p self, places: &'p [Place]) -> Chosen<'p> {
        let width = self.packed.iter().flatten().next().map_or(0, |keys| keys.width());
        let mut tuples = Vec::with_capacity(places.len() * width);
        let mut any = None;
        for place in places {
            let Some(keys) = self.packed[place.partial as usize] else { return Chosen { places, tuples: None } };
            push_tuple(keys.tuple(place.group as usize), &mut tuples);
            any = Some(keys);
        }
        Chosen { places, tuples: any.map(|keys| (tuples, keys)) }
    }

    /// What some groups have in a column.
    fn column(&self, column: usize, chosen: &Chosen<'_>) -> Result<Cells> {
        let mut cells = Cells::with_capacity(self.fields[column].logical_type, chosen.places.len());
        match (column.checked_sub(self.plan.keys.len()), &chosen.tuples) {
            (Some(output), _) => self.output(output, chosen.places, &mut cells)?,
            (None, Some((tuples, keys))) => keys.unpack(column, tuples, &mut cells),
            (None, None) => {
                let mut text = Vec::new();
                for &Place { partial, group } in chosen.places {
                    cells.push(self.partials[partial as usize].key(column, group as usize, &mut text));
                }
            }
        }
        Ok(cells)
    }

    /// What an aggregate comes to for some groups.
    fn output(&self, number: usize, places: &[Place], cells: &mut Cells) -> Result<()> {
        let Field { name, logical_type, .. } = &self.fields[self.plan.keys.len() + number];
        let output = &self.plan.outputs[number];
        let bound = output.bind(&self.inputs).map_err(|needed| Error::Usage(format!("{name} needs {needed}")))?;
        let state = bound.state.and_then(|kind| self.plan.state_of(&output.columns, kind));
        let any = Group::of(output, &self.inputs);
        let mut text = Vec::new();
        for &Place { partial, group } in places {
            let (partial, group) = (&self.partials[partial as usize], group as usize);
            let group = match state {
                Some(state) => any.with_state(group, partial.state(state)),
                None => any.with_rows(partial.rows(group)),
            };
            text.clear();
            let value = match bound.text {
                Some(write) => write(&group, &mut text).map(|()| Value::Bytes(&text)),
                None => (bound.value)(&group),
            };
            if !cells.push(value) {
                return Err(Error::Overflow { what: name.clone(), expected: *logical_type });
            }
        }
        Ok(())
    }

    /// What an expression comes to for some groups.
    fn cells(&self, name: &str, typed: &Typed, chosen: &Chosen<'_>) -> Result<Cells> {
        if let Node::Column(column) = typed.node {
            return self.column(column, chosen);
        }
        let mut used = Vec::new();
        typed.columns(&mut used);
        used.sort_unstable();
        used.dedup();
        let inputs = used.iter().map(|&column| self.column(column, chosen)).collect::<Result<Vec<_>>>()?;
        let fault = |fault: Fault| match fault {
            Fault::Value(message) => Error::Expression(format!("{name}: {message}")),
            Fault::Malformed(message) => Error::Expression(format!("{name}: {message}")),
        };
        let columns = Columns { fields: &self.fields, projection: &used };
        computed(typed, columns, &inputs, chosen.places.len()).map_err(fault)
    }

    /// All groups that have rows, or those of them that `having` wants, of some that lie one behind the other.
    fn wanted(&self, partial: usize, range: Range<u32>) -> Result<Vec<u32>> {
        let groups = &self.partials[partial];
        let groups: Vec<u32> = match groups.packed_keys() {
            // They are those of rows.
            Some(_) => range.collect(),
            None => range.filter(|&group| groups.has_rows(group as usize)).collect(),
        };
        let Some(having) = &self.plan.having else { return Ok(groups) };
        let holds = self.cells("having", having, &self.choose(&places(partial, &groups)))?;
        let is_wanted = |(place, _): &(usize, &u32)| holds.get(*place) == Some(Value::Integer(1));
        Ok(groups.iter().enumerate().filter(is_wanted).map(|(_, &group)| group).collect())
    }

    /// The groups of the answer, without the first that are left out, and no more than `limit`.
    fn sorted(&self, offset: u64, limit: Option<u64>, threads: usize) -> Result<Sorted> {
        let plan = self.plan;
        let any_packed = self.packed.iter().any(Option::is_some);
        if any_packed && (plan.order_by.is_empty(), offset, limit) == (true, 0, None) {
            let all = |partial: usize| self.wanted(partial, 0..self.partials[partial].groups() as u32);
            let wanted = parallel::map(self.partials.len(), threads, all)?;
            return Ok(Sorted::Packed(PackedOrder::new(self.partials, wanted, threads)));
        }
        let ranges = self.ranges();
        let wanted = parallel::map(ranges.len(), threads, |part| self.wanted(ranges[part].0, ranges[part].1.clone()))?;
        // Where an answer has few of many groups, hardly any keys are looked at; else all are, again and again.
        let most = limit.map_or(u64::MAX, |limit| limit.saturating_add(offset));
        let is_few = !plan.order_by.is_empty() && most < wanted.iter().map(Vec::len).sum::<usize>() as u64 / FEW;
        let part = |part: usize| {
            let (partial, groups) = (ranges[part].0, wanted[part].as_slice());
            let places = places(partial, groups);
            let mut chosen = None;
            let mut keys = Vec::new();
            for SortKey { value, descending, nulls_first } in &plan.order_by {
                let chosen = chosen.get_or_insert_with(|| self.choose(&places));
                let cells = self.cells("order by", value, chosen)?;
                keys.push(OrderKey { cells, descending: *descending, nulls_first: *nulls_first });
            }
            let by_keys = any_packed || is_few;
            if !by_keys {
                let chosen = chosen.get_or_insert_with(|| self.choose(&places));
                for key in 0..plan.keys.len() {
                    let cells = self.column(key, chosen)?;
                    keys.push(OrderKey { cells, descending: false, nulls_first: false });
                }
            }
            let groups = by_keys.then(|| (&self.partials[partial], groups));
            Ok::<_, Error>(SortedPart { rows: places.len(), keys, groups })
        };
        let parts = parallel::map(ranges.len(), threads, part)?;
        let place = |(part, row): (u32, u32)| Place {
            partial: ranges[part as usize].0 as u32,
            group: wanted[part as usize][row as usize],
        };
        Ok(Sorted::Places(order::sorted(&parts, offset, limit, threads).map(place).collect()))
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

/// Packed keys of these numbers.
fn in_order<'a>((tuples, keys): &(Vec<u64>, &'a PackedKeys), numbers: &[u32]) -> (Vec<u64>, &'a PackedKeys) {
    let width = keys.width();
    let mut ordered = Vec::with_capacity(numbers.len() * width);
    for &number in numbers {
        push_tuple(&tuples[number as usize * width..(number as usize + 1) * width], &mut ordered);
    }
    (ordered, keys)
}

/// The groups of a partial that an answer of few rows may have; `None` if that may be any.
pub(crate) fn foremost(plan: &Plan, partial: &Partial) -> Result<Option<Vec<u32>>> {
    let most = plan.limit.map_or(u64::MAX, |limit| limit.saturating_add(plan.offset));
    // The group of all rows is always there, even if it is not shown.
    if plan.distinct || plan.keys.is_empty() || most >= partial.groups() as u64 {
        return Ok(None);
    }
    let groups = Groups::new(plan, std::slice::from_ref(partial));
    Ok(match groups.sorted(0, Some(most), 1)? {
        Sorted::Places(places) => Some(places.iter().map(|place| place.group).collect()),
        Sorted::Packed(_) => None,
    })
}

fn places(partial: usize, groups: &[u32]) -> Vec<Place> {
    groups.iter().map(|&group| Place { partial: partial as u32, group }).collect()
}
