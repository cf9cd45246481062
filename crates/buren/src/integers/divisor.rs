//! Integers that are a base plus multiples of one divisor, such as whole units in hundredths: the multiples are packed.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::packed::only_stream;
use super::scheme::{Fit, Input, Layout, Scheme};
use super::{BLOCK_ROWS, stream};
use crate::malformed::{Result, finish, take_array};
use brc_kernels::arithmetic::{Integer, divide, scale};
use brc_kernels::cpu::Level;

pub(super) const SCHEME: Scheme = Scheme { id: 7, name: "divisor", cost: 22, fit, open };

#[derive(Debug)]
struct Divided {
    base: i64,
    divisor: u64,
}

fn fit(statistics: &ChunkStatistics<'_>, _smallest: u64) -> Option<Fit> {
    let base = statistics.profile.min;
    let divisor = common_divisor(statistics, base).filter(|&divisor| divisor > 1)?;
    let bytes = statistics.spreads.iter().map(|spread| stream::estimate(&spread.divided(base, divisor))).sum();
    Some(Fit::new(Divided { base, divisor }, bytes))
}

/// The greatest common divisor of all differences from `base`: computed from the sample, then verified on all.
fn common_divisor(statistics: &ChunkStatistics<'_>, base: i64) -> Option<u64> {
    let mut divisor = 0;
    for spread in &statistics.spreads {
        divisor = greatest_common(divisor, spread.min.wrapping_sub(base) as u64);
        for &offset in &spread.sample {
            divisor = greatest_common(divisor, offset);
            if divisor == 1 {
                return None;
            }
        }
    }
    if divisor == 0 {
        return None;
    }
    let mut quotients = Vec::new();
    for block in statistics.values.chunks(BLOCK_ROWS) {
        if !divide(Level::best(), &block.wide(), base, divisor, &mut quotients) {
            let block = block.wide();
            let distances = block.iter().map(|value| value.wrapping_sub(base) as u64);
            divisor = distances.fold(divisor, greatest_common);
        }
        if divisor == 1 {
            return None;
        }
    }
    Some(divisor)
}

fn greatest_common(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

fn open(mut parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    let base = i64::from_le_bytes(take_array(&mut parameters)?);
    let divisor = u64::from_le_bytes(take_array(&mut parameters)?);
    finish(parameters)?;
    Ok(Box::new(Divided { base, divisor }))
}

impl Layout for Divided {
    fn parameters(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&self.divisor.to_le_bytes());
    }

    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
        let mut quotients = Vec::new();
        let exact = divide(Level::best(), &input.values.wide(), self.base, self.divisor, &mut quotients);
        debug_assert!(exact, "fit has checked that all are multiples");
        stream::write(&quotients, out);
    }

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        only_stream(block)?.read(output.first, output.values)?;
        scale(Level::best(), T::cut(self.divisor as i64), T::cut(self.base), output.values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer_slice::IntegerSlice;

    #[test]
    fn a_divisor_divides_all_values_and_not_only_sampled_ones() {
        let mut values: Vec<i64> = (0..200_000).map(|row| -7 + row % 1000 * 1200).collect();
        assert_eq!(common_divisor(&ChunkStatistics::new((&values).into(), IntegerSlice::EMPTY), -7), Some(1200));
        values[123_457] += 400;
        assert_eq!(common_divisor(&ChunkStatistics::new((&values).into(), IntegerSlice::EMPTY), -7), Some(400));
        values[199_999] += 1;
        assert_eq!(common_divisor(&ChunkStatistics::new((&values).into(), IntegerSlice::EMPTY), -7), None);
        assert_eq!(
            common_divisor(&ChunkStatistics::new((&[i64::MIN, i64::MAX]).into(), IntegerSlice::EMPTY), i64::MIN),
            Some(u64::MAX)
        );
    }
}
