//! People's labels, and a judge that is asked again, with the built program.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{eval_job, interrupted, pasted};
use crate::servers::http::{Reply, Server};

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
}

/// A judge that says no to every third question about `booked`, and yes to all else.
fn judge() -> Server {
    let count = AtomicUsize::new(0);
    Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let decision = if count.fetch_add(1, Ordering::SeqCst) % 3 == 2 { "no" } else { "yes" };
        let verdict = |id: &str, decision: &str| json!({"id": id, "reason": "so", "quotes": [{"turn": 1, "text": "your table"}], "turnsRead": [], "verdict": decision});
        says(&json!({"verdicts": [verdict("booked", decision), verdict("polite", "yes")]}).to_string())
    })
}

/// A folder with a run of twelve cases, and the judge.
struct Desk(tempfile::TempDir, Server);

impl Desk {
    fn new() -> Desk {
        Desk::with(judge())
    }

    fn with(judge: Server) -> Desk {
        let agent = Server::start(|_| says("Your table is booked."));
        let folder = tempfile::tempdir().unwrap();
        let cases: Vec<Value> = (1..=12).map(|number| json!({"id": format!("case {number}")})).collect();
        let job = json!({
            "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
            "evaluator": {"script": ["A table for two at seven, please"]},
            "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
            "facts": [],
            "greetings": [],
            "cases": cases,
            "metrics": [{"rubric": {"rubrics": [
                {"id": "booked", "text": "The table is booked."}, {"id": "polite", "text": "The agent is polite."},
            ]}}],
        });
        fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
        let output = eval_job(folder.path()).args(["run", "job.yml", "--model", "m", "-j", "1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        Desk(folder, judge)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// The only run's labels.
    fn labels(&self) -> PathBuf {
        super::kept_run(self.path()).unwrap().join("labels.ndjson")
    }

    /// Somebody who types these answers; the status and all that was printed.
    fn typed(&self, arguments: &[&str], answers: &str) -> (Option<i32>, String) {
        let mut child = eval_job(self.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A process that asks nothing reads nothing.
        let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
        let output = child.wait_with_output().unwrap();
        let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), words)
    }

    fn calibrated(&self, arguments: &[&str]) -> Value {
        let output = eval_job(self.path()).args(["calibrate", "--json"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[test]
fn a_person_answers_before_they_see_the_judge() {
    let desk = Desk::new();
    let (status, words) = desk.typed(&["label", "--by", "Ann", "--sample", "3"], "maybe\ny\ns\nN\n");
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("2 answers kept"), "{words}");
    assert!(words.contains("1 of 3:") && words.contains("does it hold?"), "{words}");
    let (before, after) = words.split_once("the judge:").unwrap();
    assert!(!before.contains("so") || !before.contains("1.00"), "it is hidden until then: {before}");
    assert!(after.contains("· so"), "{after}");
    let labels = fs::read_to_string(desk.labels()).unwrap();
    let verdicts: Vec<Value> = labels.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((verdicts.len(), &verdicts[0]["verdict"], &verdicts[1]["verdict"]), (2, &json!("yes"), &json!("no")));
    // Whoever goes on is not asked the same again, and another person is asked in the same order.
    let (_, words) = desk.typed(&["label", "--by", "Ann"], "");
    assert!(words.contains("22 questions for Ann, beside 2 from before"), "{words}");
    desk.typed(&["label", "--by", "Bob", "--sample", "1"], "n\n");
    let figures = &desk.calibrated(&[])["metrics"][0];
    assert_eq!((&figures["people"]["shared"], &figures["undecided"]), (&json!(1), &json!(1)), "{figures:#}");
}

#[test]
fn a_judge_is_measured_by_people() {
    let desk = Desk::new();
    let (status, words) = desk.typed(&["label"], &"n\n".repeat(24));
    assert_eq!(status, Some(0), "{words}");
    let figures = &desk.calibrated(&[])["metrics"][0];
    // Of 12 verdicts on `booked` 4 are no.
    assert_eq!((&figures["labelled"], &figures["agreement"]["tooLenient"]), (&json!(24), &json!(20)), "{figures:#}");
    assert_eq!(figures["corrected"]["value"], 0.0, "{figures:#}");
    let (_, page) = desk.typed(&["calibrate"], "");
    assert!(page.contains("it passes 20 that people do not"), "{page}");
    assert!(page.contains("the judge passes 83 %; people would pass 0 % (0 to"), "{page}");
    let (_, words) = desk.typed(&["label"], "");
    assert!(words.contains("me has labelled all 24 parts"), "{words}");
}

#[test]
fn a_last_line_that_was_cut_off_loses_nothing_else() {
    let desk = Desk::new();
    desk.typed(&["label", "--sample", "1"], "y\n");
    let mut file = fs::OpenOptions::new().append(true).open(desk.labels()).unwrap();
    file.write_all(b"{\"version\":1,\"at\":").unwrap();
    let (status, words) = desk.typed(&["label", "--sample", "1"], "y\n");
    assert_eq!(status, Some(0), "{words}");
    let (status, words) = desk.typed(&["calibrate"], "");
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("note: of labels.ndjson line 2 is no label, and left out"), "{words}");
    assert!(words.contains("2 of 24 judged parts are labelled"), "{words}");
}

#[test]
fn a_judge_that_is_asked_again_flips() {
    let desk = Desk::new();
    let before = desk.1.requests().len();
    let again = desk.calibrated(&["--repeat", "3"]);
    let asked = desk.1.requests().iter().skip(before).filter(|it| it.path.ends_with("/chat/completions")).count();
    assert_eq!(asked, 36, "each question three times");
    let flips = &again["again"][0];
    assert_eq!((&flips["metric"], &flips["parts"], &flips["missing"]), (&json!("rubric"), &json!(24), &json!(0)));
    let rate = flips["flipRate"]["value"].as_f64().unwrap();
    assert!((0.05..0.5).contains(&rate), "{flips:#}");
    let (status, words) = desk.typed(&["calibrate", "--repeat", "2"], "");
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("note: the judge is asked again at temperature 0"), "{words}");
    assert!(words.contains("Judged again") && words.contains("two verdicts on the same part differ in"), "{words}");
}

#[test]
fn what_no_judge_scored_cannot_be_labelled() {
    let desk = Desk::new();
    let (status, words) = desk.typed(&["label", "--metric", "tasks"], "");
    assert_eq!(status, Some(2));
    assert!(words.contains("no judge scores `tasks` in this run\n  try: --metric with one of rubric"), "{words}");
    let (status, words) = desk.typed(&["calibrate", "nosuch"], "");
    assert_eq!(status, Some(2));
    assert!(words.contains("there is no run `nosuch`"), "{words}");
}

fn yes() -> Reply {
    let verdict = |id: &str| json!({"id": id, "reason": "so", "quotes": [{"turn": 1, "text": "your table"}], "turnsRead": [], "verdict": "yes"});
    says(&json!({"verdicts": [verdict("booked"), verdict("polite")]}).to_string())
}

#[cfg(unix)]
#[test]
fn judging_again_that_was_interrupted_goes_on_when_its_command_is_pasted() {
    let (sent, arrived) = std::sync::mpsc::channel();
    let (asked, sent) = (AtomicUsize::new(0), std::sync::Mutex::new(sent));
    let desk = Desk::with(Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        // Of the second conversation.
        if asked.fetch_add(1, Ordering::SeqCst) == 15 {
            let _ = sent.lock().unwrap().send(());
            return Reply::Silence;
        }
        yes()
    }));
    let asked = || desk.1.requests().iter().filter(|it| it.path.ends_with("/chat/completions")).count();
    assert_eq!(asked(), 12);
    let mut calibrate = eval_job(desk.path());
    calibrate.args(["calibrate", "--repeat", "2", "-j", "1"]);
    let (status, words) = interrupted(calibrate, &arrived);
    assert_eq!(status, Some(130), "{words}");
    let before = asked();
    let (status, again) = pasted(desk.path(), &words);
    assert_eq!(status, Some(0), "{words}{again}");
    let kept = 24 - (asked() - before);
    assert!((2..=3).contains(&kept), "{kept} answers were kept: {again}");
    assert!(again.contains("Judged again"), "{again}");
}

#[test]
fn a_judge_of_whom_nothing_can_be_used_is_named_with_the_reason() {
    let asked = AtomicUsize::new(0);
    let desk = Desk::with(Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        if asked.fetch_add(1, Ordering::SeqCst) < 12 { yes() } else { says("All is well.") }
    }));
    let (status, words) = desk.typed(&["calibrate", "--repeat", "2"], "");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("48 of 48 verdicts can't be used: no usable verdict in 3 tries"), "{words}");
}
