//! mimalloc, for what reads table after table in a process that belongs to others: their allocator is not to be changed, and that
//! of glibc gives large memory back as soon as it is freed, so that every batch of rows touches all of its pages for the first
//! time. This one keeps them, and in huge pages, as far as the system has some.

pub use mimalloc::MiMalloc;

/// The number of `mi_option_purge_delay`, as mimalloc's documentation of its options has it.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Lets mimalloc keep memory that was freed for a second, in place of some milliseconds: somebody who asks one question asks the
/// next one soon.
pub fn keep_freed() {
    // SAFETY: an option of that number has any value; it is stored atomically.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 1000) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Allocator, kept_by_thread};
    use std::alloc::{GlobalAlloc, Layout};

    #[test]
    fn memory_counts_and_may_grow() {
        keep_freed();
        // SAFETY: there is such an option.
        assert_eq!(unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) }, 1000);
        let (allocator, layout) = (Allocator::of(MiMalloc), Layout::from_size_align(1 << 20, 64).unwrap());
        let before = kept_by_thread();
        // SAFETY: the memory is freed as what it grew to.
        unsafe {
            let memory = allocator.alloc(layout);
            memory.write_bytes(7, 1 << 20);
            let larger = allocator.realloc(memory, layout, 3 << 20);
            assert_eq!(larger.add((1 << 20) - 1).read(), 7);
            assert!(larger.addr().is_multiple_of(64) && kept_by_thread() == before + (3 << 20));
            allocator.dealloc(larger, Layout::from_size_align(3 << 20, 64).unwrap());
        }
    }
}
