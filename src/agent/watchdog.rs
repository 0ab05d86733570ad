//! What is left of started agents when this process is killed without a word (`kill -9`, out of memory): a process of its
//! own ends it.
//!
//! It is this same program, started with the first agent. It reads from a pipe which process groups are alive; when the
//! pipe ends and some are, nobody else is left to end them. A group that has ended is told as ended, so that no other one
//! that is given its number is meant. It holds neither the terminal nor any pipe but that one, has a process group of its
//! own, and goes by another name, so that what kills this process does not kill it too.
//!
//! What has left its group (a daemon, `setsid`) is found by a variable of its environment, on Linux: whatever was started is
//! marked by it. So the watchdog has the last look also where all ended as it should.

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
pub(super) use system::{Watchdog, enable, mark, program};

#[cfg(unix)]
mod system {
    use std::collections::{BTreeSet, HashSet};
    use std::fs;
    use std::io::{self, BufRead, Write};
    use std::os::unix::process::CommandExt;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::OnceLock;
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::process::test_kill_process_group;
    use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group, test_kill_process};

    /// How long groups may take to end when they are asked to; then they are killed.
    const PATIENCE: Duration = Duration::from_secs(2);

    const PAUSE: Duration = Duration::from_millis(20);

    use super::Note;

    /// The variable by which that is known which this process started, and all that they started.
    const MARK: &str = "EVAL_JOB_STARTED_BY";

    /// So often what is marked is looked for to be killed: it may have started more meanwhile.
    const LOOKS: usize = 5;

    /// The mark's value, another one for each process; none where there is no /proc to find it in.
    static OWN_MARK: OnceLock<Option<String>> = OnceLock::new();

    /// What to put into the environment of whatever is started.
    pub fn mark() -> Option<(&'static str, &'static str)> {
        PROGRAM.get()?;
        let unique = || fs::read_to_string("/proc/sys/kernel/random/uuid").ok().map(|id| id.trim().to_owned());
        OWN_MARK.get_or_init(unique).as_deref().map(|own| (MARK, own))
    }

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
                Ok(child) => {
                    self.child = Some(child);
                    if let Some((_, mark)) = mark() {
                        let _ = self.write(&format!("={mark}\n"));
                    }
                }
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
            self.write(&format!("{what}{group}\n"))
        }

        fn write(&mut self, line: &str) -> io::Result<()> {
            match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
                Some(pipe) => pipe.write_all(line.as_bytes()),
                None => Ok(()),
            }
        }
    }

    /// Is the watchdog: returns when it has nothing more to do.
    pub fn watch() {
        let (mut groups, mut mark): (HashSet<Pid>, Option<String>) = (HashSet::new(), None);
        // A line that is cut off is not taken for a shorter number.
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            let number = |text: &str| text.parse().ok().filter(|number| *number > 1).and_then(Pid::from_raw);
            match line.split_at_checked(1) {
                Some(("+", group)) => groups.extend(number(group)),
                Some(("=", own)) => mark = Some(own.to_owned()),
                Some(("-", group)) => groups.retain(|kept| Some(*kept) != number(group)),
                _ => {}
            }
        }
        let marked = || mark.as_deref().map(marked_by).unwrap_or_default();
        for group in &groups {
            let _ = kill_process_group(*group, Signal::TERM);
        }
        let mut others = marked();
        // Those of the groups were asked already.
        others.retain(|other| getpgid(Some(*other)).is_ok_and(|group| !groups.contains(&group)));
        for other in &others {
            let _ = kill_process(*other, Signal::TERM);
        }
        let (mut left, mut any) = (PATIENCE, !groups.is_empty() || !others.is_empty());
        while any && !left.is_zero() {
            sleep(PAUSE);
            left = left.saturating_sub(PAUSE);
            groups.retain(|group| test_kill_process_group(*group).is_ok());
            others.retain(|other| test_kill_process(*other).is_ok());
            any = !groups.is_empty() || !others.is_empty();
        }
        for group in groups {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for _ in 0..LOOKS {
            let rest = marked();
            if rest.is_empty() {
                return;
            }
            for one in rest {
                let _ = kill_process(one, Signal::KILL);
            }
            sleep(PAUSE);
        }
    }

    /// The processes with this mark in their environment; those of other users can't be seen.
    fn marked_by(mark: &str) -> Vec<Pid> {
        let wanted = format!("{MARK}={mark}").into_bytes();
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = processes.flatten().filter_map(|process| process.file_name().to_str()?.parse().ok());
        let is_marked = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        };
        pids.filter(is_marked).filter_map(Pid::from_raw).collect()
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

    pub fn mark() -> Option<(&'static str, &'static str)> {
        None
    }

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
