//! Figures of a run: of each condition of each case, of each case, and of each of the agent's models.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

use super::{AttemptsFigure, Estimates, MeanFigure, RepeatedFigure, TrialGroup, estimates, passes, repeated};
use crate::evidence::{Condition, case_and_persona};
use crate::score::{Component, mean_of, mean_of_conditions};
use crate::statistics::{Cell, Estimate};

/// The job's figure for one of the agent's models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFigure {
    /// The agent's model.
    pub model: String,
    /// The mean of its cases' figures; missing if one of them has none.
    pub figure: Component,
    /// Its cases, in the order of the plan; empty in what an earlier version kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseFigure>,
    /// The intervals of the figures; `None` where no conversation has a score, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimates: Option<Box<Estimates>>,
    /// The kinds of users with which the cases were run; empty where the run names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<PersonaFigure>,
}

/// The figure of one kind of user, for one of the agent's models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonaFigure {
    /// Its name.
    pub persona: String,
    /// The mean of the figures of the cases that were run with it; missing if one of them has none.
    pub figure: Component,
}

/// One case's figure for one of the agent's models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseFigure {
    /// The case's id.
    pub case: String,
    /// The mean of its conditions' figures; missing if one of them has none.
    pub figure: Component,
    /// Its conditions, in the order of the plan.
    pub conditions: Vec<ConditionFigure>,
}

/// The figure of one case in one condition, over its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConditionFigure {
    /// Which condition.
    pub condition: Condition,
    /// How many trials have a figure.
    pub n: u32,
    /// How many have none.
    pub missing: u32,
    /// How many pass or do not, each by itself; 0 where nothing is asked of them, and in what an earlier version kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub decided: u32,
    /// How many of those pass.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed: u32,
    /// The mean of those that have one; missing where none has.
    pub figure: Component,
    /// The interval of that mean over the repetitions: it holds for this case only. `None` where nothing was repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<MeanFigure>,
    /// The share that passes, with Wilson's interval; `None` where nothing was repeated, or nothing is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<Estimate>,
    /// pass@k and pass^k over its repetitions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<AttemptsFigure>,
    /// Each metric, and each task and assertion, over its repetitions; in the document of a run, and not in its summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<RepeatedFigure>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A model's figure, of its groups.
pub(super) fn model_figure<'a>(
    model: &str,
    groups: impl Iterator<Item = &'a TrialGroup> + Clone,
    personas: &[String],
    rng_seed: u64,
) -> ModelFigure {
    let estimates = estimates::of_model(groups.clone(), personas, rng_seed).map(Box::new);
    let mut cases: Vec<CaseFigure> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for group in groups {
        let figure = condition_figure(group);
        match places.entry(&group.case) {
            Entry::Occupied(place) => cases[*place.get()].conditions.push(figure),
            Entry::Vacant(place) => {
                place.insert(cases.len());
                let (case, unknown) = (group.case.clone(), Component::missing(""));
                cases.push(CaseFigure { case, figure: unknown, conditions: vec![figure] });
            }
        }
    }
    drop(places);
    for case in &mut cases {
        let conditions = case.conditions.iter().map(|it| (it.condition.label(), &it.figure));
        case.figure = mean_of_conditions(conditions);
    }
    let figure = combine_cases(&cases, personas);
    let personas = personas.iter().filter_map(|persona| persona_figure(persona, &cases)).collect();
    ModelFigure { model: model.to_owned(), figure, cases, estimates, personas }
}

/// The mean of the cases' figures; of a case that was run with several kinds of users the mean over these.
fn combine_cases<'a>(cases: &'a [CaseFigure], personas: &'a [String]) -> Component {
    let mut in_file: Vec<(&'a str, Vec<(&'a str, &'a Component)>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for case in cases {
        let (own, persona) = case_and_persona(&case.case, personas);
        let place = *places.entry(own).or_insert_with(|| {
            in_file.push((own, Vec::with_capacity(1)));
            in_file.len() - 1
        });
        in_file[place].1.push((persona.unwrap_or(own), &case.figure));
    }
    drop(places);
    let of_kinds = |(case, kinds): (&'a str, Vec<(&'a str, &'a Component)>)| match kinds.as_slice() {
        [(persona, only)] if *persona == case => (Cow::Borrowed(case), Cow::Borrowed(*only)),
        [(persona, only)] => (format!("{case}@{persona}").into(), Cow::Borrowed(*only)),
        several => (case.into(), Cow::Owned(mean_of("kinds of users", several.iter().copied()))),
    };
    let figures: Vec<(Cow<'a, str>, Cow<'a, Component>)> = in_file.into_iter().map(of_kinds).collect();
    match figures.as_slice() {
        [(_, only)] => only.clone().into_owned(),
        several => mean_of("cases", several.iter().map(|(case, figure)| (&**case, &**figure))),
    }
}

/// A persona's figure, of the cases that were run with it: `refund@terse`.
fn persona_figure(persona: &String, cases: &[CaseFigure]) -> Option<PersonaFigure> {
    let is_its = |case: &&CaseFigure| case_and_persona(&case.case, std::slice::from_ref(persona)).1.is_some();
    let of_cases: Vec<_> = cases.iter().filter(is_its).map(|case| (case.case.as_str(), &case.figure)).collect();
    let figure = match of_cases.as_slice() {
        [] => return None,
        [(_, only)] => (*only).clone(),
        several => mean_of("cases", several.iter().copied()),
    };
    Some(PersonaFigure { persona: persona.clone(), figure })
}

fn condition_figure(group: &TrialGroup) -> ConditionFigure {
    let n = group.composite.scored;
    let figure = group.composite.component().unwrap_or_else(|| Component::missing("no trials"));
    let TrialGroup { condition, planned, decided, passed, .. } = *group;
    let estimate = MeanFigure::from_cells(&[Cell { case: 0, values: group.composite.values }], 0);
    let (pass_rate, tries) = passes::of_group(group);
    ConditionFigure {
        condition,
        n: n as u32,
        missing: (planned - n) as u32,
        decided,
        passed,
        figure,
        estimate: estimate.filter(|_| n > 1),
        pass_rate,
        tries,
        metrics: repeated::figures(group),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::TrialId;
    use crate::record::TrialRecord;
    use crate::score::{Outcome, Score, Scorecard};

    fn trial(case: &str, condition: Condition, repeat: u32, score: Option<f64>) -> TrialRecord {
        let id = TrialId { number: 0, case: case.to_owned(), model: "m".to_owned(), condition, repeat };
        let at = Some("2026-01-01T00:00:00Z".parse().unwrap());
        let composite = score.map(|score| Component::scored(Score::new(score).unwrap(), ""));
        let card = |composite| Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite };
        TrialRecord {
            started_at: at,
            finished_at: at,
            outcome: Some(match score {
                Some(_) => Outcome::Graded,
                None => Outcome::Broken { error: "the graph is down".to_owned() },
            }),
            scorecard: composite.map(card),
            ..TrialRecord::planned(id)
        }
    }

    fn groups(trials: &[TrialRecord]) -> Vec<TrialGroup> {
        let mut groups = TrialGroup::planned(&trials.iter().map(|trial| trial.trial.clone()).collect());
        for trial in trials {
            let group = groups.iter_mut().find(|group| group.has(&trial.trial));
            group.unwrap().add(trial, None);
        }
        groups
    }

    #[test]
    fn a_conditions_figure_is_the_mean_of_its_valid_trials() {
        use Condition::{WithFacts, WithoutFacts};
        let trials = [
            trial("a", WithoutFacts, 1, Some(0.5)),
            trial("a", WithFacts, 1, Some(1.0)),
            trial("a", WithoutFacts, 2, None),
            trial("a", WithFacts, 2, Some(0.5)),
            trial("b", WithoutFacts, 1, Some(0.25)),
        ];
        let figure = model_figure("m", groups(&trials).iter(), &[], 0);
        let of_a: Vec<_> =
            figure.cases[0].conditions.iter().map(|it| (it.n, it.missing, it.figure.score().unwrap().get())).collect();
        assert_eq!(of_a, [(1, 1, 0.5), (2, 0, 0.75)]);
        assert_eq!(figure.cases[0].figure.score(), Score::new(0.625));
        assert_eq!(figure.figure, Component::scored(Score::new(0.4375).unwrap(), "mean of 2 cases"));
    }

    #[test]
    fn a_personas_figure_is_the_mean_of_the_cases_that_were_held_with_it() {
        let held = |case: &str, score| trial(case, Condition::WithoutFacts, 1, score);
        let trials = [
            held("a@terse", Some(1.0)),
            held("a@hostile", Some(0.5)),
            held("b@terse", Some(0.5)),
            held("b@hostile", None),
            held("c", Some(0.0)),
        ];
        let personas = ["terse", "hostile", "novice"].map(str::to_owned);
        let figure = model_figure("m", groups(&trials).iter(), &personas, 0);
        let terse = PersonaFigure {
            persona: "terse".to_owned(),
            figure: Component::scored(Score::new(0.75).unwrap(), "mean of 2 cases"),
        };
        assert_eq!(figure.personas[0], terse);
        assert_eq!(figure.personas[1].figure.score(), None);
        assert_eq!(figure.personas.len(), 2, "nobody was a novice");
        assert_eq!(figure.figure, Component::missing("b: hostile: without facts: broken: the graph is down"));
        let trials = [held("a@terse", Some(1.0)), held("a@hostile", Some(0.5)), held("c", Some(0.0))];
        let figure = model_figure("m", groups(&trials).iter(), &personas, 0);
        let estimates = figure.estimates.unwrap();
        assert_eq!(figure.figure, Component::scored(Score::new(0.375).unwrap(), "mean of 2 cases"));
        assert!((estimates.score.unwrap().mean - 0.375).abs() < 1e-12, "the same score everywhere");
    }

    #[test]
    fn a_case_has_a_figure_only_if_each_condition_has_one() {
        let trials = [
            trial("a", Condition::WithoutFacts, 1, Some(1.0)),
            trial("a", Condition::WithFacts, 1, None),
            trial("a", Condition::WithFacts, 2, None),
            trial("b", Condition::WithoutFacts, 1, Some(1.0)),
        ];
        let figure = model_figure("m", groups(&trials).iter(), &[], 0);
        assert_eq!(figure.cases[0].figure, Component::missing("with facts: broken: the graph is down"));
        assert_eq!(figure.figure, Component::missing("a: with facts: broken: the graph is down"));
    }
}
