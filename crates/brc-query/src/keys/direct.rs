//! A shortcut to groups whose keys have few values together: an array in place of a hash table.
//!
//! Each key's values so far lie in a range; the product of the ranges indexes the array. It only remembers what the hash
//! table said: when a range becomes wider, everything is forgotten and learnt again.

use super::key_set::Lane;

/// More slots than these are no shortcut any more: they would not stay in the cache.
const MOST: u64 = 1 << 16;

/// Stands for a group that is not known yet.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// The array.
#[derive(Debug, Clone, Default)]
pub(crate) struct Direct {
    ranges: Vec<Range>,
    pub(crate) slots: Vec<u32>,
    /// The ranges were too wide once.
    pub(crate) off: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Range {
    low: u64,
    /// One more than the distance to the largest; 0 if there is no value yet.
    size: u64,
}

impl Direct {
    /// Computes the slot of every row; `false` if there would have to be too many.
    pub(crate) fn slots_of(&mut self, lanes: &[Lane], rows: usize, slots: &mut Vec<u32>) -> bool {
        if self.off || !self.cover(lanes) {
            self.off = true;
            return false;
        }
        slots.clear();
        slots.resize(rows, 0);
        for (lane, range) in lanes.iter().zip(&self.ranges) {
            // Null comes first.
            let stride = range.size as u32 + 1;
            if lane.nulls.is_empty() {
                for (slot, &word) in slots.iter_mut().zip(&lane.low) {
                    *slot = *slot * stride + (word - range.low) as u32 + 1;
                }
            } else {
                for ((slot, &word), &null) in slots.iter_mut().zip(&lane.low).zip(&lane.nulls) {
                    *slot = *slot * stride + if null { 0 } else { (word - range.low) as u32 + 1 };
                }
            }
        }
        true
    }

    /// Widens the ranges as the lanes need it.
    fn cover(&mut self, lanes: &[Lane]) -> bool {
        self.ranges.resize(lanes.len(), Range::default());
        let mut wider = self.slots.is_empty();
        for (lane, range) in lanes.iter().zip(&mut self.ranges) {
            if !lane.high.is_empty() {
                return false;
            }
            let Some((low, high)) = lane.bounds() else { continue };
            let inside = range.size > 0 && range.low <= low && high - range.low < range.size;
            if !inside {
                range.cover(low, high);
                wider = true;
            }
        }
        if wider {
            let product =
                self.ranges.iter().try_fold(1u64, |product, range| product.checked_mul(range.size.saturating_add(1)));
            let Some(product) = product.filter(|&product| product <= MOST) else { return false };
            self.slots.clear();
            self.slots.resize(product as usize, UNKNOWN);
        }
        true
    }
}

impl Range {
    /// Becomes wide enough, and a little wider if it had to grow, so that it does not grow with every batch.
    fn cover(&mut self, low: u64, high: u64) {
        let (old_low, old_high) = if self.size == 0 { (low, high) } else { (self.low, self.low + (self.size - 1)) };
        let (new_low, new_high) = (low.min(old_low), high.max(old_high));
        let slack = if self.size == 0 { 0 } else { (new_high - new_low) / 2 };
        self.low = if new_low < old_low { new_low.saturating_sub(slack) } else { new_low };
        let high = if new_high > old_high { new_high.saturating_add(slack) } else { new_high };
        self.size = (high - self.low).saturating_add(1);
    }
}
