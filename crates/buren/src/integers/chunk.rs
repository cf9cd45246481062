//! Decoding: a chunk opened from its scheme and parameters, and parts of its blocks.

use super::scheme::{Input, Layout, SCHEMES, Scheme};
use super::{BLOCK_ROWS, GROUP_ROWS};
use crate::malformed::{Malformed, Result};
use brc_kernels::arithmetic::Integer;
use std::fmt::{self, Debug};

/// A chunk whose blocks can be decoded.
pub struct Chunk {
    scheme: &'static Scheme,
    layout: Box<dyn AnyLayout>,
}

impl Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk").field("scheme", &self.scheme.name).finish_non_exhaustive()
    }
}

/// One block of a chunk, as stored.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// How many rows it has: at most [`BLOCK_ROWS`].
    pub rows: usize,
    /// How many rows the chunk has before it.
    pub start: u64,
}

/// What is wanted of a block.
pub(super) struct Output<'a, T> {
    /// The first row wanted.
    pub(super) first: usize,
    /// The other column's values of the rows wanted, or nothing.
    pub(super) reference: &'a [T],
    /// Room for the values.
    pub(super) values: &'a mut [T],
}

impl<'a, T> Output<'a, T> {
    /// What is wanted of this block, which has the rows.
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
    /// Reads the parameters of a chunk.
    ///
    /// # Errors
    /// If the scheme is unknown or these are not parameters of it.
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

    /// Whether all values of a block are known to fit an `i32`, so that decoding to `i32` loses nothing; `false` also if that
    /// is not known.
    #[must_use]
    pub fn is_narrow(&self, block: &Block<'_>) -> bool {
        self.layout.is_narrow(block)
    }

    /// Decodes the values of a block from row `first` on, as many as there is room for.
    ///
    /// Values that are wider than `T` are cut. `reference` has the values of another column in the same rows, if the
    /// chunk was encoded with one; otherwise it is not looked at.
    ///
    /// # Errors
    /// If the bytes are not such a block. What is in `values` then means nothing.
    ///
    /// # Panics
    /// If `first` is not a multiple of [`GROUP_ROWS`], or the block has fewer rows.
    pub fn decode<T: Decodable>(
        &self,
        block: &Block<'_>,
        first: usize,
        reference: &[T],
        values: &mut [T],
    ) -> Result<()> {
        T::decode(&*self.layout, block, Output::of(block, first, reference, values)?)
    }

    /// The same for codes of a dictionary. Returns the largest of them [without its sign](brc_kernels::direct::unsigned), if it
    /// is found on the way: `None` also if there are none.
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

/// An integer that blocks can be decoded to: of 16, 32 or 64 bits.
#[allow(private_interfaces, reason = "which integers there are is decided here")]
pub trait Decodable: Integer {
    #[doc(hidden)]
    fn decode(layout: &dyn AnyLayout, block: &Block<'_>, output: Output<'_, Self>) -> Result<()>;
}

/// A [`Layout`] of any type.
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
