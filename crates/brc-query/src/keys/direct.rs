//! A shortcut to groups whose keys have few values together: an array in place of a hash table.
//!
//! Each key's values so far lie in a range; the product of the ranges indexes the array. It only remembers which groups it
//! was told: where a slot is empty, somebody else is asked, mostly a [`KeySet`], and when a range becomes wider, everything
//! is asked anew. So nothing is checked here that is checked there.

use super::key_set::KeySet;
use crate::filter::Selection;
use crate::group::Malformed;
use brc_core::batch::codes_of;
use brc_core::{Bitmap, Column, Data, Integers};
use brc_kernels::cpu::Level;
use brc_kernels::direct::{add_digits, bounds, look_up, set_digits};
use brc_kernels::filter::{valid_bits, words};

/// More slots than these are no shortcut any more: they would not stay in the cache.
const MOST: u64 = 1 << 20;

/// So many slots are always worth it; more of them only once there have been rows for a good part of them.
const SMALL: u64 = 1 << 16;

/// How many slots there may be for each row so far.
const SLOTS_A_ROW: u64 = 16;

/// Stands for a group that is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// The array.
#[derive(Debug, Clone, Default)]
pub(crate) struct Direct {
    ranges: Vec<Range>,
    table: Vec<u32>,
    /// Rows so far.
    rows: u64,
    /// The ranges were too wide once.
    off: bool,
    /// The keys of the last batch were no digits.
    no_digits: bool,
    spare: Spare,
}

/// Memory that is used again for the next batch.
#[derive(Debug, Clone, Default)]
struct Spare {
    digits: Vec<Digits>,
    slots: Vec<u32>,
    missing: Vec<u64>,
    groups: Vec<u32>,
}

/// The values of a key where they do not lie in the batch as they are needed.
#[derive(Debug, Clone, Default)]
struct Digits {
    codes: Vec<u32>,
    integers: Vec<i64>,
}

/// The values of a key. Nulls have been replaced.
#[derive(Clone, Copy)]
enum Digit<'a> {
    Codes(&'a [u32]),
    Integers(Integers<'a>),
}

#[derive(Debug, Clone, Copy, Default)]
struct Range {
    low: i64,
    /// One more than the distance to the largest; 0 if there is no value yet.
    size: u64,
}

impl Direct {
    /// Whether the array is of no use for keys like the last, however many rows are still to come.
    pub(crate) fn is_off(&self) -> bool {
        self.off || self.no_digits
    }

    /// Finds the groups of the wanted rows by these keys, of which the groups are those of `set`, and puts them in the places of
    /// their rows, where those of others mean nothing; `false` if the array is of no use for that.
    ///
    /// # Errors
    /// Those of [`KeySet::take`].
    pub(crate) fn groups_in(
        &mut self,
        level: Level,
        keys: &[Column<'_>],
        selection: Selection<'_>,
        rows: usize,
        set: &mut KeySet,
        groups: &mut Vec<u32>,
    ) -> Result<bool, Malformed> {
        let ask = |asked: Selection<'_>| {
            for (index, key) in keys.iter().enumerate() {
                set.take(index, key, asked)?;
            }
            let mut numbers = Vec::with_capacity(asked.wanted(rows));
            set.number(&mut numbers);
            Ok(numbers)
        };
        self.groups_of(level, keys, selection, rows, ask, groups)
    }

    /// The same, where `ask` tells the groups of rows.
    pub(crate) fn groups_of(
        &mut self,
        level: Level,
        keys: &[Column<'_>],
        selection: Selection<'_>,
        rows: usize,
        ask: impl FnOnce(Selection<'_>) -> Result<Vec<u32>, Malformed>,
        groups: &mut Vec<u32>,
    ) -> Result<bool, Malformed> {
        if self.off {
            return Ok(false);
        }
        self.rows += rows as u64;
        let mut spare = std::mem::take(&mut self.spare);
        let found = self.find(level, keys, rows, &mut spare);
        if found {
            self.fill(level, selection, rows, ask, &mut spare)?;
            std::mem::swap(groups, &mut spare.groups);
        }
        self.spare = spare;
        Ok(found)
    }

    /// Computes the slots of all rows; `false` if there would have to be too many.
    fn find(&mut self, level: Level, keys: &[Column<'_>], rows: usize, spare: &mut Spare) -> bool {
        spare.digits.resize_with(keys.len(), Digits::default);
        let wider = self.cover(level, keys, &mut spare.digits);
        self.no_digits = wider.is_none();
        match wider {
            None => return false,
            Some(true) if !self.renew() => return false,
            Some(_) => {}
        }
        spare.slots.clear();
        for ((key, range), digits) in keys.iter().zip(&self.ranges).zip(&mut spare.digits) {
            digits.set_nulls(key, range.null());
            let of_key = digits.of(key);
            of_key.add_to(level, &mut spare.slots, range);
        }
        spare.slots.len() == rows
    }

    /// Makes the ranges as wide as the keys need them. Returns whether the table has to be renewed; `None` if the keys are
    /// no digits.
    fn cover(&mut self, level: Level, keys: &[Column<'_>], digits: &mut [Digits]) -> Option<bool> {
        let bounds = keys.iter().zip(digits).map(|(key, digits)| {
            let validity = key.validity.filter(|validity| validity.count_nulls() > 0);
            digits.take(key, validity)?.bounds(level)
        });
        let bounds = bounds.collect::<Option<Vec<_>>>()?;
        self.ranges.resize(keys.len(), Range::default());
        let mut wider = self.table.is_empty();
        for (range, (low, high)) in self.ranges.iter_mut().zip(bounds) {
            wider |= range.cover(low, high);
        }
        Some(wider)
    }

    /// Empties the table, which becomes as large as the ranges are; `false` if that is too large.
    fn renew(&mut self) -> bool {
        let radices = self.ranges.iter().map(Range::radix);
        let product = radices.fold(1, u64::saturating_mul);
        self.table.clear();
        self.off = product > MOST;
        if self.off || product > SMALL.max(self.rows.saturating_mul(SLOTS_A_ROW)) {
            return false;
        }
        self.table.resize(product as usize, UNKNOWN);
        true
    }

    /// Looks up the groups of all slots, and asks for those of wanted rows that are not known yet.
    fn fill(
        &mut self,
        level: Level,
        selection: Selection<'_>,
        rows: usize,
        ask: impl FnOnce(Selection<'_>) -> Result<Vec<u32>, Malformed>,
        spare: &mut Spare,
    ) -> Result<(), Malformed> {
        let Spare { slots, missing, groups, .. } = spare;
        if !look_up(level, slots, &self.table, groups) {
            return Ok(());
        }
        missing.clear();
        missing.resize(words(rows), 0);
        for (index, (word, groups)) in missing.iter_mut().zip(groups.chunks(64)).enumerate() {
            let bits = groups.iter().enumerate().map(|(bit, &group)| u64::from(group == UNKNOWN) << bit);
            let wanted = match selection {
                Selection::All => valid_bits(rows, index),
                Selection::Some(mask, _) => mask[index],
            };
            *word = bits.fold(0, |word, bit| word | bit) & wanted;
        }
        let count: usize = missing.iter().map(|word| word.count_ones() as usize).sum();
        if count == 0 {
            return Ok(());
        }
        let asked = if count == rows { Selection::All } else { Selection::Some(missing, count) };
        let numbers = ask(asked)?;
        for (row, number) in crate::wanted::set_rows(missing).zip(numbers) {
            groups[row] = number;
            self.table[slots[row] as usize] = number;
        }
        Ok(())
    }
}

impl Digits {
    /// Takes the values of a key, those of rows that are null replaced by one that is not; `None` if they are no digits.
    fn take<'a>(&'a mut self, key: &Column<'a>, validity: Option<Bitmap<'_>>) -> Option<Digit<'a>> {
        self.codes.clear();
        self.integers.clear();
        match (key.data, validity) {
            (Data::Floats(_) | Data::Bytes(_) | Data::Integers(Integers::I128(_)), _) => return None,
            (Data::Runs { .. }, None) => drop(codes_of(key, &mut self.codes)),
            (Data::Codes { .. } | Data::Integers(_), None) => {}
            (Data::Codes { .. } | Data::Runs { .. }, Some(_)) => {
                codes_of(key, &mut self.codes);
                self.integers.extend(self.codes.iter().map(|&code| i64::from(code)));
            }
            (Data::Integers(values), Some(_)) => {
                self.integers.extend((0..values.len()).map(|row| values.get(row) as i64));
            }
        }
        if let Some(validity) = validity {
            let some = validity.iter().zip(&self.integers).find_map(|(valid, &value)| valid.then_some(value))?;
            let pairs = self.integers.iter_mut().zip(validity.iter());
            pairs.filter(|(_, valid)| !valid).for_each(|(value, _)| *value = some);
        }
        Some(self.of(key))
    }

    fn set_nulls(&mut self, key: &Column<'_>, null: i64) {
        if let Some(validity) = key.validity.filter(|_| !self.integers.is_empty()) {
            let pairs = self.integers.iter_mut().zip(validity.iter());
            pairs.filter(|(_, valid)| !valid).for_each(|(value, _)| *value = null);
        }
    }

    fn of<'a>(&'a self, key: &Column<'a>) -> Digit<'a> {
        match key.data {
            _ if !self.integers.is_empty() => Digit::Integers(Integers::I64(&self.integers)),
            Data::Codes { codes, .. } => Digit::Codes(codes),
            Data::Integers(values) => Digit::Integers(values),
            Data::Runs { .. } | Data::Floats(_) | Data::Bytes(_) => Digit::Codes(&self.codes),
        }
    }
}

/// Evaluates an expression with the values of a key, of which those of 128 bits are left out.
macro_rules! for_digits {
    ($digit:expr, $values:ident => $body:expr, $wide:expr) => {
        match $digit {
            Digit::Codes($values) => $body,
            Digit::Integers(Integers::I8($values)) => $body,
            Digit::Integers(Integers::I16($values)) => $body,
            Digit::Integers(Integers::I32($values)) => $body,
            Digit::Integers(Integers::I64($values)) => $body,
            Digit::Integers(Integers::I128(_)) => $wide,
        }
    };
}

impl Digit<'_> {
    fn bounds(self, level: Level) -> Option<(i64, i64)> {
        for_digits!(self, values => bounds(level, values), None)
    }

    /// Adds the digits of a further key to the slots, or makes them the slots if there are none yet.
    fn add_to(self, level: Level, slots: &mut Vec<u32>, range: &Range) {
        if slots.is_empty() {
            for_digits!(self, values => set_digits(level, slots, values, range.null()), ());
        } else {
            for_digits!(self, values => add_digits(level, slots, range.radix() as u32, values, range.null()), ());
        }
    }
}

impl Range {
    /// Becomes wide enough, and a little wider if it had to grow, so that it does not grow with every batch. Returns whether
    /// it grew.
    fn cover(&mut self, low: i64, high: i64) -> bool {
        let (low, high) = (i128::from(low), i128::from(high));
        let (old_low, end) = (i128::from(self.low), i128::from(self.low) + i128::from(self.size));
        if self.size > 0 && old_low <= low && high < end {
            return false;
        }
        let (old_low, old_high) = if self.size == 0 { (low, high) } else { (old_low, end - 1) };
        let (new_low, new_high) = (low.min(old_low), high.max(old_high));
        let slack = if self.size == 0 { 0 } else { (new_high - new_low) / 2 };
        let low = if new_low < old_low { (new_low - slack).max(i64::MIN.into()) } else { new_low };
        let high = if new_high > old_high { (new_high + slack).min(i64::MAX.into()) } else { new_high };
        self.low = low as i64;
        self.size = u64::try_from(high - low + 1).unwrap_or(u64::MAX);
        true
    }

    /// What stands for null: the value below the smallest, modulo 2⁶⁴.
    fn null(&self) -> i64 {
        self.low.wrapping_sub(1)
    }

    /// How many digits there are: one for each value, and the first for null.
    fn radix(&self) -> u64 {
        self.size.saturating_add(1)
    }
}
