//! Writes the positions of separators, 64 bytes of text at a time.

/// Finds separators with an instruction set.
pub(crate) trait Separators: Copy {
    /// A mask of the bytes that are the delimiter or a line feed. It is inlined into a function that enables the
    /// instructions.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn separators(block: &[u8; 64], delimiter: u8) -> u64;
}

/// The number of separators that a block seldom exceeds if rows have about the same length: those of the One Billion
/// Row Challenge with its 413 names have 14 bytes on average.
const USUAL: usize = 12;

/// The same if their lengths vary: with 10,000 random names, every sixth block has more than [`USUAL`] separators.
const MANY: usize = 16;

/// [`TextIsa::marks`](super::TextIsa::marks), bit by bit. Loops of fixed length have no branch on the number of
/// separators; the excess entries are overwritten by the next block. They are written out, because closures are not
/// compiled with the caller's instructions.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn write<I: Separators>(text: &[u8], delimiter: u8, out: *mut u16) -> Option<usize> {
    let mut next = out;
    let mut usual = USUAL;
    for at in (0..text.len()).step_by(64) {
        let base = at as u16 + 1;
        // SAFETY: promised by the caller; a block extends at most 63 bytes beyond the text, within its margin, and at
        // most `MANY` excess entries are written.
        unsafe {
            let mut separators = I::separators(&*text.as_ptr().add(at).cast(), delimiter);
            let count = separators.count_ones() as usize;
            for place in 0..USUAL {
                *next.add(place) = base.wrapping_add(separators.trailing_zeros() as u16);
                separators &= separators.wrapping_sub(1);
            }
            if usual == MANY {
                for place in USUAL..MANY {
                    *next.add(place) = base.wrapping_add(separators.trailing_zeros() as u16);
                    separators &= separators.wrapping_sub(1);
                }
            }
            if count > usual {
                if count > 32 {
                    return None;
                }
                for place in usual..count {
                    *next.add(place) = base.wrapping_add(separators.trailing_zeros() as u16);
                    separators &= separators.wrapping_sub(1);
                }
                usual = MANY;
            }
            next = next.add(count);
        }
    }
    // SAFETY: both point into the same array.
    Some(unsafe { next.offset_from(out) } as usize)
}
