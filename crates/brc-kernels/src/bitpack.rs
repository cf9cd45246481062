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

mod lanes;
#[cfg(test)]
mod tests;
mod values;

pub use lanes::{GROUP, LANE_ROW_BYTES, lane_bits, packed_bytes, width_of};
pub use values::{Value, pack, unpack};

use crate::cpu::Level;

/// A loop that is compiled once for each instruction set.
trait Kernel {
    type Output;

    /// Must be inlined into its caller to be compiled with the caller's instruction set.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the instructions of `level`, or of the best level there is if that is lower.
#[inline]
fn run_at<K: Kernel>(level: Level, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match level.min(Level::best()) {
        // SAFETY: `Level::best` found these instructions on this processor.
        Level::Avx512 => return unsafe { run_avx512(kernel) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { run_avx2(kernel) },
        Level::Portable => {}
    }
    let _ = level;
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
