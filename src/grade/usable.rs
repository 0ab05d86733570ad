//! Assertions that can't be evaluated: found before a conversation is paid for.

use super::GradeInput;
use super::vacuous::silent;
use crate::clock::Clock;
use crate::evidence::{Condition, Evidence, ObjectContext, Observed, ObservedState, TrialId};
use crate::job::{Assertion, Case, Job};

/// The first assertion that can't be evaluated, as far as the state before the first message shows.
pub fn unusable(trial: GradeInput<'_>) -> Option<String> {
    let assertions = trial.case.assertions.iter().zip(1..);
    let mut applying = assertions.filter(|(assertion, _)| assertion.applies_in(trial.evidence.condition));
    applying.find_map(|(assertion, number)| Some(sentence(assertion, number, &why_unusable(assertion, trial)?)))
}

/// Why an assertion can't be evaluated, as far as the state before the first message shows.
pub fn why_unusable(assertion: &Assertion, trial: GradeInput<'_>) -> Option<String> {
    let silent = silent(trial.evidence, trial.evidence.before.as_ref()?);
    assertion.check.unusable(&assertion.id, &trial.job.name, &silent, trial.clock)
}

/// The assertions of a case that can't be evaluated on an empty graph and an empty object context, each with its number and a
/// sentence.
pub fn unusable_on_nothing(job: &Job, case: &Case, clock: Clock) -> Vec<(usize, String)> {
    let condition = case.conditions.first().copied().unwrap_or(Condition::WithoutFacts);
    let id = TrialId { number: 1, case: case.id.clone(), model: String::new(), condition, repeat: 1 };
    let object_context = Some(Observed::Seen(ObjectContext::default()));
    let nothing = silent(
        &Evidence::new(String::new(), String::new(), &id),
        &ObservedState { object_context, ..ObservedState::default() },
    );
    let problem = |assertion: &Assertion| assertion.check.unusable(&assertion.id, &job.name, &nothing, clock);
    let assertions = case.assertions.iter().zip(1..);
    assertions
        .filter_map(|(assertion, number)| Some((number, sentence(assertion, number, &problem(assertion)?))))
        .collect()
}

fn sentence(assertion: &Assertion, number: usize, problem: &str) -> String {
    format!("assertion {number} (`{}`) can't be evaluated: {problem}", assertion.label())
}
