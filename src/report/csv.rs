//! CSV for spreadsheets and data frames: a row a conversation, by RFC 4180.
//!
//! Invariant: no cell is a formula, whatever an agent or a model said.

use std::io::Write;

use super::format::{DocumentResult, WrittenRun};
use super::lost::lost_texts;
use super::one_line;
use crate::evidence::Usage;
use crate::evidence::figures::{FigureKind, FigureTotals};
use crate::record::{Asker, DocumentError, RunSummary, TrialRecord};
use crate::score::{Component, Outcome};

/// The columns before those of the dimensions.
const FIRST: [&str; 11] = [
    "run",
    "job",
    "case",
    "model",
    "condition",
    "repeat",
    "started_at",
    "seconds",
    "outcome",
    "verdict_of_run",
    "score",
];

/// The columns behind them.
const LAST: [&str; 16] = [
    "turns",
    "failed_tries",
    "penalty",
    "mean_latency_ms",
    "mean_first_token_ms",
    "reply_seconds",
    "tool_calls",
    "model_calls",
    "agent_input_tokens",
    "agent_output_tokens",
    "persona_tokens",
    "judge_tokens",
    "events",
    "graph_changes",
    "session",
    "why",
];

/// A reason is cut to so many characters: all of it is in the record.
const LONGEST: usize = 1000;

/// Writes the conversations of these runs.
pub(super) fn write<E>(runs: &[WrittenRun<'_, E>], to: &mut dyn Write) -> DocumentResult<E> {
    let mut dimensions: Vec<&str> = Vec::new();
    let all = runs.iter().flat_map(|run| &run.overview.groups).flat_map(|group| &group.dimensions);
    for dimension in all {
        if !dimensions.contains(&dimension.name.as_str()) {
            dimensions.push(&dimension.name);
        }
    }
    let mut line = |cells: Vec<String>| writeln!(to, "{}", cells.join(",")).map_err(DocumentError::Write);
    line(FIRST.iter().chain(&dimensions).chain(&LAST).map(|name| text(name)).collect())?;
    for run in runs {
        for trial in (run.trials)() {
            let trial = trial.map_err(DocumentError::Read)?;
            line(row(&run.overview.summary, &trial, &dimensions))?;
        }
    }
    to.flush().map_err(DocumentError::Write)
}

fn row(run: &RunSummary, trial: &TrialRecord, dimensions: &[&str]) -> Vec<String> {
    let (id, card) = (&trial.trial, trial.scorecard.as_ref());
    let transcript = trial.evidence.as_ref().map(|evidence| &evidence.transcript);
    let mut totals = FigureTotals::default();
    transcript.into_iter().for_each(|transcript| totals.add(transcript));
    let took = trial.took();
    let score = |component: Option<&Component>| number(component.and_then(Component::score).map(|score| score.get()));
    let agent = transcript.and_then(|it| it.turns.iter().filter_map(|turn| turn.usage).reduce(Usage::plus));
    let own = |askers: &[Asker]| {
        let calls = trial.calls.iter().filter(|call| askers.contains(&call.asker));
        calls.map(|call| call.usage).reduce(Usage::plus).and_then(|usage| usage.total_tokens())
    };
    let changes = trial.evidence.as_ref().and_then(|evidence| match &evidence.changes {
        Some(crate::evidence::Observed::Seen(changes)) => Some(changes.len()),
        _ => None,
    });
    let outcome = match &trial.outcome {
        Some(Outcome::Graded) if trial.score().is_none() => "no score",
        Some(outcome) => outcome.label(),
        None if trial.started_at.is_some() => "cut off",
        None => "not started",
    };
    let mut why = lost_texts(trial);
    if trial.why_no_score().is_none() {
        let shortfalls = card.into_iter().flat_map(|card| card.shortfalls());
        why.extend(shortfalls.map(|item| format!("{}: {}", item.label, item.component.why())));
    }
    let first = [
        text(&run.id),
        text(&run.provenance.job),
        text(&id.case),
        text(&id.model),
        text(id.condition.label()),
        id.repeat.to_string(),
        trial.started_at.map(|at| at.format("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default(),
        number(took.map(|took| took.as_secs_f64())),
        text(outcome),
        text(run.verdict.label()),
        number(trial.score().map(|score| score.get())),
    ];
    let dimensions =
        dimensions.iter().map(|name| score(card.and_then(|card| card.named(name)).map(|it| &it.component)));
    let last = [
        whole(transcript.map(|it| it.turns.iter().filter(|turn| !turn.is_greeting()).count())),
        whole(transcript.map(|it| it.turns.iter().map(|turn| turn.failures.len()).sum::<usize>())),
        number(card.map(|card| card.penalty)),
        number(transcript.and_then(|it| it.average_latency_ms())),
        number(transcript.and_then(|it| it.average_first_token_ms())),
        number(totals.total(FigureKind::Seconds)),
        number(totals.total(FigureKind::ToolCalls)),
        number(totals.total(FigureKind::ModelCalls)),
        whole(agent.and_then(|usage| usage.input_tokens)),
        whole(agent.and_then(|usage| usage.output_tokens)),
        whole(own(&[Asker::Persona, Asker::Reviewer])),
        whole(own(&[Asker::Judge])),
        whole(transcript.map(|it| it.events().count())),
        whole(changes),
        text(trial.evidence.as_ref().map_or("", |evidence| &evidence.session_id)),
        text(&one_line(&why.join("; "), LONGEST)),
    ];
    first.into_iter().chain(dimensions).chain(last).collect()
}

/// A number as it is; what is not known is empty, never 0.
fn number(value: Option<f64>) -> String {
    value.map(|value| ((value * 1e6).round() / 1e6).to_string()).unwrap_or_default()
}

fn whole(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text on one line, quoted where it has to be. One that a spreadsheet would take as a formula has an apostrophe before it,
/// by which spreadsheets know a text.
pub(super) fn text(text: &str) -> String {
    let line = one_line(text, usize::MAX);
    let is_formula = line.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '|', '%']);
    let line = if is_formula { format!("'{line}") } else { line };
    if line.contains([',', ';', '"', '\t']) || is_formula { format!("\"{}\"", line.replace('"', "\"\"")) } else { line }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for (said, cell) in [
            ("plain words", "plain words"),
            ("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""),
            ("  +1", "\"'+1\""),
            ("\t-1\r\n@x", "\"'-1 @x\""),
            ("＝1", "\"'＝1\""),
            ("a,\"b\"\nc", "\"a,\"\"b\"\" c\""),
            ("a;=1", "\"a;=1\""),
            ("", ""),
        ] {
            assert_eq!(text(said), cell, "{said:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_one_cell(said in any::<String>()) {
            let cell = text(&said);
            prop_assert!(!cell.contains(['\n', '\r']));
            let inner = cell.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            let has_lone_quote = |it: &str| it.replace("\"\"", "").contains('"');
            prop_assert!(inner.map_or(!cell.contains([',', '"']), |it| !has_lone_quote(it)), "{}", cell);
            prop_assert!(!inner.unwrap_or(&cell).trim_start().starts_with(['=', '+', '-', '@']));
        }
    }

    #[test]
    fn what_is_not_known_is_empty_and_no_zero() {
        assert_eq!([number(None), number(Some(0.0)), number(Some(0.1 + 0.2))], ["", "0", "0.3"]);
        assert_eq!([whole(None::<u64>), whole(Some(0_u64))], ["", "0"]);
    }
}
