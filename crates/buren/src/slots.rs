//! A small array on the stack, for callers that need one every few thousand rows, where a heap allocation is
//! measurable.

/// Calls `with` with `count` elements, on the stack if `count` is at most `ON_STACK`.
pub(crate) fn with_slots<T: Copy, const FEW: usize, R>(count: usize, filler: T, with: impl FnOnce(&mut [T]) -> R) -> R {
    if count <= FEW { with(&mut [filler; FEW][..count]) } else { with(&mut vec![filler; count]) }
}
