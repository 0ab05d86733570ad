//! Started agents are ended also when this process is killed (`kill -9`, out of memory), by a process of its
//! own.
//!
//! It is this same program, started with the first agent. It reads from a pipe which process groups are alive; when the
//! pipe ends and some are, nobody else is left to end them. A group that has ended is told as ended, so that no other one
//! that is given its number is meant. It holds neither the terminal nor any pipe but that one, has a process group of its
//! own, and goes by another name, so that what kills this process does not kill it too.
//!
//! What has left its group (a daemon, `setsid`) is found by a variable of its environment, on Linux: whatever was started is
//! marked by it. So the watchdog has the last look also where all ended as it should.

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

/// Without process groups there is nothing to watch over.
#[cfg(not(unix))]
pub fn watch() {}

/// Is called where the watchdog can't be started.
pub type Note = dyn Fn(&str) + Send + Sync;

/// The variable by which that is known which this process started, and all that they started.
const MARK: &str = "EVAL_JOB_STARTED_BY";

/// The mark's value, another one for each process; none where there is no /proc to find it in.
static OWN_MARK: OnceLock<Option<String>> = OnceLock::new();

/// What to put into the environment of whatever is started.
pub(super) fn mark() -> Option<(&'static str, &'static str)> {
    PROGRAM.get()?;
    let unique = || fs::read_to_string("/proc/sys/kernel/random/uuid").ok().map(|id| id.trim().to_owned());
    OWN_MARK.get_or_init(unique).as_deref().map(|own| (MARK, own))
}

/// This program and who hears of failures, where there is to be a watchdog.
static PROGRAM: OnceLock<(PathBuf, Box<Note>)> = OnceLock::new();

/// From now on started agents are watched over, and `note` hears where that fails. Only a program that calls [`watch`]
/// where [`is_watchdog`] may ask for it, and [`crate::agent::launch`] where [`crate::agent::is_launcher`].
pub(super) fn enable(note: Box<Note>) {
    if !cfg!(unix) {
        return;
    }
    // What is started by this path is this program even where its file was replaced meanwhile.
    let own = PathBuf::from("/proc/self/exe");
    let found = if own.exists() { Ok(own) } else { std::env::current_exe() };
    match found {
        Ok(program) => {
            let _ = PROGRAM.set((program, note));
        }
        Err(error) => note(&unwatched(&error)),
    }
}

/// This program, where started agents are watched over.
pub(super) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(|(program, _)| program.as_path())
}

fn unwatched(error: &io::Error) -> String {
    format!(
        "the process that ends started agents when eval-job is killed (kill -9) can't be started: {error}; after a kill \
         end them yourself"
    )
}

/// The way to the watchdog: started with the first group. Where it can't be started nobody watches, and that is told once.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    child: Option<Child>,
    has_warned: bool,
}

impl Watchdog {
    pub(super) const fn none() -> Watchdog {
        Watchdog { child: None, has_warned: false }
    }

    /// Starts it where it does not run yet, so that it is there before the next group is.
    pub(super) fn wake(&mut self, groups: &BTreeSet<u32>) {
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

    /// A group was started.
    pub(super) fn add(&mut self, group: u32, groups: &BTreeSet<u32>) {
        if self.send('+', group).is_err() {
            // Somebody has killed it: the next one is told of all.
            self.end();
            self.wake(groups);
        }
    }

    /// Nothing of a group is left.
    pub(super) fn remove(&mut self, group: u32) {
        let _ = self.send('-', group);
    }

    /// Ends it, with whatever it still watches over.
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
