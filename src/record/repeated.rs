//! The figures of one case in one condition over its repetitions: they hold for this case only.

use serde::{Deserialize, Serialize};

use super::{MeanFigure, TrialGroup};
use crate::score::Dimension;
use crate::statistics::{Cell, Sums};

/// The most parts of one metric that have figures; those that a judge names are without bound.
const MOST_PARTS: usize = 200;

/// A metric of one case in one condition, or one of its parts, over the repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepeatedFigure {
    /// The metric.
    pub metric: String,
    /// The part's key, of a task or an assertion; `None` for the metric itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Its figure over the repetitions.
    #[serde(flatten)]
    pub figure: MeanFigure,
}

/// The scores of one part of a metric, added up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PartTally {
    metric: String,
    part: String,
    /// How many parts of the metric with the same key stand before it.
    alike: usize,
    /// The first place that it has in any trial.
    place: usize,
    values: Sums,
}

impl PartTally {
    fn key(&self) -> (&str, &str, usize) {
        (&self.metric, &self.part, self.alike)
    }
}

/// Takes in the parts of one trial's dimension. A part that is about a turn is another one in each trial, and left out. The tallies
/// are sorted, and of each metric the first are kept: in whichever order trials end, they are the same.
pub(super) fn add(tallies: &mut Vec<PartTally>, dimension: &Dimension) {
    for (place, item) in dimension.items.iter().enumerate().filter(|(_, item)| item.turn.is_none()) {
        let Some(score) = item.component.score() else { continue };
        let alike = dimension.items[..place].iter().filter(|it| it.turn.is_none() && it.key() == item.key()).count();
        let key = (dimension.name.as_str(), item.key(), alike);
        match tallies.binary_search_by(|tally| tally.key().cmp(&key)) {
            Ok(known) => {
                tallies[known].place = tallies[known].place.min(place);
                tallies[known].values.add(score.get());
            }
            Err(next) => {
                let (metric, part) = (dimension.name.clone(), item.key().to_owned());
                let values = Sums::from_iter([score.get()]);
                tallies.insert(next, PartTally { metric, part, alike, place, values });
                let [first, last] = [false, true].map(|after| {
                    tallies.partition_point(|tally| {
                        tally.metric < dimension.name || (after && tally.metric == dimension.name)
                    })
                });
                if last - first > MOST_PARTS {
                    tallies.remove(last - 1);
                }
            }
        }
    }
}

/// The figures of a group: of each metric, then of its parts; those that have several scores.
pub(super) fn figures(group: &TrialGroup) -> Vec<RepeatedFigure> {
    let mut figures = Vec::new();
    for dimension in &group.dimensions {
        let of_whole = (None, dimension.tally.values);
        let mut of_parts: Vec<&PartTally> = group.parts.iter().filter(|it| it.metric == dimension.name).collect();
        of_parts.sort_by_key(|tally| (tally.place, &tally.part, tally.alike));
        let of_parts = of_parts.into_iter().map(|tally| (Some(tally.part.clone()), tally.values));
        let all = std::iter::once(of_whole).chain(of_parts);
        let repeated = all.filter(|(_, values)| values.count > 1).filter_map(|(part, values)| {
            let figure = MeanFigure::from_cells(&[Cell { case: 0, values }], 0)?;
            Some(RepeatedFigure { metric: dimension.name.clone(), part, figure })
        });
        figures.extend(repeated);
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::record::TrialRecord;
    use crate::score::{Component, Item, Outcome, Score, Scorecard, Weight};

    /// The group of trials whose `tasks` have these scores.
    fn group(trials: &[&[(&str, f64)]]) -> TrialGroup {
        let scored = |score: f64| Component::scored(Score::new(score).unwrap(), "");
        let records: Vec<TrialRecord> = (0..)
            .zip(trials)
            .map(|(number, tasks)| {
                let items = tasks.iter().map(|(name, score)| Item::new(*name, scored(*score))).collect();
                let dimension = Dimension { items, ..Dimension::new("tasks", Weight::ONE, scored(tasks[0].1)) };
                let (dimensions, composite) = (vec![dimension], scored(tasks[0].1));
                let (case, model, condition) = ("c".to_owned(), "m".to_owned(), Condition::WithFacts);
                TrialRecord {
                    outcome: Some(Outcome::Graded),
                    scorecard: Some(Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite }),
                    ..TrialRecord::planned(TrialId { number, case, model, condition, repeat: number })
                }
            })
            .collect();
        let mut groups = TrialGroup::planned(&records.iter().map(|record| record.trial.clone()).collect());
        records.iter().for_each(|record| groups[0].add(record, None));
        groups.remove(0)
    }

    #[test]
    fn each_metric_and_each_part_has_its_interval_over_the_repetitions() {
        // SciPy 1.17.1: stats.t.interval(.95, 3, .5, stats.sem([.2, .4, .6, .8])) is 0.0891 to 0.9109.
        let scores = [0.2, 0.4, 0.6, 0.8];
        let trials: Vec<Vec<(&str, f64)>> =
            scores.iter().map(|score| vec![("a", *score), ("b", 1.0), ("b", 0.0)]).collect();
        let trials: Vec<&[(&str, f64)]> = trials.iter().map(Vec::as_slice).collect();
        let figures = figures(&group(&trials));
        let parts: Vec<(Option<&str>, u32, f64)> =
            figures.iter().map(|it| (it.part.as_deref(), it.figure.n, it.figure.mean)).collect();
        assert_eq!(parts, [(None, 4, 0.5), (Some("a"), 4, 0.5), (Some("b"), 4, 1.0), (Some("b"), 4, 0.0)]);
        let by_t = figures[1].figure.t_interval.or(figures[1].figure.interval).unwrap();
        assert!((by_t.low - 0.0891).abs() < 1e-3 && (by_t.high - 0.9109).abs() < 1e-3, "{by_t:?}");
        assert!((figures[1].figure.standard_error.unwrap() - 0.129_099).abs() < 1e-6);
    }

    #[test]
    fn in_whichever_order_trials_end_parts_have_the_same_figures_in_the_same_order() {
        // Each trial lacks some parts, and a judge names others in each.
        let names: Vec<String> = (0..400).map(|name| format!("judged {name}")).collect();
        let mut rng = fastrand::Rng::with_seed(7);
        let mut trials: Vec<Vec<(&str, f64)>> = (0..6)
            .map(|_| {
                let parts = ["b", "a", "b"].into_iter().filter(|_| rng.bool()).chain(names.iter().map(String::as_str));
                let mut parts: Vec<(&str, f64)> = parts.map(|part| (part, 0.25)).collect();
                parts.retain(|_| rng.u8(0..4) > 0);
                parts
            })
            .collect();
        let figures_of = |trials: &[Vec<(&str, f64)>]| {
            let trials: Vec<&[(&str, f64)]> = trials.iter().map(Vec::as_slice).collect();
            figures(&group(&trials))
        };
        let expected = figures_of(&trials);
        for _ in 0..20 {
            rng.shuffle(&mut trials);
            assert_eq!(figures_of(&trials), expected);
        }
    }

    #[test]
    fn of_two_parts_of_one_name_the_second_stays_the_second_where_the_first_is_missing() {
        let mut tallies = Vec::new();
        let item = |component| Item::new("b", component);
        let scored = |score: f64| Component::scored(Score::new(score).unwrap(), "");
        for (first, second) in [(Component::missing("no verdict"), 0.0), (scored(1.0), 0.0), (scored(1.0), 0.0)] {
            let items = vec![item(first), item(scored(second))];
            add(&mut tallies, &Dimension { items, ..Dimension::new("tasks", Weight::ONE, scored(0.5)) });
        }
        let sums: Vec<(u32, f64)> = tallies.iter().map(|it| (it.values.count, it.values.mean().unwrap())).collect();
        assert_eq!(sums, [(2, 1.0), (3, 0.0)]);
    }

    #[test]
    fn a_single_trial_has_none_and_what_a_judge_names_is_bounded() {
        assert_eq!(figures(&group(&[&[("a", 1.0)]])), []);
        let names: Vec<String> = (0..300).map(|name| name.to_string()).collect();
        let tasks: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
        let parts = figures(&group(&[&tasks, &tasks])).iter().filter(|it| it.part.is_some()).count();
        assert_eq!(parts, MOST_PARTS);
    }
}
