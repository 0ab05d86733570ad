//! A watchdog process that ends started agents when this process is killed (`kill -9`, out of memory).
//!
//! It is this same program, started with the first agent. It reads the live process groups from a pipe; when the pipe is closed
//! while groups are alive, it ends them. Groups that have ended are reported too, since their numbers can be reused. It holds
//! neither the terminal nor any other pipe, has a process group of its own, and another name, so that what kills this process
//! does not kill it too.
//!
//! On Linux, processes that have left their group (a daemon, `setsid`) are found by a variable in their environment, with which
//! every started process is marked. So the watchdog also searches for them where all groups have ended.

#[cfg(unix)]
mod process;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

#[cfg(unix)]
pub use process::watch;

/// The argument that makes this program the watchdog.
const ARGUMENT: &str = "watch-over-started-agents";

/// Whether these arguments make this process a watchdog.
pub fn is_watchdog(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, only] if only == ARGUMENT)
}

/// Does nothing without process groups.
#[cfg(not(unix))]
pub fn watch() {}

/// Called with a message where the watchdog can't be started.
pub type OnNote = dyn Fn(&str) + Send + Sync;

/// The variable that marks the processes that this one started, directly or indirectly.
const MARK: &str = "EVAL_JOB_STARTED_BY";

/// The mark's value, unique to this process; `None` where there is no /proc to search.
static OWN_MARK: OnceLock<Option<String>> = OnceLock::new();

/// The variable for the environment of a process that is started.
pub(super) fn mark() -> Option<(&'static str, &'static str)> {
    PROGRAM.get()?;
    let unique = || fs::read_to_string("/proc/sys/kernel/random/uuid").ok().map(|id| id.trim().to_owned());
    OWN_MARK.get_or_init(unique).as_deref().map(|own| (MARK, own))
}

/// The path of this program and the callback for failures, if there is to be a watchdog.
static PROGRAM: OnceLock<(PathBuf, Box<OnNote>)> = OnceLock::new();

/// Enables the watchdog; `note` is called where it can't be started. Only for a program that calls [`watch`] where
/// [`is_watchdog`], and [`crate::agent::launch`] where [`crate::agent::is_launcher`].
pub(super) fn enable(note: Box<OnNote>) {
    if !cfg!(unix) {
        return;
    }
    // This path starts this program even if its file was replaced meanwhile.
    let own = PathBuf::from("/proc/self/exe");
    let found = if own.exists() { Ok(own) } else { std::env::current_exe() };
    match found {
        Ok(program) => {
            let _ = PROGRAM.set((program, note));
        }
        Err(error) => note(&unwatched(&error)),
    }
}

/// The path of this program, if the watchdog is enabled.
pub(super) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(|(program, _)| program.as_path())
}

fn unwatched(error: &io::Error) -> String {
    format!(
        "the process that ends started agents when eval-job is killed (kill -9) can't be started: {error}; after a kill \
         end them yourself"
    )
}

/// The connection to the watchdog, which is started with the first group. A failure to start it is reported once.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    child: Option<Child>,
    has_warned: bool,
}

impl Watchdog {
    pub(super) const fn none() -> Watchdog {
        Watchdog { child: None, has_warned: false }
    }

    /// Starts it, unless it runs already: it must run before the next group is started.
    pub(super) fn ensure_started(&mut self, groups: &BTreeSet<u32>) {
        let Some((program, note)) = PROGRAM.get().filter(|_| self.child.is_none()) else { return };
        let mut command = Command::new(program);
        #[cfg(unix)]
        command.arg0("agent-watchdog").process_group(0);
        command.arg(ARGUMENT).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => {
                self.child = Some(child);
                if let Some((_, mark)) = mark() {
                    let _ = self.write(&format!("={mark}\n"));
                }
            }
            Err(error) if !self.has_warned => {
                self.has_warned = true;
                note(&unwatched(&error));
            }
            Err(_) => {}
        }
        for group in groups {
            let _ = self.send('+', *group);
        }
    }

    /// Reports that a group was started.
    pub(super) fn add(&mut self, group: u32, groups: &BTreeSet<u32>) {
        if self.send('+', group).is_err() {
            // It was killed: the next one gets all groups.
            self.end();
            self.ensure_started(groups);
        }
    }

    /// Reports that a group has ended.
    pub(super) fn remove(&mut self, group: u32) {
        let _ = self.send('-', group);
    }

    /// Ends it, and the groups that are still alive.
    pub(super) fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    fn send(&mut self, what: char, group: u32) -> io::Result<()> {
        self.write(&format!("{what}{group}\n"))
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
            Some(pipe) => pipe.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }
}
