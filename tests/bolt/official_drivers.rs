//! The official Python and JavaScript drivers. `scripts/peers` installs them; where they are missing the tests say so
//! and pass, except on CI.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use eval_job::graph::bolt::BoltLimits;

use super::{PASSWORD, door, number};
use crate::servers::neo4j;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether the driver's folder is there; on CI it must be.
fn installed(what: &str, folder: &Path) -> bool {
    if folder.exists() {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "{what} is missing: run scripts/peers");
    eprintln!("SKIPPED: {what} is not installed in {}. Run scripts/peers.", folder.display());
    false
}

/// Runs a script against a fresh door and gives what it counted in the end.
async fn run(program: &str, script: &str, variable: &str, folder: &Path) {
    let (graph, door) = door(BoltLimits { turn: Duration::from_secs(2), ..BoltLimits::default() }).await;
    let child = tokio::process::Command::new(program)
        .arg(root().join("tests/bolt/peers").join(script))
        .args([&door.uri(), PASSWORD])
        .env(variable, folder)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(240), child).await.expect("the script never ended").unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(words.lines().filter(|line| line.starts_with("ok")).count() > 9, "{words}");
    // The owner of the graph sees what the driver committed, and nothing that it rolled back.
    assert!(number(&graph, "MATCH (n:Counter) RETURN n.x").await >= 40);
    assert_eq!(number(&graph, "MATCH (n:Lost) RETURN count(n)").await, 0);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_driver_finds_a_neo4j() {
    let folder = root().join("target/peers/python");
    if installed("Python's neo4j", &folder.join("neo4j")) {
        run("python3", "peer.py", "PYTHONPATH", &folder).await;
    }
}

/// What statements wrote, told by whoever is at this address.
async fn counts(uri: &str, password: &str, user: &str) {
    let folder = root().join("target/peers/python");
    if !installed("Python's neo4j", &folder.join("neo4j")) {
        return;
    }
    let child = tokio::process::Command::new("python3")
        .arg(root().join("tests/bolt/peers/counts.py"))
        .args([uri, password, user])
        .arg(root().join("tests/bolt/counts.txt"))
        .env("PYTHONPATH", folder)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(240), child).await.expect("the script never ended").unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(words.lines().filter(|line| *line == "ok").count() > 100, "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_door_tells_what_a_statement_wrote_as_neo4j_does() {
    let (_graph, door) = door(BoltLimits::default()).await;
    counts(&door.uri(), PASSWORD, "neo4j").await;
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn neo4j_tells_what_a_statement_wrote_as_the_table_says() {
    let test = "neo4j_tells_what_a_statement_wrote_as_the_table_says";
    let Some(database) = neo4j::database(test).await else { return };
    counts(&database.server.uri, &database.server.password, &database.server.username).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_driver_finds_a_neo4j() {
    let folder = root().join("target/peers/js/node_modules");
    if installed("JavaScript's neo4j-driver", &folder.join("neo4j-driver")) {
        run("node", "peer.js", "NODE_PATH", &folder).await;
    }
}
