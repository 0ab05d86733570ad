//! The transports end to end: the built program against other people's servers, untouched, and the clients against a
//! server that misbehaves. `scripts/peers` installs the servers; where one is missing its test says so and passes, except
//! on CI.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod a2a;
mod a2a_faults;
mod adk;
mod adk_eval;
mod adk_faults;
mod websocket;
mod trpc;
mod watsonx;
mod watsonx_faults;
mod contract;
mod http;
mod proxy;
mod tls;

use std::path::PathBuf;
use std::process::Output;

use eval_job::record::RunRecord;

use crate::house::root;
use crate::program::eval_job;

/// A program of a peer; `None`, said loudly, where it is not installed.
pub fn peer(folder: &str, program: &str) -> Option<PathBuf> {
    let path = root().join("target/peers").join(folder).join("venv/bin").join(program);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing: run scripts/peers", path.display());
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {} is not installed. Run scripts/peers.", path.display());
    None
}

/// Runs a job; what it printed, and its record.
fn run(job: &str, arguments: &[&str]) -> (Output, RunRecord) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["run", "job.yml", "--no-progress", "-o", "record.json"]).args(arguments);
    let output = command.output().unwrap();
    let record = std::fs::read(folder.path().join("record.json"))
        .unwrap_or_else(|_| panic!("{job}\nno record: {}", String::from_utf8_lossy(&output.stderr)));
    (output, serde_json::from_slice(&record).unwrap())
}
