//! Room for a few values without the heap, which is noticed where it is asked for every few thousand rows.

/// Gives room for so many values to `with`: on the stack, if they are no more than `FEW`.
pub(crate) fn with_slots<T: Copy, const FEW: usize, R>(count: usize, filler: T, with: impl FnOnce(&mut [T]) -> R) -> R {
    if count <= FEW { with(&mut [filler; FEW][..count]) } else { with(&mut vec![filler; count]) }
}
