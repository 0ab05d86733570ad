//! Another judge that is asked about stored conversations, and what becomes of it where it fails.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::all_turns;
use crate::servers::http::{Reply, Server};

const JOB: &str = "target: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
                   facts: [The appointment is on 7 March 2031 at 9:00]\n\
                   tasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: \"<b> & a reminder is created\"}]\n";

/// A folder with a run whose judge was scripted, and with its record.
pub(super) fn kept() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), JOB).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "-o", "first.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    folder
}

fn judge(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move |_| answer(asked.fetch_add(1, Ordering::SeqCst)))
}

fn completion(content: &str) -> Reply {
    let mut reply: Value = serde_json::from_str(include_str!("../fixtures/openai/reply-text.json")).unwrap();
    reply["choices"][0]["message"]["content"] = content.into();
    Reply::Json(200, reply)
}

pub(super) fn verdict(score: f64) -> Reply {
    let tasks = json!([{"index": 1, "reason": "as asked", "turnsRead": all_turns(), "score": score}]);
    completion(
        &json!({"tasks": tasks, "tone": {"reason": "polite", "turnsRead": all_turns(), "score": 0.9}}).to_string(),
    )
}

fn grading(folder: &Path, judge: &Server, arguments: &[&str]) -> Command {
    let mut command = eval_job(folder);
    command.env("OPENAI_BASE_URL", format!("{}/v1", judge.address)).env("OPENAI_API_KEY", "sk-hush");
    command.args(["grade", "--scorer-model", "openai/other"]).args(arguments);
    command
}

pub(super) fn words(output: &Output) -> String {
    let words = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(words).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn grade(folder: &Path, judge: &Server, arguments: &[&str]) -> (Option<i32>, String) {
    let output = grading(folder, judge, arguments).output().unwrap();
    (output.status.code(), words(&output))
}

fn record(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

pub(super) fn run_folder(folder: &Path) -> std::path::PathBuf {
    super::kept_run(folder).unwrap()
}

#[test]
fn a_judge_that_refuses_the_key_is_asked_once_and_one_that_is_not_there_never() {
    let folder = kept();
    let refusal = json!({"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}});
    let judge = judge(move |_| Reply::Json(401, refusal.clone()));
    let (status, words) = grade(folder.path(), &judge, &[]);
    assert_eq!((status, judge.requests().len()), (Some(102), 1), "{words}");
    assert!(words.contains("Incorrect API key provided") && words.contains("check OPENAI_API_KEY"), "{words}");
    assert!(words.contains("nothing more is asked of it"), "{words}");
    let mut command = eval_job(folder.path());
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").env("OPENAI_API_KEY", "sk-hush");
    let output = command.args(["grade", "--scorer-model", "openai/other"]).output().unwrap();
    assert_eq!(output.status.code(), Some(102));
    assert!(!run_folder(folder.path()).join("grade-2.ndjson").exists(), "nothing was asked");
    assert!(self::words(&output).contains("the model of the judge is not reachable"), "{}", self::words(&output));
}

#[test]
fn another_judge_is_asked_the_same_to_the_byte_and_its_verdict_stands_beside_the_first() {
    let folder = kept();
    let judge = judge(|_| verdict(0.25));
    let (status, words) = grade(folder.path(), &judge, &["-o", "again.json"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("asking openai/other about 2 conversations"), "{words}");
    assert!(words.contains("openai/other took 2 calls"), "{words}");
    assert!(words.contains("→ 0.25 (2 conversations)"), "{words}");
    assert!(words.contains("grade-1.json, beside the first verdict"), "{words}");
    let (first, again) = (record(folder.path(), "first.json"), record(folder.path(), "again.json"));
    let mut prompts: Vec<String> = judge
        .requests()
        .iter()
        .map(|request| request.json()["messages"][0]["content"].as_str().unwrap().to_owned())
        .collect();
    let mut stored: Vec<String> = first["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| trial["questions"][0]["prompt"].as_str().unwrap().to_owned())
        .collect();
    prompts.sort();
    stored.sort();
    assert_eq!(prompts, stored, "the record gives back what is asked, to the byte");
    assert!(prompts[0].contains("&lt;b> &amp; a reminder"), "{}", prompts[0]);
    assert_eq!(first["trials"][0]["questions"], again["trials"][0]["questions"]);
    assert_eq!(again["trials"][0]["judgements"][0]["judge"], "openai/other");
    assert_eq!(again["provenance"]["judgeModel"], "openai/other");
    let shown = eval_job(folder.path()).args(["show", "-v"]).output().unwrap();
    let shown = self::words(&shown);
    assert!(
        shown.contains("the judge was asked: ") && shown.contains("judge scripted rules"),
        "the first stands: {shown}"
    );
    assert!(shown.contains("words; -vv shows them)") && !shown.contains("<transcript>"), "{shown}");
    let whole = eval_job(folder.path()).args(["show", "-vv"]).output().unwrap();
    assert!(self::words(&whole).contains("<transcript>"), "{}", self::words(&whole));
    let journal = std::fs::read_to_string(run_folder(folder.path()).join("grade-1.ndjson")).unwrap();
    assert!(!journal.contains("sk-hush"));
    // Nobody is asked where nobody says so.
    let before = judge.requests().len();
    let output = eval_job(folder.path()).args(["grade"]).output().unwrap();
    assert_eq!((output.status.code(), judge.requests().len()), (Some(0), before));
}

#[test]
fn a_judge_that_fails_is_not_the_agents_fault() {
    for (answer, expected) in [
        (Reply::Json(401, json!({"error": {"message": "Incorrect API key provided"}})), "OPENAI_API_KEY"),
        (Reply::Json(404, json!({"error": {"message": "The model `other` does not exist"}})), "other"),
        (completion("The agent did quite well."), "no usable verdict in 3 tries"),
        (Reply::Body(200, "text/html", b"<html>".to_vec()), "judge"),
    ] {
        let folder = kept();
        let answer = Arc::new(answer);
        let judge = judge(move |_| match &*answer {
            Reply::Json(status, body) => Reply::Json(*status, body.clone()),
            Reply::Body(status, kind, body) => Reply::Body(*status, kind, body.clone()),
            _ => Reply::Silence,
        });
        let (status, words) = grade(folder.path(), &judge, &["-o", "again.json"]);
        assert_eq!(status, Some(102), "{words}");
        assert!(words.contains("judge failed") && words.contains(expected), "{words}");
        let again = record(folder.path(), "again.json");
        assert_eq!(again["trials"][0]["outcome"]["kind"], "judgeFailed");
        assert_eq!(again["figures"][0]["figure"].get("score"), None, "{}", again["figures"]);
        let shown = eval_job(folder.path()).args(["show"]).output().unwrap();
        assert_eq!(shown.status.code(), Some(0), "the first verdict stands");
    }
}

#[test]
fn a_judge_that_recovers_makes_a_judged_conversation_of_one_whose_judge_failed() {
    let folder = kept();
    let down = judge(|_| Reply::Json(400, json!({"error": {"message": "no"}})));
    let job = JOB.replace("scorer: {model: scripted}", "scorer: {model: openai/first}");
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut run = eval_job(folder.path());
    run.env("OPENAI_BASE_URL", format!("{}/v1", down.address)).env("OPENAI_API_KEY", "sk-hush");
    let output = run.args(["run", "job.yml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(102), "{output:?}");
    let up = judge(|_| verdict(1.0));
    let (status, words) = grade(folder.path(), &up, &[]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("verdict: incomplete → no gate"), "{words}");
}

#[test]
fn what_no_judge_was_asked_is_missing_until_one_is_asked() {
    let folder = kept();
    std::fs::write(folder.path().join("other.yml"), JOB.replace("a reminder is created", "it rings")).unwrap();
    let output = eval_job(folder.path()).args(["grade", "--job", "other.yml"]).output().unwrap();
    let missing = words(&output);
    assert_eq!(output.status.code(), Some(102), "{missing}");
    assert!(
        missing.contains("the judge was asked something else, and never this; --scorer-model MODEL asks it"),
        "{missing}"
    );
    let judge = judge(|_| verdict(0.5));
    let (status, words) = grade(folder.path(), &judge, &["--job", "other.yml", "-o", "again.json"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(judge.requests().iter().all(|request| request.body.contains("it rings")));
    let again = record(folder.path(), "again.json");
    assert!(again["trials"][0]["questions"][0]["prompt"].as_str().unwrap().contains("it rings"));
    // The same criteria were asked, so nothing is missing.
    let output = eval_job(folder.path()).args(["grade", "--job", "job.yml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn without_a_key_nothing_is_asked() {
    let folder = kept();
    let output = eval_job(folder.path()).args(["grade", "--scorer-model", "openai/other"]).output().unwrap();
    let words = words(&output);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("OPENAI_API_KEY is not set"), "{words}");
    assert!(!run_folder(folder.path()).join("grade-1.ndjson").exists());
}

#[test]
fn a_limit_that_is_reached_leaves_the_rest_missing() {
    let folder = kept();
    let judge = judge(|_| verdict(1.0));
    let (status, words) = grade(folder.path(), &judge, &["-j", "1", "--token-limit", "5000"]);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("stopped: limits.tokens (5000)"), "{words}");
    assert!(
        words.contains("the judge was not asked: limits.tokens (5000) is less than one request can take ("),
        "{words}"
    );
    assert!(words.contains("try a higher limit, or a smaller maxTokens of the model"), "{words}");
    let asked = judge.requests().len();
    assert!(asked < 2, "{asked}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_grading_keeps_what_was_paid_and_goes_on_there() {
    use std::io::{BufRead, BufReader};
    let folder = kept();
    // The second question is never answered.
    let (sent, arrived) = std::sync::mpsc::channel();
    let sent = std::sync::Mutex::new(sent);
    let judge = judge(move |nth| match nth {
        1 => {
            let _ = sent.lock().unwrap().send(());
            Reply::Silence
        }
        _ => verdict(0.5),
    });
    let mut command = grading(folder.path(), &judge, &["-j", "1"]);
    let mut child = command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    arrived.recv().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let told: Vec<String> = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told:?}");
    assert!(told.iter().any(|line| line.contains("interrupted: 1 answer of openai/other kept in")), "{told:?}");
    assert!(told.iter().any(|line| line.contains("openai/other took 2 calls")), "{told:?}");
    assert!(!run_folder(folder.path()).join("grade-1.json").exists(), "there is no verdict yet");
    assert!(
        told.iter().any(|line| line.starts_with("ask for the rest: eval-job grade --scorer-model openai/other")),
        "{told:?}"
    );
    let before = judge.requests().len();
    let (status, words) = grade(folder.path(), &judge, &[]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("asking openai/other about 1 of 2 conversations; answered before: 1 question"), "{words}");
    assert_eq!(judge.requests().len() - before, 1, "what was answered is not asked again");
    assert!(run_folder(folder.path()).join("grade-2.json").exists());
}

#[test]
fn what_is_left_of_a_grading_that_was_killed_stands_at_its_place_among_all_questions() {
    let folder = kept();
    let is_silent = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let silent = is_silent.clone();
    let judges = Server::start(move |request| match request.json()["model"].as_str() {
        Some("second") if silent.load(Ordering::SeqCst) => Reply::Silence,
        _ => verdict(0.5),
    });
    let panel = || {
        let mut command = eval_job(folder.path());
        command.env("OPENAI_BASE_URL", format!("{}/v1", judges.address)).env("OPENAI_API_KEY", "sk-hush");
        command.args(["grade", "--scorer-model", "openai/first,openai/second", "-j", "1"]);
        command
    };
    let verdicts = |number: u32| -> Vec<Value> {
        let journal = run_folder(folder.path()).join(format!("grade-{number}.ndjson"));
        let journal = std::fs::read_to_string(journal).unwrap_or_default();
        let lines = journal.lines().filter_map(|line| serde_json::from_str(line).ok());
        lines.filter(|line: &Value| line["kind"] == "judged").collect()
    };
    let mut child = panel().stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    while verdicts(1).is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before a verdict was kept");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    is_silent.store(false, Ordering::SeqCst);
    let asked = || judges.requests().iter().filter(|request| request.body.contains("\"messages\"")).count();
    let before = asked();
    let output = panel().output().unwrap();
    assert_eq!((output.status.code(), asked() - before), (Some(0), 3), "{}", words(&output));
    let mut places: Vec<(u64, u64, String)> = verdicts(2)
        .iter()
        .map(|line| {
            let judge = line["judgement"]["judge"].as_str().unwrap().to_owned();
            (line["trial"].as_u64().unwrap(), line["place"].as_u64().unwrap_or(99), judge)
        })
        .collect();
    places.sort();
    let judges = ["openai/first", "openai/second"];
    let all: Vec<(u64, u64, String)> = [1, 2]
        .into_iter()
        .flat_map(|trial| (0..).zip(judges).map(move |(at, judge)| (trial, at, judge.to_owned())))
        .collect();
    assert_eq!(places, all);
}

/// As on a full disk: nothing can be written to any file.
#[cfg(unix)]
#[test]
fn a_grading_of_which_nothing_could_be_written_leaves_no_file() {
    let folder = kept();
    let program = env!("CARGO_BIN_EXE_eval-job");
    let line = format!("trap '' XFSZ; ulimit -f 0; exec {program} grade --scorer-model scripted");
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(!run_folder(folder.path()).join("grade-1.ndjson").exists(), "{}", words(&output));
    // One that was ended before its first line is passed over.
    let output = eval_job(folder.path()).args(["grade", "--scorer-model", "scripted"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    std::fs::write(run_folder(folder.path()).join("grade-2.ndjson"), "").unwrap();
    let output = eval_job(folder.path()).arg("grade").output().unwrap();
    assert!(output.status.code() == Some(0), "{}", words(&output));
}

#[test]
fn conversations_that_were_over_when_judging_was_interrupted_can_be_judged_later() {
    let folder = kept();
    let journal = run_folder(folder.path()).join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let is_kept = |line: &&str| {
        let entry: Value = serde_json::from_str(line).unwrap();
        !["judged", "trialFinished", "runFinished"].contains(&entry["kind"].as_str().unwrap())
    };
    let lines: Vec<&str> = text.lines().filter(is_kept).collect();
    std::fs::write(&journal, lines.join("\n") + "\n").unwrap();
    let _ = std::fs::remove_file(run_folder(folder.path()).join("summary.json"));
    let judge = judge(|_| verdict(0.75));
    let (_, words) = grade(folder.path(), &judge, &["-o", "again.json"]);
    assert_eq!(
        judge.requests().iter().filter(|request| request.path.ends_with("/chat/completions")).count(),
        2,
        "{words}"
    );
    let again = record(folder.path(), "again.json");
    let outcomes: Vec<&Value> =
        again["trials"].as_array().unwrap().iter().map(|trial| &trial["outcome"]["kind"]).collect();
    assert_eq!(outcomes, ["graded", "graded"], "{words}");
}

#[test]
fn a_judge_that_failed_in_part_is_asked_only_for_the_rest() {
    let folder = kept();
    let judge = judge(|nth| match nth {
        1 => Reply::Json(404, json!({"error": {"message": "no such model"}})),
        _ => verdict(0.5),
    });
    let (status, words) = grade(folder.path(), &judge, &["-j", "1"]);
    assert_eq!((status, judge.requests().len()), (Some(102), 2), "{words}");
    let (status, words) = grade(folder.path(), &judge, &["-j", "1"]);
    assert_eq!((status, judge.requests().len()), (Some(0), 3), "{words}");
    assert!(words.contains("about 1 of 2 conversations"), "{words}");
    // Now it answered everything: what it said is kept, and without the cache it gives another opinion.
    let (status, words) = grade(folder.path(), &judge, &["-j", "1"]);
    assert_eq!((status, judge.requests().len()), (Some(0), 3), "{words}");
    let (status, words) = grade(folder.path(), &judge, &["-j", "1", "--no-cache"]);
    assert_eq!((status, judge.requests().len()), (Some(0), 5), "{words}");
}

#[test]
fn the_runs_own_judge_that_failed_in_part_is_asked_only_for_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("job.yml"),
        JOB.replace("scorer: {model: scripted}", "scorer: {model: openai/other}"),
    )
    .unwrap();
    let judge = judge(|nth| match nth {
        1 => Reply::Json(404, json!({"error": {"message": "no such model"}})),
        _ => verdict(0.5),
    });
    let mut run = eval_job(folder.path());
    run.env("OPENAI_BASE_URL", format!("{}/v1", judge.address)).env("OPENAI_API_KEY", "sk-hush");
    let output = run.args(["run", "job.yml", "-j", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(102), "{}", words(&output));
    let questions = || judge.requests().iter().filter(|request| request.path.ends_with("/chat/completions")).count();
    let before = questions();
    let (status, words) = grade(folder.path(), &judge, &["-j", "1"]);
    assert_eq!((status, questions() - before), (Some(0), 1), "{words}");
}

#[test]
fn the_wait_for_a_rate_limit_is_no_time_of_the_judge() {
    let folder = kept();
    std::fs::write(folder.path().join("job.yml"), format!("{JOB}limits: {{trial: 2}}\n")).unwrap();
    let judge = judge(|nth| match nth {
        0 => Reply::Json(429, json!({"error": {"message": "slow down", "details": [{"retryDelay": "3s"}]}})),
        _ => verdict(0.5),
    });
    let (status, words) = grade(folder.path(), &judge, &["--job", "job.yml"]);
    assert_eq!((status, judge.requests().len()), (Some(0), 3), "{words}");
}

#[test]
fn who_gave_no_verdict_is_named_with_its_address() {
    let folder = kept();
    std::fs::write(folder.path().join("job.yml"), format!("{JOB}limits: {{trial: 0.5}}\n")).unwrap();
    let silent = judge(|_| Reply::Silence);
    let (status, words) = grade(folder.path(), &silent, &["--job", "job.yml"]);
    assert_eq!(status, Some(102), "{words}");
    let who =
        format!("the judge's model openai/other at {}/v1 gave no verdict within 0.5 s (limits.trial)", silent.address);
    assert!(words.contains(&who), "{words}");
    let broken = judge(|_| Reply::Json(404, json!({"error": {"message": "no such model"}})));
    let (_, words) = grade(folder.path(), &broken, &[]);
    let who = format!("the judge's model openai/other: POST {}/v1/chat/completions: answered 404", broken.address);
    assert!(words.contains(&who), "{words}");
}

/// Both conversations are over when the second one's judge is silent.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_its_finished_conversations_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    let (sent, arrived) = std::sync::mpsc::channel();
    let sent = std::sync::Mutex::new(sent);
    let judge = judge(move |nth| match nth {
        1 => {
            let _ = sent.lock().unwrap().send(());
            Reply::Silence
        }
        _ => verdict(0.5),
    });
    let scorer = format!("scorer: {{model: {{name: openai/other, baseUrl: '{}/v1'}}}}", judge.address);
    std::fs::write(folder.path().join("job.yml"), JOB.replace("scorer: {model: scripted}", &scorer)).unwrap();
    let mut run = eval_job(folder.path());
    run.args(["run", "job.yml", "-j", "1", "--no-progress"]);
    let (status, words) = super::interrupted(run, &arrived);
    assert_eq!(status, Some(130), "{words}");
    let offered = words.replace("judge the finished conversations: ", "ask for the rest: ");
    let (_, again) = super::pasted(folder.path(), &offered);
    assert!(again.contains("asking openai/other about 1 of 2 conversations; answered before: "), "{words}{again}");
}
