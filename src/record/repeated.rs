//! The figures of one case in one condition over its repetitions: they hold for this case only.

use serde::{Deserialize, Serialize};

use super::{MeanFigure, TrialGroup};
use crate::score::Dimension;
use crate::statistics::{Cell, Sums};

/// The most parts of a case and a condition that have figures; those that a judge names are without bound.
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
    values: Sums,
}

/// Takes in the parts of one trial's dimension. A part that is about a turn is another one in each trial, and left out.
pub(super) fn add(tallies: &mut Vec<PartTally>, dimension: &Dimension) {
    for (place, item) in dimension.items.iter().enumerate().filter(|(_, item)| item.turn.is_none()) {
        let Some(score) = item.component.score() else { continue };
        let is_alike = |tally: &PartTally| tally.metric == dimension.name && tally.part == item.key();
        let alike = dimension.items[..place].iter().filter(|it| it.turn.is_none() && it.key() == item.key()).count();
        let known = tallies.iter().enumerate().filter(|(_, tally)| is_alike(tally)).nth(alike).map(|(place, _)| place);
        match known {
            Some(place) => tallies[place].values.add(score.get()),
            None if tallies.len() >= MOST_PARTS => {}
            None => {
                let (metric, part) = (dimension.name.clone(), item.key().to_owned());
                tallies.push(PartTally { metric, part, values: Sums::from_iter([score.get()]) });
            }
        }
    }
}

/// The figures of a group: of each metric, then of its parts; those that have several scores.
pub(super) fn figures(group: &TrialGroup) -> Vec<RepeatedFigure> {
    let mut figures = Vec::new();
    for dimension in &group.dimensions {
        let of_whole = (None, dimension.tally.values);
        let of_parts = group.parts.iter().filter(|tally| tally.metric == dimension.name);
        let all = std::iter::once(of_whole).chain(of_parts.map(|tally| (Some(tally.part.clone()), tally.values)));
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
        let mut groups = TrialGroup::planned(records.iter().map(|record| &record.trial));
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
    fn a_single_trial_has_none_and_what_a_judge_names_is_bounded() {
        assert_eq!(figures(&group(&[&[("a", 1.0)]])), []);
        let names: Vec<String> = (0..300).map(|name| name.to_string()).collect();
        let tasks: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
        let parts = figures(&group(&[&tasks, &tasks])).iter().filter(|it| it.part.is_some()).count();
        assert_eq!(parts, MOST_PARTS);
    }
}
