//! The names of trials in reports.

use std::borrow::Borrow;

use super::plain;
use crate::evidence::TrialId;
use crate::record::{Overview, Several, TrialGroup};

/// Names trials by what tells those of a run apart: their condition, and whatever else there is more than one of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialNames {
    cases: bool,
    models: bool,
    repeats: bool,
}

impl TrialNames {
    /// The names of these trials.
    pub fn new(trials: impl IntoIterator<Item = impl Borrow<TrialId>>) -> TrialNames {
        let mut trials = trials.into_iter();
        let Some(first) = trials.next() else { return TrialNames::default() };
        let first = first.borrow();
        trials.fold(TrialNames::default(), |names, trial| {
            let trial = trial.borrow();
            TrialNames {
                cases: names.cases || trial.case != first.case,
                models: names.models || trial.model != first.model,
                repeats: names.repeats || trial.repeat != first.repeat,
            }
        })
    }

    /// The names of a run's groups of trials, and of their trials.
    pub fn from_run(run: &Overview) -> TrialNames {
        let Several { cases, models, repeats } = run.several();
        TrialNames { cases, models, repeats }
    }

    /// Whether there are several trials of a condition and model.
    pub fn are_grouped(self) -> bool {
        self.cases || self.repeats
    }

    /// Whether there are several models.
    pub fn tell_models(self) -> bool {
        self.models
    }

    /// Whether there are several cases.
    pub fn tell_cases(self) -> bool {
        self.cases
    }

    /// Whether there are several trials of the same kind.
    pub fn tell_repeats(self) -> bool {
        self.repeats
    }

    /// The trial's name.
    pub fn name(self, trial: &TrialId) -> String {
        let case = if self.cases { format!("{} ", plain(&trial.case)) } else { String::new() };
        format!("{case}{}", self.within_case(trial))
    }

    /// A group's name.
    pub fn group(self, group: &TrialGroup) -> String {
        let case = if self.cases { format!("{} ", plain(&group.case)) } else { String::new() };
        format!("{case}{}", self.group_within_case(group))
    }

    /// A group's name among those of its case.
    pub fn group_within_case(self, group: &TrialGroup) -> String {
        let model = if self.models { format!("{} ", plain(&group.model)) } else { String::new() };
        format!("{model}{}", group.condition.label())
    }

    /// The trial's name among those of its case.
    pub fn within_case(self, trial: &TrialId) -> String {
        let model = if self.models { format!("{} ", plain(&trial.model)) } else { String::new() };
        let repeat = if self.repeats { format!(" #{}", trial.repeat) } else { String::new() };
        format!("{model}{}{repeat}", trial.condition.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Condition;

    #[test]
    fn a_name_holds_what_differs_and_nothing_else() {
        let id = |case: &str, repeat| TrialId {
            number: 1,
            case: case.to_owned(),
            model: "m".to_owned(),
            condition: Condition::WithFacts,
            repeat,
        };
        assert_eq!(TrialNames::new([&id("a", 1)]).name(&id("a", 1)), "with facts");
        assert_eq!(TrialNames::new([&id("a", 1), &id("b", 2)]).name(&id("b", 2)), "b with facts #2");
    }
}
