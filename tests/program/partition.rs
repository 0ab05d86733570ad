//! A suite on several machines: `run --partition` and `merge`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::eval_job;

const DEMO: &str = "target: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n";
const BOB: &str = "{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}";
const ZEBRA: &str = "{task: Ask for the price of a zebra, acceptanceCriteria: Seventeen zebras are named}";
const HELD: &str = "--model demo-careful,demo-sloppy --repeat 2 --rng-seed 5 --no-progress";

/// A suite of two jobs: one of five cases, some with facts, and one of one.
struct Suite(tempfile::TempDir);

impl Suite {
    fn new() -> Suite {
        let suite = Suite(tempfile::tempdir().unwrap());
        fs::create_dir(suite.0.path().join("jobs")).unwrap();
        suite.write("jobs/many.yml", &many(0.5));
        suite.write("jobs/one.yml", &format!("name: One\n{DEMO}facts: []\ntasks: [{BOB}]\n"));
        suite
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    /// The status, and all that was printed, with its breaks taken out.
    fn typed(&self, line: &str) -> (i32, String) {
        let output = eval_job(self.0.path()).args(line.split_whitespace()).output().unwrap();
        let text = super::words(&output);
        (output.status.code().unwrap(), text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Holds a part of the suite in a runs folder of its own.
    fn part(&self, part: u32, of: u32) -> (i32, String) {
        self.typed(&format!("run jobs {HELD} --partition {part}/{of} --runs-dir parts/{part}"))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.0.path().join(name)).unwrap()).unwrap()
    }

    /// The only run of a runs folder.
    fn run_in(&self, folder: &str) -> PathBuf {
        let mut runs = fs::read_dir(self.0.path().join(folder)).unwrap().map(|run| run.unwrap().path());
        runs.find(|run| run.join("journal.ndjson").is_file()).unwrap()
    }
}

fn many(gate: f64) -> String {
    let cases: String = ["a", "b", "c", "d"].map(|id| format!("- {{id: {id}, tasks: [{BOB}]}}\n")).concat();
    let zebra = format!("- {{id: zebra, tasks: [{ZEBRA}], facts: [The user likes zebras]}}\n");
    format!("name: Many\n{DEMO}gate: {{minScore: {gate}}}\ncases:\n{zebra}{cases}")
}

/// All of a run that does not depend on when and where it was held.
fn essence(run: &Value) -> Value {
    let trial = |trial: &Value| {
        let said = |turn: &Value| json!([turn["user"], turn["agent"]]);
        let turns: Vec<Value> =
            trial["evidence"]["transcript"]["turns"].as_array().into_iter().flatten().map(said).collect();
        json!([trial["trial"], trial["outcome"]["kind"], turns, trial["scorecard"]["composite"]])
    };
    let provenance = &run["provenance"];
    json!({
        "job": [provenance["job"], provenance["jobFile"], provenance["jobDigest"], provenance["rngSeed"], provenance["selection"]],
        "figures": super::without_times(&run["figures"]),
        "verdict": run["verdict"],
        "trials": run["trials"].as_array().unwrap().iter().map(trial).collect::<Vec<_>>(),
    })
}

/// The cases of each job in a document of runs.
fn cases(document: &Value) -> BTreeSet<(String, String)> {
    let runs = document["runs"].as_array().cloned().unwrap_or_else(|| vec![document.clone()]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of_run = |run: Value| {
        let job = text(&run["provenance"]["job"]);
        let trials = run["trials"].as_array().unwrap().clone();
        trials.into_iter().map(move |trial| (job.clone(), text(&trial["trial"]["case"])))
    };
    runs.into_iter().flat_map(of_run).collect()
}

#[test]
fn merged_parts_are_what_the_whole_suite_would_have_been() {
    let suite = Suite::new();
    let (status, words) = suite.typed(&format!("run jobs {HELD} --runs-dir whole -o whole.json"));
    let whole = suite.json("whole.json");
    let mut seen = BTreeSet::new();
    for part in 1..=3 {
        let (_, words) =
            suite.typed(&format!("run jobs {HELD} --partition {part}/3 --runs-dir parts/{part} -o part-{part}.json"));
        let own = cases(&suite.json(&format!("part-{part}.json")));
        assert_eq!(own.len(), 2, "part {part} of six cases: {own:?}\n{words}");
        assert!(own.iter().all(|case| seen.insert(case.clone())), "each case is in one part");
    }
    assert_eq!(seen, cases(&whole));
    // In whatever order they are named.
    let (merged_status, merged_words) = suite.typed("merge parts/3 parts/1 parts/2 --runs-dir merged -o merged.json");
    assert_eq!(merged_status, status, "{words}\n{merged_words}");
    let merged = suite.json("merged.json");
    let by_job = |document: &Value| {
        let mut runs: Vec<Value> = document["runs"].as_array().unwrap().iter().map(essence).collect();
        runs.sort_by_key(|run| run["job"].to_string());
        runs
    };
    assert_eq!(by_job(&merged), by_job(&whole));
    let many = merged["runs"].as_array().unwrap().iter().find(|run| run["provenance"]["job"] == "Many").unwrap();
    let parts = many["provenance"]["merged"]["parts"].as_array().unwrap();
    assert_eq!(parts.iter().map(|part| part["part"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
    // The merged run is a run like any other.
    let id = many["id"].as_str().unwrap();
    assert_eq!(suite.typed(&format!("show {id} --runs-dir merged")).0, status);
    let graded = suite.typed(&format!("grade {id} --runs-dir merged"));
    assert!(graded.0 == status && graded.1.contains("nothing came out otherwise"), "{}", graded.1);
    let listed = suite.typed("list --runs-dir merged");
    assert!(listed.1.contains("Many") && listed.1.contains("One"), "{}", listed.1);
}

#[test]
fn a_part_without_cases_passes_with_a_note_and_is_missed_by_nobody() {
    let suite = Suite::new();
    let job = "jobs/one.yml --no-progress --rng-seed 5";
    let mut held = Vec::new();
    for part in 1..=3 {
        let (status, words) = suite.typed(&format!("run {job} --partition {part}/3 --runs-dir parts"));
        assert_eq!(status, 0, "{words}");
        let is_empty = words.contains(&format!("note: nothing to run: part {part} of 3 is empty (1 case in 1 part)"));
        held.extend((!is_empty).then_some(part));
    }
    assert_eq!(held.len(), 1);
    let (status, words) = suite.typed("merge parts --runs-dir merged");
    assert_eq!(status, 0, "{words}");
    let (status, words) = suite.typed("validate jobs --partition 1/3");
    assert!(status == 0 && words.contains("by --partition 1/3"), "{words}");
}

#[test]
fn a_missing_part_is_named_and_leaves_the_run_incomplete() {
    let suite = Suite::new();
    for part in [1, 3] {
        suite.part(part, 3);
    }
    let (status, words) = suite.typed("merge parts/1 parts/3 --runs-dir merged -o merged.json");
    assert_eq!(status, 102, "{words}");
    assert!(words.contains("part 2 of 3 is missing, with "), "{words}");
    assert!(words.contains("incomplete: part 2 of 3 is missing"), "the report says it: {words}");
    // Where nothing of a whole job is there, that is said, too.
    let parts = [1, 2, 3].map(|part| {
        let (_, words) = suite.typed(&format!("validate jobs --partition {part}/3"));
        words.contains("jobs/one.yml: valid")
    });
    let with_one = parts.iter().position(|has_one| *has_one).unwrap() + 1;
    suite.part(2, 3);
    let others: Vec<String> = (1..=3).filter(|part| *part != with_one).map(|part| format!("parts/{part}")).collect();
    let (status, words) = suite.typed(&format!("merge {} --runs-dir merged", others.join(" ")));
    assert_eq!(status, 102, "{words}");
    assert!(words.contains(&format!("1 case of part {with_one} of 3 in jobs that no run is of")), "{words}");
}

#[test]
fn runs_that_do_not_belong_together_are_refused_and_nothing_is_written() {
    let suite = Suite::new();
    let held = "run jobs/many.yml --no-progress --rng-seed 5";
    suite.typed(&format!("{held} --partition 1/2 --runs-dir first"));
    suite.typed(&format!("{held} --partition 1/2 --runs-dir again"));
    suite.typed(&format!("{held} --partition 2/3 --runs-dir thirds"));
    suite.typed(&format!("{held} --partition 2/2 --max-turns 6 --runs-dir flags"));
    suite.typed(&format!("{held} --partition 2/2 --cost-limit 9 --token-limit 999999 --runs-dir limits"));
    suite.typed(&format!("{held} --runs-dir whole"));
    suite.write("jobs/many.yml", &many(0.6));
    suite.typed(&format!("{held} --partition 2/2 --runs-dir edited"));
    suite.typed(&format!("{held} --partition 2/2 --runs-dir damaged"));
    let journal = suite.run_in("damaged").join("journal.ndjson");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("reminder", "reminders", 1)).unwrap();
    let whole = suite.run_in("whole").display().to_string();
    for (typed, what, help) in [
        ("first again", "are both part 1 of 2", "name only one of them"),
        (
            "first thirds",
            "they differ in the suite, or into how many parts it was split",
            "the same eval-job, job files and flags",
        ),
        ("first flags", "they differ in the job as flags or a judge's own steps completed it (maxTurns)", "flags"),
        ("first limits", "judge's own steps completed it (limits.cost, limits.tokens)", "flags"),
        ("first edited", "they differ in the job file", "the same eval-job, job files and flags"),
        ("first damaged", "line 1 of the journal is damaged", "hold this part again"),
        (&format!("first {whole}"), "is no part of a suite: it was made without --partition", "--partition K/N"),
        ("whole", "there are no runs of parts in these folders", "kept its runs"),
        ("first nowhere", "there is neither a folder nor a run `nowhere`", "--runs-dir"),
    ] {
        let (status, words) = suite.typed(&format!("merge {typed} --runs-dir merged"));
        assert_eq!(status, 2, "{typed}: {words}");
        assert!(words.contains(what) && words.contains(help), "{typed}: {words}");
        let is_empty = fs::read_dir(suite.0.path().join("merged")).map_or(true, |mut runs| runs.next().is_none());
        assert!(is_empty, "{typed}");
        fs::create_dir_all(suite.0.path().join("merged")).unwrap();
    }
}
