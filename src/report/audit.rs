//! The report on agents that do nothing.

use std::fmt::Write;

use super::{one_line, plain};
use crate::record::{Audit, AuditFinding};

/// Labels are shown whole, unless they are scripts of many lines.
const LABEL: usize = 80;

/// The metric of how fast replies are.
const TIMING: &str = "timing";

/// Where timing has more than this share of the weights, it is named.
const MUCH: f64 = 0.5;

/// The report on one job.
pub fn audit(file: &str, name: &str, audit: &Audit) -> String {
    let mut text = format!("{} · {}\n", plain(file), plain(name));
    let number = |score: Option<f64>| score.map_or("–".to_owned(), |score| format!("{score:.2}"));
    let agents: Vec<String> = audit.agents.iter().map(|it| format!("{} {}", it.agent, number(it.score))).collect();
    let _ = match audit.score() {
        Some(score) => {
            let is_timed = audit.findings.iter().any(|finding| finding.metric == TIMING);
            let timing = if is_timed { "timing is counted where nothing else is" } else { "timing is not counted" };
            writeln!(text, "trivial-agent score {score:.2} · {} · {timing}", agents.join(" · "))
        }
        None => writeln!(text, "trivial-agent score not determined · {}", audit.why_no_score()),
    };
    for finding in &audit.findings {
        let _ = writeln!(text, "  ✗ {}", sentence(finding));
    }
    if audit.timing_share > MUCH && audit.timing_share < 1.0 {
        let share = audit.timing_share * 100.0;
        let _ = writeln!(
            text,
            "  ✗ timing has {share:.0} % of the weights, and an agent that does nothing is fast · lower its weight"
        );
    }
    if !audit.undetermined.is_empty() {
        let _ = writeln!(text, "  not determined without the judge: {}", plain(&audit.undetermined.join(", ")));
    }
    if !audit.unmeasured.is_empty() {
        let _ = writeln!(text, "  not measured: {}", plain(&audit.unmeasured.join(", ")));
    }
    for broken in &audit.broken {
        let _ = writeln!(text, "  not audited: {}", plain(broken));
    }
    text
}

fn sentence(finding: &AuditFinding) -> String {
    let AuditFinding { case, dimension, metric, part, agents, held_before } = finding;
    let what = match (metric.as_str(), part) {
        ("assertions", Some(part)) => format!("assertion {}", one_line(part, LABEL)),
        ("tasks", Some(part)) => format!("task {}", one_line(part, LABEL)),
        (_, Some(part)) => format!("{}: {}", plain(dimension), one_line(part, LABEL)),
        (_, None) => format!("{}, all of it", plain(dimension)),
    };
    let agents = agents.join(", ");
    let only = |names: &[&str]| finding.agents.iter().all(|agent| names.contains(&agent.as_str()));
    let (how, help) = match (held_before, metric.as_str()) {
        (true, _) => ("holds before the first word".to_owned(), "assert what the conversation must have changed"),
        (_, "assertions") if only(&["echo", "list"]) => (
            format!("lets {agents} pass"),
            "look for words that neither the user nor the graph has, or at what changed",
        ),
        (_, "assertions") => (format!("lets {agents} pass"), "assert what must have changed, or what must be said"),
        (_, TIMING) => {
            ("is all that counts".to_owned(), "an agent that does nothing is fast: measure what it must do, too")
        }
        (_, "tasks") => {
            (format!("is verified for {agents}"), "name assertions in verifiedBy that fail where nothing was done")
        }
        _ => {
            (format!("lets {agents} pass"), "expect a tool call, a reply or a state that doing nothing does not bring")
        }
    };
    format!("{what} (case {}) {how} · {help}", plain(case))
}
