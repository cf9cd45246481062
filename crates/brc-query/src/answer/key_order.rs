//! Millions of groups in the order of their encoded keys. Each partition is grouped when it is read, so only one
//! partition per thread is in memory, and its rows are still in the caches when they are printed. The few groups whose
//! keys could not be encoded are merged in.

use super::source::Source;
use crate::accumulate::partial::{Partial, Rows};
use crate::finish::groups::{GroupRef, Groups};
use crate::functions::typed::Node;
use crate::keys::group_keys::GroupKeys;
use crate::partitions::{Partitioned, Sorted, SplitGroups};
use crate::plan::Plan;
use crate::runtime::parallel;
use crate::values::cells::Cells;
use brc_core::{Dictionary, Result};
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The number of rows per block: their columns stay in the cache until they are printed.
const AT_A_TIME: usize = 1 << 12;

/// The highest average number of records per group at which sorting records is faster than hashing them.
const OF_A_GROUP: usize = 3;

/// The groups of an answer.
#[derive(Debug)]
pub(crate) struct KeyOrder {
    path: PathBuf,
    partitioned: Partitioned,
    /// The groups that are in no partition, in order, and for each partition the first of them that is not before it.
    others: Option<Partial>,
    starts: Vec<usize>,
    /// The number of groups of each partition; 0 before it is read.
    groups: Vec<AtomicUsize>,
    /// Whether most groups of the last partition had few records; `false` before the first one.
    are_distinct: AtomicBool,
    /// Buffers of earlier sorts, for reuse.
    spare: Mutex<Vec<Sorted>>,
}

/// The groups of a partition.
#[derive(Debug)]
pub(crate) struct Part {
    /// The number of groups, wanted or not.
    pub(crate) groups: usize,
    /// The groups of the partition, and others that belong between them.
    partials: Vec<Partial>,
    /// The wanted groups in order; `None` for all groups of a single partial in its order.
    places: Option<Vec<GroupRef>>,
}

/// The groups of an answer in the order of their keys. The first parts are in memory; the others are computed each time
/// they are read.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) plan: Plan,
    pub(crate) made: Vec<Part>,
    /// All parts; `None` if all are in memory.
    pub(crate) rest: Option<KeyOrder>,
}

impl Parts {
    /// The number of parts.
    pub(crate) fn len(&self) -> usize {
        self.rest.as_ref().map_or(self.made.len(), KeyOrder::parts)
    }

    /// The number of rows of a part in the answer; an upper bound if not all parts are in memory.
    pub(crate) fn rows(&self, number: usize) -> usize {
        self.rest.as_ref().map_or_else(|| self.made[number].rows(), |order| order.most_groups(number))
    }

    /// The number of groups computed so far; `None` if all are in memory.
    pub(crate) fn groups(&self) -> Option<u64> {
        self.rest.as_ref().map(KeyOrder::groups)
    }

    /// The dictionary of a column, if it is a string key and all groups have its codes.
    pub(crate) fn dictionary(&self, column: usize) -> Option<&Dictionary> {
        let Node::Column(key) = self.plan.columns.get(column)?.value.node else { return None };
        self.rest.as_ref().filter(|_| key < self.plan.keys.len())?.dictionary(key)
    }

    /// The result of `each` for a part.
    pub(crate) fn with<T>(&self, number: usize, each: impl FnOnce(&Plan, &Part) -> Result<T>) -> Result<T> {
        match &self.rest {
            Some(order) if number >= self.made.len() => each(&self.plan, &order.part(&self.plan, number)?),
            Some(_) | None => each(&self.plan, &self.made[number]),
        }
    }

    /// Computes all groups.
    pub(crate) fn into_groups(self, threads: usize) -> Result<Source> {
        let Self { plan, made, rest } = self;
        let first = made.len();
        let more = rest.map_or(Ok(Vec::new()), |order| {
            parallel::try_map(order.parts() - first, threads, |number| order.part(&plan, first + number))
        })?;
        let (mut partials, mut places) = (Vec::new(), Vec::new());
        for part in made.into_iter().chain(more) {
            let before = partials.len() as u32;
            let all = || (0..part.groups as u32).map(|group| GroupRef { partial: 0, group }).collect();
            let of_part = part.places.unwrap_or_else(all);
            partials.extend(part.partials);
            places.extend(of_part.into_iter().map(|place| GroupRef { partial: before + place.partial, ..place }));
        }
        Ok(Source::Groups { plan: Box::new(plan), partials, places })
    }
}

impl KeyOrder {
    /// The groups of the rows of a file.
    pub(crate) fn new(path: &Path, partitioned: Partitioned, threads: usize) -> Self {
        let others = partitioned.others().map(sorted);
        let starts = others.as_ref().map_or(Vec::new(), |others| starts(others, &partitioned, threads));
        let groups = (0..partitioned.len()).map(|_| AtomicUsize::new(0)).collect();
        Self {
            path: path.to_owned(),
            partitioned,
            others,
            starts,
            groups,
            are_distinct: AtomicBool::new(false),
            spare: Mutex::default(),
        }
    }

    /// The number of groups of all partitions read so far.
    pub(crate) fn groups(&self) -> u64 {
        self.groups.iter().map(|groups| groups.load(Relaxed) as u64).sum()
    }

    /// The dictionary of a key, if it is a string key and all groups have its codes.
    pub(crate) fn dictionary(&self, key: usize) -> Option<&Dictionary> {
        self.partitioned.dictionary(key).filter(|_| self.others.is_none())
    }

    /// The number of partitions.
    pub(crate) fn parts(&self) -> usize {
        self.partitioned.len()
    }

    /// The most groups that a partition may have, with those merged in.
    pub(crate) fn most_groups(&self, number: usize) -> usize {
        self.partitioned.most_groups(number) + self.others_of(number).len()
    }

    fn others_of(&self, number: usize) -> std::ops::Range<usize> {
        if self.starts.is_empty() { 0..0 } else { self.starts[number]..self.starts[number + 1] }
    }

    /// Groups a partition.
    pub(crate) fn part(&self, plan: &Plan, number: usize) -> Result<Part> {
        let groups = match self.are_distinct.load(Relaxed) {
            true => {
                let lock = || self.spare.lock();
                let mut sorted = lock().pop().unwrap_or_default();
                let groups = self.partitioned.group_sorted(plan, number, &mut sorted);
                lock().push(sorted);
                groups
            }
            false => self.partitioned.group(plan, number).map(Partial::in_key_order),
        };
        let groups = groups.map_err(|fault| fault.error(&self.path))?;
        self.are_distinct.store(groups.groups() * OF_A_GROUP >= self.partitioned.most_groups(number), Relaxed);
        let others: Vec<u32> = self.others_of(number).map(|other| other as u32).collect();
        let others = self.others.as_ref().filter(|_| !others.is_empty()).map(|it| it.prepared(&others));
        let part = Part::of(plan, groups, others)?;
        self.groups[number].store(part.groups, Relaxed);
        Ok(part)
    }

    /// The first parts that together have at least `most` groups, or all parts.
    pub(crate) fn first_parts(&self, plan: &Plan, most: u64, threads: usize) -> Result<Vec<Part>> {
        /// The number of partitions grouped before their groups are counted.
        const FIRST: usize = 4;
        let mut at_a_time = FIRST.max(threads);
        let (mut parts, mut groups) = (Vec::new(), 0);
        while parts.len() < self.parts() && groups < most {
            let first = parts.len();
            let count = at_a_time.min(self.parts() - first);
            let more: Vec<Part> = parallel::try_map(count, threads, |number| self.part(plan, first + number))?;
            groups += more.iter().map(|part| part.groups as u64).sum::<u64>();
            parts.extend(more);
            // The next parts are likely to have as many groups as these.
            let needed = (parts.len() as u64 * most.saturating_sub(groups)).div_ceil(groups.max(1));
            at_a_time = (needed as usize).clamp(threads, at_a_time * FIRST);
        }
        Ok(parts)
    }
}

impl Part {
    /// A part from groups in order, and others in order to be merged in.
    fn of(plan: &Plan, groups: Partial, others: Option<Partial>) -> Result<Self> {
        let partials: Vec<Partial> = [groups].into_iter().chain(others).collect();
        let groups = partials.iter().map(Partial::groups).sum();
        if partials.len() == 1 && plan.having.is_none() {
            return Ok(Self { groups, partials, places: None });
        }
        let all = Groups::new(plan, &partials);
        let wanted = |partial: usize| all.wanted(partial, 0..partials[partial].groups() as u32);
        let wanted = (0..partials.len()).map(wanted).collect::<Result<Vec<_>>>()?;
        let places = Some(merged(&partials, &wanted));
        Ok(Self { groups, partials, places })
    }

    /// One part per split, in order, with the groups that several splits share merged in.
    pub(crate) fn of_splits(plan: &Plan, own: Vec<SplitGroups>, shared: Partial, threads: usize) -> Result<Vec<Self>> {
        let shared = sorted(shared);
        let mut starts = vec![0];
        for next in own.iter().skip(1) {
            let is_before = |&group: &usize| shared.compare_keys(group, &next.partial, 0) == Ordering::Less;
            let first = starts.last().copied().unwrap_or(0);
            starts.push((first..shared.groups()).find(|group| !is_before(group)).unwrap_or(shared.groups()));
        }
        starts.push(shared.groups());
        let own: Vec<_> = own.into_iter().map(|part| Mutex::new(Some(part.partial))).collect();
        let part = |number: usize| {
            let groups = own[number].lock().take();
            let others: Vec<u32> = (starts[number] as u32..starts[number + 1] as u32).collect();
            let others = (!others.is_empty()).then(|| shared.prepared(&others));
            groups.map(|groups| Self::of(plan, groups, others)).transpose()
        };
        Ok(parallel::try_map(own.len(), threads, part)?.into_iter().flatten().collect())
    }

    /// Its number of rows in the answer.
    pub(crate) fn rows(&self) -> usize {
        self.places.as_ref().map_or(self.groups, Vec::len)
    }

    /// The rows of the answer in blocks: the number of rows and their columns.
    pub(crate) fn blocks<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = Result<(usize, Vec<Cells>)>> + 'a {
        let groups = Groups::new(plan, &self.partials);
        let rows = self.rows();
        (0..rows).step_by(AT_A_TIME).map(move |start| {
            let rows = start..rows.min(start + AT_A_TIME);
            let cells = match &self.places {
                Some(places) => groups.rows(&places[rows.clone()])?,
                None => groups.rows_of(0, rows.clone())?,
            };
            Ok((rows.len(), cells))
        })
    }
}

/// The same groups in the order of their keys.
fn sorted(groups: Partial) -> Partial {
    let mut order: Vec<u32> = (0..groups.groups() as u32).collect();
    order.sort_unstable_by(|&one, &other| groups.compare_keys(one as usize, &groups, other as usize));
    groups.prepared(&order)
}

/// For each partition the first of the `others`, which are in order, that is not before it; then the number of others.
fn starts(others: &Partial, partitioned: &Partitioned, threads: usize) -> Vec<usize> {
    let mut starts = vec![0; partitioned.len() + 1];
    let lasts = partitioned.last_keys(threads);
    // The remaining ones belong to the last partition that has groups.
    let last = lasts.iter().rposition(Option::is_some).unwrap_or(0);
    for (number, keys) in lasts.into_iter().enumerate() {
        let start = starts[number];
        starts[number + 1] = match keys {
            _ if number >= last => others.groups(),
            None => start,
            Some(keys) => {
                let of_partition = Partial::new(Some(GroupKeys::Encoded(keys)), Rows::default(), Vec::new());
                let is_before = |other: usize| others.compare_keys(other, &of_partition, 0) == Ordering::Less;
                (start..others.groups()).find(|&other| !is_before(other)).unwrap_or(others.groups())
            }
        };
    }
    starts
}

/// The wanted groups of one or two partials, each in order, merged in order.
fn merged(partials: &[Partial], wanted: &[Vec<u32>]) -> Vec<GroupRef> {
    let places = |partial: usize| wanted[partial].iter().map(move |&group| GroupRef { partial: partial as u32, group });
    let mut rest: &[u32] = &wanted[0];
    let mut merged = Vec::with_capacity(wanted.iter().map(Vec::len).sum());
    for other in (1..partials.len()).flat_map(places) {
        let is_before = |&group: &u32| {
            let theirs = &partials[other.partial as usize];
            partials[0].compare_keys(group as usize, theirs, other.group as usize) == Ordering::Less
        };
        let (before, after) = rest.split_at(rest.partition_point(is_before));
        merged.extend(before.iter().map(|&group| GroupRef { partial: 0, group }));
        merged.push(other);
        rest = after;
    }
    merged.extend(rest.iter().map(|&group| GroupRef { partial: 0, group }));
    merged
}
