//! Heaps in huge pages, as far as the system has some: to touch many small ones for the first time, and to find them again, takes
//! longer than much that is done with what is in them.
//!
//! The system gives a huge page only for memory that may be used from its first byte to its last. The allocator of glibc would ask
//! for a little at a time, and does so for much at once here, of which nothing costs anything before it is used.

pub use heaps::keep_freed;

/// Memory of at least so many bytes is a mapping of its own.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 22;

/// The system takes advice for whole pages only, which are larger than 4 KiB on some ARM processors.
#[cfg(target_os = "linux")]
fn start_of_page(address: usize) -> usize {
    address & !(rustix::param::page_size() - 1)
}

/// Asks for huge pages for some memory that was just allocated: if it is large, for the whole mapping that it is, or else, if
/// `is_much` was allocated since this was asked, for the heap that it is in.
#[cfg(target_os = "linux")]
pub(super) fn ask(memory: *mut u8, size: usize, is_much: bool) {
    if size >= LARGE {
        // One mapping of which only a part is so advised counts as several for the system, which then cannot make it larger, so
        // that it would grow by being copied. The allocator of glibc has a word of its own behind the memory.
        advise(memory.addr(), memory.addr() + size + size_of::<usize>());
    } else if is_much {
        heaps::ask(memory);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn ask(_memory: *mut u8, _size: usize, _is_much: bool) {}

/// Asks for huge pages from one address to another, or the end of its page.
#[cfg(target_os = "linux")]
fn advise(start: usize, end: usize) {
    let start = start_of_page(start);
    let place = std::ptr::without_provenance_mut(start);
    // SAFETY: advice changes nothing in memory, whose ever it is; that it may not be taken is all that can go wrong.
    let _ = unsafe { rustix::mm::madvise(place, end - start, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heaps {
    use super::{LARGE, advise, start_of_page};
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
        fn malloc(size: usize) -> *mut c_void;
        fn free(memory: *mut c_void);
        fn sbrk(increment: isize) -> *mut c_void;
    }

    /// The heap of a thread lies within so many bytes, aligned to them.
    pub(super) const HEAP: usize = 1 << 26;

    /// Heaps grow by so many bytes more than are needed. So that of a thread gets all that it may have at once: later the
    /// allocator would extend it by no more than what each allocation needs, and what grows in small steps gets small pages.
    /// A heap of a thread that becomes empty is not given back.
    const AHEAD: usize = HEAP;

    /// Lets the system's allocator keep memory that is freed, for what is allocated next, where it would hand it back to the system
    /// piece by piece: then every batch of rows touches its vectors for the first time. Only what is large goes back. Heaps are
    /// in huge pages from then on.
    ///
    /// To be called before there are other threads; where the allocator is not that of glibc, nothing happens.
    pub fn keep_freed() {
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_TOP_PAD: c_int = -2;
        const M_MMAP_THRESHOLD: c_int = -3;
        /// So many bytes that are free at the end of a heap do go back.
        const MOST_KEPT: c_int = 1 << 28;
        // SAFETY: these are parameters of glibc's `mallopt`, which takes any value for them, or refuses it and changes nothing.
        // What is allocated is freed, and not used.
        unsafe {
            mallopt(M_MMAP_THRESHOLD, LARGE as c_int);
            mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
            mallopt(M_TOP_PAD, AHEAD as c_int);
            // More than there is yet: the heap grows.
            let memory = malloc(LARGE / 2);
            ask(memory.cast());
            free(memory);
        }
    }

    thread_local! {
        /// From where to where huge pages were asked for, for the heap that this thread used last.
        static ASKED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    /// Asks for huge pages from some memory to the end of the heap that it is in.
    #[cold]
    pub(super) fn ask(memory: *mut u8) {
        let start = start_of_page(memory.addr());
        // A thread that ends needs none.
        let _ = ASKED.try_with(|asked| {
            let (first, last) = asked.get();
            if (first..last).contains(&start) {
                return;
            }
            // The first heap ends where the program's data do; others are mappings, far behind.
            // SAFETY: nothing is changed.
            let end_of_first = start_of_page(unsafe { sbrk(0) }.addr());
            let is_in_first = start < end_of_first && end_of_first - start < 1 << 40;
            let end = if is_in_first { end_of_first } else { (start + 1).next_multiple_of(HEAP) };
            advise(start, end);
            asked.set((start, end));
        });
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod heaps {
    /// Where the allocator is that of glibc, memory that is freed is kept, and heaps are in huge pages; here nothing happens.
    pub fn keep_freed() {}

    #[cfg(target_os = "linux")]
    pub(super) fn ask(_memory: *mut u8) {}
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::super::Allocator;
    use super::*;
    use std::alloc::{GlobalAlloc, Layout};

    /// Whether the system takes these bytes for one mapping.
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
        for size in [LARGE, LARGE + 1, LARGE + 4000, 2 * LARGE - 24, 2 * LARGE - 23, 2 * LARGE - 16, 3 * LARGE - 1] {
            let layout = Layout::from_size_align(size, 8).unwrap();
            // SAFETY: the memory is freed as what it was allocated as, or grew to.
            unsafe {
                let memory = Allocator::SYSTEM.alloc(layout);
                assert!(is_one_mapping(memory, size), "{size}");
                let larger = Allocator::SYSTEM.realloc(memory, layout, 2 * size);
                assert!(is_one_mapping(larger, 2 * size), "{size}");
                Allocator::SYSTEM.dealloc(larger, Layout::from_size_align(2 * size, 8).unwrap());
            }
        }
    }

    /// Whether the system was asked for huge pages for that memory.
    fn is_asked_for(memory: *mut u8) -> bool {
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
        for size in [1 << 17, LARGE - 1, LARGE] {
            let allocates = move || {
                let layout = Layout::from_size_align(size, 8).unwrap();
                // SAFETY: the memory is freed as what it was allocated as.
                unsafe {
                    let memory = Allocator::SYSTEM.alloc(layout);
                    assert!(is_asked_for(memory), "{size}");
                    Allocator::SYSTEM.dealloc(memory, layout);
                }
            };
            std::thread::spawn(allocates).join().unwrap();
            allocates();
        }
    }

    /// Where the memory ends that may be written around this place.
    fn end_of_writable(memory: *mut u8) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let writable = maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|flags| flags.contains('w')));
        let mut ranges = writable.filter_map(|line| line.split(' ').next()?.split_once('-'));
        let place = |text: &str| usize::from_str_radix(text, 16).unwrap();
        let found = ranges.find(|(start, end)| (place(start)..place(end)).contains(&memory.addr()));
        place(found.unwrap().1)
    }

    #[test]
    fn heaps_of_threads_are_as_large_as_they_may_be() {
        keep_freed();
        let end = std::thread::spawn(|| {
            let layout = Layout::from_size_align(1 << 17, 8).unwrap();
            // SAFETY: the memory is freed as what it was allocated as.
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
