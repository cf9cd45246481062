//! Heaps in huge pages, if the system supports them: first touches of many small pages and TLB misses can take longer
//! than processing their contents.
//!
//! The system provides a huge page only for a range that may be used entirely. glibc's allocator would extend its heaps
//! in small steps; here it is configured to use large steps, whose memory costs nothing until it is used.

pub use heaps::keep_freed;

/// Allocations of at least this many bytes are separate mappings.
#[cfg(target_os = "linux")]
const MAPPED_BYTES: usize = 1 << 22;

/// The system takes advice for whole pages only, which are larger than 4 KiB on some ARM processors.
#[cfg(target_os = "linux")]
fn start_of_page(address: usize) -> usize {
    address & !(rustix::param::page_size() - 1)
}

/// Requests huge pages for newly allocated memory: for the whole mapping if it is large, or else for its heap, if
/// `report` is set: the thread has just reported its use.
#[cfg(target_os = "linux")]
pub(super) fn request(memory: *mut u8, size: usize, report: bool) {
    if size >= MAPPED_BYTES {
        // A mapping of which only a part has this advice is split into several by the system, which then cannot extend
        // it, so that growing would copy. glibc's allocator stores one word after the memory.
        advise(memory.addr(), memory.addr() + size + size_of::<usize>());
    } else if report {
        heaps::request(memory);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn request(_memory: *mut u8, _size: usize, _report: bool) {}

/// Requests huge pages from `start` to the end of the page that contains `end`.
#[cfg(target_os = "linux")]
fn advise(start: usize, end: usize) {
    let start = start_of_page(start);
    let place = std::ptr::without_provenance_mut(start);
    // SAFETY: the advice does not change the contents of memory; if it is rejected, nothing happens.
    let _ = unsafe { rustix::mm::madvise(place, end - start, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heaps {
    use super::{MAPPED_BYTES, advise, start_of_page};
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
        fn malloc(size: usize) -> *mut c_void;
        fn free(memory: *mut c_void);
        fn sbrk(increment: isize) -> *mut c_void;
    }

    /// The heap of a thread is within this many bytes, aligned to them.
    pub(super) const HEAP: usize = 1 << 26;

    /// The number of extra bytes by which heaps grow. A thread's heap gets its maximum size at once: later, the
    /// allocator would extend it only by what each allocation needs, and memory that grows in small steps gets small
    /// pages. An empty heap of a thread is not returned to the system.
    const HEAP_INCREMENT: usize = HEAP;

    /// Configures the system's allocator to keep freed memory for subsequent allocations, where it would return it to
    /// the system in small steps, so that every batch of rows would touch fresh pages. Only large allocations are
    /// returned. From then on, heaps use huge pages.
    ///
    /// Must be called before there are other threads; has no effect if the allocator is not glibc's.
    pub fn keep_freed() {
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_TOP_PAD: c_int = -2;
        const M_MMAP_THRESHOLD: c_int = -3;
        /// Heaps with more free bytes than this at their end do shrink.
        const MAX_FREE_BYTES: c_int = 1 << 28;
        // SAFETY: these are parameters of glibc's `mallopt`, which accepts any value for them, or rejects it and
        // changes nothing. The allocated memory is freed and not used.
        unsafe {
            mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES as c_int);
            mallopt(M_TRIM_THRESHOLD, MAX_FREE_BYTES);
            mallopt(M_TOP_PAD, HEAP_INCREMENT as c_int);
            // More than is free: the heap grows.
            let memory = malloc(MAPPED_BYTES / 2);
            request(memory.cast());
            free(memory);
        }
    }

    thread_local! {
        /// The address range of the last request for huge pages by this thread.
        static REQUESTED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    /// Requests huge pages from `memory` to the end of its heap.
    #[cold]
    pub(super) fn request(memory: *mut u8) {
        let start = start_of_page(memory.addr());
        // A thread that ends needs none.
        let _ = REQUESTED.try_with(|requested| {
            let (first, last) = requested.get();
            if (first..last).contains(&start) {
                return;
            }
            // The first heap ends at the program break; other heaps are mappings at far higher addresses.
            // SAFETY: an increment of 0 changes nothing.
            let end_of_first = start_of_page(unsafe { sbrk(0) }.addr());
            let is_in_first = start < end_of_first && end_of_first - start < 1 << 40;
            let end = if is_in_first { end_of_first } else { (start + 1).next_multiple_of(HEAP) };
            advise(start, end);
            requested.set((start, end));
        });
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod heaps {
    /// Does nothing, because the allocator is not glibc's.
    pub fn keep_freed() {}

    #[cfg(target_os = "linux")]
    pub(super) fn request(_memory: *mut u8) {}
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::super::Allocator;
    use super::*;
    use std::alloc::{GlobalAlloc, Layout};

    /// Whether the system has these bytes in one mapping.
    fn is_one_mapping(memory: *mut u8, size: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut ranges = maps.lines().filter_map(|line| line.split(' ').next()?.split_once('-'));
        ranges.any(|(start, end)| {
            let [start, end] = [start, end].map(|place| usize::from_str_radix(place, 16).unwrap());
            start < memory.addr() && memory.addr() + size < end
        })
    }

    #[test]
    fn large_memory_can_grow_where_it_is() {
        keep_freed();
        for size in [
            MAPPED_BYTES,
            MAPPED_BYTES + 1,
            MAPPED_BYTES + 4000,
            2 * MAPPED_BYTES - 24,
            2 * MAPPED_BYTES - 23,
            2 * MAPPED_BYTES - 16,
            3 * MAPPED_BYTES - 1,
        ] {
            let layout = Layout::from_size_align(size, 8).unwrap();
            // SAFETY: the memory is freed with the layout that it was allocated or reallocated with.
            unsafe {
                let memory = Allocator::SYSTEM.alloc(layout);
                assert!(is_one_mapping(memory, size), "{size}");
                let larger = Allocator::SYSTEM.realloc(memory, layout, 2 * size);
                assert!(is_one_mapping(larger, 2 * size), "{size}");
                Allocator::SYSTEM.dealloc(larger, Layout::from_size_align(2 * size, 8).unwrap());
            }
        }
    }

    /// Whether huge pages were requested for this memory.
    fn is_requested(memory: *mut u8) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_in_it = false;
        maps.lines().any(|line| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.map(|(start, end)| [start, end].map(|place| usize::from_str_radix(place, 16)));
            if let Some([Ok(start), Ok(end)]) = ends {
                is_in_it = (start..end).contains(&memory.addr());
            }
            is_in_it && line.starts_with("VmFlags:") && line.split(' ').any(|flag| flag == "hg")
        })
    }

    #[test]
    fn heaps_of_threads_are_in_huge_pages() {
        if !std::fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap() {
            return;
        }
        keep_freed();
        for size in [1 << 17, MAPPED_BYTES - 1, MAPPED_BYTES] {
            let allocates = move || {
                let layout = Layout::from_size_align(size, 8).unwrap();
                // SAFETY: the memory is freed with the layout that it was allocated with.
                unsafe {
                    let memory = Allocator::SYSTEM.alloc(layout);
                    assert!(is_requested(memory), "{size}");
                    Allocator::SYSTEM.dealloc(memory, layout);
                }
            };
            std::thread::spawn(allocates).join().unwrap();
            allocates();
        }
    }

    /// The end of the writable range that contains this address.
    fn end_of_writable(memory: *mut u8) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let writable = maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|flags| flags.contains('w')));
        let mut ranges = writable.filter_map(|line| line.split(' ').next()?.split_once('-'));
        let place = |text: &str| usize::from_str_radix(text, 16).unwrap();
        let found = ranges.find(|(start, end)| (place(start)..place(end)).contains(&memory.addr()));
        place(found.unwrap().1)
    }

    #[test]
    fn thread_heaps_have_their_maximum_size() {
        keep_freed();
        let end = std::thread::spawn(|| {
            let layout = Layout::from_size_align(1 << 17, 8).unwrap();
            // SAFETY: the memory is freed with the layout that it was allocated with.
            unsafe {
                let memory = Allocator::SYSTEM.alloc(layout);
                let end = end_of_writable(memory);
                Allocator::SYSTEM.dealloc(memory, layout);
                end
            }
        });
        assert!(end.join().unwrap().is_multiple_of(heaps::HEAP));
    }
}
