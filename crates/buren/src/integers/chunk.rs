//! Decoding: a chunk opened from its scheme and parameters.

use super::scheme::{Input, Layout, SCHEMES, Scheme};
use super::{BLOCK_ROWS, GROUP_ROWS};
use crate::malformed::{Malformed, Result};
use brc_kernels::arithmetic::Integer;
use std::fmt::{self, Debug};

/// A chunk that is open for decoding its blocks.
pub struct Chunk {
    scheme: &'static Scheme,
    layout: Box<dyn AnyLayout>,
}

impl Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk").field("scheme", &self.scheme.name).finish_non_exhaustive()
    }
}

/// A stored block of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The number of rows, at most [`BLOCK_ROWS`].
    pub rows: usize,
    /// The number of rows of the chunk before this block.
    pub start: u64,
}

/// The destination of decoded rows.
pub(super) struct Output<'a, T> {
    /// The first row to decode.
    pub(super) first: usize,
    /// The values of the reference column in the same rows; empty if there is none.
    pub(super) reference: &'a [T],
    /// Receives the values.
    pub(super) values: &'a mut [T],
}

impl<'a, T> Output<'a, T> {
    /// The destination for rows from `first` on, which the block must have.
    fn of(block: &Block<'_>, first: usize, reference: &'a [T], values: &'a mut [T]) -> Result<Self> {
        assert!(first.is_multiple_of(GROUP_ROWS), "a multiple of a group's rows");
        assert!(first + values.len() <= block.rows, "rows of the block");
        if block.rows > BLOCK_ROWS {
            return Err(Malformed("a block has too many rows"));
        }
        Ok(Self { first, reference, values })
    }
}

impl Chunk {
    /// Parses the parameters of a chunk.
    ///
    /// # Errors
    /// If the scheme is unknown or its parameters are malformed.
    pub fn open(scheme: u8, parameters: &[u8]) -> Result<Self> {
        let known = SCHEMES.iter().find(|known| known.id == scheme);
        let scheme = known.ok_or(Malformed("its scheme is unknown"))?;
        Ok(Self { scheme, layout: (scheme.open)(parameters)? })
    }

    /// The name of the scheme.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.scheme.name
    }

    /// Whether all values of a block are known to fit an `i32`, so that decoding to `i32` is lossless.
    #[must_use]
    pub fn is_narrow(&self, block: &Block<'_>) -> bool {
        self.layout.is_narrow(block)
    }

    /// Decodes `values.len()` values of a block from row `first` on.
    ///
    /// Values wider than `T` are truncated. `reference` has the values of the reference column in the same rows, if the
    /// chunk was encoded with one; otherwise it is ignored.
    ///
    /// # Errors
    /// If the block is malformed; the contents of `values` are then unspecified.
    ///
    /// # Panics
    /// If `first` is not a multiple of [`GROUP_ROWS`], or the rows are out of bounds.
    pub fn decode<T: Decodable>(
        &self,
        block: &Block<'_>,
        first: usize,
        reference: &[T],
        values: &mut [T],
    ) -> Result<()> {
        T::decode(&*self.layout, block, Output::of(block, first, reference, values)?)
    }

    /// Like [`decode`](Self::decode), for dictionary codes. Returns the largest code [as
    /// unsigned](brc_kernels::direct::unsigned) if decoding computes it anyway, and `None` if there are no codes.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    ///
    /// # Panics
    /// As [`decode`](Self::decode).
    pub fn decode_codes(
        &self,
        block: &Block<'_>,
        first: usize,
        reference: &[i32],
        codes: &mut [i32],
    ) -> Result<Option<u32>> {
        self.layout.decode_codes(block, Output::of(block, first, reference, codes)?)
    }
}

/// An integer type that blocks can be decoded to: 16, 32 or 64 bits.
#[allow(private_interfaces, reason = "which integers there are is decided here")]
pub trait Decodable: Integer {
    #[doc(hidden)]
    fn decode(layout: &dyn AnyLayout, block: &Block<'_>, output: Output<'_, Self>) -> Result<()>;
}

/// Object-safe form of [`Layout`].
pub(super) trait AnyLayout: Debug + Send + Sync {
    fn parameters(&self, out: &mut Vec<u8>);
    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>);
    fn decode_i16(&self, block: &Block<'_>, output: Output<'_, i16>) -> Result<()>;
    fn decode_i32(&self, block: &Block<'_>, output: Output<'_, i32>) -> Result<()>;
    fn decode_i64(&self, block: &Block<'_>, output: Output<'_, i64>) -> Result<()>;
    fn is_patched(&self) -> bool;
    fn is_narrow(&self, block: &Block<'_>) -> bool;
    fn decode_codes(&self, block: &Block<'_>, output: Output<'_, i32>) -> Result<Option<u32>>;
}

macro_rules! any_layout {
    ($($integer:ident $decode:ident)+) => {
        impl<L: Layout> AnyLayout for L {
            fn parameters(&self, out: &mut Vec<u8>) {
                Layout::parameters(self, out);
            }

            fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
                Layout::encode(self, input, out);
            }

            fn is_patched(&self) -> bool {
                Layout::is_patched(self)
            }

            fn is_narrow(&self, block: &Block<'_>) -> bool {
                Layout::is_narrow(self, block)
            }

            fn decode_codes(&self, block: &Block<'_>, output: Output<'_, i32>) -> Result<Option<u32>> {
                Layout::decode_codes(self, block, output)
            }

            $(fn $decode(&self, block: &Block<'_>, output: Output<'_, $integer>) -> Result<()> {
                self.decode(block, output)
            })+
        }

        $(
            #[allow(private_interfaces, reason = "as for the trait")]
            impl Decodable for $integer {
                fn decode(layout: &dyn AnyLayout, block: &Block<'_>, output: Output<'_, Self>) -> Result<()> {
                    layout.$decode(block, output)
                }
            }
        )+
    };
}

any_layout!(i16 decode_i16 i32 decode_i32 i64 decode_i64);
