//! The distinct values of each group: a set of pairs of a group and a value, or bits as long as values are codes and
//! few.

use super::code_bits::CodeBits;
use super::value_pairs::ValuePairs;
use super::{Accumulator, GroupIds, Values};
use crate::values::error::BatchError;
use brc_core::{LogicalType, interrupt};
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "ValuePairs", into = "ValuePairs")]
pub(crate) struct Distinct {
    pairs: ValuePairs,
    /// Pairs of which the values are codes.
    bits: Box<CodeBits>,
    /// Bits were too many once.
    bits_are_off: bool,
    /// How many values each group has, when all have come.
    counts: Vec<u64>,
}

impl Distinct {
    pub(super) fn new(logical_type: LogicalType) -> Self {
        ValuePairs::new(logical_type).into()
    }

    /// How many values there are, those of all groups together.
    pub(crate) fn values(&self) -> usize {
        self.pairs.len()
    }
}

/// Pairs that are moved together.
const TOGETHER: usize = 4096;

impl Distinct {
    /// Moves all pairs that are bits to the others.
    fn empty_bits(&mut self) {
        let bits = std::mem::take(&mut self.bits);
        let (mut moved, mut pairs) = (self.pairs.emptied(), bits.pairs());
        loop {
            let (groups, codes): (Vec<u32>, Vec<u32>) =
                pairs.by_ref().take(TOGETHER).map(|(group, code)| (group as u32, code)).unzip();
            if codes.is_empty() || interrupt::check().is_err() {
                break;
            }
            moved.take_codes(&groups, &codes, bits.names());
        }
        if self.pairs.len() == 0 {
            self.pairs = moved;
        } else if moved.len() > 0 {
            let groups: Vec<u32> = (0..self.pairs.groups() as u32).collect();
            self.pairs.merge(&moved, &groups);
        }
    }
}

impl Accumulator for Distinct {
    const IGNORES_REPEATS: bool = true;

    fn len(&self) -> usize {
        self.pairs.groups()
    }

    fn grow(&mut self, groups: usize) {
        self.pairs.grow(groups);
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        if let Values::Codes { codes, dictionary } = values
            && !self.bits_are_off
        {
            if self.bits.make_room(self.pairs.groups(), dictionary) {
                return self.bits.add(groups, codes);
            }
            self.bits_are_off = true;
            self.empty_bits();
        }
        self.pairs.number(level, groups, values).map(drop)
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self { bits: Box::new(self.bits.take(groups)), ..self.pairs.take(groups).into() }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        if !self.bits.merge(&other.bits, groups) {
            self.empty_bits();
            let mut bits = Self { bits: other.bits.clone(), ..other.pairs.emptied().into() };
            bits.empty_bits();
            self.merge(&bits, groups);
        }
        self.pairs.merge(&other.pairs, groups);
    }

    fn prepare(&mut self, _: usize) {
        if self.pairs.len() > 0 {
            self.empty_bits();
        }
        self.counts.clear();
        self.counts.resize(self.pairs.groups(), 0);
        self.bits.count(&mut self.counts);
        self.pairs.for_each(|_, group| self.counts[group] += 1);
    }

    fn is_like(&self, other: &Self) -> bool {
        self.pairs.is_like(&other.pairs)
    }

    fn count(&self, group: usize) -> u64 {
        self.counts[group]
    }
}

impl From<ValuePairs> for Distinct {
    fn from(pairs: ValuePairs) -> Self {
        Self { pairs, bits: Box::default(), bits_are_off: false, counts: Vec::new() }
    }
}

impl From<Distinct> for ValuePairs {
    fn from(mut distinct: Distinct) -> Self {
        distinct.empty_bits();
        distinct.pairs
    }
}
