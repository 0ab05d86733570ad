// eval-job: this file is not in the published crate.
//! Bounds on what one piece of work may hold in memory, and a way to stop it from outside.
//!
//! [`Counting`] is a global allocator that counts, for each thread, the bytes that the thread has allocated and not
//! freed. [`bounded`] runs work on the current thread; the engine calls [`check`] wherever it takes a step and [`room`]
//! before it makes something large. Past the bound, or when it was told to stop, they leave the work by unwinding (as a
//! panic does, but without its message), which no code in between can take for an ordinary error and go on.
//!
//! Without that allocator nothing is counted, and only stopping works.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

thread_local! {
    /// Bytes that this thread has allocated and not freed. Less than zero where it frees what others allocated.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    /// Above this the next check looks closer.
    static CEILING: Cell<isize> = const { Cell::new(isize::MAX) };
    /// So many checks are left until the next one looks whether to stop.
    static UNTIL_LOOK: Cell<u32> = const { Cell::new(0) };
    static WAS_LARGE: Cell<bool> = const { Cell::new(false) };
    static WORK: RefCell<Option<Work>> = const { RefCell::new(None) };
}

/// How many checks go by between two looks at the stop signal.
const LOOK_EVERY: u32 = 64;

/// Work that takes more than this part of its bound does so alone in the process: the rest waits.
const ALONE: usize = 8;

/// A global allocator that counts what each thread holds.
#[derive(Debug, Default)]
pub struct Counting<A = System>(pub A);

fn count(bytes: isize) {
    // The cell needs no set-up and no destructor, so that it can be reached whenever anything is allocated.
    let _ = LIVE.try_with(|live| live.set(live.get().wrapping_add(bytes)));
}

// SAFETY: everything is handed on to the wrapped allocator as it came; counting neither allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        self.0.alloc(layout)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        self.0.dealloc(pointer, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        self.0.alloc_zeroed(layout)
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        self.0.realloc(pointer, layout, size)
    }
}

/// What work is held to.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// The most bytes that it may hold at a time.
    pub memory: usize,
    /// Stops the work at its next step, and says what it waits for.
    pub signal: Arc<Signal>,
}

/// What work and the one who waits for it tell each other.
#[derive(Debug, Default)]
pub struct Signal {
    /// When this is set, the work stops at its next step.
    pub stop: AtomicBool,
    /// Set while the work waits until other large work is done.
    pub waits: AtomicBool,
}

/// Why work did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// It would have held more bytes than it may.
    Memory,
    /// It was told to stop.
    Stopped,
}

struct Work {
    bounds: Bounds,
    /// What the thread held when the work began.
    base: isize,
    exceeded: Option<Exceeded>,
    alone: Option<Alone>,
}

/// What is thrown: only [`bounded`] catches it.
struct Left;

/// Runs work on this thread within bounds. Inside of other bounded work it is part of that.
///
/// What it held is dropped when it did not come to its end; a transaction that it worked in must be rolled back.
pub fn bounded<T>(bounds: Bounds, work: impl FnOnce() -> T) -> Result<T, Exceeded> {
    if WORK.with_borrow(Option::is_some) {
        return Ok(work());
    }
    settle_allocator();
    let base = LIVE.get();
    let alone_from = bounds.memory / ALONE;
    WORK.set(Some(Work { bounds, base, exceeded: None, alone: None }));
    CEILING.set(base.saturating_add_unsigned(alone_from));
    UNTIL_LOOK.set(0);
    let done = catch_unwind(AssertUnwindSafe(work));
    CEILING.set(isize::MAX);
    let Some(Work { exceeded, alone, .. }) = WORK.take() else { unreachable!("set above, and taken only here") };
    WAS_LARGE.set(alone.is_some());
    let done = match (done, exceeded) {
        (Ok(done), None) => Ok(done),
        (Ok(done), Some(exceeded)) => {
            drop(done);
            Err(exceeded)
        }
        (Err(_), Some(exceeded)) => Err(exceeded),
        (Err(panic), None) => {
            drop(alone);
            resume_unwind(panic)
        }
    };
    drop(alone);
    done
}

/// Whether the last bounded work on this thread took a good part of its memory.
pub fn was_large() -> bool {
    WAS_LARGE.get()
}

/// The bytes that the bounded work on this thread holds now.
pub fn held() -> usize {
    let base = WORK.with_borrow(|work| work.as_ref().map(|work| work.base));
    base.map_or(0, |base| usize::try_from(LIVE.get().saturating_sub(base)).unwrap_or(0))
}

/// A step of work: leaves it when it holds too much or is to stop.
#[inline]
pub fn check() {
    let left = UNTIL_LOOK.get();
    if left == 0 || LIVE.get() > CEILING.get() {
        look(0);
    } else {
        UNTIL_LOOK.set(left - 1);
    }
}

/// Leaves the work unless it may hold so many bytes more.
#[inline]
pub fn room(bytes: usize) {
    if LIVE.get().saturating_add_unsigned(bytes) > CEILING.get() {
        look(bytes);
    }
}

/// Room for so many values, and what each holds besides.
#[inline]
pub(crate) fn room_for(values: usize, besides: usize) {
    room(values.saturating_mul(std::mem::size_of::<crate::types::Value>()).saturating_add(besides));
}

/// Room for what is read out of so many stored bytes: the values are larger than their text, by this much when they are
/// small numbers.
pub(crate) fn room_to_read(bytes: usize) {
    const SMALL: usize = 1 << 20;
    const GROWTH: usize = 16;
    if bytes > SMALL {
        room(bytes.saturating_mul(GROWTH));
    }
}

/// Stored bytes, with room for what is read out of them.
pub(crate) fn read(bytes: &[u8]) -> &[u8] {
    check();
    room_to_read(bytes.len());
    bytes
}

/// For SQLite, which is not to be unwound: whether to give up what it is doing.
pub(crate) fn is_over() -> bool {
    WORK.with_borrow_mut(|work| match work {
        Some(work) if work.exceeded.is_some() => true,
        Some(work) if work.bounds.signal.stop.load(Ordering::Relaxed) => {
            work.exceeded = Some(Exceeded::Stopped);
            true
        }
        _ => false,
    })
}

#[cold]
fn look(more: usize) {
    UNTIL_LOOK.set(LOOK_EVERY);
    let verdict = WORK.with_borrow_mut(|work| {
        let work = work.as_mut()?;
        if work.exceeded.is_some() && std::thread::panicking() {
            return None;
        }
        let exceeded = work.look(more)?;
        work.exceeded = Some(exceeded);
        // What is dropped on the way out takes steps, too.
        CEILING.set(isize::MAX);
        Some(())
    });
    if verdict.is_some() {
        resume_unwind(Box::new(Left));
    }
}

impl Work {
    fn look(&mut self, more: usize) -> Option<Exceeded> {
        // SQLite may have given up before.
        if self.exceeded.is_some() {
            return self.exceeded;
        }
        if self.bounds.signal.stop.load(Ordering::Relaxed) {
            return Some(Exceeded::Stopped);
        }
        let used = LIVE.get().saturating_add_unsigned(more).saturating_sub(self.base);
        if used > isize::try_from(self.bounds.memory).unwrap_or(isize::MAX) {
            return Some(Exceeded::Memory);
        }
        if self.alone.is_none() && LIVE.get().saturating_add_unsigned(more) > CEILING.get() {
            let Some(alone) = Alone::wait(&self.bounds.signal) else { return Some(Exceeded::Stopped) };
            self.alone = Some(alone);
            CEILING.set(self.base.saturating_add_unsigned(self.bounds.memory));
        }
        None
    }
}

static TAKEN: Mutex<bool> = Mutex::new(false);
static FREE: Condvar = Condvar::new();

/// Held by the one piece of large work in this process. Whoever holds it waits for nobody else.
struct Alone(());

impl Alone {
    /// `None` when the work was told to stop meanwhile.
    fn wait(signal: &Signal) -> Option<Alone> {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            signal.waits.store(true, Ordering::Relaxed);
            if signal.stop.load(Ordering::Relaxed) {
                return None;
            }
            let (again, _) =
                FREE.wait_timeout(taken, Duration::from_millis(20)).unwrap_or_else(PoisonError::into_inner);
            taken = again;
        }
        *taken = true;
        signal.waits.store(false, Ordering::Relaxed);
        Some(Alone(()))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = false;
        FREE.notify_one();
    }
}

/// Lets glibc give memory back by itself, as it does at first: it raises these limits when large blocks come and go, and
/// then every thread keeps tens of megabytes. Trimming on request leaves the end of a thread's own arena as it is.
fn settle_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        // SAFETY: both are plain settings, which may be changed at any time and from any thread.
        ONCE.call_once(|| unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 4 << 20);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 4 << 20);
        });
    }
}

/// Gives freed memory back to the system, where the allocator would keep it: glibc's keeps what lies below anything
/// that is still in use.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it has no preconditions and is safe to call from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
    // It joins what is free at the end of this thread's own arena and leaves it there; freeing a block of this size lets
    // go of it.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(128 << 10)));
}
