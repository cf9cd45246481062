//! Samples of images: reads them as numbers with white space between, and sorts those of pixels by colour.
//!
//! The fast variants look at 64 bytes at once. They take numbers of as many digits as the largest one may have, and stop
//! before whatever is anything else: a comment, zeros in front, a number that is too large, a letter. What that is, good
//! or bad, is for the caller to find out.

use crate::cpu::{Kernel, Level, run_at};
use crate::text::Window;

/// Appends the numbers at the start of a text that ends with white space, as long as they have no more digits than
/// `maximum` has and are not above it. Returns how many bytes were read: they end with the last number or behind it.
pub fn read(_level: Level, window: Window<'_>, maximum: u16, numbers: &mut Vec<u16>) -> usize {
    portable(window.text(), maximum, numbers)
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn portable(text: &[u8], maximum: u16, numbers: &mut Vec<u16>) -> usize {
    let (mut done, mut number, mut digits) = (0, 0u32, 0);
    let most = maximum.checked_ilog10().unwrap_or(0) + 1;
    for (at, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            number = number * 10 + u32::from(digit);
            digits += 1;
            if digits > most {
                break;
            }
        } else if !is_white(byte) || number > maximum.into() {
            break;
        } else if digits > 0 {
            numbers.push(number as u16);
            (done, number, digits) = (at, 0, 0);
        }
    }
    done
}

/// Sorts samples of one byte, which are those of pixels one behind the other, by colour.
///
/// # Panics
/// If a plane has no room for all pixels.
pub fn split_bytes(level: Level, samples: &[u8], planes: &mut [Vec<i16>; 3]) {
    run_at(level, Split { samples, planes, widen: i16::from });
}

/// The same for samples of two bytes, of which the bits are kept.
///
/// # Panics
/// As for [`split_bytes`].
pub fn split_words(level: Level, samples: &[u16], planes: &mut [Vec<i16>; 3]) {
    run_at(level, Split { samples, planes, widen: |sample: u16| sample as i16 });
}

struct Split<'a, T, W> {
    samples: &'a [T],
    planes: &'a mut [Vec<i16>; 3],
    widen: W,
}

impl<T: Copy, W: Fn(T) -> i16> Kernel for Split<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (pixels, _) = self.samples.as_chunks::<3>();
        let [r, g, b] = self.planes.each_mut().map(|plane| &mut plane[..pixels.len()]);
        for (((pixel, r), g), b) in pixels.iter().zip(r).zip(g).zip(b) {
            (*r, *g, *b) = ((self.widen)(pixel[0]), (self.widen)(pixel[1]), (self.widen)(pixel[2]));
        }
    }
}
