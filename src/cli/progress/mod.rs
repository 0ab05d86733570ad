//! Progress while a job runs, on stderr: on a terminal a bar and lines of what fails, in a log a line a phase, with `-v` the
//! conversations. An error that occurs again and again is printed once, then counted.

mod live;
mod live_screen;
mod status;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::context::Context;
use crate::clock::Stopwatch;
use crate::evidence::{Ending, Observed, TrialId, Turn, Usage};
use crate::limiter::WaitReason;
use crate::record::{Entry, PlannedTrials};
use crate::report::{self, Ink, TrialNames, count, failed_parts, one_line, plain, short_name, two_decimals};
use crate::score::{Outcome, Scorecard};

use live::limit_text;
pub(super) use live::{Live, WaitLines};
use status::ProgressStatus;

/// The most characters of the reason for a retry that are shown.
const MAX_REASON_CHARS: usize = 160;

/// Errors are shown up to this length.
const UNCUT: usize = 1000;

/// So many different errors are counted.
const MOST_ERRORS: usize = 1000;

/// The longest name of a trial before its lines.
const LABEL: usize = 40;

/// After so long without a line a log gets a sign of life; the time doubles from one to the next, up to the second.
const SILENCE_MS: f64 = 3000.0;
const LONGEST_SILENCE_MS: f64 = 60_000.0;

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Nothing.
    Nothing,
    /// A line a phase: for logs.
    Phases,
    /// Failures only, above a bar: on a terminal.
    Failures,
    /// Every message and event, word for word.
    Everything,
}

/// Turns entries into lines.
pub(super) struct Progress {
    level: Level,
    ink: Ink,
    persona: String,
    trials: PlannedTrials,
    names: TrialNames,
    label_width: usize,
    turns: BTreeMap<u32, usize>,
    status: ProgressStatus,
    /// Whether a bar can be drawn.
    has_bar: bool,
    /// How often each error occurred.
    occurrences: HashMap<String, usize>,
    waits: WaitLines,
    since: Stopwatch,
    /// When the last line was shown, and how long it may be silent after it.
    last_line_ms: f64,
    silence_ms: f64,
}

impl Progress {
    /// The level of detail that follows from the flags and from whether stderr is a terminal.
    pub(super) fn new(context: &Context, verbose: bool, silent: bool) -> Progress {
        let level = match (silent, verbose, context.stderr_is_tty) {
            (true, _, _) => Level::Nothing,
            (_, true, _) => Level::Everything,
            (_, _, true) => Level::Failures,
            (_, _, false) => Level::Phases,
        };
        Progress {
            level,
            ink: context.stderr_ink,
            persona: String::new(),
            trials: PlannedTrials::default(),
            names: TrialNames::default(),
            label_width: 0,
            turns: BTreeMap::new(),
            status: ProgressStatus::default(),
            has_bar: context.stderr_is_tty && !silent,
            occurrences: HashMap::new(),
            waits: WaitLines::default(),
            since: context.clock.start(),
            last_line_ms: 0.0,
            silence_ms: SILENCE_MS,
        }
    }

    /// A run goes on that began with this entry, and of which so many conversations are over.
    pub(super) fn goes_on(&mut self, first: &Entry, over: usize, spent: Usage) {
        self.lines(first);
        self.status.goes_on(over, &spent);
    }

    /// Shows nothing from now on.
    pub(super) fn mute(&mut self) {
        (self.level, self.has_bar) = (Level::Nothing, false);
    }

    /// The column at which the words of a line begin, behind the name of its conversation.
    pub(super) fn indent(&self) -> usize {
        self.label_width + 2
    }

    /// The lines at the bottom of the terminal, none where there is no terminal.
    fn bar(&self, width: usize) -> Vec<String> {
        let label = |trial| self.label(trial);
        match self.has_bar {
            true => self.status.bar(self.since.elapsed_ms(), width, self.ink, label),
            false => Vec::new(),
        }
    }

    /// A heartbeat line, for a log that was silent for long.
    fn heartbeat(&mut self) -> Option<String> {
        let now_ms = self.since.elapsed_ms();
        if self.has_bar || self.level == Level::Nothing || now_ms - self.last_line_ms < self.silence_ms {
            return None;
        }
        self.last_line_ms = now_ms;
        self.silence_ms = (2.0 * self.silence_ms).min(LONGEST_SILENCE_MS);
        Some(self.status.line(now_ms, |trial| self.label(trial)))
    }

    /// A line about a wait, if it is worth one.
    fn waiting(&mut self, reason: WaitReason<'_>, wait: Duration) -> Option<String> {
        if self.level == Level::Nothing {
            return None;
        }
        if let Some(words) = limit_text(reason) {
            self.status.limited(words, self.since.elapsed_ms() + wait.as_secs_f64() * 1000.0);
            // The bar counts it down.
            if self.has_bar {
                return None;
            }
        }
        // Tries that failed on the way to the agent's reply are printed with it.
        if matches!(reason, WaitReason::Retry { service: WaitReason::AGENT, .. }) && self.level != Level::Everything {
            return None;
        }
        self.waits.line(reason, wait)
    }

    /// The lines that an entry is worth, if any.
    pub(super) fn lines(&mut self, entry: &Entry) -> Option<String> {
        let now_ms = self.since.elapsed_ms();
        self.status.take(entry, now_ms);
        if self.level == Level::Nothing {
            return None;
        }
        let lines = self.text(entry);
        if lines.is_some() {
            self.last_line_ms = now_ms;
        }
        lines
    }

    fn text(&mut self, entry: &Entry) -> Option<String> {
        if let Entry::RunStarted { trials, provenance, .. } = entry {
            self.persona = provenance.persona.clone();
            self.names = TrialNames::new(trials.iter());
            let width = |trial: TrialId| short_name(&self.names.name(&trial), LABEL).chars().count();
            self.label_width = trials.iter().map(width).max().unwrap_or_default();
            self.trials = trials.clone();
        }
        match entry {
            Entry::RunStarted { .. }
            | Entry::RunResumed { .. }
            | Entry::TrialRestarted { .. }
            | Entry::GradingStarted { .. }
            | Entry::RepeatsEnded { .. }
            | Entry::BaselineCompared { .. }
            | Entry::RunFinished { .. }
            | Entry::SessionOpened { .. }
            | Entry::AgentOutput { .. }
            | Entry::LookedBefore { .. }
            | Entry::Primed { .. }
            | Entry::AgentRefused { .. }
            | Entry::ReferenceTurn { .. }
            | Entry::TextsCleared { .. }
            | Entry::ModelAsking { .. }
            | Entry::ModelAsked { .. } => None,
            Entry::LimitReached { why, .. } => Some(self.ink.unsure(&format!("stopped: {why}"))),
            Entry::GraphChanged { trial, changes } => {
                let lines = changes.iter().map(|change| self.line(*trial, &report::change(change, self.ink)));
                (self.level == Level::Everything).then(|| lines.collect::<Vec<_>>().join("\n"))
            }
            Entry::TrialStarted { .. } | Entry::TrialContinued { .. } | Entry::ConversationEnded { .. }
                if self.level == Level::Failures =>
            {
                None
            }
            Entry::TrialStarted { trial, .. } => Some(self.line(*trial, "started")),
            Entry::TrialContinued { trial, .. } => Some(self.line(*trial, "goes on where it was")),
            Entry::UserSaid { trial, text, .. } => self.message(*trial, &format!("{}:", self.persona), text),
            Entry::PersonaFaulted { trial, fault } => {
                let what = fault.findings.iter().map(|it| it.guard.label()).collect::<Vec<_>>().join(", ");
                let words = format!("{} is asked again for message {}: {what}", self.persona, fault.turn);
                (self.level != Level::Failures).then(|| self.line(*trial, &self.ink.unsure(&words)))
            }
            Entry::UserToolCalled { trial, call } => {
                let is_shown = self.level == Level::Everything && call.result.is_some();
                is_shown
                    .then(|| self.line(*trial, &report::user_tool_call(call, self.ink, report::PromptLength::Folded)))
            }
            Entry::TurnFinished { trial, turn, .. } => {
                // Those before a resume are known by the number.
                let turns = self.turns.entry(*trial).or_default();
                *turns = (*turns + 1).max(turn.number as usize);
                self.turn(*trial, turn)
            }
            // The error that stopped it is printed with the trial's outcome.
            Entry::ConversationEnded { ending: Ending::CutOff, .. } => None,
            Entry::ConversationEnded { trial, ending, .. } => {
                let turns = self.turns.get(trial).copied().unwrap_or_default();
                Some(self.line(*trial, &format!("{}, {}; judging", count(turns, "turn"), ending_text(ending))))
            }
            Entry::Judged { trial, judgement, question, .. } => match (&judgement.reply, judgement.rejected.last()) {
                (Observed::Seen(_), None) => None,
                (Observed::Seen(_), Some((_, why))) => {
                    let of = question.as_ref().map(|question| format!(" for {}", question.metric)).unwrap_or_default();
                    let times = judgement.rejected.len() + 1;
                    Some(self.line(
                        *trial,
                        &format!("the judge was asked {times} times{of}: {}", one_line(why, MAX_REASON_CHARS)),
                    ))
                }
                (Observed::Failed(error), _) => Some(self.line(*trial, &self.ink.unsure(&plain(error)))),
            },
            Entry::TrialDiscarded { trial, error, .. } => {
                self.turns.remove(trial);
                let count = occurred(&mut self.occurrences, error);
                let error = if count > 2 { "as before".to_owned() } else { one_line(error, UNCUT) };
                let is_printed = self.level != Level::Failures || is_printed(count, 2);
                is_printed.then(|| self.line(*trial, &self.ink.unsure(&format!("persona invalid, run again: {error}"))))
            }
            Entry::TrialFinished { trial, outcome, scorecard, .. } => {
                let line = self.finished(*trial, outcome, scorecard.as_ref());
                self.turns.remove(trial);
                line
            }
        }
    }

    /// How a trial came out.
    fn finished(&mut self, trial: u32, outcome: &Outcome, card: Option<&Scorecard>) -> Option<String> {
        let failed = card.map(failed_parts).unwrap_or_default();
        if let Some(error) = outcome.error() {
            self.status.has_failed();
            let error = one_line(error, UNCUT);
            let count = occurred(&mut self.occurrences, &error);
            if self.level == Level::Failures && !is_printed(count, 2) {
                return None;
            }
            let error = if count > 2 { format!("the same error again{}", times(count)) } else { error };
            let words = format!("{}: {error}", outcome.label());
            let is_agents = matches!(outcome, Outcome::AgentFailed { .. });
            return Some(self.line(trial, &if is_agents { self.ink.bad(&words) } else { self.ink.unsure(&words) }));
        }
        let score = card.and_then(Scorecard::score);
        let done = score.map_or_else(
            || self.ink.unsure("done, without a score"),
            |score| {
                let words = format!("done, {}", two_decimals(score.get()));
                if failed.is_empty() { self.ink.good(&words) } else { self.ink.bad(&words) }
            },
        );
        if failed.is_empty() && score.is_some() {
            return (self.level != Level::Failures).then(|| self.line(trial, &done));
        }
        self.status.has_failed();
        let failed = match failed.as_slice() {
            [] => String::new(),
            // Above a bar one is enough: the report tells all.
            [first, _, ..] if self.level == Level::Failures => {
                format!("; failed: {first}, and {} more", failed.len() - 1)
            }
            failed => format!("; failed: {}", failed.join(", ")),
        };
        Some(self.line(trial, &format!("{done}{}", one_line(&failed, UNCUT))))
    }

    fn turn(&mut self, trial: u32, turn: &Turn) -> Option<String> {
        let mut lines = Vec::new();
        for (failure, number) in turn.failures.iter().zip(1..) {
            let error = one_line(&failure.error, UNCUT);
            let count = occurred(&mut self.occurrences, &format!("try {number} failed: {error}"));
            if self.level == Level::Failures && !is_printed(count, 2) {
                continue;
            }
            let error = if count > 2 { format!("the same error again{}", times(count)) } else { error };
            let words = format!("try {number} failed: {error}{}", report::excuse(failure));
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
            Level::Nothing | Level::Phases | Level::Failures => None,
            Level::Everything => {
                let gap = format!("\n{:indent$}", "", indent = if self.has_bar { self.indent() } else { 4 });
                Some(self.line(trial, &format!("{} {}", self.ink.bold(&speaker), plain(text).replace('\n', &gap))))
            }
        }
    }

    /// What the lines of a trial begin with.
    fn label(&self, trial: u32) -> String {
        self.trials.numbered(trial).map_or_else(String::new, |trial| short_name(&self.names.name(&trial), LABEL))
    }

    fn line(&self, trial: u32, text: &str) -> String {
        let label = self.label(trial);
        format!("{}  {text}", self.ink.dim(&format!("{label:<width$}", width = self.label_width)))
    }
}

/// Counts an occurrence of this error; the number of occurrences so far.
fn occurred(occurrences: &mut HashMap<String, usize>, error: &str) -> usize {
    // Errors that name an id are all different.
    if occurrences.len() >= MOST_ERRORS {
        occurrences.clear();
    }
    let count = occurrences.entry(error.to_owned()).or_default();
    *count += 1;
    *count
}

/// Whether the occurrence of this number is printed: the first ones, then each power of ten.
fn is_printed(count: usize, first: usize) -> bool {
    count <= first || (count >= 10 && count.checked_ilog10().is_some_and(|exponent| 10_usize.pow(exponent) == count))
}

fn times(count: usize) -> String {
    if count > 1 { format!(" ({count} times by now)") } else { String::new() }
}

fn ending_text(ending: &Ending) -> &'static str {
    match ending {
        Ending::SignedOff { .. } => "signed off",
        Ending::ScriptEnded => "every line was said",
        Ending::MaxTurns => "ended by maxTurns",
        Ending::AgentFailed { .. } => "the agent failed",
        Ending::TimeLimit { .. } => "ended by limits.trial",
        Ending::CutOff => "cut off",
    }
}
