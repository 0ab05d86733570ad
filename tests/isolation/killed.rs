//! `kill -9` leaves no process behind, and no port taken: somebody else sees to what is left.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{diary, is_alive, job, nothing_is_left, pids};
use crate::program::eval_job;

fn start(folder: &Path, job: &str, args: &[&str]) -> Child {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command.args(["run", "job.yml"]).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn await_lines(folder: &Path, line: &str, times: usize) {
    let since = Instant::now();
    while diary(folder).iter().filter(|written| written.starts_with(line)).count() < times {
        assert!(since.elapsed().as_secs() < 60, "never came to `{line}`: {:?}", diary(folder));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that watch over this one's agents.
fn watchdogs(of: u32) -> Vec<u32> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        let (pid, parent, name) = (words.next()?.parse().ok()?, words.next()?.parse::<u32>().ok()?, words.next()?);
        (parent == of && name == "agent-watchdog").then_some(pid)
    };
    text.lines().filter_map(of_line).collect()
}

/// Kills it, and waits until nobody has its output open any more.
fn kill(mut child: Child) {
    let watchdogs = watchdogs(child.id());
    assert_eq!(watchdogs.len(), 1, "one watches");
    child.kill().unwrap();
    let since = Instant::now();
    child.wait_with_output().unwrap();
    assert!(since.elapsed().as_secs() < 10, "somebody kept its output open");
    while watchdogs.iter().any(|watchdog| is_alive(*watchdog)) {
        assert!(since.elapsed().as_secs() < 10, "the watchdog stays");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn agents_that_were_started_end_with_a_run_that_is_killed() {
    // Of two conversations side by side each has an agent of its own, and a stubborn one has a child.
    for (behaviour, more, agents, processes) in
        [("hanging", "", 2, 2), ("hanging-stubborn", "", 2, 4), ("hanging", "isolation: shared", 1, 1)]
    {
        let folder = tempfile::tempdir().unwrap();
        let child = start(folder.path(), &job(behaviour, "", more), &[]);
        await_lines(folder.path(), "message 1", agents);
        let ports: Vec<u16> =
            diary(folder.path()).iter().filter_map(|line| line.strip_prefix("port ")?.parse().ok()).collect();
        assert_eq!(ports.len(), agents, "{:?}", diary(folder.path()));
        kill(child);
        nothing_is_left(folder.path(), processes);
        for port in ports {
            TcpListener::bind(("127.0.0.1", port)).unwrap_or_else(|error| panic!("{behaviour}: {port}: {error}"));
        }
    }
}

#[test]
fn commands_end_with_a_run_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    // Neither it nor its child hears a polite signal.
    let script = "trap '' TERM HUP; sleep 600 & echo \"pid $$\" >> diary; echo \"pid $!\" >> diary; read line; wait";
    std::fs::write(folder.path().join("agent.sh"), script).unwrap();
    let job = "evaluator: {script: [one, two]}\nscorer: {model: scripted}\ngreetings: [Hello]\nfacts: []\n\
               tasks: [{task: Ask for anything, acceptanceCriteria: Anything is said}]\n\
               target: {user: u, chatbot: c, command: {command: sh, args: [agent.sh], greeting: false}}\n";
    let child = start(folder.path(), job, &[]);
    await_lines(folder.path(), "pid ", 2);
    kill(child);
    nothing_is_left(folder.path(), 2);
}

#[test]
fn a_watchdog_goes_with_a_run_that_ends_and_is_replaced_where_it_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let child = start(folder.path(), &job("hanging", "", ""), &["-j", "1"]);
    await_lines(folder.path(), "message 1", 1);
    let first = watchdogs(child.id());
    assert_eq!(first.len(), 1);
    let kill_by = |signal: &str, pid: u32| {
        assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
    };
    kill_by("-9", first[0]);
    // The next agent is told to another one.
    kill_by("-9", pids(folder.path())[0]);
    await_lines(folder.path(), "message 1", 2);
    let second = watchdogs(child.id());
    assert!(second.iter().any(|watchdog| *watchdog != first[0]), "{second:?}");
    kill_by("-INT", child.id());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(!second.iter().any(|watchdog| is_alive(*watchdog)), "it outlives the run");
    nothing_is_left(folder.path(), 2);
}
