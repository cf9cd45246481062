//! What a scheme is, and the list of all schemes.

use super::chunk::{AnyLayout, Block, Output};
use super::facts::Facts;
use super::{constant, delta, dictionary, difference, divisor, packed, periodic, plain, progression, run_length};
use crate::integer_buffer::IntegerSlice;
use crate::malformed::Result;
use brc_kernels::arithmetic::Integer;
use std::fmt::Debug;

/// A way to store integers.
pub(super) struct Scheme {
    /// What stands for it in files, for ever.
    pub(super) id: u8,
    /// Its name in reports.
    pub(super) name: &'static str,
    /// What decoding costs, in hundredths of a nanosecond a value as measured by `examples/scheme_floor.rs`. It only
    /// decides between schemes of nearly the same size.
    pub(super) cost: u32,
    /// How the scheme would store a chunk; `None` if it cannot. If it is a lot of work to find out, then also if it
    /// surely needs more bytes than this: the smallest of the schemes before it.
    pub(super) fit: fn(&Facts<'_>, u64) -> Option<Fit>,
    /// Reads a chunk's parameters.
    pub(super) open: fn(&[u8]) -> Result<Box<dyn AnyLayout>>,
}

/// A scheme's offer for a chunk.
pub(super) struct Fit {
    pub(super) layout: Box<dyn AnyLayout>,
    /// The estimated size of all blocks, in bytes, without the parameters.
    pub(super) bytes: u64,
    /// What decoding costs, if that depends on the values: else the scheme's cost.
    pub(super) cost: Option<u32>,
}

impl Fit {
    pub(super) fn new(layout: impl Layout, bytes: u64) -> Self {
        Self { layout: Box::new(layout), bytes, cost: None }
    }
}

/// A scheme with the parameters of one chunk.
pub(super) trait Layout: Debug + Send + Sync + 'static {
    /// Appends the parameters.
    fn parameters(&self, _out: &mut Vec<u8>) {}

    /// Appends a block.
    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>);

    /// Whether some integers are put in by themselves, which makes decoding slower.
    fn is_patched(&self) -> bool {
        false
    }

    /// Whether all values of a block are known to fit an `i32`; `false` also if that is not known.
    fn is_narrow(&self, _block: &Block<'_>) -> bool {
        false
    }

    /// Fills the output from a block.
    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()>;

    /// The same for codes; returns the largest of them without its sign, if it is found on the way.
    fn decode_codes(&self, block: &Block<'_>, output: Output<'_, i32>) -> Result<Option<u32>> {
        self.decode(block, output).map(|()| None)
    }
}

/// The values of one block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) values: IntegerSlice<'a>,
    /// The other column's values of the same rows; empty if there is no other column.
    pub(super) reference: IntegerSlice<'a>,
    /// Which block of the chunk it is.
    pub(super) number: usize,
}

/// All schemes. Of two that are equally small and fast the first is taken. No scheme has the id 3.
pub(super) static SCHEMES: &[Scheme] = &[
    constant::SCHEME,
    progression::SCHEME,
    periodic::SCHEME,
    plain::SCHEME,
    packed::SCHEME,
    divisor::SCHEME,
    difference::SCHEME,
    dictionary::SCHEME,
    run_length::SCHEME,
    delta::SCHEME,
];

/// The name of the scheme that the number stands for in files.
#[must_use]
pub fn scheme_name(id: u8) -> Option<&'static str> {
    SCHEMES.iter().find(|scheme| scheme.id == id).map(|scheme| scheme.name)
}
