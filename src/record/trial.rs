//! The stored form of one trial.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::judged::retain;
use super::{
    Asker, CallUnderWay, Continued, Discarded, Entry, Margins, ModelCall, PlacedJudgement, Replaced, SetAside,
};
use crate::evidence::{AgentOutput, AskedQuestion, Ending, Evidence, Judgement, Observed, TrialId, Usage};
use crate::limiter::Refusals;
use crate::money::LimitExceeded;
use crate::score::{Component, Dimension, Item, Outcome, Score, Scorecard};

/// The stored form of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialRecord {
    /// Which trial.
    pub trial: TrialId,
    /// Its case, where the run's job does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Box<serde_json::Value>>,
    /// When its setups began.
    pub started_at: Option<DateTime<Utc>>,
    /// When it was over; `None` for one that was cut off.
    pub finished_at: Option<DateTime<Utc>>,
    /// How it came out; `None` for one that was cut off.
    pub outcome: Option<Outcome>,
    /// The evidence, as far as the trial went; `None` when no session was opened.
    pub evidence: Option<Evidence>,
    /// The message that was on its way when the trial was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// How the conversation ends with the reply to the user's last message, where the persona said goodbye in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub farewell: Option<Ending>,
    /// The milliseconds of `limits.trial` that were used before the last message; of a journal only.
    #[serde(skip)]
    pub used_ms: Option<f64>,
    /// The resume points of its turns, see [`crate::agent::UnfinishedSession`]; of a journal only.
    #[serde(skip)]
    pub resume_points: Vec<serde_json::Value>,
    /// Whether secrets were cleared from what was said, seen or done, so that it is not kept in full; of a journal only.
    #[serde(skip)]
    pub is_cleared: bool,
    /// Whether more may have been said than was kept, since the end of the journal may have been lost; of a journal only.
    #[serde(skip)]
    pub may_lack_turns: bool,
    /// The most that requests of our own models without a known usage can have cost; of a journal only.
    #[serde(skip)]
    pub set_aside: SetAside,
    /// What requests of our own models set aside beyond what they took; of a journal only.
    #[serde(skip)]
    pub margins: Margins,
    /// Calls of our own models that are under way; of a journal only.
    #[serde(skip)]
    pub under_way: Vec<CallUnderWay>,
    /// The places of the judge's answers among those of all questions; of a journal only.
    #[serde(skip)]
    pub places: Vec<u32>,
    /// The breaks after which it went on where it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continued: Vec<Continued>,
    /// The agent's output, where eval-job started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_output: Option<AgentOutput>,
    /// Whether the agent's memory was primed with seeds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_primed: bool,
    /// The agent's own tokens while its memory was primed, where its transport reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priming_usage: Option<Usage>,
    /// Every call of our own models: in the order of their answers, but for those of judges that are asked at the same time, which
    /// are in the order of their models and tokens; empty in what an earlier version kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// How often the agent refused a request because other conversations were open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusals: Option<Refusals>,
    /// The conversations before this one in which the persona did not play its part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discarded: Vec<Discarded>,
    /// The conversations before this one that were cut off or broke, and were run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
    /// The questions to the judge; empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AskedQuestion>,
    /// The judge's answers.
    pub judgements: Vec<Judgement>,
    /// The trial's scores.
    pub scorecard: Option<Scorecard>,
}

impl TrialRecord {
    /// A trial that has not begun.
    pub fn planned(trial: TrialId) -> TrialRecord {
        TrialRecord {
            trial,
            case: None,
            started_at: None,
            finished_at: None,
            outcome: None,
            evidence: None,
            pending: None,
            farewell: None,
            used_ms: None,
            resume_points: Vec::new(),
            is_cleared: false,
            may_lack_turns: false,
            set_aside: SetAside::default(),
            margins: Margins::default(),
            under_way: Vec::new(),
            places: Vec::new(),
            continued: Vec::new(),
            agent_output: None,
            was_primed: false,
            priming_usage: None,
            calls: Vec::new(),
            refusals: None,
            discarded: Vec::new(),
            replaced: Vec::new(),
            questions: Vec::new(),
            judgements: Vec::new(),
            scorecard: None,
        }
    }

    /// Takes in the next of its entries in the journal.
    pub fn apply(&mut self, entry: Entry) {
        match (entry, &mut self.evidence) {
            (Entry::TrialStarted { at, case, .. }, _) => (self.started_at, self.case) = (Some(at), case),
            (Entry::SessionOpened { session_id, user, .. }, _) => {
                self.evidence = Some(Evidence::new(session_id, user, &self.trial));
            }
            (Entry::LookedBefore { before, empty, .. }, Some(evidence)) => {
                (evidence.before, evidence.empty) = (Some(before), Some(empty));
            }
            (Entry::UserSaid { text, farewell, used_ms, .. }, _) => {
                (self.pending, self.farewell, self.used_ms) = (Some(text), farewell, used_ms);
            }
            (Entry::TrialContinued { at, stopped_at, was_over, .. }, _) => {
                self.give_up_calls();
                if was_over {
                    self.judge_again();
                }
                self.continued.push(Continued { at, stopped_at, is_sent_again: self.pending.is_some() });
            }
            (Entry::PersonaFaulted { fault, .. }, Some(evidence)) => evidence.persona_faults.push(fault),
            (Entry::UserToolCalled { call, .. }, Some(evidence)) => evidence.add_user_tool_call(call),
            (Entry::TrialDiscarded { at, error, .. }, _) => {
                let (started_at, evidence) = (self.started_at.take(), self.evidence.take());
                self.discarded.push(Discarded { started_at, at, error, evidence });
                (self.pending, self.farewell, self.used_ms) = (None, None, None);
                (self.is_cleared, self.may_lack_turns) = (false, false);
                self.resume_points.clear();
            }
            (Entry::TextsCleared { .. }, _) => self.is_cleared = true,
            (Entry::TrialRestarted { at, .. }, _) => self.restart(at),
            (Entry::TurnFinished { turn, resume_point, .. }, evidence) => {
                (self.pending, self.may_lack_turns) = (None, false);
                self.resume_points.extend(resume_point.map(|point| *point));
                if let Some(evidence) = evidence {
                    evidence.transcript.turns.push(turn);
                }
            }
            (Entry::GraphChanged { changes, .. }, Some(evidence)) => match &mut evidence.changes {
                Some(Observed::Seen(seen)) => seen.extend(changes),
                unseen => *unseen = Some(Observed::Seen(changes)),
            },
            (
                Entry::ConversationEnded {
                    ending,
                    object_context,
                    queries,
                    changes,
                    persona_usage,
                    persona_notes,
                    fact_uses,
                    ..
                },
                Some(evidence),
            ) => {
                evidence.ending = ending;
                evidence.object_context = object_context;
                evidence.queries = queries;
                // A conversation that was cut off keeps what was seen while it went on.
                evidence.changes = changes.or(evidence.changes.take());
                evidence.persona_usage = persona_usage;
                evidence.persona_notes = persona_notes;
                evidence.fact_uses = fact_uses;
            }
            (Entry::ReferenceTurn { turn, .. }, Some(evidence)) => {
                evidence.reference.get_or_insert_default().turns.push(turn);
            }
            (Entry::Primed { usage, .. }, _) => {
                // Again where the conversation is run again.
                let before = std::mem::replace(&mut self.was_primed, true);
                let sum = self.priming_usage.zip(usage).map(|(sum, usage)| sum.plus(usage));
                self.priming_usage = if before { sum } else { usage };
            }
            (Entry::ModelAsking { number, call, set_aside, .. }, _) => {
                self.is_asking(CallUnderWay { number, call, set_aside });
            }
            (Entry::ModelAsked { number, call, set_aside, .. }, _) => self.has_asked(number, call, set_aside),
            (Entry::Judged { question, judgement, place, .. }, _) => {
                self.has_judged(PlacedJudgement { place, question, judgement });
            }
            (Entry::AgentOutput { output, .. }, _) => self.agent_output = Some(output),
            (Entry::AgentRefused { refusals, .. }, _) => self.refusals = Some(refusals),
            (Entry::TrialFinished { at, outcome, scorecard, .. }, _) => {
                self.finished_at = Some(at);
                self.outcome = Some(outcome);
                self.scorecard = scorecard;
                // They are for whoever goes on with it.
                self.used_ms = None;
                self.resume_points.clear();
            }
            // Of a conversation without a session, and what is not a trial's.
            (
                Entry::LookedBefore { .. }
                | Entry::PersonaFaulted { .. }
                | Entry::UserToolCalled { .. }
                | Entry::ReferenceTurn { .. }
                | Entry::GraphChanged { .. }
                | Entry::ConversationEnded { .. },
                None,
            )
            | (
                Entry::RunStarted { .. }
                | Entry::GradingStarted { .. }
                | Entry::LimitReached { .. }
                | Entry::RunResumed { .. }
                | Entry::RepeatsEnded { .. }
                | Entry::BaselineCompared { .. }
                | Entry::RunFinished { .. },
                _,
            ) => {}
        }
    }

    /// The conversation so far does not count, except for its cost.
    fn restart(&mut self, at: DateTime<Utc>) {
        self.give_up_calls();
        let held = std::mem::replace(self, TrialRecord::planned(self.trial.clone()));
        let TrialRecord { started_at, finished_at, outcome, evidence, pending, .. } = held;
        (self.was_primed, self.priming_usage, self.calls) = (held.was_primed, held.priming_usage, held.calls);
        (self.discarded, self.replaced, self.continued) = (held.discarded, held.replaced, held.continued);
        (self.set_aside, self.margins) = (held.set_aside, held.margins);
        match outcome {
            // The persona is to blame for it, however often the run is resumed.
            Some(Outcome::PersonaInvalid { error }) => {
                self.discarded.push(Discarded { started_at, at: finished_at.unwrap_or(at), error, evidence });
            }
            outcome if started_at.is_some() => {
                self.replaced.push(Replaced { started_at, finished_at, outcome, evidence, pending });
            }
            _ => {}
        }
    }

    /// It is not over: what its judge was not asked is asked now.
    fn judge_again(&mut self) {
        (self.finished_at, self.outcome, self.scorecard) = (None, None, None);
        let is_answered = |judgement: &Judgement| matches!(judgement.reply, Observed::Seen(_));
        let answered: Vec<bool> = self.judgements.iter().map(is_answered).collect();
        if self.questions.len() == self.judgements.len() {
            retain(&mut self.questions, &answered);
        }
        retain(&mut self.places, &answered);
        retain(&mut self.judgements, &answered);
    }

    /// Whether it is over only since a limit of money or tokens left nothing for its judge.
    pub fn was_left_unjudged(&self) -> bool {
        self.was_stopped_by_limit() && self.evidence.as_ref().is_some_and(|it| it.ending != Ending::CutOff)
    }

    /// Whether anything of it was run.
    pub fn was_begun(&self) -> bool {
        self.started_at.is_some() || !self.discarded.is_empty() || !self.replaced.is_empty()
    }

    /// Whether it was cut off in a conversation of which every message so far was answered, but for one that was on its way, or
    /// after that conversation had ended.
    pub fn was_left_whole(&self) -> bool {
        let Some(evidence) = self.evidence.as_ref().filter(|_| self.outcome.is_none()) else { return false };
        let turns = &evidence.transcript.turns;
        let is_under_way = self.pending.is_some() || !turns.is_empty();
        match evidence.ending {
            Ending::CutOff => is_under_way && turns.iter().all(|turn| turn.agent.is_some()),
            // Whose failure it was is not in the journal before the outcome is.
            Ending::AgentFailed { .. } => false,
            _ => true,
        }
    }

    /// How long it was held, without the breaks after which it went on; `None` for one that was cut off.
    pub fn took(&self) -> Option<Duration> {
        let whole = self.finished_at? - self.started_at?;
        // Breaks before that are of a conversation that was held again.
        let stops = self.continued.iter().filter_map(|it| Some((it.stopped_at?, it.at)));
        let breaks = stops.filter(|(stopped_at, at)| Some(*stopped_at) >= self.started_at && at > stopped_at);
        (whole - breaks.map(|(stopped_at, at)| at - stopped_at).sum::<TimeDelta>()).to_std().ok()
    }

    /// The milliseconds of `limits.trial` that the conversation so far has used, and the agent's part of them.
    pub fn used_so_far(&self) -> [f64; 2] {
        let turns = self.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
        let spent: Vec<f64> = turns.filter(|turn| !turn.is_greeting()).filter_map(|turn| turn.spent_ms).collect();
        let last = spent.last().filter(|_| self.pending.is_none()).copied().unwrap_or_default();
        let by_agent = spent.iter().sum();
        [self.used_ms.map_or(by_agent, |before| before + last), by_agent]
    }

    /// The persona's usage in the conversation so far; that of conversations before it is left out.
    pub fn persona_usage_so_far(&self) -> Usage {
        let is_of_this = |call: &&ModelCall| self.started_at.is_some_and(|started_at| call.at >= started_at);
        let of_persona = self.calls.iter().filter(|call| call.asker == Asker::Persona).filter(is_of_this);
        of_persona.fold(Usage::default(), |sum, call| sum.plus(call.usage))
    }

    /// How often the persona did not play its part, and how many conversations were cut off or broke, once it is run again.
    pub fn tries_before(&self) -> (usize, usize) {
        let (discarded, replaced) = (self.discarded.len(), self.replaced.len());
        match &self.outcome {
            Some(Outcome::PersonaInvalid { .. }) => (discarded + 1, replaced),
            _ => (discarded, replaced + usize::from(self.started_at.is_some())),
        }
    }

    /// Whether it has to be run again to say all that it could about the agent: it was cut off, broke, or lacks a figure.
    pub fn is_to_be_retried(&self) -> bool {
        let Some(outcome) = &self.outcome else { return true };
        let lacks_figure = self.scorecard.is_none() || self.missing().next().is_some();
        // Of the conversations whose message was sent again after a break all are run again, or those that went well would remain.
        let is_in_doubt = self.evidence.as_ref().is_some_and(|evidence| evidence.turn_after_break().is_some());
        // An assertion that held before would hold before again.
        !outcome.counts() || is_in_doubt || (lacks_figure && !self.is_unscored_for_what_held_before())
    }

    /// Whether it is over only because a limit of money or tokens was reached.
    pub fn was_stopped_by_limit(&self) -> bool {
        let error = self.outcome.as_ref().filter(|outcome| !outcome.counts()).and_then(Outcome::error);
        error.into_iter().chain(self.missing().map(Component::why)).any(LimitExceeded::is_limit_message)
    }

    /// The figures that are missing.
    fn missing(&self) -> impl Iterator<Item = &Component> {
        let scorecards = || self.scorecard.iter();
        let dimensions = scorecards().flat_map(|it| &it.dimensions).map(|it| &it.component);
        scorecards().map(|it| &it.composite).chain(dimensions).filter(|component| component.is_missing())
    }

    /// The trial's figure, where there is one.
    pub fn score(&self) -> Option<Score> {
        self.scorecard.as_ref().and_then(Scorecard::score)
    }

    /// Whether the trial passes by itself: it reaches this score, where there is one, each metric its threshold, and every
    /// assertion holds; `None` where it says nothing of the agent, lacks a score, or nothing is asked of it.
    pub fn has_passed(&self, bar: Option<Score>) -> Option<bool> {
        let outcome = self.outcome.as_ref().filter(|outcome| outcome.counts())?;
        let (card, score) = (self.scorecard.as_ref()?, self.score()?);
        let asserts = |dimension: &&Dimension| dimension.metric() == "assertions" && !dimension.items.is_empty();
        let has_threshold = card.dimensions.iter().any(|dimension| dimension.threshold.is_some());
        if bar.is_none() && !has_threshold && !card.dimensions.iter().any(|dimension| asserts(&dimension)) {
            return None;
        }
        let reaches = |dimension: &Dimension| {
            let own = dimension.component.score();
            dimension.threshold.is_none_or(|threshold| own.is_none_or(|own| !own.is_below(threshold)))
        };
        let items = card.dimensions.iter().filter(asserts).flat_map(|dimension| &dimension.items);
        let holds = |item: &Item| item.component.score().is_none_or(|score| score == Score::ONE);
        let has_failed = matches!(outcome, Outcome::AgentFailed { .. });
        let is_enough = bar.is_none_or(|bar| !score.is_below(bar));
        Some(!has_failed && is_enough && card.dimensions.iter().all(reaches) && items.into_iter().all(holds))
    }

    /// Why there is no figure, where there is none.
    pub fn why_no_score(&self) -> Option<String> {
        match (&self.outcome, &self.scorecard) {
            (None, _) if self.started_at.is_none() => Some("not started".to_owned()),
            (None, _) => Some("cut off".to_owned()),
            (Some(outcome), _) if !outcome.counts() => {
                Some(format!("{}: {}", outcome.label(), outcome.error().unwrap_or_default()))
            }
            (Some(_), Some(scorecard)) if scorecard.score().is_none() => Some(scorecard.composite.why().to_owned()),
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some("not graded".to_owned()),
        }
    }
}
