//! Failures of a run, grouped by tool, argument and reason, or by metric and part, with how often and in which
//! cases.

use std::collections::BTreeMap;
use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::gathered::without_session_id;
use super::{Ink, Page, Screen, count, one_line, plain};
use crate::evidence::{CallFinding, ExpectationReview, ToolUse, ValueDifference};
use crate::record::{Overview, TrialRecord};
use crate::score::{Component, Dimension, Outcome};

/// The most groups that are kept apart; what else there is, is counted.
const MOST_GROUPS: usize = 1000;
/// The most cases that a terminal shows of a group.
const MOST_CASES: usize = 8;
/// How much of an example and of a name is kept.
const EXAMPLE: usize = 300;
const NAME: usize = 120;

/// The failures of a run, grouped.
#[derive(Debug, Default)]
pub struct Analysis {
    trials: usize,
    troubled: usize,
    groups: Vec<FailureGroup>,
    places: HashMap<FailureKey, usize>,
    left_out: usize,
}

/// The subject of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
enum FailureSubject {
    /// A conversation that says nothing of the agent, or that the agent broke off.
    Conversation,
    /// A tool.
    Tool,
    /// A metric.
    Metric,
}

/// The key by which failures are grouped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
struct FailureKey {
    subject: FailureSubject,
    /// The tool, the metric or the outcome.
    name: String,
    /// The argument, or the part of the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    reason: String,
}

impl FailureKey {
    fn new(subject: FailureSubject, name: &str, part: Option<&str>, reason: &str) -> FailureKey {
        let part = part.map(|part| one_line(part, NAME));
        FailureKey { subject, name: one_line(name, NAME), part, reason: reason.to_owned() }
    }
}

/// Failures of one kind.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FailureGroup {
    #[serde(flatten)]
    key: FailureKey,
    /// How often.
    count: usize,
    /// In how many conversations.
    conversations: usize,
    /// In which cases, and how often in each.
    cases: BTreeMap<String, usize>,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    #[serde(skip)]
    last_trial: u32,
}

impl Analysis {
    /// Takes in a trial, beside what its case expects.
    pub fn add(&mut self, trial: &TrialRecord, review: &ExpectationReview) {
        self.trials += 1;
        let before = self.groups.iter().map(|group| group.count).sum::<usize>() + self.left_out;
        let error = trial.outcome.as_ref().and_then(Outcome::error).map(str::to_owned);
        let no_figure = || trial.why_no_score();
        if let Some(why) = error.or_else(no_figure) {
            let label = match &trial.outcome {
                Some(Outcome::Graded) => "no score",
                Some(outcome) => outcome.label(),
                None if trial.started_at.is_some() => "cut off",
                None => "not started",
            };
            let why = without_session_id(why.lines().next().unwrap_or_default(), trial);
            let why = one_line(&why, NAME);
            self.note(trial, FailureKey::new(FailureSubject::Conversation, label, None, &why), None);
        }
        self.calls(trial, review);
        let counts = trial.outcome.as_ref().is_some_and(Outcome::counts);
        for dimension in trial.scorecard.iter().filter(|_| counts).flat_map(|card| &card.dimensions) {
            // Problems of calls are listed call by call.
            if dimension.metric() != "trajectory" || review.expected == 0 {
                self.parts(trial, dimension);
            }
        }
        let after = self.groups.iter().map(|group| group.count).sum::<usize>() + self.left_out;
        self.troubled += usize::from(after > before);
    }

    fn calls(&mut self, trial: &TrialRecord, review: &ExpectationReview) {
        for made in &review.made {
            let tool = made.call.tool.as_str();
            match &made.finding {
                CallFinding::Unjudged | CallFinding::AsExpected => {}
                CallFinding::NotExpected => {
                    self.note(
                        trial,
                        FailureKey::new(FailureSubject::Tool, tool, None, "not expected"),
                        Some(shown(&made.call)),
                    );
                }
                CallFinding::OutOfOrder => {
                    self.note(
                        trial,
                        FailureKey::new(FailureSubject::Tool, tool, None, "at another place"),
                        Some(shown(&made.call)),
                    );
                }
                CallFinding::Differs(differences) => {
                    for difference in differences {
                        let path = difference.path.strip_prefix("args.").unwrap_or(&difference.path);
                        let (reason, example) = describe(difference);
                        self.note(
                            trial,
                            FailureKey::new(FailureSubject::Tool, tool, Some(path), reason),
                            Some(example),
                        );
                    }
                }
            }
            if let Some(error) = made.error() {
                self.note(trial, FailureKey::new(FailureSubject::Tool, tool, None, "runtime error"), Some(error));
            }
        }
        for missed in &review.missed {
            let tool = missed.call.tool.as_str();
            self.note(
                trial,
                FailureKey::new(FailureSubject::Tool, tool, None, "not called"),
                Some(shown(&missed.call)),
            );
        }
    }

    fn parts(&mut self, trial: &TrialRecord, dimension: &Dimension) {
        let line = dimension.pass_line();
        for item in &dimension.items {
            let reason = match &item.component {
                Component::Missing { .. } => "not evaluated",
                _ if item.has_failed(line) => "failed",
                _ => continue,
            };
            let example = Some(item.component.why().to_owned());
            self.note(
                trial,
                FailureKey::new(FailureSubject::Metric, &dimension.name, Some(&item.label), reason),
                example,
            );
        }
        if dimension.items.is_empty() {
            let reason = match (&dimension.component, dimension.threshold) {
                (Component::Missing { .. }, _) => "not evaluated",
                (Component::Scored { score, .. }, Some(threshold)) if score.is_below(threshold) => {
                    "below its threshold"
                }
                _ => return,
            };
            let example = Some(dimension.component.why().to_owned());
            self.note(trial, FailureKey::new(FailureSubject::Metric, &dimension.name, None, reason), example);
        }
    }

    fn note(&mut self, trial: &TrialRecord, key: FailureKey, example: Option<String>) {
        let at = match self.places.get(&key) {
            Some(at) => *at,
            None if self.groups.len() == MOST_GROUPS => {
                self.left_out += 1;
                return;
            }
            None => {
                self.places.insert(key.clone(), self.groups.len());
                let example = example.map(|text| one_line(text.lines().next().unwrap_or_default(), EXAMPLE));
                let cases = BTreeMap::new();
                self.groups.push(FailureGroup { key, count: 0, conversations: 0, cases, example, last_trial: 0 });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[at];
        group.count += 1;
        *group.cases.entry(trial.trial.case.clone()).or_default() += 1;
        if group.last_trial != trial.trial.number {
            group.conversations += 1;
            group.last_trial = trial.trial.number;
        }
    }

    /// Sorts by importance: trials without a result first, then tools, then metrics, each by frequency.
    fn sorted(&mut self) {
        let mut sums: HashMap<(FailureSubject, String), usize> = HashMap::new();
        for group in &self.groups {
            *sums.entry((group.key.subject, group.key.name.clone())).or_default() += group.count;
        }
        let sum = |key: &FailureKey| sums.get(&(key.subject, key.name.clone())).copied().unwrap_or_default();
        self.groups.sort_by(|a, b| {
            let by_subject = a.key.subject.cmp(&b.key.subject).then(sum(&b.key).cmp(&sum(&a.key)));
            by_subject
                .then_with(|| a.key.name.cmp(&b.key.name))
                .then(b.count.cmp(&a.count))
                .then_with(|| (&a.key.part, &a.key.reason).cmp(&(&b.key.part, &b.key.reason)))
        });
        self.places.clear();
    }

    /// The analysis as JSON.
    pub fn into_json(mut self, run: &Overview) -> Value {
        self.sorted();
        json!({
            "run": run.summary.id,
            "job": run.summary.provenance.job,
            "verdict": run.summary.verdict,
            "conversations": self.trials,
            "conversationsWithFailures": self.troubled,
            "groups": self.groups,
            "leftOut": self.left_out,
        })
    }

    /// The analysis for a reader.
    pub fn page(mut self, run: &Overview, screen: Screen) -> String {
        self.sorted();
        let mut page = Page::new(screen);
        let job = plain(&run.summary.provenance.job);
        if self.groups.is_empty() {
            let words = format!("no failures in {} of {job}", count(self.trials, "conversation"));
            page.paragraph(0, Ink::good, &words);
            return page.text;
        }
        let words = format!("failures in {} of {}", self.troubled, count(self.trials, "conversation"));
        page.lead(0, 2, (Ink::bold, &job), (Ink::unpainted, &format!("· {words}")));
        let mut last: Option<(FailureSubject, &str)> = None;
        for group in &self.groups {
            let key = &group.key;
            if last != Some((key.subject, &key.name)) {
                let noun = match key.subject {
                    FailureSubject::Conversation => "conversations",
                    FailureSubject::Tool => "tool",
                    FailureSubject::Metric => "metric",
                };
                page.gap();
                page.lead(0, 2, (Ink::unpainted, noun), (Ink::bold, &key.name));
                last = Some((key.subject, &key.name));
            }
            let part = key.part.as_ref().map(|part| format!("{part}: ")).unwrap_or_default();
            let cases: Vec<String> =
                group.cases.iter().take(MOST_CASES).map(|(case, times)| named(case, *times)).collect();
            let more = group.cases.len().saturating_sub(MOST_CASES);
            let more = if more > 0 { format!(" and {}", count(more, "more case")) } else { String::new() };
            let rest = format!("in {}{more}", cases.join(", "));
            let reason = if key.reason == key.name { "" } else { &key.reason };
            let lead = format!("{}× {part}{reason}", group.count);
            page.lead(2, 6, (Ink::bad, &lead), (Ink::unpainted, &rest));
            if let Some(example) = group.example.as_ref().filter(|example| !example.is_empty()) {
                page.lead(6, 8, (Ink::unpainted, "such as"), (Ink::unpainted, example));
            }
        }
        if self.left_out > 0 {
            page.gap();
            page.paragraph(0, Ink::unsure, &format!("and {} of other kinds", count(self.left_out, "failure")));
        }
        page.text
    }
}

fn named(case: &str, times: usize) -> String {
    if times > 1 { format!("{} ×{times}", plain(case)) } else { plain(case) }
}

fn shown(call: &ToolUse) -> String {
    if call.args.is_null() { call.tool.clone() } else { format!("{} {}", call.tool, call.args) }
}

/// The kind of difference, and its description.
fn describe(difference: &ValueDifference) -> (&'static str, String) {
    match (&difference.expected, &difference.actual) {
        (Some(expected), Some(actual)) => ("another value", format!("expected {expected}, got {actual}")),
        (Some(expected), None) => ("absent", format!("expected {expected}")),
        (None, Some(actual)) => ("not expected", format!("got {actual}")),
        (None, None) => ("another value", String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, Evidence, TrialId};

    #[test]
    fn one_failure_of_several_sessions_is_one_group() {
        let mut analysis = Analysis::default();
        for (number, session) in [(1, "c70dc56e1957"), (2, "829f95667a45")] {
            let error = format!("POST http://127.0.0.1:1/sessions/{session}/message: answered 500");
            let id = TrialId {
                number,
                case: "c".to_owned(),
                model: "m".to_owned(),
                condition: Condition::WithFacts,
                repeat: number,
            };
            let evidence = Evidence { session_id: session.to_owned(), ..Evidence::sample() };
            let outcome = Some(Outcome::AgentFailed { error });
            let trial = TrialRecord { outcome, evidence: Some(evidence), ..TrialRecord::planned(id) };
            analysis.add(&trial, &ExpectationReview::default());
        }
        let groups: Vec<_> = analysis.groups.iter().map(|it| (it.key.reason.as_str(), it.count)).collect();
        assert_eq!(groups, [("POST http://127.0.0.1:1/sessions/{sessionId}/message: answered 500", 2)]);
    }
}
