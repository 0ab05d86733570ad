//! `--print-detailed-results`: each turn with what was expected, what came, and its scores.

use serde_json::Value;

use super::error::CliError;
use super::stored::StoredCases;
use crate::clock::Clock;
use crate::evidence::{CallsByTurn, ToolUse};
use crate::grade::metric_input;
use crate::job::{Case, Job};
use crate::metric::trajectory::{Expectation, ExpectedCall};
use crate::record::TrialRecord;
use crate::report::{decimals, plain, telling_decimals};
use crate::score::{Dimension, Item, Outcome};
use crate::store::StoredRun;
use crate::store::folder::JournalFile;

/// Prints the turns of all trials; nothing of a run whose job was not kept.
pub(super) fn print(
    run: &JournalFile,
    clock: Clock,
    show: impl Fn(&str) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let Some(job) = run.job.as_ref().and_then(|job| Job::restored(job).ok()) else { return Ok(()) };
    let cases = StoredCases::new(&job);
    for trial in run.trials() {
        let trial = trial?;
        let Some(case) = cases.case(&trial) else { continue };
        show(&trial_text(&job, clock, &case, &trial))?;
    }
    Ok(())
}

fn trial_text(job: &Job, clock: Clock, case: &Case, trial: &TrialRecord) -> String {
    let id = &trial.trial;
    let repeat = if job.repeat > 1 { format!(" · repeat {}", id.repeat) } else { String::new() };
    let mut page = format!("\n{} · {}{repeat}\n", plain(&id.case), plain(&id.model));
    let dimensions = trial.scorecard.as_ref().map(|card| card.dimensions.as_slice()).unwrap_or_default();
    let failure = trial.outcome.as_ref().filter(|outcome| matches!(outcome, Outcome::AgentFailed { .. }));
    for dimension in dimensions {
        page += &format!("  {}\n", dimension_text(dimension, failure.is_some()));
    }
    if let Some(Outcome::AgentFailed { error }) = failure {
        page += &format!("  the agent failed: {}\n", line(error));
    }
    let Some(evidence) = &trial.evidence else {
        let why = trial.why_no_score().unwrap_or_default();
        page += &format!("  no conversation: {}\n", plain(&why));
        return page;
    };
    let input = metric_input(job, case, evidence, clock);
    let made = CallsByTurn::new(&evidence.transcript);
    for turn in evidence.transcript.turns.iter().filter(|turn| !turn.is_greeting()) {
        page += &format!("  turn {} · {}\n", turn.number, line(&turn.user));
        let nothing = Expectation::default();
        let expected = input.lines.iter().find(|line| line.turn == turn.number).map(|line| &*line.expected);
        let expected = expected.unwrap_or(&nothing);
        let reply = expected.reply.as_deref().map_or_else(|| "(none said)".to_owned(), line);
        page += &format!("    expected reply: {reply}\n");
        page += &format!("    actual reply:   {}\n", turn.agent.as_deref().map_or_else(|| "(none)".to_owned(), line));
        let calls = expected.calls.as_ref().map(|calls| calls.iter().map(expected_call).collect());
        page += &format!("    expected calls: {}\n", calls.map_or_else(|| "(none said)".to_owned(), list));
        page += &format!("    actual calls:   {}\n", list(made.of_turn(turn.number).iter().map(call).collect()));
        let label = format!("turn {} · ", turn.number);
        let of_turn = |dimension: &Dimension| {
            let item = dimension.items.iter().find(|item| item.label.starts_with(&label))?;
            Some(format!("{} {}", plain(&dimension.name), score(item)))
        };
        let scores: Vec<String> = dimensions.iter().filter_map(of_turn).collect();
        if !scores.is_empty() {
            page += &format!("    scores:         {}\n", scores.join(", "));
        }
    }
    page
}

/// `response_match_score: passed, 0.85 of at least 0.80`. Where the agent failed no threshold is reached, whatever its replies
/// before are worth.
fn dimension_text(dimension: &Dimension, has_agent_failed: bool) -> String {
    let name = plain(&dimension.name);
    let Some(score) = dimension.component.score() else {
        let why = dimension.component.why().lines().next().unwrap_or_default().to_owned();
        return format!("{name}: not evaluated ({})", plain(&why));
    };
    match dimension.threshold {
        None => format!("{name}: {:.2}", score.get()),
        Some(threshold) => {
            let verdict = if has_agent_failed || score.is_below(threshold) { "failed" } else { "passed" };
            let why = if has_agent_failed { "; the agent failed" } else { "" };
            let (score, threshold) = (score.get(), threshold.get());
            let digits = telling_decimals(&[score, threshold]);
            format!("{name}: {verdict}, {} of at least {}{why}", decimals(score, digits), decimals(threshold, digits))
        }
    }
}

fn score(item: &Item) -> String {
    item.component.score().map_or_else(|| "not evaluated".to_owned(), |score| format!("{:.2}", score.get()))
}

/// A text on one line.
fn line(text: &str) -> String {
    plain(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn list(calls: Vec<String>) -> String {
    if calls.is_empty() { "none".to_owned() } else { calls.join(", ") }
}

fn expected_call(call: &ExpectedCall) -> String {
    written(&call.tool, call.args.as_deref())
}

fn call(used: &ToolUse) -> String {
    written(&used.tool, Some(&used.args))
}

fn written(tool: &str, args: Option<&Value>) -> String {
    let args = args.map_or_else(|| "…".to_owned(), Value::to_string);
    format!("{}({})", plain(tool), line(&args))
}
