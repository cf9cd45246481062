//! An allocator that ends the program with a message and a clean-up when memory is exhausted, rather than with an abort
//! that leaves temporary files behind; and that tracks memory use, so that operators with a memory limit can spill to
//! disk.
//!
//! Any allocation of a program may fail, and all of them count, so both are handled in the global allocator.

mod huge_pages;
#[cfg(feature = "mimalloc")]
pub mod pooled;

pub use huge_pages::keep_freed;

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering::AcqRel, Ordering::Relaxed};

/// The handler that is called when memory is exhausted.
static HANDLER: OnceLock<fn(usize)> = OnceLock::new();

/// Unused memory that is freed for threads that continue while the process ends: the C library itself aborts if it gets
/// none.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// The size of the reserve.
const RESERVED: Layout = Layout::new::<[u64; 1 << 17]>();

/// Sets the handler that [`exhausted`] calls with the requested number of bytes. It must not panic, and should allocate
/// little. Only the first call has an effect.
pub fn when_exhausted(handler: fn(usize)) {
    if HANDLER.set(handler).is_ok() {
        // SAFETY: the layout has a nonzero size. If the allocation fails, there is no reserve.
        RESERVE.store(unsafe { System.alloc(RESERVED) }, std::sync::atomic::Ordering::Release);
    }
}

fn release_reserve() {
    let reserve = RESERVE.swap(ptr::null_mut(), AcqRel);
    if !reserve.is_null() {
        // SAFETY: the memory was allocated by the same allocator with this layout, and the swap makes this thread its
        // only owner.
        unsafe { System.dealloc(reserve, RESERVED) };
    }
}

/// Ends the process because of a failed allocation: calls the handler set with [`when_exhausted`], or else aborts.
pub fn exhausted(layout: Layout) -> ! {
    release_reserve();
    if let Some(handler) = HANDLER.get() {
        handler(layout.size());
    }
    handle_alloc_error(layout)
}

/// The memory in use by all threads, excluding what they have not reported yet.
static IN_USE: AtomicI64 = AtomicI64::new(0);

/// A thread reports this many bytes at a time.
const REPORT_BYTES: i64 = 1 << 16;

thread_local! {
    /// The bytes that this thread has ever allocated minus those it has freed, and the part of it that is not reported
    /// yet.
    static OF_THREAD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

/// Records memory that a thread has allocated or freed. Returns whether the thread reported its memory use now.
fn count(bytes: i64) -> bool {
    let note = |of_thread: &Cell<(i64, i64)>| {
        let (all, mut unreported) = of_thread.get();
        unreported += bytes;
        let reports = unreported.abs() >= REPORT_BYTES;
        if reports {
            IN_USE.fetch_add(unreported, Relaxed);
            unreported = 0;
        }
        of_thread.set((all + bytes, unreported));
        reports
    };
    // A thread that ends frees its last memory without recording it.
    OF_THREAD.try_with(note).unwrap_or(false)
}

/// The bytes that the program has allocated and not freed, accurate to 64 KiB per thread; 0 if it does not use
/// [`Allocator`].
pub fn in_use() -> u64 {
    IN_USE.load(Relaxed).max(0) as u64
}

/// The bytes that this thread has allocated minus those it has freed, including memory allocated by other threads. The
/// increase during an operation is the memory that the operation keeps.
pub fn kept_by_thread() -> i64 {
    OF_THREAD.try_with(Cell::get).map_or(0, |(all, _)| all)
}

/// Prefetches an entry into the cache, if it exists.
#[inline(always)]
pub fn prefetch<T>(entries: &[T], index: usize) {
    if let Some(entry) = entries.get(index) {
        prefetch_address(ptr::from_ref(entry).cast());
    }
}

/// The same for an address, which may be invalid.
#[inline(always)]
pub(crate) fn prefetch_address(address: *const u64) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of the target has the instruction, which changes no values and accepts any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// An allocator for use as `#[global_allocator]`: it never fails, but calls [`exhausted`].
pub struct Allocator<A = System> {
    inner: A,
    /// Whether huge pages are requested, which is right for the system's allocator.
    requests_huge_pages: bool,
}

impl Allocator {
    /// The system's allocator. Large allocations use huge pages, if the system supports them.
    pub const SYSTEM: Self = Self { inner: System, requests_huge_pages: true };
}

impl<A> Allocator<A> {
    /// A different allocator, which handles huge pages itself.
    pub const fn of(inner: A) -> Self {
        Self { inner, requests_huge_pages: false }
    }

    /// Returns the memory, or ends the process if there is none.
    #[inline(always)]
    fn checked(&self, memory: *mut u8, layout: Layout) -> *mut u8 {
        if memory.is_null() {
            exhausted(layout)
        }
        let reported = count(layout.size() as i64);
        if self.requests_huge_pages {
            huge_pages::request(memory, layout.size(), reported);
        }
        memory
    }
}

// SAFETY: everything is delegated to the inner allocator under the caller's promises. Its results are returned
// unchanged, except that null is never returned: `exhausted` neither returns nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the inner allocator requires.
        self.checked(unsafe { self.inner.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the inner allocator requires.
        self.checked(unsafe { self.inner.alloc_zeroed(layout) }, layout)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promises are those that the inner allocator requires; all memory comes from it.
        unsafe { self.inner.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are those that the inner allocator requires; all memory comes from it.
        let moved = unsafe { self.inner.realloc(memory, layout, size) };
        count(-(layout.size() as i64));
        self.checked(moved, Layout::from_size_align(size, layout.align()).unwrap_or(layout))
    }
}
