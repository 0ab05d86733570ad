//! Conversations that are held at once and never touch each other, and agents that eval-job starts and ends.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod crowd;
mod handed_over;
mod ending;
mod killed;
mod enterprise;
mod example;
mod managed;
mod mixed_up;

use std::path::Path;
use std::process::Output;

use eval_job::record::{RunRecord, TrialRecord};
use eval_job::score::Outcome;

use crate::house::root;
use crate::program::eval_job;

/// A job whose agent is the script of these tests, with fixed lines: three turns a conversation.
fn job(behaviour: &str, start: &str, more: &str) -> String {
    let script = root().join("tests/isolation/agents/agent.py");
    format!(
        "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
         target:\n  user: u\n  chatbot: c\n  start:\n    command: python3\n    args: [{}, {behaviour}, diary]\n{start}\n{more}\n",
        script.display()
    )
}

/// Runs a job in a folder; its record.
fn run(folder: &Path, job: &str, arguments: &[&str], env: &[(&str, &str)]) -> (Output, RunRecord) {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command.args(["run", "job.yml", "--no-progress", "-o", "record.json"]).args(arguments).envs(env.iter().copied());
    let output = command.output().unwrap();
    let record = std::fs::read(folder.join("record.json"))
        .unwrap_or_else(|_| panic!("{job}\nno record: {}", String::from_utf8_lossy(&output.stderr)));
    (output, serde_json::from_slice(&record).unwrap())
}

/// Why the trial is broken; it must be.
fn broken(trial: &TrialRecord) -> &str {
    match &trial.outcome {
        Some(Outcome::Broken { error }) => error,
        other => panic!("{other:?}"),
    }
}

/// What the agents wrote down.
fn diary(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("diary")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The processes that the agents were.
fn pids(folder: &Path) -> Vec<u32> {
    diary(folder).iter().filter_map(|line| line.strip_prefix("pid ")?.parse().ok()).collect()
}

/// Whether a process runs; one that has ended and was not waited for does not.
fn is_alive(pid: u32) -> bool {
    let output = std::process::Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let stat = String::from_utf8(output.stdout).unwrap();
    !stat.trim().is_empty() && !stat.starts_with('Z')
}

/// All processes of the agents are gone; one that was just killed may take a moment.
#[track_caller]
fn nothing_is_left(folder: &Path, processes: usize) {
    let pids = pids(folder);
    assert_eq!(pids.len(), processes, "{:?}", diary(folder));
    let since = std::time::Instant::now();
    while pids.iter().any(|pid| is_alive(*pid)) {
        assert!(since.elapsed().as_secs() < 10, "a process was left behind: {pids:?}");
        std::thread::yield_now();
    }
}
