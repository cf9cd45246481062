//! HyperLogLog sketches (Flajolet et al., 2007) of 4096 registers: about how many distinct values each group has, with
//! a standard error of 1.6 %. Few values are kept as their hashes, and counted exactly.

use super::{Accumulator, GroupIds, Values};
use crate::values::error::BatchError;
use crate::values::float_key::float_key;
use brc_core::Value;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use foldhash::quality::FixedState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};

/// The bits of a hash that choose its register.
const REGISTER_BITS: u32 = 12;

/// Up to this many hashes are kept; registers take no more memory from there on.
const MAX_HASHES: usize = 256;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sketches(Vec<Sketch>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Sketch {
    Hashes(BTreeSet<u64>),
    /// For each register the longest run of zeros that a hash had, and one more.
    Registers(Vec<u8>),
}

fn estimate(registers: &[u8]) -> u64 {
    let count = registers.len() as f64;
    let sum: f64 = registers.iter().map(|&longest| 0.5f64.powi(longest.into())).sum();
    let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
    let empty = registers.iter().filter(|&&longest| longest == 0).count();
    let few = raw <= 2.5 * count && empty > 0;
    (if few { count * (count / empty as f64).ln() } else { raw }).round() as u64
}

impl Sketch {
    fn add(&mut self, hash: u64) {
        match self {
            Self::Hashes(hashes) => {
                hashes.insert(hash);
                if hashes.len() > MAX_HASHES {
                    let mut registers = Self::Registers(vec![0; 1 << REGISTER_BITS]);
                    hashes.iter().for_each(|&hash| registers.add(hash));
                    *self = registers;
                }
            }
            Self::Registers(registers) => {
                let register = &mut registers[(hash >> (64 - REGISTER_BITS)) as usize];
                let zeros = (hash << REGISTER_BITS).leading_zeros().min(64 - REGISTER_BITS);
                *register = (*register).max(zeros as u8 + 1);
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (_, Self::Hashes(hashes)) => hashes.iter().for_each(|&hash| self.add(hash)),
            (Self::Registers(ours), Self::Registers(theirs)) => {
                ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours = (*ours).max(*theirs));
            }
            (Self::Hashes(hashes), Self::Registers(_)) => {
                let hashes = std::mem::take(hashes);
                *self = other.clone();
                hashes.into_iter().for_each(|hash| self.add(hash));
            }
        }
    }
}

/// The same hash in every process, whatever the width in which the value comes.
fn hash(value: Value<'_>) -> u64 {
    let mut state = FixedState::with_seed(0x6272_6321).build_hasher();
    match value {
        Value::Integer(value) => state.write_i128(value),
        Value::Float(value) => state.write_u64(float_key(value)),
        Value::Bytes(bytes) => state.write(bytes),
    }
    state.finish()
}

impl Accumulator for Sketches {
    const IGNORES_REPEATS: bool = true;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize_with(groups.max(self.0.len()), || Sketch::Hashes(BTreeSet::new()));
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        groups.each(values.len(), |group, row| {
            self.0.get_mut(group).ok_or(UnknownGroup)?.add(hash(values.get(row)?));
            Ok(())
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize].clone()).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, sketch) in groups.iter().zip(&other.0) {
            self.0[group as usize].merge(sketch);
        }
    }

    fn is_sound(&self) -> bool {
        let is_sound = |sketch: &Sketch| match sketch {
            Sketch::Hashes(_) => true,
            Sketch::Registers(registers) => registers.len() == 1 << REGISTER_BITS,
        };
        self.0.iter().all(is_sound)
    }

    fn count(&self, group: usize) -> u64 {
        match &self.0[group] {
            Sketch::Hashes(hashes) => hashes.len() as u64,
            Sketch::Registers(registers) => estimate(registers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near() {
        for distinct in [0u64, 1, 200, 257, 5_000, 100_000] {
            let mut sketch = Sketch::Hashes(BTreeSet::new());
            let mut halves = [sketch.clone(), sketch.clone()];
            for value in 0..distinct {
                sketch.add(hash(Value::Integer(value.into())));
                halves[(value % 2) as usize].add(hash(Value::Integer(value.into())));
            }
            let [mut half, other] = halves;
            half.merge(&other);
            assert_eq!(half, sketch);
            let found = Sketches(vec![sketch]).count(0);
            assert!(found.abs_diff(distinct) * 20 <= distinct, "{found} {distinct}");
        }
    }
}
