//! The process group of a started agent. It does not outlive its owner, nor this process where that can be helped.

use std::collections::BTreeSet;
use std::io;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, Command};

#[cfg(unix)]
use super::launcher::Launch;
use super::managed::SignalConfig;
use super::watchdog::{self, OnNote, Watchdog};
use crate::descriptors;

/// The live process groups.
struct LiveGroups {
    groups: BTreeSet<u32>,
    closed: bool,
    watchdog: Watchdog,
}

static LIVE: Mutex<LiveGroups> =
    Mutex::new(LiveGroups { groups: BTreeSet::new(), closed: false, watchdog: Watchdog::none() });

fn live() -> MutexGuard<'static, LiveGroups> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a watchdog process with the first group; it ends the groups when this process is killed. `note` is called where
/// that fails. Only for a program that calls [`super::watch`] where [`super::is_watchdog`], and [`super::launch`] where
/// [`super::is_launcher`].
pub fn watch_over_groups(note: Box<OnNote>) {
    watchdog::enable(note);
}

/// Ends the watchdog, when all groups have ended.
pub fn stop_watching() {
    let mut live = live();
    if live.groups.is_empty() {
        live.watchdog.end();
    }
}

/// Whether a started agent has processes left.
pub fn any_group_is_left() -> bool {
    // The lock is held while one is being started.
    LIVE.try_lock().map_or(true, |live| !live.groups.is_empty())
}

/// Kills every live group and prevents new ones: for the moment before this process exits at once. A group that is just being
/// started is waited for, at most this long.
pub fn kill_all_groups(limit: Duration) {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut left = limit;
    let mut live = loop {
        match LIVE.try_lock() {
            Ok(live) => break live,
            Err(TryLockError::Poisoned(live)) => break live.into_inner(),
            Err(TryLockError::WouldBlock) if left.is_zero() => return,
            Err(TryLockError::WouldBlock) => {
                thread::sleep(PAUSE);
                left = left.saturating_sub(PAUSE);
            }
        }
    };
    live.closed = true;
    live.groups.iter().for_each(|group| system::kill(*group));
}

/// A process and all that it starts. Dropping it kills those that still run.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    id: u32,
    gone: bool,
}

/// A process that was started, with its output piped.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) group: ProcessGroup,
    /// Its standard input, where one was asked for.
    pub(super) input: Option<ChildStdin>,
}

impl ProcessGroup {
    /// Starts a command as the leader of a group of its own. With a watchdog, it begins only when the watchdog knows the group.
    pub(super) async fn spawn(command: &mut Command, has_input: bool) -> io::Result<Started> {
        #[cfg(unix)]
        if let Some(program) = watchdog::program() {
            let mut launch = Launch::new(program, command, has_input)?;
            let (mut child, group) = {
                let (command, waiting) = launch.parts();
                ProcessGroup::lead(command, || waiting.start())?
            };
            let input = launch.input(&mut child).await?;
            return Ok(Started { child, group, input });
        }
        command.stdin(if has_input { Stdio::piped() } else { Stdio::null() });
        let (mut child, group) = ProcessGroup::lead(command, || {})?;
        Ok(Started { input: child.stdin.take(), child, group })
    }

    /// Starts the leader; `begin` is called once the watchdog knows the group.
    fn lead(command: &mut Command, begin: impl FnOnce()) -> io::Result<(Child, ProcessGroup)> {
        system::prepare(command);
        // With the lock held: a group is either in the list or was never started.
        let mut live = live();
        if live.closed {
            return Err(io::Error::other("eval-job is about to end"));
        }
        let LiveGroups { groups, watchdog, .. } = &mut *live;
        watchdog.ensure_started(groups);
        command.envs(watchdog::mark());
        let child = command.spawn()?;
        let id = child.id().ok_or_else(|| io::Error::other("the process has no id"))?;
        groups.insert(id);
        watchdog.add(id, groups);
        descriptors::restore_limit(id);
        begin();
        Ok((child, ProcessGroup { id, gone: false }))
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: SignalConfig) {
        system::signal(self.id, signal);
    }

    /// Whether no process of it is left. Call it only after its leader was waited for.
    pub(super) fn is_gone(&mut self) -> bool {
        if !self.gone && !system::exists(self.id) {
            self.leave();
        }
        self.gone
    }

    /// Kills the whole group.
    pub(super) fn kill(&self) {
        if !self.gone {
            system::kill(self.id);
        }
    }

    /// Forgets the group: its number may be reused from now on.
    fn leave(&mut self) {
        self.gone = true;
        let mut live = live();
        live.groups.remove(&self.id);
        live.watchdog.remove(self.id);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.gone {
            system::kill(self.id);
            self.leave();
        }
    }
}

#[cfg(unix)]
mod system {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    use tokio::process::Command;

    use crate::agent::managed::SignalConfig;

    fn pid(group: u32) -> Option<Pid> {
        Pid::from_raw(i32::try_from(group).ok()?)
    }

    pub(super) fn prepare(command: &mut Command) {
        command.process_group(0).kill_on_drop(true);
    }

    pub(super) fn signal(group: u32, signal: SignalConfig) {
        let signal = match signal {
            SignalConfig::Term => Signal::TERM,
            SignalConfig::Int => Signal::INT,
            SignalConfig::Hup => Signal::HUP,
            SignalConfig::Quit => Signal::QUIT,
        };
        send(group, signal);
    }

    pub(super) fn kill(group: u32) {
        send(group, Signal::KILL);
    }

    pub(super) fn exists(group: u32) -> bool {
        pid(group).is_some_and(|pid| test_kill_process_group(pid).is_ok())
    }

    fn send(group: u32, signal: Signal) {
        if let Some(pid) = pid(group) {
            // It fails when no process of the group is left, which is no error.
            let _ = kill_process_group(pid, signal);
        }
    }
}

#[cfg(not(unix))]
mod system {
    //! Without process groups only the process itself is ended, when its handle is dropped.

    use tokio::process::Command;

    use crate::agent::managed::SignalConfig;

    pub(super) fn prepare(command: &mut Command) {
        command.kill_on_drop(true);
    }

    pub(super) fn signal(_: u32, _: SignalConfig) {}

    pub(super) fn kill(_: u32) {}

    pub(super) fn exists(_: u32) -> bool {
        false
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// A shell with a child, and a pipe that ends when both are gone.
    async fn family() -> (Child, ProcessGroup) {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM HUP; sleep 600 & echo up; wait"]).stdout(Stdio::piped());
        let Started { mut child, group, .. } = ProcessGroup::spawn(&mut command, false).await.unwrap();
        let mut up = [0; 3];
        child.stdout.as_mut().unwrap().read_exact(&mut up).await.unwrap();
        (child, group)
    }

    #[tokio::test]
    async fn a_group_that_is_dropped_is_killed_with_its_grandchildren() {
        let (mut child, group) = family().await;
        let mut stdout = child.stdout.take().unwrap();
        drop(group);
        assert!(!child.wait().await.unwrap().success());
        let mut rest = Vec::new();
        // Ends only when no process holds the pipe any more: the grandchild does too.
        stdout.read_to_end(&mut rest).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_kills_the_group() {
        let (mut child, group) = family().await;
        let mut stdout = child.stdout.take().unwrap();
        let panicked = tokio::spawn(async move {
            let _held = group;
            panic!("as a bug would");
        });
        assert!(panicked.await.unwrap_err().is_panic());
        child.wait().await.unwrap();
        stdout.read_to_end(&mut Vec::new()).await.unwrap();
    }

    #[tokio::test]
    async fn a_group_is_gone_when_its_last_process_is() {
        let (mut child, mut group) = family().await;
        assert!(!group.is_gone());
        group.kill();
        child.wait().await.unwrap();
        while !group.is_gone() {
            tokio::task::yield_now().await;
        }
    }
}
