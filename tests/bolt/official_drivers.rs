//! The official Python and JavaScript drivers. `scripts/peers` installs them; where they are missing the tests say so
//! and pass, except on CI.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use eval_job::graph::bolt::BoltLimits;

use super::{PASSWORD, door, number};

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

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_driver_finds_a_neo4j() {
    let folder = root().join("target/peers/js/node_modules");
    if installed("JavaScript's neo4j-driver", &folder.join("neo4j-driver")) {
        run("node", "peer.js", "NODE_PATH", &folder).await;
    }
}
