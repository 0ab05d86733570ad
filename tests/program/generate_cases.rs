//! Jobs made from tools and stories: they load, they differ, they can be run, and what is wrong with the sources is told.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{eval_job, words};

const STORIES: &str = "id,story,outcome,facts,tools\n\
    bob,Ask for a reminder to call Bob tomorrow at 9am,A reminder to call Bob is created,The user's time zone is Europe/Oslo,createReminder\n\
    eve,\"Ask for a reminder to feed Eve, on Friday at noon\",A reminder to feed Eve is created,The user's time zone is Europe/Oslo,createReminder\n";

fn desk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = |description: &str| json!({"type": "string", "description": description});
    let reminder = json!({"type": "object", "required": ["title", "at"], "properties": {
        "title": text("The title"), "at": {"type": "string", "format": "date-time"}, "timeZone": {"enum": ["Europe/Oslo", "Asia/Tokyo"]}}});
    let tools = json!({"tools": [
        {"name": "createReminder", "description": "Creates a reminder.", "inputSchema": reminder}, {"name": "listReminders"}]});
    for (name, text) in [
        ("tools.json", tools.to_string()),
        ("stories.csv", STORIES.to_owned()),
        ("tools.py", "@tool\ndef close_account(reason: str) -> str:\n    \"\"\"Close an account.\"\"\"\n".to_owned()),
        ("none.json", "{}".to_owned()),
        ("broken.json", "{\"tools\": [\n".to_owned()),
        ("empty.csv", String::new()),
        ("tale.csv", "tale,outcome\na,b\n".to_owned()),
        ("open.csv", "story,outcome\nGo to Rome,\n".to_owned()),
        ("there.yml", "name: mine\n".to_owned()),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn typed(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = eval_job(folder).args(line.split(' ')).output().unwrap();
    (output.status.code(), words(&output))
}

#[test]
fn a_generated_job_is_valid_and_its_cases_differ() {
    let desk = desk();
    let line = "generate --tools tools.json --tools tools.py --stories stories.csv --persona terse,novice --target demo -n 14 -o job.yml";
    let (status, page) = typed(desk.path(), line);
    assert_eq!(status, Some(0), "{page}");
    assert!(page.contains("wrote job.yml (14 cases)"), "{page}");
    let (status, page) = typed(desk.path(), "validate job.yml --evaluator-model scripted --scorer-model scripted");
    assert_eq!(status, Some(0), "{page}");
    let (_, listed) = typed(desk.path(), "cases list job.yml --json");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let mut ids: Vec<&str> = listed.as_array().unwrap().iter().map(|case| case["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids.iter().map(|id| id.rsplit_once('-').unwrap().0).take(5).collect::<Vec<_>>(),
        ["bob", "eve", "createReminder", "listReminders", "close_account"]
    );
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 14);
    let again = line.replace("job.yml", "again.yml");
    assert_eq!(typed(desk.path(), &again).0, Some(0));
    let read = |name: &str| fs::read_to_string(desk.path().join(name)).unwrap();
    assert_eq!(read("job.yml").replace("name: job", "name: again"), read("again.yml"));
}

#[test]
fn a_generated_job_is_run_as_any_other() {
    let desk = desk();
    let (status, page) = typed(desk.path(), "generate --stories stories.csv --target demo -o job.yml");
    assert_eq!(status, Some(0), "{page}");
    let line = "run job.yml --evaluator-model scripted --scorer-model scripted --no-progress -o out.json";
    let (_, page) = typed(desk.path(), line);
    let record: Value = serde_json::from_slice(&fs::read(desk.path().join("out.json")).unwrap()).unwrap();
    let trials = record["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4, "{page}");
    for trial in trials.iter().filter(|trial| trial["trial"]["condition"] == "withFacts") {
        let dimensions = trial["scorecard"]["dimensions"].as_array().unwrap();
        let score = |name: &str| dimensions.iter().find(|it| it["name"] == name).unwrap()["component"]["score"].clone();
        assert_eq!(score("trajectory"), json!(1.0), "{trial:#}");
        assert!(score("tasks").is_number(), "{trial:#}");
    }
}

#[test]
fn without_a_file_the_job_is_printed_and_notes_say_what_to_look_at() {
    let desk = desk();
    let output = eval_job(desk.path()).args(["generate", "--tools", "tools.json", "-n", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let (job, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        job.starts_with("# Generated from tools.json: review it")
            && job.contains("task: Get the assistant to create a reminder"),
        "{job}"
    );
    assert!(notes.contains("note: 1 tool in no case; -n 2 has them all"), "{notes}");
    assert!(notes.contains("note: without --target nothing says where the agent is"), "{notes}");
    let (_, page) = typed(desk.path(), "generate --tools tools.py -n 100 --target command=./x.sh");
    assert!(page.contains("differ from each other"), "{page}");
    assert!(page.contains("this target does not report calls of tools: none are expected"), "{page}");
    assert!(!page.contains("expected:"), "{page}");
}

#[test]
fn what_is_wrong_with_the_sources_is_told_with_its_place_and_nothing_is_written() {
    let desk = desk();
    for (line, words) in [
        ("generate", "--tools <FILE>"),
        ("generate --tools none.json -o job.yml", "none.json:1:1: there are no tools in it; looked for MCP's `tools`"),
        (
            "generate --tools broken.json -o job.yml",
            "broken.json: it is neither JSON nor YAML: EOF while parsing a list at line 2",
        ),
        ("generate --tools no.json -o job.yml", "there is no file no.json\n  try: eval-job generate --tools"),
        ("generate --stories no.csv -o job.yml", "there is no file no.csv\n  try: eval-job generate --stories"),
        ("generate --stories empty.csv -o job.yml", "empty.csv:1:1: there is nothing in this file"),
        (
            "generate --stories tale.csv -o job.yml",
            "tale.csv:1:1: no column is named `story` (or `scenario`); there are: tale, outcome",
        ),
        ("generate --stories open.csv -o job.yml", "open.csv:2:12: this story has no outcome"),
        ("generate --tools tools.json --persona nobody -o job.yml", "nobody"),
        ("generate --tools tools.json -n 0 -o job.yml", "1"),
        (
            "generate --tools tools.json -o there.yml",
            "there.yml is there already, and what is generated overwrites nothing",
        ),
        ("generate --tools tools.json -o nodir/job.yml", "nodir"),
    ] {
        let (status, page) = typed(desk.path(), line);
        assert_eq!(status, Some(2), "{line}: {page}");
        assert!(page.contains(words), "{line}: {page}");
        assert!(!desk.path().join("job.yml").exists(), "{line}");
    }
    assert_eq!(fs::read_to_string(desk.path().join("there.yml")).unwrap(), "name: mine\n");
}
