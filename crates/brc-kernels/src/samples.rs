//! Samples of images: parses them from text, and separates the colours of pixels.
//!
//! The fast variants process 64 bytes at once. They support numbers of up to three digits, or five if the maximum
//! requires it, and stop before anything else: a comment, more leading zeros, a number that is too large, a letter. The
//! caller decides how to handle these.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod block;

use crate::cpu::{Kernel, Level, run_at};
use crate::text::Window;

/// Appends the numbers at the start of a text while they are plain: at most `maximum`, and of at most three digits if
/// that is below 256, else five. Returns the number of bytes up to the end of the last number.
///
/// The text must start between two numbers or at the start of one, and end with white space. It need not be read to its
/// end: the rest may still start with plain numbers.
pub fn read(level: Level, window: Window<'_>, maximum: u16, numbers: &mut Vec<u16>) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let level = level.min(Level::best());
        // SAFETY: the processor has the instructions of its levels.
        unsafe {
            match (level, digits(maximum)) {
                (Level::Avx512, 3) => return avx512::read::<3>(window, maximum, numbers),
                (Level::Avx512, _) => return avx512::read::<5>(window, maximum, numbers),
                (Level::Avx2, 3) => return avx2::read::<3>(window, maximum, numbers),
                (Level::Avx2, _) => return avx2::read::<5>(window, maximum, numbers),
                (Level::Neon | Level::Portable, _) => {}
            }
        }
    }
    let _ = level;
    portable(window.text(), maximum, numbers)
}

/// The maximum number of digits of a plain number.
fn digits(maximum: u16) -> u32 {
    if maximum < 256 { 3 } else { 5 }
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn portable(text: &[u8], maximum: u16, numbers: &mut Vec<u16>) -> usize {
    let most = digits(maximum);
    let (mut done, mut number, mut found) = (0, 0, 0);
    for (at, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 && found < most {
            number = number * 10 + u32::from(digit);
            found += 1;
        } else if !is_white(byte) || number > maximum.into() {
            break;
        } else if found > 0 {
            numbers.push(number as u16);
            (done, number, found) = (at, 0, 0);
        }
    }
    done
}

/// Separates one-byte samples of contiguous pixels by colour.
///
/// # Panics
/// If a plane is too short for all pixels.
pub fn split_bytes(level: Level, samples: &[u8], planes: &mut [Vec<i16>; 3]) {
    let planes = planes.each_mut().map(|plane| &mut plane[..samples.len() / 3]);
    #[cfg(target_arch = "x86_64")]
    if level.min(Level::best()) == Level::Avx512 {
        // SAFETY: the processor has AVX-512.
        return unsafe { avx512::split_bytes(samples, planes) };
    }
    run_at(level, Split { samples, planes, widen: i16::from });
}

/// The same for two-byte samples, whose bits are reinterpreted.
///
/// # Panics
/// As for [`split_bytes`].
pub fn split_words(level: Level, samples: &[u16], planes: &mut [Vec<i16>; 3]) {
    let planes = planes.each_mut().map(|plane| &mut plane[..samples.len() / 3]);
    #[cfg(target_arch = "x86_64")]
    if level.min(Level::best()) == Level::Avx512 {
        // SAFETY: the processor has AVX-512.
        return unsafe { avx512::split_words(samples, planes) };
    }
    run_at(level, Split { samples, planes, widen: |sample: u16| sample as i16 });
}

struct Split<'a, T, W> {
    samples: &'a [T],
    planes: [&'a mut [i16]; 3],
    widen: W,
}

impl<T: Copy, W: Fn(T) -> i16> Kernel for Split<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (pixels, _) = self.samples.as_chunks::<3>();
        let [r, g, b] = self.planes;
        for (((pixel, r), g), b) in pixels.iter().zip(r).zip(g).zip(b) {
            (*r, *g, *b) = ((self.widen)(pixel[0]), (self.widen)(pixel[1]), (self.widen)(pixel[2]));
        }
    }
}

#[cfg(test)]
mod tests;
