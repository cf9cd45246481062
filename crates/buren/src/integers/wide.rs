//! 128-bit integers, such as decimals with more than 18 digits, as two columns of 64 bits.
//!
//! The low and high 64 bits of the difference from the chunk's minimum are ordinary integers, each with its own scheme.
//! Values within 2^64 of each other need no high bits.

use super::GROUP_ROWS;
use super::chunk::{Block, Chunk as Limb};
use super::plan::Plan as LimbPlan;
use crate::integer_slice::IntegerSlice;
use crate::malformed::{Malformed, Result, take, take_array};

/// How to store a chunk.
#[derive(Debug)]
pub struct Plan {
    base: i128,
    low: Vec<i64>,
    high: Vec<i64>,
    low_plan: LimbPlan,
    high_plan: LimbPlan,
}

impl Plan {
    /// Chooses one scheme for the low and one for the high bits of a chunk's values.
    #[must_use]
    pub fn choose(values: &[i128]) -> Self {
        let base = values.iter().copied().min().unwrap_or(0);
        let low: Vec<_> = values.iter().map(|value| value.wrapping_sub(base) as i64).collect();
        let high: Vec<_> = values.iter().map(|value| (value.wrapping_sub(base) as u128 >> 64) as i64).collect();
        let (low_plan, high_plan) =
            (LimbPlan::choose(&low, IntegerSlice::EMPTY), LimbPlan::choose(&high, IntegerSlice::EMPTY));
        Self { base, low, high, low_plan, high_plan }
    }

    /// The plans of the low and the high bits.
    #[must_use]
    pub fn limbs(&self) -> (&LimbPlan, &LimbPlan) {
        (&self.low_plan, &self.high_plan)
    }

    /// Appends the parameters shared by all blocks.
    pub fn encode_parameters(&self, out: &mut Vec<u8>) {
        let mut low = Vec::new();
        self.low_plan.encode_parameters(&mut low);
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&[self.low_plan.scheme_id(), self.high_plan.scheme_id(), 0, 0]);
        out.extend_from_slice(&(low.len() as u32).to_le_bytes());
        out.extend_from_slice(&low);
        self.high_plan.encode_parameters(out);
    }

    /// Appends block `number`: up to `BLOCK_ROWS` values from row `number * BLOCK_ROWS` on.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn encode_block(&self, number: usize, out: &mut Vec<u8>) {
        let mut low = Vec::new();
        self.low_plan.encode_block(number, &self.low, IntegerSlice::EMPTY, &mut low);
        out.extend_from_slice(&(low.len() as u32).to_le_bytes());
        out.extend_from_slice(&low);
        self.high_plan.encode_block(number, &self.high, IntegerSlice::EMPTY, out);
    }
}

/// A chunk that is open for decoding its blocks.
#[derive(Debug)]
pub struct Chunk {
    base: i128,
    low: Limb,
    high: Limb,
}

impl Chunk {
    /// Parses the parameters of a chunk.
    ///
    /// # Errors
    /// If they are malformed.
    pub fn open(mut parameters: &[u8]) -> Result<Self> {
        let base = i128::from_le_bytes(take_array(&mut parameters)?);
        let [low, high, 0, 0] = take_array(&mut parameters)? else {
            return Err(Malformed("its reserved bytes are not zero"));
        };
        let low_bytes = u32::from_le_bytes(take_array(&mut parameters)?);
        let of_low = take(&mut parameters, low_bytes as usize)?;
        Ok(Self { base, low: Limb::open(low, of_low)?, high: Limb::open(high, parameters)? })
    }

    /// Decodes `values.len()` values of a block from row `first` on.
    ///
    /// # Errors
    /// If the block is malformed; the contents of `values` are then unspecified.
    ///
    /// # Panics
    /// If `first` is not a multiple of [`GROUP_ROWS`], or the rows are out of bounds.
    pub fn decode(&self, block: &Block<'_>, first: usize, values: &mut [i128]) -> Result<()> {
        let mut bytes = block.bytes;
        let low_bytes = u32::from_le_bytes(take_array(&mut bytes)?);
        let low_block = Block { bytes: take(&mut bytes, low_bytes as usize)?, ..*block };
        let high_block = Block { bytes, ..*block };
        let (mut low, mut high) = ([0i64; GROUP_ROWS], [0i64; GROUP_ROWS]);
        for (group, values) in values.chunks_mut(GROUP_ROWS).enumerate() {
            let (low, high) = (&mut low[..values.len()], &mut high[..values.len()]);
            let first = first + group * GROUP_ROWS;
            self.low.decode(&low_block, first, &[], low)?;
            self.high.decode(&high_block, first, &[], high)?;
            for ((value, low), high) in values.iter_mut().zip(low).zip(high) {
                let offset = i128::from(*high) << 64 | i128::from(*low as u64);
                *value = self.base.wrapping_add(offset);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(parameters: &[u8], bytes: &[u8], rows: usize) -> Result<Vec<i128>> {
        let mut values = vec![0; rows];
        Chunk::open(parameters)?.decode(&Block { bytes, rows, start: 0 }, 0, &mut values)?;
        Ok(values)
    }

    fn encode(plan: &Plan) -> (Vec<u8>, Vec<u8>) {
        let (mut parameters, mut block) = (Vec::new(), Vec::new());
        plan.encode_parameters(&mut parameters);
        plan.encode_block(0, &mut block);
        (parameters, block)
    }

    #[test]
    fn close_values_have_no_high_bits() {
        let values: Vec<_> = (0..5000).map(|row| (1 << 100) + row * row % 1000).collect();
        let plan = Plan::choose(&values);
        assert_eq!((plan.limbs().0.scheme(), plan.limbs().1.scheme()), ("packed", "constant"));
    }

    proptest! {
        #[test]
        fn round_trips(
            mut values in prop::collection::vec(any::<i128>(), 1..2500),
            shift in 0u32..128,
            damage: (prop::sample::Index, u8),
        ) {
            values.iter_mut().for_each(|value| *value >>= shift);
            let (mut parameters, mut block) = encode(&Plan::choose(&values));
            prop_assert_eq!(decode(&parameters, &block, values.len()).unwrap(), &values[..]);
            let at = damage.0.index(parameters.len());
            parameters[at] = damage.1;
            let _ = decode(&parameters, &block, values.len());
            let at = damage.0.index(block.len());
            block[at] = damage.1;
            let _ = decode(&parameters, &block, values.len());
        }
    }
}
