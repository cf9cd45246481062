//! A small array on the stack, for callers that need one every few thousand rows, where a heap allocation is
//! measurable.

/// Calls `with` with `count` elements, on the stack if `count` is at most `ON_STACK`.
pub(crate) fn with_slots<T: Copy, const ON_STACK: usize, R>(
    count: usize,
    filler: T,
    with: impl FnOnce(&mut [T]) -> R,
) -> R {
    if count <= ON_STACK { with(&mut [filler; ON_STACK][..count]) } else { with(&mut vec![filler; count]) }
}
