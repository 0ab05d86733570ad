// eval-job: this file is not in the published crate.
//! The allocator of the process: mimalloc for what many tasks do at once, the system's for threads that each hold a graph.
//!
//! mimalloc takes a third to two fifths off the processor time of a run, but keeps pages for each thread and size of
//! block, some 175 kB a thread with a graph. Such threads ask for the system's allocator with [`use_system`]. Whoever
//! frees a block asks mimalloc whether it is one of its own, so blocks may go from thread to thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use mimalloc::MiMalloc;

thread_local! {
    /// Whether this thread allocates from the system.
    static ON_SYSTEM: Cell<bool> = const { Cell::new(false) };
}

/// From now on this thread allocates from the system's allocator.
pub fn use_system() {
    ON_SYSTEM.set(true);
}

/// Allocates from mimalloc, or from the system on threads that asked for it.
#[derive(Debug, Default)]
pub struct PerThread;

impl PerThread {
    /// Whether mimalloc gave this block.
    #[inline]
    fn is_mimalloc(block: *const u8) -> bool {
        // SAFETY: it takes any address, and looks it up in mimalloc's own table of pages.
        unsafe { libmimalloc_sys::mi_is_in_heap_region(block.cast()) }
    }
}

// SAFETY: every block is given, resized and freed by the same one of two sound allocators: no page of mimalloc's holds a
// block of the system's, so its table tells them apart for as long as a block lives.
unsafe impl GlobalAlloc for PerThread {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON_SYSTEM.get() { System.alloc(layout) } else { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ON_SYSTEM.get() { System.alloc_zeroed(layout) } else { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if PerThread::is_mimalloc(block) { MiMalloc.dealloc(block, layout) } else { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if PerThread::is_mimalloc(block) { MiMalloc.realloc(block, layout, size) } else { System.realloc(block, layout, size) }
    }
}
