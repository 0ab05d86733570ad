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
    let job = "evaluator: {script: [one, two]}\nscorer: {model: scripted}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
               tasks: [{task: Ask for anything, acceptanceCriteria: Anything is said}]\n\
               target: {user: u, chatbot: c, command: {command: sh, args: [agent.sh], greeting: false}}\n";
    let child = start(folder.path(), job, &[]);
    await_lines(folder.path(), "pid ", 2);
    kill(child);
    nothing_is_left(folder.path(), 2);
}

/// What runs with this word among its arguments.
fn running_with(word: &str) -> Vec<String> {
    let output = Command::new("ps").args(["-A", "-o", "args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| line.contains(word)).map(str::to_owned).collect()
}

#[test]
fn nothing_is_left_of_a_run_that_is_killed_while_it_starts_agents() {
    let mut rng = fastrand::Rng::with_seed(20_261_122);
    for number in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("mark-{}-{number}", std::process::id());
        // Slow enough for the run to last longer than any moment of the kill.
        let script = "sleep 600 & while read line; do sleep 0.3; echo agent: hi; echo :DONE; done";
        let job = format!(
            "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\nisolation: user\n\
             tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
             target: {{user: u, chatbot: c, command: {{command: sh, args: [-c, '{script}', {mark}, '{{{{model}}}}'], greeting: false}}}}\n"
        );
        let mut child = start(folder.path(), &job, &["-j", "6", "--model", "a,b,c,d,e,f"]);
        let since = Instant::now();
        // Some are killed when the first agent is there, the others at any moment before or after.
        let delay = Duration::from_micros(rng.u64(0..150_000));
        while since.elapsed() < delay || number % 2 == 0 && running_with(&mark).is_empty() {
            assert!(since.elapsed().as_secs() < 60, "no agent was started");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait_with_output().unwrap();
        while !running_with(&mark).is_empty() {
            assert!(since.elapsed().as_secs() < 30, "{number}, after {delay:?}: {:?}", running_with(&mark));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn what_is_to_start_an_agent_starts_none_when_nobody_says_so() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let folder = tempfile::tempdir().unwrap();
    let launcher = |stdin: Stdio| {
        let mut command = eval_job(folder.path());
        command.args(["start-an-agent-on-signal", "touch", "started"]).stdin(stdin).status().unwrap()
    };
    let (gone, left) = UnixStream::pair().unwrap();
    drop(gone);
    for stdin in [Stdio::from(OwnedFd::from(left)), Stdio::null()] {
        assert_eq!(launcher(stdin).code(), Some(127));
        assert!(!folder.path().join("started").exists());
    }
    let (mut here, there) = UnixStream::pair().unwrap();
    std::io::Write::write_all(&mut here, b"!").unwrap();
    assert_eq!(launcher(Stdio::from(OwnedFd::from(there))).code(), Some(0));
    assert!(folder.path().join("started").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn what_has_left_its_group_ends_with_a_run_that_is_killed_or_interrupted() {
    for signal in ["-9", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let script =
            "setsid sh -c 'echo \"pid $$\" >> diary; exec sleep 600' & echo \"pid $$\" >> diary; read line; wait";
        std::fs::write(folder.path().join("agent.sh"), script).unwrap();
        let job = "evaluator: {script: [one, two]}\nscorer: {model: scripted}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
                   tasks: [{task: Ask for anything, acceptanceCriteria: Anything is said}]\n\
                   target: {user: u, chatbot: c, command: {command: sh, args: [agent.sh], greeting: false}}\n";
        let child = start(folder.path(), job, &["--condition", "with-facts"]);
        await_lines(folder.path(), "pid ", 2);
        if signal == "-9" {
            kill(child);
        } else {
            let id = child.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
            assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
        }
        nothing_is_left(folder.path(), 2);
    }
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
