//! What is left of started agents when this process is killed without a word (`kill -9`, out of memory): a process of its
//! own ends it.
//!
//! It is this same program, started with the first agent. It reads from a pipe which process groups are alive; when the
//! pipe ends and some are, nobody else is left to end them. A group that has ended is told as ended, so that no other one
//! that is given its number is meant. It holds neither the terminal nor any pipe but that one, has a process group of its
//! own, and goes by another name, so that what kills this process does not kill it too.

use std::ffi::OsString;

/// The argument by which this program is told to be the watchdog.
const ARGUMENT: &str = "watch-over-started-agents";

/// Whether these arguments make this process a watchdog.
pub fn is_watchdog(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, only] if only == ARGUMENT)
}

/// Hears where the watchdog can't be started.
pub type Note = dyn Fn(&str) + Send + Sync;

pub use system::watch;
pub(super) use system::{Watchdog, enable, program};

#[cfg(unix)]
mod system {
    use std::collections::{BTreeSet, HashSet};
    use std::io::{self, BufRead, Write};
    use std::os::unix::process::CommandExt;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::OnceLock;
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

    /// How long groups may take to end when they are asked to; then they are killed.
    const PATIENCE: Duration = Duration::from_secs(2);

    const PAUSE: Duration = Duration::from_millis(20);

    use super::Note;

    /// This program and who hears of failures, where there is to be a watchdog.
    static PROGRAM: OnceLock<(PathBuf, Box<Note>)> = OnceLock::new();

    /// From now on started agents are watched over, and `note` hears where that fails. Only a program that calls [`watch`]
    /// where [`super::is_watchdog`] may ask for it, and [`crate::agent::launch`] where [`crate::agent::is_launcher`].
    pub fn enable(note: Box<Note>) {
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
    pub fn program() -> Option<&'static Path> {
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
    pub struct Watchdog {
        child: Option<Child>,
        is_told: bool,
    }

    impl Watchdog {
        pub const fn none() -> Watchdog {
            Watchdog { child: None, is_told: false }
        }

        /// Starts it where it does not run yet, so that it is there before the next group is.
        pub fn wake(&mut self, groups: &BTreeSet<u32>) {
            let Some((program, note)) = PROGRAM.get().filter(|_| self.child.is_none()) else { return };
            let mut command = Command::new(program);
            command.arg0("agent-watchdog").arg(super::ARGUMENT).env_clear().current_dir("/").process_group(0);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            match command.spawn() {
                Ok(child) => self.child = Some(child),
                Err(error) if !self.is_told => {
                    self.is_told = true;
                    note(&unwatched(&error));
                }
                Err(_) => {}
            }
            for group in groups {
                let _ = self.tell('+', *group);
            }
        }

        /// A group was started.
        pub fn add(&mut self, group: u32, groups: &BTreeSet<u32>) {
            if self.tell('+', group).is_err() {
                // Somebody has killed it: the next one is told of all.
                self.end();
                self.wake(groups);
            }
        }

        /// Nothing of a group is left.
        pub fn remove(&mut self, group: u32) {
            let _ = self.tell('-', group);
        }

        /// Ends it, with whatever it still watches over.
        pub fn end(&mut self) {
            if let Some(mut child) = self.child.take() {
                drop(child.stdin.take());
                let _ = child.wait();
            }
        }

        fn tell(&mut self, what: char, group: u32) -> io::Result<()> {
            match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
                Some(pipe) => pipe.write_all(format!("{what}{group}\n").as_bytes()),
                None => Ok(()),
            }
        }
    }

    /// Is the watchdog: returns when it has nothing more to do.
    pub fn watch() {
        let mut groups: HashSet<Pid> = HashSet::new();
        // A line that is cut off is not taken for a shorter number.
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            let number = |text: &str| text.parse().ok().filter(|number| *number > 1).and_then(Pid::from_raw);
            match line.split_at_checked(1) {
                Some(("+", group)) => groups.extend(number(group)),
                Some(("-", group)) => groups.retain(|kept| Some(*kept) != number(group)),
                _ => {}
            }
        }
        let mut left = PATIENCE;
        for group in &groups {
            let _ = kill_process_group(*group, Signal::TERM);
        }
        while !groups.is_empty() && !left.is_zero() {
            sleep(PAUSE);
            left = left.saturating_sub(PAUSE);
            groups.retain(|group| test_kill_process_group(*group).is_ok());
        }
        for group in groups {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod system {
    //! Without process groups there is nothing to watch over.

    use std::collections::BTreeSet;
    use std::path::Path;

    use super::Note;

    pub fn enable(_: Box<Note>) {}

    pub fn program() -> Option<&'static Path> {
        None
    }

    pub fn watch() {}

    #[derive(Debug, Default)]
    pub struct Watchdog;

    impl Watchdog {
        pub const fn none() -> Watchdog {
            Watchdog
        }

        pub fn wake(&mut self, _: &BTreeSet<u32>) {}

        pub fn add(&mut self, _: u32, _: &BTreeSet<u32>) {}

        pub fn remove(&mut self, _: u32) {}

        pub fn end(&mut self) {}
    }
}
