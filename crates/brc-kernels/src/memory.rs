//! Memory that runs out ends a program in its own words, and not by an abort that leaves its temporary files behind; and
//! how much of it is in use is known, so that who may take no more than so much can write to a file what is too much.
//!
//! Any of a program's many allocations may be the one that fails, and all of them count, so this is dealt with where all of
//! them pass.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering::AcqRel, Ordering::Relaxed};

/// What is done when memory has run out.
static LAST_WORDS: OnceLock<fn(usize)> = OnceLock::new();

/// Memory that nobody uses, for those threads that go on while the process ends: where the C library itself gets none, it
/// aborts.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// What the reserve is.
const RESERVED: Layout = Layout::new::<[u64; 1 << 17]>();

/// Sets what [`exhausted`] does first; it is given the bytes that were asked for. It must not panic, and should ask for
/// little memory itself. Only the first call counts.
pub fn when_exhausted(last_words: fn(usize)) {
    if LAST_WORDS.set(last_words).is_ok() {
        // SAFETY: the layout is not of no bytes. Where there is none, there is no reserve.
        RESERVE.store(unsafe { System.alloc(RESERVED) }, std::sync::atomic::Ordering::Release);
    }
}

fn release_reserve() {
    let reserve = RESERVE.swap(ptr::null_mut(), AcqRel);
    if !reserve.is_null() {
        // SAFETY: it was allocated by the same allocator with this layout, and whoever swaps it out is the only one to have it.
        unsafe { System.dealloc(reserve, RESERVED) };
    }
}

/// Ends the process for lack of so many bytes: by what was set with [`when_exhausted`], or else by an abort.
pub fn exhausted(layout: Layout) -> ! {
    release_reserve();
    if let Some(last_words) = LAST_WORDS.get() {
        last_words(layout.size());
    }
    handle_alloc_error(layout)
}

/// What all threads have in use, but for what they have not told yet.
static IN_USE: AtomicI64 = AtomicI64::new(0);

/// A thread tells of so many bytes at a time.
const TOLD: i64 = 1 << 16;

thread_local! {
    /// What this thread has allocated less what it has freed, ever, and how much of that it has not told.
    static OF_THREAD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

/// Takes note of memory that a thread has got or given back.
fn count(bytes: i64) {
    // A thread that ends frees the last of its memory without being asked.
    let _ = OF_THREAD.try_with(|of_thread| {
        let (all, mut untold) = of_thread.get();
        untold += bytes;
        if untold.abs() >= TOLD {
            IN_USE.fetch_add(untold, Relaxed);
            untold = 0;
        }
        of_thread.set((all + bytes, untold));
    });
}

/// The bytes that the program has allocated and not freed, to within 64 KiB for each thread; 0 if it does not use
/// [`Allocator`].
pub fn in_use() -> u64 {
    IN_USE.load(Relaxed).max(0) as u64
}

/// The bytes that this thread has allocated less those that it has freed, whoever allocated them: by how much that grows is
/// what a piece of work keeps.
pub fn kept_by_thread() -> i64 {
    OF_THREAD.try_with(Cell::get).map_or(0, |(all, _)| all)
}

/// Starts to bring an entry into the cache, if it is there, and does not wait for it.
#[inline(always)]
pub fn prefetch<T>(entries: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = entries.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of the target has the instruction, which changes no values; the entry is there.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ptr::from_ref(entry).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (entries, index);
}

/// The system's allocator, for a program to use as its `#[global_allocator]`: it never fails, but calls [`exhausted`]. What
/// is large lies in huge pages, as far as the system has some.
pub struct Allocator;

/// Memory of at least so many bytes is asked for in huge pages: to touch many small ones for the first time, and to find
/// them again, takes longer than much that is done with what is in them.
const LARGE: usize = 1 << 22;

/// Asks for huge pages for some memory that was just allocated: for the whole mapping that it is. One of which only a part is
/// so advised counts as several for the system, which then cannot make it larger, so that it would grow by being copied.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(memory: *mut u8, size: usize) {
    /// No page is smaller.
    const PAGE: usize = 1 << 12;
    if size < LARGE {
        return;
    }
    let before = memory.addr() % PAGE;
    // The allocator of glibc has a word of its own behind the memory.
    let length = (before + size + size_of::<usize>()).next_multiple_of(PAGE);
    // SAFETY: advice changes nothing in memory, whose ever it is; that it may not be taken is all that can go wrong.
    let _ =
        unsafe { rustix::mm::madvise(memory.wrapping_sub(before).cast(), length, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_memory: *mut u8, _size: usize) {}

/// Lets the system's allocator keep memory that is freed, for what is allocated next, where it would hand it back to the system
/// piece by piece: then every batch of rows touches its vectors for the first time. Only what is large goes back.
///
/// To be called before there are other threads; where the allocator is not that of glibc, nothing happens.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_freed() {
    use std::ffi::c_int;
    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }
    const M_TRIM_THRESHOLD: c_int = -1;
    const M_MMAP_THRESHOLD: c_int = -3;
    /// So many bytes that are free at the end of a heap do go back.
    const MOST_KEPT: c_int = 1 << 28;
    // SAFETY: these are parameters of glibc's `mallopt`, which takes any value for them, or refuses it and changes nothing.
    unsafe {
        mallopt(M_MMAP_THRESHOLD, LARGE as c_int);
        mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
    }
}

/// As above.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_freed() {}

/// The memory, if there is any.
fn checked(memory: *mut u8, layout: Layout) -> *mut u8 {
    if memory.is_null() {
        exhausted(layout)
    }
    count(layout.size() as i64);
    ask_for_huge_pages(memory, layout.size());
    memory
}

// SAFETY: all is left to the system's allocator, with the caller's promises as they are. What it gives back is returned
// as it is; a null pointer is never returned, and `exhausted` neither returns nor unwinds.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System`.
        checked(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System`.
        checked(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promises are those of `System`, which all memory comes from.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System`, which all memory comes from.
        let moved = unsafe { System.realloc(memory, layout, size) };
        count(-(layout.size() as i64));
        checked(moved, Layout::from_size_align(size, layout.align()).unwrap_or(layout))
    }
}

#[cfg(test)]
mod tests {
    /// Whether the system takes these bytes for one mapping.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn is_one_mapping(memory: *mut u8, size: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut ranges = maps.lines().filter_map(|line| line.split(' ').next()?.split_once('-'));
        ranges.any(|(start, end)| {
            let [start, end] = [start, end].map(|place| usize::from_str_radix(place, 16).unwrap());
            start < memory.addr() && memory.addr() + size < end
        })
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn large_memory_can_grow_where_it_is() {
        use super::*;
        keep_freed();
        for size in [LARGE, LARGE + 1, LARGE + 4000, 2 * LARGE - 24, 2 * LARGE - 23, 2 * LARGE - 16, 3 * LARGE - 1] {
            let layout = Layout::from_size_align(size, 8).unwrap();
            // SAFETY: the memory is freed as what it was allocated as, or grew to.
            unsafe {
                let memory = Allocator.alloc(layout);
                assert!(is_one_mapping(memory, size), "{size}");
                let larger = Allocator.realloc(memory, layout, 2 * size);
                assert!(is_one_mapping(larger, 2 * size), "{size}");
                Allocator.dealloc(larger, Layout::from_size_align(2 * size, 8).unwrap());
            }
        }
    }
}
