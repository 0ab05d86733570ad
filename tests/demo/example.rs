//! One run of an example job, as its JSON output tells of it.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::Value;

/// The jobs in `data/eval/` that have facts.
pub const JOBS: [&str; 2] = ["agent", "rescheduling"];

#[derive(Clone, Copy)]
pub enum Condition {
    WithoutFacts,
    WithFacts,
}

impl Condition {
    pub const BOTH: [Condition; 2] = [Condition::WithoutFacts, Condition::WithFacts];
}

/// One run of a job with a model.
pub struct Example {
    pub exit_status: i32,
    job: String,
    record: Value,
}

/// By job and model.
type Runs = BTreeMap<(String, String), Arc<Example>>;

/// What several tests look at is run once.
static RUNS: LazyLock<Mutex<Runs>> = LazyLock::new(Mutex::default);

impl Example {
    pub fn run(job: &str, model: &str) -> Arc<Example> {
        let mut runs = RUNS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        runs.entry((job.to_owned(), model.to_owned()))
            .or_insert_with(|| Arc::new(Example::run_anew(job, model)))
            .clone()
    }

    fn run_anew(job: &str, model: &str) -> Example {
        let folder = tempfile::tempdir().unwrap();
        let file = crate::house::root().join(format!("data/eval/{job}.yml"));
        let output = crate::program::eval_job(folder.path())
            .arg("run")
            .arg(&file)
            .args(["--model", model, "--no-progress", "-o", "result.json"])
            .output()
            .unwrap();
        let record = std::fs::read_to_string(folder.path().join("result.json"));
        let record = record.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        Example {
            exit_status: output.status.code().unwrap(),
            job: std::fs::read_to_string(file).unwrap(),
            record: serde_json::from_str(&record).unwrap(),
        }
    }

    pub fn trial(&self, condition: Condition) -> Trial<'_> {
        let name = match condition {
            Condition::WithoutFacts => "withoutFacts",
            Condition::WithFacts => "withFacts",
        };
        let trials = self.record["trials"].as_array().unwrap();
        let trial = trials.iter().find(|trial| trial["trial"]["condition"] == name).unwrap();
        assert_eq!(trial["outcome"]["kind"], "graded", "{trial}");
        Trial(trial)
    }

    /// What the job's facts say: the end of each, which no task gives away.
    pub fn facts(&self) -> Vec<String> {
        let facts = self.job.split("\nfacts:\n").nth(1).unwrap();
        let facts: Vec<String> = facts
            .lines()
            .map_while(|line| line.strip_prefix("  - "))
            .map(|fact| fact.rsplit([' ']).take(2).collect::<Vec<_>>())
            .map(
                |words| if words[0].contains('/') { words[0].to_owned() } else { format!("{} {}", words[1], words[0]) },
            )
            .collect();
        assert!(!facts.is_empty());
        facts
    }
}

/// One of its two trials.
pub struct Trial<'a>(&'a Value);

impl Trial<'_> {
    fn component(&self, dimension: &str) -> &Value {
        let dimensions = self.0["scorecard"]["dimensions"].as_array().unwrap();
        dimensions.iter().find(|candidate| candidate["name"] == dimension).unwrap()
    }

    pub fn dimension(&self, name: &str) -> f64 {
        self.component(name)["component"]["score"].as_f64().unwrap_or_else(|| panic!("{self} has no score for {name}"))
    }

    pub fn composite(&self) -> f64 {
        self.0["scorecard"]["composite"]["score"].as_f64().unwrap()
    }

    pub fn ending(&self) -> &str {
        self.0["evidence"]["ending"]["kind"].as_str().unwrap()
    }

    /// All that is said of a dimension, as text.
    pub fn reasons(&self, dimension: &str) -> String {
        self.component(dimension).to_string()
    }

    /// Each turn: the user's line and the agent's.
    pub fn said(&self) -> Vec<(String, String)> {
        let text = |turn: &Value, side: &str| turn[side].as_str().unwrap().to_owned();
        let turns = self.0["evidence"]["transcript"].as_array().unwrap();
        turns.iter().map(|turn| (text(turn, "user"), text(turn, "agent"))).collect()
    }

    /// All that each side said.
    pub fn both_sides(&self) -> (String, String) {
        let (user, agent): (Vec<String>, Vec<String>) = self.said().into_iter().unzip();
        (user.join("\n"), agent.join("\n"))
    }
}

impl fmt::Display for Trial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0["scorecard"])
    }
}
