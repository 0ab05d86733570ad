//! A conversation, with its events and changes, its score and the judgements.

use serde::Serialize;

use super::super::conversation::{event_text, excuse, user_tool_text};
use super::super::{TrialNames, beside_gate, count, duration, one_line, plain, thousands, two_decimals};
use super::chart::{self, Chart};
use super::run::hundredths;
use crate::evidence::figures::FigureTotals;
use crate::evidence::{AskedQuestion, Change, Ending, Judgement, Observed, Turn, UserToolCall};
use crate::record::{Overview, TrialRecord};
use crate::score::{Component, Dimension, Item, Outcome, PassLine, Score, Vacuity, Weight};

/// A text is cut to so many characters.
const LONGEST: usize = 20_000;
/// The line of a folded event.
const BRIEF: usize = 70;

/// A conversation as its template needs it.
#[derive(Serialize)]
pub(super) struct TrialView {
    anchor: String,
    name: String,
    tone: &'static str,
    score: String,
    facts: Vec<String>,
    why: Option<String>,
    left_out: Option<String>,
    dimensions: Vec<DimensionView>,
    formula: String,
    persona: String,
    turns: Vec<TurnView>,
    last_tools: Vec<EventView>,
    turn_chart: Option<Chart>,
    pending: Option<Text>,
    judging: Vec<JudgementView>,
    printed: Option<Text>,
    printed_lines: String,
    /// Whether it has no score or lost something of it.
    #[serde(skip)]
    pub(super) has_lost: bool,
}

#[derive(Serialize)]
struct DimensionView {
    name: String,
    weight: String,
    score: String,
    tone: &'static str,
    width: f64,
    why: String,
    items: Vec<ItemView>,
}

#[derive(Serialize)]
struct ItemView {
    label: String,
    score: String,
    tone: &'static str,
    why: String,
    note: String,
}

#[derive(Serialize)]
struct TurnView {
    number: u32,
    user: Option<Text>,
    tools: Vec<EventView>,
    failures: Vec<String>,
    events: Vec<EventView>,
    agent: Option<Text>,
    facts: String,
    changes: Vec<ChangeView>,
}

#[derive(Serialize)]
struct EventView {
    kind: &'static str,
    brief: String,
    text: Text,
}

#[derive(Serialize)]
struct ChangeView {
    tone: &'static str,
    words: String,
    late: bool,
}

#[derive(Serialize)]
struct JudgementView {
    name: String,
    prompt: Option<Text>,
    rejected: Vec<(String, Text)>,
    reply: Text,
    has_failed: bool,
}

/// A text, and how much of it is left out.
#[derive(Serialize)]
struct Text {
    words: String,
    more: Option<String>,
}

impl Text {
    fn new(text: &str) -> Text {
        let more = text.chars().count().saturating_sub(LONGEST);
        let words: String = text.chars().take(LONGEST).collect();
        let more = (more > 0).then(|| format!("… {} more in the record", thousands(more as u64) + " characters"));
        Text { words: plain(&words), more }
    }
}

/// Where a trial stands in the page; `number` is that of its run.
pub(super) fn anchor(trial: &TrialRecord, number: usize) -> String {
    format!("r{number}-t{}", trial.trial.number)
}

/// The name of a trial below its case.
pub(super) fn name(trial: &TrialRecord, run: &Overview) -> String {
    let (names, id) = (TrialNames::from_run(run), &trial.trial);
    let model = names.tell_models().then(|| plain(&id.model));
    let repeat = names.tell_repeats().then(|| format!("#{}", id.repeat));
    model.into_iter().chain([id.condition.label().to_owned()]).chain(repeat).collect::<Vec<_>>().join(" · ")
}

/// The colour of a trial: its score against the gate, or what it lost where there is none.
pub(super) fn tone(trial: &TrialRecord, run: &Overview) -> &'static str {
    match (trial.score(), run.summary.provenance.min_score, &trial.outcome) {
        (_, _, Some(Outcome::AgentFailed { .. })) => "bad",
        (None, _, _) => "unsure",
        (Some(score), Some(gate), _) if score.is_below(gate) => "bad",
        (Some(_), None, _) if trial.scorecard.iter().any(|card| card.shortfalls().next().is_some()) => "bad",
        _ => "good",
    }
}

/// A trial's score, with enough decimals to differ from the gate.
pub(super) fn shown_score(trial: &TrialRecord, run: &Overview) -> String {
    let gate = run.summary.provenance.min_score.map(Score::get);
    trial.score().map_or_else(|| "no score".to_owned(), |score| beside_gate(score.get(), gate))
}

impl TrialView {
    pub(super) fn new(trial: &TrialRecord, run: &Overview, number: usize) -> TrialView {
        let card = trial.scorecard.as_ref();
        let evidence = trial.evidence.as_ref();
        let turns: &[Turn] = evidence.map_or(&[], |evidence| &evidence.transcript.turns);
        let tools: &[UserToolCall] = evidence.map_or(&[], |evidence| &evidence.user_tool_calls);
        let changes: &[Change] = match evidence.and_then(|evidence| evidence.changes.as_ref()) {
            Some(Observed::Seen(changes)) => changes,
            _ => &[],
        };
        let bars: Vec<_> = turns
            .iter()
            .filter(|turn| !turn.is_greeting())
            .map(|turn| (turn.number, turn.latency_ms, turn.usage.and_then(|usage| usage.total_tokens())))
            .collect();
        let error =
            trial.outcome.as_ref().and_then(|outcome| Some(format!("{}: {}", outcome.label(), outcome.error()?)));
        let printed = trial.agent_output.as_ref().map(|output| {
            let dropped = match output.dropped_bytes {
                0 => String::new(),
                bytes => format!("\n… {} bytes were not kept …\n", thousands(bytes)),
            };
            format!("{}{dropped}{}", output.beginning, output.end)
        });
        let printed = printed.filter(|text| !text.trim().is_empty());
        TrialView {
            anchor: anchor(trial, number),
            name: name(trial, run),
            tone: tone(trial, run),
            score: shown_score(trial, run),
            facts: facts(trial, turns, changes),
            why: error.or_else(|| trial.why_no_score()).map(|why| plain(&why)),
            left_out: None,
            dimensions: card.iter().flat_map(|card| &card.dimensions).map(DimensionView::new).collect(),
            formula: card.map(|card| plain(card.composite.why())).unwrap_or_default(),
            persona: plain(&run.summary.provenance.persona),
            turns: turns.iter().map(|turn| TurnView::new(turn, changes, tools)).collect(),
            last_tools: {
                let last = turns.last().map_or(0, |turn| turn.number);
                tools.iter().filter(|call| call.turn > last).map(EventView::of_user).collect()
            },
            turn_chart: chart::turns(&bars),
            pending: trial.pending.as_deref().map(Text::new),
            judging: trial.judgements.iter().map(|judgement| JudgementView::new(judgement, trial)).collect(),
            printed_lines: printed.as_deref().map(|text| count(text.lines().count(), "line")).unwrap_or_default(),
            printed: printed.as_deref().map(Text::new),
            has_lost: trial.score().is_none() || card.is_some_and(|card| card.shortfalls().next().is_some()),
        }
    }

    /// Leaves the conversation out, and says how it is seen.
    pub(super) fn leave_out(&mut self, run: &str) {
        self.left_out = Some(format!("This page has no room for it: eval-job show {run} -v shows it."));
        self.dimensions.clear();
        self.turns.clear();
        self.judging.clear();
        (self.turn_chart, self.printed, self.pending) = (None, None, None);
    }
}

fn facts(trial: &TrialRecord, turns: &[Turn], changes: &[Change]) -> Vec<String> {
    let answered = turns.iter().filter(|turn| !turn.is_greeting()).count();
    let mut facts = vec![count(answered, "turn")];
    if let Some(evidence) = &trial.evidence {
        let mut totals = FigureTotals::default();
        totals.add(&evidence.transcript);
        facts.extend(totals.calls());
        facts.extend(evidence.transcript.average_latency_ms().map(|ms| format!("{} a reply", duration(ms / 1000.0))));
        facts.extend(match &evidence.ending {
            Ending::SignedOff { reason } => reason.as_ref().map(|reason| format!("the user left: {reason}")),
            Ending::ScriptEnded => Some("every line was said".to_owned()),
            Ending::MaxTurns => Some("ended by maxTurns".to_owned()),
            Ending::AgentFailed { .. } => Some("the agent failed".to_owned()),
            Ending::CutOff => Some("cut off".to_owned()),
            Ending::TimeLimit { .. } => Some("ended by limits.trial".to_owned()),
        });
    }
    if !changes.is_empty() {
        facts.push(format!("{} of the graph", count(changes.len(), "change")));
    }
    let failed: usize = turns.iter().map(|turn| turn.failures.len()).sum();
    if failed > 0 {
        facts.push(format!("{failed} failed {}", if failed == 1 { "try" } else { "tries" }));
    }
    facts
}

/// When a dimension as a whole is shown as good: at its threshold, else above the line of its parts.
fn whole_line(dimension: &Dimension) -> PassLine {
    match (dimension.threshold, dimension.good_above) {
        (Some(threshold), _) => PassLine::AtLeast(threshold),
        (None, line) => PassLine::Above(line.unwrap_or(Score::clamped(0.6))),
    }
}

/// The words for a component, its colour, and its width as a bar.
fn parts(component: &Component, line: PassLine) -> (String, &'static str, f64) {
    match component {
        Component::Scored { score, .. } => {
            (two_decimals(score.get()), if line.is_met(*score) { "good" } else { "bad" }, hundredths(*score))
        }
        Component::NotApplicable { .. } => ("not used".to_owned(), "none", 0.0),
        Component::Missing { .. } => ("missing".to_owned(), "unsure", 0.0),
    }
}

impl DimensionView {
    fn new(dimension: &Dimension) -> DimensionView {
        let (score, tone, width) = parts(&dimension.component, whole_line(dimension));
        DimensionView {
            name: plain(&dimension.name),
            weight: match dimension.weight {
                Weight::ZERO => "not counted".to_owned(),
                weight => format!("× {}", weight.get()),
            },
            score,
            tone,
            width,
            why: plain(dimension.component.why()),
            items: dimension.items.iter().map(|item| ItemView::new(item, dimension)).collect(),
        }
    }
}

impl ItemView {
    fn new(item: &Item, dimension: &Dimension) -> ItemView {
        let (score, tone, _) = parts(&item.component, dimension.pass_line());
        // An assertion holds or fails.
        let score = match (dimension.metric(), item.component.score()) {
            ("assertions", Some(Score::ONE)) => "holds".to_owned(),
            ("assertions", Some(Score::ZERO)) => "fails".to_owned(),
            _ => score,
        };
        let note = match &item.vacuity {
            Some(Vacuity::Vacuous) => "It may not be able to fail.".to_owned(),
            Some(Vacuity::HeldBefore) => "It held before the first word already.".to_owned(),
            Some(Vacuity::NotChecked { why }) => format!("Whether it can fail was not checked {}.", plain(why)),
            Some(Vacuity::Idle) | None => String::new(),
        };
        ItemView { label: plain(&item.label), score, tone, why: plain(item.component.why()), note }
    }
}

impl TurnView {
    fn new(turn: &Turn, changes: &[Change], tools: &[UserToolCall]) -> TurnView {
        let mut facts: Vec<String> = turn.latency_ms.iter().map(|ms| duration(ms / 1000.0)).collect();
        facts.extend(turn.first_token_ms.map(|ms| format!("first words after {}", duration(ms / 1000.0))));
        let tokens = turn.usage.and_then(|usage| usage.input_tokens.zip(usage.output_tokens));
        facts
            .extend(tokens.map(|(input, output)| format!("{} tokens in, {} out", thousands(input), thousands(output))));
        let of_turn = changes.iter().filter(|change| change.when().turn == turn.number);
        let event = |event| {
            let (kind, text) = event_text(event);
            EventView { kind, brief: one_line(&text, BRIEF), text: Text::new(&text) }
        };
        TurnView {
            number: turn.number,
            user: (!turn.is_greeting()).then(|| Text::new(&turn.user)),
            tools: tools.iter().filter(|call| call.turn == turn.number).map(EventView::of_user).collect(),
            failures: turn.failures.iter().map(|it| format!("{}{}", plain(&it.error), excuse(it))).collect(),
            events: turn.events.iter().map(event).collect(),
            agent: turn.agent.as_deref().map(Text::new),
            facts: facts.join(" · "),
            changes: of_turn.map(ChangeView::new).collect(),
        }
    }
}

impl EventView {
    /// A call of the user's own tools.
    fn of_user(call: &UserToolCall) -> EventView {
        let changes = call.changes.iter().map(|change| format!("\n{}", ChangeView::new(change).words));
        let text = format!("{}{}", user_tool_text(call), changes.collect::<String>());
        EventView { kind: "the user's tool", brief: one_line(&text, BRIEF), text: Text::new(&text) }
    }
}

impl ChangeView {
    fn new(change: &Change) -> ChangeView {
        let (sign, tone) = match change {
            Change::Created { .. } => ("+", "good"),
            Change::Deleted { .. } => ("−", "bad"),
            Change::Changed { .. } => ("~", "unsure"),
        };
        ChangeView { tone, words: format!("{sign} {}", plain(&change.to_string())), late: change.when().late }
    }
}

impl JudgementView {
    fn new(judgement: &Judgement, trial: &TrialRecord) -> JudgementView {
        let is_it = |asked: &&AskedQuestion| asked.is_answered_by(judgement);
        let asked = trial.questions.iter().find(is_it);
        let (reply, has_failed) = match &judgement.reply {
            Observed::Seen(reply) => (reply, false),
            Observed::Failed(error) => (error, true),
        };
        let rejected = judgement.rejected.iter().map(|(raw, why)| (plain(why), Text::new(raw)));
        JudgementView {
            name: {
                let cached = if judgement.is_cached { " · from the cache" } else { "" };
                format!("{} · {}{cached}", plain(&judgement.judge), plain(&judgement.question))
            },
            prompt: asked.and_then(|asked| asked.prompt.as_deref()).map(Text::new),
            rejected: rejected.collect(),
            reply: Text::new(reply),
            has_failed,
        }
    }
}
