//! Whether a score has dropped from a baseline's.

use std::collections::BTreeSet;

use super::judged::{differences, with_missing};
use super::scores::PairedScores;
use super::{ALPHA, Scores, Subject};
use crate::record::{BaselineFigure, BaselineOpen, BaselineUnshared};
use crate::score::Score;
use crate::statistics::{Difference, Interval, difference, holm};

/// A model with its scores and those of its baseline.
#[derive(Debug, Clone, Copy)]
pub struct BesideBaseline<'a> {
    /// The model.
    pub model: &'a str,
    /// Its scores in the baseline.
    pub baseline: &'a Scores,
    /// Its scores now.
    pub scores: &'a Scores,
}

/// The scores of models beside those of their baseline, from which each may drop by so much; none of models of which no pair has a score.
///
/// A score has dropped where the chance of such a difference is at most 5 % if there were none, among all models (Holm), and it is larger
/// than allowed. It is kept where Student's t shows, of cases like those that were seen, that the drop is no larger than allowed, or where
/// no pair differs; that is shown of all cases where it also holds with cases that were not seen (a test of non-inferiority).
///
/// Nothing is said where scores that are missing, were each the worst or the best that it could be, could turn that around, nor
/// where no more than half of the cases of both sides have a pair with scores.
pub fn beside_baseline(models: &[BesideBaseline<'_>], allowed_drop: f64, rng_seed: u64) -> Vec<BaselineFigure> {
    let found: Vec<ModelDifference<'_>> =
        models.iter().filter_map(|beside| ModelDifference::new(*beside, rng_seed)).collect();
    let chances = holm(&found.iter().map(|found| found.difference.p).collect::<Vec<_>>());
    // The intervals of all models cover at once.
    let level = 1.0 - ALPHA / found.len().max(1) as f64;
    let figure = |(found, p): (ModelDifference<'_>, f64)| BaselineFigure {
        interval: found.difference.interval_at(level),
        ..found.figure(p, allowed_drop)
    };
    found.into_iter().zip(chances).map(figure).collect()
}

/// The difference of one model from its baseline, and what it rests on.
struct ModelDifference<'a> {
    model: &'a str,
    difference: Difference,
    with_missing: Option<Interval>,
    unshared: BaselineUnshared,
    /// How many cases either side has, and how many of them have a pair with scores.
    cases: [usize; 2],
}

impl ModelDifference<'_> {
    fn new(
        BesideBaseline { model, baseline, scores }: BesideBaseline<'_>,
        rng_seed: u64,
    ) -> Option<ModelDifference<'_>> {
        let (subject, sides) = (Subject::Score, PairedScores::new(baseline, scores));
        let difference = difference(differences(&subject, &sides), 1.0, rng_seed)?;
        let has_scores = |rows: [u32; 2]| sides.values(&subject, rows).is_some();
        let paired: BTreeSet<u32> =
            sides.pairs().filter(|(_, rows)| has_scores(*rows)).map(|((case, ..), _)| case).collect();
        let left_out = sides.left_out();
        let all = baseline.cases().len() + left_out.only_second.len();
        Some(ModelDifference {
            model,
            difference,
            with_missing: with_missing(&subject, &sides),
            cases: [all, paired.len()],
            unshared: BaselineUnshared {
                only_baseline: left_out.only_first,
                only_run: left_out.only_second,
                unpaired: left_out.unpaired,
                without_score: left_out.first_lacks_score + left_out.second_lacks_score + left_out.both_lack_score,
            },
        })
    }

    fn figure(self, p: f64, allowed_drop: f64) -> BaselineFigure {
        let found = &self.difference;
        let mean = found.figure.mean;
        // A drop of exactly what is allowed is none that is larger, however its last digit is rounded.
        let has_dropped = p <= ALPHA && mean < -allowed_drop - Score::HAIR;
        let is_kept = found.is_none() || found.seen_p(mean + allowed_drop) <= ALPHA;
        let is_shown = found.above_p(-allowed_drop) <= ALPHA;
        let open = self.open(has_dropped, is_kept || is_shown, allowed_drop);
        BaselineFigure {
            model: self.model.to_owned(),
            pairs: found.figure.count,
            cases: found.figure.cases,
            difference: mean,
            interval: found.interval(),
            is_kept: is_kept && open.is_none(),
            is_shown: is_shown && open.is_none(),
            has_dropped: has_dropped && open.is_none(),
            possible_drop: Some(-found.least(ALPHA)),
            with_missing: self.with_missing,
            unshared: Some(self.unshared).filter(|unshared| !unshared.is_empty()),
            open,
        }
    }

    /// Why nothing is said of the drop, though the pairs with scores would.
    fn open(&self, has_dropped: bool, is_kept: bool, allowed_drop: f64) -> Option<BaselineOpen> {
        let [all, paired] = self.cases;
        if 2 * paired <= all {
            return Some(BaselineOpen::FewSharedCases { paired: paired as u32, all: all as u32 });
        }
        let Interval { low, high } = self.with_missing?;
        let could_turn = has_dropped && high >= -allowed_drop || is_kept && low < -allowed_drop - Score::HAIR;
        could_turn.then_some(BaselineOpen::MissingScores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::record::TrialRecord;
    use crate::score::{Component, Outcome, Scorecard};

    fn scores(values: &[f64]) -> Scores {
        let mut scores = Scores::default();
        for (case, value) in values.iter().enumerate() {
            let (case, model) = (format!("c{case}"), "m".to_owned());
            let id = TrialId { number: 0, case, model, condition: Condition::WithoutFacts, repeat: 1 };
            let composite = Component::scored(Score::new(*value).unwrap(), "");
            scores.add(&TrialRecord {
                outcome: Some(Outcome::Graded),
                scorecard: Some(Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite }),
                ..TrialRecord::planned(id)
            });
        }
        scores
    }

    fn one(baseline: &[f64], now: &[f64]) -> BaselineFigure {
        let (baseline, scores) = (scores(baseline), scores(now));
        beside_baseline(&[BesideBaseline { model: "m", baseline: &baseline, scores: &scores }], 0.03, 1).remove(0)
    }

    #[test]
    fn few_cases_without_a_drop_show_nothing_of_those_that_were_not_seen() {
        let jitter = |from: usize, cases: usize| -> Vec<f64> {
            (from..from + cases).map(|case| 1.0 - 0.02 * (case * 37 % 10) as f64 / 10.0).collect()
        };
        let few = one(&jitter(0, 10), &jitter(3, 10));
        assert!(few.is_kept && !few.is_shown && !few.has_dropped, "{few:?}");
        assert!((0.2..0.3).contains(&few.possible_drop.unwrap()), "{few:?}");
        let many = one(&jitter(0, 300), &jitter(3, 300));
        assert!(many.is_kept && many.is_shown && many.possible_drop.unwrap() < 0.03, "{many:?}");
        let same = one(&[0.9; 5], &[0.9; 5]);
        assert!(same.is_kept && !same.is_shown, "{same:?}");
        let dropped = one(&jitter(0, 10), &[0.5; 10]);
        assert!(!dropped.is_kept && dropped.has_dropped, "{dropped:?}");
        let noisy = one(&[0.1, 0.9, 0.2, 0.8, 0.5, 0.6], &[0.8, 0.2, 0.3, 0.6, 0.4, 0.7]);
        assert!(!noisy.is_kept && !noisy.has_dropped, "{noisy:?}");
    }

    /// The scores of these cases; a conversation without one broke.
    fn partly(values: &[(usize, Option<f64>)]) -> Scores {
        let mut scores = Scores::default();
        for (case, value) in values {
            let (case, model) = (format!("c{case}"), "m".to_owned());
            let id = TrialId { number: 0, case, model, condition: Condition::WithoutFacts, repeat: 1 };
            let planned = TrialRecord::planned(id);
            scores.add(&match value {
                Some(value) => TrialRecord {
                    outcome: Some(Outcome::Graded),
                    scorecard: Some(Scorecard {
                        dimensions: Vec::new(),
                        failure_count: 0,
                        penalty: 0.0,
                        composite: Component::scored(Score::new(*value).unwrap(), ""),
                    }),
                    ..planned
                },
                None => TrialRecord { outcome: Some(Outcome::Broken { error: "gone".to_owned() }), ..planned },
            });
        }
        scores
    }

    fn beside(baseline: &Scores, scores: &Scores) -> BaselineFigure {
        beside_baseline(&[BesideBaseline { model: "m", baseline, scores }], 0.03, 1).remove(0)
    }

    #[test]
    fn scores_that_are_missing_leave_open_what_they_could_turn_around() {
        let wobble = |case: usize| 0.01 * (case % 3) as f64;
        let baseline = partly(&(0..24).map(|case| (case, Some(0.8 + wobble(case)))).collect::<Vec<_>>());
        let night = |drop: f64, missing: usize| {
            let score = |case: usize| (case >= missing).then(|| 0.8 - drop + wobble(case + 1));
            beside(&baseline, &partly(&(0..24).map(|case| (case, score(case))).collect::<Vec<_>>()))
        };
        assert!(night(0.08, 0).has_dropped && night(0.0, 0).is_kept);
        let dropped = night(0.08, 8);
        assert!(!dropped.has_dropped && dropped.open == Some(BaselineOpen::MissingScores), "{dropped:?}");
        assert!(dropped.with_missing.unwrap().high > -0.03, "{dropped:?}");
        let kept = night(0.0, 8);
        assert!(!kept.is_kept && kept.open == Some(BaselineOpen::MissingScores), "{kept:?}");
        assert_eq!(kept.unshared.unwrap().without_score, 8);
        // A single one among many changes nothing about a large drop.
        assert!(night(0.3, 1).has_dropped, "{:?}", night(0.3, 1));
    }

    #[test]
    fn pairs_of_half_of_the_cases_or_fewer_say_nothing_and_what_is_not_shared_is_named() {
        let of = |cases: std::ops::Range<usize>, score: f64| {
            partly(&cases.map(|case| (case, Some(score + 0.01 * (case % 3) as f64))).collect::<Vec<_>>())
        };
        let grown = beside(&of(0..10, 0.8), &of(0..20, 0.8));
        assert_eq!(grown.open, Some(BaselineOpen::FewSharedCases { paired: 10, all: 20 }));
        assert!(!grown.is_kept && !grown.has_dropped, "{grown:?}");
        assert_eq!(grown.unshared.unwrap().only_run.len(), 10);
        let filtered = beside(&of(0..20, 0.8), &of(0..3, 0.5));
        assert!(!filtered.has_dropped && filtered.open.is_some(), "{filtered:?}");
        let most = beside(&of(0..20, 0.8), &of(4..22, 0.8));
        assert!(most.is_kept && most.open.is_none(), "{most:?}");
        let unshared = most.unshared.unwrap();
        assert_eq!((unshared.only_baseline.len(), unshared.only_run.len()), (4, 2));
    }

    /// About normal, with this standard deviation.
    fn noise(rng: &mut fastrand::Rng, deviation: f64) -> f64 {
        ((0..12).map(|_| rng.f64()).sum::<f64>() - 6.0) * deviation
    }

    #[test]
    fn how_often_a_tolerated_drop_breaks_the_gate_is_what_the_documentation_says() {
        let mut rng = fastrand::Rng::with_seed(16);
        let baseline = scores(&[0.7; 20]);
        let mut broken = |drop: f64| {
            let nights = (0..200).filter(|_| {
                let night: Vec<f64> = (0..20).map(|_| 0.7 - drop + noise(&mut rng, 0.05)).collect();
                beside(&baseline, &scores(&night)).has_dropped
            });
            nights.count()
        };
        let [tolerated, near] = [broken(0.02), broken(0.025)];
        assert!((24..=50).contains(&tolerated) && (44..=84).contains(&near), "{tolerated} and {near} of 200");
    }

    #[test]
    fn one_baseline_for_many_nights_errs_as_the_documentation_says() {
        let mut rng = fastrand::Rng::with_seed(17);
        let mut night = || scores(&(0..20).map(|_| 0.5 + noise(&mut rng, 0.1)).collect::<Vec<_>>());
        let red: Vec<usize> = (0..40)
            .map(|_| {
                let baseline = night();
                (0..30).filter(|_| beside(&baseline, &night()).has_dropped).count()
            })
            .collect();
        let some = red.iter().filter(|nights| **nights > 0).count();
        assert!((4..=20).contains(&some), "of 40 baselines {some} have a red night: {red:?}");
        assert!(red.iter().any(|nights| *nights >= 6), "a lucky baseline has many: {red:?}");
    }

    #[test]
    fn a_drop_is_claimed_as_rarely_of_six_models_as_of_one() {
        let mut rng = fastrand::Rng::with_seed(10);
        let mut nights = [0, 0];
        for _ in 0..400 {
            let mut night = || scores(&(0..12).map(|_| f64::from(u8::from(rng.bool()))).collect::<Vec<_>>());
            let all: Vec<[Scores; 2]> = (0..6).map(|_| [night(), night()]).collect();
            let beside = |[baseline, scores]: &'_ [Scores; 2]| -> BaselineFigure {
                beside_baseline(&[BesideBaseline { model: "m", baseline, scores }], 0.03, 1).remove(0)
            };
            nights[0] += usize::from(all.iter().any(|both| beside(both).has_dropped));
            let models: Vec<BesideBaseline<'_>> =
                all.iter().map(|[baseline, scores]| BesideBaseline { model: "m", baseline, scores }).collect();
            nights[1] += usize::from(beside_baseline(&models, 0.03, 1).iter().any(|it| it.has_dropped));
        }
        assert!(nights[0] > 400 / 15 && nights[1] <= 400 / 20, "{nights:?}");
    }
}
