//! An agent that has forgotten its session while eval-job was cut off is not to blame: the conversation begins again.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;
use tokio::sync::Notify;

use super::same_words::{answer, job};
use super::wire::Wire;
use super::wires::wires;
use crate::edges::server::{Answer, Server};
use crate::program::{eval_job, words};

/// Runs the job and kills it as soon as its second message arrives.
async fn killed(folder: &Path, arrived: &Notify) {
    let mut command = eval_job(folder);
    command.args(["run", "job.yml", "--condition", "without-facts", "--no-progress"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    arrived.notified().await;
    child.kill().unwrap();
    child.wait().unwrap();
}

async fn forgets(wire: &Wire, refusal: Answer) {
    let (arrived, said, has_forgotten) = (Arc::new(Notify::new()), AtomicUsize::new(0), AtomicBool::new(false));
    let (own, told) = (wire.clone(), arrived.clone());
    let server = Server::start(move |_, request| {
        (own.before)(request).unwrap_or_else(|| {
            let heard = own.heard(request);
            if said.fetch_add(1, Ordering::SeqCst) == 1 {
                has_forgotten.store(true, Ordering::SeqCst);
                told.notify_one();
                return Answer::Hang;
            }
            if heard == "Hello" {
                has_forgotten.store(false, Ordering::SeqCst);
            }
            match has_forgotten.load(Ordering::SeqCst) {
                true => refusal.clone(),
                false => own.reply((own.says)(&answer(&heard))),
            }
        })
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job(&(wire.target)(&server.url), 5)).unwrap();
    killed(folder.path(), &arrived).await;
    let path = folder.path().to_path_buf();
    let resumed = move || {
        let mut command = eval_job(&path);
        let args = ["run", "--resume", "--condition", "without-facts", "--no-progress", "-o", "run.json"];
        command.args(args).output().unwrap()
    };
    let output = tokio::task::spawn_blocking(resumed).await.unwrap();
    let (name, printed) = (wire.name, words(&output));
    assert_eq!(output.status.code(), Some(0), "{name}: {printed}");
    let record: Value = serde_json::from_slice(&std::fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    let trial = &record["trials"][0];
    assert_eq!(trial["outcome"]["kind"], "graded", "{name}: {trial}");
    let turns = trial["evidence"]["transcript"].as_array().unwrap();
    assert_eq!(turns.len(), 4, "{name}: {trial}");
    assert!(turns.iter().all(|turn| turn["failures"].as_array().is_none_or(Vec::is_empty)), "{name}: {trial}");
    assert!(turns.iter().all(|turn| turn["maybeDelivered"].is_null()), "{name}: {trial}");
    assert_eq!(trial["replaced"].as_array().map(Vec::len), Some(1), "{name}: {trial}");
    assert_eq!(trial["scorecard"]["failureCount"], 0, "{name}: {trial}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_gone_after_a_break_is_begun_again_on_every_transport() {
    for wire in wires() {
        forgets(&wire, Answer::json(404, r#"{"detail": "Session not found"}"#)).await;
        if let Some(reported) = wire.reports {
            forgets(&wire, wire.reply(reported)).await;
        }
    }
}
