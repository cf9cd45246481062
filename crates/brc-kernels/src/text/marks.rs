//! Writes the positions of line feeds and counts delimiters, 64 bytes of text at a time.

use super::isa::Found;

/// Finds separators with an instruction set. Functions are inlined into one that enables the instructions.
pub(crate) trait Separators: Copy {
    /// A number of delimiters, in parts that are added only at the end. It has room for those of a tile.
    type Count: Copy;

    /// # Safety
    /// The processor has the instructions.
    unsafe fn no_delimiters() -> Self::Count;

    /// A mask of the line feeds of a block, whose delimiters are added to `delimiters`.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn line_feeds(block: &[u8; 64], delimiter: u8, delimiters: &mut Self::Count) -> u64;

    /// # Safety
    /// The processor has the instructions.
    unsafe fn sum(delimiters: Self::Count) -> usize;
}

/// The number of line feeds that a block seldom exceeds if rows have about the same length: those of the One Billion
/// Row Challenge with its 413 names have 14 bytes on average.
const USUAL: usize = 6;

/// The same if their lengths vary, as with 10,000 random names.
const USUAL_IF_VARYING: usize = 8;

/// Rows in the usual form have at least six bytes.
const MAX_ROWS: usize = 64 / 6 + 1;

/// [`TextIsa::marks`](super::TextIsa::marks), bit by bit; the marks of delimiters are left to
/// [`TextIsa::numbers`](super::TextIsa::numbers).
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn write<I: Separators>(text: &[u8], delimiter: u8, out: *mut u16) -> Option<Found> {
    // SAFETY: promised by the caller.
    unsafe {
        let mut blocks = Blocks::<I> { text, delimiter, at: 0, next: out, delimiters: I::no_delimiters() };
        blocks.write::<USUAL>()?;
        while blocks.at < text.len() {
            blocks.write::<USUAL_IF_VARYING>()?;
        }
        let mut rows = blocks.next.offset_from(out) as usize / 2;
        // The last block may extend beyond the text.
        let end = |rows: usize| if rows == 0 { 0 } else { usize::from(*out.add(2 * rows - 1)) };
        while end(rows) > text.len() {
            rows -= 1;
        }
        let after = std::slice::from_raw_parts(text.as_ptr().add(end(rows)), blocks.at - end(rows));
        let after = after.iter().filter(|&&byte| byte == delimiter).count();
        Some(Found { rows, one_delimiter_each: I::sum(blocks.delimiters) == rows + after })
    }
}

/// The blocks of a text of which those before `at` have been processed.
struct Blocks<'a, I: Separators> {
    text: &'a [u8],
    delimiter: u8,
    at: usize,
    next: *mut u16,
    delimiters: I::Count,
}

impl<I: Separators> Blocks<'_, I> {
    /// Writes the marks of blocks up to and including the first one with more than `N` line feeds. For up to `N` there
    /// is no branch on their number: the excess entries are overwritten by the next block. The loops are written out,
    /// because closures are not compiled with the caller's instructions.
    ///
    /// # Safety
    /// As for [`write`].
    #[inline(always)]
    unsafe fn write<const N: usize>(&mut self) -> Option<()> {
        while self.at < self.text.len() {
            let base = self.at as u16 + 1;
            // SAFETY: promised by the caller; a block extends at most 63 bytes beyond the text, within its margin, and
            // at most `N` excess entries are written.
            unsafe {
                let block = &*self.text.as_ptr().add(self.at).cast();
                let mut line_feeds = I::line_feeds(block, self.delimiter, &mut self.delimiters);
                let count = line_feeds.count_ones() as usize;
                self.at += 64;
                for place in 0..N {
                    *self.next.add(2 * place + 1) = base.wrapping_add(line_feeds.trailing_zeros() as u16);
                    line_feeds &= line_feeds.wrapping_sub(1);
                }
                let next = self.next.add(2 * count);
                if count > N {
                    if count > MAX_ROWS {
                        return None;
                    }
                    for place in N..count {
                        *self.next.add(2 * place + 1) = base.wrapping_add(line_feeds.trailing_zeros() as u16);
                        line_feeds &= line_feeds.wrapping_sub(1);
                    }
                    self.next = next;
                    return Some(());
                }
                self.next = next;
            }
        }
        Some(())
    }
}
