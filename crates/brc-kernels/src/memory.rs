//! Memory that runs out ends a program in its own words, and not by an abort that leaves its temporary files behind; and
//! how much of it is in use is known, so that who may take no more than so much can write to a file what is too much.
//!
//! Any of a program's many allocations may be the one that fails, and all of them count, so this is dealt with where all of
//! them pass.

mod huge_pages;
#[cfg(feature = "mimalloc")]
pub mod pooled;

pub use huge_pages::keep_freed;

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

/// Takes note of memory that a thread has got or given back. Returns whether the thread told of it now.
fn count(bytes: i64) -> bool {
    let note = |of_thread: &Cell<(i64, i64)>| {
        let (all, mut untold) = of_thread.get();
        untold += bytes;
        let tells = untold.abs() >= TOLD;
        if tells {
            IN_USE.fetch_add(untold, Relaxed);
            untold = 0;
        }
        of_thread.set((all + bytes, untold));
        tells
    };
    // A thread that ends frees the last of its memory without being asked.
    OF_THREAD.try_with(note).unwrap_or(false)
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
    if let Some(entry) = entries.get(index) {
        prefetch_address(ptr::from_ref(entry).cast());
    }
}

/// The same with what is at an address, if there is anything.
#[inline(always)]
pub(crate) fn prefetch_address(address: *const u64) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of the target has the instruction, which changes no values and may be given any address.
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

/// An allocator for a program to use as its `#[global_allocator]`: it never fails, but calls [`exhausted`].
pub struct Allocator<A = System> {
    inner: A,
    /// Whether huge pages are asked for, which is right for the system's allocator.
    asks: bool,
}

impl Allocator {
    /// That of the system. What is large lies in huge pages, as far as the system has some.
    pub const SYSTEM: Self = Self { inner: System, asks: true };
}

impl<A> Allocator<A> {
    /// Another one, which sees to huge pages by itself.
    pub const fn of(inner: A) -> Self {
        Self { inner, asks: false }
    }

    /// The memory, if there is any.
    #[inline(always)]
    fn checked(&self, memory: *mut u8, layout: Layout) -> *mut u8 {
        if memory.is_null() {
            exhausted(layout)
        }
        let told = count(layout.size() as i64);
        if self.asks {
            huge_pages::ask(memory, layout.size(), told);
        }
        memory
    }
}

// SAFETY: all is left to the other allocator, with the caller's promises as they are. What it gives back is returned as it is; a
// null pointer is never returned, and `exhausted` neither returns nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the other allocator asks for.
        self.checked(unsafe { self.inner.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the other allocator asks for.
        self.checked(unsafe { self.inner.alloc_zeroed(layout) }, layout)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promises are those that the other allocator asks for, which all memory comes from.
        unsafe { self.inner.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are those that the other allocator asks for, which all memory comes from.
        let moved = unsafe { self.inner.realloc(memory, layout, size) };
        count(-(layout.size() as i64));
        self.checked(moved, Layout::from_size_align(size, layout.align()).unwrap_or(layout))
    }
}
