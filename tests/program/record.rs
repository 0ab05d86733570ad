//! A person plays the user, and the conversation becomes a case: a job of its own, or one more case of a file.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use super::{eval_job, words};
use crate::house::root;

const SAID: &str = "Remind me to call the dentist tomorrow at 9am, please.\n\
                    My time zone is Australia/Sydney.\nWhich reminders do I have?\n/end\n";

/// `eval-job record` with these lines typed, and the terminal closed after them.
fn record(folder: &Path, arguments: &[&str], typed: &str) -> Output {
    let mut child = eval_job(folder)
        .args(["record"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn demo_job() -> String {
    root().join("data/eval/agent.yml").display().to_string()
}

#[test]
fn a_recorded_conversation_is_a_job_that_the_agent_passes() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), &[&demo_job(), "-o", "dentist.yml", "--id", "dentist"], SAID);
    let page = words(&output);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains("agent: ") && page.contains(": 3 turns") && page.contains("wrote dentist.yml"), "{page}");
    let written = std::fs::read_to_string(folder.path().join("dentist.yml")).unwrap();
    assert!(written.contains("id: dentist") && written.contains("demo:"), "{written}");
    let run = eval_job(folder.path()).args(["run", "dentist.yml", "--no-progress"]).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}\n{written}", words(&run));
    let arguments = ["run", "dentist.yml", "--no-progress", "--model", "demo-sloppy"];
    let sloppy = eval_job(folder.path()).args(arguments).output().unwrap();
    assert_eq!(sloppy.status.code(), Some(100), "an agent that does nothing calls no tools: {}", words(&sloppy));
}

#[test]
fn a_file_that_is_there_gets_one_more_case() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("reminders.evalset.json");
    std::fs::copy(root().join("data/eval/adk/reminders.evalset.json"), &set).unwrap();
    let before = std::fs::read_to_string(&set).unwrap();
    let arguments = [&demo_job(), "-o", "reminders.evalset.json", "--id", "by_hand"];
    let output = record(folder.path(), &arguments, SAID);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let after = std::fs::read_to_string(&set).unwrap();
    assert!(after.contains("by_hand") && after.len() > before.len(), "{after}");
    let case = ["run", "reminders.evalset.json:by_hand", "--target", "demo", "--no-progress"];
    let run = eval_job(folder.path()).args(case).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", words(&run));
    // What can't be added to is refused before anything is said.
    std::fs::write(folder.path().join("notes.txt"), "hello\n").unwrap();
    let refused = |output: &str, part: &str| {
        let output = record(folder.path(), &[&demo_job(), "-o", output, "--id", "by_hand"], SAID);
        let page = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{page}");
        assert!(page.contains(part) && !page.contains("You are the user"), "{page}");
    };
    refused("reminders.evalset.json", "has a case `by_hand` already");
    refused("notes.txt", "notes.txt:1:1");
    assert_eq!(std::fs::read_to_string(&set).unwrap(), after);
}

#[test]
fn a_terminal_that_closes_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), &[&demo_job()], "Which reminders do I have?\n");
    let page = words(&output);
    assert_eq!(output.status.code(), Some(0), "{page}");
    let command = page
        .lines()
        .find_map(|line| line.strip_prefix("make a case of it: eval-job "))
        .unwrap_or_else(|| panic!("{page}"));
    let case = eval_job(folder.path()).args(command.split_whitespace()).output().unwrap();
    assert_eq!(case.status.code(), Some(0), "{}", words(&case));
    let written = std::fs::read_to_string(folder.path().join("case.yml")).unwrap();
    assert!(written.contains("Which reminders do I have?"), "{written}");

    let output = record(folder.path(), &[&demo_job()], "");
    let page = words(&output);
    assert_eq!(output.status.code(), Some(2), "{page}");
    assert!(page.contains("so there is no case"), "{page}");
    assert_eq!(page.matches("you:").count(), 1, "{page}");
    assert!(!page.contains("nothing was asked for yet"), "{page}");
}

#[test]
fn an_agent_that_breaks_is_told_and_what_was_said_before_is_a_case() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "#!/bin/sh\nread -r line\necho 'agent: The desk opens at nine.'\necho ':DONE'\nread -r line\nexit 3\n";
    std::fs::write(folder.path().join("agent.sh"), agent).unwrap();
    let job = "target: {user: u, chatbot: c, command: {command: sh, args: [agent.sh], greeting: false}}\n\
               tasks: [{task: Find out when the desk opens, acceptanceCriteria: It is named}]\nfacts: []\n";
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let output = record(folder.path(), &["job.yml", "-o", "case.yml"], "When do you open?\nAnd on Sundays?\nHello?\n");
    let page = words(&output);
    assert_eq!(output.status.code(), Some(102), "{page}");
    assert!(page.contains("the conversation broke off: ") && page.contains(": 1 turn"), "{page}");
    let written = std::fs::read_to_string(folder.path().join("case.yml")).unwrap();
    assert!(written.contains("When do you open?") && written.contains("opens at nine"), "{written}");
}

#[test]
fn a_conversation_with_a_person_is_no_run_of_the_job() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(record(folder.path(), &[&demo_job(), "-o", "case.yml"], SAID).status.code(), Some(0));
    let typed = |arguments: &[&str]| {
        let output = eval_job(folder.path()).args(arguments).output().unwrap();
        (output.status.code(), words(&output))
    };
    let (status, page) = typed(&["show"]);
    assert!(status == Some(0) && page.contains("a person") && !page.contains("persona was scripted"), "{page}");
    let (status, page) = typed(&["run", &demo_job(), "--retry-errors", "--no-progress"]);
    assert!(status == Some(2) && page.contains("there is no run of"), "{page}");
    let (status, page) = typed(&["baseline", "set", "main"]);
    assert!(status == Some(2) && page.contains("a person had"), "{page}");
}

#[test]
fn a_file_that_could_not_be_written_is_refused_before_anybody_talks() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), &[&demo_job(), "-o", "nowhere/case.yml"], "");
    let page = words(&output);
    assert_eq!(output.status.code(), Some(2), "{page}");
    assert!(page.contains("there is no folder nowhere") && !page.contains("You are the user"), "{page}");
    assert!(!folder.path().join("runs").exists());
}
