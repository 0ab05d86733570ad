//! The verdict, the figures that it rests on, and how far both go.

use std::collections::{BTreeMap, BTreeSet};

use super::super::comparison::{at_once_text, beside_text, looks_text, relation_text};
use super::super::gate::{line_text, mark, shown_lines};
use super::super::personas::persona_lines;
use super::super::validity::{discarded_texts, remedy_text, validity_text};
use super::super::{FigureCell, FigureRow, FigureTable, Ink, Page, Paint, count, decimals, plain, telling_decimals};
use super::Run;
use crate::compare::{ComparedScore, ComparisonRules, Relation};
use crate::record::{GateLine, GateRule, GateState, MergedParts, ModelFigure, Overview, RunSummary, Verdict};
use crate::score::Score;
use crate::statistics::Interval;

/// How many cases below a threshold are named.
const THRESHOLDS: usize = 20;

/// Writes the verdict, whose it is, and the figures of several models.
pub(super) fn verdict(page: &mut Page, run: &Run<'_>) {
    let (overview, record) = (run.overview, &run.overview.summary);
    headline(page, run);
    let provenance = &record.provenance;
    let models = match provenance.models.as_slice() {
        [model] => model.clone(),
        models => count(models.len(), "model"),
    };
    page.paragraph(0, Ink::dim, &format!("{} ({}) · {models}", provenance.job, provenance.job_file));
    if let [first, _, ..] = record.figures.as_slice() {
        figures(page, record);
        beside_first(page, run, &first.model);
    }
    gate_rules(page, overview);
    thresholds(page, overview);
    for line in persona_lines(overview) {
        page.paragraph(0, Ink::unpainted, &line);
    }
    if let Some(words) = validity_text(overview) {
        let paint: Paint = if overview.validity.invalid == 0 { Ink::dim } else { Ink::unsure };
        page.paragraph(0, paint, &words);
    }
    for line in discarded_texts(overview).into_iter().chain(remedy_text(overview)) {
        page.paragraph(0, Ink::unsure, &line);
    }
    let unscored = unscored(overview);
    if unscored > 0 && record.verdict != Verdict::Incomplete {
        let all = count(overview.planned(), "conversation");
        page.paragraph(0, Ink::unsure, &format!("{unscored} of {all} could not be scored"));
    }
    if let Some(why) = &record.limit_reached {
        let conversations = count(overview.planned(), "conversation");
        page.paragraph(0, Ink::unsure, &format!("stopped: {why}; {} of {conversations} begun", overview.begun));
    }
}

/// Writes the verdict in a line.
pub(super) fn headline(page: &mut Page, run: &Run<'_>) {
    let (word, rest) = verdict_text(run.overview);
    let paint: Paint = match run.overview.summary.verdict {
        Verdict::Passed if run.overview.summary.has_no_gate => Ink::bold,
        Verdict::Passed => Ink::good,
        Verdict::GateFailed => Ink::bad,
        Verdict::Inconclusive | Verdict::Incomplete | Verdict::Interrupted => Ink::unsure,
    };
    page.paragraph(0, paint, &format!("{word}{}{rest}", if rest.is_empty() { "" } else { ": " }));
}

/// How many conversations have no figure.
fn unscored(overview: &Overview) -> usize {
    overview.planned() - overview.groups.iter().map(|group| group.composite.scored).sum::<usize>()
}

/// How many decimals tell the figures of a run and its gate apart.
pub(super) fn digits(record: &RunSummary) -> usize {
    let figures = record.figures.iter().filter_map(|figure| figure.figure.score());
    telling_decimals(&figures.chain(record.provenance.min_score).map(|score| score.get()).collect::<Vec<_>>())
}

/// The verdict's label, and the figures that it rests on.
pub(in super::super) fn verdict_text(overview: &Overview) -> (&'static str, String) {
    let record = &overview.summary;
    let gate = record.provenance.min_score;
    let is_below =
        |figure: &&ModelFigure| figure.figure.score().zip(gate).is_some_and(|(score, gate)| score.is_below(gate));
    let below = record.figures.iter().filter(is_below).count();
    let shown = |value: f64| decimals(value, digits(record));
    let figure = match record.figures.as_slice() {
        [only] => only.figure.score().map(|score| format!("{}, ", shown(score.get()))).unwrap_or_default(),
        _ => String::new(),
    };
    let gate = gate.map(gate_text);
    let words = match (record.verdict, gate) {
        (Verdict::Passed, _) if record.has_no_gate => {
            let figure = figure.trim_end_matches(", ");
            let comma = if figure.is_empty() { "" } else { ", and " };
            let what = nothing(overview).map(|what| format!("{comma}{what}")).unwrap_or_default();
            return ("no gate", format!("{figure}{what}"));
        }
        (Verdict::Passed, gate) if nothing(overview).is_some() => {
            let gate =
                gate.map_or_else(|| thresholds_or_none(overview).to_owned(), |gate| format!("the gate is {gate}"));
            let what = nothing(overview).unwrap_or_default();
            return ("passed without a check", format!("{figure}{gate}, and {what}"));
        }
        (Verdict::Passed, _) if is_until_alone(&shown_lines(overview)) => {
            let lines = shown_lines(overview);
            lines.first().map(|line| line_text(line, true)).unwrap_or_default()
        }
        (Verdict::Passed, _) if !shown_lines(overview).is_empty() => {
            let lines = shown_lines(overview);
            let in_state = |state: GateState| lines.iter().filter(|line| line.state == state).count();
            match in_state(GateState::Undecided) {
                0 if in_state(GateState::NotBroken) > 0 => format!("{figure}no rule of the gate is broken"),
                0 => format!("{figure}every rule of the gate is kept"),
                open => format!("{figure}no rule of the gate is broken, {open} can't be decided"),
            }
        }
        (Verdict::Passed, Some(gate)) => format!("{figure}the gate is {gate}"),
        (Verdict::Passed, None) => format!("{figure}{}", thresholds_or_none(overview)),
        (Verdict::GateFailed, Some(gate)) if below > 0 => match record.figures.len() {
            1 => format!("{figure}the gate is {gate}"),
            all => format!("{below} of {all} models below the gate of {gate}"),
        },
        (Verdict::GateFailed, _) if overview.below_thresholds().next().is_some() => {
            format!("{figure}{}", below_thresholds(overview))
        }
        (Verdict::GateFailed | Verdict::Inconclusive, _) if decisive(overview).is_some() => {
            format!("{figure}{}", decisive(overview).unwrap_or_default())
        }
        (Verdict::GateFailed, _) => {
            let (vacuous, held) = (overview.doubts.vacuous().len(), overview.doubts.held_before().len());
            let cases = overview.doubts.vacuous_cases().len();
            let words = match (count(vacuous, "vacuous assertion"), held) {
                (_, 0) if vacuous == 0 => format!("nothing that counts could have failed in {}", count(cases, "case")),
                (vacuous, 0) => vacuous,
                (_, held) if vacuous == 0 => format!("{} held before the first word", count(held, "assertion")),
                (vacuous, held) => format!("{vacuous} and {held} that held before the first word"),
            };
            format!("{words}, and the job has gate.vacuous: fail")
        }
        (Verdict::Incomplete, _) if lacks_part(record) => {
            record.provenance.merged.as_ref().map(MergedParts::missing_text).unwrap_or_default()
        }
        (Verdict::Incomplete, _) if unscored(overview) > 0 => {
            format!("{} of {} could not be scored", unscored(overview), count(overview.planned(), "conversation"))
        }
        // The line below says how many.
        (Verdict::Incomplete, _) if overview.validity.invalid > 0 => {
            "too few conversations in which the persona played its part".to_owned()
        }
        (Verdict::Inconclusive | Verdict::Incomplete | Verdict::Interrupted, _) => String::new(),
    };
    (record.verdict.label(), words)
}

/// What a run that passed without a least score passes by.
fn thresholds_or_none(overview: &Overview) -> &'static str {
    let mut metrics = overview.groups.iter().flat_map(|group| &group.dimensions);
    match metrics.any(|metric| metric.threshold.is_some() && metric.tally.scored > 0) {
        true => "each metric reaches its threshold",
        false => "no gate is set",
    }
}

/// Why a run that passed shows nothing of the agent.
fn nothing(overview: &Overview) -> Option<&'static str> {
    let doubts = &overview.doubts;
    match () {
        () if doubts.nothing_can_fail() => Some("no assertion could have failed; gate.vacuous: fail makes that fail"),
        () if !doubts.rests_on_nothing() => None,
        () if doubts.idle_cases().is_empty() => {
            Some("nothing that counts could have failed; gate.vacuous: fail makes that fail")
        }
        () => Some("an agent that does nothing gets no less"),
    }
}

/// The rule of the gate that the verdict comes from, with its figure.
fn decisive(overview: &Overview) -> Option<String> {
    let lines = shown_lines(overview);
    // What a vacuous assertion comes to has words of its own.
    let is_vacuous = |line: &GateLine<'_>| matches!(line.rule, GateRule::Vacuous(..));
    let of = |state: GateState| lines.iter().find(move |line| line.state == state && !is_vacuous(line));
    let is_failed_by_it = lines.iter().any(|line| is_vacuous(line) && line.state == GateState::Broken);
    let open = || of(GateState::Undecided).filter(|_| !is_failed_by_it);
    let line = of(GateState::Broken).or_else(open)?;
    Some(line_text(line, overview.summary.figures.len() == 1))
}

/// Whether the only rule is that the models must differ: the headline says it.
fn is_until_alone(lines: &[GateLine<'_>]) -> bool {
    matches!(lines, [GateLine { rule: GateRule::Until(..), .. }])
}

/// Writes each rule of a gate that has several kinds of them.
fn gate_rules(page: &mut Page, overview: &Overview) {
    let lines = shown_lines(overview);
    // The headline says a single rule that is not kept.
    let is_not_kept = matches!(overview.summary.verdict, Verdict::GateFailed | Verdict::Inconclusive);
    if lines.len() == 1 && is_not_kept || is_until_alone(&lines) {
        return;
    }
    for line in lines {
        let (mark, paint) = mark(line.state);
        let words = line_text(&line, overview.summary.figures.len() == 1);
        page.lead(2, 4, (paint, mark), (Ink::unpainted, &words));
    }
}

fn lacks_part(record: &RunSummary) -> bool {
    record.provenance.merged.as_ref().is_some_and(|merged| !merged.missing.is_empty())
}

/// Which metrics are below their thresholds, and in how many cases.
fn below_thresholds(overview: &Overview) -> String {
    let mut metrics: BTreeMap<&str, (f64, BTreeSet<&str>)> = BTreeMap::new();
    for (group, metric) in overview.below_thresholds() {
        let threshold = metric.threshold.map_or(0.0, Score::get);
        metrics.entry(&metric.name).or_insert((threshold, BTreeSet::new())).1.insert(&group.case);
    }
    let cases = overview.cases().count();
    let words = metrics.into_iter().map(|(metric, (threshold, below))| {
        let cases = if cases == 1 { String::new() } else { format!(" in {} of {}", below.len(), count(cases, "case")) };
        format!("{} is below its threshold of {threshold}{cases}", plain(metric))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Writes each case in which a metric is below its threshold.
fn thresholds(page: &mut Page, overview: &Overview) {
    let below: Vec<_> = overview.below_thresholds().collect();
    for (group, metric) in below.iter().take(THRESHOLDS) {
        let (mean, threshold) = (metric.reached().map_or(0.0, Score::get), metric.threshold.map_or(0.0, Score::get));
        let digits = telling_decimals(&[mean, threshold]);
        let scored = metric.tally.mean().filter(|scored| Some(*scored) != metric.reached());
        let failed = scored.map(|it| format!(" ({} had the agent not failed)", decimals(it.get(), digits)));
        let failed = failed.unwrap_or_default();
        let line = format!(
            "✕ {} · {} · {}: {} {}, its threshold is {}{failed}",
            plain(&group.case),
            plain(&group.model),
            group.condition.label(),
            plain(&metric.name),
            decimals(mean, digits),
            decimals(threshold, digits)
        );
        page.paragraph(2, Ink::bad, &line);
    }
    if below.len() > THRESHOLDS {
        page.paragraph(2, Ink::dim, &format!("… {} more are below a threshold", below.len() - THRESHOLDS));
    }
}

/// A gate as it was set, with two decimals at least: 0.87 is not 0.870.
pub(in super::super) fn gate_text(gate: Score) -> String {
    let text = gate.get().to_string();
    if text.len() < "0.87".len() { decimals(gate.get(), 2) } else { text }
}

/// The figure of each of several models, best first where there are more than two, with its interval, and how far it is from the
/// first one's.
fn figures(page: &mut Page, record: &RunSummary) {
    let digits = digits(record);
    let row = |figure: &ModelFigure| {
        let is_below =
            figure.figure.score().zip(record.provenance.min_score).is_some_and(|(score, gate)| score.is_below(gate));
        let paint: Paint = if is_below { Ink::bad } else { Ink::bold };
        let score: FigureCell = match figure.figure.score() {
            Some(score) => (paint, decimals(score.get(), digits)),
            None => (Ink::unsure, "no score".to_owned()),
        };
        let difference = difference(record, figure, digits).unwrap_or_default();
        let interval = interval(figure, digits).unwrap_or_default();
        let cells = vec![score, (Ink::dim, difference), (Ink::dim, interval)];
        FigureRow { name: plain(&figure.model), indent: 2, paint: Ink::unpainted, cells }
    };
    let mut figures: Vec<&ModelFigure> = record.figures.iter().collect();
    if figures.len() > 2 {
        figures.sort_by(|one, other| {
            let [one, other] = [one, other].map(|it| it.figure.score().map_or(-1.0, |score| score.get()));
            other.total_cmp(&one)
        });
    }
    page.table(&FigureTable {
        title: String::new(),
        columns: vec![Vec::new(), Vec::new(), Vec::new()],
        rows: figures.into_iter().map(row).collect(),
    });
}

/// The 95 % interval of a model's figure.
fn interval(figure: &ModelFigure, digits: usize) -> Option<String> {
    figure.figure.score()?;
    let Interval { low, high } = figure.estimates.as_ref()?.score?.interval?;
    Some(format!("{} to {}", decimals(low, digits), decimals(high, digits)))
}

/// How far a model's figure is from the first one's.
fn difference(record: &RunSummary, figure: &ModelFigure, digits: usize) -> Option<String> {
    let first = record.figures.first().filter(|first| first.model != figure.model)?;
    let difference = figure.figure.score()?.get() - first.figure.score()?.get();
    let sign = match difference {
        _ if difference.abs() < Score::HAIR => '±',
        _ if difference < 0.0 => '−',
        _ => '+',
    };
    Some(format!("{sign}{}", decimals(difference.abs(), digits)))
}

/// Each model beside the first one.
fn beside_first(page: &mut Page, run: &Run<'_>, first: &str) {
    let comparisons = run.gathered.comparisons(&run.overview.summary.provenance);
    let scores =
        comparisons.iter().filter_map(|comparison| Some((&comparison.second.model, comparison.scores.first()?)));
    let shown: Vec<_> = scores.filter(|(_, score)| tells(score)).collect();
    let provenance = &run.overview.summary.provenance;
    let rules = ComparisonRules::for_run(provenance.until.as_ref(), provenance.rng_seed);
    for (model, score) in &shown {
        let (paint, words) = relation_text(model, first, score.relation);
        page.lead(0, 2, (paint, &words), (Ink::unpainted, &beside_text(score, rules)));
    }
    for words in at_once_text(&comparisons, rules).into_iter().chain(looks_text(rules)) {
        page.paragraph(0, Ink::dim, &words);
    }
    // A comparison without any pair is not shown.
    let is_held = comparisons.iter().any(|comparison| comparison.pairs > 0);
    if shown.len() < comparisons.len() && is_held {
        page.paragraph(0, Ink::dim, &few(run.overview, first));
    }
}

/// Whether a comparison says more than how little it rests on.
fn tells(score: &ComparedScore) -> bool {
    score.interval.is_some() || score.with_missing.is_some() || score.relation != Relation::Inconclusive
}

/// How little a difference between models rests on: what is drawn are the cases, and repetitions only of a single one.
fn few(overview: &Overview, first: &str) -> String {
    let cases: std::collections::BTreeSet<&str> = overview.groups.iter().map(|group| group.case.as_str()).collect();
    let planned = overview.groups.iter().map(|group| group.planned).max().unwrap_or_default();
    let of = match (cases.len(), planned) {
        (0 | 1, 0 | 1) => "One conversation a condition".to_owned(),
        (0 | 1, several) => format!("{several} conversations a condition of one case"),
        (several, _) => format!("So few as {several} cases, or so much spread between them"),
    };
    format!("{of}: differences to {first} are shown, not proven.")
}

/// Writes what a reader of a scripted run must know, and the change that uses real models. What was not graded shows
/// nothing yet, and is repeated with the same models first.
pub(super) fn real_models(page: &mut Page, run: &Run<'_>) {
    let record = &run.overview.summary;
    let provenance = &record.provenance;
    if !matches!(record.verdict, Verdict::Passed | Verdict::GateFailed | Verdict::Inconclusive)
        || !provenance.is_scripted()
    {
        return;
    }
    let persona = provenance.persona_model == "scripted" && !provenance.by_person;
    let (persona, judge) = (persona, provenance.judge_model == "scripted");
    let who = match (persona, judge) {
        (true, true) => "Persona and judge were scripted rules, not language models",
        (true, false) => "The persona was scripted rules, not a language model",
        (false, _) => "The judge was scripted rules, not a language model",
    };
    page.gap();
    let words = format!("{who}: this shows that the job runs, not how good the agent is. With real models:");
    page.lead(0, 0, (Ink::unpainted, ""), (Ink::unpainted, &words));
    let flags: String = [(persona, "--evaluator-model"), (judge, "--scorer-model")]
        .iter()
        .filter(|(scripted, _)| *scripted)
        .map(|(_, flag)| format!(" \\\n    {flag} openai/gpt-4.1-mini"))
        .collect();
    // A command that is copied must be whole.
    let models = match provenance.has_named_models {
        true => format!(" \\\n    --model {}", plain(&provenance.models.join(","))),
        false => String::new(),
    };
    page.text.push_str(&format!("  OPENAI_API_KEY=… eval-job run {}{models}{flags}\n", plain(&provenance.job_file)));
}
