//! The interface of schemes, and the list of all schemes.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::{constant, delta, dictionary, difference, divisor, packed, periodic, plain, progression, run_length};
use crate::integer_slice::IntegerSlice;
use crate::malformed::Result;
use brc_kernels::arithmetic::Integer;
use std::fmt::Debug;

/// A way to store integers.
pub(super) struct Scheme {
    /// Its id in files, which never changes.
    pub(super) id: u8,
    /// Its name in reports.
    pub(super) name: &'static str,
    /// The decoding cost in hundredths of a nanosecond per value, measured with `examples/scheme_floor.rs`. It only
    /// decides between schemes of nearly the same size.
    pub(super) cost: u32,
    /// How the scheme would store a chunk; `None` if it cannot. Schemes that are expensive to evaluate may also return
    /// `None` if they would certainly need more bytes than the argument, the smallest size so far.
    pub(super) fit: fn(&ChunkStatistics<'_>, u64) -> Option<Fit>,
    /// Parses a chunk's parameters.
    pub(super) open: fn(&[u8]) -> Result<Box<dyn AnyLayout>>,
}

/// How a scheme would store a chunk.
pub(super) struct Fit {
    pub(super) layout: Box<dyn AnyLayout>,
    /// The estimated size of all blocks in bytes, without the parameters.
    pub(super) bytes: u64,
    /// The decoding cost, if it depends on the values; otherwise the scheme's cost applies.
    pub(super) cost: Option<u32>,
}

impl Fit {
    pub(super) fn new(layout: impl Layout, bytes: u64) -> Self {
        Self { layout: Box::new(layout), bytes, cost: None }
    }
}

/// A scheme with its parameters for one chunk.
pub(super) trait Layout: Debug + Send + Sync + 'static {
    /// Appends the parameters.
    fn parameters(&self, _out: &mut Vec<u8>) {}

    /// Appends a block.
    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>);

    /// Whether blocks may have exceptions, which make decoding slower.
    fn is_patched(&self) -> bool {
        false
    }

    /// Whether all values of a block are known to fit an `i32`.
    fn is_narrow(&self, _block: &Block<'_>) -> bool {
        false
    }

    /// Decodes the rows of `output`.
    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()>;

    /// Like `decode`, for codes. Returns the largest code as unsigned, if decoding computes it anyway.
    fn decode_codes(&self, block: &Block<'_>, output: Output<'_, i32>) -> Result<Option<u32>> {
        self.decode(block, output).map(|()| None)
    }
}

/// The values of one block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) values: IntegerSlice<'a>,
    /// The values of the reference column in the same rows; empty if there is none.
    pub(super) reference: IntegerSlice<'a>,
    /// The index of the block in its chunk.
    pub(super) number: usize,
}

/// All schemes. Among equally small and fast ones, the first is chosen. The id 3 is unused.
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

/// The name of the scheme with this id.
#[must_use]
pub fn scheme_name(id: u8) -> Option<&'static str> {
    SCHEMES.iter().find(|scheme| scheme.id == id).map(|scheme| scheme.name)
}
