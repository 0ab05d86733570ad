//! The index of runs: written and read by several processes at once, told where it is of no use, made again.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{eval_job, words};

const JOB: &str = "name: Reminders\ntarget: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
                   facts: []\ntasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}]\n";

/// How many runs make an index worth its while.
const MANY: usize = 20;

/// A folder with a job, and so many copies of its run.
fn desk(copies: usize) -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("job.yml"), JOB).unwrap();
    assert_eq!(typed(desk.path(), "run job.yml --no-progress").0, Some(0));
    let runs = desk.path().join("runs");
    let first = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let id = first.file_name().unwrap().to_string_lossy().rsplit('-').next().unwrap().to_owned();
    for copy in 0..copies {
        let other = format!("zz{copy:04}");
        let folder = runs.join(format!("20260101-0000{copy:02}-reminders-{other}"));
        fs::create_dir(&folder).unwrap();
        fs::copy(first.join("journal.ndjson"), folder.join("journal.ndjson")).unwrap();
        let summary = fs::read_to_string(first.join("summary.json")).unwrap();
        fs::write(folder.join("summary.json"), summary.replace(&id, &other)).unwrap();
    }
    desk
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = eval_job(folder);
    command.args(line.split(' '));
    command
}

fn typed(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = command(folder, line).output().unwrap();
    (output.status.code(), words(&output))
}

fn ids(folder: &Path) -> (Vec<String>, String) {
    let output = command(folder, "list --json").output().unwrap();
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ids = listed.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned());
    (ids.collect(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn two_writers_and_a_reader_at_once_lose_nothing() {
    let desk = desk(MANY);
    let folder = desk.path();
    let spawn = |line: &str| command(folder, line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..3 {
        let writers: Vec<_> = (0..2).map(|_| spawn("run job.yml --no-progress")).collect();
        let readers: Vec<_> = (0..2).map(|_| spawn("list --json")).collect();
        for reader in readers {
            let output = reader.wait_with_output().unwrap();
            let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(listed.as_array().unwrap().len() > MANY, "{}", words(&output));
            assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        }
        for writer in writers {
            let output = writer.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", words(&output));
            assert!(!words(&output).contains("note: the index"), "{}", words(&output));
        }
    }
    let (listed, notes) = ids(folder);
    assert_eq!((listed.len(), notes.as_str()), (MANY + 1 + 6, ""));
    assert!(folder.join("runs/index.sqlite").is_file());
}

#[test]
fn an_index_of_no_use_breaks_no_run_and_no_list_and_is_made_again() {
    let desk = desk(MANY);
    let folder = desk.path();
    let (before, notes) = ids(folder);
    assert_eq!(notes, "");
    let file = folder.join("runs/index.sqlite");
    fs::write(&file, "garbage, and more of it").unwrap();
    let (listed, notes) = ids(folder);
    assert_eq!(listed, before);
    assert!(notes.starts_with("note: the index of runs, runs/index.sqlite, is damaged ("), "{notes}");
    assert!(
        notes.ends_with("the folders of the runs are read, and nothing is lost; eval-job reindex makes it again\n"),
        "{notes}"
    );
    let (status, told) = typed(folder, "run job.yml --no-progress");
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("note: the index of runs, runs/index.sqlite, is damaged ("), "{told}");
    let (status, told) = typed(folder, "reindex");
    assert_eq!((status, told), (Some(0), format!("{} runs indexed in runs\n", MANY + 2)));
    let (listed, notes) = ids(folder);
    assert_eq!((listed.len(), notes.as_str()), (MANY + 2, ""));

    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let (status, told) = typed(folder, "reindex");
    assert_eq!(status, Some(1));
    assert!(told.contains("can't be written (") && told.contains("try: make it writable"), "{told}");
    let (listed, notes) = ids(folder);
    assert_eq!(listed.len(), MANY + 2);
    assert!(notes.contains("can't be written ("), "{notes}");
    assert_eq!(typed(tempfile::tempdir().unwrap().path(), "reindex").0, Some(2), "there are no runs");
}

#[test]
fn a_trend_is_that_of_the_folders_and_opens_none_that_is_indexed_as_it_is() {
    let desk = desk(MANY);
    let folder = desk.path();
    let trend = || {
        let output = command(folder, "trend --json").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        (told, words(&output))
    };
    let index = folder.join("runs/index.sqlite");
    // A folder in its place: there is no index.
    drop(fs::remove_file(&index));
    fs::create_dir(&index).unwrap();
    let (of_folders, notes) = trend();
    assert!(notes.contains("note: ") && of_folders["nightsInAll"] == MANY + 1, "{notes}");
    fs::remove_dir(&index).unwrap();
    assert_eq!(trend().0, of_folders);
    assert_eq!(trend().0, of_folders, "by the index");
    // What has the size and time that it had is not read again.
    let name = fs::read_dir(folder.join("runs")).unwrap().map(|it| it.unwrap().path().join("summary.json"));
    for summary in name.filter(|path| path.is_file()) {
        let text = fs::read_to_string(&summary).unwrap();
        let modified = fs::metadata(&summary).unwrap().modified().unwrap();
        fs::write(&summary, text.replace("\"passed\"", "\"failed\"").replace("1.0", "0.1")).unwrap();
        fs::File::options().append(true).open(&summary).unwrap().set_modified(modified).unwrap();
    }
    assert_eq!(trend().0, of_folders);
}

#[test]
fn a_run_that_is_resumed_is_listed_as_it_has_become() {
    let desk = desk(MANY);
    let folder = desk.path();
    let id = ids(folder).0.pop().unwrap();
    let name = fs::read_dir(folder.join("runs")).unwrap().map(|it| it.unwrap().path());
    let run = name.into_iter().find(|path| path.to_string_lossy().ends_with(&id)).unwrap();
    let verdict = || {
        let output = command(folder, "list --json").output().unwrap();
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        listed.as_array().unwrap().iter().find(|run| run["id"] == id.as_str()).unwrap()["verdict"].clone()
    };
    assert_eq!(verdict(), "passed");
    let journal = fs::read_to_string(run.join("journal.ndjson")).unwrap();
    let first = journal.lines().next().unwrap();
    fs::write(run.join("journal.ndjson"), format!("{first}\n")).unwrap();
    fs::remove_file(run.join("summary.json")).unwrap();
    assert_eq!(verdict(), "incomplete");
    assert_eq!(typed(folder, &format!("run --no-progress --resume {id}")).0, Some(0));
    assert_eq!(verdict(), "passed");
}
