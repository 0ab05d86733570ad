//! A run on every transport, recorded and replayed: every report is the same, but for what is marked as time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;
use serde_json::{Value, json};

use super::same_words::{COMMAND, answer, heard, job};
use super::websocket;
use super::wire::Wire;
use super::wires::wires;
use crate::edges::server::{Answer, Server};
use crate::program::cassette::assert_same;
use crate::program::{eval_job, words};
use crate::servers::websocket::Peer;

/// The reports that are written, beside the record.
const REPORTS: [&str; 6] = ["html", "xml", "md", "csv", "tokens.json", "json"];

/// Runs the job in this folder once more; its status, and what it printed.
fn hold(folder: PathBuf, name: &'static str, flags: &'static str) -> (Option<i32>, String) {
    let mut command = eval_job(&folder);
    command.args(["run", "job.yml", "--model", "a", "--repeat", "2", "-j", "3", "--no-progress"]);
    for report in REPORTS {
        command.args(["-o", &format!("{name}.{report}")]);
    }
    let output = command.args(flags.split_whitespace()).output().unwrap();
    (output.status.code(), words(&output))
}

/// A report without the run's id and all times.
fn timeless(folder: &Path, name: &str, report: &str) -> String {
    let read = |path: String| std::fs::read_to_string(folder.join(path)).unwrap();
    let record: Value = serde_json::from_str(&read(format!("{name}.json"))).unwrap();
    let text = read(format!("{name}.{report}")).replace(record["id"].as_str().unwrap(), "ID");
    let day = Regex::new(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?").unwrap();
    // How long all of it took, which the record marks by its two moments.
    let took = Regex::new(r"\b\d+(\.\d+)? (ms|s|min|h)\b").unwrap();
    let marked = Regex::new(r#"\b(time|timestamp)="[^"]*""#).unwrap();
    let text = took.replace_all(&day.replace_all(&text, "TIME"), "TOOK").into_owned();
    let text = marked.replace_all(&text, "TIME").into_owned();
    match report {
        "csv" => without_column(&text, "seconds"),
        _ => text,
    }
}

/// A table without the columns whose names end like this.
fn without_column(text: &str, ending: &str) -> String {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let left_out: Vec<usize> =
        names.iter().enumerate().filter(|(_, name)| name.ends_with(ending)).map(|(at, _)| at).collect();
    let row = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(at, _)| !left_out.contains(at));
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
    };
    lines.map(row).collect::<Vec<_>>().join("\n")
}

/// Records, lets the agent go, replays and compares.
async fn twice(name: &str, target: Value, agent: impl Sized) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job(&target, 5)).unwrap();
    let hold = |name, flags| {
        let folder = folder.path().to_path_buf();
        async move { tokio::task::spawn_blocking(move || hold(folder, name, flags)).await.unwrap() }
    };
    let (status, recorded) = hold("recorded", "--cassette-record tape").await;
    drop(agent);
    let (again, replayed) = hold("replayed", "--cassette-replay tape").await;
    assert!(matches!(status, Some(0 | 102)), "{name}: {recorded}");
    assert_eq!(status, again, "{name}: {recorded}\n{replayed}");
    assert!(!replayed.contains("not used") && !replayed.contains("not recorded"), "{name}: {replayed}");
    assert_same(&folder.path().join("recorded.json"), &folder.path().join("replayed.json"));
    for report in REPORTS.into_iter().filter(|report| !report.ends_with("json")) {
        let [one, other] = ["recorded", "replayed"].map(|name| timeless(folder.path(), name, report));
        let different = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert!(one == other, "{name}, {report}: {different:#?}");
    }
}

/// An agent that fails at its third message, once.
async fn stumbling(wire: &Wire) -> Server {
    let (wire, said) = (wire.clone(), AtomicUsize::new(0));
    Server::start(move |_, request| {
        (wire.before)(request).unwrap_or_else(|| match said.fetch_add(1, Ordering::SeqCst) {
            2 => Answer::json(503, json!({"error": "out of order"}).to_string()),
            _ => wire.reply((wire.says)(&answer(&wire.heard(request)))),
        })
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_on_every_transport_is_replayed_to_the_same_reports() {
    let command = json!({"command": {"command": "sh", "args": ["-c", COMMAND], "greeting": false}});
    twice("command", command, ()).await;
    for wire in wires() {
        let server = stumbling(&wire).await;
        let target = (wire.target)(&server.url);
        twice(wire.name, target, server).await;
    }
    let peer = Peer::answering(vec![], vec![], |_, said| websocket::says(&answer(&heard(said)))).await;
    let target = websocket::target(&peer.url);
    twice("websocket", target, peer).await;
}
