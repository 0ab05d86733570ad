//! One score of two sides, and what its difference comes to.

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

/// Values by their kind, which come kind by kind.
#[derive(Default)]
struct ByKind {
    cells: Vec<Cell>,
    last: Option<CellKey>,
}

impl ByKind {
    fn add(&mut self, kind: CellKey, value: f64) {
        let (case, ..) = kind;
        if self.last.replace(kind) != Some(kind) {
            self.cells.push(Cell { case: case as usize, values: Sums::default() });
        }
        if let Some(cell) = self.cells.last_mut() {
            cell.values.add(value);
        }
    }

    fn mean(&self) -> f64 {
        figure(&self.cells, 0).map_or(f64::NAN, |figure| figure.mean)
    }
}

impl FromIterator<(CellKey, f64)> for ByKind {
    fn from_iter<I: IntoIterator<Item = (CellKey, f64)>>(values: I) -> ByKind {
        let mut kinds = ByKind::default();
        values.into_iter().for_each(|(kind, value)| kinds.add(kind, value));
        kinds
    }
}

/// The differences of a subject by case and kind.
fn cells_apart(subject: &Subject, sides: &PairedScores<'_>) -> Vec<Cell> {
    values(subject, sides).map(|(kind, [one, other])| (kind, other - one)).collect::<ByKind>().cells
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
    // One after the other: of many cases only the values of one are held.
    let mean = |side: usize| values(subject, sides).map(|(kind, both)| (kind, both[side])).collect::<ByKind>().mean();
    let means = [0, 1].map(mean);
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
        first: means[0],
        second: means[1],
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
        repeats_may_decide: repeats_may_decide(&cells_apart(subject, sides), figure.mean, rules),
    })
}

/// The least and the most that the difference could be, were each score that is missing 0 or 1.
///
/// Source: worst-case bounds, Manski 1990.
pub(super) fn with_missing(subject: &Subject, sides: &PairedScores<'_>) -> Option<Interval> {
    let (mut low, mut high, mut is_missing) = (ByKind::default(), ByKind::default(), false);
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
            side.add((sides.first.in_file(case), case, condition), value);
        }
    }
    is_missing.then(|| Interval { low: low.mean(), high: high.mean() })
}

/// Says what every difference comes to. The scores of all comparisons are one family, in which at most one of twenty times any
/// difference is claimed where there is none; conditions and metrics, which tell where it comes from, are another one. The intervals
/// of the scores cover all at once (Bonferroni); those of conditions and metrics cover each for itself.
pub(super) fn assign_relations(comparisons: &mut [Comparison], sides: &[PairedScores<'_>], rules: ComparisonRules) {
    for is_score in [true, false] {
        let all = comparisons.iter_mut().zip(sides);
        let all = all.flat_map(|(comparison, sides)| comparison.scores.iter_mut().map(move |score| (score, sides)));
        let mut family: Vec<(&mut ComparedScore, &PairedScores<'_>)> =
            all.filter(|(score, _)| (score.subject == Subject::Score) == is_score).collect();
        let chances: Vec<f64> = family.iter().map(|(score, _)| score.p).collect();
        if is_score && family.len() > 1 {
            let level = 1.0 - rules.alpha / family.len() as f64;
            family.iter_mut().for_each(|(score, _)| score.simultaneous_interval = score.interval_at(level));
        }
        for ((score, sides), adjusted) in family.iter_mut().zip(holm(&chances)) {
            score.adjusted_p = adjusted;
            score.relation = relation(score, rules);
            if score.relation == Relation::Inconclusive && !score.is_open_for_missing(rules) {
                // A difference is judged beside those that are no surer than it.
                let beside = chances.iter().filter(|chance| **chance >= score.p).count();
                let cells = cells_apart(&score.subject, sides);
                let found = needed(&cells, score.difference, rules, rules.alpha / beside.max(1) as f64);
                score.needed = Some(found).filter(|needed| *needed != Needed::NOTHING);
            }
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
