//! One score of two sides, and what its difference comes to.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::needed::{Needed, needed, repeats_may_decide};
use super::scores::{PairedScores, TrialScore};
use super::{ALPHA, Comparison, ComparisonRules};
use crate::evidence::Condition;
use crate::score::Score;
use crate::statistics::{
    Cell, Difference, Interval, Paired, SamplingUnit, Sums, difference, difference_at_a_look, figure, holm,
    t_half_width,
};

/// All differences of scores.
const DIFFERENCES: Interval = Interval { low: -1.0, high: 1.0 };

/// The compared parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The score of the conversations.
    Score,
    /// The score of those in one condition.
    Condition(Condition),
    /// A metric, by its name.
    Metric(String),
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Subject::Score => "score",
            Subject::Condition(condition) => condition.label(),
            Subject::Metric(name) => name,
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How the second side is beside the first. Better and worse are shown in their direction alone: that there is a difference, by a
/// test, and that the estimate is at least the least that matters; the true difference may be smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Relation {
    /// It is shown to have more, and the estimate is as much as matters.
    Better,
    /// It is shown to have less, and the estimate is as much as matters.
    Worse,
    /// It is shown to differ by less than matters.
    Same,
    /// Neither is shown.
    Inconclusive,
}

impl Relation {
    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Relation::Better => "better",
            Relation::Worse => "worse",
            Relation::Same => "same",
            Relation::Inconclusive => "inconclusive",
        }
    }
}

/// One score of two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedScore {
    /// The compared parts.
    pub subject: Subject,
    /// How many pairs have it on both sides.
    pub pairs: u32,
    /// How many cases they are of.
    pub cases: u32,
    /// The first side's mean over the pairs.
    pub first: f64,
    /// The second side's.
    pub second: f64,
    /// The second's mean less the first's.
    pub difference: f64,
    /// The standard error of the difference; `None` where the pairs show no spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The degrees of freedom of Student's t.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
    /// The unit over which the standard error is computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<SamplingUnit>,
    /// The interval of the difference, at 95 % or what the rules say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The interval of a score where several are compared: those of all of them cover at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simultaneous_interval: Option<Interval>,
    /// The bootstrap-t interval, where the differences are skewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skewed_interval: Option<Interval>,
    /// The p-value (two-sided, Student's t).
    pub p: f64,
    /// The p-value after Holm's correction over all comparisons; it decides the relation.
    pub adjusted_p: f64,
    /// The p-value of the sign-flip (permutation) test.
    pub sign_flip_p: f64,
    /// The smallest p-value that the sign-flip test can have with this number of cases.
    pub least_sign_flip_p: f64,
    /// The p-value of the equivalence test (TOST), allowing for cases that were not sampled.
    pub equivalence_p: f64,
    /// Whether the sides differ by less than matters as far as all cases are like those that were seen.
    pub alike_as_seen: bool,
    /// The relation that the difference shows.
    pub relation: Relation,
    /// The sample sizes that would decide it, where nothing is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<Needed>,
    /// The bounds of the difference if missing scores were the worst or the best possible; `None`
    /// where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_missing: Option<Interval>,
    /// Whether no pair differs.
    pub no_pair_differs: bool,
    /// Whether more repetitions of the same cases may decide it.
    #[serde(skip)]
    pub repeats_may_decide: bool,
    /// The differences by case and kind, which say how many more would decide it.
    #[serde(skip)]
    cells: Vec<Cell>,
}

impl ComparedScore {
    /// The interval that is shown: of one of several scores the simultaneous one.
    pub fn shown_interval(&self) -> Option<Interval> {
        self.simultaneous_interval.or(self.interval)
    }

    /// The interval that covers at this level; `None` where the pairs carry none.
    fn interval_at(&self, level: f64) -> Option<Interval> {
        self.interval?;
        let half_width = t_half_width(self.degrees?, level) * self.standard_error?;
        Some(Interval::around(self.difference, half_width, DIFFERENCES))
    }

    /// Whether the scores that are missing could turn around what the others show: the cases that an agent breaks down on are
    /// not drawn by chance.
    pub fn is_open_for_missing(&self, rules: ComparisonRules) -> bool {
        let Some(Interval { low, high }) = self.with_missing else { return false };
        if self.equivalence_p <= rules.alpha {
            return low <= -rules.min_effect || high >= rules.min_effect;
        }
        self.adjusted_p <= rules.alpha && if self.difference > 0.0 { low <= 0.0 } else { high >= 0.0 }
    }
}

/// The values of one kind: the number of the file's case, the case with its kind of user, and the condition.
type CellKey = (u32, u32, Condition);

/// The means of one side's values, by their kind.
#[derive(Default)]
struct SideMeans(BTreeMap<CellKey, Sums>);

impl SideMeans {
    fn cells(&self) -> Vec<Cell> {
        self.0.iter().map(|((case, ..), values)| Cell { case: *case as usize, values: *values }).collect()
    }

    fn mean(&self) -> f64 {
        figure(&self.cells(), 0).map_or(f64::NAN, |figure| figure.mean)
    }
}

/// Whether a subject is about the conversations in a condition.
fn is_about(subject: &Subject, condition: Condition) -> bool {
    !matches!(subject, Subject::Condition(only) if *only != condition)
}

/// The values of both sides, pair by pair, with their kind.
fn values<'a>(
    subject: &'a Subject,
    sides: &'a PairedScores<'a>,
) -> impl Iterator<Item = (CellKey, [f64; 2])> + Clone + 'a {
    sides.pairs().filter(move |((_, condition, _), _)| is_about(subject, *condition)).filter_map(move |(key, rows)| {
        let (case, condition, _) = key;
        Some(((sides.first.in_file(case), case, condition), sides.values(subject, rows)?))
    })
}

/// The second side's values less the first's.
pub(super) fn differences<'a>(
    subject: &'a Subject,
    sides: &'a PairedScores<'a>,
) -> impl Iterator<Item = Paired> + Clone + 'a {
    values(subject, sides).map(|((number, case, condition), [one, other])| Paired {
        case: number as usize,
        kind: case as usize * Condition::ALL.len() + condition as usize,
        difference: other - one,
    })
}

/// One score of both sides; `None` where no pair has it. What it comes to is settled with all that are judged together.
pub(super) fn compared(subject: &Subject, sides: &PairedScores<'_>, rules: ComparisonRules) -> Option<ComparedScore> {
    let (mut means, mut apart) = ([SideMeans::default(), SideMeans::default()], SideMeans::default());
    for (kind, [one, other]) in values(subject, sides) {
        for (side, value) in means.iter_mut().zip([one, other]) {
            side.0.entry(kind).or_default().add(value);
        }
        apart.0.entry(kind).or_default().add(other - one);
    }
    let differences = differences(subject, sides);
    let found = match rules.is_look() {
        true => difference_at_a_look(differences, 1.0, rules.rng_seed),
        false => difference(differences, 1.0, rules.rng_seed),
    }?;
    let Difference { figure, p, sign_flip_p, least_sign_flip_p, .. } = found;
    Some(ComparedScore {
        subject: subject.clone(),
        pairs: figure.count,
        cases: figure.cases,
        first: means[0].mean(),
        second: means[1].mean(),
        difference: figure.mean,
        standard_error: figure.error.map(|error| error.value),
        degrees: figure.error.map(|error| error.degrees),
        over: figure.error.map(|error| error.over),
        interval: found.interval_at(1.0 - rules.alpha),
        simultaneous_interval: None,
        // It is known at 95 % alone.
        skewed_interval: figure.skewed.filter(|_| rules.alpha == ALPHA).and_then(|interval| interval.cut(DIFFERENCES)),
        p,
        adjusted_p: p,
        sign_flip_p,
        least_sign_flip_p,
        equivalence_p: found.equivalence_p(rules.min_effect),
        alike_as_seen: [-1.0, 1.0]
            .iter()
            .all(|side| found.seen_p(rules.min_effect + side * figure.mean) <= rules.alpha),
        relation: Relation::Inconclusive,
        needed: None,
        with_missing: with_missing(subject, sides),
        no_pair_differs: found.is_none(),
        repeats_may_decide: repeats_may_decide(&apart.cells(), figure.mean, rules),
        cells: apart.cells(),
    })
}

/// The least and the most that the difference could be, were each score that is missing 0 or 1.
///
/// Source: worst-case bounds, Manski 1990.
pub(super) fn with_missing(subject: &Subject, sides: &PairedScores<'_>) -> Option<Interval> {
    let (mut low, mut high, mut is_missing) = (SideMeans::default(), SideMeans::default(), false);
    for ((case, condition, _), rows) in sides.pairs() {
        if !is_about(subject, condition) {
            continue;
        }
        let bounds = match sides.held(subject, rows) {
            [TrialScore::NotApplicable, _]
            | [_, TrialScore::NotApplicable]
            | [TrialScore::Planned, TrialScore::Planned] => continue,
            [TrialScore::Scored(one), TrialScore::Scored(other)] => [other - one, other - one],
            [TrialScore::Scored(one), _] => [-one, 1.0 - one],
            [_, TrialScore::Scored(other)] => [other - 1.0, other],
            _ => [-1.0, 1.0],
        };
        is_missing |= bounds[0] < bounds[1];
        for (side, value) in [&mut low, &mut high].into_iter().zip(bounds) {
            side.0.entry((sides.first.in_file(case), case, condition)).or_default().add(value);
        }
    }
    is_missing.then(|| Interval { low: low.mean(), high: high.mean() })
}

/// Says what every difference comes to. The scores of all comparisons are one family, in which at most one of twenty times any
/// difference is claimed where there is none; conditions and metrics, which tell where it comes from, are another one. The intervals
/// of the scores cover all at once (Bonferroni); those of conditions and metrics cover each for itself.
pub(super) fn assign_relations(comparisons: &mut [Comparison], rules: ComparisonRules) {
    for is_score in [true, false] {
        let all = comparisons.iter_mut().flat_map(|comparison| &mut comparison.scores);
        let mut family: Vec<&mut ComparedScore> =
            all.filter(|score| (score.subject == Subject::Score) == is_score).collect();
        let chances: Vec<f64> = family.iter().map(|score| score.p).collect();
        if is_score && family.len() > 1 {
            let level = 1.0 - rules.alpha / family.len() as f64;
            family.iter_mut().for_each(|score| score.simultaneous_interval = score.interval_at(level));
        }
        for (score, adjusted) in family.iter_mut().zip(holm(&chances)) {
            score.adjusted_p = adjusted;
            score.relation = relation(score, rules);
            if score.relation == Relation::Inconclusive && !score.is_open_for_missing(rules) {
                // A difference is judged beside those that are no surer than it.
                let beside = chances.iter().filter(|chance| **chance >= score.p).count();
                let found = needed(&score.cells, score.difference, rules, rules.alpha / beside.max(1) as f64);
                score.needed = Some(found).filter(|needed| *needed != Needed::NOTHING);
            }
            score.cells = Vec::new();
        }
    }
}

fn relation(score: &ComparedScore, rules: ComparisonRules) -> Relation {
    if score.is_open_for_missing(rules) {
        Relation::Inconclusive
    } else if score.equivalence_p <= rules.alpha {
        Relation::Same
    } else if score.adjusted_p > rules.alpha || score.difference.abs() < rules.min_effect - Score::HAIR {
        Relation::Inconclusive
    } else if score.difference > 0.0 {
        Relation::Better
    } else {
        Relation::Worse
    }
}
