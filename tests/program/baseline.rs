//! Baselines: runs that are named, shown by their names, and forgotten.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{eval_job, words};

const JOB: &str = "name: Reminders\ntarget: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
                   facts: []\ntasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}]\n";

fn typed(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = eval_job(folder).args(line.split(' ')).output().unwrap();
    (output.status.code(), words(&output))
}

/// The ids of the runs that are kept, oldest first.
fn ids(folder: &Path) -> Vec<String> {
    let listed: Value = serde_json::from_str(&typed(folder, "list --json").1).unwrap();
    listed.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_is_named_shown_by_its_name_and_the_name_is_removed() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("job.yml"), JOB).unwrap();
    for _ in 0..2 {
        assert_eq!(typed(folder, "run job.yml").0, Some(0));
    }
    let ids = ids(folder);
    let (status, told) = typed(folder, &format!("baseline set main {}", ids[0]));
    assert_eq!((status, told), (Some(0), format!("baseline main is run {} (Reminders)\n", ids[0])));
    assert_eq!(typed(folder, "baseline set latest").0, Some(0));
    if ids[1].starts_with(|first: char| first.is_ascii_alphabetic()) {
        let (status, told) = typed(folder, &format!("baseline set {} {}", ids[1], ids[0]));
        assert!(status == Some(2) && told.contains("is the id of a run"), "{told}");
    }
    let (_, listed) = typed(folder, "baseline list");
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with(&format!("latest  {}  ", ids[1])), "{listed}");
    assert!(lines[1].starts_with(&format!("main    {}  ", ids[0])) && lines[1].contains("no gate"), "{listed}");
    let shown: Value = serde_json::from_str(&typed(folder, "show main --json").1).unwrap();
    assert_eq!(shown["id"], ids[0].as_str());

    let mut folders = fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    fs::remove_dir_all(folders.find(|path| path.to_string_lossy().ends_with(&ids[0])).unwrap()).unwrap();
    let (status, told) = typed(folder, "show main");
    assert_eq!(status, Some(2));
    assert!(told.contains("is not in runs any more\n  try: eval-job baseline set main RUN"), "{told}");
    let listed: Value = serde_json::from_str(&typed(folder, "baseline list --json").1).unwrap();
    assert_eq!((&listed[0]["isDeleted"], &listed[1]["isDeleted"]), (&false.into(), &true.into()));
    assert_eq!(typed(folder, "baseline rm main").0, Some(0));
    let (status, told) = typed(folder, "baseline rm main");
    assert_eq!(status, Some(2));
    assert!(told.contains("there is no baseline `main` in runs\n  try: one of latest"), "{told}");
}

#[test]
fn a_run_whose_journal_was_changed_since_has_not_passed() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("job.yml"), JOB).unwrap();
    assert_eq!(typed(folder, "run job.yml").0, Some(0));
    let run = fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    let journal = fs::read_to_string(run.join("journal.ndjson")).unwrap();
    assert!(typed(folder, "list").1.contains(" no gate "));
    // A line is taken out, the end is cut off, all of it is.
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let changes = [
        ([&lines[..2], &lines[3..]].concat().concat(), " incomplete "),
        (lines[..lines.len() - 2].concat(), " cut off "),
    ];
    for (changed, state) in changes {
        fs::write(run.join("journal.ndjson"), changed).unwrap();
        let (_, listed) = typed(folder, "list");
        assert!(listed.contains(state), "{listed}");
        let (status, told) = typed(folder, "baseline set main");
        assert!(status == Some(0) && told.contains("is incomplete"), "{told}");
        assert!(told.contains("note: line ") || told.contains("note: the journal ends with line"), "{told}");
    }
    fs::write(run.join("journal.ndjson"), "").unwrap();
    let (_, listed) = typed(folder, "list");
    assert!(!listed.contains(" no gate ") && listed.contains("the journal is empty"), "{listed}");
    // Letters that were changed for others are seen by whoever reads it whole.
    fs::write(run.join("journal.ndjson"), journal.replacen("Reminder", "Remainde", 1)).unwrap();
    let (_, told) = typed(folder, "baseline set main");
    assert!(told.contains("it was altered"), "{told}");
    fs::write(run.join("journal.ndjson"), journal).unwrap();
    assert!(typed(folder, "list").1.contains(" no gate "));
}

#[test]
fn a_gate_whose_baseline_was_deleted_says_so() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("job.yml"), JOB).unwrap();
    assert_eq!(typed(folder, "run job.yml").0, Some(0));
    assert_eq!(typed(folder, "baseline set main").0, Some(0));
    let mut folders = fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    fs::remove_dir_all(folders.find(|path| path.join("journal.ndjson").is_file()).unwrap()).unwrap();
    let (status, told) = typed(folder, "run job.yml --baseline main");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(status, Some(101), "{told}");
    assert!(told.contains("the baseline `main`, is not in runs any more, so that nothing will show a drop"), "{told}");
    assert!(!told.contains("no baseline main in runs yet"), "{told}");
}

#[test]
fn a_run_that_did_not_come_to_its_end_is_named_with_a_note() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("job.yml"), JOB.replace("demo: {}", "embabel: {baseUrl: \"http://127.0.0.1:9\"}")).unwrap();
    assert_eq!(typed(folder, "run job.yml").0, Some(102));
    let (status, told) = typed(folder, "baseline set main");
    assert_eq!(status, Some(0));
    assert!(told.contains("is incomplete: where it has no figure, nothing can be compared"), "{told}");
}

#[test]
fn nothing_is_shown_beside_a_baseline_that_is_damaged() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("job.yml"), format!("{JOB}repeat: 6\ngate: {{baseline: main, maxDrop: 0.3}}\n")).unwrap();
    typed(folder, "run job.yml");
    assert_eq!(typed(folder, "baseline set main").0, Some(0));
    let (status, told) = typed(folder, "run job.yml");
    assert_eq!(status, Some(0), "{told}");
    let run = fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let first = &ids(folder)[0];
    let run = run.into_iter().find(|path| path.to_string_lossy().ends_with(first.as_str())).unwrap();
    let journal = fs::read_to_string(run.join("journal.ndjson")).unwrap();
    let mut lines: Vec<&str> = journal.split_inclusive('\n').collect();
    lines.remove(5);
    fs::write(run.join("journal.ndjson"), lines.concat()).unwrap();
    let (status, told) = typed(folder, "run job.yml");
    assert_eq!(status, Some(101), "{told}");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("it is damaged, so that nothing is shown beside it: line 6 of the journal"), "{told}");
    let (_, told) = typed(folder, &format!("compare main {}", ids(folder)[1]));
    assert!(told.contains(&format!("note: run {first} is damaged: line 6")), "{told}");
}
