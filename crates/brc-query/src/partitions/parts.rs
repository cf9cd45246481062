//! Parts of what is to be grouped where memory is short: records in memory or in the spill file, and groups that were
//! spilled. No group belongs to two parts.

use super::ScatterPlan;
use super::records::{PARTITIONS, Records};
use super::spill::{Frame, Spill};
use crate::accumulate::partial::Partial;
use crate::keys::encoding::KeyEncoding;
use brc_core::{Result, Value};
use brc_kernels::partition_buffers::{CHUNK, Chunks};
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hasher};

/// This many bytes of records are written at a time.
const FRAME: usize = 1 << 20;

/// The hash by which parts are split is independent of that of the tables of their groups.
const SEED: u64 = 0x7061_7274_6974_696f;

/// The bits of the hash by which a part that is too large is split.
const SPLIT_BITS: u32 = 4;

/// One part.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) chunks: Vec<Chunks>,
    /// Records in the file.
    pub(super) records: Vec<Frame>,
    /// Partials in the file.
    pub(super) groups: Vec<Frame>,
}

impl Part {
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.records.is_empty() && self.groups.is_empty()
    }

    fn append(&mut self, other: Self) {
        self.chunks.extend(other.chunks);
        self.records.extend(other.records);
        self.groups.extend(other.groups);
    }

    /// Calls `each` with some records of this many words after the other, as long as it wants more.
    pub(super) fn each_chunk(
        &self,
        spill: &Spill,
        words: usize,
        mut each: impl FnMut(&[u64]) -> Result<bool>,
    ) -> Result<bool> {
        for chunk in self.chunks.iter().flat_map(Chunks::iter) {
            if !each(chunk)? {
                return Ok(false);
            }
        }
        for frame in &self.records {
            let bytes = spill.read(frame)?;
            let all: Vec<u64> = bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
            drop(bytes);
            for chunk in all.chunks((CHUNK / words).max(1) * words) {
                if !each(chunk)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Splits it by the next bits of the hash; it is of keys that can be encoded if they are partitioned.
    pub(super) fn split(self, spill: &Spill, scatter_plan: Option<&ScatterPlan>, depth: u32) -> Result<Vec<Self>> {
        let place = |hash: u64| (hash << (depth * SPLIT_BITS) >> (64 - SPLIT_BITS)) as usize;
        let mut parts: Vec<Self> = Vec::new();
        parts.resize_with(1 << SPLIT_BITS, Self::default);
        if let Some(ScatterPlan { layout, .. }) = scatter_plan {
            let words = layout.words();
            let hasher = hasher();
            let mut records: Vec<Vec<u8>> = vec![Vec::new(); parts.len()];
            let mut tuple = Vec::new();
            self.each_chunk(spill, words, |chunk| {
                for record in chunk.chunks_exact(words) {
                    tuple.clear();
                    layout.push_keys(record, &mut tuple);
                    let place = place(hash_of_tuple(&hasher, &tuple));
                    records[place].extend(record.iter().flat_map(|word| word.to_le_bytes()));
                    if records[place].len() >= FRAME / parts.len() {
                        parts[place].records.push(spill.write(&records[place])?);
                        records[place].clear();
                    }
                }
                Ok(true)
            })?;
            for (records, part) in records.iter().zip(&mut parts).filter(|(records, _)| !records.is_empty()) {
                part.records.push(spill.write(records)?);
            }
        }
        let encoding = scatter_plan.map(|scatter_plan| scatter_plan.encoding.as_ref());
        for frame in &self.groups {
            let groups: Partial = spill.read_value(frame)?;
            let hasher = hasher();
            let of_tuple = |tuple: &[u64]| place(hash_of_tuple(&hasher, tuple));
            // Groups without encoded keys have parts of their own, which are split by later bits of the same hash.
            let of_hash = |hash: u64| place(hash << SPLIT_BITS);
            let members = scatter(&groups, encoding, parts.len(), of_tuple, of_hash);
            for (members, part) in members.iter().zip(&mut parts).filter(|(members, _)| !members.is_empty()) {
                part.groups.push(spill.write_value(&groups.take(members))?);
            }
        }
        Ok(parts)
    }

    /// Whether there are bits left to split a part by.
    pub(super) fn may_split(depth: u32) -> bool {
        (depth + 2) * SPLIT_BITS <= 64
    }
}

/// All parts: first the partitions, then those of keys that cannot be encoded. There are fewer of the latter, because
/// taking groups out of a partial reads all values that its states keep.
#[derive(Debug)]
pub(crate) struct Parts(Vec<Part>);

impl Default for Parts {
    fn default() -> Self {
        let mut parts = Vec::new();
        parts.resize_with(PARTITIONS + (1 << SPLIT_BITS), Part::default);
        Self(parts)
    }
}

impl Parts {
    /// Adds one worker's records as they are.
    pub(crate) fn add(&mut self, records: Records<'_>) {
        for (chunks, part) in records.into_partitions().zip(&mut self.0) {
            if !chunks.is_empty() {
                part.chunks.push(chunks);
            }
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(ours, theirs)| ours.append(theirs));
    }

    /// The parts, each with whether its keys are encoded.
    pub(super) fn into_vec(self) -> Vec<(Part, bool)> {
        self.0.into_iter().enumerate().map(|(number, part)| (part, number < PARTITIONS)).collect()
    }

    /// Writes all records of a worker to the file.
    pub(crate) fn spill_records(&mut self, records: &mut Records<'_>, spill: &Spill) -> Result<()> {
        let mut bytes = Vec::new();
        for (chunks, part) in records.take_partitions().zip(&mut self.0) {
            for chunk in chunks.iter() {
                if bytes.len() >= FRAME {
                    part.records.push(spill.write(&bytes)?);
                    bytes.clear();
                }
                bytes.extend(chunk.iter().flat_map(|word| word.to_le_bytes()));
            }
            if !bytes.is_empty() {
                part.records.push(spill.write(&bytes)?);
                bytes.clear();
            }
        }
        Ok(())
    }

    /// Writes groups, whose keys are not encoded, to the file.
    pub(crate) fn spill_groups(
        &mut self,
        groups: &Partial,
        scatter_plan: Option<&ScatterPlan>,
        spill: &Spill,
    ) -> Result<()> {
        let of_tuple =
            |tuple: &[u64]| scatter_plan.map_or(0, |scatter_plan| scatter_plan.ranges.of_tuple(tuple).into());
        let of_hash = |hash: u64| PARTITIONS + (hash >> (64 - SPLIT_BITS)) as usize;
        let encoding = scatter_plan.map(|scatter_plan| scatter_plan.encoding.as_ref());
        let members = scatter(groups, encoding, self.0.len(), of_tuple, of_hash);
        for (members, part) in members.iter().zip(&mut self.0).filter(|(members, _)| !members.is_empty()) {
            part.groups.push(spill.write_value(&groups.take(members))?);
        }
        Ok(())
    }
}

/// The groups of each of `parts` parts, of which those are found by tuples, or by the hash of keys that cannot be
/// encoded.
fn scatter(
    groups: &Partial,
    encoding: Option<&KeyEncoding>,
    parts: usize,
    of_tuple: impl Fn(&[u64]) -> usize,
    of_hash: impl Fn(u64) -> usize,
) -> Vec<Vec<u32>> {
    let (mut members, mut text) = (vec![Vec::new(); parts], Vec::new());
    let encoded = encoding.map(|encoding| (encoding.width(), groups.encode_keys(encoding)));
    for group in (0..groups.groups()).filter(|&group| groups.has_rows(group)) {
        let place = match &encoded {
            Some((width, (tuples, fits))) if fits[group] => of_tuple(&tuples[group * width..(group + 1) * width]),
            Some(_) | None => of_hash(hash_of_keys(groups, group, &mut text)),
        };
        members[place].push(group as u32);
    }
    members
}

fn hasher() -> FixedState {
    FixedState::with_seed(SEED)
}

fn hash_of_tuple(hasher: &FixedState, tuple: &[u64]) -> u64 {
    let mut state = hasher.build_hasher();
    tuple.iter().for_each(|&word| state.write_u64(word));
    state.finish()
}

/// A hash of keys that cannot be encoded.
fn hash_of_keys(groups: &Partial, group: usize, text: &mut Vec<u8>) -> u64 {
    let mut state = hasher().build_hasher();
    for key in 0..groups.keys() {
        let value = groups.key(key, group, text);
        // Distinguishes null from 0.
        state.write_u8(if value.is_some() { 1 } else { 2 });
        match value {
            None => {}
            Some(Value::Integer(value)) => state.write_i128(value),
            Some(Value::Float(value)) => state.write_u64(value.to_bits()),
            Some(Value::Bytes(bytes)) => {
                state.write_usize(bytes.len());
                state.write(bytes);
            }
        }
    }
    state.finish()
}
