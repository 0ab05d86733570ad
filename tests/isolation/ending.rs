//! Ctrl-C leaves no process behind.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{diary, job, nothing_is_left};
use crate::program::eval_job;
use crate::servers::enterprise::Enterprise;

fn start(folder: &Path, job: &str) -> Child {
    start_with(folder, job, &[])
}

fn start_with(folder: &Path, job: &str, env: &[(&str, &str)]) -> Child {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command
        .args(["run", "job.yml", "--condition", "with-facts"])
        .envs(env.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Waits until the agent has written this down.
fn await_line(folder: &Path, line: &str) {
    let since = std::time::Instant::now();
    while !diary(folder).iter().any(|written| written == line) {
        assert!(since.elapsed().as_secs() < 60, "never came to `{line}`: {:?}", diary(folder));
        std::thread::yield_now();
    }
}

fn signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn one_signal_ends_agents_in_order() {
    for name in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = start(folder.path(), &job("hanging", "", ""));
        await_line(folder.path(), "message 1");
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        nothing_is_left(folder.path(), 1);
        // What it had printed until then is evidence too.
        let shown = eval_job(folder.path()).args(["show", "-v"]).output().unwrap().stdout;
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains("the agent printed:\n   | listening on "), "{shown}");
    }
}

#[test]
fn a_look_that_is_interrupted_leaves_nothing_and_goes_on_to_no_other_job() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job("never", "", "")).unwrap();
    std::fs::write(folder.path().join("other.yml"), job("good", "", "")).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["validate", "--live", "job.yml", "other.yml"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while diary(folder.path()).is_empty() {
        std::thread::yield_now();
    }
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let (words, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(words.contains("job.yml: valid") && !words.contains("other.yml"), "{words}");
    assert!(notes.starts_with("stopping: ") && notes.lines().count() == 1, "{notes}");
    nothing_is_left(folder.path(), 1);
}

#[test]
fn an_agent_that_is_shared_is_ended_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), &job("hanging", "", "isolation: shared"));
    await_line(folder.path(), "message 1");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    nothing_is_left(folder.path(), 1);
}

#[test]
fn one_that_is_still_being_waited_for_is_ended_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), &job("never", "", ""));
    while diary(folder.path()).is_empty() {
        std::thread::yield_now();
    }
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    nothing_is_left(folder.path(), 1);
}

#[test]
fn the_database_of_an_interrupted_conversation_is_deleted() {
    let server = Enterprise::start();
    let folder = tempfile::tempdir().unwrap();
    let job = job("hanging", "", "graph: {neo4j: {}}\nisolation: database");
    let mut child = start_with(folder.path(), &job, &[("NEO_URI", &server.uri), ("NEO_PASSWORD", "x")]);
    await_line(folder.path(), "message 1");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    nothing_is_left(folder.path(), 1);
    let last = server.messages().pop().unwrap();
    assert!(last.contains("DROP DATABASE"), "{:?}", server.messages());
}

#[test]
fn a_second_signal_waits_for_nobody_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), &job("hanging-stubborn", "    stop: {within: 600}", ""));
    await_line(folder.path(), "message 1");
    signal(&child, "-INT");
    // Now it is being waited for.
    await_line(folder.path(), "asked 15");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    nothing_is_left(folder.path(), 2);
}
