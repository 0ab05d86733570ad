//! How far a run is, and what its conversations wait for.

use std::collections::BTreeMap;

use crate::evidence::Usage;
use crate::money::{Dollars, Price};
use crate::record::Entry;
use crate::report::{Ink, duration, one_line, thousands};

/// A wait of at least this many milliseconds is shown in the status line.
const SHOWN_WAIT_MS: f64 = 3000.0;

/// The widest and the narrowest drawing of how much is done.
const WIDEST: usize = 30;
const NARROWEST: usize = 10;

/// A length of time without parts of seconds.
fn time(ms: f64) -> String {
    let seconds = (ms / 1000.0).round();
    if seconds < 10.0 { format!("{seconds} s") } else { duration(seconds) }
}

/// The thing that a conversation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    Agent,
    Persona,
    Judge,
    SetUp,
}

impl Awaited {
    fn label(self) -> &'static str {
        match self {
            Awaited::Agent => "agent",
            Awaited::Persona => "persona",
            Awaited::Judge => "judge",
            Awaited::SetUp => "set-up",
        }
    }
}

/// A conversation that is under way.
#[derive(Debug)]
struct ActiveConversation {
    awaited: Awaited,
    /// Since when, in milliseconds of the run.
    since_ms: f64,
}

/// How far a run is.
#[derive(Debug, Default)]
pub(super) struct ProgressStatus {
    is_begun: bool,
    all: usize,
    done: usize,
    /// How many of them were done before the run was resumed.
    done_before: usize,
    failed: usize,
    under_way: BTreeMap<u32, ActiveConversation>,
    /// The rate limit that is waited for, and until when, in milliseconds of the run.
    limit: Option<(&'static str, f64)>,
    tokens: u64,
    cost: Dollars,
    prices: BTreeMap<String, Price>,
    /// The agent's model of each trial that is not over.
    models: BTreeMap<u32, String>,
}

impl ProgressStatus {
    /// Takes in what happened at this moment.
    pub(super) fn take(&mut self, entry: &Entry, now_ms: f64) {
        let awaited = match entry {
            Entry::RunStarted { provenance, trials, .. } => {
                (self.is_begun, self.all) = (true, trials.len());
                self.prices = provenance.prices.clone();
                self.models = trials.iter().map(|trial| (trial.number, trial.model)).collect();
                return;
            }
            Entry::RunResumed { prices, .. } => return self.prices.extend(prices.clone()),
            Entry::TrialStarted { .. } | Entry::TrialContinued { .. } => Awaited::SetUp,
            Entry::LookedBefore { .. } => Awaited::Persona,
            Entry::UserSaid { .. } => Awaited::Agent,
            Entry::TurnFinished { trial, turn, .. } => {
                let model = self.models.get(trial).cloned().unwrap_or_default();
                self.spend(&model, turn.usage.as_ref());
                Awaited::Persona
            }
            Entry::ConversationEnded { .. } => Awaited::Judge,
            Entry::ModelAsked { call, .. } => return self.spend(&call.model, Some(&call.usage)),
            Entry::TrialFinished { trial, .. } => {
                self.done += 1;
                self.under_way.remove(trial);
                self.models.remove(trial);
                return;
            }
            _ => return,
        };
        if let Some(trial) = entry.trial() {
            self.under_way.insert(trial, ActiveConversation { awaited, since_ms: now_ms });
        }
    }

    /// The run goes on: so many conversations are over.
    pub(super) fn goes_on(&mut self, over: usize, spent: &Usage) {
        (self.done, self.done_before) = (over, over);
        self.spend("", Some(spent));
    }

    /// A rate limit is waited for until then.
    pub(super) fn limited(&mut self, text: &'static str, until_ms: f64) {
        if self.limit.is_none_or(|(_, known_ms)| known_ms < until_ms) {
            self.limit = Some((text, until_ms));
        }
    }

    /// A conversation that is over has failed.
    pub(super) fn has_failed(&mut self) {
        self.failed += 1;
    }

    fn spend(&mut self, model: &str, usage: Option<&Usage>) {
        let Some(usage) = usage else { return };
        let tokens = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
        self.tokens = self.tokens.saturating_add(tokens);
        let cost = self.prices.get(model).map(|price| price.cost(usage).known());
        self.cost = self.cost.plus(cost.unwrap_or_default());
    }

    /// How much is done, in how long, what is left, and what it took.
    fn facts(&self, now_ms: f64) -> Vec<String> {
        let mut facts = Vec::new();
        if self.failed > 0 {
            facts.push(format!("{} failed", self.failed));
        }
        facts.push(time(now_ms));
        let done = self.done - self.done_before;
        if done > 0 && self.done < self.all {
            let left_ms = now_ms / done as f64 * (self.all - self.done) as f64;
            facts.push(format!("about {} left", time(left_ms)));
        }
        if self.tokens > 0 {
            facts.push(format!("{} tokens", thousands(self.tokens)));
        }
        if self.cost > Dollars::ZERO {
            facts.push(self.cost.to_string());
        }
        facts
    }

    /// The awaited event; `label` names a trial.
    fn awaited(&self, now_ms: f64, label: impl Fn(u32) -> String) -> String {
        let whom = self.awaited_by_trials(now_ms, label);
        match self.limit.filter(|(_, until_ms)| *until_ms > now_ms) {
            Some((text, until_ms)) => format!("{text}, {:.0} s · {whom}", ((until_ms - now_ms) / 1000.0).ceil()),
            None => whom,
        }
    }

    /// The parties that conversations wait for, and the longest wait.
    fn awaited_by_trials(&self, now_ms: f64, label: impl Fn(u32) -> String) -> String {
        if !self.is_begun {
            return "looking whether agent, graph and models are there".to_owned();
        }
        if self.under_way.is_empty() {
            return if self.done == self.all { "ending what was started" } else { "waiting for room" }.to_owned();
        }
        let mut counts: BTreeMap<Awaited, usize> = BTreeMap::new();
        self.under_way.values().for_each(|it| *counts.entry(it.awaited).or_default() += 1);
        let counts: Vec<String> =
            counts.iter().map(|(awaited, count)| format!("{} {count}", awaited.label())).collect();
        let longest = self.under_way.iter().min_by(|(_, a), (_, b)| a.since_ms.total_cmp(&b.since_ms));
        let longest = longest.filter(|(_, it)| now_ms - it.since_ms >= SHOWN_WAIT_MS);
        let longest = longest.map_or_else(String::new, |(trial, it)| {
            format!(" · {}: {}, {}", time(now_ms - it.since_ms), it.awaited.label(), label(*trial))
        });
        format!("waiting for {}{longest}", counts.join(", "))
    }

    /// The lines at the bottom of a terminal.
    pub(super) fn bar(&self, now_ms: f64, width: usize, ink: Ink, label: impl Fn(u32) -> String) -> Vec<String> {
        // The last column stays free: a terminal may go on in the next line when it is written.
        let width = width.saturating_sub(1);
        let awaited = ink.dim(&one_line(&self.awaited(now_ms, label), width));
        let facts = self.facts(now_ms).join(" · ");
        if !self.is_begun {
            return vec![one_line(&facts, width), awaited];
        }
        let text = format!("{}/{} · {facts}", self.done, self.all);
        let room = width.saturating_sub(text.chars().count() + 2).min(WIDEST);
        let text = one_line(&text, width);
        if room < NARROWEST {
            return vec![text, awaited];
        }
        let full = room * self.done / self.all.max(1);
        let drawing = format!("{}{}", ink.good(&"━".repeat(full)), ink.dim(&"─".repeat(room - full)));
        vec![format!("{drawing}  {text}"), awaited]
    }

    /// The same in one line, for a log.
    pub(super) fn line(&self, now_ms: f64, label: impl Fn(u32) -> String) -> String {
        let awaited = self.awaited(now_ms, label);
        match self.is_begun {
            true => format!("{} of {} done · {} · {awaited}", self.done, self.all, self.facts(now_ms).join(" · ")),
            false => awaited,
        }
    }
}
