//! Several jobs in one command, and the runs that they leave: `run`, `validate`, `list` and `show`.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use super::eval_job;

const DEMO: &str =
    "target: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\nfacts: []\n";
const BOB: &str = "{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}";
const ZEBRA: &str = "{task: Ask for the price of a zebra, acceptanceCriteria: Seventeen zebras are named}";

/// A folder with three jobs in `jobs`: one passes, one fails its gate, the agent of one is not there; and a file that is no
/// job.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("jobs/more")).unwrap();
        let desk = Desk(folder);
        desk.write(
            "jobs/a-good.yml",
            &format!("name: Good\ntags: [smoke]\n{DEMO}gate: {{minScore: 0.9}}\ntasks: [{BOB}]\n"),
        );
        let gone = "target: {user: u, chatbot: c, embabel: {baseUrl: 'http://127.0.0.1:9'}}\n";
        let rest = DEMO.split_once('\n').unwrap().1;
        desk.write("jobs/b-gone.yml", &format!("name: Gone\n{gone}{rest}tasks: [{BOB}]\n"));
        let cases =
            format!("cases:\n- {{id: bob, tags: [smoke, short], tasks: [{BOB}]}}\n- {{id: zebra, tasks: [{ZEBRA}]}}\n");
        desk.write("jobs/more/c-low.yaml", &format!("name: Low\n{DEMO}gate: {{minScore: 0.9}}\n{cases}"));
        desk.write("jobs/prices.yml", "models: {}\n");
        desk
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    /// The status, and what was printed to stdout and stderr.
    fn typed(&self, line: &str) -> (i32, String, String) {
        let output = eval_job(self.0.path()).args(line.split(' ')).output().unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code().unwrap(), stdout, stderr)
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.0.path().join(name)).unwrap()).unwrap()
    }
}

/// The ids of the cases of a record's trials.
fn cases(record: &Value) -> Vec<&str> {
    record["trials"].as_array().unwrap().iter().map(|trial| trial["trial"]["case"].as_str().unwrap()).collect()
}

#[test]
fn several_jobs_come_to_one_summary_one_file_and_one_status() {
    let desk = Desk::new();
    let (status, stdout, stderr) = desk.typed("run jobs --no-progress -o all.json -o tokens.json");
    assert_eq!(status, 102, "{stdout}{stderr}");
    assert!(stderr.contains("note: 1 YAML file left out: no `target`, so no job: jobs/prices.yml\n"), "{stderr}");
    assert!(stdout.starts_with("passed       1.00  Good (jobs/a-good.yml)\n"), "{stdout}");
    assert!(stdout.ends_with("\n1 passed, 1 failed, 1 incomplete\n"), "{stdout}");
    let summary = stdout.rsplit_once("\n\n").unwrap().1;
    let commands: Vec<&str> = summary.lines().filter_map(|line| line.strip_prefix("  eval-job ")).collect();
    let shown: Vec<i32> = commands.iter().map(|command| desk.typed(command).0).collect();
    assert_eq!(shown, [102, 100], "{summary}");
    let all = desk.json("all.json");
    let verdicts: Vec<&str> =
        all["runs"].as_array().unwrap().iter().map(|run| run["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["passed", "incomplete", "gateFailed"]);
    assert_eq!(cases(&all["runs"][2]), ["bob", "zebra"]);
    assert!(desk.json("tokens.json")["detailed_calls"].is_array());
    let (status, stdout, _) = desk.typed("run jobs/a-good.yml jobs/more -v --no-progress");
    assert_eq!(status, 100, "{stdout}");
    assert!(stdout.contains("Good (jobs/a-good.yml) ·"), "all of what passed is shown: {stdout}");
}

#[test]
fn cases_are_selected_by_tag_by_text_and_by_number() {
    let desk = Desk::new();
    let low = "run jobs/more/*.yaml --no-progress -o r.json";
    for (flags, expected, selection) in [
        ("--tag smoke", vec!["bob"], Some("1 of 2 cases, by --tag smoke")),
        ("--tag other,short", vec!["bob"], Some("1 of 2 cases, by --tag other,short")),
        ("--filter ZEB", vec!["zebra"], Some("1 of 2 cases, by --filter ZEB")),
        ("--filter b?b --filter zebr*", vec!["bob", "zebra"], None),
        ("--filter c-low", vec!["bob", "zebra"], None),
        ("--limit 1", vec!["bob"], Some("1 of 2 cases, by --limit 1")),
    ] {
        let (_, stdout, stderr) = desk.typed(&format!("{low} {flags}"));
        let record = desk.json("r.json");
        assert_eq!(cases(&record), expected, "{flags}: {stderr}");
        assert_eq!(record["provenance"]["selection"].as_str(), selection, "{flags}");
        assert_eq!(stdout.contains("\ncases    "), selection.is_some(), "{flags}: {stdout}");
    }
    // A job's tags are those of all of its cases, and the limit is one of all jobs together.
    let (status, stdout, stderr) = desk.typed("validate jobs --tag smoke");
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("note: 1 of 3 jobs left out, by --tag smoke\n"), "{stderr}");
    assert!(stdout.contains("c-low.yaml: selected · 1 of 2 cases, by --tag smoke\n"), "{stdout}");
    let (_, stdout, _) = desk.typed("validate jobs --limit 3 --filter -");
    assert!(stdout.contains("a-good") && stdout.contains("b-gone") && stdout.contains("1 of 2 cases"), "{stdout}");
    let (status, _, stderr) = desk.typed("run jobs --tag smoek");
    assert_eq!((status, stderr.contains("  try: --tag smoke\n")), (2, true), "{stderr}");
}

#[test]
fn runs_are_listed_in_narrow_columns_and_as_json() {
    let desk = Desk::new();
    desk.typed("run jobs --no-progress");
    let output = eval_job(desk.0.path()).arg("list").env("COLUMNS", "60").output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(listed.lines().count(), 3);
    assert!(listed.lines().all(|line| line.chars().count() <= 60), "{listed}");
    let (status, stdout, _) = desk.typed("list --json");
    let runs: Vec<Value> = serde_json::from_str(&stdout).unwrap();
    assert_eq!((status, stdout.lines().count()), (0, 5), "a line a run: {stdout}");
    let statuses: Vec<u64> = runs.iter().map(|run| run["exitStatus"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [0, 102, 100]);
    assert_eq!(runs[0]["provenance"]["job"], "Good");
    assert_eq!(runs[0]["figures"][0]["figure"]["score"], 1.0);
}

#[test]
fn a_run_is_shown_by_case_by_turn_and_as_json() {
    let desk = Desk::new();
    let (status, _, _) = desk.typed("run jobs/more --no-progress -o r.json --repeat 2");
    assert_eq!(status, 100);
    let (status, stdout, _) = desk.typed("show --json");
    assert_eq!((status, serde_json::from_str::<Value>(&stdout).unwrap()), (100, desk.json("r.json")));
    let (_, stdout, _) = desk.typed("show --json --case zebra");
    assert_eq!(cases(&serde_json::from_str(&stdout).unwrap()), ["zebra", "zebra"]);
    let (status, stdout, _) = desk.typed("show --case zeb");
    assert_eq!(status, 100);
    assert!(stdout.contains("Socrates:") && stdout.contains("   tasks × 2 "), "{stdout}");
    assert!(!stdout.contains("Bob") && !stdout.contains("gate failed"), "only that case: {stdout}");
    let (_, stdout, _) = desk.typed("show --case bob --turns");
    assert!(stdout.contains("bob · demo-careful · without facts · 2\n"), "{stdout}");
    assert!(
        stdout.contains("     user   ") && stdout.contains("     agent  ") && stdout.contains(" ms · "),
        "{stdout}"
    );
    assert!(!stdout.contains("zebra"), "{stdout}");
    let (status, _, stderr) = desk.typed("show --case zerba");
    assert_eq!((status, stderr.as_str()), (2, "error: the run has no case `zerba`\n  try: --case zebra\n"));
}

#[test]
fn three_thousand_runs_are_listed_in_little_more_than_the_time_to_read_their_summaries() {
    let desk = Desk::new();
    desk.typed("run jobs/more --no-progress");
    let runs = desk.0.path().join("runs");
    let first = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let [summary, journal] = ["summary.json", "journal.ndjson"].map(|name| fs::read(first.join(name)).unwrap());
    let write = |folder: &Path, name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    for number in 0..3000 {
        let folder = runs.join(format!("20200101-000000-low-{number:06}"));
        fs::create_dir(&folder).unwrap();
        // Every tenth was killed.
        if number % 10 == 0 {
            let end = journal.len() - 300;
            write(&folder, "journal.ndjson", &journal[..end]);
        } else {
            write(&folder, "summary.json", &summary);
            write(&folder, "journal.ndjson", &journal);
        }
    }
    let started = Instant::now();
    for entry in fs::read_dir(&runs).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read(path.join("summary.json")).or_else(|_| fs::read(path.join("journal.ndjson"))).unwrap();
        let line = if text.starts_with(b"{\n") { &text[..] } else { text.split(|byte| *byte == b'\n').next().unwrap() };
        serde_json::from_slice::<Value>(line).unwrap();
    }
    let reading = started.elapsed();
    let started = Instant::now();
    let (status, stdout, stderr) = desk.typed("list");
    let listing = started.elapsed();
    assert_eq!((status, stdout.lines().count()), (0, 3001), "{stderr}");
    assert_eq!(stdout.lines().filter(|line| line.contains("  cut off ")).count(), 300);
    assert!(listing < reading * 4, "listing took {listing:?}, reading the summaries alone {reading:?}");
}
