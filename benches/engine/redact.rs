//! What it costs to look for secrets in an entry of the journal that holds none.

use std::time::Instant;

use eval_job::secret::{Redactor, Secret};
use serde_json::{Value, json};

const ENTRIES: u32 = 2_000;

/// Prints a line for each number of secrets.
pub fn table() {
    let reply = "I have set \"mow the lawn\" for 5 % of Monday.\nSee http://host/path, anything else? ".repeat(12);
    let line = json!({"kind": "agentReplied", "trial": 1, "turn": 3, "text": reply, "ms": 12.5}).to_string();
    let entry: Value = serde_json::from_str(&line).unwrap();
    for secrets in [2, 8, 24] {
        let redactor = Redactor::default();
        for number in 0..secrets {
            redactor.learn(&Secret::new(format!("sk-canary-{number}-{}", "aB3/x".repeat(6))));
        }
        let is_clean = || redactor.cleared(&entry, line.as_bytes()).unwrap().is_none();
        let started = Instant::now();
        assert!(is_clean());
        let first = started.elapsed().as_secs_f64() * 1e3;
        let started = Instant::now();
        for _ in 0..ENTRIES {
            assert!(is_clean());
        }
        let each = started.elapsed().as_secs_f64() * 1e6 / f64::from(ENTRIES);
        println!(
            "redact {secrets:>4} secrets: {each:>9.2} µs an entry of {} bytes, {first:.2} ms the first",
            line.len()
        );
    }
}
