//! Signed little-endian integers of 8, 16, 32 or 64 bits, for chunks that packing cannot make smaller, such as those of
//! very few rows.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::scheme::{Fit, Input, Layout, Scheme};
use super::stream::write_short;
use crate::integer_slice::for_widths;
use crate::malformed::{Malformed, Result, finish, take_array};
use brc_kernels::arithmetic::Integer;

pub(super) const SCHEME: Scheme = Scheme { id: 1, name: "plain", cost: 19, fit, open };

#[derive(Debug)]
struct Plain {
    /// The bytes per integer.
    width: usize,
}

fn fit(statistics: &ChunkStatistics<'_>, _smallest: u64) -> Option<Fit> {
    let holds = |width: &usize| {
        let (low, high) = (i64::MIN >> (64 - 8 * width), i64::MAX >> (64 - 8 * width));
        low <= statistics.profile.min && statistics.profile.max <= high
    };
    let width = [1, 2, 4, 8].into_iter().find(holds)?;
    Some(Fit::new(Plain { width }, (statistics.values.len() * width) as u64))
}

fn open(mut parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    let [width @ (1 | 2 | 4 | 8)] = take_array(&mut parameters)? else {
        return Err(Malformed("its integers are of an impossible size"));
    };
    finish(parameters)?;
    Ok(Box::new(Plain { width: width.into() }))
}

impl Layout for Plain {
    fn parameters(&self, out: &mut Vec<u8>) {
        out.push(self.width as u8);
    }

    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
        for_widths!(input.values, values => {
            write_short(values.iter().map(|value| value.wide() as u64), self.width, out);
        });
    }

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        if block.bytes.len() != block.rows * self.width {
            return Err(Malformed("a plain block has not the size of its integers"));
        }
        let bytes = &block.bytes[output.first * self.width..];
        match self.width {
            1 => read(bytes, |bytes| i8::from_le_bytes(bytes).into(), output.values),
            2 => read(bytes, |bytes| i16::from_le_bytes(bytes).into(), output.values),
            4 => read(bytes, |bytes| i32::from_le_bytes(bytes).into(), output.values),
            _ => read(bytes, i64::from_le_bytes, output.values),
        }
        Ok(())
    }
}

fn read<const BYTES: usize, T: Integer>(bytes: &[u8], wide: impl Fn([u8; BYTES]) -> i64, out: &mut [T]) {
    let stored = bytes.as_chunks().0;
    out.iter_mut().zip(stored).for_each(|(out, bytes)| *out = T::cut(wide(*bytes)));
}
