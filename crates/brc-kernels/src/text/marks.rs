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

/// [`TextIsa::marks`](super::TextIsa::marks), bit by bit.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn write<I: Separators>(text: &[u8], delimiter: u8, out: *mut u16) -> Option<usize> {
    let (mut at, mut next) = (0, out);
    // SAFETY: promised by the caller.
    unsafe {
        write_blocks::<I, USUAL>(text, delimiter, &mut at, &mut next)?;
        while at < text.len() {
            write_blocks::<I, MANY>(text, delimiter, &mut at, &mut next)?;
        }
        Some(next.offset_from(out) as usize)
    }
}

/// Writes the marks of blocks from `at` on, up to and including the first one with more than `N` separators. For up to
/// `N` there is no branch on their number: the excess entries are overwritten by the next block. The loops are written
/// out, because closures are not compiled with the caller's instructions.
///
/// # Safety
/// As for [`write`], which has written up to `next`.
#[inline(always)]
unsafe fn write_blocks<I: Separators, const N: usize>(
    text: &[u8],
    delimiter: u8,
    at: &mut usize,
    next: &mut *mut u16,
) -> Option<()> {
    while *at < text.len() {
        let base = *at as u16 + 1;
        // SAFETY: promised by the caller; a block extends at most 63 bytes beyond the text, within its margin, and at
        // most `N` excess entries are written.
        unsafe {
            let mut separators = I::separators(&*text.as_ptr().add(*at).cast(), delimiter);
            let count = separators.count_ones() as usize;
            *at += 64;
            for place in 0..N {
                *next.add(place) = base.wrapping_add(separators.trailing_zeros() as u16);
                separators &= separators.wrapping_sub(1);
            }
            if count > N {
                if count > 32 {
                    return None;
                }
                for place in N..count {
                    *next.add(place) = base.wrapping_add(separators.trailing_zeros() as u16);
                    separators &= separators.wrapping_sub(1);
                }
                *next = next.add(count);
                return Some(());
            }
            *next = next.add(count);
        }
    }
    Some(())
}
