//! The report's parts about single trials, gathered while the trials are read one by one.
//!
//! Invariant: what is kept is bounded by the cases, metrics and groups of a job, not by its trials; only of several models
//! the scores are kept, to be compared.

mod trouble;

use std::collections::{BTreeMap, BTreeSet};

use self::trouble::trouble;
use super::{plain, scores_zero_for_silence};
use crate::compare::{Comparison, ComparisonRules, Scores, Side, compare};
use crate::evidence::Observed;
use crate::record::{Provenance, Tally, TrialRecord};
use crate::score::{Component, Dimension, Item, PassLine, Score, Vacuity, Weight};

/// How many different sentences of a kind are kept.
const MOST: usize = 20;

/// How many parts of a case and a dimension are kept apart; those that a judge or a conversation names are without bound.
const MOST_PARTS: usize = 200;

/// The label of the parts beyond, which stand together.
const OTHER_PARTS: &str = "other parts";

/// How many different reasons are kept for a task or an assertion with a group's trials.
const REASONS: usize = 3;

/// The report's parts about single trials.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The reasons why trials say nothing about the agent, or did not come to their own end.
    pub(super) troubles: Sentences,
    /// Why the graph could not be watched.
    pub(super) unwatched: Sentences,
    /// Settings that the models of persona and judge refused.
    pub(super) notes: Sentences,
    /// How many conversations score 0 for the agent's silence alone.
    pub(super) silent: usize,
    /// How many requests the agent refused because of our own other conversations.
    pub(super) refused: u32,
    /// The most conversations that were open meanwhile.
    pub(super) open: u32,
    /// The dimensions that have parts, in the order of the scorecards.
    pub(super) measured: Vec<GatheredDimension>,
    /// How many verdicts there are that several judges, or several samples of one, disagree on.
    pub(super) unstable: usize,
    /// How many good marks rest on no word of the agent.
    pub(super) unsupported: usize,
    /// The judges that were asked, each with whether it ever answered.
    judges: BTreeMap<String, bool>,
    /// The scores of each of several models, to be compared.
    sides: Vec<(Side, Scores)>,
    /// By case and dimension.
    parts: BTreeMap<(String, String), Vec<PartRow>>,
    /// The cases of which a conversation was in trouble.
    troubled: BTreeSet<String>,
}

/// A dimension that has parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GatheredDimension {
    pub(super) name: String,
    /// Whether its parts are assertions, which hold or fail.
    pub(super) holds: bool,
    /// Whether its reasons are of several lines, made here; else they are a judge's or a graph's words.
    pub(super) is_block: bool,
}

impl GatheredDimension {
    fn new(dimension: &Dimension) -> GatheredDimension {
        let metric = dimension.metric();
        let is_block = !["tasks", "tone", "assertions"].contains(&metric);
        GatheredDimension { name: dimension.name.clone(), holds: metric == "assertions", is_block }
    }

    /// The noun for one of its parts.
    pub(super) fn noun(&self) -> String {
        match self.name.as_str() {
            "tasks" | "assertions" => self.part().to_owned(),
            name if name.contains(' ') => format!("`{}` check", plain(name)),
            name => format!("{} check", plain(name)),
        }
    }

    /// The word before a part's number.
    pub(super) fn part(&self) -> &str {
        match self.name.as_str() {
            name @ ("tasks" | "assertions") => name.trim_end_matches('s'),
            name => name,
        }
    }

    /// Its name as a title.
    pub(super) fn title(&self) -> String {
        let mut letters = self.name.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        plain(&format!("{first}{}", letters.as_str()))
    }
}

/// Sentences, each with the groups whose trials it is about.
#[derive(Debug, Default)]
pub(super) struct Sentences {
    found: Vec<(String, BTreeMap<usize, TrialLocation>)>,
    /// The number of trials whose sentence was dropped.
    pub(super) dropped: usize,
}

/// The trials of a group that something is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TrialLocation {
    /// How many.
    pub(super) trials: usize,
    /// The first of them: its repetition and its last turn.
    pub(super) repeat: u32,
    pub(super) turn: u32,
}

impl TrialLocation {
    fn first(trial: &TrialRecord) -> TrialLocation {
        let turns = trial.evidence.as_ref().map(|evidence| evidence.transcript.turns.as_slice());
        let turn = turns.and_then(<[_]>::last).map_or(0, |turn| turn.number);
        TrialLocation { trials: 1, repeat: trial.trial.repeat, turn }
    }

    /// One more trial.
    fn add(&mut self, trial: &TrialRecord) {
        let trials = self.trials + 1;
        if trial.trial.repeat < self.repeat {
            *self = TrialLocation::first(trial);
        }
        self.trials = trials;
    }
}

impl Sentences {
    fn add(&mut self, group: usize, trial: &TrialRecord, sentence: String) {
        let place = self.found.iter().position(|(known, _)| *known == sentence);
        match place {
            Some(place) => {
                let groups = &mut self.found[place].1;
                groups.entry(group).and_modify(|found| found.add(trial)).or_insert_with(|| TrialLocation::first(trial));
            }
            None if self.found.len() == MOST => self.dropped += 1,
            None => self.found.push((sentence, BTreeMap::from([(group, TrialLocation::first(trial))]))),
        }
    }

    /// In the order of the groups.
    pub(super) fn in_order(&self) -> Vec<&(String, BTreeMap<usize, TrialLocation>)> {
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|(_, groups)| groups.keys().next().copied());
        found
    }
}

/// One task or assertion, with what the trials made of it.
#[derive(Debug)]
pub(super) struct PartRow {
    /// Its key within its case.
    pub(super) key: String,
    /// The turn that it is about, where it is about one.
    turn: Option<u32>,
    pub(super) label: String,
    pub(super) weight: Weight,
    /// When it came out well.
    pub(super) line: PassLine,
    /// Its results by group. Most have one, and a map has room for several: what has no content yet must be small.
    pub(super) groups: BTreeMap<usize, Box<PartResult>>,
    /// It held before the first message of some trial, and counts in all of those.
    pub(super) held_before: Option<bool>,
    /// Why it was not checked whether it can fail.
    pub(super) not_checked: Option<String>,
}

/// The result of a task or an assertion in one group.
#[derive(Debug, Default)]
pub(super) struct PartResult {
    pub(super) tally: Tally,
    /// How many trials scored it 1.
    pub(super) whole: usize,
    /// The trials that it did not go well in, where there are such.
    pub(super) failed: Option<TrialLocation>,
    /// The lowest score.
    pub(super) lowest: Option<Score>,
    /// Why, where it was not; each reason once.
    pub(super) reasons: Vec<String>,
    /// Why it is missing in a trial, where it is.
    pub(super) missing: Option<String>,
}

impl PartRow {
    /// The part of an item, or that of all others.
    fn new(item: &Item, line: PassLine, is_others: bool) -> PartRow {
        let (key, turn, label) = match is_others {
            true => (String::new(), None, OTHER_PARTS.to_owned()),
            false => (item.key().to_owned(), item.turn, item.label.clone()),
        };
        PartRow {
            key,
            turn,
            label,
            weight: item.weight,
            line,
            groups: BTreeMap::new(),
            held_before: None,
            not_checked: None,
        }
    }

    fn add(&mut self, group: usize, trial: &TrialRecord, item: &Item) {
        let made = self.groups.entry(group).or_default();
        made.tally.add(&item.component);
        let score = item.component.score();
        let is_whole = score == Some(Score::ONE);
        made.whole += usize::from(is_whole);
        made.lowest = match (made.lowest, score) {
            (Some(lowest), Some(score)) if lowest <= score => Some(lowest),
            (lowest, score) => score.or(lowest),
        };
        if item.has_failed(self.line) {
            match &mut made.failed {
                Some(failed) => failed.add(trial),
                None => made.failed = Some(TrialLocation::first(trial)),
            }
            // Its label says the turn that it is about; any other part is of the whole conversation, and not of its last turn.
            if let Some(failed) = &mut made.failed {
                failed.turn = 0;
            }
        }
        let why = item.component.why();
        made.missing = made.missing.take().or_else(|| item.component.is_missing().then(|| why.to_owned()));
        let is_known = || made.reasons.iter().any(|known| known == why);
        if !is_whole
            && !matches!(item.component, Component::NotApplicable { .. })
            && made.reasons.len() < REASONS
            && !is_known()
        {
            made.reasons.push(why.to_owned());
        }
        match &item.vacuity {
            Some(Vacuity::Vacuous | Vacuity::HeldBefore) => {
                self.held_before = Some(self.held_before.unwrap_or(true) && is_whole);
            }
            Some(Vacuity::NotChecked { why }) => {
                self.not_checked.get_or_insert_with(|| why.clone());
            }
            Some(Vacuity::Idle) | None => {}
        }
    }
}

impl Gathered {
    /// An empty collector for a run; with several models their scores are kept for comparison.
    pub fn new(Provenance { models, personas, .. }: &Provenance) -> Gathered {
        let side = |model: &String| (Side { run: String::new(), model: model.clone() }, Scores::new(personas));
        let sides = if models.len() > 1 { models.iter().map(side).collect() } else { Vec::new() };
        Gathered { sides, ..Gathered::default() }
    }

    /// Each of several models beside the first.
    pub(super) fn comparisons(&self, provenance: &Provenance) -> Vec<Comparison> {
        let mut sides = self.sides.iter().map(|(side, scores)| (side, scores));
        let Some(first) = sides.next() else { return Vec::new() };
        let pairs: Vec<_> = sides.map(|other| [first, other]).collect();
        compare(&pairs, ComparisonRules::for_run(provenance.until.as_ref(), provenance.rng_seed))
    }

    /// Takes in a trial; `group` is the place of its group.
    pub fn add(&mut self, group: usize, trial: &TrialRecord) {
        if let Some((_, scores)) = self.sides.iter_mut().find(|(side, _)| side.model == trial.trial.model) {
            scores.add(trial);
        }
        let trouble = trouble(trial);
        if !trouble.is_empty() {
            self.troubles.add(group, trial, trouble);
            self.troubled.insert(trial.trial.case.clone());
        }
        self.silent += usize::from(scores_zero_for_silence(trial));
        if let Some(refusals) = trial.refusals {
            self.refused += refusals.requests;
            self.open = self.open.max(refusals.conversations);
        }
        if let Some(Observed::Failed(why)) = trial.evidence.as_ref().and_then(|evidence| evidence.changes.as_ref()) {
            self.unwatched.add(group, trial, why.clone());
        }
        for judgement in &trial.judgements {
            let is_answer = matches!(judgement.reply, Observed::Seen(_));
            *self.judges.entry(judgement.judge.clone()).or_default() |= is_answer;
        }
        let persona = trial.evidence.iter().flat_map(|evidence| &evidence.persona_notes);
        let judge = trial.judgements.iter().flat_map(|judgement| &judgement.notes);
        for (who, note) in persona.map(|note| ("persona", note)).chain(judge.map(|note| ("judge", note))) {
            let whole = format!("The {who}'s model: {note}");
            // The reviewer's is a sentence of its own.
            self.notes.add(group, trial, note.strip_prefix("the r").map_or(whole, |rest| format!("The r{rest}")));
        }
        for dimension in trial.scorecard.iter().flat_map(|card| &card.dimensions) {
            let of_parts = dimension.items.iter().filter(|item| item.component.is_unstable()).count();
            let of_whole = usize::from(dimension.items.is_empty() && dimension.component.is_unstable());
            self.unstable += of_parts + of_whole;
            self.unsupported += dimension.items.iter().filter(|item| item.component.is_unsupported()).count();
            if dimension.items.is_empty() {
                continue;
            }
            let measured = GatheredDimension::new(dimension);
            if !self.measured.contains(&measured) {
                self.measured.push(measured);
            }
            let key = (trial.trial.case.clone(), dimension.name.clone());
            let parts = self.parts.entry(key).or_default();
            parts.reserve_exact(dimension.items.len().saturating_sub(parts.len()));
            let line = dimension.pass_line();
            let mut taken = vec![false; parts.len()];
            for (hint, item) in dimension.items.iter().enumerate() {
                let place = place_of(parts, &taken, hint, item).unwrap_or_else(|| {
                    parts.push(PartRow::new(item, line, parts.len() == MOST_PARTS));
                    taken.push(false);
                    parts.len() - 1
                });
                taken[place] = place < MOST_PARTS;
                parts[place].add(group, trial, item);
            }
        }
    }

    /// The judges of a panel that gave no verdict at all, where others did: what they would have said is nowhere else to be seen.
    pub(super) fn silent_judges(&self) -> Vec<&str> {
        let is_panel = self.judges.values().any(|answered| *answered);
        let silent = self.judges.iter().filter(|(_, answered)| is_panel && !**answered);
        silent.map(|(judge, _)| judge.as_str()).collect()
    }

    /// Whether a conversation about this case was in trouble.
    pub(super) fn is_troubled(&self, case: &str) -> bool {
        self.troubled.contains(case)
    }

    /// The tasks or assertions of a dimension of a case.
    pub(super) fn parts(&self, case: &str, dimension: &str) -> &[PartRow] {
        self.parts.get(&(case.to_owned(), dimension.to_owned())).map_or(&[], Vec::as_slice)
    }
}

/// The place of an item among the parts, of those that no other item of its trial has: most often that of the item in its
/// scorecard. Items beyond the most that are kept apart have the last place.
fn place_of(parts: &[PartRow], taken: &[bool], hint: usize, item: &Item) -> Option<usize> {
    let is_it = |place: &usize| {
        parts.get(*place).is_some_and(|part| !taken[*place] && part.turn == item.turn && part.key == item.key())
    };
    let found = Some(hint).filter(is_it).or_else(|| (0..parts.len()).find(is_it));
    found.or((parts.len() > MOST_PARTS).then_some(MOST_PARTS))
}

#[cfg(test)]
mod tests;
