//! The suspected source of a flip: a conversation that fails beside the nearest one that passes.
//!
//! The rule, in this order: the agent gave up; the judges, or the samples of one, disagree on what fails; the first thing that
//! is said or called otherwise is the agent's, or the user's; all is the same word by word, and what fails was judged, or
//! asserted. It is a suspicion: a reply that differs need not be why a case fails.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use super::FlakeKey;
use crate::evidence::{EventKind, GREETINGS, Turn};
use crate::record::TrialRecord;
use crate::score::{Dimension, Outcome, Score, Scorecard, Weight};

/// The suspected source of a flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The agent replied otherwise, called other tools, took longer or gave up.
    Agent,
    /// The simulated user said something else first.
    Persona,
    /// The judge came to another verdict on the same words, or its verdict is not stable.
    Judge,
    /// An assertion came out otherwise after the same words and calls.
    Assertion,
    /// The source is unknown.
    Unknown,
}

impl Source {
    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Source::Agent => "agent",
            Source::Persona => "persona",
            Source::Judge => "judge",
            Source::Assertion => "what it did, graph or assertion",
            Source::Unknown => "unknown",
        }
    }
}

/// How many failing conversations speak for a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceCount {
    /// The source.
    pub source: Source,
    /// How many.
    pub count: u32,
}

/// Conversations that say nothing of the agent, and so are no flips.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvalidTrials {
    /// Broken: no session, the graph, a model's endpoint.
    pub broken: u32,
    /// The persona did not play its part.
    pub persona_invalid: u32,
    /// The judge gave no usable verdict.
    pub judge_failed: u32,
    /// Cut off, or without a score.
    pub without_score: u32,
}

impl InvalidTrials {
    /// How many there are.
    pub fn count(&self) -> u32 {
        self.broken + self.persona_invalid + self.judge_failed + self.without_score
    }
}

/// A digest of a conversation: numbers that stand for its words, and what it was worth.
#[derive(Debug, Clone)]
struct ConversationDigest {
    /// Digests of each turn: the user's message, and the agent's reply and calls.
    turns: Vec<(u64, u64)>,
    has_passed: bool,
    has_given_up: bool,
    parts: Vec<DigestedPart>,
}

/// A dimension of a conversation.
#[derive(Debug, Clone)]
struct DigestedPart {
    name: String,
    kind: PartKind,
    weight: Weight,
    score: Option<Score>,
    has_failed: bool,
    is_unstable: bool,
}

/// A conversation of a night.
#[derive(Debug, Clone)]
struct NightTrace {
    /// The night, and the number of the trial in it.
    place: (usize, u32),
    conversation: ConversationDigest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Judged,
    Assertions,
    Timing,
    Other,
}

/// So many conversations of a case and a night that pass are held, and so many that fail: those of the first trials.
const MOST_OF_A_NIGHT: usize = 20;

/// The conversations of cases that flip, as they are read night by night.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// In the order of the nights and of their trials.
    traces: BTreeMap<FlakeKey, Vec<NightTrace>>,
    night: usize,
    /// Conversations that say nothing of the agent.
    pub lost: InvalidTrials,
}

impl Sources {
    /// An empty collection for these cases.
    pub fn from_keys<'a>(keys: impl IntoIterator<Item = &'a FlakeKey>) -> Sources {
        let traces = keys.into_iter().map(|key| (key.clone(), Vec::new())).collect();
        Sources { traces, ..Sources::default() }
    }

    /// Whether no case flips.
    pub fn is_empty(&self) -> bool {
        self.traces.is_empty()
    }

    /// The conversations that follow are of the next night.
    pub fn begin_night(&mut self) {
        self.night += 1;
    }

    /// Takes in a conversation, which passes at this score, where there is one. Only what flips is kept, and of a night as much as
    /// tells its source.
    pub fn add(&mut self, trial: &TrialRecord, bar: Option<Score>) {
        self.count(trial);
        let id = &trial.trial;
        let key = FlakeKey { model: id.model.clone(), case: id.case.clone(), condition: id.condition };
        if let Some(traces) = self.traces.get_mut(&key)
            && let Some((has_passed, card)) = trial.has_passed(bar).zip(trial.scorecard.as_ref())
        {
            let place = (self.night, id.number);
            let is_like = |trace: &NightTrace| trace.place.0 == place.0 && trace.conversation.has_passed == has_passed;
            let alike = traces.iter().filter(|trace| is_like(trace)).count();
            if alike >= MOST_OF_A_NIGHT {
                let Some(last) = traces.iter().rposition(is_like).filter(|last| traces[*last].place > place) else {
                    return;
                };
                traces.remove(last);
            }
            let conversation = ConversationDigest::new(trial, card, has_passed);
            traces.insert(traces.partition_point(|trace| trace.place <= place), NightTrace { place, conversation });
        }
    }

    fn count(&mut self, trial: &TrialRecord) {
        match &trial.outcome {
            Some(Outcome::Broken { .. }) => self.lost.broken += 1,
            Some(Outcome::PersonaInvalid { .. }) => self.lost.persona_invalid += 1,
            Some(Outcome::JudgeFailed { .. }) => self.lost.judge_failed += 1,
            _ if trial.score().is_none() => self.lost.without_score += 1,
            Some(Outcome::Graded | Outcome::AgentFailed { .. }) | None => {}
        }
    }

    /// The suspected sources of a case's flips, the most frequent first; none where no conversation that passes was
    /// read beside one that fails.
    pub fn suspected(&self, key: &FlakeKey) -> Vec<SourceCount> {
        let traces = self.traces.get(key).into_iter().flatten().map(|trace| &trace.conversation);
        let traces: Vec<&ConversationDigest> = traces.collect();
        let mut counts: BTreeMap<Source, u32> = BTreeMap::new();
        for (place, failed) in traces.iter().enumerate().filter(|(_, trace)| !trace.has_passed) {
            let passing = traces.iter().enumerate().filter(|(_, trace)| trace.has_passed);
            if let Some((_, passed)) = passing.min_by_key(|(other, _)| other.abs_diff(place)) {
                *counts.entry(failed.source_beside(passed)).or_default() += 1;
            }
        }
        let mut counts: Vec<SourceCount> =
            counts.into_iter().map(|(source, count)| SourceCount { source, count }).collect();
        counts.sort_by_key(|it| std::cmp::Reverse(it.count));
        counts
    }
}

impl ConversationDigest {
    fn new(trial: &TrialRecord, card: &Scorecard, has_passed: bool) -> ConversationDigest {
        let turns = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
        let is_judged = |dimension: &Dimension| {
            let is_its = |metric: &str| metric == dimension.metric() || metric == dimension.name;
            trial.questions.iter().any(|question| is_its(&question.metric))
        };
        ConversationDigest {
            turns: turns.map(digest_turn).collect(),
            has_passed,
            has_given_up: matches!(trial.outcome, Some(Outcome::AgentFailed { .. })),
            parts: card.dimensions.iter().map(|it| DigestedPart::new(it, is_judged(it))).collect(),
        }
    }

    /// The suspected source of the difference between a failing conversation and a passing one.
    fn source_beside(&self, passed: &ConversationDigest) -> Source {
        let part = self.failing_part(passed);
        if self.has_given_up {
            return Source::Agent;
        }
        let is_unstable = |part: &DigestedPart| {
            let there = passed.parts.iter().find(|other| other.name == part.name);
            part.is_unstable || there.is_some_and(|there| there.is_unstable)
        };
        if part.is_some_and(|part| part.kind == PartKind::Judged && is_unstable(part)) {
            return Source::Judge;
        }
        if let Some(speaker) = self.first_difference(passed) {
            return speaker;
        }
        match part.map(|part| part.kind) {
            Some(PartKind::Judged) => Source::Judge,
            Some(PartKind::Assertions) => Source::Assertion,
            Some(PartKind::Timing) => Source::Agent,
            Some(PartKind::Other) | None => Source::Unknown,
        }
    }

    /// The party whose words or calls differ first; `None` where all are the same.
    fn first_difference(&self, other: &ConversationDigest) -> Option<Source> {
        for ((user, agent), (their_user, their_agent)) in self.turns.iter().zip(&other.turns) {
            if user != their_user {
                return Some(Source::Persona);
            }
            if agent != their_agent {
                return Some(Source::Agent);
            }
        }
        // After the same words one user had more to say.
        (self.turns.len() != other.turns.len()).then_some(Source::Persona)
    }

    /// The part because of which it fails: an assertion or a threshold, else what cost it most beside the other one.
    fn failing_part(&self, passed: &ConversationDigest) -> Option<&DigestedPart> {
        let there = |part: &DigestedPart| passed.parts.iter().find(|other| other.name == part.name);
        let fails_here = |part: &&DigestedPart| part.has_failed && !there(part).is_some_and(|there| there.has_failed);
        let cost = |part: &DigestedPart| {
            let scores = part.score.zip(there(part).and_then(|there| there.score));
            scores.map_or(0.0, |(here, there)| (there.get() - here.get()) * part.weight.get())
        };
        let costly = || {
            let parts = self.parts.iter().filter(|part| cost(part) > Score::HAIR);
            parts.max_by(|one, other| cost(one).total_cmp(&cost(other)))
        };
        self.parts.iter().find(fails_here).or_else(costly)
    }
}

impl DigestedPart {
    fn new(dimension: &Dimension, is_judged: bool) -> DigestedPart {
        let score = dimension.component.score();
        let kind = match dimension.metric() {
            _ if is_judged => PartKind::Judged,
            "assertions" => PartKind::Assertions,
            "timing" => PartKind::Timing,
            _ => PartKind::Other,
        };
        let fails = |item: &crate::score::Item| item.component.score().is_some_and(|score| score < Score::ONE);
        let is_below = dimension.threshold.zip(score).is_some_and(|(threshold, score)| score.is_below(threshold));
        DigestedPart {
            name: dimension.name.clone(),
            kind,
            weight: dimension.weight,
            score,
            has_failed: is_below || (kind == PartKind::Assertions && dimension.items.iter().any(fails)),
            is_unstable: dimension.component.is_unstable()
                || dimension.items.iter().any(|item| item.component.is_unstable()),
        }
    }
}

/// Numbers that stand for what the user said, and for what the agent replied and called.
fn digest_turn(turn: &Turn) -> (u64, u64) {
    let (mut user, mut agent) = (DefaultHasher::new(), DefaultHasher::new());
    // Greetings are drawn at random, and do not count.
    if turn.number > 1 || !GREETINGS.contains(&turn.user.as_str()) {
        turn.user.hash(&mut user);
    }
    turn.agent.hash(&mut agent);
    for event in &turn.events {
        if let EventKind::FunctionCall(call) = &event.kind {
            call.function.hash(&mut agent);
            call.args.to_string().hash(&mut agent);
        }
    }
    (user.finish(), agent.finish())
}
