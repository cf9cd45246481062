//! mimalloc, for libraries that read table after table in the process of another program, whose allocator must not be
//! reconfigured. glibc's allocator returns large memory to the system when it is freed, so that every batch of rows
//! would touch fresh pages. This one keeps it, in huge pages if the system supports them.

pub use mimalloc::MiMalloc;

/// The number of `mi_option_purge_delay`, from mimalloc's documentation of its options.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Configures mimalloc to keep freed memory for a second rather than some milliseconds: a query is often soon followed
/// by the next one.
pub fn keep_freed() {
    // SAFETY: the option accepts any value, and is stored atomically.
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
        // SAFETY: the option exists.
        assert_eq!(unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) }, 1000);
        let (allocator, layout) = (Allocator::of(MiMalloc), Layout::from_size_align(1 << 20, 64).unwrap());
        let before = kept_by_thread();
        // SAFETY: the memory is freed with the layout that it was reallocated with.
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
