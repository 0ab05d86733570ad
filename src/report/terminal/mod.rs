//! A run for people: what the terminal shows after it. The verdict and what failed come first, then the scores, then what
//! it was made of and took. What passed is counted, and shown part by part where the screen is unfolded.

mod failures;
mod metrics;
mod parts;
mod remarks;
mod scores;
#[cfg(test)]
mod tests;
mod tokens;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use super::cached::cached_text;
use super::canaries::{canary_text, steps_text, trivial_text};
use super::estimates::estimate_lines;
use super::gathered::TrialLocation;
use super::judge_check::judge_lines;
use super::validity::fault_text;
use super::{Gathered, Ink, Page, Screen, TrialNames, count, duration, plain};
use crate::evidence::figures::FigureKind;
use crate::record::{AssertionKey, Overview, RunSummary, TrialGroup};

pub(super) use verdict::{gate_text, verdict_text};

/// A page of more lines ends with the verdict once more.
const LONG: usize = 40;

/// The most conversations that are listed by name; the rest are counted.
const MAX_NAMES: usize = 6;

/// The run as a page of text.
pub fn terminal(overview: &Overview, gathered: &Gathered, screen: Screen) -> String {
    let vacuous = overview.doubts.vacuous().into_iter().collect();
    let run = Run { overview, gathered, names: TrialNames::from_run(overview), vacuous, screen };
    let mut page = Page::new(screen);
    verdict::verdict(&mut page, &run);
    failures::failures(&mut page, &run);
    scores::scores(&mut page, &run);
    if screen.is_unfolded {
        parts::parts(&mut page, &run);
    }
    metrics::metrics(&mut page, &run);
    estimates(&mut page, &run);
    judge_check(&mut page, &run.overview.summary);
    remarks::remarks(&mut page, &run);
    tokens::tokens(&mut page, &run);
    made_of(&mut page, &run);
    if page.text.lines().count() > LONG {
        page.gap();
        verdict::headline(&mut page, &run);
    }
    verdict::real_models(&mut page, &run);
    page.text
}

/// The parts that are shown, and the screen.
struct Run<'a> {
    overview: &'a Overview,
    gathered: &'a Gathered,
    names: TrialNames,
    /// The assertions that can't fail.
    vacuous: BTreeSet<AssertionKey<'a>>,
    screen: Screen,
}

/// How a group is called.
type GroupName = fn(TrialNames, &TrialGroup) -> String;

impl Run<'_> {
    /// Names of groups, each with how many of its trials something is about, the first of them, and its last turn.
    fn places(&self, groups: &BTreeMap<usize, TrialLocation>, called: GroupName) -> String {
        self.named(groups, called, true)
    }

    fn named(&self, groups: &BTreeMap<usize, TrialLocation>, called: GroupName, is_counted: bool) -> String {
        let name = |(place, found): (&usize, &TrialLocation)| {
            let group = self.overview.groups.get(*place)?;
            let turn = (found.turn > 0).then(|| format!("turn {}", found.turn));
            let repeat = (group.planned > 1).then(|| match found.trials {
                1 => format!("#{}", found.repeat),
                trials if is_counted => format!("{trials} of {}, first #{}", group.planned, found.repeat),
                _ => format!("first #{}", found.repeat),
            });
            let words: Vec<String> = repeat.into_iter().chain(turn).collect();
            let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
            Some(format!("{}{words}", called(self.names, group)))
        };
        let most = if self.screen.is_unfolded { usize::MAX } else { MAX_NAMES };
        let mut names: Vec<String> = groups.iter().take(most).filter_map(name).collect();
        if groups.len() > names.len() {
            let more = groups.len() - names.len();
            names.push(format!("and {more} more"));
        }
        names.join(", ")
    }
}

/// Intervals and passes; those of conditions, metrics and replies where the screen is unfolded.
fn estimates(page: &mut Page, run: &Run<'_>) {
    for lines in estimate_lines(&run.overview.summary) {
        page.gap();
        page.paragraph(0, Ink::bold, &lines.heading);
        let more = lines.more.iter().filter(|_| run.screen.is_unfolded);
        lines.lines.iter().chain(more).for_each(|line| page.paragraph(2, Ink::unpainted, line));
    }
}

/// The judge's verdicts beside those of assertions; empty where they verify nothing.
pub fn judge_beside_facts(summary: &RunSummary, screen: Screen) -> String {
    let mut page = Page::new(screen);
    judge_check(&mut page, summary);
    page.text
}

fn judge_check(page: &mut Page, summary: &RunSummary) {
    for lines in judge_lines(summary) {
        page.gap();
        page.paragraph(0, Ink::bold, &lines.heading);
        lines.facts.iter().for_each(|line| page.paragraph(2, Ink::unpainted, line));
        lines.reserves.iter().for_each(|line| page.paragraph(2, Ink::unsure, line));
    }
}

/// The settings of the run, and how long it took.
fn made_of(page: &mut Page, run: &Run<'_>) {
    let summary = &run.overview.summary;
    let provenance = &summary.provenance;
    page.gap();
    let mut line = |label: &str, text: &str| page.labelled(label, 9, text);
    if let Some(selection) = &provenance.selection {
        line("cases", selection);
    }
    // Several models are listed where their figures are.
    let is_unnamed = !provenance.recorded.is_empty() && provenance.models == ["recorded"];
    let model = match provenance.models.as_slice() {
        _ if is_unnamed => String::new(),
        [only] => format!(" · model {only}"),
        _ => String::new(),
    };
    line("agent", &format!("{}{model}", provenance.agent));
    let faults = fault_text(run.overview).map(|words| format!(" · {words}")).unwrap_or_default();
    let reviewer = provenance.reviewer_model.as_ref().map(|model| format!(", reviewed by {model}")).unwrap_or_default();
    let model = if provenance.by_person { "a person".to_owned() } else { model_text(&provenance.persona_model) };
    line("persona", &format!("{} · {model}{reviewer}{faults}", provenance.persona));
    let unstable = match run.gathered.unstable {
        0 => String::new(),
        1 => " · 1 verdict is unstable".to_owned(),
        many => format!(" · {many} verdicts are unstable"),
    };
    let unsupported = match run.gathered.unsupported {
        0 => String::new(),
        1 => " · 1 good mark rests on no word of the agent".to_owned(),
        many => format!(" · {many} good marks rest on no word of the agent"),
    };
    let silent = match run.gathered.silent_judges().as_slice() {
        [] => String::new(),
        silent => format!(" · no verdict of {}", silent.join(", ")),
    };
    let cached = cached_text(run.overview).map(|words| format!(" · {words}")).unwrap_or_default();
    line("judge", &format!("{}{cached}{unstable}{silent}{unsupported}", model_text(&provenance.judge_model)));
    if let Some(recorded) = &provenance.replayed {
        line("replay", &format!("of run {}: the agent was not asked", plain(recorded)));
    }
    if let Some(steps) = &provenance.steps {
        line("steps", &format!("the judge {}", steps_text(steps)));
    }
    if let Some(canaries) = &provenance.canaries {
        line("canaries", &format!("the judge {}", canary_text(canaries)));
    }
    if let Some(score) = provenance.trivial_score {
        line("audit", &trivial_text(score));
    }
    if let Some(graph) = &provenance.graph {
        line("graph", graph);
    }
    if run.overview.turns == 0 {
        return;
    }
    let conversations = count(run.overview.begun, "conversation");
    let turns = count(run.overview.turns, "turn");
    let took = summary.took();
    let totals = &run.overview.totals;
    let waited = totals.total(FigureKind::Seconds).filter(|_| took.is_some());
    let took = took.map(|took| format!(" in {}", duration(took.as_secs_f64()))).unwrap_or_default();
    let waited = waited.map(|seconds| format!(", replies {} in all", duration(seconds))).unwrap_or_default();
    let parts: Vec<String> = [conversations, turns].into_iter().chain(totals.calls()).collect();
    line("ran", &format!("{}{took}{waited}", parts.join(", ")));
}

/// A model's name, or what stands in its place.
fn model_text(model: &str) -> String {
    match model {
        "scripted" => "scripted rules, not a language model".to_owned(),
        "none" => "not asked".to_owned(),
        "script" => "fixed messages, no language model".to_owned(),
        model => model.to_owned(),
    }
}
