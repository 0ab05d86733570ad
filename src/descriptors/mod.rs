//! The limit on open files, pipes and connections of this process, and errors for want of one.
//!
//! Invariant: a failure for want of a file descriptor is this process's own, and never the agent's.

use std::io;

/// The hint where none is left.
pub const HINT: &str = "fewer conversations at once (-j), or a higher limit (ulimit -n)";

/// The error message where none is left.
pub const NONE_LEFT: &str = "eval-job had no file descriptor left";

/// Whether an error says that no file descriptor was left, to this process or to the whole system.
pub fn is_exhausted(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(system::is_exhausted)
}

/// Whether no file descriptor is left at this moment.
pub fn are_exhausted() -> bool {
    system::probe().is_err_and(|error| is_exhausted(&error))
}

pub use system::{limit, open_now, raise, restore_limit};

#[cfg(unix)]
mod system {
    use std::fs;
    use std::io;
    use std::sync::OnceLock;

    use rustix::io::Errno;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// The limit is never raised above this: some programs iterate over all numbers that they may use.
    const MOST: u64 = 1 << 20;

    /// The most that macOS grants where it names no limit.
    const MOST_ON_MACOS: u64 = 10_240;

    /// The limits with which this process was started.
    static ORIGINAL: OnceLock<Rlimit> = OnceLock::new();

    /// Raises the limit of this process as far as it may itself.
    pub fn raise() {
        let original = *ORIGINAL.get_or_init(|| getrlimit(Resource::Nofile));
        let Some(current) = original.current else { return };
        let most = original.maximum.map_or(MOST, |maximum| maximum.min(MOST));
        let raised =
            |to: u64| to > current && setrlimit(Resource::Nofile, Rlimit { current: Some(to), ..original }).is_ok();
        let _ = raised(most) || raised(most.min(MOST_ON_MACOS));
    }

    /// The number that may be open at once; `None` where there is no limit.
    pub fn limit() -> Option<u64> {
        getrlimit(Resource::Nofile).current
    }

    /// The number that is open now, where the system tells it.
    pub fn open_now() -> Option<u64> {
        // On Linux it is a link to /proc/self/fd.
        fs::read_dir("/dev/fd").ok().map(|open| open.count() as u64)
    }

    /// Sets the limit of a new process to the one that this process was started with. Where the system can't, it keeps the
    /// raised one.
    pub fn restore_limit(process: u32) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let (Some(original), Some(pid)) =
            (ORIGINAL.get(), i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw))
        {
            // It fails for a program of another user, which then keeps the raised one.
            let _ = rustix::process::prlimit(Some(pid), Resource::Nofile, *original);
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let _ = process;
    }

    pub(super) fn is_exhausted(number: i32) -> bool {
        [Errno::MFILE, Errno::NFILE].iter().any(|errno| errno.raw_os_error() == number)
    }

    pub(super) fn probe() -> io::Result<()> {
        fs::File::open("/dev/null").map(drop)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    /// Does nothing.
    pub fn raise() {}

    /// The limit is not known.
    pub fn limit() -> Option<u64> {
        None
    }

    /// The number is not known.
    pub fn open_now() -> Option<u64> {
        None
    }

    /// Does nothing.
    pub fn restore_limit(_: u32) {}

    pub(super) fn is_exhausted(_: i32) -> bool {
        false
    }

    pub(super) fn probe() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_two_errors_for_want_of_a_descriptor_are_known() {
        for (number, expected) in [(24, true), (23, true), (2, false), (111, false)] {
            assert_eq!(is_exhausted(&io::Error::from_raw_os_error(number)), expected, "{number}");
        }
        assert!(!is_exhausted(&io::Error::other("text")));
    }
}
