//! JUnit XML, for the viewers of CI systems: a test suite a run, a test a conversation, and one for the verdict. Valid against
//! the schema of Jenkins's xUnit plugin (junit-10.xsd).
//!
//! The faults of the agent are failures: its own failures, and a score below the gate where the gate fails. What says
//! nothing of the agent is an error, or skipped where the run has a verdict without it: a conversation that the persona spoilt. So
//! there are failures where the exit status is 100 and errors where it is 102.
//!
//! quick-junit, which many tools use, holds a whole report in memory; here conversations are written while they are read.

use std::io::{self, Write};

use super::canaries::{canary_text, steps_text};
use super::format::{DocumentResult, WrittenRun};
use super::terminal::{gate_text, verdict_text};
use super::{Ink, Screen, beside_gate, conversation, plain, scores};
use crate::record::{DocumentError, Overview, RunSummary, TrialRecord, Verdict, total};
use crate::score::{Outcome, Score};

/// Writes a report of these runs.
pub(super) fn write<E>(runs: &[WrittenRun<'_, E>], to: &mut dyn Write) -> DocumentResult<E> {
    let counts: Vec<Counts> = runs.iter().map(count).collect::<Result<_, _>>().map_err(DocumentError::Read)?;
    let all = counts.iter().fold(Counts::default(), |sum, counts| sum.plus(counts));
    let time: f64 = runs.iter().map(|run| seconds(&run.overview.summary)).sum();
    let write = |to: &mut dyn Write, text: &str| to.write_all(text.as_bytes()).map_err(DocumentError::Write);
    let Counts { tests, failures, errors, .. } = all;
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
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    fn add(&mut self, result: &TestResult) {
        self.tests += 1;
        self.failures += usize::from(matches!(result, TestResult::Failure { .. }));
        self.errors += usize::from(matches!(result, TestResult::Error { .. }));
        self.skipped += usize::from(matches!(result, TestResult::Skipped { .. }));
    }

    fn plus(self, other: &Counts) -> Counts {
        Counts {
            tests: self.tests + other.tests,
            failures: self.failures + other.failures,
            errors: self.errors + other.errors,
            skipped: self.skipped + other.skipped,
        }
    }
}

fn count<E>(run: &WrittenRun<'_, E>) -> Result<Counts, E> {
    let mut counts = Counts::default();
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

fn suite<E>(run: &WrittenRun<'_, E>, counts: &Counts, to: &mut dyn Write) -> DocumentResult<E> {
    let (overview, summary) = (run.overview, &run.overview.summary);
    let Counts { tests, failures, errors, skipped } = counts;
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
        let took = trial.started_at.zip(trial.finished_at).map_or(0.0, |(from, to)| between(from, to));
        let words = format!(
            "{}\n{}",
            scores(&trial, Screen { ink: Ink::None, width: 120, is_unfolded: true }),
            conversation(overview, &trial, Ink::None)
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
        ("verdict".to_owned(), run.summary.verdict_label().to_owned()),
        ("exitStatus".to_owned(), verdict.exit_status().to_string()),
        ("jobFile".to_owned(), provenance.job_file.clone()),
        ("agent".to_owned(), provenance.agent.clone()),
        ("persona".to_owned(), provenance.persona_model.clone()),
        ("judge".to_owned(), provenance.judge_model.clone()),
    ];
    let mut add = |name: &str, value: String| properties.push((name.to_owned(), value));
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
    summary.finished_at.map_or(0.0, |end| between(summary.started_at, end))
}

fn between(from: chrono::DateTime<chrono::Utc>, to: chrono::DateTime<chrono::Utc>) -> f64 {
    (to - from).to_std().map_or(0.0, |took| took.as_secs_f64())
}

/// Writes elements; all texts are anybody's.
struct Xml<'w>(&'w mut dyn Write);

impl Xml<'_> {
    fn raw(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    fn open(&mut self, start: &str, attributes: &[(&str, &str)], end: &str) -> io::Result<()> {
        self.raw(start)?;
        for (name, value) in attributes {
            // A line break in an attribute is read as a space.
            self.raw(&format!(" {name}=\"{}\"", escaped(&value.replace(['\n', '\t'], " "))))?;
        }
        self.raw(end)
    }

    fn test(&mut self, [class, name, time]: [&str; 3], result: &TestResult, words: &str) -> io::Result<()> {
        self.open("    <testcase", &[("classname", class), ("name", name), ("time", time)], ">\n")?;
        let (element, kind, message) = match result {
            TestResult::Passed => ("", "", ""),
            TestResult::Failure { kind, message } => ("failure", *kind, message.as_str()),
            TestResult::Skipped { kind, message } => ("skipped", *kind, message.as_str()),
            TestResult::Error { kind, message } => ("error", *kind, message.as_str()),
        };
        if !element.is_empty() {
            self.open(&format!("      <{element}"), &[("type", kind), ("message", message)], ">")?;
            self.raw(&format!("{}</{element}>\n", escaped(message)))?;
        }
        if !words.trim().is_empty() {
            self.raw(&format!("      <system-out>{}</system-out>\n", escaped(words)))?;
        }
        self.raw("    </testcase>\n")
    }
}

/// GitLab and Jenkins take `[[ATTACHMENT|path]]` in a test's output as a file to keep, and others `[[PROPERTY|…]]`: what an
/// agent says is not to name one.
fn without_attachments(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[[") {
        let (before, found) = rest.split_at(at);
        let is_taken = |word: &str| found.get(2..2 + word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
        safe.push_str(before);
        safe.push_str(if ["ATTACHMENT", "PROPERTY"].iter().any(|word| is_taken(word)) { "[ " } else { "[" });
        rest = &found[1..];
    }
    safe + rest
}

/// A text that stands for itself in XML. The control characters that XML can't hold are spelled out, as on a terminal.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(&without_attachments(text)).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // No characters of XML.
            '\u{fffe}' | '\u{ffff}' => escaped.extend(c.escape_unicode()),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_a_conversation_that_are_too_many_are_cut_in_their_middle() {
        assert_eq!(bounded("short", "r"), "short");
        let cut = bounded(&"é".repeat(MOST_BYTES), "r");
        assert!(
            cut.len() < MOST_BYTES + 200 && cut.contains("bytes are left out here: eval-job show r -v"),
            "{}",
            cut.len()
        );
    }

    #[test]
    fn what_can_steer_a_parser_or_a_viewer_is_harmless() {
        assert_eq!(
            escaped("<b a=\"1\">&amp;\u{0}\u{1b}[31m\u{fffe}]]>"),
            "&lt;b a=&quot;1&quot;&gt;&amp;amp;\\u{0}\\u{1b}[31m\\u{fffe}]]&gt;"
        );
        assert_eq!(without_attachments("[[1]] [[[aTTACHMENT|/etc/passwd]]"), "[[1]] [[ [aTTACHMENT|/etc/passwd]]");
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_place(text in any::<String>()) {
            let escaped = escaped(&text);
            prop_assert!(!escaped.contains(['<', '>', '"']), "{}", escaped);
            let is_xml = |c: char| matches!(c, '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
            prop_assert!(escaped.chars().all(is_xml));
        }
    }
}
