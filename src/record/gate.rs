//! The rules of a run's gate, each with its figure.

use serde::{Deserialize, Serialize};

use super::{ModelFigure, Overview};
use crate::score::{AssertionGate, Decision, GateRules, OnInconclusive, RepeatsEnded, Score, VacuousGate};
use crate::statistics::{Estimate, Interval};

/// A run beside the baseline of its gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineCheck {
    /// The name of the baseline.
    pub name: String,
    /// The run that it was; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// How many runs of the store were compared with it, this one included; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u32>,
    /// Why the runs were not compared, in a sentence; `None` where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Each model beside that of the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<BaselineFigure>,
}

/// The score of a model beside the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineFigure {
    /// The agent's model.
    pub model: String,
    /// How many pairs of conversations were compared.
    pub pairs: u32,
    /// How many cases they are of.
    pub cases: u32,
    /// The score less the baseline's, over the pairs.
    pub difference: f64,
    /// Its 95 % interval; of several models all intervals cover at once (Bonferroni).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Whether no drop of more than is allowed is seen: of cases like those that were run a test shows it, or no pair differs.
    pub is_kept: bool,
    /// Whether it is shown of all cases that the score has not dropped by more than is allowed; false in records of earlier versions,
    /// which did not ask.
    #[serde(default)]
    pub is_shown: bool,
    /// Whether it is shown that the score has dropped, and by more than is allowed as far as the data show.
    pub has_dropped: bool,
    /// The largest drop that so many cases can't rule out, at 95 %; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub possible_drop: Option<f64>,
    /// The bounds of the difference, were each score that is missing the worst or the best possible; `None` where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_missing: Option<Interval>,
    /// The parts that only one of the runs has; `None` where they have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unshared: Option<BaselineUnshared>,
    /// Why nothing is said of the drop, though the pairs with scores would; `None` where they decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<BaselineOpen>,
}

/// The parts of runs that are not compared with a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineUnshared {
    /// The cases that only the baseline has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_baseline: Vec<String>,
    /// The cases that only the run has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_run: Vec<String>,
    /// How many conversations of shared cases have no counterpart.
    #[serde(default)]
    pub unpaired: u32,
    /// How many pairs have no score on one side or on both.
    #[serde(default)]
    pub without_score: u32,
}

impl BaselineUnshared {
    /// Whether everything is compared.
    pub fn is_empty(&self) -> bool {
        *self == BaselineUnshared::default()
    }
}

/// Why nothing is said of a drop, though the pairs with scores would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum BaselineOpen {
    /// The scores that are missing could turn it around.
    MissingScores,
    /// No more than half of the cases of both runs have a pair with scores.
    FewSharedCases {
        /// How many have one.
        paired: u32,
        /// How many cases either run has.
        all: u32,
    },
}

/// The result of a rule of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    /// It is kept.
    Kept,
    /// It is not violated, but there are too few cases to prove it.
    NotBroken,
    /// It is broken.
    Broken,
    /// Neither is shown.
    Undecided,
}

/// A rule of the gate, for one of the agent's models.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLine<'a> {
    /// The agent's model; `None` for a rule about all of them.
    pub model: Option<&'a str>,
    /// The rule.
    pub rule: GateRule<'a>,
    /// The result.
    pub state: GateState,
    /// Whether it is undecided only since conversations have no score.
    pub is_open_for_missing: bool,
}

/// A rule of the gate with its figure.
#[derive(Debug, Clone, PartialEq)]
pub enum GateRule<'a> {
    /// The least score, and the score.
    MinScore(f64, Option<f64>),
    /// How many assertions failed in how many conversations.
    Assertions(u32, usize),
    /// The largest share of cases that flip; how many flip and how many were repeated.
    MaxFlake(f64, u32, u32),
    /// The least share of its conversations in which each case passes, the cases that pass less often, and how many cases there are
    /// of which conversations pass or do not.
    MinPassRate(f64, Vec<&'a str>, usize),
    /// The longest time in milliseconds, and the 95th percentile.
    LatencyP95(f64, Option<Estimate>),
    /// The threshold of a metric that applied to no conversation, and the metric's name.
    Unmeasured(f64, &'a str),
    /// How many repetitions may be run until the models are told apart, how they ended, `None` where they have not, and how many
    /// came to their end.
    Until(u32, Option<RepeatsEnded>, usize),
    /// The least share of conversations in which the persona plays its part, in how many it did, and how many were run.
    MinValidity(f64, usize, usize),
    /// How many assertions can't fail, how many held before the conversation, and in how many cases nothing could have failed.
    Vacuous(usize, usize, usize),
    /// The drop that is allowed, the baseline's name, its run and the figure; without one where it is not known.
    Baseline(f64, &'a str, Option<&'a BaselineCheck>, Option<&'a BaselineFigure>),
}

impl Overview {
    /// Whether the gate fails for assertions that can't fail, or held before the conversation.
    pub(super) fn fails_for_what_held_before(&self) -> bool {
        self.summary.provenance.vacuous == VacuousGate::Fail && self.doubts.say_something()
    }

    /// Whether nothing that the job asks for could have failed the run: it has no gate of any kind, and no metric a threshold.
    pub(super) fn has_no_gate(&self) -> bool {
        let provenance = &self.summary.provenance;
        let rules = GateRules { on_inconclusive: OnInconclusive::default(), ..provenance.gate.clone() };
        let mut dimensions = self.groups.iter().flat_map(|group| &group.dimensions);
        provenance.min_score.is_none()
            && rules == GateRules::default()
            && provenance.vacuous != VacuousGate::Fail
            && provenance.until.is_none()
            && provenance.min_validity.is_none()
            && provenance.canaries.is_none()
            && provenance.trivial_score.is_none()
            && dimensions.all(|dimension| dimension.threshold.is_none())
    }
}

/// The rules of a run's gate; only the least score where it has no other.
pub fn gate_lines(run: &Overview) -> Vec<GateLine<'_>> {
    let provenance = &run.summary.provenance;
    let rules = &provenance.gate;
    let mut lines: Vec<GateLine<'_>> = Vec::new();
    for figure in &run.summary.figures {
        let (model, own) = (Some(figure.model.as_str()), lines.len());
        let mut line = |rule: Option<(GateRule<'static>, GateState)>| {
            lines.extend(rule.map(|(rule, state)| GateLine::new(model, rule, state)));
        };
        line(provenance.min_score.map(|least| {
            let score = figure.figure.score();
            let state = match score {
                None => GateState::Undecided,
                Some(score) => state(!score.is_below(least)),
            };
            (GateRule::MinScore(least.get(), score.map(|score| score.get())), state)
        }));
        line(rules.assertions.map(|AssertionGate::All| assertions(run, &figure.model)));
        line(rules.max_flake.map(|most| flake(most.get(), figure)));
        line(rules.latency_p95_ms.map(|most| latency(most, figure)));
        if let Some(least) = rules.min_pass_rate {
            let (rule, state) = pass_rate(run, &figure.model, least);
            lines.push(GateLine::new(model, rule, state));
        }
        if let Some(name) = &rules.baseline {
            let (rule, state) = baseline(rules, name, run.summary.baseline.as_ref(), &figure.model);
            lines.push(GateLine::new(model, rule, state));
        }
        if lacks_scores(run, &figure.model) {
            lines[own..].iter_mut().for_each(GateLine::leave_open);
        }
        let unmeasured = unmeasured(run, &figure.model).into_iter();
        lines.extend(unmeasured.map(|rule| GateLine::new(model, rule, GateState::Undecided)));
    }
    lines.extend(min_validity(run).into_iter().chain(vacuous(run)));
    if let Some(until) = &provenance.until {
        let ended = run.summary.repeats_ended;
        let is_decided = ended.is_some_and(|ended| ended.decision == Decision::Decided);
        let most = until.looks.last().copied().unwrap_or_default();
        let state = if is_decided { GateState::Kept } else { GateState::Undecided };
        let held = run.groups.iter().map(|group| group.ended).min().unwrap_or_default();
        lines.push(GateLine::new(None, GateRule::Until(most, ended, held), state));
    }
    lines
}

/// Whether conversations with a model have no score, so that no rule is shown to be kept: they may be those that break it. Those that
/// the persona spoilt are left out where others of their kind have one.
fn lacks_scores(run: &Overview, model: &str) -> bool {
    run.groups_of(model).any(|group| group.outline().lacks_scores(false))
}

impl<'a> GateLine<'a> {
    fn new(model: Option<&'a str>, rule: GateRule<'a>, state: GateState) -> GateLine<'a> {
        GateLine { model, rule, state, is_open_for_missing: false }
    }

    /// What does not break the rule is not enough to keep it.
    fn leave_open(&mut self) {
        if matches!(self.state, GateState::Kept | GateState::NotBroken) {
            self.state = GateState::Undecided;
            self.is_open_for_missing = true;
        }
    }
}

/// Whose rule is broken is incomplete, and does not fail: the conversations say too little of the agent.
fn min_validity(run: &Overview) -> Option<GateLine<'static>> {
    let (least, validity) = (run.summary.provenance.min_validity?, &run.validity);
    let state = match validity.rate() {
        None => GateState::NotBroken,
        Some(rate) if rate.is_below(least) => GateState::Undecided,
        Some(_) => GateState::Kept,
    };
    let rule = GateRule::MinValidity(least.get(), validity.held - validity.invalid, validity.held);
    Some(GateLine::new(None, rule, state))
}

fn vacuous(run: &Overview) -> Option<GateLine<'static>> {
    let (vacuous, held) = (run.doubts.vacuous().len(), run.doubts.held_before().len());
    let cases = run.doubts.vacuous_cases().len();
    let rule = GateRule::Vacuous(vacuous, held, cases);
    let state = state(vacuous + held + cases == 0);
    (run.summary.provenance.vacuous == VacuousGate::Fail).then(|| GateLine::new(None, rule, state))
}

/// The thresholds of the metrics that applied to no conversation with a model: nothing shows that they are met.
fn unmeasured<'a>(run: &'a Overview, model: &'a str) -> Vec<GateRule<'a>> {
    let mut metrics: Vec<(&str, Score, bool)> = Vec::new();
    for dimension in run.groups_of(model).flat_map(|group| &group.dimensions) {
        let Some(threshold) = dimension.threshold else { continue };
        let applied = dimension.tally.scored + dimension.tally.missing > 0;
        match metrics.iter_mut().find(|(name, ..)| *name == dimension.name) {
            Some((_, _, has_applied)) => *has_applied |= applied,
            None => metrics.push((&dimension.name, threshold, applied)),
        }
    }
    let unmeasured = metrics.into_iter().filter(|(_, _, has_applied)| !has_applied);
    unmeasured.map(|(name, threshold, _)| GateRule::Unmeasured(threshold.get(), name)).collect()
}

fn state(is_kept: bool) -> GateState {
    if is_kept { GateState::Kept } else { GateState::Broken }
}

fn assertions(run: &Overview, model: &str) -> (GateRule<'static>, GateState) {
    let failed = run.groups_of(model).map(|group| group.failed_assertions).sum();
    let graded = run.groups_of(model).map(|group| group.graded).sum();
    (GateRule::Assertions(failed, graded), state(failed == 0))
}

fn flake(most: f64, figure: &ModelFigure) -> (GateRule<'static>, GateState) {
    let passes = figure.estimates.as_ref().and_then(|estimates| estimates.passes.as_ref());
    let (flaky, repeated) = passes.map_or((0, 0), |passes| (passes.flaky, passes.repeated));
    let state = match repeated {
        0 => GateState::Undecided,
        _ => state(f64::from(flaky) / f64::from(repeated) <= most),
    };
    (GateRule::MaxFlake(most, flaky, repeated), state)
}

fn pass_rate<'a>(run: &'a Overview, model: &'a str, least: Score) -> (GateRule<'a>, GateState) {
    // How many conversations about each case pass or do not, and how many pass.
    let mut cases: Vec<(&str, [u32; 2])> = Vec::new();
    for group in run.groups_of(model).filter(|group| group.decided > 0) {
        match cases.iter_mut().find(|(case, _)| *case == group.case) {
            Some((_, [decided, passed])) => (*decided, *passed) = (*decided + group.decided, *passed + group.passed),
            None => cases.push((&group.case, [group.decided, group.passed])),
        }
    }
    let passes = |[decided, passed]: [u32; 2]| f64::from(passed) / f64::from(decided) >= least.get() - Score::HAIR;
    let below: Vec<&str> = cases.iter().filter(|(_, counts)| !passes(*counts)).map(|(case, _)| *case).collect();
    let state = if cases.is_empty() { GateState::Undecided } else { state(below.is_empty()) };
    (GateRule::MinPassRate(least.get(), below, cases.len()), state)
}

fn latency(most: f64, figure: &ModelFigure) -> (GateRule<'static>, GateState) {
    let percentiles = figure.estimates.iter().flat_map(|estimates| &estimates.latency);
    let found = percentiles.into_iter().find(|percentile| percentile.of_hundred == 95);
    // Of a few replies the slowest is the percentile: a single slow one does not show that more than 5 of 100 are.
    let state = match found {
        Some(found) if found.ms.value <= most => GateState::Kept,
        Some(found) if found.at_least.is_some_and(|least| least > most) => GateState::Broken,
        _ => GateState::Undecided,
    };
    (GateRule::LatencyP95(most, found.map(|it| it.ms)), state)
}

fn baseline<'a>(
    rules: &GateRules,
    name: &'a str,
    check: Option<&'a BaselineCheck>,
    model: &str,
) -> (GateRule<'a>, GateState) {
    let figure = check.and_then(|check| check.models.iter().find(|figure| figure.model == model));
    let state = match figure {
        Some(figure) if figure.has_dropped => GateState::Broken,
        Some(figure) if figure.is_shown => GateState::Kept,
        Some(figure) if figure.is_kept => GateState::NotBroken,
        _ => GateState::Undecided,
    };
    (GateRule::Baseline(rules.allowed_drop(), name, check, figure), state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::record::{Entry, FORMAT_VERSION, Fold, Provenance, Verdict};
    use crate::score::{Component, Dimension, Outcome, Scorecard, Weight};

    /// A run with this least score, whose conversations have these.
    fn run(scores: &[Option<f64>]) -> Overview {
        let trials = (1..)
            .zip(scores)
            .map(|(number, _)| TrialId {
                number,
                case: "c".to_owned(),
                model: "m".to_owned(),
                condition: Condition::WithFacts,
                repeat: number,
            })
            .collect();
        let gate = GateRules { min_pass_rate: Score::new(0.5), ..GateRules::default() };
        let (models, min_score) = (vec!["m".to_owned()], Score::new(0.6));
        let provenance = Box::new(Provenance { models, min_score, gate, ..Provenance::default() });
        let (at, id) = (chrono::DateTime::UNIX_EPOCH, "a".to_owned());
        let (version, templates, job) = (FORMAT_VERSION, Default::default(), None);
        let mut fold = Fold::begin(Entry::RunStarted { version, id, at, provenance, job, templates, trials }).unwrap();
        for (trial, score) in (1..).zip(scores) {
            let composite = match score {
                Some(score) => Component::scored(Score::new(*score).unwrap(), ""),
                None => Component::missing("a message was sent again"),
            };
            let card = Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite };
            fold.take(Entry::TrialStarted { trial, at, case: None });
            fold.take(Entry::TrialFinished { trial, at, outcome: Outcome::Graded, scorecard: Some(card) });
        }
        fold.take(Entry::RunFinished { at, interrupted: false });
        fold.end(|_, _| ())
    }

    #[test]
    fn no_rule_is_kept_while_conversations_have_no_score() {
        let states = |scores: &[Option<f64>]| gate_lines(&run(scores)).iter().map(|it| it.state).collect::<Vec<_>>();
        assert_eq!(states(&[Some(0.7), Some(0.8)]), [GateState::Kept; 2]);
        assert_eq!(states(&[Some(0.7), None]), [GateState::Undecided; 2]);
        assert_eq!(states(&[Some(0.1), None]), [GateState::Broken; 2]);
        assert_eq!(run(&[Some(0.7), None]).summary.verdict, Verdict::Incomplete);
    }

    #[test]
    fn a_threshold_against_which_nothing_was_measured_is_not_met() {
        let verdict = |components: &[Component], on_inconclusive| {
            let trials = (1..=components.len() as u32)
                .map(|number| TrialId {
                    number,
                    case: number.to_string(),
                    model: "m".to_owned(),
                    condition: Condition::WithFacts,
                    repeat: 1,
                })
                .collect();
            let gate = GateRules { on_inconclusive, ..GateRules::default() };
            let provenance = Box::new(Provenance { models: vec!["m".to_owned()], gate, ..Provenance::default() });
            let (at, id, version) = (chrono::DateTime::UNIX_EPOCH, "a".to_owned(), FORMAT_VERSION);
            let (templates, job) = (Default::default(), None);
            let mut fold =
                Fold::begin(Entry::RunStarted { version, id, at, provenance, job, templates, trials }).unwrap();
            for (trial, component) in (1..).zip(components) {
                let own =
                    Dimension { threshold: Score::new(0.5), ..Dimension::new("own", Weight::ZERO, component.clone()) };
                let composite = Component::scored(Score::ONE, "");
                let card = Scorecard { dimensions: vec![own], failure_count: 0, penalty: 0.0, composite };
                fold.take(Entry::TrialStarted { trial, at, case: None });
                fold.take(Entry::TrialFinished { trial, at, outcome: Outcome::Graded, scorecard: Some(card) });
            }
            fold.take(Entry::RunFinished { at, interrupted: false });
            let run = fold.end(|_, _| ());
            (run.summary.verdict, run.summary.has_no_gate)
        };
        let (none, good) = (Component::not_applicable("no such thing"), Component::scored(Score::ONE, ""));
        let nothing = [none.clone(), none.clone()];
        assert_eq!(verdict(&nothing, OnInconclusive::Tell), (Verdict::Inconclusive, false));
        assert_eq!(verdict(&nothing, OnInconclusive::Fail).0, Verdict::GateFailed);
        assert_eq!(verdict(&nothing, OnInconclusive::Pass).0, Verdict::Passed);
        assert_eq!(verdict(&[none, good], OnInconclusive::Tell).0, Verdict::Passed);
        assert_eq!(verdict(&[Component::missing("no reply")], OnInconclusive::Tell).0, Verdict::Incomplete);
    }

    #[test]
    fn figures_are_the_same_in_whichever_order_trials_end() {
        let mean = |scores: &[f64]| {
            let run = run(&scores.iter().map(|score| Some(*score)).collect::<Vec<_>>());
            serde_json::to_string(&run.summary.figures[0].figure).unwrap()
        };
        assert_eq!(mean(&[0.1, 0.2, 0.3]), mean(&[0.3, 0.2, 0.1]));
    }
}
