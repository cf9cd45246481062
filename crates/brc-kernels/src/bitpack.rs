//! Packs small integers in as few bits as they need, in a layout in which one instruction packs or unpacks many of
//! them.
//!
//! Values are packed in *groups* of [`GROUP`]. The layout is vertical, as in FastLanes: a group is a matrix with one
//! column per *lane* of a 1024-bit register, filled row by row, and each lane packs its own column of values into its
//! own words. All lanes shift by the same amount at the same time, for any width, and no shuffles are needed. The lane
//! is the narrowest of 16, 32 and 64 bits that holds the width ([`lane_bits`]). A last group that is not full stores
//! only the words that its rows use: [`packed_bytes`] returns the size.
//!
//! The packed numbers are the differences of signed values from a *base*, one for each run of values: [`pack`]
//! subtracts it and [`unpack`] adds it.
//!
//! Other formats pack values contiguously: [`unpack_consecutive`] reads these.

mod codes;
mod consecutive;
mod lanes;
#[cfg(test)]
mod tests;
mod values;

pub use codes::unpack_codes;
pub use consecutive::{Consecutive, unpack_consecutive};
pub use lanes::{GROUP, LANE_ROW_BYTES, lane_bits, packed_bytes, width_of};
pub use values::{Value, pack, unpack};
