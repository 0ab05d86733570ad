//! One suite over every transport: what each makes of the same faults, and of the same conversation.
//!
//! `outcomes.txt` has every outcome to the letter: `EVAL_JOB_TEST_BLESS=1` writes it; read the difference. A new transport
//! is one more row in `wires.rs`. Invariant: the same fault has the same kind and the same number of tries on every
//! transport, but for those in `differences.rs`, each with its reason.

mod command;
mod differences;
mod faults;
mod forgotten;
mod latency;
mod outcome;
mod replayed;
mod same_words;
mod websocket;
mod whose;
mod wire;
mod wires;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;

use crate::house::root;
use differences::DIFFERENCES;
use faults::{FAULTS, Fault, SILENCES, meet};
use outcome::Outcome;
use wires::wires;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_fault_comes_out_the_same_on_every_transport() {
    let file = root().join("tests/transports/contract/outcomes.txt");
    let is_blessed = std::env::var_os("EVAL_JOB_TEST_BLESS").is_some();
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    let mut page = String::new();
    let mut wrong = Vec::new();
    let mut used = vec![false; DIFFERENCES.len()];
    for fault in FAULTS {
        let mut met = all_meet(fault, SILENCES[0]).await;
        // A message that comes later than the silence ends is not yet another outcome.
        for longer in SILENCES.into_iter().skip(1).filter(|_| fault.name.contains("silence") && !is_blessed) {
            if expected.contains(&section(fault, &met)) {
                break;
            }
            met = all_meet(fault, longer).await;
        }
        page.push_str(&section(fault, &met));
        for (name, outcome) in &met {
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
    if is_blessed {
        return std::fs::write(&file, &page).unwrap();
    }
    for (line, expected) in page.lines().zip(expected.lines()) {
        assert_eq!(line, expected, "outcomes.txt");
    }
    assert_eq!(page.lines().count(), expected.lines().count(), "outcomes.txt");
}

/// What all transports make of a fault.
async fn all_meet(fault: &Fault, silence: Duration) -> BTreeMap<&'static str, Outcome> {
    let wires = wires();
    let meeting = wires.iter().map(|wire| async { (wire.name, meet(wire, fault, silence).await) });
    let mut outcomes: BTreeMap<&str, Outcome> =
        join_all(meeting).await.into_iter().filter_map(|(name, outcome)| Some((name, outcome?))).collect();
    outcomes.extend(command::meet(fault.name, silence).await.map(|outcome| ("command", outcome)));
    outcomes.extend(websocket::meet(fault, silence).await.map(|outcome| ("websocket", outcome)));
    for outcome in outcomes.values_mut() {
        outcome.line = outcome.line.replace(&format!("within {silence:?}"), "within SILENCE");
    }
    outcomes
}

/// The outcomes of a fault, as they stand in `outcomes.txt`.
fn section(fault: &Fault, outcomes: &BTreeMap<&str, Outcome>) -> String {
    let lines: String = outcomes.iter().map(|(name, outcome)| format!("{name}: {}\n", outcome.line)).collect();
    format!("== {}\n{lines}", fault.name)
}
