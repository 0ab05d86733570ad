//! `kill -9` loses no finished turn, whenever it strikes.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::http::{Reply, Server};

/// How many user messages the job of this test sends over both conditions.
const MESSAGES: usize = 24;

/// An agent that calls out when the `strike`th message arrives and then never answers it.
fn agent(strike: Option<usize>) -> (Server, mpsc::Receiver<()>) {
    let (arrived, arrivals) = mpsc::channel();
    let arrived = Mutex::new(arrived);
    let messages = AtomicUsize::new(0);
    let server = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        "/api/v1/chat/messages" => {
            let number = messages.fetch_add(1, Ordering::SeqCst) + 1;
            if Some(number) == strike {
                let _ = arrived.lock().unwrap().send(());
                return Reply::Silence;
            }
            let text = format!("reply {number}: naïve “quotes”\nand lines {}", "x".repeat(number * 7 % 90));
            Reply::Json(200, json!({"sessionId": "s", "message": {"content": text, "role": "assistant"}, "events": []}))
        }
        _ => Reply::Json(404, json!({})),
    });
    (server, arrivals)
}

struct Running {
    child: Child,
    folder: tempfile::TempDir,
}

fn start(server: &Server) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (1..MESSAGES / 2).map(|line| format!("    - line {line}")).collect();
    let job = format!(
        "evaluator:\n  script:\n{}\nscorer: {{model: scripted}}\n\
         target: {{user: u, chatbot: c, embabel: {{baseUrl: {}}}}}\nmaxTurns: 100\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n",
        lines.join("\n"),
        server.address
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let child =
        eval_job(folder.path()).args(["run", "job.yml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    Running { child, folder }
}

impl Running {
    fn journal(&self) -> Option<PathBuf> {
        Some(super::kept_run(self.folder.path())?.join("journal.ndjson"))
    }

    fn journal_bytes(&self) -> usize {
        self.journal().and_then(|path| std::fs::metadata(path).ok()).map_or(0, |data| data.len() as usize)
    }

    /// Kills it with SIGKILL and checks that what is kept is all that was finished.
    fn kill_and_check(mut self, server: &Server, moment: &str) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let sent: Vec<String> = server
            .requests()
            .iter()
            .filter(|request| request.path.ends_with("/messages"))
            .map(|request| request.json()["message"]["content"].as_str().unwrap().to_owned())
            .collect();
        let (turns, said) = self.journal().map(|path| kept(&path)).unwrap_or_default();
        // Every message but the last has been answered, and its turn was written before the next was sent.
        assert!(turns.len() + 1 >= sent.len(), "{moment}: {} turns kept, {} messages sent", turns.len(), sent.len());
        assert_eq!(turns, sent[..turns.len()], "{moment}");
        // A message was written before it was sent.
        assert!(said.len() >= sent.len(), "{moment}: {} messages kept, {} sent", said.len(), sent.len());
        self.check_show(turns.len(), moment);
    }

    fn check_show(&self, turns: usize, moment: &str) {
        if self.journal_bytes() == 0 {
            return;
        }
        let record = self.folder.path().join("record.json");
        let output = eval_job(self.folder.path()).args(["show", "-o"]).arg(&record).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let whole = super::kept_run(self.folder.path()).unwrap().join("summary.json");
        let Ok(bytes) = std::fs::read(&record) else {
            assert!(words.contains("cut off"), "{moment}: {words}");
            return;
        };
        let record: Value = serde_json::from_slice(&bytes).unwrap();
        let shown: usize = record["trials"]
            .as_array()
            .unwrap()
            .iter()
            .map(|trial| trial["evidence"]["transcript"].as_array().map_or(0, Vec::len))
            .sum();
        assert_eq!(shown, turns, "{moment}");
        // A run that was killed after its last trial's end lacks nothing but its last line.
        let finished = record["trials"].as_array().unwrap().iter().all(|trial| !trial["finishedAt"].is_null());
        assert_eq!(output.status.code(), Some(if finished { 0 } else { 102 }), "{moment}: {words}");
        assert!(!whole.exists() || !record["finishedAt"].is_null(), "{moment}: a run that was killed has no summary");
    }
}

/// The user messages of the finished turns, and of all that were about to be sent, from the journal's whole lines.
fn kept(journal: &Path) -> (Vec<String>, Vec<String>) {
    let text = std::fs::read(journal).unwrap();
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let entries: Vec<Value> = text[..whole]
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let of = |kind: &str, pointer: &str| {
        entries
            .iter()
            .filter(|entry| entry["kind"] == kind)
            .map(|entry| entry.pointer(pointer).unwrap().as_str().unwrap().to_owned())
            .collect()
    };
    (of("turnFinished", "/turn/user"), of("userSaid", "/text"))
}

/// The journal of a run that nobody killed: how long it is, and that nothing of it is missing.
fn whole_run() -> usize {
    let (server, _) = agent(None);
    let mut run = start(&server);
    assert_eq!(run.child.wait().unwrap().code(), Some(0));
    assert_eq!(kept(&run.journal().unwrap()).0.len(), MESSAGES);
    run.journal_bytes()
}

#[test]
fn no_finished_turn_is_lost_wherever_the_journal_stands() {
    let bytes = whole_run();
    let mut rng = fastrand::Rng::with_seed(20_261_120);
    for _ in 0..20 {
        let strike = rng.usize(1..bytes);
        let (server, _) = agent(None);
        let mut run = start(&server);
        while run.journal_bytes() < strike && run.child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        run.kill_and_check(&server, &format!("at byte {strike} of {bytes}"));
    }
}

#[test]
fn no_finished_turn_is_lost_between_request_and_reply() {
    for strike in (1..=MESSAGES).step_by(2).take(10) {
        let (server, arrivals) = agent(Some(strike));
        let run = start(&server);
        arrivals.recv_timeout(Duration::from_secs(30)).unwrap();
        run.kill_and_check(&server, &format!("while message {strike} was being answered"));
    }
}

#[test]
fn ctrl_c_saves_and_says_how_to_show_it() {
    let (server, arrivals) = agent(Some(5));
    let server = Arc::new(server);
    let folder;
    let output = {
        let run = start(&server);
        folder = run.folder;
        let mut child = run.child;
        arrivals.recv_timeout(Duration::from_secs(30)).unwrap();
        let signal = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(signal.success());
        child.wait().unwrap()
    };
    assert_eq!(output.code(), Some(130));
    let shown = eval_job(folder.path()).args(["show"]).output().unwrap();
    assert_eq!(shown.status.code(), Some(130));
    let page = String::from_utf8(shown.stdout).unwrap();
    assert!(page.contains("4 turns kept, one message was on its way"), "{page}");
    let listed = eval_job(folder.path()).arg("list").output().unwrap();
    assert!(String::from_utf8(listed.stdout).unwrap().contains("interrupted"));
}
