//! Progress while a job runs: entries of the journal as lines on stderr.

use std::collections::BTreeMap;

use super::context::Context;
use crate::evidence::{Ending, Observed, Turn};
use crate::record::Entry;
use crate::report::{self, Ink, TrialNames, count, one_line, plain, two_decimals};
use crate::score::Outcome;

/// Errors are shown whole, unless somebody else made them endless.
const UNCUT: usize = 1000;

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Nothing.
    Nothing,
    /// A line a phase: for logs.
    Phases,
    /// A line a message: for someone who watches.
    Messages,
    /// Every message and event, word for word.
    Everything,
}

/// Turns entries into lines.
pub(super) struct Progress {
    level: Level,
    ink: Ink,
    width: usize,
    persona: String,
    /// Of the trials that are not over.
    labels: BTreeMap<u32, String>,
    label_width: usize,
    turns: BTreeMap<u32, usize>,
}

impl Progress {
    /// The level of detail that follows from the flags and from whether stderr is a terminal.
    pub(super) fn new(context: &Context, verbose: bool, silent: bool) -> Progress {
        let level = match (silent, verbose, context.stderr_is_tty) {
            (true, _, _) => Level::Nothing,
            (_, true, _) => Level::Everything,
            (_, _, true) => Level::Messages,
            (_, _, false) => Level::Phases,
        };
        Progress {
            level,
            ink: context.stderr_ink,
            width: context.width,
            persona: String::new(),
            labels: BTreeMap::new(),
            label_width: 0,
            turns: BTreeMap::new(),
        }
    }

    /// Shows nothing from now on.
    pub(super) fn mute(&mut self) {
        self.level = Level::Nothing;
    }

    /// The lines that an entry is worth, if any.
    pub(super) fn lines(&mut self, entry: &Entry) -> Option<String> {
        if self.level == Level::Nothing {
            return None;
        }
        if let Entry::RunStarted { trials, provenance, .. } = entry {
            self.persona = provenance.persona.clone();
            let names = TrialNames::new(trials);
            self.labels = trials.iter().map(|trial| (trial.number, names.name(trial))).collect();
            self.label_width = self.labels.values().map(|label| label.chars().count()).max().unwrap_or_default();
        }
        match entry {
            Entry::RunStarted { .. }
            | Entry::GradingStarted { .. }
            | Entry::RunFinished { .. }
            | Entry::SessionOpened { .. }
            | Entry::AgentOutput { .. }
            | Entry::LookedBefore { .. }
            | Entry::Primed { .. }
            | Entry::AgentRefused { .. }
            | Entry::ModelAsked { .. } => None,
            Entry::LimitReached { why, .. } => Some(self.ink.unsure(&format!("stopped: {why}"))),
            Entry::GraphChanged { trial, changes } => {
                let lines = changes.iter().map(|change| self.line(*trial, &report::change(change, self.ink)));
                (self.level == Level::Everything).then(|| lines.collect::<Vec<_>>().join("\n"))
            }
            Entry::TrialStarted { trial, .. } => Some(self.line(*trial, "started")),
            Entry::UserSaid { trial, text, .. } => self.message(*trial, &format!("{}:", self.persona), text),
            Entry::TurnFinished { trial, turn } => {
                *self.turns.entry(*trial).or_default() += 1;
                self.turn(*trial, turn)
            }
            // What brought it to a stop is told with the trial's outcome.
            Entry::ConversationEnded { ending: Ending::CutOff, .. } => None,
            Entry::ConversationEnded { trial, ending, .. } => {
                let turns = self.turns.get(trial).copied().unwrap_or_default();
                Some(self.line(*trial, &format!("{}, {}; judging", count(turns, "turn"), ending_words(ending))))
            }
            Entry::Judged { trial, judgement, .. } => match &judgement.reply {
                Observed::Seen(_) if judgement.rejected.is_empty() => None,
                Observed::Seen(_) => {
                    Some(self.line(*trial, &format!("the judge was asked {} times", judgement.rejected.len() + 1)))
                }
                Observed::Failed(error) => Some(self.line(*trial, &self.ink.unsure(&plain(error)))),
            },
            Entry::TrialFinished { trial, outcome, scorecard, .. } => {
                let score = scorecard.as_ref().and_then(|card| card.score());
                let words = match (outcome, score) {
                    (Outcome::Graded, Some(score)) => self.ink.good(&format!("done, {}", two_decimals(score.get()))),
                    (Outcome::Graded, None) => self.ink.unsure("done, without a score"),
                    (outcome, _) => {
                        let error = one_line(outcome.error().unwrap_or_default(), UNCUT);
                        self.ink.unsure(&format!("{}: {error}", outcome.label()))
                    }
                };
                let line = self.line(*trial, &words);
                self.labels.remove(trial);
                self.turns.remove(trial);
                Some(line)
            }
        }
    }

    fn turn(&self, trial: u32, turn: &Turn) -> Option<String> {
        let mut lines = Vec::new();
        for (failure, number) in turn.failures.iter().zip(1..) {
            let words = format!("try {number} failed: {}{}", one_line(&failure.error, UNCUT), report::excuse(failure));
            lines.push(self.line(trial, &self.ink.unsure(&words)));
        }
        if self.level == Level::Everything {
            for event in &turn.events {
                lines.extend(report::event(event, self.ink).lines().map(|text| self.line(trial, text)));
            }
        }
        if let Some(text) = &turn.agent {
            let speaker = format!("agent ({:.0} ms):", turn.latency_ms.unwrap_or_default());
            lines.extend(self.message(trial, &speaker, text));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn message(&self, trial: u32, speaker: &str, text: &str) -> Option<String> {
        let speaker = plain(speaker);
        match self.level {
            Level::Nothing | Level::Phases => None,
            Level::Messages => {
                let room = self.width.saturating_sub(self.label_width + speaker.chars().count() + 3);
                Some(self.line(trial, &format!("{} {}", self.ink.bold(&speaker), one_line(text, room.max(20)))))
            }
            Level::Everything => {
                Some(self.line(trial, &format!("{} {}", self.ink.bold(&speaker), plain(text).replace('\n', "\n    "))))
            }
        }
    }

    fn line(&self, trial: u32, text: &str) -> String {
        let label = self.labels.get(&trial).map_or("", String::as_str);
        format!("{}  {text}", self.ink.dim(&format!("{label:<width$}", width = self.label_width)))
    }
}

fn ending_words(ending: &Ending) -> &'static str {
    match ending {
        Ending::SignedOff => "signed off",
        Ending::ScriptEnded => "every line was said",
        Ending::MaxTurns => "ended by maxTurns",
        Ending::AgentFailed { .. } => "the agent failed",
        Ending::TimeLimit { .. } => "ended by limits.trial",
        Ending::CutOff => "cut off",
    }
}
