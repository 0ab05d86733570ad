//! The part of the page above a run's conversations: its verdict, its scores, what failed, reply times and tokens.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::cached::cached_text;
use super::super::estimates::{EstimateLines, estimate_lines};
use super::super::gate::{line_text, mark, shown_lines};
use super::super::judge_check::{JudgeLines, judge_lines};
use super::super::lost::lost_texts;
use super::super::terminal::{gate_text, verdict_text};
use super::super::validity::validity_text;
use super::super::{TrialNames, UNENDED, beside_gate, count, duration, idle_texts, plain, two_decimals};
use super::chart::{self, Chart, ChartSeries};
use super::tokens::TokensView;
use super::trial::{anchor, name, shown_score, tone};
use crate::evidence::case_and_persona;
use crate::record::{Overview, Spending, TrialRecord, Verdict};
use crate::score::{Component, Score};

/// The most conversations in the list of failures at the top.
const MAX_LISTED: usize = 50;
/// The most reasons listed per conversation.
const MAX_REASONS: usize = 4;
/// The most rows of the latency chart.
const MAX_ROWS: usize = 24;
/// The most dimensions whose scores have a column.
const MAX_COLUMNS: usize = 6;

/// A job in the list of all.
#[derive(Serialize)]
pub(super) struct JobView {
    tone: &'static str,
    verdict: &'static str,
    job: String,
    file: String,
    scores: String,
}

impl JobView {
    pub(super) fn new(run: &Overview) -> JobView {
        let summary = &run.summary;
        let scores: Vec<String> = summary.figures.iter().map(|figure| shown(&figure.figure, run)).collect();
        JobView {
            tone: tone_of(summary.verdict),
            verdict: summary.verdict_label(),
            job: plain(&summary.provenance.job),
            file: plain(&summary.provenance.job_file),
            scores: scores.join(" "),
        }
    }
}

/// The figures of the conversations, gathered while they are read for the first time.
#[derive(Default)]
pub(super) struct Gathering {
    lost: Vec<FailedConversation>,
    lost_more: usize,
    /// Reply times of each group.
    times: Vec<Vec<f64>>,
    remarks: Vec<String>,
}

/// A conversation that lost something.
#[derive(Serialize)]
struct FailedConversation {
    anchor: String,
    tone: &'static str,
    score: String,
    name: String,
    reasons: Vec<String>,
}

impl Gathering {
    /// Takes in a trial of the run of this number.
    pub(super) fn add(&mut self, trial: &TrialRecord, run: &Overview, number: usize) {
        let id = &trial.trial;
        self.times.resize(run.groups.len(), Vec::new());
        if let Some(times) = run.index_of(id).and_then(|place| self.times.get_mut(place)) {
            let turns = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
            times.extend(turns.filter(|turn| !turn.is_greeting()).filter_map(|turn| turn.latency_ms));
        }
        if let Some(crate::evidence::Observed::Failed(why)) = trial.evidence.as_ref().and_then(|it| it.changes.as_ref())
        {
            let remark = format!("The graph could not be watched: {}", plain(why));
            if self.remarks.len() < MAX_LISTED && !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        let shortfalls = trial.scorecard.iter().flat_map(|card| card.shortfalls());
        let reasons = shortfalls.map(|item| format!("{}: {}", plain(&item.label), plain(item.component.why())));
        let why = lost_texts(trial).into_iter().map(|why| plain(&why));
        let mut reasons: Vec<String> = why.chain(reasons).collect();
        if reasons.is_empty() {
            return;
        }
        if reasons.len() > MAX_REASONS + 1 {
            let more = reasons.split_off(MAX_REASONS).len();
            reasons.push(format!("… and {more} more"));
        }
        if self.lost.len() == MAX_LISTED {
            self.lost_more += 1;
            return;
        }
        let (anchor, name) = (anchor(trial, number), name(trial, run));
        let name = if TrialNames::from_run(run).tell_cases() { format!("{} · {name}", plain(&id.case)) } else { name };
        self.lost.push(FailedConversation {
            anchor,
            tone: tone(trial, run),
            score: shown_score(trial, run),
            name,
            reasons,
        });
    }
}

/// The part above a run's conversations.
#[derive(Serialize)]
pub(super) struct RunView {
    number: usize,
    level: u8,
    job: String,
    tone: &'static str,
    mark: &'static str,
    verdict: &'static str,
    /// The rules of the gate, each with its mark.
    gate_lines: Vec<[String; 2]>,
    text: String,
    facts: Vec<String>,
    /// Where the gate is, in hundredths.
    gate: Option<f64>,
    gate_text: String,
    columns: Vec<String>,
    models: Vec<ModelView>,
    lost: Vec<FailedConversation>,
    lost_more: usize,
    estimates: Vec<EstimateLines>,
    judges: Vec<JudgeLines>,
    remarks: Vec<String>,
    latency: Option<Chart>,
    token_chart: Option<Chart>,
    tokens: Vec<TokensView>,
}

#[derive(Serialize)]
struct ModelView {
    name: String,
    cells: Vec<String>,
    tone: &'static str,
    score: String,
    /// The score in hundredths.
    width: f64,
}

impl RunView {
    pub(super) fn new(run: &Overview, gathering: Gathering, number: usize, is_one_of_several: bool) -> RunView {
        let (summary, provenance) = (&run.summary, &run.summary.provenance);
        let (word, rest) = verdict_text(run);
        let mut remarks = gathering.remarks;
        remarks.extend(summary.finished_at.is_none().then(|| UNENDED.to_owned()));
        remarks.extend(summary.limit_reached.as_ref().map(|why| format!("Stopped: {}", plain(why))));
        remarks.extend(doubts(run));
        remarks.extend(idle_texts(run));
        if provenance.is_scripted() {
            remarks.push("Persona or judge were scripted rules, not language models: this shows that the job runs, not how good the agent is.".to_owned());
        }
        let known = |row: &Spending| {
            let usage = row.usage.as_ref()?;
            Some((format!("{row} {}", row.model), usage.input_tokens?, usage.output_tokens?))
        };
        let rows: Vec<_> = run.spending.iter().filter_map(known).collect();
        RunView {
            number,
            level: if is_one_of_several { 2 } else { 1 },
            job: plain(&provenance.job),
            tone: if run.summary.has_no_gate && summary.verdict == Verdict::Passed {
                "unsure"
            } else {
                tone_of(summary.verdict)
            },
            mark: match summary.verdict {
                Verdict::Passed if run.summary.has_no_gate => "–",
                Verdict::Passed => "✓",
                Verdict::GateFailed => "✕",
                Verdict::Inconclusive | Verdict::Incomplete | Verdict::Interrupted => "!",
            },
            verdict: word,
            text: plain(&rest),
            gate_lines: gate_view(run),
            facts: facts(run),
            gate: provenance.min_score.map(hundredths),
            gate_text: provenance.min_score.map(gate_text).unwrap_or_default(),
            columns: columns(run),
            models: provenance.models.iter().map(|model| ModelView::new(run, model)).collect(),
            lost: gathering.lost,
            lost_more: gathering.lost_more,
            estimates: estimate_lines(summary),
            judges: judge_lines(summary),
            remarks,
            latency: chart::latencies(series(run, gathering.times)),
            token_chart: chart::tokens(&rows),
            tokens: run.spending.iter().filter(|row| row.usage.is_some()).map(TokensView::new).collect(),
        }
    }
}

/// A row a group; a row a model and condition where there are too many.
fn series(run: &Overview, times: Vec<Vec<f64>>) -> ChartSeries {
    let are_few = run.groups.len() <= MAX_ROWS;
    let has_cases = run.groups.windows(2).any(|pair| pair[0].case != pair[1].case);
    let has_models = run.summary.provenance.models.len() > 1;
    let mut series: ChartSeries = Vec::new();
    for (group, times) in run.groups.iter().zip(times) {
        let case = (are_few && has_cases).then(|| plain(&group.case));
        let model = has_models.then(|| plain(&group.model));
        let condition = group.condition.label().to_owned();
        let name = case.into_iter().chain(model).chain([condition]).collect::<Vec<_>>().join(" · ");
        match series.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.extend(times),
            None => series.push((name, times)),
        }
    }
    series
}

fn facts(run: &Overview) -> Vec<String> {
    let summary = &run.summary;
    let took = summary.took();
    let mut facts = vec![plain(&summary.provenance.job_file), format!("run {}", summary.id)];
    facts.push(summary.started_at.format("%Y-%m-%d %H:%M UTC").to_string());
    facts.extend(summary.provenance.selection.iter().map(|selection| plain(selection)));
    facts.push(format!("{}, {}", count(run.begun, "conversation"), count(run.turns, "turn")));
    facts.extend(validity_text(run));
    facts.extend(run.totals.calls());
    facts.extend(cached_text(run));
    facts.extend(took.map(|took| duration(took.as_secs_f64())));
    facts
}

/// Assertions that may say nothing of the conversations.
fn doubts(run: &Overview) -> Vec<String> {
    let name = |(case, key): &(&str, &str)| format!("{} ({})", plain(key), plain(case));
    let names = |keys: &[(&str, &str)]| keys.iter().take(MAX_REASONS).map(name).collect::<Vec<_>>().join(", ");
    let (vacuous, held) = (run.doubts.vacuous(), run.doubts.held_before());
    let vacuous = (!vacuous.is_empty())
        .then(|| format!("{} may not be able to fail: {}", count(vacuous.len(), "assertion"), names(&vacuous)));
    let held = (!held.is_empty())
        .then(|| format!("{} held before the first word already: {}", count(held.len(), "assertion"), names(&held)));
    vacuous.into_iter().chain(held).collect()
}

/// The dimensions' names, with their weights.
fn columns(run: &Overview) -> Vec<String> {
    dimensions(run).map(|(name, weight)| format!("{} × {weight}", plain(name))).collect()
}

fn dimensions(run: &Overview) -> impl Iterator<Item = (&str, f64)> {
    let mut known: Vec<(&str, f64)> = Vec::new();
    for dimension in run.groups.iter().flat_map(|group| &group.dimensions) {
        let weight = dimension.weight.get();
        let is_asked = dimension.tally.scored + dimension.tally.missing > 0;
        if weight > 0.0 && is_asked && !known.iter().any(|(name, _)| *name == dimension.name) {
            known.push((&dimension.name, weight));
        }
    }
    known.into_iter().take(MAX_COLUMNS)
}

impl ModelView {
    fn new(run: &Overview, model: &str) -> ModelView {
        let personas: Vec<String> =
            run.summary.figures.iter().flat_map(|it| &it.personas).map(|it| it.persona.clone()).collect();
        let cell = |(name, _): (&str, f64)| {
            // Of the conditions of a case, then of the cases: as the score is.
            let mut cases: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for group in run.groups_of(model) {
                let mean = group.dimension(name).and_then(|dimension| dimension.tally.mean());
                let of_case = mean.map(|_| cases.entry(case_and_persona(&group.case, &personas).0).or_default());
                of_case.into_iter().for_each(|means| means.extend(mean.map(Score::get)));
            }
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let means: Vec<f64> = cases.values().map(|values| mean(values)).collect();
            let is_missing =
                || run.groups_of(model).any(|it| it.dimension(name).is_some_and(|it| it.tally.missing > 0));
            match means.is_empty() {
                true if is_missing() => "missing".to_owned(),
                true => "–".to_owned(),
                false => format!("{}{}", two_decimals(mean(&means)), part_text(run, model, name)),
            }
        };
        let figure = run.summary.figures.iter().find(|figure| figure.model == model);
        let score = figure.and_then(|figure| figure.figure.score());
        let gate = run.summary.provenance.min_score;
        let tone = match (score, gate) {
            (None, _) => "unsure",
            (Some(score), Some(gate)) if score.is_below(gate) => "bad",
            // Nothing was asked of it.
            (Some(_), _) if run.summary.has_no_gate => "unsure",
            _ => "good",
        };
        let cells = dimensions(run).map(cell).collect();
        let text = score.map(|score| beside_gate(score.get(), gate.map(Score::get)));
        let text = text.unwrap_or_else(|| "no score".to_owned());
        ModelView { name: plain(model), cells, tone, score: text, width: score.map_or(0.0, hundredths) }
    }
}

/// Of how many conversations a mean is, where others have no score of it; empty where none lacks it.
fn part_text(run: &Overview, model: &str, dimension: &str) -> String {
    let (mut scored, mut all) = (0, 0);
    for group in run.groups_of(model) {
        let tally = group.dimension(dimension).map(|dimension| &dimension.tally);
        // A case that was graded without it does not ask for it.
        let is_asked = tally.is_some() || group.graded == 0;
        scored += tally.map_or(0, |tally| tally.scored);
        all += if is_asked { group.planned - tally.map_or(0, |it| it.not_applicable).min(group.planned) } else { 0 };
    }
    if scored < all { format!(" ({scored} of {all})") } else { String::new() }
}

/// The rules of the gate, each with its mark.
fn gate_view(run: &Overview) -> Vec<[String; 2]> {
    let is_one = run.summary.figures.len() == 1;
    shown_lines(run).iter().map(|line| [mark(line.state).0.to_owned(), line_text(line, is_one)]).collect()
}

fn tone_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "good",
        Verdict::GateFailed => "bad",
        Verdict::Inconclusive | Verdict::Incomplete | Verdict::Interrupted => "unsure",
    }
}

fn shown(component: &Component, run: &Overview) -> String {
    let gate = run.summary.provenance.min_score.map(Score::get);
    component.score().map_or_else(|| "–".to_owned(), |score| beside_gate(score.get(), gate))
}

/// A score in hundredths, for a bar.
pub(super) fn hundredths(score: Score) -> f64 {
    (score.get() * 1000.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::record::{Entry, FORMAT_VERSION, Fold, Provenance};
    use crate::score::{Dimension, Outcome, Scorecard, Weight};

    #[test]
    fn a_mean_of_some_conversations_says_of_how_many() {
        let at = chrono::DateTime::UNIX_EPOCH;
        let id = |number: u32| TrialId {
            number,
            case: format!("c{number}"),
            model: "m".to_owned(),
            condition: Condition::WithoutFacts,
            repeat: 1,
        };
        let cell = |held: &[Option<Component>]| {
            let trials = (1..=held.len() as u32).map(id).collect();
            let provenance = Box::new(Provenance { models: vec!["m".to_owned()], ..Provenance::default() });
            let (version, templates) = (FORMAT_VERSION, BTreeMap::new());
            let id = "a".to_owned();
            let mut fold =
                Fold::begin(Entry::RunStarted { version, id, at, provenance, job: None, templates, trials }).unwrap();
            for (component, trial) in held.iter().zip(1..) {
                let (outcome, scorecard) = match component.clone() {
                    Some(component) => {
                        let dimensions = vec![Dimension::new("tasks", Weight::ONE, component.clone())];
                        let card = Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite: component };
                        (Outcome::Graded, Some(card))
                    }
                    None => (Outcome::Broken { error: "gone".to_owned() }, None),
                };
                fold.take(Entry::TrialStarted { trial, at, case: None });
                fold.take(Entry::TrialFinished { trial, at, outcome, scorecard });
            }
            let run = fold.end(|_, _| {});
            ModelView::new(&run, "m").cells.concat()
        };
        let scored = |value: f64| Some(Component::scored(Score::clamped(value), ""));
        assert_eq!(cell(&[scored(0.5), scored(1.0)]), "0.75");
        assert_eq!(cell(&[scored(0.5), None, scored(1.0)]), "0.75 (2 of 3)");
        assert_eq!(cell(&[scored(0.5), Some(Component::missing("no judge"))]), "0.50 (1 of 2)");
        assert_eq!(cell(&[Some(Component::missing("no judge"))]), "missing");
        assert_eq!(cell(&[scored(0.5), Some(Component::NotApplicable { why: String::new() })]), "0.50");
    }
}
