//! Memory that runs out ends a program in its own words, and not by an abort that leaves its temporary files behind.
//!
//! Any of a program's many allocations may be the one that fails, so this is dealt with where all of them pass.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::AcqRel};

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

/// The system's allocator, for a program to use as its `#[global_allocator]`: it never fails, but calls [`exhausted`].
pub struct Allocator;

/// The memory, if there is any.
fn checked(memory: *mut u8, layout: Layout) -> *mut u8 {
    if memory.is_null() { exhausted(layout) } else { memory }
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
        // SAFETY: the caller's promises are those of `System`, which all memory comes from.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System`, which all memory comes from.
        let moved = unsafe { System.realloc(memory, layout, size) };
        checked(moved, Layout::from_size_align(size, layout.align()).unwrap_or(layout))
    }
}
