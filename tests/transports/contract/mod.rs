//! One suite over every transport: what each makes of the same faults, and of the same conversation.
//!
//! `outcomes.txt` has every outcome to the letter: `EVAL_JOB_TEST_BLESS=1` writes it; read the difference. A new transport
//! is one more row in `wires.rs`. Invariant: the same fault has the same kind and the same number of tries on every
//! transport, but for those in `differences.rs`, each with its reason.

mod command;
mod differences;
mod faults;
mod latency;
mod outcome;
mod same_words;
mod websocket;
mod whose;
mod wire;
mod wires;

use std::collections::BTreeMap;

use futures_util::future::join_all;

use crate::house::root;
use differences::DIFFERENCES;
use faults::{FAULTS, meet};
use outcome::Outcome;
use wires::wires;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_fault_comes_out_the_same_on_every_transport() {
    let mut page = String::new();
    let mut wrong = Vec::new();
    let mut used = vec![false; DIFFERENCES.len()];
    for fault in FAULTS {
        let mut outcomes: BTreeMap<&str, Outcome> = BTreeMap::new();
        let wires = wires();
        let meeting = wires.iter().map(|wire| async { (wire.name, meet(wire, fault).await) });
        for (name, outcome) in join_all(meeting).await {
            outcomes.extend(outcome.map(|outcome| (name, outcome)));
        }
        outcomes.extend(command::meet(fault.name).await.map(|outcome| ("command", outcome)));
        outcomes.extend(websocket::meet(fault).await.map(|outcome| ("websocket", outcome)));
        page.push_str(&format!("== {}\n", fault.name));
        for (name, outcome) in &outcomes {
            page.push_str(&format!("{name}: {}\n", outcome.line));
            let differs = DIFFERENCES.iter().position(|other| other.fault == fault.name && other.wires.contains(name));
            let expected = differs.map_or(fault.comes_out, |at| DIFFERENCES[at].comes_out);
            differs.into_iter().for_each(|at| used[at] = true);
            // What a command or a connection was given is a message, and nothing is said twice.
            let is_said_once = *name == "command" || (*name == "websocket" && websocket::is_said(fault.name));
            let tries = if is_said_once { expected.1.min(1) } else { expected.1 };
            if (outcome.kind, outcome.arrived) != (expected.0, tries) {
                let got = (outcome.kind, outcome.arrived);
                wrong.push(format!("{}, {name}: {got:?} instead of {expected:?}: {}", fault.name, outcome.line));
            }
        }
    }
    for (difference, _) in DIFFERENCES.iter().zip(used).filter(|(_, used)| !used) {
        wrong.push(format!("nobody differs in {:?}: {}", difference.fault, difference.why));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let file = root().join("tests/transports/contract/outcomes.txt");
    if std::env::var_os("EVAL_JOB_TEST_BLESS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    for (line, expected) in page.lines().zip(expected.lines()) {
        assert_eq!(line, expected, "outcomes.txt");
    }
    assert_eq!(page.lines().count(), expected.lines().count(), "outcomes.txt");
}
