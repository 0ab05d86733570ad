//! What a judge has answered is kept and not asked for again, also while another one is still waited for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{eval_job, kept_run, words};
use crate::servers::http::{Reply, Request, Server};
use crate::servers::model;

/// A job with a panel of two judges, of whom `slow` says nothing at first.
struct Desk {
    folder: tempfile::TempDir,
    _agent: Server,
    judges: Server,
    is_silent: Arc<AtomicBool>,
    /// Tells that `slow` was asked.
    asked: mpsc::Receiver<()>,
}

fn judge_of(request: &Request) -> String {
    request.json()["model"].as_str().unwrap_or_default().to_owned()
}

impl Desk {
    fn new(scorer: &str) -> Desk {
        let agent = Server::start(|_| {
            let message = json!({"role": "assistant", "content": "Locker 7."});
            Reply::Json(200, json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
        });
        let (sender, asked) = mpsc::channel();
        let (sender, is_silent) = (Mutex::new(sender), Arc::new(AtomicBool::new(true)));
        let silent = is_silent.clone();
        let judges = Server::start(move |request| {
            if judge_of(request) == "slow" && silent.load(Ordering::SeqCst) {
                let _ = sender.lock().unwrap().send(());
                return Reply::Silence;
            }
            model::answer("good", request)
        });
        let folder = tempfile::tempdir().unwrap();
        let job = format!(
            "name: Lockers\ntarget: {{user: u, chatbot: c, openai: {{baseUrl: '{}/v1'}}}}\nfacts: []\ngreetings: []\n\
             evaluator: {{script: [Where is it?]}}\nscorer: {scorer}\nmetrics: [tasks]\n\
             tasks: [{{task: Ask where the locker is, acceptanceCriteria: It is named}}]\n",
            agent.address
        );
        fs::write(folder.path().join("job.yml"), job).unwrap();
        Desk { folder, _agent: agent, judges, is_silent, asked }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = eval_job(self.folder.path());
        command.env("OPENAI_API_KEY", "sk-test").env("OPENAI_BASE_URL", format!("{}/v1", self.judges.address));
        command.args(line.split_whitespace());
        command
    }

    fn typed(&self, line: &str) -> (Option<i32>, String) {
        let output = self.command(line).output().unwrap();
        (output.status.code(), words(&output))
    }

    fn run(&self) -> PathBuf {
        kept_run(self.folder.path()).unwrap()
    }

    /// How often each of the two was asked.
    fn times(&self) -> [usize; 2] {
        let requests = self.judges.requests();
        ["slow", "quick"].map(|judge| requests.iter().filter(|request| judge_of(request) == judge).count())
    }
}

/// Waits until a file has this in it.
fn wait_for(file: &Path, text: &str) {
    let since = Instant::now();
    while !fs::read_to_string(file).unwrap_or_default().contains(text) {
        assert!(since.elapsed() < Duration::from_secs(30), "no {text} in {}", file.display());
        std::thread::yield_now();
    }
}

#[test]
fn a_verdict_is_kept_while_a_judge_before_it_is_waited_for_and_not_paid_for_twice() {
    let desk = Desk::new("{model: [openai/slow, openai/quick], samples: 2, temperature: 0.5}");
    let mut child = desk.command("run job.yml --no-progress --no-cache");
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    desk.asked.recv().unwrap();
    desk.asked.recv().unwrap();
    let journal = desk.run().join("journal.ndjson");
    wait_for(&journal, "\"judged\"");
    let since = Instant::now();
    while fs::read_to_string(&journal).unwrap().matches("\"judged\"").count() < 2 {
        assert!(since.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let record =
        |line: &str| -> Value { serde_json::from_slice(&desk.command(line).output().unwrap().stdout).unwrap() };
    let killed = record("show --json");
    let of_quick = |record: &Value| {
        let calls = record["trials"][0]["calls"].as_array().unwrap();
        calls.iter().filter(|call| call["model"] == "openai/quick").count()
    };
    assert_eq!(of_quick(&killed), 2, "what was spent is in the table of tokens: {}", killed["trials"][0]["calls"]);
    desk.is_silent.store(false, Ordering::SeqCst);
    let (status, printed) = desk.typed("run --resume job.yml --no-progress --no-cache");
    assert_eq!((status, desk.times()), (Some(0), [4, 2]), "{printed}");
    let resumed = record("show --json");
    assert_eq!(of_quick(&resumed), 2);
    let judges: Vec<&str> = resumed["trials"][0]["judgements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|judgement| judgement["judge"].as_str().unwrap())
        .collect();
    let (_, whole) = desk.typed("run job.yml --no-progress --no-cache -o whole.json");
    let whole: Value = serde_json::from_slice(&fs::read(desk.folder.path().join("whole.json")).expect(&whole)).unwrap();
    let in_order: Vec<&str> = whole["trials"][0]["judgements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|judgement| judgement["judge"].as_str().unwrap())
        .collect();
    assert_eq!(judges, in_order, "the answers are in the order of the questions");
}

#[test]
fn an_answer_about_a_stored_run_is_kept_while_a_judge_before_it_is_waited_for() {
    let desk = Desk::new("{model: scripted}");
    let (status, printed) = desk.typed("run job.yml --no-progress");
    assert_eq!(status, Some(0), "{printed}");
    let command = desk.command("grade --scorer-model openai/slow,openai/quick --no-cache");
    let child = { command }.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    desk.asked.recv().unwrap();
    wait_for(&desk.run().join("grade-1.ndjson"), "\"judged\"");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let printed = words(&child.wait_with_output().unwrap());
    assert!(printed.contains("interrupted: 1 answer of "), "{printed}");
    desk.is_silent.store(false, Ordering::SeqCst);
    let (_, printed) = desk.typed("grade --scorer-model openai/slow,openai/quick --no-cache");
    assert_eq!(desk.times()[1], 1, "{printed}");
}
