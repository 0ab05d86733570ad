//! A panel of judges, with the built program: who is asked, what decides, and what becomes of it when it is graded again.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::all_turns;
use crate::servers::http::{Reply, Request, Server};

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
}

fn is_question(request: &Request) -> bool {
    request.path.ends_with("/chat/completions")
}

/// The endpoint of all judges: `kind` says yes, `strict` says no to `booked`, `broken` fails.
fn judges() -> Server {
    Server::start(|request| {
        if !is_question(request) {
            return Reply::Json(200, json!({"data": []}));
        }
        let verdict = |id: &str, decision: &str| json!({"id": id, "reason": format!("{decision} it is"), "quotes": [{"turn": 1, "text": "your table"}], "turnsRead": [], "verdict": decision});
        let (rubric, task) = match request.json()["model"].as_str().unwrap() {
            "strict" => ("no", 0.2),
            "broken" => return Reply::Json(400, json!({"error": {"message": "no such deployment"}})),
            _ => ("yes", 0.9),
        };
        if request.body.contains("The table is booked.") {
            return says(&json!({"verdicts": [verdict("booked", rubric)]}).to_string());
        }
        says(&json!({"tasks": [{"index": 1, "reason": format!("{task}"), "turnsRead": all_turns(), "score": task}], "tone": {"reason": "fine", "turnsRead": all_turns(), "score": task}}).to_string())
    })
}

struct Desk {
    folder: tempfile::TempDir,
    judges: Server,
}

impl Desk {
    /// A run that these judges sit over; the run's output.
    fn run(panel: &[&str]) -> (Desk, Output) {
        let (agent, judges) = (Server::start(|_| says("Your table is booked.")), judges());
        let seat = |name: &&str| json!({"name": name, "baseUrl": format!("{}/v1", judges.address)});
        let folder = tempfile::tempdir().unwrap();
        let job = json!({
            "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
            "evaluator": {"script": ["A table for two at seven, please"]},
            "scorer": {"model": panel.iter().map(seat).collect::<Vec<_>>()},
            "facts": [],
            "greetings": [],
            "tasks": [{"task": "Book a table", "acceptanceCriteria": "It is booked"}],
            "metrics": [{"rubric": {"rubrics": [{"id": "booked", "text": "The table is booked."}]}}, "tasks"],
        });
        std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
        let desk = Desk { folder, judges };
        let output = desk.eval_job(&["run", "job.yml", "--model", "m", "--no-progress", "-o", "run.json"]);
        (desk, output)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn eval_job(&self, arguments: &[&str]) -> Output {
        eval_job(self.path()).args(arguments).output().unwrap()
    }

    fn asked(&self) -> usize {
        self.judges.requests().iter().filter(|request| is_question(request)).count()
    }

    fn read(&self, file: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.path().join(file)).unwrap()).unwrap()
    }

    fn journal(&self) -> PathBuf {
        super::kept_run(self.path()).unwrap().join("journal.ndjson")
    }
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The reason and the score of the first part of a dimension.
fn first_part(record: &Value, metric: &str) -> (String, f64) {
    let dimensions = record["trials"][0]["scorecard"]["dimensions"].as_array().unwrap();
    let found = dimensions.iter().find(|dimension| dimension["name"] == metric).unwrap();
    let part = &found["items"][0]["component"];
    (part["why"].as_str().unwrap_or_default().to_owned(), part["score"].as_f64().unwrap_or(f64::NAN))
}

#[test]
fn the_majority_of_a_panel_decides_and_scores_are_averaged() {
    let (desk, output) = Desk::run(&["kind", "strict", "gentle"]);
    assert!(output.status.code() == Some(0), "{}", words(&output));
    let record = desk.read("run.json");
    let verdict = ("yes it is (unstable: 2 of 3 judges agree; openai/strict disagrees)".to_owned(), 1.0);
    assert_eq!(first_part(&record, "rubric"), verdict);
    let (why, score) = first_part(&record, "tasks");
    let judges = "(unstable: openai/kind 0.90, openai/strict 0.20, openai/gentle 0.90)";
    assert_eq!(why, format!("0.9 (rests on no word of the agent) {judges}"));
    assert!((score - 2.0 / 3.0).abs() < 1e-9, "{score}");
    assert!(words(&output).contains("· 2 verdicts are unstable"), "{}", words(&output));
    assert_eq!(record["trials"][0]["scorecard"]["dimensions"][0]["items"][0]["component"]["unstable"], true);
    assert_eq!(desk.asked(), 6, "each judge is asked each question once");
    assert!(words(&output).contains("openai/kind, openai/strict, openai/gentle"), "{}", words(&output));

    // Graded again it is the same, and nobody is asked.
    let again = desk.eval_job(&["grade", "-o", "again.json"]);
    assert_eq!(again.status.code(), Some(0), "{}", words(&again));
    let record = desk.read("again.json");
    assert_eq!((first_part(&record, "rubric"), first_part(&record, "tasks")), (verdict, (why, score)));
    assert_eq!(desk.asked(), 6);
    let shown = desk.eval_job(&["show", "-v", "--case", "job"]);
    let shown = words(&shown);
    assert_eq!(shown.matches("the judge was asked:").count(), 6, "{shown}");
    assert!(!shown.contains("can't be rendered again"), "{shown}");
}

#[test]
fn a_tie_is_against_the_agent_and_most_judges_must_be_usable() {
    let (desk, output) = Desk::run(&["kind", "strict"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let tie = ("no it is (unstable: 1 of 2 judges agree; openai/kind disagrees)".to_owned(), 0.0);
    assert_eq!(first_part(&desk.read("run.json"), "rubric"), tie);

    let (desk, output) = Desk::run(&["kind", "broken", "gentle"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(
        first_part(&desk.read("run.json"), "rubric"),
        ("yes it is (all 2 judges) (without openai/broken, who gave no usable verdict)".to_owned(), 1.0)
    );

    assert!(words(&output).contains("· no verdict of openai/broken"), "{}", words(&output));

    // The third could have turned it.
    let (desk, output) = Desk::run(&["kind", "broken", "strict"]);
    assert_eq!(output.status.code(), Some(102), "{}", words(&output));
    let record = desk.read("run.json");
    let part = &record["trials"][0]["scorecard"]["dimensions"][0]["items"][0]["component"];
    assert!(part["error"].as_str().unwrap().contains("the others could have turned the result"), "{part}");
    // So it could the mean of 0.9 and 0.2.
    let dimensions = record["trials"][0]["scorecard"]["dimensions"].as_array().unwrap();
    let tasks = dimensions.iter().find(|dimension| dimension["name"] == "tasks").unwrap();
    let part = &tasks["items"][0]["component"];
    assert!(part["error"].as_str().is_some_and(|it| it.contains("the others could have turned the result")), "{part}");

    let (desk, output) = Desk::run(&["kind", "broken"]);
    assert_eq!(output.status.code(), Some(102), "{}", words(&output));
    let record = desk.read("run.json");
    let part = &record["trials"][0]["scorecard"]["dimensions"][0]["items"][0]["component"];
    assert_eq!(part["kind"], "missing");
    assert!(part["error"].to_string().contains("only 1 of 2 judges gave a usable verdict: openai/broken:"), "{part:#}");
}

#[test]
fn a_panel_can_judge_a_stored_run() {
    let (desk, _) = Desk::run(&["kind"]);
    let first = std::fs::read(desk.journal()).unwrap();
    let panel = "openai/kind,openai/strict,openai/gentle";
    let address = format!("{}/v1", desk.judges.address);
    let output = eval_job(desk.path())
        .args(["grade", "--scorer-model", panel, "-o", "again.json"])
        .env("OPENAI_BASE_URL", address)
        .env("OPENAI_API_KEY", "sk-of-the-panel")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let verdict = ("yes it is (unstable: 2 of 3 judges agree; openai/strict disagrees)".to_owned(), 1.0);
    assert_eq!(first_part(&desk.read("again.json"), "rubric"), verdict);
    // What the first of them said when the run was held is kept.
    assert_eq!(desk.asked(), 2 + 4);
    assert_eq!(std::fs::read(desk.journal()).unwrap(), first, "the first verdict stays");
    let output = desk.eval_job(&["run", "job.yml", "--scorer-model", "openai/a,openai/a"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("`openai/a` is in the panel twice"), "{}", words(&output));
}
