//! Small integers in as few bits as they need, laid out so that one instruction packs or unpacks many of them.
//!
//! Values are packed in *groups* of [`GROUP`]. The layout is vertical (as in FastLanes): a group is a matrix with one
//! column per *lane* of a 1024-bit register, filled row by row, and each lane packs its own column of values into words
//! of its own. So all lanes shift by the same amount at the same time, whatever the width, and there is nothing to
//! shuffle. The lane is the narrowest of 16, 32 and 64 bits that holds the width ([`lane_bits`]). A last group that is
//! not full keeps only the words its rows reach into: [`packed_bytes`] tells how much.
//!
//! What is packed are the differences of signed values from a *base*, one for each run of values: [`pack`] subtracts
//! it and [`unpack`] adds it again.
//!
//! Other formats pack values one behind the other: [`unpack_consecutive`] is for what comes from elsewhere.

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
