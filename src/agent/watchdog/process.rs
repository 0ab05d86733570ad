//! The watchdog's own process.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, getpgid, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};

use super::MARK;

/// The time that groups may take to end after SIGTERM; then they are killed.
const GRACE: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(20);

/// The number of searches for marked processes to kill: they may have started more meanwhile.
const SEARCHES: usize = 5;

/// Runs as the watchdog, until it has nothing more to do.
pub fn watch() {
    let (mut groups, mut mark): (HashSet<Pid>, Option<String>) = (HashSet::new(), None);
    // A line that is cut off must not be taken for a shorter number.
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
    let (mut left, mut any) = (GRACE, !groups.is_empty() || !others.is_empty());
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
    for _ in 0..SEARCHES {
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
