//! JUnit XML, for the viewers of CI systems: a test suite a run, a test a conversation, and one for the verdict. Valid against
//! the schema of Jenkins's xUnit plugin (junit-10.xsd).
//!
//! The faults of the agent are failures: its own failures, whatever the verdict, and a score below the gate or a threshold where the gate
//! fails, with exit status 100. What says nothing of the agent is an error, or skipped where the run has a verdict without it: a
//! conversation that the persona spoilt.
//!
//! quick-junit, which many tools use, holds a whole report in memory; here conversations are written while they are read.

#[cfg(test)]
mod tests;
mod xml;

use std::io::{self, Write};

use super::canaries::{canary_text, steps_text};
use super::format::{DocumentResult, WrittenRun};
use super::terminal::{gate_text, verdict_text};
use super::validity::validity_text;
use super::{Ink, PromptLength, Screen, beside_gate, conversation, scores};
use crate::record::{DocumentError, Overview, RunSummary, TrialRecord, Verdict, total};
use crate::score::{Outcome, Score};
use xml::Xml;

/// Writes a report of these runs.
pub(super) fn write<E>(runs: &[WrittenRun<'_, E>], to: &mut dyn Write) -> DocumentResult<E> {
    let counts: Vec<SuiteCounts> = runs.iter().map(count).collect::<Result<_, _>>().map_err(DocumentError::Read)?;
    let all = counts.iter().fold(SuiteCounts::default(), |sum, counts| sum.plus(counts));
    let time: f64 = runs.iter().map(|run| seconds(&run.overview.summary)).sum();
    let write = |to: &mut dyn Write, text: &str| to.write_all(text.as_bytes()).map_err(DocumentError::Write);
    let SuiteCounts { tests, failures, errors, .. } = all;
    let head = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"eval-job\" tests=\"{tests}\" failures=\"{failures}\" \
         errors=\"{errors}\" time=\"{time:.3}\">\n"
    );
    write(to, &head)?;
    for (run, counts) in runs.iter().zip(&counts) {
        suite(run, counts, to)?;
    }
    write(to, "</testsuites>\n")?;
    to.flush().map_err(DocumentError::Write)
}

/// How many tests a suite has.
#[derive(Debug, Clone, Copy, Default)]
struct SuiteCounts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl SuiteCounts {
    fn add(&mut self, result: &TestResult) {
        self.tests += 1;
        self.failures += usize::from(matches!(result, TestResult::Failure { .. }));
        self.errors += usize::from(matches!(result, TestResult::Error { .. }));
        self.skipped += usize::from(matches!(result, TestResult::Skipped { .. }));
    }

    fn plus(self, other: &SuiteCounts) -> SuiteCounts {
        SuiteCounts {
            tests: self.tests + other.tests,
            failures: self.failures + other.failures,
            errors: self.errors + other.errors,
            skipped: self.skipped + other.skipped,
        }
    }
}

fn count<E>(run: &WrittenRun<'_, E>) -> Result<SuiteCounts, E> {
    let mut counts = SuiteCounts::default();
    counts.add(&TestResult::from_run(run.overview));
    for trial in (run.trials)() {
        counts.add(&TestResult::from_trial(&trial?, run.overview));
    }
    Ok(counts)
}

/// How a test came out.
#[derive(Debug, PartialEq)]
enum TestResult {
    Passed,
    /// The agent's doing.
    Failure {
        kind: &'static str,
        message: String,
    },
    /// Somebody else's, and the run does without it.
    Skipped {
        kind: &'static str,
        message: String,
    },
    /// Somebody else's.
    Error {
        kind: &'static str,
        message: String,
    },
}

impl TestResult {
    fn from_run(run: &Overview) -> TestResult {
        let (word, rest) = verdict_text(run);
        let message = if rest.is_empty() { word.to_owned() } else { format!("{word}: {rest}") };
        match run.summary.verdict {
            Verdict::Passed => TestResult::Passed,
            Verdict::GateFailed => TestResult::Failure { kind: "gate failed", message },
            verdict => TestResult::Error { kind: verdict.label(), message },
        }
    }

    fn from_trial(trial: &TrialRecord, run: &Overview) -> TestResult {
        if let Some(Outcome::AgentFailed { error }) = &trial.outcome {
            return TestResult::Failure { kind: "agent failed", message: error.clone() };
        }
        if let Some(why) = trial.why_no_score() {
            let kind = trial.outcome.as_ref().map_or("cut off", Outcome::label);
            let is_spoilt = matches!(trial.outcome, Some(Outcome::PersonaInvalid { .. }));
            if is_spoilt && matches!(run.summary.verdict, Verdict::Passed | Verdict::GateFailed) {
                return TestResult::Skipped { kind, message: why };
            }
            return TestResult::Error { kind: if kind == "graded" { "no score" } else { kind }, message: why };
        }
        // Where the run has no verdict on the agent, a low score is none either.
        if run.summary.verdict != Verdict::GateFailed {
            return TestResult::Passed;
        }
        match (trial.score(), failed_gate(run, &trial.trial.model)) {
            (Some(score), Some(gate)) if score.is_below(gate) => {
                let score = beside_gate(score.get(), Some(gate.get()));
                let reasons = trial.scorecard.iter().flat_map(|card| card.shortfalls());
                let reasons: Vec<String> =
                    reasons.map(|item| format!("{}: {}", item.label, item.component.why())).collect();
                let reasons = if reasons.is_empty() { String::new() } else { format!("; {}", reasons.join("; ")) };
                TestResult::Failure {
                    kind: "below the gate",
                    message: format!("{score} is below the gate of {}{reasons}", gate_text(gate)),
                }
            }
            _ => below_threshold(trial, run).unwrap_or(TestResult::Passed),
        }
    }
}

/// The failure of a trial that is below a threshold in whose case it stands: one lucky trial of several is none.
fn below_threshold(trial: &TrialRecord, run: &Overview) -> Option<TestResult> {
    let id = &trial.trial;
    let group = run.index_of(id).and_then(|place| run.groups.get(place));
    let below = |name: &str| {
        group.into_iter().flat_map(|it| &it.dimensions).any(|metric| metric.name == name && metric.is_below())
    };
    let dimensions = trial.scorecard.iter().flat_map(|card| &card.dimensions);
    let words = dimensions.filter_map(|dimension| {
        let (score, threshold) = (dimension.component.score()?, dimension.threshold?);
        let is_below = score.is_below(threshold) && below(&dimension.name);
        let words = format!(
            "{} {} is below its threshold of {}: {}",
            dimension.name,
            beside_gate(score.get(), Some(threshold.get())),
            gate_text(threshold),
            dimension.component.why()
        );
        is_below.then_some(words)
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| TestResult::Failure { kind: "below a threshold", message: words.join("; ") })
}

/// The gate that a model's figure is below.
fn failed_gate(run: &Overview, model: &str) -> Option<Score> {
    let gate = run.summary.provenance.min_score?;
    let figure = run.summary.figures.iter().find(|figure| figure.model == model)?.figure.score()?;
    figure.is_below(gate).then_some(gate)
}

/// The most bytes of a conversation's words: CI servers keep all of them.
const MOST_BYTES: usize = 128 << 10;

/// The words of a conversation without their middle, where they are too many.
fn bounded(words: &str, run: &str) -> String {
    if words.len() <= MOST_BYTES {
        return words.to_owned();
    }
    let boundary = |at: usize| (0..=at).rev().find(|at| words.is_char_boundary(*at)).unwrap_or_default();
    let (head, tail) = (boundary(MOST_BYTES / 2), boundary(words.len() - MOST_BYTES / 2));
    let left_out = tail - head;
    format!("{}\n… {left_out} bytes are left out here: eval-job show {run} -v …\n{}", &words[..head], &words[tail..])
}

fn suite<E>(run: &WrittenRun<'_, E>, counts: &SuiteCounts, to: &mut dyn Write) -> DocumentResult<E> {
    let (overview, summary) = (run.overview, &run.overview.summary);
    let SuiteCounts { tests, failures, errors, skipped } = counts;
    let mut xml = Xml(to);
    let job = &summary.provenance.job;
    let mut head = || -> io::Result<()> {
        let timestamp = summary.started_at.format("%Y-%m-%dT%H:%M:%S").to_string();
        let [tests, failures, errors, skipped] = [tests, failures, errors, skipped].map(ToString::to_string);
        let time = format!("{:.3}", seconds(summary));
        xml.open(
            "  <testsuite",
            &[
                ("name", job),
                ("tests", &tests),
                ("failures", &failures),
                ("errors", &errors),
                ("skipped", &skipped),
                ("timestamp", &timestamp),
                ("time", &time),
            ],
            ">\n",
        )?;
        xml.raw("    <properties>\n")?;
        for (name, value) in properties(overview) {
            xml.open("      <property", &[("name", &name), ("value", &value)], "/>\n")?;
        }
        xml.raw("    </properties>\n")?;
        xml.test([job, "verdict", "0.000"], &TestResult::from_run(overview), "")
    };
    head().map_err(DocumentError::Write)?;
    for trial in (run.trials)() {
        let trial = trial.map_err(DocumentError::Read)?;
        let result = TestResult::from_trial(&trial, overview);
        let id = &trial.trial;
        let name = format!("{} · {} · #{}", id.model, id.condition.label(), id.repeat);
        let took = trial.took().unwrap_or_default().as_secs_f64();
        let words = format!(
            "{}\n{}",
            scores(&trial, Screen { ink: Ink::None, width: 120, is_unfolded: true }),
            conversation(overview, &trial, Ink::None, PromptLength::Folded)
        );
        let words = bounded(&words, &summary.id);
        let class = format!("{}.{}", job.replace('.', " "), id.case.replace('.', " "));
        xml.test([&class, &name, &format!("{took:.3}")], &result, &words).map_err(DocumentError::Write)?;
    }
    xml.raw("  </testsuite>\n").map_err(DocumentError::Write)
}

/// The verdict and the settings of the run.
fn properties(run: &Overview) -> Vec<(String, String)> {
    let RunSummary { id, verdict, provenance, figures, .. } = &run.summary;
    let (usage, cost, _) = total(run.spending.iter());
    let mut properties = vec![
        ("run".to_owned(), id.clone()),
        ("verdict".to_owned(), verdict.label().to_owned()),
        ("exitStatus".to_owned(), verdict.exit_status().to_string()),
        ("jobFile".to_owned(), provenance.job_file.clone()),
        ("agent".to_owned(), provenance.agent.clone()),
        ("persona".to_owned(), provenance.persona_model.clone()),
        ("judge".to_owned(), provenance.judge_model.clone()),
    ];
    let mut add = |name: &str, value: String| properties.push((name.to_owned(), value));
    if let Some(validity) = validity_text(run) {
        add("validity", validity);
    }
    if let Some(model) = &provenance.reviewer_model {
        add("reviewer", model.clone());
    }
    if let Some(gate) = provenance.min_score {
        add("gate", gate.get().to_string());
    }
    if let Some(selection) = &provenance.selection {
        add("cases", selection.clone());
    }
    if let Some(steps) = &provenance.steps {
        add("steps", steps_text(steps));
    }
    if let Some(canaries) = &provenance.canaries {
        add("canaries", canary_text(canaries));
    }
    if let Some(score) = provenance.trivial_score {
        add("trivialScore", score.to_string());
    }
    for figure in figures {
        let score = figure
            .figure
            .score()
            .map_or_else(|| "none".to_owned(), |score| ((score.get() * 1e6).round() / 1e6).to_string());
        add(&format!("score {}", figure.model), score);
    }
    if let Some(tokens) = usage.total_tokens() {
        add("tokens", tokens.to_string());
    }
    if cost.known() > crate::money::Dollars::ZERO {
        add("cost", cost.known().to_string());
    }
    properties
}

fn seconds(summary: &RunSummary) -> f64 {
    summary.took().unwrap_or_default().as_secs_f64()
}
