//! The report's parts about single trials, gathered while the trials are read one by one.
//!
//! Invariant: what is kept is bounded by the cases, metrics and groups of a job, not by its trials; only of several models
//! the scores are kept, to be compared.

mod part;
mod sentences;
mod trouble;

use std::collections::{BTreeMap, BTreeSet};

use self::part::{GatheredParts, OfGroup};
pub(super) use self::part::{PartResult, PartRow};
pub(super) use self::sentences::{Sentences, TrialLocation};
use self::trouble::trouble;
pub(super) use self::trouble::without_session_id;
use super::{plain, scores_zero_for_silence};
use crate::compare::{Comparison, ComparisonRules, Scores, Side, compare};
use crate::evidence::Observed;
use crate::record::{Overview, Provenance, TrialRecord};
use crate::score::Dimension;

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
    parts: BTreeMap<(String, String), GatheredParts>,
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
    /// Its first place in a scorecard.
    place: usize,
}

impl GatheredDimension {
    fn new(dimension: &Dimension, place: usize) -> GatheredDimension {
        let metric = dimension.metric();
        let is_block = !["tasks", "tone", "assertions"].contains(&metric);
        GatheredDimension { name: dimension.name.clone(), holds: metric == "assertions", is_block, place }
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

impl Gathered {
    /// An empty collector for a run; with several models their scores are kept for comparison.
    pub fn new(Provenance { models, personas, .. }: &Provenance) -> Gathered {
        let side = |model: &String| (Side { run: String::new(), model: model.clone() }, Scores::new(personas));
        let sides = if models.len() > 1 { models.iter().map(side).collect() } else { Vec::new() };
        Gathered { sides, ..Gathered::default() }
    }

    /// The same for a run with this plan: in whichever order the trials of cases end, they are compared in the order of the plan.
    pub fn planned(plan: &Overview) -> Gathered {
        let mut gathered = Gathered::new(&plan.summary.provenance);
        for (side, scores) in &mut gathered.sides {
            scores.plan(plan.groups_of(&side.model).map(|group| group.case.as_str()));
        }
        gathered
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
        for (place, dimension) in trial.scorecard.iter().flat_map(|card| &card.dimensions).enumerate() {
            let of_parts = dimension.items.iter().filter(|item| item.component.is_unstable()).count();
            let of_whole = usize::from(dimension.items.is_empty() && dimension.component.is_unstable());
            self.unstable += of_parts + of_whole;
            self.unsupported += dimension.items.iter().filter(|item| item.component.is_unsupported()).count();
            if dimension.items.is_empty() {
                continue;
            }
            self.note_measured(GatheredDimension::new(dimension, place));
            let key = (trial.trial.case.clone(), dimension.name.clone());
            self.parts.entry(key).or_default().add(OfGroup { group, trial }, dimension);
        }
    }

    /// The dimensions stand by their first places in a scorecard, in whichever order trials end.
    fn note_measured(&mut self, measured: GatheredDimension) {
        match self.measured.iter_mut().find(|known| known.name == measured.name) {
            Some(known) if known.place <= measured.place => return,
            Some(known) => known.place = measured.place,
            None => self.measured.push(measured),
        }
        self.measured.sort_by(|one, other| (one.place, &one.name).cmp(&(other.place, &other.name)));
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

    /// The tasks or assertions of a dimension of a case, in the order of the trials, and of the items in each.
    pub(super) fn parts(&self, case: &str, dimension: &str) -> Vec<&PartRow> {
        self.parts.get(&(case.to_owned(), dimension.to_owned())).map(GatheredParts::in_order).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
